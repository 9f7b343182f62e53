//! The pairing URI of a wallet: any text is stored, and GET shows it without the secret if it can be parsed.

use alloc::string::String;
use serde_json::Value;

use super::{
    super::{pairing, reject::Rejection},
    SettingKind, text,
};

/// Pairing URI of a wallet, of at most this many bytes.
#[derive(Debug)]
pub struct PairingKind(pub usize);

impl SettingKind for PairingKind {
    fn shape(&self, name: &str, value: &Value) -> Result<(), Rejection> {
        text::text(name, value, self.0)
    }

    fn masked(&self, stored: &Value) -> Option<String> {
        let uri = pairing::PairingUri::parse(stored.as_str()?).ok()?;
        Some(uri.masked())
    }

    fn is_text(&self) -> bool {
        true
    }

    fn schema(&self) -> Value {
        text::schema(self.0, text::ANY)
    }

    fn control(&self) -> Value {
        text::control(self.0)
    }

    fn words(&self) -> String {
        text::words(self.0)
    }
}
