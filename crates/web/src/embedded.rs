//! The page and the documents that are built into the program. The build script lists and compresses them.

use bytes::Bytes;

use super::coding;

/// A file that is built into the program.
pub struct EmbeddedFile {
    pub name: &'static str,
    /// The content, compressed if that saves something.
    pub bytes: &'static [u8],
    pub is_gzip: bool,
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

impl EmbeddedFile {
    /// The file of a name in one of the tables.
    pub fn find(table: &'static [EmbeddedFile], name: &str) -> Option<&'static EmbeddedFile> {
        let at = table.binary_search_by(|file| file.name.cmp(name)).ok()?;
        table.get(at)
    }

    pub fn plain(&self) -> Bytes {
        if self.is_gzip {
            coding::gunzip(self.bytes)
        } else {
            Bytes::from_static(self.bytes)
        }
    }
}
