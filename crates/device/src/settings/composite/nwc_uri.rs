//! `nwcUri`: GET shows the pairing with its secret masked, if it can be read.

use alloc::string::String;
use serde_json::{Map, Value};

use super::super::pairing::PairingUri;
use crate::view::View;

pub(in super::super) fn emit(view: &View, document: &mut Map<String, Value>) {
    if let Ok(pairing) = PairingUri::parse(view.settings.nwc_uri.expose()) {
        document.insert("nwcUriMasked".into(), pairing.masked().into());
    }
}
