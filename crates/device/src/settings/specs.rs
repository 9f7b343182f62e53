//! The rows of the table as data: kind, texts, conditions, defaults.

use alloc::{string::String, vec::Vec};

use super::{
    Key, Settings,
    data_source::{self, CUSTOM_RELAY, EXPLORER, NOSTR},
    fonts,
    kinds::{
        address::{Host, Schemes, base_url, url},
        board_screens::BoardScreens,
        choice::{FONT, POOL},
        currencies::Currencies,
        displays::DisplaysKind,
        dnd::Dnd,
        hosts::Hosts,
        kept_texts::KeptTexts,
        key::HexKey,
        keys::Keys,
        number::{Color, Numbered, slider, uint},
        pairing_uri::PairingKind,
        password::PasswordKind,
        pem::{CERTIFICATES, PRIVATE_KEY},
        pool_user::PoolUser,
        relays::Relays,
        screen_ids::ScreenIds,
        screens::Screens,
        switch::{MuteKind, Switch},
        text::{TextKind, UserName},
        time_per_screen::TimePerScreen,
        topic::{GroupNames, TopicKind},
        tx_power::TxPower,
        venues::Venues,
        version::VersionOrNone,
        zone::ZoneName,
    },
    pools, proof_mode,
    spec::{
        Access::{self, Internal, ReadOnly, ReadWrite, WriteOnly},
        Apply::{Live, Reboot},
        BoardPart,
        Component::{
            Advert, Frontlight, Mqtt, Outbound, Panels, Rotation, Sources, Strip, Update, Wifi,
        },
        EntityDefault::{Disabled, Enabled},
        SettingCondition::{self, Among, Chosen, Has, On},
        SettingGroup, Spec, Virtual,
    },
    table::rows,
};
use crate::{
    displays::Display,
    glass::rotation::RotationSlot,
    limits::{NODE_TEXT_MAX, PEERS_MAX, TEXT_MAX},
    screens::catalog,
    secret::{Endpoint, PasswordHash, Secret},
};
use market::units::Currency;

const ALWAYS: &[SettingCondition] = &[];
const WITH_FRONTLIGHT: &[SettingCondition] = &[Has(BoardPart::Frontlight)];
const WITH_RADIO: &[SettingCondition] = &[Has(BoardPart::Radio)];
const WITH_NODE: &[SettingCondition] = &[Among(Key::node_kind, &[1, 2])];
const WITH_POOL: &[SettingCondition] = &[On(Key::mining_pool_stats)];
const WITH_HOME_ASSISTANT: &[SettingCondition] = &[On(Key::mqtt_enabled), On(Key::ha_discovery)];
const WITH_MQTT: &[SettingCondition] = &[On(Key::mqtt_enabled)];
const WITH_MQTT_TLS: &[SettingCondition] = &[On(Key::mqtt_enabled), On(Key::mqtt_tls)];
const WITH_PROXY: &[SettingCondition] = &[On(Key::proxy_enabled)];
const WITH_WALLET: &[SettingCondition] = &[On(Key::nwc_enabled)];
const WITH_ZAPS: &[SettingCondition] = &[On(Key::nostr_zap_notify)];

macro_rules! specs {
    (@option) => { None };
    (@option $value:expr) => { Some($value) };
    (@or $default:expr) => { $default };
    (@or $default:expr, $value:expr) => { $value };
    ($(
        $(#[doc = $doc:literal])+
        $field:ident: $type:ty {
            name: $name:literal,
            $(alias: $alias:literal,)?
            default: $default:expr,
            kind: $kind:expr,
            $(access: $access:expr,)?
            apply: $apply:expr,
            group: $group:ident,
            $(title: $title:literal,)?
            $(help: $help:literal,)?
            $(unit: $unit:literal,)?
            $(needs: $needs:expr,)?
            $(search: $search:literal,)?
            $(rare: $rare:literal,)?
            $(entity: $entity:expr,)?
        }
    )+) => {
        /// All rows, in the order of the interface.
        pub static SPECS: &[Spec] = &[$( Spec {
            key: Key::$field,
            name: $name,
            alias: specs!(@option $($alias)?),
            doc: concat!($($doc),+),
            kind: $kind,
            access: specs!(@or ReadWrite $(, $access)?),
            apply: $apply,
            group: SettingGroup::$group,
            title: specs!(@or "" $(, $title)?),
            help: specs!(@or "" $(, $help)?),
            unit: specs!(@or "" $(, $unit)?),
            needs: specs!(@or ALWAYS $(, $needs)?),
            search: specs!(@or "" $(, $search)?),
            is_rare: specs!(@or false $(, $rare)?),
            entity: specs!(@option $($entity)?),
        }, )+];

        impl Default for Settings {
            fn default() -> Settings {
                Settings { $( $field: $default.into(), )+ }
            }
        }
    };
}

rows!(specs);

impl Key {
    /// Its row.
    pub fn spec(self) -> &'static Spec {
        &SPECS[self as usize]
    }
}

/// All keys that are not rows.
pub static VIRTUAL: &[Virtual] = &[
    Virtual {
        name: "timePerScreen",
        doc: "Auto-rotate period, min; fractions are allowed, 0 stops the rotation, more than 60 counts as 60.",
        kind: &TimePerScreen,
        access: Access::WriteOnly,
        group: SettingGroup::Rotation,
        title: "Time per screen",
        help: "0 stays on one screen. At most an hour.",
        unit: "min",
        search: "interval speed rotation carousel",
    },
    Virtual {
        name: "screens",
        doc: "Screens that are available: which of them the rotation shows, and in what order.",
        kind: &Screens,
        access: Access::ReadWrite,
        group: SettingGroup::Rotation,
        title: "Screens and their order",
        help: "Drag a screen by its handle, or move it with the arrow keys. Screens that are off can still be shown by hand.",
        unit: "",
        search: "pages order hide show",
    },
    Virtual {
        name: "dnd",
        doc: "Do Not Disturb by hand and by schedule; the four times of the schedule are written together or not at all.",
        kind: &Dnd,
        access: Access::ReadWrite,
        group: SettingGroup::Quiet,
        title: "Quiet hours every day",
        help: "The LEDs stay dark in this time; it may go across midnight. Local time of the clock.",
        unit: "",
        search: "night mode sleep mute silent schedule",
    },
];

fn default_witnesses() -> Vec<String> {
    ["coinbase", "bitstamp"].map(String::from).into()
}

/// Price, time, height, sats per unit, fees, halving.
fn default_board() -> Vec<RotationSlot> {
    [20, 3, 0, 10, 6, 4].map(RotationSlot::plain).into()
}

fn default_currencies() -> Vec<Currency> {
    ["USD", "EUR", "JPY"]
        .iter()
        .filter_map(|code| Currency::parse(code))
        .collect()
}
