//! Which file uses which: no file of a crate comes round to itself, and the rooms of the device keep to themselves.
//!
//! A *use* is an import, or a path in the code, that begins in the crate; it counts for the file that has the item, not
//! for one that only passes it on (`pub use`). A parent's `mod` is no use.

use std::collections::{BTreeMap, BTreeSet};

use crate::{root, sources};

/// Rooms of the device, and the files of others that each may use: values that they share, and nobody's state.
const ROOMS: &[(&str, &[&str])] = &[
    (
        "glass",
        &[
            "market/observation",
            "market/truth",
            "market/values",
            "screens",
            "settings/settled",
            "settings/values",
        ],
    ),
    ("lights", &["settings/settled", "settings/values"]),
    (
        "market",
        &[
            "settings/data_source",
            "settings/proof_mode",
            "settings/settled",
            "settings/values",
        ],
    ),
    ("network", &["settings/values"]),
    (
        "screens",
        &[
            "market/observation",
            "market/truth",
            "market/values",
            "settings/values",
        ],
    ),
    // What venues and what screens there are, and which of these a fresh clock shows.
    ("settings", &["market/venues", "screens/catalog"]),
];

/// A file's place in its crate, without its ending: `glass/layers`; a folder's own file is named as the folder.
type Place = Vec<String>;

/// The files of a crate.
struct Files {
    codes: BTreeMap<Place, String>,
    /// Names that a file passes on, and where they come from.
    passed_on: BTreeMap<(Place, String), Place>,
}

impl Files {
    fn of(krate: &str) -> Files {
        let folder = root().join("crates").join(krate).join("src");
        let mut codes = BTreeMap::new();
        for (path, text) in sources() {
            let Ok(below) = path.strip_prefix(&folder) else {
                continue;
            };
            let below = below.with_extension("");
            let mut place: Place = below
                .iter()
                .map(|part| part.to_str().unwrap().to_string())
                .collect();
            if ["mod", "lib"].contains(&place.last().unwrap().as_str()) {
                place.pop();
            }
            codes.insert(place, code(&text));
        }
        let mut files = Files {
            codes,
            passed_on: BTreeMap::new(),
        };
        for (place, code) in &files.codes {
            for path in imports(code).filter(|import| import.passes_on) {
                let Some(target) = files.absolute(place, &path.path) else {
                    continue;
                };
                if let Some(name) = target.last().cloned() {
                    files.passed_on.insert((place.clone(), name), target);
                }
            }
        }
        files
    }

    /// The files that each file uses.
    fn uses(&self) -> BTreeMap<Place, BTreeSet<Place>> {
        let used_by = |place: &Place, code: &str| {
            let imported = imports(code).filter(|import| !import.passes_on);
            imported
                .map(|import| import.path)
                .chain(paths_in_code(code))
                .filter_map(|path| self.absolute(place, &path))
                .map(|path| self.home(path))
                .filter(|home| home != place)
                .collect()
        };
        let each = self.codes.iter();
        each.map(|(place, code)| (place.clone(), used_by(place, code)))
            .collect()
    }

    /// A path from the root of the crate; none if it leads elsewhere.
    fn absolute(&self, place: &Place, path: &str) -> Option<Place> {
        let path = path.split(" as ").next()?.trim();
        let mut parts: Place = path.split("::").map(|part| part.trim().into()).collect();
        parts.retain(|part| part != "*");
        let mut absolute = match parts[0].as_str() {
            "crate" => Place::new(),
            "self" => place.clone(),
            "super" => {
                let ups = parts.iter().take_while(|part| *part == "super").count();
                parts.drain(..ups - 1);
                place[..place.len().checked_sub(ups)?].to_vec()
            }
            child => {
                let child = [place.as_slice(), &[child.to_string()]].concat();
                self.codes.contains_key(&child).then_some(())?;
                parts.insert(0, String::new());
                place.clone()
            }
        };
        absolute.extend(parts.into_iter().skip(1).filter(|part| part != "self"));
        Some(absolute)
    }

    /// The file that has an item, through those that pass it on.
    fn home(&self, path: Place) -> Place {
        let mut path = path;
        loop {
            let lengths = (0..=path.len()).rev();
            let file = lengths
                .map(|length| path[..length].to_vec())
                .find(|file| self.codes.contains_key(file))
                .unwrap_or_default();
            let passed = path
                .get(file.len())
                .and_then(|name| self.passed_on.get(&(file.clone(), name.clone())));
            match passed {
                Some(origin) => path = [origin, &path[file.len() + 1..]].concat(),
                None => return file,
            }
        }
    }
}

/// A name that a file imports.
struct Import {
    path: String,
    /// It is there for others.
    passes_on: bool,
}

/// All names that a file imports, one by one.
fn imports(code: &str) -> impl Iterator<Item = Import> {
    statements(code).flat_map(|(statement, passes_on)| {
        let paths = one_by_one(&statement);
        paths
            .into_iter()
            .map(move |path| Import { path, passes_on })
    })
}

/// What stands between `use` and its semicolon, and whether it passes on what it names.
fn statements(code: &str) -> impl Iterator<Item = (String, bool)> {
    let mut found = Vec::new();
    let mut open: Option<(String, bool)> = None;
    for line in code.lines().map(str::trim) {
        let begins = line.strip_prefix("use ").map(|rest| (rest, false));
        let passes = line.starts_with("pub").then(|| line.split_once(" use "));
        let begins = begins.or(passes.flatten().map(|(_, rest)| (rest, true)));
        match (&mut open, begins) {
            (Some((text, _)), _) => text.push_str(line),
            (None, Some((rest, is_pub))) => open = Some((rest.into(), is_pub)),
            (None, None) => continue,
        }
        if line.ends_with(';')
            && let Some((text, is_pub)) = open.take()
        {
            found.push((text.trim_end_matches(';').into(), is_pub));
        }
    }
    found.into_iter()
}

/// The paths of a tree of imports.
fn one_by_one(tree: &str) -> Vec<String> {
    let Some((stem, rest)) = tree.split_once('{') else {
        return vec![tree.trim().into()];
    };
    let inside = rest.rsplit_once('}').map_or(rest, |(inside, _)| inside);
    let mut branches = vec![String::new()];
    let mut depth = 0;
    for letter in inside.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        if letter == ',' && depth == 0 {
            branches.push(String::new());
        } else {
            branches.last_mut().unwrap().push(letter);
        }
    }
    branches.retain(|branch| !branch.trim().is_empty());
    branches
        .iter()
        .flat_map(|branch| one_by_one(branch))
        .map(|path| format!("{}{path}", stem.trim()))
        .collect()
}

/// Paths that stand in the code itself and begin in the crate.
fn paths_in_code(code: &str) -> Vec<String> {
    let in_path = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
    let mut paths = Vec::new();
    for line in code.lines() {
        for start in ["crate::", "super::"] {
            for (at, _) in line.match_indices(start) {
                let is_begun = line[..at].ends_with(in_path) || line.contains("use ");
                let end = line[at..].find(|letter| !in_path(letter));
                if !is_begun && !line.contains("pub(in") {
                    let path = &line[at..at + end.unwrap_or(line.len() - at)];
                    paths.push(path.trim_end_matches(':').into());
                }
            }
        }
    }
    paths
}

/// The program in a file: without its tests, without comments.
fn code(text: &str) -> String {
    let program = text.split("#[cfg(test)]\nmod ").next().unwrap();
    let lines = program.lines().map(|line| match line.find("//") {
        Some(at) if !line[..at].ends_with(':') => &line[..at],
        Some(_) | None => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A circle of files; none if there is none.
fn circle(uses: &BTreeMap<Place, BTreeSet<Place>>) -> Option<Vec<String>> {
    // Whoever uses nobody that is left is in no circle.
    let mut left = uses.clone();
    loop {
        let ends: BTreeSet<Place> = left
            .iter()
            .filter(|(_, used)| used.is_empty())
            .map(|(place, _)| place.clone())
            .collect();
        if ends.is_empty() {
            break;
        }
        left.retain(|place, _| !ends.contains(place));
        left.values_mut().for_each(|used| {
            used.retain(|place| !ends.contains(place));
        });
    }
    let mut way = vec![left.keys().next()?];
    loop {
        let next = left[*way.last()?].first()?;
        if let Some(at) = way.iter().position(|place| *place == next) {
            way.drain(..at);
            way.push(next);
            return Some(way.iter().map(|place| place.join("/")).collect());
        }
        way.push(next);
    }
}

#[test]
fn no_file_comes_round_to_itself() {
    for krate in crate::ARROWS.iter().map(|(krate, _)| *krate) {
        let uses = Files::of(krate).uses();
        assert!(
            uses.values().map(BTreeSet::len).sum::<usize>() > 0,
            "{krate}"
        );
        let circle = circle(&uses);
        assert_eq!(circle, None, "a circle in {krate}");
    }
}

#[test]
fn rooms_of_the_device_share_only_values() {
    let room_of = |place: &Place| {
        ROOMS
            .iter()
            .find(|(room, _)| place.first().is_some_and(|first| first == room))
    };
    let files = Files::of("device");
    for (place, code) in &files.codes {
        let shares = code.contains("pub(crate)");
        assert!(!shares, "{} has `pub(crate)`", place.join("/"));
    }
    let mut granted = BTreeSet::new();
    for (place, used) in files.uses() {
        let Some((room, may_use)) = room_of(&place) else {
            continue;
        };
        for other in used
            .iter()
            .filter(|other| room_of(other).is_some_and(|(other, _)| other != room))
        {
            let path = other.join("/");
            let by = may_use
                .iter()
                .find(|file| path == **file || path.starts_with(&format!("{file}/")));
            let place = place.join("/");
            granted.insert((
                room,
                by.unwrap_or_else(|| panic!("{place} uses {path} of another room")),
            ));
        }
    }
    let given = ROOMS
        .iter()
        .flat_map(|(room, may_use)| may_use.iter().map(move |file| (room, file)));
    for pair in given {
        assert!(granted.contains(&pair), "nobody needs {pair:?}");
    }
}
