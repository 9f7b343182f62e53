//! Table of the lights after each kind of input, by the settings.

use std::collections::{BTreeMap, BTreeSet};

use device::settings::{
    SPECS,
    spec::{Access, Apply, Component, SettingGroup, Spec},
};
use serde_json::Value;

use crate::{
    recording::Recording,
    world::{World, pairs_of, settings},
};

/// Settings, of which the row tests the first; inputs on a clock with lights in 102030, recorded from `>` on; frames of the
/// strip with their durations, ms; duties of the frontlight at times, ms.
///
/// A recording that continues ends with `…`; a single duty does not change.
type Row = (&'static str, &'static str, &'static str, &'static str);

const REST: &str = "102030";
const DARK: &str = "000000";

const BLOCK: &str =
    "E04300 250, 080200 250, E04300 250, 080200 250, E04300 250, 080200 250, 102030";
const BLOCK_DIM: &str =
    "702100 250, 040100 250, 702100 250, 040100 250, 702100 250, 040100 250, 081018";
const BLOCK_BLUE: &str =
    "0000FF 250, 080200 250, 0000FF 250, 080200 250, 0000FF 250, 080200 250, 102030";
const PRICE: &str =
    "00E600 250, E6E600 250, 00E600 250, E6E600 250, 00E600 250, E6E600 250, 102030";
const LATE_PRICE: &str =
    "102030 10000, 00E600 250, E6E600 250, 00E600 250, E6E600 250, 00E600 250, E6E600 250, 102030";
const ZAP: &str = "\
    FFE229/800080/FFE229/800080 30, 800080/FFE229/800080/FFE229 37, FFE229/800080/FFE229/800080 44, \
    800080/FFE229/800080/FFE229 51, FFE229/800080/FFE229/800080 58, 800080/FFE229/800080/FFE229 65, \
    FFE229/800080/FFE229/800080 72, 800080/FFE229/800080/FFE229 79, 102030";
const PAUSE: &str = "\
    102030 120, FF7800/000000/000000/000000 80, 000000/FF7800/000000/000000 153, \
    000000/000000/FF7800/000000 226, 000000/000000/000000/FF7800 300, 000000/000000/000000/FF0000 500, 102030";
const RESUME: &str = "\
    102030 120, FF0000/000000/000000/000000 500, 00C800/000000/000000/000000 300, \
    000000/00C800/000000/000000 227, 000000/000000/00C800/000000 154, 000000/000000/000000/00C800 80, 102030";
const IDENTIFY: &str = "FF0000 100, 00FFFF 100, FF0000 100, 00FFFF 100, 00FF00 100, 0000FF 100, 00FF00 100, 0000FF 100, 102030";
const SUCCESS: &str =
    "00FF00 150, 000000 150, 00FF00 150, 000000 150, 00FF00 150, 000000 150, 102030";
const UPDATED: &str =
    "00FF00 150, 000000 150, 00FF00 150, 000000 150, 00FF00 150, 000000 150, 00FF00";
const ERROR: &str =
    "FF0000 250, 000000 250, FF0000 250, 000000 250, FF0000 250, 000000 250, 102030";
const NO_DATA: &str = "102030 5000, 000000 33, 080000 33, 110000 33, …";
const NO_BLOCKS: &str =
    "800080 150, 000000 150, 800080 150, 000000 150, 102030 9400, 800080 150, …";
const NO_PRICES: &str =
    "B15A1F 150, 000000 150, B15A1F 150, 000000 150, 102030 9400, B15A1F 150, …";
const QUIET_ON: &str = "102030 800, 090010 25, 130020 25, …";
const QUIET_OFF: &str = "000000 800, 150B00 25, 2A1700 25, …";
const RAINBOW: &str = "FF0000/FF8000/FFFF00/00FF00 120, FF8000/FFFF00/00FF00/0000FF 120, FFFF00/00FF00/0000FF/9400D3 120, …";
const STARTING: &str = "FF0000/FF8000/FFFF00/00FF00 250, FF8000/FFFF00/00FF00/0000FF 250, \
    FFFF00/00FF00/0000FF/9400D3 250, 00FF00/0000FF/9400D3/FF0000 250, 0000FF/9400D3/FF0000/FF8000 250, \
    9400D3/FF0000/FF8000/FFFF00 250, FF0000/FF8000/FFFF00/00FF00 250, FF8000/FFFF00/00FF00/0000FF 250, 000000";
const STARTING_WITHOUT_BLOCKS: &str = "FF0000/FF8000/FFFF00/00FF00 250, FF8000/FFFF00/00FF00/0000FF 250, \
    FFFF00/00FF00/0000FF/9400D3 250, 00FF00/0000FF/9400D3/FF0000 250, 0000FF/9400D3/FF0000/FF8000 250, \
    9400D3/FF0000/FF8000/FFFF00 250, FF0000/FF8000/FFFF00/00FF00 250, FF8000/FFFF00/00FF00/0000FF 250, \
    800080 150, 000000 150, …";
const JOINING: &str = "10C5EC/000000/000000/000000 100, 000000/10C5EC/000000/000000 100, \
    000000/000000/10C5EC/000000 100, 000000/000000/000000/10C5EC 100, 10C5EC/000000/000000/000000 100, …";
const JOINED: &str = "00FF00 150, 000000 150, 00FF00 150, 000000 150, 00FF00 150, 000000 150, …";

const LIT: &str = "2048";
const OFF: &str = "0";
const FADE_UP: &str = "0 0, 15 25, 150 250, 1215 2025, 1230 2048";
const FADE_DOWN: &str = "0 2048, 15 2023, 150 1798, 1215 23, 1230 0";
/// The flash for a block, after the panels have painted it.
const FLASH: &str = "0 2048, 299 2048, 300 296/588/880/1172/1464/1756/2048, 606 0, 700 1175/883/591/299/7/0/0, 912 2048";
const FLASH_AT_ONCE: &str =
    "0 296/588/880/1172/1464/1756/2048, 306 0, 400 1175/883/591/299/7/0/0, 612 2048";
const FLASH_FROM_DARK: &str =
    "0 0, 394 1175/883/591/299/7/0/0, 606 296/588/880/1172/1464/1756/2048, 912 0";
const ZAP_FLASH: &str = "0 2048, 299 2048, 300 296/588/880/1172/1464/1756/2048, 606 0, 855 0, 950 1175/883/591/299/7/0/0, 1162 2048";

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // A block.
    ("ledFlashOnUpd=true", "block 840001", BLOCK, FLASH),
    ("ledFlashOnUpd=false", "block 840001", REST, FLASH),
    ("flFlashOnUpd=true", "block 840001", REST, FLASH),
    ("flFlashOnUpd=false", "block 840001", REST, LIT),
    ("blockFlashColor=255 ledFlashOnUpd=true", "block 840001", BLOCK_BLUE, FLASH),
    ("blockFlashColor=14697216 ledFlashOnUpd=true", "block 840001", BLOCK, FLASH),
    ("ledBrightness=128 ledFlashOnUpd=true", "block 840001", BLOCK_DIM, FLASH),
    ("ledBrightness=255 ledFlashOnUpd=true", "block 840001", BLOCK, FLASH),
    ("ledBrightness=0 ledFlashOnUpd=true", "block 840001", DARK, FLASH),
    ("ledFlashOnUpd=true", "block 840000", REST, LIT),
    ("ledFlashOnUpd=true", "block 839999", REST, LIT),
    ("ledFlashOnUpd=true", "wait 600000 > block 840100", BLOCK, FLASH),
    ("ledFlashOnUpd=true", "wait 600000 > block 840101", REST, LIT),
    ("ledFlashOnUpd=true", "block 839000; wait 60000; block 839001; wait 60000 > block 839002", REST, LIT),
    ("ledFlashOnUpd=true", "block 841000; wait 60000; block 841001; wait 60000 > block 841002", REST, LIT),
    ("ledFlashOnUpd=true ledTestOnPower=false", "power-on; network host; sources up; wait 3000 > block 840000", DARK, LIT),
    ("stealFocus=true", "screen 20; wait 40000 > block 840001", REST, FLASH),
    ("stealFocus=false", "screen 20; wait 40000 > block 840001", REST, FLASH_AT_ONCE),

    // A price that is painted.
    ("ledFlashOnUpd=true", "screen 20; wait 40000 > price USD 65000", PRICE, LIT),
    ("ledFlashOnUpd=false", "screen 20; wait 40000 > price USD 65000", REST, LIT),
    ("ledFlashOnUpd=true minSecPriceUpd=10", "screen 20 > price USD 65000", LATE_PRICE, LIT),
    ("ledFlashOnUpd=true", "price USD 65000", REST, LIT),
    ("ledFlashOnUpd=true", "price USD 65000; wait 40000 > screen 20", REST, LIT),
    ("ledFlashOnUpd=true", "screen 20; wait 40000 > price EUR 65000", REST, LIT),

    // A zap, and a test zap.
    ("ledFlashOnZap=true nostrZapNotify=true", "zap 21", ZAP, ZAP_FLASH),
    ("ledFlashOnZap=false nostrZapNotify=true", "zap 21", REST, ZAP_FLASH),
    ("flFlashOnZap=true nostrZapNotify=true", "zap 21", ZAP, ZAP_FLASH),
    ("flFlashOnZap=false nostrZapNotify=true", "zap 21", ZAP, LIT),
    ("nostrZapNotify=true", "zap 21", ZAP, ZAP_FLASH),
    ("nostrZapNotify=false", "zap 21", REST, LIT),
    ("nostrZapNotify=false", "test-zap 21", ZAP, ZAP_FLASH),
    ("ledFlashOnZap=false", "test-zap 21", REST, ZAP_FLASH),
    ("flFlashOnZap=false", "test-zap 21", ZAP, LIT),

    // A payment.
    ("nwcFlashOnPay=true", "received 21", ZAP, ZAP_FLASH),
    ("nwcFlashOnPay=true ledFlashOnZap=false flFlashOnZap=false", "received 21", ZAP, ZAP_FLASH),
    ("nwcFlashOnPay=false", "received 21", REST, LIT),
    ("nwcShowNotify=true", "received 21", ZAP, ZAP_FLASH),
    ("nwcShowNotify=false", "received 21", REST, LIT),

    // The buttons.
    ("timerActive=true", "press 1 100", PAUSE, LIT),
    ("timerActive=false", "press 1 100", RESUME, LIT),
    ("timerActive=true", "pause", REST, LIT),
    ("inverseButtons=false", "press 1 100", PAUSE, LIT),
    ("inverseButtons=true", "press 1 100", REST, LIT),
    ("inverseButtons=true", "press 4 100", PAUSE, LIT),
    ("", "press 2 100", REST, LIT),
    ("", "press 1 900", QUIET_ON, "0 2048, 800 2048, 815 2023, 2030 0"),
    ("", "dnd on; wait 3000 > press 1 900", QUIET_OFF, "0 0, 800 0, 815 25, 2030 2048"),

    // Manual control of the strip.
    ("disableLeds=false", "identify", IDENTIFY, LIT),
    ("disableLeds=true", "identify", DARK, LIT),
    ("", "effect blink", PRICE, LIT),
    ("", "effect blink_success", SUCCESS, LIT),
    ("", "effect blink_error", ERROR, LIT),
    ("", "effect rainbow", RAINBOW, LIT),
    ("", "effect breathe", "000000 33, 000404 33, 000808 33, …", LIT),
    ("", "effect breathe_error", "000000 33, 080000 33, 110000 33, …", LIT),
    ("", "effect zap", ZAP, LIT),
    ("", "effect identify", IDENTIFY, LIT),
    ("", "effect heartbeat", "000000 33, 00000E 33, 00001C 33, …", LIT),
    ("", "effect off", DARK, LIT),
    ("", "effect rainbow; wait 200 > effect idle", REST, LIT),
    ("", "lights FF8800", "FF8800", LIT),
    ("", "identify; wait 50 > lights FF8800", "FF8800", LIT),
    ("ledBrightness=128", "lights FF8800", "804400", LIT),
    ("disableLeds=true", "lights FF8800", DARK, LIT),
    ("", "set disableLeds=true; wait 100 > set disableLeds=false", DARK, LIT),

    // Manual control of the frontlight.
    ("", "frontlight off", REST, FADE_DOWN),
    ("", "frontlight off; wait 3000 > frontlight on", REST, FADE_UP),
    ("", "frontlight flash", REST, FLASH_AT_ONCE),
    ("", "frontlight brightness 1000", REST, "0 2048, 15 2023, 615 1023, 630 1000"),
    ("", "frontlight brightness 4095", REST, "0 2048, 15 2073, 1230 4095"),
    ("", "frontlight brightness 65535", REST, "0 2048, 15 2073, 1230 4095, 9000 4095"),
    ("", "frontlight brightness 65536", REST, LIT),
    ("", "frontlight brightness 0", REST, FADE_DOWN),
    ("", "frontlight off; wait 3000 > frontlight brightness 500", REST, "0 0, 7000 0, 7015 25, 7300 500, 9000 500"),
    ("flAlwaysOn=false", "frontlight off; wait 3000 > frontlight brightness 500", REST, OFF),
    ("", "frontlight brightness 500; wait 3000 > block 840001", REST, "0 500, 300 74/145/216/287/358/429/500, 376 0, 452 500"),
    ("", "frontlight set 1 2 3 4 5 6 4095", REST, "0 1/2/3/4/5/6/4095, 9000 1/2/3/4/5/6/4095"),
    ("", "frontlight set 1 2 3 4 5 6 4096", REST, LIT),
    ("", "frontlight set 1 2 3", REST, LIT),
    ("", "frontlight set", REST, "0 0, 9000 0"),
    ("flAlwaysOn=false", "frontlight off; wait 3000 > block 840001", REST, FLASH_FROM_DARK),
    // A flash ends the hold of a light that is switched off by hand.
    ("", "frontlight off; wait 3000 > block 840001", REST, "0 0, 912 0, 7000 0, 7015 25, 8230 2048"),
    // Ending a flash fades from the current duties.
    ("", "frontlight flash; wait 100 > frontlight off", REST, "0 0/0/0/0/214/506/798, 15 0/0/0/0/189/481/773, 480 0, 9000 0"),
    ("", "frontlight flash; wait 100 > frontlight on", REST, "0 0/0/0/0/214/506/798, 15 25/25/25/25/239/531/823, 1230 2048, 9000 2048"),
    ("", "frontlight brightness 1000; wait 20 > frontlight brightness 900", REST, "0 2023, 10 1998, 25 1973"),
    // Duties set one by one stay until the next command, which fades from them.
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > frontlight on", REST, "0 1/2/3/4/5/6/7, 15 26/27/28/29/30/31/32, 1230 2048"),
    ("", "frontlight set 100 2 3 4 5 6 7; wait 3000 > frontlight off", REST, "0 100/2/3/4/5/6/7, 15 75/0/0/0/0/0/0, 60 0, 9000 0"),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > frontlight brightness 1000", REST, "0 1/2/3/4/5/6/7, 15 26/27/28/29/30/31/32, 600 1000, 9000 1000"),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > frontlight flash", REST, FLASH_AT_ONCE),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > block 840001", REST, "0 1/2/3/4/5/6/7, 299 1/2/3/4/5/6/7, 300 296/588/880/1172/1464/1756/2048, 606 0, 912 2048"),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > set flMaxBrightness=1000", REST, "0 1/2/3/4/5/6/7, 9000 1/2/3/4/5/6/7"),

    // The frontlight by its settings.
    ("flMaxBrightness=0", "block 840001", REST, FLASH_FROM_DARK),
    ("flMaxBrightness=2048", "restart; sources up", STARTING, FADE_UP),
    ("flMaxBrightness=500", "restart; sources up", STARTING, "0 0, 15 25, 285 475, 300 500, 9000 500"),
    ("flMaxBrightness=65535", "restart; sources up", STARTING, "0 0, 15 25, 2445 4075, 2460 4095, 9000 4095"),
    ("flMaxBrightness=500", "block 840001", REST, "0 500, 300 74/145/216/287/358/429/500, 376 0, 452 500"),
    ("flEffectDelay=30", "restart; sources up", STARTING, "0 0, 30 25, 300 250, 2460 2048"),
    ("flEffectDelay=15", "restart; sources up", STARTING, FADE_UP),
    ("flEffectDelay=30", "block 840001", REST, "0 2048, 300 296/588/880/1172/1464/1756/2048, 304 271/563/855/1147/1439/1731/2023, 912 0, 1524 2048"),
    ("flEffectDelay=0", "frontlight off", REST, "0 2048, 1 2023, 82 0"),
    ("flDisable=false", "block 840001", REST, FLASH),
    ("flDisable=true", "block 840001", REST, OFF),
    ("flDisable=true nostrZapNotify=true", "zap 21", ZAP, OFF),
    ("flDisable=true", "frontlight on", REST, OFF),
    ("flDisable=true", "frontlight flash", REST, OFF),
    ("flDisable=true", "frontlight brightness 900", REST, OFF),
    ("flDisable=true", "frontlight set 1 2 3 4 5 6 7", REST, OFF),
    ("flDisable=true", "restart; sources up", STARTING, OFF),
    ("", "set flDisable=true", REST, FADE_DOWN),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > set flDisable=true", REST, "0 1/2/3/4/5/6/7, 15 0, 9000 0"),
    ("", "set flDisable=true; wait 3000 > set flDisable=false", REST, FADE_UP),
    ("flAlwaysOn=false", "set flDisable=true; wait 3000 > set flDisable=false", REST, FADE_UP),

    // Ambient light.
    ("flAlwaysOn=true", "lux 300", REST, LIT),
    ("flAlwaysOn=false", "lux 300", REST, FADE_DOWN),
    ("luxLightToggle=128 flAlwaysOn=false", "lux 300", REST, FADE_DOWN),
    ("luxLightToggle=400 flAlwaysOn=false", "lux 300", REST, LIT),
    ("luxLightToggle=0 flAlwaysOn=false", "lux 300", REST, LIT),
    ("flAlwaysOn=false", "lux 300; wait 20000 > lux 129", REST, OFF),
    ("flAlwaysOn=false", "lux 300; wait 20000 > lux 128", REST, OFF),
    ("flAlwaysOn=false", "lux 300; wait 20000 > lux 127", REST, FADE_UP),
    ("flAlwaysOn=false", "lux 300; wait 20000 > set flAlwaysOn=true", REST, FADE_UP),
    // A flash ends before the ambient light counts.
    ("flAlwaysOn=false", "frontlight flash; wait 100 > lux 300", REST, "0 0/0/0/0/214/506/798, 206 0, 300 1175/883/591/299/7/0/0, 512 2048, 527 2023"),
    // A change of the rules ends the wait after a switch.
    ("flAlwaysOn=false", "lux 300; wait 3000 > set flAlwaysOn=true", REST, FADE_UP),
    ("flOffWhenDark=true", "lux 0", REST, FADE_DOWN),
    ("flOffWhenDark=false", "lux 0", REST, LIT),
    ("flOffWhenDark=true", "lux 1", REST, LIT),
    ("flOffWhenDark=true", "lux 0; wait 20000 > lux 1", REST, OFF),
    ("flOffWhenDark=true", "lux 0; wait 20000 > lux 2", REST, FADE_UP),
    ("flOffWhenDark=true", "lux 0; wait 2000; lux 50; wait 2000 > lux 0", REST, OFF),
    ("flOffWhenDark=true", "power-on; network host; sources up; lux 0", STARTING, OFF),
    ("flOffWhenDark=true", "lux 0; wait 4000 > lux 2", REST, "0 0, 6000 0, 6015 25, 7230 2048"),

    // Manual Do Not Disturb.
    ("dndEnabled=false ledFlashOnUpd=true", "block 840001", BLOCK, FLASH),
    ("dndEnabled=true ledFlashOnUpd=true", "block 840001", DARK, OFF),
    ("dndEnabled=true nostrZapNotify=true", "zap 21", DARK, OFF),
    ("dndEnabled=true", "identify", DARK, OFF),
    ("dndEnabled=true", "frontlight on", DARK, OFF),
    ("dndEnabled=true", "frontlight set 1 2 3 4 5 6 7", DARK, OFF),
    ("flOffOnDnd=true", "dnd on", DARK, FADE_DOWN),
    ("", "frontlight set 1 2 3 4 5 6 7; wait 3000 > dnd on", DARK, "0 1/2/3/4/5/6/7, 15 0, 9000 0"),
    ("flOffOnDnd=false", "dnd on", DARK, LIT),
    ("flOffOnDnd=false", "dnd on; wait 3000 > block 840001", DARK, FLASH),
    ("", "dnd on; lights 00FF88; wait 3000 > dnd off", "00FF88", FADE_UP),
    ("", "frontlight off; dnd on; wait 3000 > dnd off", REST, OFF),
    ("", "lux 0; dnd on; wait 3000 > dnd off", REST, OFF),
    ("", "identify; wait 50 > dnd on", DARK, FADE_DOWN),
    ("", "identify; wait 50; dnd on > dnd off", REST, LIT),
    // Without a light reading and without `flAlwaysOn`.
    ("flAlwaysOn=false", "dnd on; wait 3000 > dnd off", REST, FADE_UP),
    ("flAlwaysOn=false", "frontlight off; dnd on; wait 3000 > dnd off", REST, OFF),

    // Scheduled Do Not Disturb, local time of Amsterdam: 22:00 to 07:00.
    ("dndTimeEnabled=true", "clock 2026-02-03T21:59:58+01:00", "102030 2000, 000000", "0 2048, 2000 2048, 2015 2023, 3230 0"),
    ("dndTimeEnabled=false", "clock 2026-02-03T21:59:58+01:00", REST, LIT),
    ("dndTimeEnabled=true", "clock 2026-02-04T06:59:50+01:00; wait 8000 >", "000000 2000, 102030", "0 0, 2000 0, 2015 25, 3230 2048"),
    ("dndTimeEnabled=true dndEnabled=true", "clock 2026-02-04T06:59:50+01:00; wait 8000 >", DARK, OFF),
    ("dndStartHour=20 dndTimeEnabled=true", "clock 2026-02-03T19:59:58+01:00", "102030 2000, 000000", "0 2048, 2000 2048, 2015 2023, 3230 0"),
    ("dndStartHour=22 dndTimeEnabled=true", "clock 2026-02-03T19:59:58+01:00", REST, LIT),
    ("dndStartMin=30 dndTimeEnabled=true", "clock 2026-02-03T22:29:58+01:00", "102030 2000, 000000", "0 2048, 2000 2048, 2015 2023, 3230 0"),
    ("dndStartMin=0 dndTimeEnabled=true", "clock 2026-02-03T22:29:58+01:00", DARK, FADE_DOWN),
    ("dndEndHour=5 dndTimeEnabled=true", "clock 2026-02-04T04:59:50+01:00; wait 8000 >", "000000 2000, 102030", "0 0, 2000 0, 2015 25, 3230 2048"),
    ("dndEndHour=7 dndTimeEnabled=true", "clock 2026-02-04T04:59:50+01:00; wait 8000 >", DARK, OFF),
    ("dndEndMin=30 dndTimeEnabled=true", "clock 2026-02-04T07:29:50+01:00; wait 8000 >", "000000 2000, 102030", "0 0, 2000 0, 2015 25, 3230 2048"),
    ("dndEndMin=0 dndTimeEnabled=true", "clock 2026-02-04T07:29:50+01:00; wait 8000 >", REST, LIT),
    ("tzString=Asia/Tokyo dndTimeEnabled=true", "clock 2026-02-03T13:59:58+01:00", "102030 2000, 000000", "0 2048, 2000 2048, 2015 2023, 3230 0"),
    ("tzString=Europe/Amsterdam dndTimeEnabled=true", "clock 2026-02-03T13:59:58+01:00", REST, LIT),

    // The progress bar of an update is not muted.
    ("", "upload", "00FF00/000000/000000/000000", LIT),
    ("", "upload > progress 24", "00FF00/000000/000000/000000", LIT),
    ("", "upload > progress 25", "00FF00/00FF00/000000/000000", LIT),
    ("", "upload > progress 50", "00FF00/00FF00/00FF00/000000", LIT),
    ("", "upload > progress 75", "00FF00", LIT),
    ("", "upload; progress 100 > verified", UPDATED, LIT),
    ("disableLeds=true", "upload; progress 100 > verified", UPDATED, LIT),
    ("dndEnabled=true", "upload; progress 100 > verified", UPDATED, OFF),
    ("ledBrightness=128", "upload", "008000/000000/000000/000000", LIT),
    ("disableLeds=true", "upload", "00FF00/000000/000000/000000", LIT),
    ("dndEnabled=true", "upload > progress 25", "00FF00/00FF00/000000/000000", OFF),
    ("", "upload; progress 60 > upload-failed", REST, LIT),
    ("", "upload; progress 60; upload-failed > progress 80", REST, LIT),
    ("", "upload; progress 60; upload-failed > identify", IDENTIFY, LIT),
    ("dndEnabled=true", "upload; progress 60 > upload-failed", DARK, OFF),
    ("disableLeds=true", "upload; progress 60 > upload-failed", DARK, LIT),

    // Faults.
    ("", "source relay down", NO_DATA, LIT),
    ("", "network lost", NO_DATA, LIT),
    ("", "source relay down; wait 4000 > source relay up", REST, LIT),
    // Sources that the owner has stopped are no fault.
    ("", "source relay down; wait 4000 > stop-sources", REST, LIT),
    ("", "source relay down; stop-sources; wait 4000 > restart-sources", NO_DATA, LIT),
    ("dataSource=1", "source explorer down", NO_BLOCKS, LIT),
    ("dataSource=1", "source exchange down", NO_PRICES, LIT),
    ("dataSource=1", "source explorer down; wait 5000 > source explorer up", REST, LIT),
    ("dataSource=1", "source explorer down; wait 5000 > source exchange down", NO_DATA, LIT),
    ("", "source miner down; source pool down; source wallet down; source zaps down", REST, LIT),
    ("", "safe-mode; wait 5000 > source relay down", REST, LIT),
    ("", "safe-mode; wait 5000 > network lost", REST, LIT),
    ("dndEnabled=true", "source relay down", DARK, OFF),
    ("disableLeds=true", "source relay down", DARK, LIT),

    // The start.
    ("ledTestOnPower=true", "restart; sources up", STARTING, FADE_UP),
    ("ledTestOnPower=false", "restart; sources up", DARK, FADE_UP),
    ("ledTestOnPower=true disableLeds=true", "restart; sources up", DARK, FADE_UP),
    ("ledTestOnPower=true dndEnabled=true", "restart; sources up", DARK, OFF),
    ("", "power-on; network radio", JOINING, FADE_UP),
    ("", "power-on; network host; sources up > network up", JOINED, FADE_UP),
    ("", "power-on; network none", "000000 50, 000404 50, 000808 50, …", FADE_UP),
    ("", "power-on; hold 1; network radio", "FF0000 3000, 10C5EC/000000/000000/000000 100, …", FADE_UP),
    ("inverseButtons=true", "power-on; hold 4; network radio", "FF0000 3000, 10C5EC/000000/000000/000000 100, …", FADE_UP),
    ("", "power-on; hold 2; network radio", JOINING, FADE_UP),
    ("disableLeds=true", "power-on; hold 1; network radio", DARK, FADE_UP),
    ("dndEnabled=true", "power-on; hold 1; network radio", DARK, OFF),
    // A fault is shown after the start.
    ("dataSource=1", "power-on; network host; sources up; source explorer down", STARTING_WITHOUT_BLOCKS, FADE_UP),
];

/// Duration of the recording, ms.
const RECORDED_MS: u64 = 20_000;

#[test]
fn the_lights_match_the_table_with_settings_from_the_start() {
    check(
        |pairs| World::at_noon(settings(&format!("ledBrightness=255 {pairs}"))),
        |_| true,
    );
}

/// Equal settings and observations give equal lights, also if the settings were changed later.
#[test]
fn the_lights_match_the_table_with_settings_changed_at_runtime() {
    let changed = |pairs: &str| {
        let mut world = World::at_noon(settings("ledBrightness=255"));
        if !pairs.is_empty() {
            world.run_all(&format!("set {pairs}; lights 102030; wait 60000"));
        }
        world
    };
    check(changed, |(pairs, script, ..)| {
        let live = |name| matches!(spec_of(name).apply, Apply::Live(_));
        pairs_of(pairs).all(|(name, _)| live(name)) && !script.starts_with("power-on")
    });
}

/// Records every row on a clock with its settings.
fn check(clock: impl Fn(&str) -> World, concerns: impl Fn(&Row) -> bool) {
    let mut wrong = Vec::new();
    for row in ROWS.iter().filter(|row| concerns(row)) {
        let (pairs, script, strip, frontlight) = *row;
        let mut world = match script.strip_prefix("power-on;") {
            Some(_) => World::new(settings(&format!("ledBrightness=255 {pairs}"))),
            None => clock(pairs),
        };
        let script = script.trim_start_matches("power-on;");
        let (before, recorded) = script.split_once('>').unwrap_or(("", script));
        world.run_all(before);
        world.recording = Recording::start(&world.device.desired(), world.now.uptime);
        world.run_all(recorded);
        world.wait(RECORDED_MS);
        for (light, shown, expected) in [
            ("strip", strip_as(&world.recording, strip), strip),
            (
                "frontlight",
                frontlight_as(&world.recording, frontlight),
                frontlight,
            ),
        ] {
            if shown != expected {
                wrong.push(format!(
                    "{pairs} | {script}: the {light}\n  is       {shown}\n  expected {expected}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} rows differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

/// The frames of the strip, as many as expected.
fn strip_as(recording: &Recording, expected: &str) -> String {
    let mut frames = recording.strip();
    let count = expected.trim_end_matches(", …").split(", ").count();
    let continues = frames.len() > count;
    frames.truncate(count);
    if continues {
        frames.push("…".into());
    }
    frames.join(", ")
}

/// The duties at the expected times.
fn frontlight_as(recording: &Recording, expected: &str) -> String {
    if !expected.contains(' ') {
        let changed = if recording.frontlight_changed() { " and changed" } else { "" };
        return format!("{}{changed}", recording.frontlight(0));
    }
    let moments = expected
        .split(", ")
        .map(|sample| sample.split_once(' ').unwrap().0);
    let samples = moments.map(|ms| format!("{ms} {}", recording.frontlight(ms.parse().unwrap())));
    samples.collect::<Vec<_>>().join(", ")
}

fn spec_of(name: &str) -> &'static Spec {
    SPECS.iter().find(|spec| spec.name == name).unwrap()
}

/// Whether a setting acts on the lights or is in one of their groups.
fn concerns_lights(spec: &Spec) -> bool {
    let acts = match spec.apply {
        Apply::Live(components) => components
            .iter()
            .any(|component| matches!(component, Component::Strip | Component::Frontlight)),
        Apply::Reboot => false,
    };
    let listed = matches!(
        spec.group,
        SettingGroup::Lights | SettingGroup::Frontlight | SettingGroup::Quiet
    );
    spec.access != Access::Internal && (acts || listed)
}

#[test]
fn every_setting_of_the_lights_has_rows_that_depend_on_it() {
    // Values of each setting, by inputs and other settings: rows that differ only in this value.
    type Values = BTreeMap<String, (&'static str, &'static str)>;
    let mut rows: BTreeMap<(&str, &str, Vec<String>), Values> = BTreeMap::new();
    for (pairs, script, strip, frontlight) in ROWS.iter().filter(|row| !row.0.is_empty()) {
        let mut pairs = pairs_of(pairs);
        let (name, value): (&str, Value) = pairs.next().unwrap();
        let others = pairs
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let recordings = rows.entry((name, script, others)).or_default();
        assert!(
            recordings
                .insert(value.to_string(), (strip, frontlight))
                .is_none(),
            "{name} {script} twice"
        );
    }
    let decides = |recordings: &Values| recordings.values().collect::<BTreeSet<_>>().len() > 1;
    let decisive: BTreeSet<&str> = rows
        .iter()
        .filter(|(_, recordings)| decides(recordings))
        .map(|((name, ..), _)| *name)
        .collect();
    let lights: BTreeSet<&str> = SPECS
        .iter()
        .filter(|spec| concerns_lights(spec))
        .map(|spec| spec.name)
        .collect();
    let missing: Vec<_> = lights.difference(&decisive).collect();
    assert!(missing.is_empty(), "no two rows differ only in {missing:?}");
}
