//! The entities of Home Assistant, depending on the board, the settings and the available currencies.
//!
//! A setting with `entity` in its row is an entity, too: see [`setting`].

use alloc::{format, string::String, vec::Vec};

use device::{
    displays::{Display, DisplayState},
    lights::{StripEffect, frontlight::DUTY_MAX},
    mqtt::Broker,
    screens::catalog,
    settings::{
        Key, SPECS,
        spec::{Access, BoardPart, EntityDefault, SettingCondition, SettingGroup, Spec},
    },
    view::View,
};
use serde_json::{Value, json};

use super::{
    documents::{self, ProgramInfo},
    topics::{Lamp, QuietHoursBound},
};

/// A component of the discovery document.
pub(super) struct Entity {
    /// Its key among those of the clock. It never changes, because the id of the entity has it.
    pub(super) key: String,
    /// Platform of Home Assistant.
    pub(super) platform: &'static str,
    /// Other members. `None` if the clock lacks the entity, which removes it from Home Assistant.
    pub(super) members: Option<Value>,
}

/// Topics that have the states of entities.
const STATE: &str = "state";
const INFO: &str = "info";
const HOST: &str = "host";
const MARKET: &str = "market";
const DISPLAYS: &str = "displays";
const SETTINGS: &str = "settings";

/// All entities, including those that the clock lacks.
pub(super) fn all(view: &View, program: &ProgramInfo, broker: &Broker) -> Vec<Entity> {
    let mut all = Vec::new();
    all.extend(market_sensors(view));
    all.extend(state_sensors(view));
    all.extend(lamps(view));
    all.extend(buttons(view));
    all.extend(controls(view));
    all.extend([QuietHoursBound::From, QuietHoursBound::Until].map(quiet_hours_text));
    all.extend(other_entities(view, program, broker));
    all.extend(display_sensors(view));
    all.extend(SPECS.iter().filter_map(|spec| setting(spec, view)));
    all
}

fn entity(key: impl Into<String>, platform: &'static str, members: Value) -> Entity {
    Entity {
        key: key.into(),
        platform,
        members: Some(members),
    }
}

impl Entity {
    /// Removes the entity if the clock lacks it.
    fn only_if(mut self, is_present: bool) -> Entity {
        self.members = self.members.filter(|_| is_present);
        self
    }
}

/// Height, fee rate and prices.
fn market_sensors(view: &View) -> Vec<Entity> {
    let mut entities = Vec::from([
        entity(
            "height",
            "sensor",
            json!({ "name": "Block height", "topic": MARKET, "val_tpl": value_of("height"), "ic": "mdi:cube-outline", "stat_cla": "measurement" }),
        ),
        entity(
            "fee_rate",
            "sensor",
            json!({ "name": "Fee rate", "topic": MARKET, "val_tpl": value_of("feeRate"), "ic": "mdi:speedometer", "stat_cla": "measurement", "unit_of_meas": "sat/vB" }),
        ),
        entity(
            "last_block",
            "sensor",
            json!({ "name": "Last block", "topic": STATE, "dev_cla": "timestamp", "ent_cat": "diagnostic", "val_tpl": "{{ value_json.tipTime | as_datetime if value_json.tipTime else None }}" }),
        ),
    ]);
    for currency in view.offer.currencies() {
        let code = currency.code();
        let is_active = view.settings.active.act_currencies.contains(currency);
        let key = code.to_ascii_lowercase();
        let price = json!({ "name": format!("Price {code}"), "topic": MARKET, "val_tpl": value_of(&format!("prices.{code}")), "ic": "mdi:bitcoin", "stat_cla": "measurement", "unit_of_meas": code });
        let sats = json!({ "name": format!("Sats per {code}"), "topic": MARKET, "val_tpl": format!("{{% set price = (value_json.prices.{code} | default({{}})).value | default(0) | float %}}{{{{ (100000000 / price) | round(0) | int if price else None }}}}"), "ic": "mdi:swap-horizontal", "stat_cla": "measurement", "unit_of_meas": "sat" });
        entities.push(entity(format!("price_{key}"), "sensor", price).only_if(is_active));
        entities.push(entity(format!("sats_{key}"), "sensor", sats).only_if(is_active));
    }
    for currency in view.offer.former() {
        let key = currency.code().to_ascii_lowercase();
        entities.extend(["price", "sats"].map(|kind| Entity {
            key: format!("{kind}_{key}"),
            platform: "sensor",
            members: None,
        }));
    }
    entities
}

/// Batteries of the remote displays.
fn display_sensors(view: &View) -> Vec<Entity> {
    let key = |id: &str| format!("display_{}_battery", id.to_ascii_lowercase());
    let approved = view.displays.iter().filter(|state| state.is_approved);
    let sensor = |state: &DisplayState| {
        let Display { id, name, .. } = &state.display;
        let name = if name.is_empty() { id } else { name };
        let members = json!({ "name": format!("{name} battery"), "topic": DISPLAYS, "val_tpl": format!("{{{{ (value_json['{id}'] | default({{}})).percent | default(None) }}}}"), "dev_cla": "battery", "unit_of_meas": "%", "stat_cla": "measurement", "ent_cat": "diagnostic" });
        let has_battery = state.report.contact.battery.is_some();
        entity(key(id), "sensor", members).only_if(has_battery)
    };
    // Before the first contact since the start it is not known whether a display has a battery.
    let approved = approved.filter(|state| state.report.last_contact.is_some());
    let former = view.former_displays.iter().map(|id| Entity {
        key: key(id),
        platform: "sensor",
        members: None,
    });
    approved.map(sensor).chain(former).collect()
}

/// A template that reads a value on `market`; `None` of Home Assistant if it is missing.
fn value_of(member: &str) -> String {
    format!("{{{{ (value_json.{member} | default({{}})).value | default(None) }}}}")
}

/// State of the clock.
fn state_sensors(view: &View) -> Vec<Entity> {
    let sensor = |key: &str, name: &str, more: Value| {
        let members = json!({ "name": name, "topic": STATE });
        entity(key, "sensor", with(members, more))
    };
    let flag = |key: &str, name: &str, test: &str, more: Value| {
        let members = json!({ "name": name, "topic": STATE, "val_tpl": format!("{{{{ 'ON' if {test} else 'OFF' }}}}") });
        entity(key, "binary_sensor", with(members, more))
    };
    let diagnostic = || json!({ "ent_cat": "diagnostic" });
    let disabled = || json!({ "ent_cat": "diagnostic", "en": false });
    let problem = || json!({ "ent_cat": "diagnostic", "dev_cla": "problem" });
    let connected = || json!({ "ent_cat": "diagnostic", "dev_cla": "connectivity" });
    Vec::from([
        sensor("screen_name", "Current screen", json!({ "val_tpl": screen_name(view), "ic": "mdi:monitor" })),
        sensor("currency_code", "Currency", json!({ "val_tpl": "{{ value_json.currency or 'none' }}", "ic": "mdi:currency-usd" })),
        sensor("says", "Panels", json!({ "val_tpl": "{{ value_json.says[:255] }}", "ic": "mdi:text" })),
        sensor("light_level", "Light level", json!({ "val_tpl": "{{ value_json.lightLevel | default(None) }}", "dev_cla": "illuminance", "unit_of_meas": "lx", "stat_cla": "measurement" }))
            .only_if(view.board.light_sensor),
        sensor("signal", "Signal strength", with(json!({ "val_tpl": "{{ value_json.rssi }}", "dev_cla": "signal_strength", "unit_of_meas": "dBm", "stat_cla": "measurement" }), diagnostic()))
            .only_if(view.link.managed),
        sensor("address", "Address", with(json!({ "val_tpl": "{{ value_json.link.ip or None }}", "ic": "mdi:ip-network" }), diagnostic())),
        sensor("version", "Version", with(json!({ "topic": INFO, "val_tpl": "{{ value_json.gitTag[:255] }}", "ic": "mdi:tag" }), diagnostic())),
        sensor("started_at", "Started at", with(json!({ "topic": HOST, "val_tpl": "{{ value_json.startedAt | as_datetime if value_json.startedAt else None }}", "dev_cla": "timestamp" }), diagnostic())),
        sensor("free_memory", "Free memory", with(json!({ "topic": HOST, "val_tpl": "{{ value_json.memoryFree }}", "dev_cla": "data_size", "unit_of_meas": "B", "stat_cla": "measurement" }), disabled())),
        sensor("mqtt_dropped", "MQTT drops", with(json!({ "topic": HOST, "val_tpl": "{{ value_json.mqttDropped }}", "stat_cla": "total_increasing", "ic": "mdi:delete" }), disabled())),
        sensor("nostr_relay", "Nostr relay", with(json!({ "topic": SETTINGS, "val_tpl": "{{ value_json.nostrRelay[:255] or 'none' }}", "ic": "mdi:server-network" }), disabled())),
        sensor("update_state", "Update state", with(json!({ "val_tpl": "{{ 'updating' if value_json.isOTAUpdating else 'idle' }}", "ic": "mdi:update" }), diagnostic())),
        sensor("safe_mode_reason", "Reason of safe mode", with(json!({ "val_tpl": "{{ (value_json.safeMode or 'none')[:255] }}" }), disabled())),
        flag("dnd_active", "Do not disturb active", "value_json.dnd.active", json!({ "ic": "mdi:sleep" })),
        flag("rotating", "Rotation running", "value_json.timerRunning", json!({ "dev_cla": "running", "en": false })),
        flag("price_source", "Price source", "value_json.connectionStatus.price", connected()),
        flag("block_source", "Block source", "value_json.connectionStatus.blocks", connected()),
        flag("relay", "Relay", "value_json.connectionStatus.V2", connected()),
        flag("nostr", "Nostr", "value_json.connectionStatus.nostr", with(connected(), disabled())),
        flag("wallet", "Wallet", "value_json.connectionStatus.nwc", with(connected(), disabled())),
        flag("stale", "Old value", "value_json.stale", problem()),
        flag("panel_fault", "Panel fault", "value_json.panelFaults | length > 0", problem()),
        flag("safe_mode", "Safe mode", "value_json.safeMode", problem()),
    ])
}

fn lamps(view: &View) -> Vec<Entity> {
    let light = |key: String, name: String, lamp: Lamp, more: Value| {
        let topic = lamp.topic();
        let members = json!({ "name": name, "schema": "json", "topic": topic, "command": format!("{topic}/set") });
        entity(key, "light", with(members, more))
    };
    let effects: Vec<&str> = StripEffect::NAMED.iter().map(|(name, _)| *name).collect();
    let strip = json!({ "sup_clrm": ["rgb"], "brightness": true, "bri_scl": 255, "effect": true, "fx_list": effects });
    let mut entities = Vec::from([
        light("strip".into(), "LEDs".into(), Lamp::Strip, strip).only_if(view.board.leds > 0),
        light(
            "frontlight".into(),
            "Frontlight".into(),
            Lamp::Frontlight,
            json!({ "sup_clrm": ["brightness"], "brightness": true, "bri_scl": DUTY_MAX }),
        )
        .only_if(view.board.frontlight),
    ]);
    entities.extend((0..view.board.leds).map(|index| {
        let number = index + 1;
        let more = json!({ "sup_clrm": ["rgb"], "brightness": false, "en": false });
        light(
            format!("led_{number}"),
            format!("LED {number}"),
            Lamp::Led(index),
            more,
        )
    }));
    entities
}

/// Buttons.
fn buttons(view: &View) -> Vec<Entity> {
    let button = |key: &str, name: &str, command: &str, more: Value| {
        let members = json!({ "name": name, "command": format!("cmd/{command}"), "pl_prs": "{}" });
        entity(key, "button", with(members, more))
    };
    let diagnostic = || json!({ "ent_cat": "diagnostic" });
    Vec::from([
        button(
            "next",
            "Next screen",
            "screen/next",
            json!({ "ic": "mdi:skip-next" }),
        ),
        button(
            "previous",
            "Previous screen",
            "screen/previous",
            json!({ "ic": "mdi:skip-previous" }),
        ),
        button(
            "full_refresh",
            "Full refresh",
            "full_refresh",
            json!({ "ic": "mdi:refresh" }),
        ),
        button(
            "clean_panels",
            "Clean panels",
            "clean_panels",
            json!({ "ent_cat": "config", "ic": "mdi:broom" }),
        ),
        button(
            "identify",
            "Identify",
            "identify",
            json!({ "dev_cla": "identify" }),
        ),
        button("flash", "Flash frontlight", "frontlight/flash", json!({}))
            .only_if(view.board.frontlight),
        button(
            "restart",
            "Restart",
            "restart",
            json!({ "dev_cla": "restart", "ent_cat": "config" }),
        ),
        button(
            "restart_sources",
            "Restart data sources",
            "restart_datasources",
            diagnostic(),
        ),
        button(
            "simulate_zap",
            "Simulate a zap",
            "action/simulate_zap",
            diagnostic(),
        ),
        button(
            "clear_logos",
            "Clear cached pool logos",
            "action/clear_pool_logos",
            json!({ "ent_cat": "config" }),
        ),
    ])
}

/// Controls that are not a single setting.
fn controls(view: &View) -> Vec<Entity> {
    let settings = &view.settings.active;
    let order = settings.rotation_order();
    let screens = order.iter().filter(|id| settings.is_screen_available(**id));
    let screens: Vec<_> = screens.filter_map(|id| catalog::find(*id)).collect();
    let names: Vec<&str> = screens.iter().map(|screen| screen.name).collect();
    let ids = screens
        .iter()
        .map(|screen| format!("'{}': {}", screen.name, screen.id));
    let command = format!(
        "{{\"s\": {{{{ {{{}}}[value] }}}}}}",
        ids.collect::<Vec<_>>().join(", ")
    );
    let codes: Vec<&str> = settings
        .act_currencies
        .iter()
        .map(|currency| currency.code())
        .collect();
    let dnd = |key: &str, name: &str, member: &str, more: Value| {
        let members = json!({
            "name": name,
            "topic": STATE,
            "val_tpl": format!("{{{{ 'ON' if value_json.dnd.{member} else 'OFF' }}}}"),
            "command": "set",
            "pl_on": format!("{{\"dnd\": {{\"{member}\": true}}}}"),
            "pl_off": format!("{{\"dnd\": {{\"{member}\": false}}}}"),
            "stat_on": "ON",
            "stat_off": "OFF",
        });
        entity(key, "switch", with(members, more))
    };
    let minutes = json!({
        "name": "Time per screen", "topic": SETTINGS, "command": "set", "ent_cat": "config",
        "val_tpl": format!("{{{{ (value_json.{} / 60) | round(2) }}}}", Key::timer_seconds.name()),
        "cmd_tpl": "{\"timePerScreen\": {{ value }}}",
        "min": 0, "max": 60, "step": 0.25, "unit_of_meas": "min", "mode": "box",
    });
    Vec::from([
        entity(
            "screen",
            "select",
            json!({ "name": "Screen", "topic": STATE, "val_tpl": screen_name(view), "command": "cmd/show/screen", "cmd_tpl": command, "ops": names }),
        ),
        entity(
            "currency",
            "select",
            json!({ "name": "Shown currency", "topic": STATE, "val_tpl": "{{ value_json.currency or None }}", "command": "cmd/show/currency", "cmd_tpl": "{\"c\": {{ value | tojson }}}", "ops": codes }),
        ),
        dnd(
            "dnd",
            "Do not disturb",
            "enabled",
            json!({ "ic": "mdi:sleep" }),
        ),
        dnd(
            "dnd_schedule",
            "Scheduled do not disturb",
            DND_SCHEDULE,
            json!({ "ent_cat": "config" }),
        ),
        entity("time_per_screen", "number", minutes),
        entity(
            "text",
            "text",
            json!({ "name": "Text", "command": "cmd/show/text", "cmd_tpl": "{\"t\": {{ value | tojson }}}", "max": 255, "ic": "mdi:form-textbox" }),
        ),
        entity(
            "message",
            "notify",
            json!({ "name": "Message", "command": "cmd/show/text", "cmd_tpl": "{\"t\": {{ value | tojson }}}" }),
        ),
    ])
}

/// A bound of the quiet hours as text, for versions of Home Assistant without `time` entities.
fn quiet_hours_text(bound: QuietHoursBound) -> Entity {
    let (name, member) = (bound.entity_name(), bound.state_member());
    let members = json!({
        "name": format!("{name} (text)"), "topic": STATE, "ent_cat": "config", "en": false, "ic": "mdi:clock-outline",
        // The state has `7:05`; the entity needs two digits for the hour.
        "val_tpl": format!("{{{{ ('0' ~ value_json.dnd.{member})[-5:] }}}}"),
        "command": format!("{}/set", bound.topic()),
        "min": 4, "max": 5, "ptrn": "^([01]?[0-9]|2[0-3]):[0-5][0-9]$",
    });
    entity(format!("{}_text", bound.entity_key()), "text", members)
}

/// Firmware, picture and events.
fn other_entities(view: &View, program: &ProgramInfo, broker: &Broker) -> Vec<Entity> {
    Vec::from([
        entity(
            "firmware",
            "update",
            json!({ "name": "Firmware", "topic": "update", "dev_cla": "firmware", "ent_cat": "config", "command": "cmd/firmware/auto_update", "pl_inst": "{}" }),
        )
        .only_if(documents::update(view, program).is_some()),
        entity(
            "panels",
            "image",
            json!({ "name": "Picture", "image": "panels", "cont_type": "image/png" }),
        )
        .only_if(broker.panels),
        entity(
            "event",
            "event",
            json!({ "name": "Event", "topic": "event", "evt_typ": documents::EVENT_TYPES }),
        ),
        entity(
            "button",
            "event",
            json!({ "name": "Button", "topic": "event/button", "evt_typ": documents::BUTTON_EVENT_TYPES, "dev_cla": "button" }),
        ),
    ])
}

/// A setting as an entity. `None` if its row has no `entity`.
fn setting(spec: &Spec, view: &View) -> Option<Entity> {
    let default = spec.entity?;
    if spec.access != Access::ReadWrite {
        return None;
    }
    let has = |condition: &SettingCondition| match condition {
        SettingCondition::Has(BoardPart::Frontlight) => view.board.frontlight,
        SettingCondition::Has(BoardPart::LightSensor) => view.board.light_sensor,
        SettingCondition::Has(BoardPart::Canvas) => view.board.canvas.is_some(),
        SettingCondition::Has(BoardPart::Radio) => view.link.managed,
        SettingCondition::On(_) | SettingCondition::Among(..) | SettingCondition::Chosen(..) => {
            true
        }
    };
    let is_present = spec.needs.iter().all(has);
    let (platform, own) = control(spec)?;
    let title = if spec.title.is_empty() { "Rotation" } else { spec.title };
    // The titles in these groups are only clear below the heading of the group.
    let needs_heading = [
        SettingGroup::Frontlight,
        SettingGroup::Miner,
        SettingGroup::Pool,
    ]
    .contains(&spec.group);
    let heading = Some(spec.group.heading()).filter(|heading| needs_heading && *heading != title);
    let heading = heading.map(|heading| format!("{heading}: "));
    let name = format!("{}{title}", heading.unwrap_or_default());
    let mut members =
        json!({ "name": name, "topic": SETTINGS, "command": "set", "ent_cat": "config" });
    if default == EntityDefault::Disabled {
        members["en"] = false.into();
    }
    let key = format!("set_{}", snake(spec.name));
    Some(entity(key, platform, with(members, own)).only_if(is_present))
}

/// The platform for a kind of setting, and its members. `None` if no platform suits.
fn control(spec: &Spec) -> Option<(&'static str, Value)> {
    let name = spec.name;
    let control = spec.kind.control();
    match control["control"].as_str()? {
        "switch" => {
            let (on, off) = if control["mute"] == true { (false, true) } else { (true, false) };
            let test = if on { "" } else { "not " };
            let members = json!({
                "val_tpl": format!("{{{{ 'ON' if {test}value_json.{name} else 'OFF' }}}}"),
                "pl_on": format!("{{\"{name}\": {on}}}"),
                "pl_off": format!("{{\"{name}\": {off}}}"),
                "stat_on": "ON",
                "stat_off": "OFF",
            });
            Some(("switch", members))
        }
        kind @ ("number" | "slider") => {
            let mut members = json!({
                "val_tpl": format!("{{{{ value_json.{name} }}}}"),
                "cmd_tpl": format!("{{\"{name}\": {{{{ value | int }}}}}}"),
                "min": control["min"],
                "max": control["max"],
                "mode": if kind == "slider" { "slider" } else { "box" },
            });
            if !spec.unit.is_empty() {
                members["unit_of_meas"] = spec.unit.into();
            }
            Some(("number", members))
        }
        "select" => {
            let options = control["options"].as_array()?.iter();
            // In Home Assistant `none` means an unknown state.
            let option_of = |label| if label == "none" { "off" } else { label };
            let labels = options.filter_map(|option| option["label"].as_str());
            let labels: Vec<&str> = labels.map(option_of).collect();
            let list = labels.iter().map(|label| format!("'{label}'"));
            let list = format!("[{}]", list.collect::<Vec<_>>().join(", "));
            let members = json!({
                "val_tpl": format!("{{{{ {list}[value_json.{name}] }}}}"),
                "cmd_tpl": format!("{{\"{name}\": {{{{ {list}.index(value) }}}}}}"),
                "ops": labels,
            });
            Some(("select", members))
        }
        "choice" => {
            let members = json!({
                "val_tpl": format!("{{{{ value_json.{name} }}}}"),
                "cmd_tpl": format!("{{\"{name}\": {{{{ value | tojson }}}}}}"),
                "ops": spec.kind.catalogue()?,
            });
            Some(("select", members))
        }
        _ => None,
    }
}

/// Member of `dnd` for the schedule.
const DND_SCHEDULE: &str = Key::dnd_time_enabled.name();

/// A template for the name of the current screen.
fn screen_name(view: &View) -> String {
    let settings = &view.settings.active;
    let order = settings.rotation_order();
    let screens = order.iter().filter_map(|id| catalog::find(*id));
    let names = screens.map(|screen| format!("{}: '{}'", screen.id, screen.name));
    let names = names.collect::<Vec<_>>().join(", ");
    format!("{{{{ {{{names}}}.get(value_json.currentScreen) }}}}")
}

/// Converts camel case to snake case.
fn snake(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

/// Adds members to an object.
fn with(mut members: Value, more: Value) -> Value {
    if let Value::Object(more) = more {
        for (name, value) in more {
            members[name] = value;
        }
    }
    members
}
