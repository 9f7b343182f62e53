//! Operations on the clock as a whole.

use device::{request::Request, view::View};
use market::source_id::SourceId;
use serde_json::Value;

use super::words::{BAD, OK, param};
use crate::{
    answer::Answer,
    asked::DeviceCall,
    documents::{
        ErrorBody, MessageBody,
        device::{
            Confirmation, NotErased, Removed, SourceChoice, SourceName, TxPowerChoice, TxPowerSet,
        },
    },
    given::{Parameters, RequestBody},
    limits::CONFIRMATION,
    operation::{Operation, Param, asks, old, post},
    shape::{received, sent},
};

const TX_POWER: &[Param] = &[param(
    "txPower",
    received::<u64>(),
    "Quarter-dBm, -1 to 78; 80 clears it.",
)];

/// Name of the owner's broker among the sources.
pub const BROKER: &str = "mqtt";

const SOURCE: &[Param] = &[param(
    "source",
    received::<SourceName>(),
    "Name of the source, as in the status; without one all are meant.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    asks(
        "Make the clock recognisable",
        |_, _| Ok(DeviceCall::of(Request::Identify)),
        &[post("/api/identify"), old("/api/identify")],
    ),
    asks(
        "Restart the clock",
        |_, _| Ok(DeviceCall::of(Request::Restart)),
        &[post("/api/restart"), old("/api/restart")],
    ),
    asks(
        "Wipe every setting and restart",
        factory_reset,
        &[post("/api/factory_reset")],
    )
    .takes(received::<Confirmation>())
    .answers(&[
        (200, sent::<MessageBody>()),
        BAD,
        (500, sent::<NotErased>()),
    ]),
    asks(
        "Stop all data sources",
        |_, _| Ok(DeviceCall::of(Request::StopSources)),
        &[post("/api/stop_datasources")],
    ),
    asks(
        "Stop and start all data sources, or one, or the connection to the MQTT broker",
        restart_sources,
        &[post("/api/restart_datasources").asks(SOURCE)],
    )
    .may_take(received::<SourceChoice>())
    .answers(&[OK, BAD, (409, sent::<ErrorBody>())]),
    asks(
        "Forget the pool logos and fetch them again",
        clear_logos,
        &[post("/api/action/clear_pool_logos")],
    )
    .answers(&[(200, sent::<Removed>())]),
    asks(
        "Transmit power of the radio",
        tx_power,
        &[post("/api/wifi_set_tx_power").asks(TX_POWER)],
    )
    .called("tx-power")
    .takes_or_query(received::<TxPowerChoice>())
    .answers(&[(200, sent::<TxPowerSet>()), BAD]),
];

/// Wipes every setting, if that is really meant.
fn factory_reset(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let confirmation: Option<Confirmation> = given.object();
    if confirmation.is_none_or(|given| given.confirm != CONFIRMATION) {
        return Err(Answer::bad_request("confirmation required"));
    }
    let scheduled = Answer::message(200, "factory reset scheduled");
    Ok(DeviceCall::telling(Request::FactoryReset, scheduled))
}

fn restart_sources(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    if given.body == RequestBody::NotJson {
        return Err(Answer::bad_request("bad json"));
    }
    let name = given.text(&["source"]);
    if name.is_none() && given.member("source").is_none() {
        return Ok(DeviceCall::of(Request::RestartSources));
    }
    if name == Some(BROKER) {
        return Ok(DeviceCall::of(Request::RestartBroker));
    }
    let source = name.and_then(SourceId::named);
    let source = source.ok_or_else(|| Answer::bad_request("unknown source"))?;
    Ok(DeviceCall::of(Request::RestartSource(source)))
}

fn clear_logos(_given: Parameters, view: &View) -> Result<DeviceCall, Answer> {
    let known = usize::from(view.market.pool_logo.is_some());
    let removed = Answer::json(&Removed { removed: known });
    Ok(DeviceCall::telling(Request::ClearPoolLogos, removed))
}

fn tx_power(given: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let is_whole = |value: &Value| value.as_f64().is_none_or(|number| number % 1.0 == 0.0);
    let is_whole = given.member("txPower").is_none_or(is_whole);
    let number = given.number("txPower").filter(|_| is_whole);
    let named = number.ok_or_else(|| match given.json() {
        Ok(_) => "txPower missing",
        Err(reason) => reason,
    });
    let quarter_dbm = named.map_err(Answer::bad_request)?;
    let set = Answer::json(&TxPowerSet { set_tx_power: "ok" });
    Ok(DeviceCall::telling(Request::SetTxPower(quarter_dbm), set))
}
