//! The command line.
//!
//! What is said on the command line counts before the environment, and that before the configuration file (`config`).

use std::{ffi::OsString, path::PathBuf};

use clap::{
    CommandFactory, FromArgMatches, Parser, Subcommand,
    error::{ContextKind, ContextValue, ErrorKind},
};

use crate::{
    commands::{
        discover::{self, DiscoverArgs},
        image::{self, ImageArgs},
        release::{self, ReleaseArgs},
        render::{self, RenderArgs},
        selftest::SelftestCommand,
        wiring::WiringCommand,
    },
    config::{
        DeviceConfig, MarketSource, RunConfig,
        flags::{Flags, replaced_environment},
        resolve::resolve,
    },
    crash_dumps,
    failure::Failure,
    supervisor::handover::TakeOver,
};

/// What the program is asked to do.
#[derive(Debug)]
pub enum Command {
    /// Run the clock, as its supervisor.
    Run(Box<RunConfig>),
    /// Be the device of a supervisor.
    Device(Box<DeviceConfig>),
    /// Go on as the supervisor in whose place this program was put.
    TakeOver(TakeOver),
    /// Make a picture of a screen.
    Render(RenderArgs),
    /// List the clocks on the local network.
    Discover(DiscoverArgs),
    /// Make, sign, check or show an image.
    Image(ImageArgs),
    /// Make a folder of images for clocks to update themselves from.
    Release(ReleaseArgs),
    /// Check, draw or try a wiring.
    Wiring(WiringCommand),
    /// Check the clock.
    Selftest(SelftestCommand),
    /// Make a dump of a device that has crashed.
    CrashDump {
        /// Process number of the device.
        process: u32,
        /// Folder for the dump.
        folder: PathBuf,
    },
    /// Print a text that was asked for.
    Print(String),
}

/// A Bitcoin clock for e-paper panels, simulated or real.
#[derive(Debug, Parser)]
#[command(name = "papertick", version, about, disable_help_subcommand = true, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Run the clock.
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<Flags>),
    /// Run the clock on a market of its own, without any network.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Box<Flags>),
    /// Make a picture of any screen, without a clock.
    #[command(after_help = render::help())]
    Render(RenderArgs),
    /// List the clocks on the local network.
    #[command(after_help = discover::EXAMPLES)]
    Discover(DiscoverArgs),
    /// Make, sign and check images of firmware and pages.
    #[command(after_help = image::EXAMPLES)]
    Image(ImageArgs),
    /// Make a folder of images for clocks to update themselves from.
    #[command(after_help = release::EXAMPLES)]
    Release(ReleaseArgs),
    /// Check, draw and try what is connected where on a board of real parts.
    #[command(subcommand)]
    Wiring(WiringCommand),
    /// Check that the clock survives what can happen to it.
    #[command(subcommand)]
    Selftest(SelftestCommand),
    /// Be the device of a supervisor; started by `run` and `demo`.
    #[command(hide = true)]
    Device {
        /// What to run, as JSON.
        config: String,
    },
    /// Go on as the supervisor in whose place this program was put; what it has comes on standard input.
    #[command(hide = true)]
    TakeOver {
        /// Only say whether that would work.
        #[arg(long)]
        try_only: bool,
    },
    /// Make a dump of a device that has crashed; started by the supervisor.
    #[command(hide = true, name = crash_dumps::TAKER)]
    CrashDump {
        /// Process number of the device.
        process: u32,
        /// Folder for the dump.
        folder: PathBuf,
    },
}

const EXAMPLES: &str = "\
Examples:
  papertick demo                     a clock to look at, without a network
  papertick run                      the clock, at http://127.0.0.1:8080/
  papertick run --listen 0.0.0.0:80  the same for everybody on the network
  papertick render ticker -o t.png   a picture of a screen
  papertick discover                 the clocks on the network
  papertick image pack -o clock.img  this program as an image for updates";

const RUN_EXAMPLES: &str = "\
Examples:
  papertick run
  papertick run --board v8 --data-dir /var/lib/papertick --listen 0.0.0.0:80
  papertick run --upstream relay=ws://192.168.1.10:8080
  papertick run --wifi network-manager
  papertick run --wiring /etc/papertick/wiring.toml
  papertick run --config /etc/papertick.toml

Each flag can also be given in the environment (PAPERTICK_DATA_DIR for --data-dir)
or in the configuration file (data-dir = \"...\"); the command line counts first.";

const DEMO_EXAMPLES: &str = "\
Examples:
  papertick demo
  papertick demo --panel-timing instant --listen 127.0.0.1:8090
  papertick demo --circuit rev-b
  papertick demo --circuit clock.toml

The demo keeps its settings in a folder of its own, $XDG_STATE_HOME/papertick-demo.";

/// Reads the command line, the environment and the configuration file.
///
/// # Errors
/// One of them says what cannot be.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Failure> {
    let read = || {
        let mut matches = Cli::command().try_get_matches_from(arguments)?;
        let replaced = matches
            .subcommand()
            .map_or_else(Vec::new, |(_, flags)| replaced_environment(flags));
        let mut cli = Cli::from_arg_matches_mut(&mut matches)?;
        if let Subcommands::Run(flags) | Subcommands::Demo(flags) = &mut cli.command {
            flags.forget(&replaced);
        }
        Ok::<Cli, clap::Error>(cli)
    };
    let cli = match read() {
        Ok(cli) => cli,
        Err(error) => return explain(&error),
    };
    match cli.command {
        Subcommands::Run(flags) => Ok(Command::Run(Box::new(resolve(
            *flags,
            MarketSource::World,
        )?))),
        Subcommands::Demo(flags) => {
            Ok(Command::Run(Box::new(resolve(*flags, MarketSource::Demo)?)))
        }
        Subcommands::Render(args) => Ok(Command::Render(args)),
        Subcommands::Discover(args) => Ok(Command::Discover(args)),
        Subcommands::Image(args) => Ok(Command::Image(args)),
        Subcommands::Release(args) => Ok(Command::Release(args)),
        Subcommands::Wiring(command) => Ok(Command::Wiring(command)),
        Subcommands::Selftest(command) => Ok(Command::Selftest(command)),
        Subcommands::TakeOver { try_only: true } => Ok(Command::TakeOver(TakeOver::Try)),
        Subcommands::TakeOver { try_only: false } => Ok(Command::TakeOver(TakeOver::Really)),
        Subcommands::CrashDump { process, folder } => Ok(Command::CrashDump { process, folder }),
        Subcommands::Device { config } => serde_json::from_str(&config)
            .map(|config| Command::Device(Box::new(config)))
            .map_err(|_| {
                Failure::usage("`papertick device` is started by `papertick run`: use that")
            }),
    }
}

/// Turns what clap says in several lines into one; help that was asked for is no failure.
fn explain(error: &clap::Error) -> Result<Command, Failure> {
    let kind = error.kind();
    if matches!(kind, ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        return Ok(Command::Print(error.to_string()));
    }
    if matches!(
        kind,
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand | ErrorKind::MissingSubcommand
    ) {
        return Err(Failure::usage(
            "say what to do: try `papertick demo`, `papertick run` or `papertick --help`",
        ));
    }
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let what = first.strip_prefix("error: ").unwrap_or(first);
    let what = what.strip_suffix(':').unwrap_or(what);
    let advice = advice(error).unwrap_or_else(|| "try --help".to_string());
    Err(Failure::usage(format!("{what}: {advice}")))
}

/// What to do about it: the nearest words that exist, or all of them.
fn advice(error: &clap::Error) -> Option<String> {
    let words = |kind: ContextKind| {
        let value = error.get(kind)?;
        if let ContextValue::String(word) = value {
            return Some(format!("`{word}`"));
        }
        let ContextValue::Strings(words) = value else {
            return None;
        };
        let quoted: Vec<String> = words.iter().map(|word| format!("`{word}`")).collect();
        (!quoted.is_empty()).then(|| quoted.join(", "))
    };
    [
        (ContextKind::SuggestedValue, "did you mean"),
        (ContextKind::SuggestedArg, "did you mean"),
        (ContextKind::SuggestedSubcommand, "did you mean"),
    ]
    .into_iter()
    .find_map(|(kind, say)| Some(format!("{say} {}?", words(kind)?)))
    .or_else(|| Some(format!("there are {}", words(ContextKind::ValidValue)?)))
    .or_else(|| {
        let missing = error.kind() == ErrorKind::MissingRequiredArgument;
        let missing = missing.then(|| words(ContextKind::InvalidArg)).flatten()?;
        Some(format!("say {missing}, or try --help"))
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use super::*;
    use crate::failure::Code;

    fn parse_words(line: &str) -> Result<Command, Failure> {
        parse(line.split_whitespace().map(OsString::from))
    }

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    #[test]
    fn mistakes_are_one_line_that_says_what_to_do() {
        for (line, parts) in [
            (
                "papertick run --bord v8",
                &["'--bord'", "did you mean `--board`?"][..],
            ),
            (
                "papertick run --board rev-c",
                &["'rev-c'", "did you mean `rev-a`?"],
            ),
            (
                "papertick run --board mainframe",
                &["'mainframe'", "there are `rev-b`, `rev-a`, `v8`"],
            ),
            (
                "papertick run --panel-timing slow",
                &["'slow'", "`real`, `instant`"],
            ),
            (
                "papertick run --wifi wlan0",
                &["'wlan0'", "`host`, `network-manager`"],
            ),
            (
                "papertick run --wifi network-manager --sim-networks air.json",
                &["--wifi", "--sim-networks"],
            ),
            ("papertick rum", &["'rum'", "did you mean `run`?"]),
            ("papertick", &["papertick demo", "--help"]),
            ("papertick run --listen", &["--listen", "--help"]),
            ("papertick run --listen here", &["here", "127.0.0.1:8080"]),
            ("papertick run --upstream x=ws://a", &["x", "relay"]),
            ("papertick run --upstream relay", &["relay", "NAME=URL"]),
            (
                "papertick run --allow-origin *",
                &["*", "http://localhost:5173"],
            ),
            ("papertick run --config /nowhere.toml", &["/nowhere.toml"]),
            ("papertick discover --seconds 0", &["0", "1..=60"]),
            ("papertick device x", &["papertick run"]),
        ] {
            let failure = parse_words(line).unwrap_err();
            assert_eq!(failure.code, Code::Usage, "{line}");
            assert!(
                !failure.message.contains('\n'),
                "{line}: {}",
                failure.message
            );
            for part in parts {
                assert!(
                    failure.message.contains(part),
                    "{line}: {} lacks {part}",
                    failure.message
                );
            }
        }
    }

    #[test]
    fn help_and_version_are_printed() {
        for (line, part) in [
            ("papertick --help", "papertick demo"),
            ("papertick run --help", "PAPERTICK_DATA_DIR"),
            ("papertick demo --help", "papertick-demo"),
            ("papertick discover --help", "--seconds"),
            ("papertick --version", env!("CARGO_PKG_VERSION")),
        ] {
            let Ok(Command::Print(text)) = parse_words(line) else {
                panic!("{line} prints")
            };
            assert!(text.contains(part), "{line}");
        }
    }
}
