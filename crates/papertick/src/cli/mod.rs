//! The command line.
//!
//! Flags override environment variables, and these override the configuration file (`config`).

mod usage_errors;

use std::{
    env,
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint, builder::Resettable};
use clap_complete::Shell;
use supervisor::crash_dumps;
use updates::build;

use self::usage_errors::explain;
use crate::{
    commands::{
        backup::{self, BackupArgs, RestoreArgs},
        ctl::{self, CtlArgs},
        discover::{self, DiscoverArgs},
        healthcheck::{self, HealthcheckArgs},
        image::{self, ImageArgs},
        passwd::{self, PasswdArgs},
        release::{self, ReleaseArgs},
        render::{self, RenderArgs},
        watch::{self, WatchArgs},
        wiring::WiringCommand,
    },
    config::{DeviceConfig, MarketSource, RunConfig, flags::Flags, resolve::resolve},
    failure::Failure,
};

#[derive(Debug)]
pub enum Command {
    /// Run the clock, as its supervisor.
    Run(Box<RunConfig>),
    /// Run the device process of a supervisor.
    Device(Box<DeviceConfig>),
    /// Render a screen to a PNG file.
    Render(RenderArgs),
    /// List the clocks on the local network.
    Discover(DiscoverArgs),
    /// Check that a clock answers.
    Healthcheck(HealthcheckArgs),
    /// Make, sign, verify or show an update image.
    Image(ImageArgs),
    /// Make a folder of update images for a web server.
    Release(ReleaseArgs),
    /// Send a request to a clock.
    Ctl(CtlArgs),
    /// Show the panels of a clock.
    Watch(WatchArgs),
    /// Write the settings of a clock to a file.
    Backup(BackupArgs),
    /// Import a file of settings.
    Restore(RestoreArgs),
    /// Set or clear the password of a clock.
    Passwd(PasswdArgs),
    /// Detect a panel, or check, draw or test a wiring file.
    Wiring(WiringCommand),
    /// Write a dump of a crashed device.
    CrashDump {
        /// Process number of the device.
        process: u32,
        /// Folder for the dump.
        folder: PathBuf,
    },
    /// Write the manual pages into a folder.
    Man(PathBuf),
    /// Print a text, such as help.
    Print(String),
}

/// A Bitcoin clock for e-paper panels, simulated or real.
#[derive(Debug, Parser)]
#[command(name = "papertick", version = build::described(), after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Run the clock
    #[command(after_help = RUN_EXAMPLES)]
    Run(Box<Flags>),
    /// Run the clock with simulated market data, without a network.
    #[command(after_help = DEMO_EXAMPLES)]
    Demo(Box<Flags>),
    /// Render any screen to a PNG file, without a clock.
    #[command(after_help = render::help())]
    Render(RenderArgs),
    /// List the clocks on the local network.
    #[command(after_help = discover::EXAMPLES)]
    Discover(DiscoverArgs),
    /// Check that a clock answers.
    #[command(after_help = healthcheck::EXAMPLES)]
    Healthcheck(HealthcheckArgs),
    /// Control a clock: its state, settings, screens, lights and updates.
    #[command(after_help = ctl::help())]
    Ctl(CtlArgs),
    /// Show the panels of a clock in the terminal.
    #[command(after_help = watch::EXAMPLES)]
    Watch(WatchArgs),
    /// Write all settings of a clock to a file.
    #[command(after_help = backup::BACKUP_EXAMPLES)]
    Backup(BackupArgs),
    /// Import a file of settings.
    #[command(after_help = backup::RESTORE_EXAMPLES)]
    Restore(RestoreArgs),
    /// Set or clear the password of a clock, on its own machine.
    #[command(after_help = passwd::EXAMPLES)]
    Passwd(PasswdArgs),
    /// Make, sign and verify update images of firmware and pages.
    #[command(after_help = image::EXAMPLES)]
    Image(ImageArgs),
    /// Print a completion script for a shell.
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// The shell
        shell: Shell,
    },
    /// Write the manual pages of all commands into a folder.
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// The folder; created if it does not exist
        #[arg(value_hint = ValueHint::DirPath)]
        folder: PathBuf,
    },
    /// Make a folder of update images for a web server.
    #[command(after_help = release::EXAMPLES)]
    Release(ReleaseArgs),
    /// Detect, check, draw and test the wiring of a board of real parts.
    #[command(subcommand, after_help = WIRING_EXAMPLES)]
    Wiring(WiringCommand),
    /// Run the device process of a supervisor; started by `run` and `demo`.
    #[command(hide = true)]
    Device {
        /// The configuration, as JSON.
        config: String,
    },
    /// Write a dump of a crashed device; started by the supervisor.
    #[command(hide = true, name = crash_dumps::DUMPER)]
    CrashDump {
        /// Process number of the device.
        process: u32,
        /// Folder for the dump.
        folder: PathBuf,
    },
}

const EXAMPLES: &str = "\
Examples:
  papertick demo                     a clock with simulated data
  papertick run                      the clock, at http://127.0.0.1:8080/
  papertick run --listen 0.0.0.0:80  the clock, for the whole network
  papertick render ticker -o t.png   a picture of a screen
  papertick discover                 the clocks on the network
  papertick watch                    the panels in the terminal
  papertick ctl set fontName=inter   a setting of the clock
  papertick backup -o settings.json  all settings as a file
  papertick image pack -o clock.img  this program as an image for updates";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  papertick completions bash > /etc/bash_completion.d/papertick
  papertick completions zsh > ~/.zfunc/_papertick
  papertick completions fish > ~/.config/fish/completions/papertick.fish
  papertick completions elvish > ~/.config/elvish/lib/papertick.elv    and `use papertick` in rc.elv
  papertick completions powershell > papertick.ps1    and `. papertick.ps1` in $PROFILE";

const WIRING_EXAMPLES: &str = "\
Examples:
  papertick wiring detect
  papertick wiring check clock.toml
  papertick wiring show clock.toml
  papertick wiring test clock.toml";

const MAN_EXAMPLES: &str = "\
Examples:
  papertick man /usr/local/share/man/man1";

const RUN_EXAMPLES: &str = "\
Examples:
  papertick run
  papertick run --board v8 --data-dir /var/lib/papertick --listen 0.0.0.0:80
  papertick run --upstream relay=ws://192.168.1.10:8080
  papertick run --wifi network-manager
  papertick run --wiring /etc/papertick/wiring.toml
  papertick run --config /etc/papertick.toml

Each flag can also be given in the environment (PAPERTICK_DATA_DIR for --data-dir)
or in the configuration file (data-dir = \"...\"); the command line overrides both.";

const DEMO_EXAMPLES: &str = "\
Examples:
  papertick demo
  papertick demo --panel-timing instant --listen 127.0.0.1:8090

The demo stores its settings in its own folder, $XDG_STATE_HOME/papertick-demo.";

/// Ignores empty environment variables, which app stores write for values that they do not have.
fn without_empty_variables(command: clap::Command) -> clap::Command {
    let command = command.mut_args(|arg| {
        let is_empty = |name| env::var_os(name).is_some_and(|value| value.is_empty());
        if arg.get_env().is_some_and(is_empty) {
            arg.env(Resettable::Reset)
        } else {
            arg
        }
    });
    command.mut_subcommands(without_empty_variables)
}

/// Parses the command line, the environment and the configuration file.
///
/// # Errors
/// One of them has a mistake.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, Failure> {
    let read = || {
        let matches = without_empty_variables(Cli::command()).try_get_matches_from(arguments)?;
        let cli = Cli::from_arg_matches(&matches)?;
        Ok::<_, clap::Error>((cli.command, matches))
    };
    let (command, mut matches) = match read() {
        Ok(read) => read,
        Err(error) => return explain(&error),
    };
    let mut run = |flags: Flags, market| {
        let matches = matches.remove_subcommand();
        let matches = matches.map_or_else(Default::default, |(_, matches)| matches);
        let config = resolve(flags.merge_file(matches)?, market)?;
        Ok(Command::Run(Box::new(config)))
    };
    match command {
        Subcommands::Run(flags) => run(*flags, MarketSource::World),
        Subcommands::Demo(flags) => run(*flags, MarketSource::Demo),
        Subcommands::Render(args) => Ok(Command::Render(args)),
        Subcommands::Ctl(args) => Ok(Command::Ctl(args)),
        Subcommands::Watch(args) => Ok(Command::Watch(args)),
        Subcommands::Backup(args) => Ok(Command::Backup(args)),
        Subcommands::Restore(args) => Ok(Command::Restore(args)),
        Subcommands::Passwd(args) => Ok(Command::Passwd(args)),
        Subcommands::Discover(args) => Ok(Command::Discover(args)),
        Subcommands::Healthcheck(args) => Ok(Command::Healthcheck(args)),
        Subcommands::Image(args) => Ok(Command::Image(args)),
        Subcommands::Release(args) => Ok(Command::Release(args)),
        Subcommands::Wiring(command) => Ok(Command::Wiring(command)),
        Subcommands::Completions { shell } => Ok(Command::Print(completions(shell))),
        Subcommands::Man { folder } => Ok(Command::Man(folder)),
        Subcommands::CrashDump { process, folder } => Ok(Command::CrashDump { process, folder }),
        Subcommands::Device { config } => serde_json::from_str(&config)
            .map(|config| Command::Device(Box::new(config)))
            .map_err(|_| Failure::usage("`papertick device` is internal: use `papertick run`")),
    }
}

fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "papertick", &mut script);
    let script = String::from_utf8_lossy(&script).into_owned();
    if shell != Shell::Bash {
        return script;
    }
    let script = script.replace("complete -F _papertick ", "complete -F _papertick_word ");
    format!("{BASH_WORD}\n{script}")
}

/// Completes a value together with the name before it, because `=` separates words in bash.
const BASH_WORD: &str = r#"_papertick_word() {
    local line="${COMP_LINE:0:COMP_POINT}"
    local word="${line##*[[:space:]]}"
    if [[ "${word}" == [a-z]*=* ]]; then
        _papertick "$1" "${word}" "$3"
        COMPREPLY=("${COMPREPLY[@]#"${word%%=*}="}")
    else
        _papertick "$@"
    fi
}
"#;

/// The command line without hidden commands.
fn visible() -> clap::Command {
    let command = Cli::command();
    let shown: Vec<clap::Command> = command
        .get_subcommands()
        .filter(|command| !command.is_hide_set())
        .cloned()
        .collect();
    clap::Command::new("papertick")
        .version(build::described())
        .about(command.get_about().cloned().unwrap_or_default())
        .after_help(EXAMPLES)
        .subcommands(shown)
}

/// Writes the manual pages of all commands into a folder.
///
/// # Errors
/// They cannot be written.
pub fn write_manual(folder: &Path) -> Result<(), Failure> {
    let cannot = |error: io::Error| {
        Failure::failed(format!("cannot write to {}: {error}", folder.display()))
    };
    fs::create_dir_all(folder).map_err(cannot)?;
    clap_mangen::generate_to(visible(), folder).map_err(cannot)
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
    fn every_flag_of_run_and_demo_has_an_environment_variable() {
        let cli = Cli::command();
        for name in ["run", "demo"] {
            let command = cli.find_subcommand(name).unwrap();
            let flags = command.get_arguments().filter_map(|argument| {
                let long = argument.get_long()?;
                Some((long, argument.get_env()))
            });
            let flags: Vec<_> = flags.filter(|(long, _)| *long != "help").collect();
            assert!(flags.len() > 12, "{flags:?}");
            for (long, variable) in flags {
                let expected = format!("PAPERTICK_{}", long.to_uppercase().replace('-', "_"));
                assert_eq!(variable, Some(expected.as_ref()), "--{long} of {name}");
            }
        }
    }

    #[test]
    fn messages_for_mistakes_have_one_line_and_a_hint() {
        #[rustfmt::skip]
        let rows = [
            ("papertick run --bord v8", &["'--bord'", "did you mean `--board`?"][..]),
            ("papertick run --board rev-c", &["'rev-c'", "did you mean `rev-a`?"]),
            ("papertick run --board mainframe", &["'mainframe'", "there are `rev-b`, `rev-a`, `v8`"]),
            ("papertick run --display waveshare-2.13-v3", &["'waveshare-2.13-v3'", "no built-in waveform"]),
            ("papertick run --display waveshare-7.5-v3", &["'waveshare-7.5-v3'", "can damage it"]),
            ("papertick run --panel-timing slow", &["'slow'", "`real`, `instant`"]),
            ("papertick run --wifi wlan0", &["'wlan0'", "`host`, `network-manager`"]),
            ("papertick run --wifi network-manager --sim-networks air.json", &["--wifi", "--sim-networks"]),
            ("papertick rum", &["'rum'", "did you mean `run`?"]),
            ("papertick rnu", &["'rnu'", "did you mean `run`?"]),
            ("papertick dmeo", &["'dmeo'", "did you mean `demo`?"]),
            ("papertick ctl stauts", &["'stauts'", "did you mean `status`?"]),
            ("papertick status", &["'status'", "papertick ctl status"]),
            ("papertick ctl backup", &["'backup'", "did you mean `papertick backup`?"]),
            ("papertick", &["papertick demo", "--help"]),
            ("papertick run --listen", &["--listen", "--help"]),
            ("papertick run --listen here", &["here", "127.0.0.1:8080"]),
            ("papertick run --upstream x=ws://a", &["x", "relay"]),
            ("papertick run --upstream relay", &["relay", "NAME=URL"]),
            ("papertick run --allow-origin *", &["*", "http://localhost:5173"]),
            ("papertick run --config /nowhere.toml", &["/nowhere.toml"]),
            ("papertick discover --seconds 0", &["0", "1..=60"]),
            ("papertick device x", &["papertick run"]),
        ];
        for (line, parts) in rows {
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

    /// The words and the help of all commands.
    fn every_command(command: &clap::Command, before: &str, all: &mut Vec<(String, String)>) {
        let shown =
            |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
        for command in command.get_subcommands().filter(shown) {
            let words = format!("{before} {}", command.get_name());
            let help = command.clone().render_help().to_string();
            all.push((words.clone(), help));
            every_command(command, &words, all);
        }
    }

    /// Parses each example in the help of each command. The files in the examples need not exist.
    #[test]
    fn every_command_has_examples_that_parse() {
        let mut command = Cli::command();
        command.build();
        let mut all = vec![("papertick".to_string(), EXAMPLES.to_string())];
        every_command(&command, "papertick", &mut all);
        let mut count = 0;
        for (words, help) in &all {
            let examples = help
                .split_once("Example")
                .map_or("", |(_, examples)| examples);
            let lines = examples.lines().filter_map(|line| line.strip_prefix("  "));
            let mut lines = lines
                .filter(|line| line.starts_with("papertick"))
                .peekable();
            let is_group = command_of(&command, words).is_some_and(|command| {
                command.is_subcommand_required_set() || command.has_subcommands()
            });
            let has_example_elsewhere = || {
                let mut helps = all.iter().map(|(_, help)| help);
                helps.any(|help| help.contains(&format!("  {words} ")))
            };
            assert!(
                is_group || lines.peek().is_some() || has_example_elsewhere(),
                "{words} has no examples"
            );
            for line in lines {
                // Cuts off the explanation after two spaces, and pipes and redirections.
                let line = line.split("  ").next().unwrap_or_default();
                let line = line.split(" && ").next().unwrap_or_default();
                let line = line.split(" | ").next().unwrap_or_default();
                let line = line.split(" > ").next().unwrap_or_default();
                let line = line.split(" #").next().unwrap_or_default();
                if let Err(failure) = parse_words(line) {
                    let lacks_file = failure.message.contains("No such file");
                    assert!(lacks_file, "{line}: {failure}");
                }
                count += 1;
            }
        }
        assert!(count > 80, "{count}");
    }

    fn command_of<'a>(root: &'a clap::Command, words: &str) -> Option<&'a clap::Command> {
        let words = words.split(' ').skip(1);
        words
            .into_iter()
            .try_fold(root, |command, word| command.find_subcommand(word))
    }

    #[test]
    fn the_completions_of_every_shell_have_commands_flags_and_values() {
        for shell in [
            Shell::Bash,
            Shell::Zsh,
            Shell::Fish,
            Shell::Elvish,
            Shell::PowerShell,
        ] {
            let script = completions(shell);
            for word in ["heap-trace", "restore", "password-file"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
            // The other scripts complete no values of arguments.
            if matches!(shell, Shell::Bash | Shell::Zsh) {
                for value in ["fontName=", "block-height", "rainbow"] {
                    assert!(script.contains(value), "{shell}: {value}");
                }
            }
            assert!(
                !script.contains("crash-dump"),
                "{shell}: a hidden command is offered"
            );
        }
    }
}
