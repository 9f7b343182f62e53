//! What Home Assistant is told of the clock: one document with all its entities, and two apart.
//!
//! A component that the clock does not have stands there with its platform alone: this takes it away from who knew it,
//! and says nothing to who did not.

use alloc::{
    format,
    string::{String, ToString},
};

use device::{mqtt::Broker, view::View};
use serde_json::{Map, Value, json};

use super::{
    documents::About,
    entities::{self, Entity},
    topics::{self, QuietHoursBound, RetainedTopic},
};

/// Who made it.
const MAKER: &str = "papertick";

/// The document of the clock.
pub fn device(view: &View, about: &About, broker: &Broker) -> Value {
    let components = entities::all(view, about, broker)
        .into_iter()
        .map(|entity| (entity.key.clone(), component(entity, broker)));
    json!({
        "dev": who(view, about, broker),
        "o": { "name": MAKER, "sw": about.identity.git_tag },
        "avty_t": topics::own(broker, "status"),
        "cmps": components.collect::<Map<String, Value>>(),
    })
}

/// The document of a time of the quiet hours.
pub fn quiet(edge: QuietHoursBound, view: &View, about: &About, broker: &Broker) -> Value {
    let (name, member) = edge.told();
    let members = json!({
        "name": name,
        "topic": "state",
        // It is told as `7:05`, and read with two digits each.
        "val_tpl": format!("{{{{ ('0' ~ value_json.dnd.{member})[-5:] ~ ':00' }}}}"),
        "command": format!("{}/set", topics::quiet(edge)),
        "ent_cat": "config",
    });
    let key = topics::key(edge).to_string();
    let mut document = component(
        Entity {
            key,
            platform: "time",
            members: Some(members),
        },
        broker,
    );
    if let Some(document) = document.as_object_mut() {
        document.remove("p");
        document.insert("dev".into(), who(view, about, broker));
        document.insert("avty_t".into(), topics::own(broker, "status").into());
    }
    document
}

/// What stands at a level of the discovery; none if it is none of them.
pub fn document(
    level: RetainedTopic,
    view: &View,
    about: &About,
    broker: &Broker,
) -> Option<Value> {
    match level {
        RetainedTopic::Discovery => Some(device(view, about, broker)),
        RetainedTopic::QuietFrom => Some(quiet(QuietHoursBound::From, view, about, broker)),
        RetainedTopic::QuietUntil => Some(quiet(QuietHoursBound::Until, view, about, broker)),
        RetainedTopic::Status
        | RetainedTopic::Info
        | RetainedTopic::State
        | RetainedTopic::Update
        | RetainedTopic::Host
        | RetainedTopic::Settings
        | RetainedTopic::Reported
        | RetainedTopic::Strip
        | RetainedTopic::Led(_)
        | RetainedTopic::Frontlight
        | RetainedTopic::Market
        | RetainedTopic::Panels => None,
    }
}

fn who(view: &View, about: &About, broker: &Broker) -> Value {
    let mut device = json!({
        "ids": [broker.id],
        "name": broker.id,
        "mf": MAKER,
        "mdl": view.board.name,
        "hw": view.board.hardware,
        "sw": about.identity.git_tag,
    });
    if !about.page.is_empty() {
        device["cu"] = about.page.as_str().into();
    }
    device
}

/// An entity as Home Assistant reads it: its topics whole, and under a name that no other clock has.
fn component(entity: Entity, broker: &Broker) -> Value {
    let Entity {
        key,
        platform,
        members,
    } = entity;
    let mut component = json!({ "p": platform });
    let Some(Value::Object(members)) = members else {
        return component;
    };
    for (member, value) in members {
        let topic = || {
            value
                .as_str()
                .map_or(Value::Null, |leaf| topics::own(broker, leaf).into())
        };
        match member.as_str() {
            "topic" => component["stat_t"] = topic(),
            "command" => component["cmd_t"] = topic(),
            "image" => component["img_t"] = topic(),
            _ => component[member] = value,
        }
    }
    if component.get("cmd_t").is_some() {
        component["qos"] = 1.into();
    }
    let id = broker.id.replace('-', "_");
    component["uniq_id"] = format!("{}_{key}", broker.id).into();
    component["def_ent_id"] = format!("{platform}.{id}_{key}").into();
    component
}
