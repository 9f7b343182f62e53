//! The table of settings: a setting is one row, and everything else follows from it.

use alloc::{string::String, vec, vec::Vec};
use serde_json::Value;

use super::{
    composite::Composite as Shape,
    fonts,
    spec::{
        Access::{Internal, ReadOnly, ReadWrite, WriteOnly},
        Apply::{Live, Reboot},
        Choices,
        Component::{Advert, Frontlight, Outbound, Panels, Rotation, Sources, Strip, Update, Wifi},
        Field, Group, HexCase,
        Kind::{
            BaseUrl, Bool, Choice, Composite, HexKey, Host, HttpUrl, Numbered, Password, RelayUrl,
            Rgb, Screens, Text, Uint, UserName, Zone,
        },
        Spec,
    },
};
use crate::{
    secret::{Endpoint, PasswordHash, Secret},
    units::Currency,
};

/// Longest text of a setting without a tighter cap, bytes.
pub const TEXT_MAX: usize = 256;

macro_rules! settings {
    (@alias) => { None };
    (@alias $alias:literal) => { Some($alias) };
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty = $default:expr, $name:literal $(| $alias:literal)?,
        $kind:expr, $access:expr, $apply:expr, $group:ident;
    )+) => {
        /// Everything the owner can change, with its value.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub struct Settings {
            $( $(#[doc = $doc])+ pub $field: $type, )+
        }

        /// Names one setting, after its field in [`Settings`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(non_camel_case_types, missing_docs, reason = "a key is named after its field")]
        pub enum Key { $( $field, )+ }

        /// All rows, in the order of the interface.
        pub static SPECS: &[Spec] = &[$( Spec {
            key: Key::$field,
            name: $name,
            alias: settings!(@alias $($alias)?),
            doc: concat!($($doc),+),
            kind: $kind,
            access: $access,
            apply: $apply,
            group: Group::$group,
        }, )+];

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $( $field: $default.into(), )+ }
            }
        }

        impl Settings {
            /// The stored form of one setting.
            pub fn get(&self, key: Key) -> Value {
                match key { $( Key::$field => Field::store(&self.$field), )+ }
            }

            /// Replaces one setting by its stored form; tells whether the type was right.
            pub fn set(&mut self, key: Key, value: &Value) -> bool {
                match key {
                    $( Key::$field => match <$type as Field>::load(value) {
                        Some(loaded) => { self.$field = loaded; true }
                        None => false,
                    }, )+
                }
            }

            /// Copies one setting from another set.
            pub fn copy(&mut self, key: Key, from: &Settings) {
                match key { $( Key::$field => self.$field.clone_from(&from.$field), )+ }
            }
        }
    };
}

settings! {
    /// Font of digits and labels: an id of `availableFonts`.
    font_name: String = fonts::FONTS[0], "fontName", Choice(Choices::Fonts), ReadWrite, Live(&[Panels]), Display;
    /// Height of the big digit glyphs, px.
    digit_font_px: u32 = 180u32, "digitFontPx", Uint(80..=220), ReadWrite, Live(&[Panels]), Display;
    /// Width that split labels may take of the panel's, percent.
    label_fit_pct: u32 = 100u32, "labelFitPct", Uint(25..=100), ReadWrite, Live(&[Panels]), Display;
    /// White on black; else black on white.
    inverted_color: bool = false, "invertedColor", Composite(Shape::InvertedColor), ReadWrite, Live(&[Panels]), Display;
    /// Time between mandatory full refreshes, min; 0 makes every screen change a full one.
    full_refresh_min: u32 = 60u32, "fullRefreshMin", Uint(0..=1440), ReadWrite, Live(&[Panels]), Display;
    /// Full refresh on every screen change.
    refr_scrn_change: bool = false, "refrScrnChange", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Turned labels: 90 degrees counter-clockwise, so that they read along the long side of the panel.
    vertical_desc: bool = true, "verticalDesc", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Big characters for market cap and supply; without effect, because the panels always show the big form.
    mcap_big_char: bool = true, "mcapBigChar", Bool, ReadWrite, Live(&[]), Display;
    /// Supply as percent of 21 million; else as an amount.
    supply_percent: bool = false, "supplyPercent", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Halving as a number of blocks; else as years, days, hours and minutes.
    use_blk_countdown: bool = true, "useBlkCountdown", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Labels sats per US dollar as Moscow time.
    use_mscw_time: bool = true, "useMscwTime", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Marker before amounts of satoshis.
    price_sym_mode: u32 = 0u32, "priceSymMode", Numbered(&["none", "satoshi symbol", "bitcoin sign"]), ReadWrite, Live(&[Panels]), Display;
    /// Drawing of the satoshi symbol: one of 16.
    sats_variant: u32 = 7u32, "satsVariant", Uint(0..=15), ReadWrite, Live(&[Panels]), Display;
    /// Decimals of the fee rate: where the source gives them and they fit.
    block_fee_dec: bool = true, "blockFeeDec", Bool, ReadWrite, Live(&[Panels, Sources]), Display;
    /// Suffixes K and M on the price screen; where the digits would not fit, always.
    suffix_price: bool = false, "suffixPrice", Bool, ReadWrite, Live(&[Panels]), Display;
    /// The decimal dot shares the panel of the digit before it.
    decimal_share_dot: bool = false, "decimalShareDot", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Price in millions per bitcoin; with an M.
    mow_mode: bool = false, "mowMode", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Drops the leading zero of hours on the clock.
    hide_lead_zero: bool = false, "hideLeadZero", Bool, ReadWrite, Live(&[Panels]), Display;
    /// Auto-rotate period, s; 0 stops the rotation. Written as `timePerScreen`, in minutes.
    timer_seconds: u32 = 1800u32, "timerSeconds", Uint(0..=3600), ReadOnly, Live(&[Rotation]), Display;
    /// Time that a zap or a payment is shown, s.
    overlay_seconds: u32 = 30u32, "overlaySeconds", Uint(1..=3600), ReadWrite, Live(&[Panels]), Display;
    /// Persisted rotation order: ids of screens, comma-separated; empty is that of a fresh clock.
    screen_order: Vec<u16> = Vec::<u16>::new(), "screenOrder", Screens, ReadOnly, Live(&[Rotation]), Display;
    /// Ids of the screens that rotation skips.
    screens_hidden: Vec<u16> = vec![90u16], "screensHidden", Screens, Internal, Live(&[Rotation]), Display;

    /// Start of the host name; the device adds a dash and the end of its hardware address.
    hostname_prefix: String = "papertick", "hostnamePrefix", Text(TEXT_MAX), ReadWrite, Live(&[Advert, Panels]), Network;
    /// Announces the clock on the local network.
    mdns_enabled: bool = true, "mdnsEnabled", Bool, ReadWrite, Live(&[Advert]), Network;
    /// Time without Wi-Fi before a restart, min; 0 never restarts.
    wifi_reboot_min: u32 = 10u32, "wifiRebootMin", Uint(0..=120), ReadWrite, Live(&[Wifi]), Network;
    /// Time in the provisioning access point before a restart, s; 0 never restarts.
    wp_timeout: u32 = 900u32, "wpTimeout", Uint(0..=3600), ReadWrite, Reboot, Network;
    /// Wi-Fi transmit power, quarter-dBm; 80 leaves the radio's own.
    tx_power: Option<i32> = None::<i32>, "txPower", Composite(Shape::TxPower), ReadWrite, Live(&[Wifi]), Network;
    /// Wi-Fi credentials were stored by provisioning.
    wifi_configured: bool = false, "wifiConfigured", Bool, ReadOnly, Live(&[Wifi]), Network;

    /// Sends outbound connections through the proxy.
    proxy_enabled: bool = false, "proxyEnabled", Bool, ReadWrite, Live(&[Outbound]), Proxy;
    /// Kind of proxy.
    proxy_type: u32 = 0u32, "proxyType", Numbered(&["none", "HTTP CONNECT", "SOCKS4", "SOCKS4a", "SOCKS5"]), ReadWrite, Live(&[Outbound]), Proxy;
    /// Host of the proxy.
    proxy_host: Endpoint = "", "proxyHost", Host(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy;
    /// Port of the proxy.
    proxy_port: u32 = 1080u32, "proxyPort", Uint(1..=65535), ReadWrite, Live(&[Outbound]), Proxy;
    /// User name for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_user: String = "", "proxyUser", Text(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy;
    /// Password for the proxy; not used for SOCKS4 and SOCKS4a.
    proxy_pass: Secret = Secret::default(), "proxyPass", Text(TEXT_MAX), WriteOnly, Live(&[Outbound]), Proxy;
    /// Hosts that are reached without the proxy: comma-separated, `*` at the start or the end.
    proxy_bypass: String = "*.local,192.168.*,10.*,127.0.0.1", "proxyBypass", Text(TEXT_MAX), ReadWrite, Live(&[Outbound]), Proxy;

    /// Where block and price data come from.
    data_source: u32 = 0u32, "dataSource", Numbered(&["public relay", "explorer and exchange", "Nostr", "custom relay"]), ReadWrite, Reboot, Data;
    /// Host of the block explorer.
    explorer_instance: Endpoint = "mempool.space", "explorerInstance" | "mempoolInstance", Host(TEXT_MAX), ReadWrite, Reboot, Data;
    /// Uses TLS to the block explorer.
    explorer_secure: bool = true, "explorerSecure" | "mempoolSecure", Bool, ReadWrite, Reboot, Data;
    /// Host of the custom relay.
    ce_endpoint: Endpoint = "ws-staging.btclock.dev", "ceEndpoint", Host(TEXT_MAX), ReadWrite, Reboot, Data;
    /// Speaks to the custom relay without TLS.
    ce_disable_ssl: bool = false, "ceDisableSSL", Bool, ReadWrite, Reboot, Data;
    /// Least time between price updates on the panels, s; 0 paints every update.
    min_sec_price_upd: u32 = 30u32, "minSecPriceUpd", Uint(0..=3600), ReadWrite, Live(&[Panels]), Data;
    /// Currencies in the rotation: ISO 4217 codes of `availableCurrencies`; others are dropped, and none at all shows USD. A chosen one that is not offered at the moment is left out and comes back.
    act_currencies: Vec<Currency> = default_currencies(), "actCurrencies", Composite(Shape::Currencies), ReadWrite, Live(&[Rotation, Sources]), Data;

    /// Brightness of the LED strip; 255 is full.
    led_brightness: u32 = 128u32, "ledBrightness", Uint(0..=255), ReadWrite, Live(&[Strip]), Lights;
    /// Colour that the strip flashes on a new block.
    block_flash_color: u32 = 0xE0_43_00u32, "blockFlashColor", Rgb, ReadWrite, Live(&[Strip]), Lights;
    /// Mutes the LED strip.
    disable_leds: bool = false, "disableLeds", Bool, ReadWrite, Live(&[Strip]), Lights;
    /// Flashes the strip on a new block or price.
    led_flash_on_upd: bool = false, "ledFlashOnUpd", Bool, ReadWrite, Live(&[Strip]), Lights;
    /// Flashes the strip on a zap.
    led_flash_on_zap: bool = true, "ledFlashOnZap", Bool, ReadWrite, Live(&[Strip]), Lights;
    /// Shows a rainbow on the strip at start.
    led_test_on_power: bool = true, "ledTestOnPower", Bool, ReadWrite, Reboot, Lights;
    /// Keeps the frontlight on in bright rooms.
    fl_always_on: bool = true, "flAlwaysOn", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Mutes the frontlight.
    fl_disable: bool = false, "flDisable", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Time between steps of a frontlight fade, ms.
    fl_effect_delay: u32 = 15u32, "flEffectDelay", Uint(0..=1000), ReadWrite, Live(&[Frontlight]), Lights;
    /// Flashes the frontlight on a new block.
    fl_flash_on_upd: bool = true, "flFlashOnUpd", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Flashes the frontlight on a zap.
    fl_flash_on_zap: bool = true, "flFlashOnZap", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Brightness of the frontlight at 100 percent, PWM duty; 4095 is the most that has effect.
    fl_max_brightness: u32 = 2048u32, "flMaxBrightness", Uint(0..=65535), ReadWrite, Live(&[Frontlight]), Lights;
    /// Turns the frontlight off when the room is dark: below 1.0 lux, until 2.0 lux.
    fl_off_when_dark: bool = true, "flOffWhenDark", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Turns the frontlight off while Do Not Disturb is active.
    fl_off_on_dnd: bool = true, "flOffOnDnd", Bool, ReadWrite, Live(&[Frontlight]), Lights;
    /// Light between a dim and a bright room, lux; 0 leaves the frontlight alone.
    lux_light_toggle: u32 = 128u32, "luxLightToggle", Uint(0..=65535), ReadWrite, Live(&[Frontlight]), Lights;
    /// Reverses the order of the buttons.
    inverse_buttons: bool = false, "inverseButtons", Bool, ReadWrite, Reboot, Lights;

    /// Do Not Disturb by hand. Written as `dnd.enabled`.
    dnd_enabled: bool = false, "dndEnabled", Bool, ReadOnly, Live(&[Strip, Frontlight]), Quiet;
    /// Do Not Disturb by schedule. Written as `dnd.dndTimeEnabled`.
    dnd_time_enabled: bool = false, "dndTimeEnabled", Bool, ReadOnly, Live(&[Strip, Frontlight]), Quiet;
    /// Start of the schedule, h. Written as `dnd.startHour`.
    dnd_start_hour: u32 = 22u32, "dndStartHour", Uint(0..=23), ReadOnly, Live(&[Strip, Frontlight]), Quiet;
    /// Start of the schedule, min past the hour. Written as `dnd.startMinute`.
    dnd_start_min: u32 = 0u32, "dndStartMin", Uint(0..=59), ReadOnly, Live(&[Strip, Frontlight]), Quiet;
    /// End of the schedule, h. Written as `dnd.endHour`.
    dnd_end_hour: u32 = 7u32, "dndEndHour", Uint(0..=23), ReadOnly, Live(&[Strip, Frontlight]), Quiet;
    /// End of the schedule, min past the hour. Written as `dnd.endMinute`.
    dnd_end_min: u32 = 0u32, "dndEndMin", Uint(0..=59), ReadOnly, Live(&[Strip, Frontlight]), Quiet;

    /// Time zone of the clock and of the schedules: an IANA name.
    tz_string: String = "Europe/Amsterdam", "tzString", Zone, ReadWrite, Live(&[Panels, Strip, Frontlight]), Time;

    /// Polls the mining pool and offers its screens.
    mining_pool_stats: bool = false, "miningPoolStats", Bool, ReadWrite, Live(&[Rotation, Sources]), Pool;
    /// The mining pool: an id of `availablePools`.
    mining_pool_name: String = "noderunners", "miningPoolName", Choice(Choices::Pools), ReadWrite, Live(&[Sources, Panels]), Pool;
    /// User at the pool: payout address, user or worker name, or API key. A key is forgotten when a pool without keys is chosen.
    mining_pool_user: Secret = Secret::default(), "miningPoolUser", Text(TEXT_MAX), ReadWrite, Live(&[Sources]), Pool;
    /// The user of the pool was given as an API key and is never shown.
    pool_user_is_key: bool = false, "poolUserIsKey", Bool, Internal, Live(&[]), Pool;
    /// Worker at the pool: its name, or the sub-account for pools with one.
    pool_worker: String = "", "poolWorker", Text(TEXT_MAX), ReadWrite, Live(&[Sources]), Pool;
    /// Shows the figures of the whole pool: where it publishes them without a user.
    pool_global_stats: bool = true, "poolGlobalStats", Bool, ReadWrite, Live(&[Sources]), Pool;
    /// Host and port of the self-hosted pool.
    local_pool_host: Endpoint = "umbrel.local:2019", "localPoolHost", Host(TEXT_MAX), ReadWrite, Reboot, Pool;
    /// Time between polls of the pool, s.
    pool_poll_sec: u32 = 60u32, "poolPollSec", Uint(10..=3600), ReadWrite, Live(&[Sources, Panels]), Pool;
    /// Where logos of pools are fetched: an `http://` or `https://` address, or empty.
    pool_logos_url: Endpoint = "https://git.btclock.dev/btclock/mining-pool-logos/raw/branch/main", "poolLogosUrl", BaseUrl, ReadWrite, Live(&[Sources]), Pool;

    /// Polls a miner on the local network and offers its screens.
    miner_enabled: bool = false, "minerEnabled" | "bitaxeEnabled", Bool, ReadWrite, Live(&[Rotation, Sources]), Miner;
    /// Host of the miner.
    miner_hostname: Endpoint = "bitaxe1", "minerHostname" | "bitaxeHostname", Host(TEXT_MAX), ReadWrite, Live(&[Sources]), Miner;
    /// Time between polls of the miner, s.
    miner_poll_sec: u32 = 10u32, "minerPollSec" | "bitaxePollSec", Uint(5..=300), ReadWrite, Live(&[Sources, Panels]), Miner;

    /// Nostr relay for the data feed and for zaps: a `ws://` or `wss://` address; empty with no other relay turns both off.
    nostr_relay: Endpoint = "wss://relay.primal.net", "nostrRelay", RelayUrl, ReadWrite, Reboot, Nostr;
    /// Relays beside that one: at most 8 addresses; all are followed, and what two of them tell counts once.
    nostr_relays: Vec<Endpoint> = Vec::<Endpoint>::new(), "nostrRelays", Composite(Shape::Relays), ReadWrite, Reboot, Nostr;
    /// Key of the author whose data the clock follows: 64 lower-case hex digits or an `npub`, or empty.
    nostr_pub_key: String = "642317135fd4c4205323b9dea8af3270657e62d51dc31a657c0ec8aab31c6288", "nostrPubKey", HexKey(HexCase::Lower), ReadWrite, Reboot, Nostr;
    /// Listens for zaps and shows them.
    nostr_zap_notify: bool = false, "nostrZapNotify", Bool, ReadWrite, Live(&[Sources, Panels, Strip, Frontlight]), Nostr;
    /// Key whose zaps are shown: 64 hex digits or an `npub`, or empty.
    nostr_zap_pubkey: String = "", "nostrZapPubkey", HexKey(HexCase::Any), ReadWrite, Live(&[Sources]), Nostr;
    /// Keys beside that one: at most 8, each as 64 hex digits or an `npub`.
    nostr_zap_pubkeys: Vec<String> = Vec::<String>::new(), "nostrZapPubkeys", Composite(Shape::ZapKeys), ReadWrite, Live(&[Sources]), Nostr;
    /// Goes back to the screen before, once a zap was shown.
    scrn_restore_zap: bool = true, "scrnRestoreZap", Bool, ReadWrite, Live(&[Panels]), Nostr;
    /// Shows the block height on a new block.
    steal_focus: bool = false, "stealFocus", Bool, ReadWrite, Live(&[Panels, Frontlight]), Nostr;

    /// Connects to the wallet.
    nwc_enabled: bool = false, "nwcEnabled", Bool, ReadWrite, Reboot, Wallet;
    /// Pairing URI of the wallet: `nostr+walletconnect://`; one that cannot be read leaves the wallet off.
    nwc_uri: Secret = Secret::default(), "nwcUri", Text(TEXT_MAX), WriteOnly, Reboot, Wallet;
    /// Time between polls of the balance, s.
    nwc_refresh_secs: u32 = 60u32, "nwcRefreshSecs", Uint(15..=3600), ReadWrite, Reboot, Wallet;
    /// Shows payments as they happen.
    nwc_show_notify: bool = true, "nwcShowNotify", Bool, ReadWrite, Live(&[Panels, Strip, Frontlight]), Wallet;
    /// Flashes the lights when a payment is shown.
    nwc_flash_on_pay: bool = true, "nwcFlashOnPay", Bool, ReadWrite, Live(&[Strip, Frontlight]), Wallet;

    /// Asks for a user name and password on every control request.
    http_auth_enabled: bool = false, "httpAuthEnabled", Bool, ReadWrite, Reboot, Access;
    /// User name for control requests: without a colon.
    http_auth_user: String = "papertick", "httpAuthUser", UserName(TEXT_MAX), ReadWrite, Reboot, Access;
    /// Password for control requests.
    http_auth_pass: PasswordHash = PasswordHash::default(), "httpAuthPass", Password(TEXT_MAX), WriteOnly, Reboot, Access;
    /// Accepts firmware and web bundles over HTTP.
    ota_enabled: bool = true, "otaEnabled", Bool, ReadWrite, Reboot, Access;
    /// Password for uploads.
    ota_pass: PasswordHash = PasswordHash::default(), "otaPass", Password(TEXT_MAX), WriteOnly, Reboot, Access;
    /// Release feed of the automatic update: an `http://` or `https://` address, or empty.
    git_release_url: Endpoint = "", "gitReleaseUrl", HttpUrl, ReadWrite, Live(&[Update]), Access;

    /// Logs in detail.
    enable_debug_log: bool = false, "enableDebugLog", Bool, ReadWrite, Reboot, Diagnostics;
    /// The rotation timer runs; kept for the next start.
    timer_active: bool = true, "timerActive", Bool, ReadWrite, Live(&[Rotation, Strip]), Diagnostics;
}

fn default_currencies() -> Vec<Currency> {
    ["USD", "EUR", "JPY"]
        .iter()
        .filter_map(|code| Currency::parse(code))
        .collect()
}
