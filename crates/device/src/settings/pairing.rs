//! The pairing URI of a wallet.

use alloc::{string::String, vec::Vec};
use core::fmt;

use percent_encoding::percent_decode_str;

use super::npub;
use crate::secret::{Endpoint, Secret};
use market::FigureIdentity;

const SCHEME: &str = "nostr+walletconnect://";

/// How to connect to a wallet, with the secret for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PairingUri {
    /// Public key of the wallet, 64 lower-case hex digits.
    pub wallet: String,
    /// Relays of the wallet, at least one.
    pub relays: Vec<Endpoint>,
    /// Secret key of this side, 64 lower-case hex digits.
    pub secret: Secret,
    /// Lightning address of the wallet.
    pub lud16: Option<String>,
}

/// Why a pairing URI is invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairingError {
    /// Wrong scheme.
    BadScheme,
    /// The wallet's key is not 64 hex digits.
    BadPubkey,
    /// A broken percent escape.
    BadEscape,
    /// No relay, or one that is not a web socket URL.
    BadRelay,
    /// No secret, or one that is not 64 hex digits.
    BadSecret,
}

impl PairingUri {
    /// Parses a pairing URI.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<PairingUri, PairingError> {
        let rest = text.strip_prefix(SCHEME).ok_or(PairingError::BadScheme)?;
        let (wallet, query) = rest.split_once('?').unwrap_or((rest, ""));
        let wallet = hex_key(wallet).or_else(|| npub::hex_of(wallet));
        let wallet = wallet.ok_or(PairingError::BadPubkey)?;
        let mut relays = Vec::new();
        let mut secret = None;
        let mut lud16 = None;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = unescape(value).ok_or(PairingError::BadEscape)?;
            match name {
                "relay" => relays.push(Endpoint::new(value)),
                "secret" => secret = Some(value),
                "lud16" => lud16 = Some(value),
                _ => {}
            }
        }
        let web_socket = |relay: &Endpoint| {
            let relay = relay.expose();
            relay.starts_with("wss://") || relay.starts_with("ws://")
        };
        if relays.is_empty() || !relays.iter().all(web_socket) {
            return Err(PairingError::BadRelay);
        }
        let secret = secret
            .and_then(|secret| hex_key(&secret))
            .ok_or(PairingError::BadSecret)?;
        Ok(PairingUri {
            wallet,
            relays,
            secret: Secret::new(secret),
            lud16,
        })
    }

    /// Identity of the wallet, independent of relay and secret.
    pub fn identity(&self) -> FigureIdentity {
        FigureIdentity::of(&[&self.wallet])
    }

    /// The URI for people: enough to recognise it, but not to use it.
    pub fn masked(&self) -> String {
        let head = self.wallet.get(..8).unwrap_or_default();
        let secret = self.secret.expose();
        let tail = secret
            .get(secret.len().saturating_sub(4)..)
            .unwrap_or_default();
        let relays = self.relays.iter().map(Endpoint::masked);
        let relays: Vec<String> = relays.map(|relay| self.shown(&relay).into()).collect();
        let mut text = alloc::format!("{SCHEME}{head}…?relay={}", relays.join("&relay="));
        text.push_str("&secret=…");
        text.push_str(tail);
        if let Some(lud16) = &self.lud16 {
            text.push_str("&lud16=");
            text.push_str(self.shown(lud16));
        }
        text
    }

    /// A part of the URI; hidden if it contains the secret.
    fn shown<'a>(&self, part: &'a str) -> &'a str {
        let holds_secret = part.to_ascii_lowercase().contains(self.secret.expose());
        if holds_secret { "…" } else { part }
    }
}

impl fmt::Display for PairingError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            PairingError::BadScheme => "not a wallet pairing",
            PairingError::BadPubkey => "wallet key is not 64 hex digits",
            PairingError::BadEscape => "broken percent escape",
            PairingError::BadRelay => "no usable relay",
            PairingError::BadSecret => "secret is not 64 hex digits",
        })
    }
}

fn hex_key(text: &str) -> Option<String> {
    let is_key = text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_key.then(|| text.to_ascii_lowercase())
}

/// Decodes `%xx`; a plus sign stays a plus sign. `None` if an escape is broken or the result is not UTF-8.
fn unescape(text: &str) -> Option<String> {
    let is_escape = |rest: &[u8]| {
        let digits = rest.get(..2);
        digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit))
    };
    let mut escapes = text.as_bytes().split(|byte| *byte == b'%').skip(1);
    if !escapes.all(is_escape) {
        return None;
    }
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use alloc::format;

    use super::*;

    const KEY: &str = "b889ff5b1513b641e2a139f661a661364979c5beee91842f8f0ef42ab558e9d4";
    const SECRET: &str = "71a8c14c1407c113601079c4302dab36460f0ccd0ad506f1f2dc73b5100e4f3c";

    fn uri(rest: &str) -> String {
        rest.replace("{K}", KEY).replace("{S}", SECRET)
    }

    #[test]
    fn pairings_are_read() {
        let one = "nostr+walletconnect://{K}?relay=wss%3A%2F%2Frelay.damus.io&secret={S}";
        let two = "nostr+walletconnect://{K}?relay=wss%3A%2F%2Falpha.example&relay=wss%3A%2F%2Fbeta.example&secret={S}";
        #[rustfmt::skip]
        let rows: [(String, &[&str], Option<&str>); 5] = [
            (uri(one), &["wss://relay.damus.io"], None),
            (uri(two), &["wss://alpha.example", "wss://beta.example"], None),
            (uri(one) + "&lud16=satoshi%40example.com", &["wss://relay.damus.io"], Some("satoshi@example.com")),
            (uri(one) + "&name=Alby+Hub&app=anything&flag", &["wss://relay.damus.io"], None),
            (uri(one) + "&lud16=a+b", &["wss://relay.damus.io"], Some("a+b")),
        ];
        for (text, relays, lud16) in rows {
            let pairing = PairingUri::parse(&text).unwrap();
            assert_eq!(pairing.wallet, KEY);
            let read: Vec<&str> = pairing.relays.iter().map(Endpoint::expose).collect();
            assert_eq!(read, relays);
            assert_eq!(pairing.secret.expose(), SECRET);
            assert_eq!(pairing.lud16.as_deref(), lud16);
        }
    }

    #[test]
    fn a_wallet_may_be_named_as_people_name_it() {
        let npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg";
        let text = format!("nostr+walletconnect://{npub}?relay=ws://r&secret={SECRET}");
        let expected = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e";
        assert_eq!(PairingUri::parse(&text).unwrap().wallet, expected);
    }

    #[test]
    fn a_secret_in_the_wrong_place_is_masked_too() {
        let text = uri(
            "nostr+walletconnect://{K}?relay=ws://r/{S}&relay=ws://me:planted@r&secret={S}&lud16=",
        ) + &SECRET.to_ascii_uppercase();
        let pairing = PairingUri::parse(&text).unwrap();
        assert_eq!(
            pairing.masked(),
            "nostr+walletconnect://b889ff5b…?relay=…&relay=ws://me:***@r&secret=…4f3c&lud16=…"
        );
        assert!(!format!("{pairing:?}").contains("planted"));
    }

    #[test]
    fn invalid_pairings_are_refused() {
        #[rustfmt::skip]
        let rows = [
            ("", PairingError::BadScheme),
            ("https://example.com", PairingError::BadScheme),
            ("nostr://abc?relay=wss://x&secret=00", PairingError::BadScheme),
            ("NOSTR+walletconnect://{K}?relay=wss://x&secret={S}", PairingError::BadScheme),
            ("nostr+walletconnect://abc?relay=wss://x&secret={S}", PairingError::BadPubkey),
            (
                "nostr+walletconnect://zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz?relay=wss://x&secret={S}",
                PairingError::BadPubkey,
            ),
            ("nostr+walletconnect://{K}?secret={S}", PairingError::BadRelay),
            ("nostr+walletconnect://{K}", PairingError::BadRelay),
            ("nostr+walletconnect://{K}?relay=http%3A%2F%2Frelay.example&secret={S}", PairingError::BadRelay),
            ("nostr+walletconnect://{K}?relay", PairingError::BadRelay),
            ("nostr+walletconnect://{K}?relay=wss://x", PairingError::BadSecret),
            ("nostr+walletconnect://{K}?relay=wss://x&secret=cafe", PairingError::BadSecret),
            ("nostr+walletconnect://{K}?relay=wss%3", PairingError::BadEscape),
            ("nostr+walletconnect://{K}?relay=wss%zz&secret=cafe", PairingError::BadEscape),
            ("nostr+walletconnect://{K}?relay=wss://x&secret={S}&name=%ff", PairingError::BadEscape),
        ];
        for (text, expected) in rows {
            assert_eq!(PairingUri::parse(&uri(text)), Err(expected), "{text}");
        }
    }

    #[test]
    fn the_masked_form_hides_the_secret() {
        let text = uri("nostr+walletconnect://{K}?relay=wss%3A%2F%2Frelay.damus.io&secret={S}");
        let masked = PairingUri::parse(&text).unwrap().masked();
        assert_eq!(
            masked,
            "nostr+walletconnect://b889ff5b…?relay=wss://relay.damus.io&secret=…4f3c"
        );
        let full = PairingUri::parse(&(text + "&relay=ws://b&lud16=a%40b"))
            .unwrap()
            .masked();
        assert_eq!(
            full,
            "nostr+walletconnect://b889ff5b…?relay=wss://relay.damus.io&relay=ws://b&secret=…4f3c&lud16=a@b"
        );
        assert!(
            !format!(
                "{:?}",
                PairingUri::parse(&uri("nostr+walletconnect://{K}?relay=ws://r&secret={S}"))
            )
            .contains(SECRET)
        );
    }
}
