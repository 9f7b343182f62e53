//! Updates.

use alloc::string::{String, ToString};

use schemars::JsonSchema;
use serde::Serialize;

/// SHA-256 of an image, in hex.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema)]
pub struct Digest(#[schemars(regex(pattern = "^[0-9A-Fa-f]{64}$"))] pub String);

/// An image was installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Uploaded {
    /// Always `ok`.
    #[schemars(extend("const" = "ok"))]
    pub result: &'static str,
    /// Size of the image.
    pub bytes: u64,
}

/// An image is too large.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Oversize {
    /// Token for programs.
    pub error: &'static str,
    /// Greatest size of an image, bytes.
    pub max: u64,
}
