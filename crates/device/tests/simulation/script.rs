//! The language of the scenarios: one step per line.

use std::{fmt, str::FromStr, time::Duration};

use device::{lights::StripEffect, request::FrontlightCommand};

/// One step of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Block(u32),
    /// A height, as an offset from the known one.
    Mined(i32),
    Price(String, String),
    Fee(String),
    Zap(u64),
    /// A request to simulate a zap.
    TestZap(u64),
    Payment(PaymentDirection, u64),
    Balance(u64),
    Text(String),
    Custom(Vec<String>),
    Next,
    Previous,
    Screen(i64),
    Currency(String),
    Pause,
    TogglePause,
    RestartTimer,
    FullRefresh,
    Debug,
    Upload,
    Progress(u8),
    UploadFailed,
    UploadVerified,
    /// Presses a button for a time; the first is 1.
    Press(u8, Duration),
    /// Presses these buttons and releases all others; the first is 1.
    Hold(Vec<u8>),
    Lux(u32),
    /// The relay, which sends blocks and prices, connects or disconnects.
    Relay(bool),
    Identify,
    Frontlight(FrontlightCommand),
    Dnd(bool),
    LightsColor(String),
    /// A colour per LED.
    Lights(Vec<String>),
    Effect(StripEffect),
    Set(String, serde_json::Value),
    Clock(Option<i64>),
    Wait(Duration),
    /// Suspends the machine for a time. The device gets a tick at wake-up.
    Sleep(Duration),
    Reboot,
    PowerCut,
    /// The clock restarts in safe mode.
    SafeMode,
    /// Adds a radio to the board, with or without stored credentials, and restarts.
    Radio(bool),
    /// The network comes into reach or leaves it.
    Network(bool),
    /// The portal receives correct or wrong credentials.
    Provision(bool),
    /// A power cycle with a button held for a time; the first is 1.
    HoldAtPowerOn(u8, Duration),
    FactoryReset,
}

/// Direction of a payment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PaymentDirection {
    In,
    Out,
    Unknown,
}

impl FromStr for Step {
    type Err = String;

    fn from_str(line: &str) -> Result<Step, String> {
        let bad = || format!("not a step: {line}");
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        let words: Vec<&str> = rest.split_whitespace().collect();
        let number = |place: usize| {
            words
                .get(place)
                .and_then(|word| word.parse::<u64>().ok())
                .ok_or_else(bad)
        };
        Ok(match verb {
            "block" => Step::Block(u32::try_from(number(0)?).map_err(|_| bad())?),
            "mined" => Step::Mined(rest.parse().map_err(|_| bad())?),
            "price" => Step::Price(words[0].into(), words[1].into()),
            "fee" => Step::Fee(words[0].into()),
            "zap" => Step::Zap(number(0)?),
            "test-zap" => Step::TestZap(number(0)?),
            "received" => Step::Payment(PaymentDirection::In, number(0)?),
            "sent" => Step::Payment(PaymentDirection::Out, number(0)?),
            "paid" => Step::Payment(PaymentDirection::Unknown, number(0)?),
            "balance" => Step::Balance(number(0)?),
            "text" => Step::Text(rest.into()),
            "custom" => Step::Custom(words.iter().map(|word| (*word).into()).collect()),
            "next" => Step::Next,
            "previous" => Step::Previous,
            "screen" => Step::Screen(words[0].parse().map_err(|_| bad())?),
            "currency" => Step::Currency(words[0].into()),
            "pause" => Step::Pause,
            "toggle-pause" => Step::TogglePause,
            "restart-timer" => Step::RestartTimer,
            "full-refresh" => Step::FullRefresh,
            "debug" => Step::Debug,
            "upload" => Step::Upload,
            "progress" => Step::Progress(u8::try_from(number(0)?).map_err(|_| bad())?),
            "upload-failed" => Step::UploadFailed,
            "upload-verified" => Step::UploadVerified,
            "press" => {
                let held_ms = if words.len() > 1 { number(1)? } else { 100 };
                let button = u8::try_from(number(0)?).map_err(|_| bad())?;
                Step::Press(button, Duration::from_millis(held_ms))
            }
            "hold" => {
                let places = 0..words.len();
                let buttons: Result<Vec<u64>, _> = places.map(number).collect();
                let button = |number| u8::try_from(number).map_err(|_| bad());
                Step::Hold(buttons?.into_iter().map(button).collect::<Result<_, _>>()?)
            }
            "lux" => Step::Lux(u32::try_from(number(0)?).map_err(|_| bad())?),
            "relay" => Step::Relay(rest == "up"),
            "identify" => Step::Identify,
            "frontlight" => Step::Frontlight(match rest {
                "on" => FrontlightCommand::On,
                "off" => FrontlightCommand::Off,
                "flash" => FrontlightCommand::Flash,
                "channels" => FrontlightCommand::Set(Vec::new()),
                channels if channels.starts_with("channels ") => {
                    let duties = words[1..].iter().map(|word| word.parse());
                    FrontlightCommand::Set(duties.collect::<Result<_, _>>().map_err(|_| bad())?)
                }
                duty => FrontlightCommand::Brightness(duty.parse().map_err(|_| bad())?),
            }),
            "dnd" => Step::Dnd(rest == "on"),
            "lights" => Step::LightsColor(rest.into()),
            "leds" => Step::Lights(words.iter().map(|word| (*word).into()).collect()),
            "effect" => {
                let mut named = StripEffect::NAMED.iter();
                let effect = named.find(|(name, _)| *name == rest).ok_or_else(bad)?;
                Step::Effect(effect.1)
            }
            "set" => {
                let (key, value) = rest.split_once('=').ok_or_else(bad)?;
                Step::Set(key.into(), serde_json::from_str(value).map_err(|_| bad())?)
            }
            "clock" if rest == "off" => Step::Clock(None),
            "clock" => Step::Clock(Some(rest.parse::<i64>().map_err(|_| bad())?)),
            "wait" => Step::Wait(Duration::from_millis(number(0)?)),
            "sleep" => Step::Sleep(Duration::from_millis(number(0)?)),
            "reboot" => Step::Reboot,
            "power-cut" => Step::PowerCut,
            "safe-mode" => Step::SafeMode,
            "radio" => Step::Radio(rest == "stored"),
            "network" => Step::Network(rest == "on"),
            "provision" => Step::Provision(rest == "right"),
            "hold-at-power-on" => {
                let button = u8::try_from(number(0)?).map_err(|_| bad())?;
                Step::HoldAtPowerOn(button, Duration::from_millis(number(1)?))
            }
            "factory-reset" => Step::FactoryReset,
            _ => return Err(bad()),
        })
    }
}

impl fmt::Display for Step {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Block(height) => write!(out, "block {height}"),
            Step::Mined(blocks) => write!(out, "mined {blocks}"),
            Step::Price(currency, price) => write!(out, "price {currency} {price}"),
            Step::Fee(rate) => write!(out, "fee {rate}"),
            Step::Zap(sats) => write!(out, "zap {sats}"),
            Step::TestZap(sats) => write!(out, "test-zap {sats}"),
            Step::Payment(PaymentDirection::In, sats) => write!(out, "received {sats}"),
            Step::Payment(PaymentDirection::Out, sats) => write!(out, "sent {sats}"),
            Step::Payment(PaymentDirection::Unknown, sats) => write!(out, "paid {sats}"),
            Step::Balance(sats) => write!(out, "balance {sats}"),
            Step::Text(text) => write!(out, "text {text}"),
            Step::Custom(texts) => write!(out, "custom {}", texts.join(" ")),
            Step::Next => out.write_str("next"),
            Step::Previous => out.write_str("previous"),
            Step::Screen(id) => write!(out, "screen {id}"),
            Step::Currency(code) => write!(out, "currency {code}"),
            Step::Pause => out.write_str("pause"),
            Step::TogglePause => out.write_str("toggle-pause"),
            Step::RestartTimer => out.write_str("restart-timer"),
            Step::FullRefresh => out.write_str("full-refresh"),
            Step::Debug => out.write_str("debug"),
            Step::Upload => out.write_str("upload"),
            Step::Progress(percent) => write!(out, "progress {percent}"),
            Step::UploadFailed => out.write_str("upload-failed"),
            Step::UploadVerified => out.write_str("upload-verified"),
            Step::Press(button, held) => write!(out, "press {button} {}", held.as_millis()),
            Step::Hold(buttons) => {
                out.write_str("hold")?;
                buttons
                    .iter()
                    .try_for_each(|button| write!(out, " {button}"))
            }
            Step::Lux(lux) => write!(out, "lux {lux}"),
            Step::Relay(is_up) => write!(out, "relay {}", if *is_up { "up" } else { "down" }),
            Step::Identify => out.write_str("identify"),
            Step::Frontlight(FrontlightCommand::Brightness(duty)) => {
                write!(out, "frontlight {duty}")
            }
            Step::Frontlight(FrontlightCommand::Set(duties)) => {
                out.write_str("frontlight channels")?;
                duties.iter().try_for_each(|duty| write!(out, " {duty}"))
            }
            Step::Frontlight(command) => {
                let name = format!("{command:?}").to_lowercase();
                write!(out, "frontlight {name}")
            }
            Step::Dnd(on) => write!(out, "dnd {}", if *on { "on" } else { "off" }),
            Step::LightsColor(color) => write!(out, "lights {color}"),
            Step::Lights(colors) => write!(out, "leds {}", colors.join(" ")),
            Step::Effect(effect) => {
                let mut named = StripEffect::NAMED.iter();
                let name = named.find(|(_, one)| one == effect).map(|(name, _)| *name);
                write!(out, "effect {}", name.unwrap_or_default())
            }
            Step::Set(key, value) => write!(out, "set {key}={value}"),
            Step::Clock(None) => out.write_str("clock off"),
            Step::Clock(Some(unix)) => write!(out, "clock {unix}"),
            Step::Wait(time) => write!(out, "wait {}", time.as_millis()),
            Step::Sleep(time) => write!(out, "sleep {}", time.as_millis()),
            Step::Reboot => out.write_str("reboot"),
            Step::PowerCut => out.write_str("power-cut"),
            Step::SafeMode => out.write_str("safe-mode"),
            Step::Radio(stored) => {
                write!(out, "radio {}", if *stored { "stored" } else { "fresh" })
            }
            Step::Network(in_reach) => {
                write!(out, "network {}", if *in_reach { "on" } else { "off" })
            }
            Step::Provision(right) => {
                write!(out, "provision {}", if *right { "right" } else { "wrong" })
            }
            Step::HoldAtPowerOn(button, held) => {
                write!(out, "hold-at-power-on {button} {}", held.as_millis())
            }
            Step::FactoryReset => out.write_str("factory-reset"),
        }
    }
}
