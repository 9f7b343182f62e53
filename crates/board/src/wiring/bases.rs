//! The wirings of known boards.

/// Wirings of known boards by name, which a wiring file can have as its base.
pub static BASES: &[(&str, &str)] = &[
    ("rev-a", include_str!("../../../../docs/wiring/rev-a.toml")),
    ("rev-b", include_str!("../../../../docs/wiring/rev-b.toml")),
    ("v8", include_str!("../../../../docs/wiring/v8.toml")),
    (
        "inky-what",
        include_str!("../../../../docs/wiring/inky-what.toml"),
    ),
    (
        "waveshare-2.13-v4",
        include_str!("../../../../docs/wiring/waveshare-2.13-v4.toml"),
    ),
    (
        "waveshare-4.2-v2",
        include_str!("../../../../docs/wiring/waveshare-4.2-v2.toml"),
    ),
    (
        "waveshare-4.26",
        include_str!("../../../../docs/wiring/waveshare-4.26.toml"),
    ),
    (
        "waveshare-5.79",
        include_str!("../../../../docs/wiring/waveshare-5.79.toml"),
    ),
    (
        "waveshare-5.83-v2",
        include_str!("../../../../docs/wiring/waveshare-5.83-v2.toml"),
    ),
    (
        "waveshare-7.3-e",
        include_str!("../../../../docs/wiring/waveshare-7.3-e.toml"),
    ),
    (
        "waveshare-7.3-f",
        include_str!("../../../../docs/wiring/waveshare-7.3-f.toml"),
    ),
    (
        "waveshare-7.5-v2",
        include_str!("../../../../docs/wiring/waveshare-7.5-v2.toml"),
    ),
];

/// The wiring file of a known board; `None` if there is no such board.
pub(super) fn base_text(name: &str) -> Option<&'static str> {
    BASES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
