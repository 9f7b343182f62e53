//! The wirings of known boards.

/// Wirings of known boards, which others can be laid over, by their names.
pub static BASES: &[(&str, &str)] = &[
    ("rev-a", include_str!("../../../../docs/wiring/rev-a.toml")),
    ("rev-b", include_str!("../../../../docs/wiring/rev-b.toml")),
    ("v8", include_str!("../../../../docs/wiring/v8.toml")),
];

/// The wiring file of a known board; none if there is no such board.
pub(super) fn base_text(name: &str) -> Option<&'static str> {
    BASES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}
