//! Checks of the source code itself.

use std::{
    fs,
    path::{Path, PathBuf},
};

/// All source files in a folder of the workspace.
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

/// Zaps from the network are created only from verified events; simulated ones only by an operation of the API.
#[test]
fn zaps_of_the_network_are_created_in_one_place() {
    let mut makers: Vec<String> = [
        "crates/feeds/src",
        "crates/api/src",
        "crates/papertick/src",
        "crates/board/src",
        "crates/render/src",
    ]
    .into_iter()
    .flat_map(sources)
    // An event for the broker is not a zap.
    .filter(|(_, text)| text.replace("Happening::Zap {", "").contains("Zap {"))
    .map(|(name, _)| name)
    .collect();
    makers.sort();
    assert_eq!(
        makers,
        [
            // The owner's simulation, and pictures rendered without a device.
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

/// Values of these types may hold secrets, which a derived `Debug` would print.
#[test]
fn types_with_secrets_do_not_derive_debug() {
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
