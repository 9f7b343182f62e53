//! What holds for the source itself.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// All source files below a folder of the workspace.
#[expect(clippy::disallowed_methods, reason = "the source is files")]
fn sources(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .canonicalize()
        .unwrap();
    let mut folders: Vec<PathBuf> = vec![root.join(folder)];
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(&root)
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .replace('\\', "/");
                files.push((name, String::from_utf8(fs::read(&path).unwrap()).unwrap()));
            }
        }
    }
    assert!(!files.is_empty());
    files
}

/// A zap from the network comes out of a verified event; the owner's simulated one is asked for at a door.
#[test]
fn zaps_of_the_network_are_made_in_one_place() {
    let mut makers: Vec<String> = [
        "crates/feeds/src",
        "crates/api/src",
        "crates/papertick/src",
        "crates/board/src",
        "crates/render/src",
    ]
    .into_iter()
    .flat_map(sources)
    // What a broker is told of is a happening, not a zap.
    .filter(|(_, text)| text.replace("Happening::Zap {", "").contains("Zap {"))
    .map(|(name, _)| name)
    .collect();
    makers.sort();
    assert_eq!(
        makers,
        [
            // The owner's own test, and pictures drawn without a device.
            "crates/api/src/operations/screens.rs",
            "crates/feeds/src/nostr/zap.rs",
            "crates/papertick/src/commands/render/pictures.rs"
        ]
    );
    let (_, zap) = sources("crates/feeds/src/nostr")
        .into_iter()
        .find(|(name, _)| name.ends_with("/zap.rs"))
        .unwrap();
    assert_eq!(zap.matches("Some(Zap {").count(), 1);
    assert!(zap.contains("event: &VerifiedEvent"));
}

/// Values of these modules may hold secrets; a derived `Debug` would print them.
#[test]
fn what_holds_secrets_does_not_derive_debug() {
    for (name, text) in sources("crates/feeds/src") {
        for holder in ["Signer", "Channel", "Nip44", "WalletSession", "Noise"] {
            let Some(at) = text.find(&format!("pub struct {holder}")) else {
                continue;
            };
            let attributes = text[..at].rsplit("\n\n").next().unwrap_or_default();
            assert!(!attributes.contains("Debug"), "{name}: {holder}");
        }
    }
}
