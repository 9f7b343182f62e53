//! `nostrZapPubkeys`: keys whose zaps are shown beside the one of `nostrZapPubkey`.

use alloc::string::String;
use serde_json::{Map, Value, json};

use super::{
    super::{Settings, reject::Rejection, rules, spec::HexCase},
    texts,
};
use crate::view::View;

const NAME: &str = "nostrZapPubkeys";

pub(super) fn shape(name: &str, value: &Value) -> Result<(), Rejection> {
    texts::shape(name, value)
}

pub(super) fn check(value: &Value) -> Result<(), Rejection> {
    match texts::entries(value).all(|text| rules::key(text, HexCase::Any).is_some()) {
        true => Ok(()),
        false => Err(Rejection::BadHex(NAME.into())),
    }
}

pub(super) fn apply(value: &Value, settings: &mut Settings) {
    settings.nostr_zap_pubkeys.clear();
    for key in texts::entries(value).filter_map(|text| rules::key(text, HexCase::Any)) {
        let mut known = settings.nostr_zap_pubkeys.iter();
        if !known.any(|known| known.eq_ignore_ascii_case(&key)) {
            settings.nostr_zap_pubkeys.push(key);
        }
    }
}

pub(super) fn emit(view: &View, document: &mut Map<String, Value>) {
    let keys = view.settings.nostr_zap_pubkeys.iter().cloned();
    document.insert(NAME.into(), texts::stored(keys));
}

pub(super) fn schema() -> Value {
    let key = json!({ "type": "string", "maxLength": 64, "pattern": rules::KEY_PATTERN });
    json!({ "type": "array", "items": key })
}
