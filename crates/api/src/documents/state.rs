//! Messages to clients that follow the clock.

use alloc::vec::Vec;

use device::refresh::Refresh;
use schemars::JsonSchema;
use serde::Serialize;

use crate::schema::Word;

/// Data of an `event: panels`: the panels that were painted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaintedPanels {
    /// Number of the picture.
    pub generation: u64,
    /// The panels.
    pub panels: Vec<PaintedPanel>,
}

/// A panel that was painted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PaintedPanel {
    /// Index of the panel, from 0.
    pub panel: usize,
    /// Kind of the refresh.
    pub refresh: Word<Refresh>,
}

/// Answer to a client that starts or stops the preview.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct PreviewState {
    /// Pictures follow.
    pub streaming: bool,
}

/// Too many clients follow the clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TooManyFollowers {
    /// Token for programs.
    pub error: &'static str,
    /// Greatest number of clients.
    pub max: usize,
    /// The limit of open files that causes this number; absent if another limit causes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub open_files: Option<u64>,
}
