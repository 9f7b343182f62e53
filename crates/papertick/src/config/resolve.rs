//! Checks the merged flags and adds the defaults.

use std::{
    env, fs,
    net::{IpAddr, Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
};

use board::{
    sim::{PanelTiming, radio},
    spec,
    wiring::{self, WiringFile},
};

use super::{
    LOG_LEVELS, MarketSource, NetworkConfig, PartsKind, RunConfig, WIFI, flags::Flags, roots,
};
use crate::{failure::Failure, wiring_file};
use sources::upstreams::Upstreams;
use updates::{keys, policy::Signatures};

/// Default address of the page.
const LISTEN: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Checks the merged flags and adds the defaults.
///
/// # Errors
/// A value is not allowed, or two flags exclude each other.
pub(crate) fn resolve(flags: Flags, market: MarketSource) -> Result<RunConfig, Failure> {
    let data_dir = match flags.data_dir {
        Some(folder) => folder,
        None => default_data_dir(market)?,
    };
    let timings = names(PanelTiming::NAMED);
    let timing = one_of("panel timing", flags.panel_timing, &timings)?;
    let instant_panels = timing.is_some_and(|word| word == PanelTiming::Instant.name());
    check_upstreams(&flags.upstream)?;
    let names_panels = flags.board.is_some() || flags.display.is_some() || flags.wiring.is_some();
    let (board, parts) = parts(flags.board, flags.display, flags.wiring, market)?;
    if instant_panels && parts != PartsKind::Simulated {
        return Err(Failure::usage(
            "--panel-timing instant works only with simulated panels: remove it, or the real ones",
        ));
    }
    roots(flags.ca_file.as_deref())?;
    let origins = flags.allow_origin.iter().map(|text| origin(text));
    let mut config = RunConfig {
        listen: listen_address(flags.listen.as_deref())?,
        data_dir,
        board,
        parts,
        offers_panels: false,
        allow_origins: origins.collect::<Result<_, _>>()?,
        public_urls: flags.public_url,
        trusted_proxies: flags.trusted_proxy,
        upstreams: flags.upstream,
        chain: flags.chain,
        anchor: flags.anchor,
        ca_file: flags.ca_file,
        network: network(flags.wifi, flags.sim_networks)?,
        instant_panels,
        log: one_of("log level", flags.log, &LOG_LEVELS)?,
        market,
        update_keys: update_keys(flags.update_key)?,
        signatures: if flags.unsigned_updates {
            Signatures::NotRequired
        } else {
            Signatures::Required
        },
        defaults: flags.defaults.filter(|json| !json.is_empty()),
        // Containers can set a variable to nothing, but not always remove it.
        managed_by: flags.managed_by.filter(|name| !name.is_empty()),
        notes: flags.note,
        trial_secs: flags.trial_seconds,
    };
    // Only a portal has the list. A start without one does not use a choice that was for simulated panels.
    config.offers_panels =
        !names_panels && market == MarketSource::World && config.network != NetworkConfig::Host;
    config.chain().map_err(Failure::usage)?;
    config.note_slow_panel();
    Ok(config)
}

/// Checks that each file has a key. The installer reads them again when it starts.
fn update_keys(paths: Vec<PathBuf>) -> Result<Vec<PathBuf>, Failure> {
    let checked = paths.into_iter().map(|path| {
        let about =
            |what: String| Failure::usage(format!("--update-key {}: {what}", path.display()));
        keys::read(&path).map_err(about)?;
        // The device may run in another working directory.
        fs::canonicalize(&path).map_err(|error| about(error.to_string()))
    });
    checked.collect()
}

/// Id of the board, and the kind of its parts.
fn parts(
    board: Option<String>,
    display: Option<String>,
    wiring_path: Option<PathBuf>,
    market: MarketSource,
) -> Result<(String, PartsKind), Failure> {
    let sent = [board.is_some(), display.is_some(), wiring_path.is_some()];
    if sent.iter().filter(|is_sent| **is_sent).count() > 1 {
        return Err(Failure::usage(
            "--board, --display and --wiring exclude each other: leave one of them",
        ));
    }
    if let Some(name) = display {
        let names: Vec<&str> = wiring::displays().collect();
        let name = one_of("display", Some(name), &names)?.unwrap_or_default();
        return match market {
            MarketSource::Demo => Ok((name, PartsKind::Simulated)),
            MarketSource::World => {
                let loaded = wiring_file::load_for_host(Path::new(&name));
                let (text, _) = loaded.map_err(|failure| {
                    Failure::usage(format!(
                        "{}\n`papertick demo --display {name}` shows it without hardware",
                        failure.message
                    ))
                })?;
                Ok((name, PartsKind::Wired(text)))
            }
        };
    }
    if let Some(path) = wiring_path {
        let (text, file) = wiring_file::load_for_host(&path)?;
        return Ok((wired_board(&file, &path)?, PartsKind::Wired(text)));
    }
    let board = one_of("board", board, &board_ids())?;
    let board = board.unwrap_or_else(|| spec::BOARDS[0].id.to_string());
    Ok((board, PartsKind::Simulated))
}

/// Id of the board of a wiring.
///
/// # Errors
/// The wiring has too few panels for a clock.
fn wired_board(file: &WiringFile, path: &Path) -> Result<String, Failure> {
    spec::wired(&file.wiring)
        .map(|board| board.id.to_string())
        .map_err(|error| Failure::usage(format!("{}: {error}", path.display())))
}

/// What manages the network.
fn network(wifi: Option<String>, sim_networks: Option<PathBuf>) -> Result<NetworkConfig, Failure> {
    let word = one_of("manager of the network", wifi, &names(&WIFI))?;
    match (word, sim_networks) {
        (Some(word), Some(_)) => Err(Failure::usage(format!(
            "--wifi {word} and --sim-networks exclude each other: leave one of them out"
        ))),
        (None, Some(path)) => simulated_network(&path),
        (word, None) => {
            let named = WIFI
                .into_iter()
                .find(|(name, _)| word.as_deref() == Some(name));
            Ok(named.map_or(NetworkConfig::Host, |(_, network)| network))
        }
    }
}

/// Checks the file of networks: the simulated radio would only report that no network is in range.
fn simulated_network(path: &Path) -> Result<NetworkConfig, Failure> {
    let about = |what: String| Failure::usage(format!("--sim-networks {}: {what}", path.display()));
    radio::networks(path).map_err(about)?;
    // The device may run in another working directory.
    let path = fs::canonicalize(path).map_err(|error| about(error.to_string()))?;
    Ok(NetworkConfig::Simulated(path))
}

fn names<T>(named: &[(&'static str, T)]) -> Vec<&'static str> {
    named.iter().map(|(name, _)| *name).collect()
}

fn board_ids() -> Vec<&'static str> {
    spec::BOARDS.iter().map(|board| board.id).collect()
}

fn one_of(what: &str, word: Option<String>, words: &[&str]) -> Result<Option<String>, Failure> {
    let Some(word) = word else { return Ok(None) };
    let known = words.iter().find(|known| known.eq_ignore_ascii_case(&word));
    known
        .map(|known| Some((*known).to_string()))
        .ok_or_else(|| {
            let list = words
                .iter()
                .map(|word| format!("`{word}`"))
                .collect::<Vec<_>>()
                .join(", ");
            Failure::usage(format!(
                "unknown {what} `{word}`: possible values are {list}"
            ))
        })
}

fn check_upstreams(assignments: &[String]) -> Result<(), Failure> {
    let mut upstreams = Upstreams::default();
    for assignment in assignments {
        upstreams
            .replace(assignment)
            .map_err(|error| Failure::usage(format!("--upstream: {error}")))?;
    }
    Ok(())
}

/// The value of `--listen`, or else the default.
///
/// # Errors
/// The value is no address.
pub(crate) fn listen_address(listen: Option<&str>) -> Result<SocketAddr, Failure> {
    listen.map_or(Ok(LISTEN), address)
}

/// Parses `ADDRESS:PORT`, `localhost:PORT` or `PORT`.
fn address(text: &str) -> Result<SocketAddr, Failure> {
    let local = |port: &str| Some(SocketAddr::new(LISTEN.ip(), port.parse().ok()?));
    let port = text
        .strip_prefix("localhost:")
        .or_else(|| text.strip_prefix(':'))
        .unwrap_or(text);
    text.parse().ok().or_else(|| local(port)).ok_or_else(|| {
        Failure::usage(format!(
            "`{text}` is no address to listen on: use ADDRESS:PORT, such as {LISTEN} or 0.0.0.0:80"
        ))
    })
}

/// Checks an origin: scheme, host and optional port.
fn origin(text: &str) -> Result<String, Failure> {
    let text = text.strip_suffix('/').unwrap_or(text).to_ascii_lowercase();
    let rest = text
        .strip_prefix("http://")
        .or_else(|| text.strip_prefix("https://"));
    let plain = |host: &str| {
        let allowed = |letter: char| letter.is_ascii_alphanumeric() || "-.:[]".contains(letter);
        !host.is_empty() && host.chars().all(allowed)
    };
    match rest {
        Some(host) if plain(host) => Ok(text),
        _ => Err(Failure::usage(format!(
            "`{text}` is no origin: use scheme, host and port, such as http://localhost:5173"
        ))),
    }
}

/// The default data folder of the user.
pub(crate) fn default_data_dir(market: MarketSource) -> Result<PathBuf, Failure> {
    let absolute = |name: &str| {
        env::var_os(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let state = absolute("XDG_STATE_HOME")
        .or_else(|| absolute("HOME").map(|home| home.join(".local/state")));
    let folder = match market {
        MarketSource::World => "papertick",
        MarketSource::Demo => "papertick-demo",
    };
    state
        .map(|state| state.join(folder))
        .ok_or_else(|| Failure::usage("no home folder for the data: set one with --data-dir"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use std::io::Write;

    use clap::{Args, FromArgMatches};

    use super::*;

    fn with_file(text: &str, flags: &str) -> Result<RunConfig, Failure> {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        let line = format!("run --config {} {flags}", file.path().display());
        let command = Flags::augment_args(clap::Command::new("run"));
        let given = command.get_matches_from(line.split_whitespace());
        let flags = Flags::from_arg_matches(&given).unwrap();
        resolve(flags.merge_file(given)?, MarketSource::World)
    }

    #[test]
    fn a_demo_simulates_the_named_panel() {
        for (name, size, is_slow) in [
            ("waveshare-2.13-v4", (250, 122), false),
            ("waveshare-7.3-e", (800, 480), true),
        ] {
            let flags = Flags {
                display: Some(name.into()),
                ..Flags::default()
            };
            let config = resolve(flags, MarketSource::Demo).unwrap();
            assert_eq!(config.parts, PartsKind::Simulated, "{name}");
            assert_eq!(config.board().canvas, Some(size), "{name}");
            assert_eq!(config.notes.len(), usize::from(is_slow), "{name}");
        }
    }

    #[test]
    fn a_clock_without_named_panels_offers_them() {
        let flags = |line: &str| with_file("", line).unwrap();
        for (line, offers, hides_password) in [
            ("--wifi network-manager", true, true),
            ("", false, false),
            ("--wifi network-manager --board rev-a", false, true),
        ] {
            let config = flags(line);
            assert_eq!(
                (config.offers_panels, config.hides_password()),
                (offers, hides_password),
                "{line}"
            );
        }
        let demo = resolve(Flags::default(), MarketSource::Demo).unwrap();
        assert!(!demo.offers_panels);
    }

    const FULL: &str = "
        listen = \"0.0.0.0:80\"
        data-dir = \"/var/lib/papertick\"
        board = \"V8\"
        allow-origin = [\"http://localhost:5173/\"]
        panel-timing = \"instant\"
        wifi = \"network-manager\"
        chain = \"signet\"
        log = \"debug\"
        [upstream]
        relay = \"ws://127.0.0.1:9000\"
    ";

    #[test]
    fn the_file_is_read() {
        let config = with_file(FULL, "").unwrap();
        assert_eq!(
            config,
            RunConfig {
                listen: "0.0.0.0:80".parse().unwrap(),
                data_dir: "/var/lib/papertick".into(),
                board: "v8".into(),
                parts: PartsKind::Simulated,
                offers_panels: false,
                allow_origins: vec!["http://localhost:5173".into()],
                public_urls: Vec::new(),
                trusted_proxies: Vec::new(),
                upstreams: vec!["relay=ws://127.0.0.1:9000".into()],
                chain: Some("signet".into()),
                anchor: None,
                ca_file: None,
                network: NetworkConfig::NetworkManager,
                instant_panels: true,
                log: Some("debug".into()),
                market: MarketSource::World,
                update_keys: Vec::new(),
                signatures: Signatures::Required,
                defaults: None,
                managed_by: None,
                notes: Vec::new(),
                trial_secs: None,
            }
        );
        assert_eq!(config.board().panels, 8);
    }

    #[test]
    fn update_keys_can_be_in_the_file() {
        let key = || {
            let key = minisign::KeyPair::generate_unencrypted_keypair().unwrap();
            let mut file = tempfile::NamedTempFile::new().unwrap();
            let text = key.pk.to_box().unwrap().to_string();
            file.write_all(text.as_bytes()).unwrap();
            let path = fs::canonicalize(file.path()).unwrap();
            (file, path)
        };
        let (_file, path) = key();
        let text = format!("update-key = [{path:?}]");
        let config = with_file(&text, "").unwrap();
        assert_eq!(
            (config.update_keys, config.signatures),
            (vec![path], Signatures::Required)
        );
        let (_other_file, other) = key();
        let flags = format!("--update-key {}", other.display());
        assert_eq!(with_file(&text, &flags).unwrap().update_keys, [other]);

        let config = with_file("unsigned-updates = true", "").unwrap();
        assert_eq!(config.signatures, Signatures::NotRequired);
        let config = with_file("", "--unsigned-updates").unwrap();
        assert_eq!(config.signatures, Signatures::NotRequired);
        let no_key = with_file("update-key = [\"/dev/null\"]", "");
        let words = no_key.unwrap_err().to_string();
        assert!(words.contains("--update-key /dev/null: "), "{words}");
    }

    #[test]
    fn a_chain_begins_at_its_anchor() {
        let hash = "0000000000000000000163ae80f80fde6b841fa3cefafaeed5be642a9dcfaf2f";
        let anchored = format!("anchor = \"921311:{hash}:1701cdfb\"");
        for (text, network, height) in [
            ("", "main", Some(953_567)),
            ("chain = \"testnet4\"", "testnet4", None),
            (anchored.as_str(), "main", Some(921_311)),
        ] {
            let config = with_file(text, "").unwrap();
            let chain = config.chain().unwrap().unwrap();
            assert_eq!(
                (chain.network.name(), chain.anchor.height()),
                (network, height),
                "{text}"
            );
        }
        let demo = RunConfig {
            market: MarketSource::Demo,
            ..with_file("", "").unwrap()
        };
        assert_eq!(demo.chain(), Ok(None), "its blocks are invented");
    }

    #[test]
    fn flags_override_the_file() {
        let flags = "--listen 8090 --board rev-a --upstream sntp=127.0.0.1:123 --panel-timing real \
                     --allow-origin http://clock.example --chain regtest --log warn";
        let config = with_file(FULL, flags).unwrap();
        assert_eq!(config.allow_origins, ["http://clock.example"]);
        assert!(!config.instant_panels);
        assert_eq!(config.chain.as_deref(), Some("regtest"));
        assert_eq!(config.log.as_deref(), Some("warn"));
        assert_eq!(config.listen, "127.0.0.1:8090".parse().unwrap());
        assert_eq!(config.board, "rev-a");
        assert_eq!(config.upstreams, ["sntp=127.0.0.1:123"]);
        assert_eq!(config.data_dir, Path::new("/var/lib/papertick"));
    }

    #[test]
    fn board_and_wiring_flags_override_both_keys_of_the_file() {
        let wired = "wiring = \"/nowhere/clock.toml\"";
        let config = with_file(wired, "--board v8").unwrap();
        assert_eq!(
            (config.board.as_str(), config.parts),
            ("v8", PartsKind::Simulated)
        );
        let failure = with_file(wired, "").unwrap_err();
        assert!(
            failure
                .message
                .contains("/nowhere/clock.toml cannot be read")
        );
        let both = with_file("board = \"v8\"\nwiring = \"x.toml\"", "").unwrap_err();
        assert!(both.message.contains("--board, --display and --wiring"));
    }

    #[test]
    fn mistakes_in_the_file_name_the_line() {
        #[rustfmt::skip]
        let rows = [
            ("listen = \"a\"", &["`a`", "ADDRESS:PORT"][..]),
            ("\nlissten = \"a\"", &["line 2", "lissten", "listen"]),
            ("board = 3", &["line 1", "string"]),
            ("public-url = 3", &["line 1", "a text or a list of texts"]),
            ("board = \"rev-c\"", &["rev-c", "rev-b"]),
            ("panel-timing = \"slow\"", &["slow", "real"]),
            ("wifi = \"wlan0\"", &["wlan0", "network-manager"]),
            ("wifi = \"host\"\nsim-networks = \"air.json\"", &["--wifi", "--sim-networks"]),
            ("[upstream]\nmoon = \"ws://x\"", &["moon"]),
            ("chain = \"moon\"", &["--chain", "moon", "signet"]),
            ("anchor = \"1\"", &["--anchor 1", "HEIGHT:HASH:BITS"]),
            ("anchor = \"900000:00:170240c3\"", &["--anchor 900000:00:170240c3", "not the end of a period"]),
            ("ca-file = \"/nowhere/ca.pem\"", &["--ca-file /nowhere/ca.pem", "No such file"]),
            ("= =", &["line 1"]),
        ];
        for (text, parts) in rows {
            let failure = with_file(text, "").unwrap_err();
            assert!(!failure.message.contains('\n'), "{}", failure.message);
            for part in parts {
                assert!(
                    failure.message.contains(part),
                    "{text}: {} lacks {part}",
                    failure.message
                );
            }
        }
    }

    #[test]
    fn addresses_to_listen_on() {
        for (text, expected) in [
            ("0", Some("127.0.0.1:0")),
            (":8080", Some("127.0.0.1:8080")),
            ("localhost:81", Some("127.0.0.1:81")),
            ("[::]:80", Some("[::]:80")),
            ("0.0.0.0", None),
            ("65536", None),
            ("", None),
        ] {
            let expected = expected.map(|text| text.parse().unwrap());
            assert_eq!(address(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn origins() {
        for (text, good) in [
            ("http://localhost:5173", true),
            ("HTTPS://Example.org/", true),
            ("http://[::1]:80", true),
            ("https://example.org/path", false),
            ("example.org", false),
            ("null", false),
            ("http://", false),
        ] {
            assert_eq!(origin(text).is_ok(), good, "{text}");
        }
    }
}
