//! The installed page, if the running program supports it.

use feeds::{image::page::Page, release::is_newer};
use semver::Version;
use storage::large::LargeDisk;

use super::image_store;

/// Reads the installed page; `None` if no page is installed.
///
/// # Errors
/// A text for people: the page is damaged, or needs newer firmware.
pub fn installed(disk: &mut dyn LargeDisk, running: &Version) -> Result<Option<Page>, String> {
    let found = image_store::installed_page(disk);
    let found = found.map_err(|fault| format!("the installed page cannot be used: {fault}"))?;
    let Some((_, page)) = found else {
        return Ok(None);
    };
    let needs = &page.manifest.min_firmware;
    if is_newer(needs, running) {
        return Err(format!(
            "the installed page needs firmware {needs} or newer, but {running} is running: the built-in page is served"
        ));
    }
    Ok(Some(page))
}
