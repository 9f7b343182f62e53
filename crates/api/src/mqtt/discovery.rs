//! Discovery messages for Home Assistant: one with most entities, and one for each bound of the quiet hours.
//!
//! An entity that the clock lacks has only its platform, which removes it from Home Assistant if it was there.

use alloc::{
    format,
    string::{String, ToString},
};

use device::{mqtt::Broker, view::View};
use serde_json::{Map, Value, json};

use super::{
    documents::ProgramInfo,
    entities::{self, Entity},
    topics::{QuietHoursBound, RetainedTopic, own_topic},
};

/// Name of the manufacturer and of the software.
const MAKER: &str = "papertick";

/// The discovery message of the device with most of its entities.
pub fn device(view: &View, program: &ProgramInfo, broker: &Broker) -> Value {
    let components = entities::all(view, program, broker)
        .into_iter()
        .map(|entity| (entity.key.clone(), component(entity, broker)));
    json!({
        "dev": device_info(view, program, broker),
        "o": { "name": MAKER, "sw": program.identity.git_tag },
        "avty_t": own_topic(broker, "status"),
        "cmps": components.collect::<Map<String, Value>>(),
    })
}

/// The discovery message of a `time` entity for the quiet hours.
pub fn quiet_hours(
    bound: QuietHoursBound,
    view: &View,
    program: &ProgramInfo,
    broker: &Broker,
) -> Value {
    let member = bound.state_member();
    let members = json!({
        "name": bound.entity_name(),
        "topic": "state",
        // The state has `7:05`; the entity needs two digits for the hour.
        "val_tpl": format!("{{{{ ('0' ~ value_json.dnd.{member})[-5:] ~ ':00' }}}}"),
        "command": format!("{}/set", bound.topic()),
        "ent_cat": "config",
    });
    let key = bound.entity_key().to_string();
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
        document.insert("dev".into(), device_info(view, program, broker));
        document.insert("avty_t".into(), own_topic(broker, "status").into());
    }
    document
}

/// The discovery message of a topic. `None` if the topic is not for discovery.
pub fn document(
    topic: RetainedTopic,
    view: &View,
    program: &ProgramInfo,
    broker: &Broker,
) -> Option<Value> {
    match topic {
        RetainedTopic::Discovery => Some(device(view, program, broker)),
        RetainedTopic::QuietFrom => Some(quiet_hours(QuietHoursBound::From, view, program, broker)),
        RetainedTopic::QuietUntil => {
            Some(quiet_hours(QuietHoursBound::Until, view, program, broker))
        }
        _ => None,
    }
}

fn device_info(view: &View, program: &ProgramInfo, broker: &Broker) -> Value {
    let mut device = json!({
        "ids": [broker.id],
        "name": broker.id,
        "mf": MAKER,
        "mdl": view.board.name,
        "hw": view.board.hardware,
        "sw": program.identity.git_tag,
    });
    if !program.page_url.is_empty() {
        device["cu"] = program.page_url.as_str().into();
    }
    device
}

/// An entity as Home Assistant expects it, with full topics and ids that are unique among all clocks.
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
                .map_or(Value::Null, |leaf| own_topic(broker, leaf).into())
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
