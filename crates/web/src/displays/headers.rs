//! Parses the headers of a display's requests. Each client has its own set of headers.

use device::{
    canvas::{Depth, HEIGHTS, Turn, WIDTHS},
    displays::{Battery, DisplayContact, REPORT_TEXT_MAX},
};
use http::HeaderMap;

use crate::{auth, call::Call, proxy::RequestSource};

/// Bytes of a hardware address.
const MAC_BYTES: usize = 6;

/// Lengths of a token, characters.
const TOKEN_LEN: std::ops::RangeInclusive<usize> = 16..=128;

/// Largest picture of a board with little memory, bytes.
const FILE_BYTES_MAX: usize = 90_000;

/// Largest picture of a board with much memory, bytes.
const LARGE_FILE_BYTES_MAX: usize = 750_000;

/// Start of the `User-Agent` of `trmnl-kindle`. The client for Linux has the same, but sends no size.
const KINDLE_AGENT: &str = "trmnl-display/";

struct ModelSize {
    model: &'static str,
    width: u32,
    height: u32,
    depth: Depth,
    /// Whether the display has memory for large pictures.
    is_large: bool,
}

const fn size(model: &'static str, width: u32, height: u32, depth: Depth) -> ModelSize {
    ModelSize {
        model,
        width,
        height,
        depth,
        is_large: false,
    }
}

/// Models with a known size. The models of TRMNL's own firmware send the size as well, but not when they are set up.
const MODELS: &[ModelSize] = &[
    size("og", 800, 480, Depth::One),
    size("og_gen2", 800, 480, Depth::One),
    size("xteink_x4", 800, 480, Depth::One),
    size("waveshare", 800, 480, Depth::One),
    size("waveshare_397", 800, 480, Depth::One),
    size("seeed_esp32c3", 800, 480, Depth::One),
    size("seeed_esp32s3", 800, 480, Depth::One),
    size("xiao_epaper_display", 800, 480, Depth::One),
    size("reterminal_e1001", 800, 480, Depth::One),
    size("reterminal_e1002", 800, 480, Depth::One),
    ModelSize {
        is_large: true,
        ..size("x", 1872, 1404, Depth::Four)
    },
    ModelSize {
        is_large: true,
        ..size("reterminal_e1003", 1872, 1404, Depth::Four)
    },
    size("lilygo", 960, 540, Depth::Four),
    size("paper_s3", 960, 540, Depth::Four),
];

/// Charge of a lithium battery by its voltage: mV and percent.
const CHARGE: &[(u32, u32)] = &[
    (3300, 0),
    (3500, 5),
    (3600, 12),
    (3700, 35),
    (3800, 58),
    (3900, 72),
    (4000, 84),
    (4100, 94),
    (4150, 100),
];

/// The data that a display sends.
pub fn contact(call: &Call) -> DisplayContact {
    let headers = call.headers();
    let source = call.parts.extensions.get::<RequestSource>();
    let model = report(headers, "model");
    DisplayContact {
        network: source.map(|source| auth::network(source.client)),
        mac: report(headers, "id")
            .filter(|id| is_mac(id))
            .map(|mac| mac.to_ascii_uppercase()),
        firmware: report(headers, "fw-version"),
        size: size_of(headers, model.as_deref()),
        turn: if is_on_its_side(headers) { Turn::Quarter } else { Turn::None },
        battery: battery(headers),
        // A client without a radio sends 0.
        rssi: number(headers, "rssi").filter(|rssi| (-150..0).contains(rssi)),
        model,
    }
}

/// Returns whether a text is a hardware address, such as `AB:CD:EF:12:34:56`.
fn is_mac(text: &str) -> bool {
    let is_byte = |part: &str| part.len() == 2 && part.bytes().all(|byte| byte.is_ascii_hexdigit());
    text.split(':').count() == MAC_BYTES && text.split(':').all(is_byte)
}

/// The token; `None` if it is missing, or too short for a secret.
pub fn token(headers: &HeaderMap) -> Option<&str> {
    let token = text(headers, "access-token")?;
    let is_printable = token.bytes().all(|byte| byte.is_ascii_graphic());
    (is_printable && TOKEN_LEN.contains(&token.len())).then_some(token)
}

/// Largest file that a display takes, bytes. `None` if its client has no limit.
pub fn file_bytes_max(contact: &DisplayContact) -> Option<usize> {
    let is_large = contact
        .model
        .as_deref()
        .and_then(find)
        .is_some_and(|size| size.is_large);
    match (&contact.model, &contact.firmware) {
        (None, None) => None,
        _ if is_large => Some(LARGE_FILE_BYTES_MAX),
        _ => Some(FILE_BYTES_MAX),
    }
}

/// Size and depth of a display: those of the model if it is known, else as sent. E-readers get 256 greys.
fn size_of(headers: &HeaderMap, model: Option<&str>) -> Option<(u32, u32, Depth)> {
    if let Some(size) = model.and_then(find) {
        return Some((size.width, size.height, size.depth));
    }
    let size = |width: &str, height: &str| {
        let (width, height): (u32, u32) = (number(headers, width)?, number(headers, height)?);
        fitted(width, height)
    };
    let picture = if is_on_its_side(headers) {
        size("png-height", "png-width")
    } else {
        size("png-width", "png-height")
    };
    match picture {
        Some((width, height)) => Some((width, height, Depth::Eight)),
        None => size("width", "height").map(|(width, height)| (width, height, Depth::One)),
    }
}

/// Whether a Kindle lies on its side. Its client reports its height as width, but draws a picture only as it is.
fn is_on_its_side(headers: &HeaderMap) -> bool {
    let side = |name| number::<u32>(headers, name);
    let agent = text(headers, "user-agent").unwrap_or_default();
    agent.starts_with(KINDLE_AGENT) && side("png-width") > side("png-height")
}

/// The largest picture of this shape for a display that is larger than any picture. `None` if it is too small or too narrow.
fn fitted(width: u32, height: u32) -> Option<(u32, u32)> {
    let (width, height) = (u64::from(width), u64::from(height));
    let (width_max, height_max) = (u64::from(*WIDTHS.end()), u64::from(*HEIGHTS.end()));
    let is_wider = width * height_max > height * width_max;
    let (width, height) = if is_wider && width > width_max {
        (width_max, height * width_max / width)
    } else if !is_wider && height > height_max {
        (width * height_max / height, height_max)
    } else {
        (width, height)
    };
    let size = (u32::try_from(width).ok()?, u32::try_from(height).ok()?);
    (WIDTHS.contains(&size.0) && HEIGHTS.contains(&size.1)).then_some(size)
}

fn find(model: &str) -> Option<&'static ModelSize> {
    (MODELS.iter()).find(|size| size.model.eq_ignore_ascii_case(model))
}

/// The battery. Kindles send its charge as a voltage, and a computer on mains sends 100 V.
fn battery(headers: &HeaderMap) -> Option<Battery> {
    let voltage: Option<f64> = number(headers, "battery-voltage");
    let is_e_reader = headers.contains_key("png-width");
    let percent_of = |value: f64| (0.0..=100.0).contains(&value).then(|| value.round() as u8);
    let millivolts = voltage
        .filter(|volts| !is_e_reader && (0.5..6.0).contains(volts))
        .map(|volts| (volts * 1e3).round() as u32);
    let percent = number(headers, "percent-charged").and_then(percent_of);
    let percent = percent
        .or_else(|| millivolts.map(charge))
        .or_else(|| voltage.filter(|_| is_e_reader).and_then(percent_of));
    let flag = |name, yes: &str| text(headers, name).map(|value| value.eq_ignore_ascii_case(yes));
    let charging = [flag("battery-charging", "1"), flag("usb-connected", "true")];
    let charging = charging
        .into_iter()
        .flatten()
        .reduce(|one, other| one || other);
    (millivolts.is_some() || percent.is_some()).then_some(Battery {
        millivolts,
        percent,
        charging,
    })
}

/// Charge of a lithium battery, percent.
fn charge(millivolts: u32) -> u8 {
    let above = CHARGE.iter().position(|(volts, _)| millivolts < *volts);
    let percent = match above {
        None => 100,
        Some(0) => 0,
        Some(at) => {
            let ((low, from), (high, to)) = (CHARGE[at - 1], CHARGE[at]);
            from + (to - from) * (millivolts - low) / (high - low)
        }
    };
    u8::try_from(percent).unwrap_or(100)
}

fn number<T: std::str::FromStr>(headers: &HeaderMap, name: &str) -> Option<T> {
    text(headers, name)?.parse().ok()
}

fn report(headers: &HeaderMap, name: &str) -> Option<String> {
    let text = text(headers, name)?;
    let is_printable = text
        .bytes()
        .all(|byte| byte.is_ascii_graphic() || byte == b' ');
    (is_printable && text.len() <= REPORT_TEXT_MAX).then(|| text.to_string())
}

fn text<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let text = headers.get(name)?.to_str().ok()?.trim();
    (!text.is_empty()).then_some(text)
}
