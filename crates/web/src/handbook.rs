//! The handbook: the documents of the project as HTML pages, with their images.

use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html::push_html};

use super::{
    assets::Asset,
    embedded::{DOCUMENTS, EmbeddedFile},
    html::escaped,
    parse::percent_decode,
    response,
};

/// First segment of the paths of all handbook pages.
pub const FOLDER: &str = "handbook";

/// The path without the slash at the end, which relative links need.
pub const ROOT_WITHOUT_SLASH: &str = "/handbook";

/// The document that is shown first.
const FIRST: &str = "handbook";

/// The document that lists all others.
const CONTENTS: &str = "SUMMARY";

/// Most sections that a search lists.
const FOUND_MAX: usize = 30;

/// The page or file of a path below the folder, or the result of a search (`?q=words`); `None` if there is none.
pub fn asset(path: &str, query: Option<&str>) -> Option<Asset> {
    let searched = query.and_then(|query| percent_decode(query.strip_prefix("q=")?, true));
    if let Some(words) = searched.filter(|_| path.is_empty()) {
        let page = page(&found(&words), &document(CONTENTS)?);
        return Some(Asset::new(page.into(), response::HTML));
    }
    let name = if path.is_empty() { FIRST } else { path };
    let name = name.strip_suffix(".md").unwrap_or(name);
    if let Some(text) = document(name) {
        let page = page(&text, &document(CONTENTS)?);
        return Some(Asset::new(page.into(), response::HTML));
    }
    EmbeddedFile::find(DOCUMENTS, path).map(Asset::embedded)
}

fn document(name: &str) -> Option<String> {
    let file = EmbeddedFile::find(DOCUMENTS, &format!("{name}.md"))?;
    String::from_utf8(file.plain().into()).ok()
}

/// The sections that contain all words, as Markdown: first those with the words in their headings.
fn found(words: &str) -> String {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let has_all = |text: &str| {
        let text = text.to_lowercase();
        words.iter().all(|word| text.contains(word))
    };
    let names = DOCUMENTS
        .iter()
        .filter_map(|file| file.name.strip_suffix(".md"));
    let pages = names
        .filter(|name| *name != CONTENTS)
        .filter_map(|name| Some((name, document(name)?)));
    let (mut titled, mut others) = (Vec::new(), Vec::new());
    for (name, text) in pages {
        let mut title = "";
        for section in sections(&text) {
            let heading = section.lines().next().unwrap_or_default();
            let heading = heading.trim_start_matches('#').trim();
            if section.starts_with("# ") {
                title = heading;
            }
            let link = format!("- [{title}: {heading}]({name}.md#{})\n", anchor(heading));
            match (has_all(heading), has_all(section)) {
                (true, _) => titled.push(link),
                (false, true) => others.push(link),
                (false, false) => {}
            }
        }
    }
    let links: String = titled.into_iter().chain(others).take(FOUND_MAX).collect();
    if links.is_empty() {
        "# Search\n\nNothing was found.\n".into()
    } else {
        format!("# Search\n\n{links}")
    }
}

/// The sections of a document, each with its heading.
fn sections(text: &str) -> impl Iterator<Item = &str> {
    let starts = text.match_indices("\n#").map(|(at, _)| at + 1);
    // A comment in a block of code is no heading.
    let starts = starts.filter(|at| text[..*at].matches("```").count().is_multiple_of(2));
    let starts: Vec<usize> = [0].into_iter().chain(starts).collect();
    let ends = starts.clone().into_iter().skip(1).chain([text.len()]);
    starts
        .into_iter()
        .zip(ends)
        .filter_map(|(start, end)| text.get(start..end))
}

fn page(text: &str, contents: &str) -> String {
    let title = text.lines().find_map(|line| line.strip_prefix("# "));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title} · papertick</title>\n<link rel=\"icon\" href=\"../favicon.svg\">\n<link rel=\"stylesheet\" href=\"../handbook.css\">\n</head>\n<body>\n<nav>\n<p><a href=\"../\">← The clock</a></p>\n<form role=\"search\" action=\"./\"><input type=\"search\" name=\"q\" aria-label=\"Search the handbook\" required> <button>Search</button></form>\n<details>\n<summary>Contents</summary>\n{contents}</details>\n</nav>\n<main>\n{body}</main>\n</body>\n</html>\n",
        title = escaped(title.unwrap_or("Handbook")),
        contents = render(contents),
        body = render(text),
    )
}

/// Renders Markdown. Headings get the ids that links in the documents use.
fn render(text: &str) -> String {
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, Options::ENABLE_TABLES)
        .map(rewrite_link)
        .collect();
    let mut heading = None;
    let mut title = String::new();
    for at in 0..events.len() {
        let event = &events[at];
        if let Event::Start(Tag::Heading { .. }) = event {
            heading = Some(at);
            title.clear();
        } else if let Event::Text(text) | Event::Code(text) = event {
            title.push_str(text);
        } else if let Event::End(TagEnd::Heading(_)) = event {
            let start = heading.take().and_then(|start| events.get_mut(start));
            if let Some(Event::Start(Tag::Heading { id, .. })) = start {
                *id = Some(anchor(&title).into());
            }
        }
    }
    let mut html = String::new();
    push_html(&mut html, events.into_iter());
    // What scrolls is reachable by keyboard, and an empty cell is no heading.
    html.replace("<pre>", "<pre tabindex=\"0\">")
        .replace("<table>", "<table tabindex=\"0\">")
        .replace("<th></th>", "<td></td>")
}

/// The id of a heading, by the rules of GitHub and mdBook.
fn anchor(heading: &str) -> String {
    let letters = heading.to_lowercase();
    let letters = letters.chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        '-' | '_' => Some(letter),
        letter => letter.is_alphanumeric().then_some(letter),
    });
    letters.collect()
}

/// Rewrites links between documents into links between their pages.
fn rewrite_link(mut event: Event<'_>) -> Event<'_> {
    if let Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) = &mut event {
        *dest_url = address(dest_url);
    }
    event
}

fn address(link: &str) -> CowStr<'static> {
    if link.starts_with('#') || link.starts_with('/') || link.contains(':') {
        return link.to_string().into();
    }
    if link == "openapi.json" {
        return "../openapi.json".into();
    }
    let (file, part) = link.split_at(link.find('#').unwrap_or(link.len()));
    let file = file.strip_suffix(".md").unwrap_or(file);
    format!("{file}{part}").into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
        let start = format!(" {attribute}=\"");
        let parts = html.split(&*start).skip(1);
        parts.filter_map(|part| part.split('"').next()).collect()
    }

    #[test]
    fn every_link_in_the_handbook_is_served() {
        let pages: Vec<&str> = DOCUMENTS
            .iter()
            .filter_map(|file| file.name.strip_suffix(".md"))
            .collect();
        assert!(pages.len() > 15, "{pages:?}");
        let mut broken = BTreeSet::new();
        for page in &pages {
            let text = page_of(page);
            let links = [values(&text, "href"), values(&text, "src")].concat();
            for link in links {
                let (file, part) = link.split_once('#').unwrap_or((link, ""));
                let is_outside = file.starts_with("../") || file.contains("://");
                let target = (!is_outside && !file.is_empty()).then_some(file);
                let found = match (target, part) {
                    (None, "") => is_outside,
                    (None, part) => is_outside || values(&text, "id").contains(&part),
                    (Some(target), "") => asset(target, None).is_some(),
                    (Some(target), part) => {
                        pages.contains(&target) && values(&page_of(target), "id").contains(&part)
                    }
                };
                if !found {
                    broken.insert(format!("{page}: {link}"));
                }
            }
        }
        assert_eq!(broken, BTreeSet::new());
    }

    fn page_of(name: &str) -> String {
        page(
            &document(name).unwrap_or_default(),
            &document(CONTENTS).unwrap_or_default(),
        )
    }

    #[test]
    fn other_paths_are_not_served() {
        for path in ["nothing", "../Cargo", "gallery/"] {
            assert!(asset(path, None).is_none(), "{path}");
        }
    }

    #[test]
    fn a_search_finds_sections_with_all_words_first_by_their_headings() {
        let found = found("Do not DISTURB");
        assert!(found.contains("](handbook.md#lights)"), "{found}");
        let refreshing = super::found("refreshing");
        let first = refreshing.lines().nth(2);
        assert_eq!(
            first,
            Some("- [Handbook: Refreshing](handbook.md#refreshing)")
        );
        assert!(super::found("xyzzy").contains("Nothing was found"));
    }
}
