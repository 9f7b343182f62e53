//! The tables of the interface, compared with the rows of the code. Settings beyond the interface are not listed.

use crate::bench;
use device::settings::{
    SPECS, Settings,
    spec::{Access, Apply, Spec},
};

/// Key, type with bounds, default as JSON, when it takes effect, access.
const INTERFACE: &str = r#"
fontName         fonts        "antonio"            live
digitFontPx      80..220      180                  live
labelFitPct      25..100      100                  live
invertedColor    bool         false                live
fullRefreshMin   0..1440      60                   live
refrScrnChange   bool         false                live
verticalDesc     bool         true                 live
mcapBigChar      bool         true                 live
supplyPercent    bool         false                live
useBlkCountdown  bool         true                 live
useMscwTime      bool         true                 live
priceSymMode     0..2         0                    live
satsVariant      0..15        7                    live
blockFeeDec      bool         true                 live
suffixPrice      bool         false                live
decimalShareDot  bool         false                live
mowMode          bool         false                live
hideLeadZero     bool         false                live
timerSeconds     0..3600      1800                 live    get
screenOrder      screens      []                   live    get

hostnamePrefix   text         "papertick"          live
mdnsEnabled      bool         true                 live
wifiRebootMin    0..120       10                   live
wpTimeout        0..3600      900                  reboot
txPower          power        null                 live
wifiConfigured   bool         false                live    get
proxyEnabled     bool         false                live
proxyType        0..4         0                    live
proxyHost        host         ""                   live
proxyPort        1..65535     1080                 live
proxyUser        text         ""                   live
proxyPass        text         ""                   live    patch
proxyBypass      text         "*.local,192.168.*,10.*,127.0.0.1" live

dataSource       0..3         0                    reboot
explorerInstance host         "mempool.space"      reboot
explorerSecure   bool         true                 reboot
ceEndpoint       host         "ws-staging.btclock.dev" reboot
ceDisableSSL     bool         false                reboot
minSecPriceUpd   0..3600      30                   live
actCurrencies    currencies   ["USD","EUR","JPY"]  live

ledBrightness    0..255       128                  live
blockFlashColor  0..16777215  14697216             live
disableLeds      bool         false                live
ledFlashOnUpd    bool         false                live
ledFlashOnZap    bool         true                 live
ledTestOnPower   bool         true                 reboot
flAlwaysOn       bool         true                 live
flDisable        bool         false                live
flEffectDelay    0..1000      15                   live
flFlashOnUpd     bool         true                 live
flFlashOnZap     bool         true                 live
flMaxBrightness  0..65535     2048                 live
flOffWhenDark    bool         true                 live
flOffOnDnd       bool         true                 live
luxLightToggle   0..65535     128                  live
inverseButtons   bool         false                reboot

dndEnabled       bool         false                live    get
dndTimeEnabled   bool         false                live    get
dndStartHour     0..23        22                   live    get
dndStartMin      0..59        0                    live    get
dndEndHour       0..23        7                    live    get
dndEndMin        0..59        0                    live    get

tzString         zone         "Europe/Amsterdam"   live

miningPoolStats  bool         false                live
miningPoolName   pools        "noderunners"        live
miningPoolUser   text         ""                   live
poolWorker       text         ""                   live
poolGlobalStats  bool         true                 live
localPoolHost    host         "umbrel.local:2019"  reboot
poolPollSec      10..3600     60                   live
poolLogosUrl     http         "https://git.btclock.dev/btclock/mining-pool-logos/raw/branch/main" live

minerEnabled     bool         false                live
minerHostname    host         "bitaxe1"            live
minerPollSec     5..300       10                   live

nostrRelay       ws           "wss://relay.primal.net" reboot
nostrPubKey      lower-hex    "642317135fd4c4205323b9dea8af3270657e62d51dc31a657c0ec8aab31c6288" reboot
nostrZapNotify   bool         false                live
nostrZapPubkey   hex          ""                   live
scrnRestoreZap   bool         true                 live
stealFocus       bool         false                live

nwcEnabled       bool         false                reboot
nwcUri           text         ""                   reboot  patch
nwcRefreshSecs   15..3600     60                   reboot
nwcShowNotify    bool         true                 live
nwcFlashOnPay    bool         true                 live

httpAuthEnabled  bool         false                reboot
httpAuthUser     user         "papertick"          reboot
httpAuthPass     password     ""                   reboot  patch
otaEnabled       bool         true                 reboot
otaPass          password     ""                   reboot  patch
gitReleaseUrl    http         ""                   live

enableDebugLog   bool         false                reboot
timerActive      bool         true                 live
"#;

/// Aliases of keys.
const ALIASES: [(&str, &str); 5] = [
    ("explorerInstance", "mempoolInstance"),
    ("explorerSecure", "mempoolSecure"),
    ("minerEnabled", "bitaxeEnabled"),
    ("minerHostname", "bitaxeHostname"),
    ("minerPollSec", "bitaxePollSec"),
];

fn as_text(spec: &Spec) -> String {
    let control = spec.kind.control();
    let text = |member: &str| control[member].as_str().unwrap().to_string();
    let is_capped = spec.kind.schema()["maxLength"] == 256;
    let kind = match text("control").as_str() {
        "switch" => "bool".into(),
        "number" | "slider" | "select" | "color" => {
            let schema = spec.kind.schema();
            format!("{}..{}", schema["minimum"], schema["maximum"])
        }
        "text" if !spec.kind.is_text() => "screens".into(),
        "text" if is_capped && spec.kind.words() == "a host" => "host".into(),
        "text" if is_capped && spec.kind.shape("", &"a:b".into()).is_err() => "user".into(),
        "text" if is_capped => "text".into(),
        "password" if is_capped => "password".into(),
        "choice" => text("choices").replace("available", "").to_lowercase(),
        "key" => match format!("{:?}", spec.kind).as_str() {
            "Lower" => "lower-hex".into(),
            _ => "hex".into(),
        },
        "url" => control["schemes"][1].as_str().unwrap().into(),
        "txPower" => "power".into(),
        other => other.to_string(),
    };
    let default = Settings::default().get(spec.key);
    let apply = match spec.apply {
        Apply::Live(_) => "live",
        Apply::Reboot => "reboot",
    };
    let access = match spec.access {
        Access::ReadWrite => "",
        Access::ReadOnly => "get",
        Access::WriteOnly => "patch",
        Access::Internal => "internal",
    };
    format!("{} {kind} {default} {apply} {access}", spec.name)
}

fn single_spaced(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn rows_match_the_interface() {
    let interface = INTERFACE
        .lines()
        .map(single_spaced)
        .filter(|line| !line.is_empty());
    let interface: Vec<String> = interface.collect();
    let is_listed = |spec: &&Spec| {
        let mut names = interface.iter().filter_map(|line| line.split(' ').next());
        names.any(|name| name == spec.name)
    };
    let rows = SPECS.iter().filter(is_listed);
    let rows: Vec<String> = rows.map(|spec| single_spaced(&as_text(spec))).collect();
    assert_eq!(interface, rows);
}

#[test]
fn five_keys_have_a_second_name() {
    let aliases: Vec<_> = SPECS
        .iter()
        .filter_map(|spec| Some((spec.name, spec.alias?)))
        .collect();
    assert_eq!(aliases, ALIASES);
}

#[test]
fn every_key_of_the_interface_is_in_the_document() {
    let document = bench::get(&Settings::default());
    let shown = |name: &str| document.contains_key(name);
    for line in INTERFACE.lines().filter(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().unwrap();
        if line.ends_with(" patch") {
            assert!(!shown(name) && shown(&format!("{name}Set")), "{name}")
        } else {
            assert!(shown(name), "{name}")
        }
    }
    for (name, alias) in ALIASES {
        assert_eq!(document.get(name), document.get(alias));
    }
    let others = "fgColor bgColor screens dnd currentScreen blockHeight hostname ip hwRev fsRev gitRev gitTag lastBuildTime numScreens \
        availableFonts availablePools availableCurrencies hasFrontlight hasLightLevel lightLevel timerRunning";
    for name in others.split_whitespace() {
        assert!(shown(name), "{name}");
    }
    assert!(!shown("timePerScreen"));
}
