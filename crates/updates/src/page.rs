//! The page that was installed, if it fits the program that runs.

use feeds::{image::page::Page, release::is_newer};
use semver::Version;
use storage::large::LargeDisk;

use super::depot;

/// Reads the page that was installed; none if there is none.
///
/// # Errors
/// In words for people: it is damaged, or needs a newer program than the one that runs.
pub fn installed(disk: &mut dyn LargeDisk, running: &Version) -> Result<Option<Page>, String> {
    let found = depot::installed_page(disk);
    let found = found.map_err(|fault| format!("the installed page cannot be used: {fault}"))?;
    let Some((_, page)) = found else {
        return Ok(None);
    };
    let needs = &page.manifest.min_firmware;
    if is_newer(needs, running) {
        return Err(format!(
            "the installed page needs firmware {needs} or newer, and {running} runs: the page inside the program is served"
        ));
    }
    Ok(Some(page))
}
