//! The file format: a header line with kind, version and checksum, then a line of JSON.

use serde_json::{Map, Value, json};

/// Version of the file format.
const VERSION: u64 = 1;

/// The content of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// Increased with every save.
    pub generation: u64,
    /// The saved content.
    pub body: Map<String, Value>,
}

/// Why a file cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The header line is malformed.
    #[error("it does not start with a header of papertick")]
    Head,
    /// The file is of another kind.
    #[error("it is a file of another kind")]
    Kind,
    /// A newer program wrote the file.
    #[error("a newer papertick wrote it")]
    Newer,
    /// The checksum does not match.
    #[error("its checksum does not match")]
    Checksum,
    /// The checksum matches, but the content is not a JSON object.
    #[error("it is not a JSON object")]
    Json,
}

impl Document {
    pub fn encode(kind: &str, generation: u64, body: &Map<String, Value>) -> Vec<u8> {
        let body = serde_json::to_string(body).unwrap_or_default();
        let sum = checksum(kind, generation, body.as_bytes());
        let head = json!({
            "papertick": kind,
            "version": VERSION,
            "generation": generation,
            "crc32": format!("{sum:08x}"),
        });
        format!("{head}\n{body}\n").into_bytes()
    }

    /// Decodes the file.
    ///
    /// # Errors
    /// The bytes differ from the output of [`Document::encode`].
    pub fn decode(kind: &str, bytes: &[u8]) -> Result<Document, Damage> {
        let end = bytes
            .iter()
            .position(|byte| *byte == b'\n')
            .ok_or(Damage::Head)?;
        let (head, rest) = bytes.split_at(end);
        let body = rest[1..].strip_suffix(b"\n").ok_or(Damage::Checksum)?;
        let head: Map<String, Value> = serde_json::from_slice(head).map_err(|_| Damage::Head)?;
        let number = |name: &str| head.get(name).and_then(Value::as_u64).ok_or(Damage::Head);
        let text = |name: &str| head.get(name).and_then(Value::as_str).ok_or(Damage::Head);
        if text("papertick")? != kind {
            return Err(Damage::Kind);
        }
        if number("version")? != VERSION {
            return Err(Damage::Newer);
        }
        let generation = number("generation")?;
        if text("crc32")? != format!("{:08x}", checksum(kind, generation, body)) {
            return Err(Damage::Checksum);
        }
        let body = serde_json::from_slice(body).map_err(|_| Damage::Json)?;
        Ok(Document { generation, body })
    }
}

fn checksum(kind: &str, generation: u64, body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(kind.as_bytes());
    hasher.update(&generation.to_le_bytes());
    hasher.update(body);
    hasher.finalize()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;

    fn document() -> Document {
        let Value::Object(body) = json!({"a": 1, "b": "zwölf\n", "c": [true, null]}) else {
            unreachable!()
        };
        Document {
            generation: 7,
            body,
        }
    }

    #[test]
    fn every_truncation_and_every_flipped_bit_is_detected() {
        let Document { generation, body } = document();
        let bytes = Document::encode("settings", generation, &body);
        for length in 0..bytes.len() {
            assert!(
                Document::decode("settings", &bytes[..length]).is_err(),
                "{length} bytes"
            );
        }
        for at in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[at / 8] ^= 1 << (at % 8);
            assert_ne!(
                Document::decode("settings", &flipped),
                Ok(document()),
                "bit {at}"
            );
            assert!(Document::decode("settings", &flipped).is_err(), "bit {at}");
        }
    }

    #[test]
    fn other_files_are_refused() {
        for (bytes, damage) in [
            (&b""[..], Damage::Head),
            (b"\n\n", Damage::Head),
            (b"{}\n{}\n", Damage::Head),
            (b"{\"digitFontPx\": 180}", Damage::Head),
            (b"\x00\xff\xfe\n\x00\n", Damage::Head),
            (
                b"{\"papertick\":\"settings\",\"version\":2,\"generation\":1,\"crc32\":\"0\"}\n{}\n",
                Damage::Newer,
            ),
            (
                b"{\"papertick\":\"settings\",\"version\":1,\"generation\":1,\"crc32\":\"00000000\"}\n{}\n",
                Damage::Checksum,
            ),
        ] {
            assert_eq!(Document::decode("settings", bytes), Err(damage));
        }
    }
}
