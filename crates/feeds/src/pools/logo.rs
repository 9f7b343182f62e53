//! Logos of pools: raw one-bit files of a known size.

use market::logo::Logo;

use crate::malformed::Malformed;

/// The file of a pool's logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogoSpec {
    pub file: &'static str,
    /// Width, px.
    pub width: u16,
    /// Height, px.
    pub height: u16,
}

pub(super) const fn square(file: &'static str) -> LogoSpec {
    LogoSpec {
        file,
        width: 122,
        height: 122,
    }
}

pub(super) const BRAIINS: LogoSpec = LogoSpec {
    file: "braiins.bin",
    width: 37,
    height: 230,
};

impl LogoSpec {
    /// Size of the file, bytes.
    pub fn bytes(self) -> usize {
        usize::from(self.width).div_ceil(8) * usize::from(self.height)
    }

    /// URL of the file below a base URL. `None` without a base.
    pub fn url(self, base: &str) -> Option<String> {
        let base = base.trim_end_matches('/');
        (!base.is_empty()).then(|| format!("{base}/{}", self.file))
    }

    /// Parses the file; `pool` is the id of the pool.
    ///
    /// # Errors
    /// The file does not have exactly the size of the logo.
    pub fn read(self, pool: &str, file: &[u8]) -> Result<Logo, Malformed> {
        if file.len() != self.bytes() {
            return Err(Malformed("size"));
        }
        Ok(Logo {
            name: pool.to_owned(),
            width: self.width,
            height: self.height,
            rows: file.to_vec(),
        })
    }
}
