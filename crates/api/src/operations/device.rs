//! Operations on the clock as a whole.

use device::{request::Request, view::View};
use market::source_id::SourceId;
use serde_json::Value;

use super::{
    params::param,
    responses::{BAD_REQUEST, OK},
};
use crate::{
    answer::Answer,
    device_call::DeviceCall,
    documents::{
        ErrorBody, MessageBody,
        device::{
            Confirmation, NotErased, Removed, SourceChoice, SourceName, TxPowerChoice, TxPowerSet,
        },
    },
    limits::CONFIRMATION,
    operation::{Operation, Param, by_device, deprecated_get, post},
    parameters::{Parameters, RequestBody},
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
    "Name of the source, as in the status. All sources if omitted.",
)];

pub(super) const OPERATIONS: &[Operation] = &[
    by_device(
        "Identify the clock: blink the LEDs",
        |_, _| Ok(DeviceCall::new(Request::Identify)),
        &[post("/api/identify"), deprecated_get("/api/identify")],
    ),
    by_device(
        "Restart the clock",
        |_, _| Ok(DeviceCall::new(Request::Restart)),
        &[post("/api/restart"), deprecated_get("/api/restart")],
    ),
    by_device(
        "Factory reset: erase all settings and restart",
        factory_reset,
        &[post("/api/factory_reset")],
    )
    .body(received::<Confirmation>())
    .answers(&[
        (200, sent::<MessageBody>()),
        BAD_REQUEST,
        (500, sent::<NotErased>()),
    ]),
    by_device(
        "Stop all data sources",
        |_, _| Ok(DeviceCall::new(Request::StopSources)),
        &[post("/api/stop_datasources")],
    ),
    by_device(
        "Restart all data sources, one source, or the connection to the MQTT broker",
        restart_sources,
        &[post("/api/restart_datasources").query(SOURCE)],
    )
    .optional_body(received::<SourceChoice>())
    .answers(&[OK, BAD_REQUEST, (409, sent::<ErrorBody>())]),
    by_device(
        "Delete the cached pool logos and fetch them again",
        clear_logos,
        &[post("/api/action/clear_pool_logos")],
    )
    .answers(&[(200, sent::<Removed>())]),
    by_device(
        "Set the transmit power of the radio",
        tx_power,
        &[post("/api/wifi_set_tx_power").query(TX_POWER)],
    )
    .command_words("tx-power")
    .body_or_query(received::<TxPowerChoice>())
    .answers(&[(200, sent::<TxPowerSet>()), BAD_REQUEST]),
];

/// Erases all settings if the body confirms it.
fn factory_reset(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let confirmation: Option<Confirmation> = parameters.object();
    if confirmation.is_none_or(|confirmation| confirmation.confirm != CONFIRMATION) {
        return Err(Answer::bad_request("confirmation required"));
    }
    let scheduled = Answer::message(200, "factory reset scheduled");
    Ok(DeviceCall::with_answer(Request::FactoryReset, scheduled))
}

fn restart_sources(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    if parameters.body == RequestBody::NotJson {
        return Err(Answer::bad_request("bad json"));
    }
    let name = parameters.text(&["source"]);
    if name.is_none() && parameters.member("source").is_none() {
        return Ok(DeviceCall::new(Request::RestartSources));
    }
    if name == Some(BROKER) {
        return Ok(DeviceCall::new(Request::RestartBroker));
    }
    let source = name.and_then(SourceId::named);
    let source = source.ok_or_else(|| Answer::bad_request("unknown source"))?;
    Ok(DeviceCall::new(Request::RestartSource(source)))
}

fn clear_logos(_given: Parameters, view: &View) -> Result<DeviceCall, Answer> {
    let known = usize::from(view.market.pool_logo.is_some());
    let removed = Answer::json(&Removed { removed: known });
    Ok(DeviceCall::with_answer(Request::ClearPoolLogos, removed))
}

fn tx_power(parameters: Parameters, _view: &View) -> Result<DeviceCall, Answer> {
    let is_whole = |value: &Value| value.as_f64().is_none_or(|number| number % 1.0 == 0.0);
    let is_whole = parameters.member("txPower").is_none_or(is_whole);
    let number = parameters.number("txPower").filter(|_| is_whole);
    let named = number.ok_or_else(|| match parameters.json() {
        Ok(_) => "txPower missing",
        Err(reason) => reason,
    });
    let quarter_dbm = named.map_err(Answer::bad_request)?;
    let set = Answer::json(&TxPowerSet { set_tx_power: "ok" });
    Ok(DeviceCall::with_answer(
        Request::SetTxPower(quarter_dbm),
        set,
    ))
}
