//! `papertick backup` and `papertick restore`: the settings as a file, of a running clock or of a data folder.

use std::{
    fmt::Write as _,
    fs::{OpenOptions, Permissions},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use api::documents::settings_file::{ImportReport, ImportRequest, SettingsFile, SettingsOrigin};
use clap::{Args, Command, ValueHint};
use device::{secret::Secret, settings::transfer};
use runtime::{clock::Clock, printable::one_line};
use serde_json::{Value, json};
use updates::build;
use web::settings_file::{self, FILE_MAX, SettingsFileError};

use super::{
    client::{
        ClientRequest, ClockClient, Payload,
        target::{ClockTarget, prompt_secret},
    },
    files::{cannot_write, read_at_most},
    offline_settings::OfflineSettings,
};
use crate::{failure::Failure, standard_output::print};

/// The flags of `backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    #[command(flatten)]
    target: ClockTarget,

    #[command(flatten)]
    export: ExportArgs,

    /// Data folder of a stopped clock, instead of a running clock
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,
}

/// The flags for exporting a file.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// File for the settings [default: standard output]
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,
}

/// The flags of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    #[command(flatten)]
    target: ClockTarget,

    #[command(flatten)]
    import: ImportArgs,

    /// Data folder of a stopped clock, instead of a running clock
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,

    /// Print what differs as JSON
    #[arg(long)]
    json: bool,
}

/// The flags for importing a file.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// Only print what would change
    #[arg(long)]
    dry_run: bool,

    /// Settings to leave unchanged, separated by commas
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    except: Vec<String>,
}

/// Text of `--help` of `backup` after the flags.
pub(crate) const BACKUP_EXAMPLES: &str = "\
Examples:
  papertick backup -o settings.json
  papertick backup --host 192.168.1.7 -o settings.json
  papertick backup --data-dir /var/lib/papertick -o settings.json

Only the file of a data folder has the secrets: passwords, keys and the wallet.";

/// Text of `--help` of `restore` after the flags.
pub(crate) const RESTORE_EXAMPLES: &str = "\
Examples:
  papertick restore --dry-run settings.json
  papertick restore --host 192.168.1.7 settings.json
  papertick restore --except httpAuthEnabled,hostnamePrefix settings.json
  papertick restore --data-dir /var/lib/papertick settings.json

If any value is refused, nothing is changed.";

/// Writes the settings of a clock to a file.
///
/// # Errors
/// They cannot be read or written.
pub fn backup(args: &BackupArgs) -> Result<(), Failure> {
    match &args.data_dir {
        Some(folder) => {
            let offline = OfflineSettings::open(folder)?;
            let origin = SettingsOrigin {
                clock: String::new(),
                board: String::new(),
                firmware: build::revision(),
                time: Clock::host().rfc3339(),
            };
            let settings = transfer::with_secrets(&offline.settings);
            args.export.write(&settings_file::to_text(settings, origin))
        }
        None => export(&mut args.target.client()?, &args.export),
    }
}

/// Writes the settings of a running clock to a file.
///
/// # Errors
/// The clock refuses the export, or the file cannot be written.
pub(crate) fn export(client: &mut ClockClient, args: &ExportArgs) -> Result<(), Failure> {
    let request = ClientRequest::new("GET", "/api/settings/export", Payload::Nothing);
    let response = client.send(&request)?.accepted()?;
    args.write(&String::from_utf8_lossy(&response.body))
}

/// Imports the settings of a file.
///
/// # Errors
/// A value is refused; nothing is changed then.
pub fn restore(args: &RestoreArgs) -> Result<(), Failure> {
    let report = match &args.data_dir {
        Some(folder) => args.import.offline(folder)?,
        None => args.import.over_http(&mut args.target.client()?)?,
    };
    print_report(&report, args.json)
}

/// Imports the settings of a file into a running clock.
///
/// # Errors
/// A value is refused; nothing is changed then.
pub(crate) fn import(
    client: &mut ClockClient,
    args: &ImportArgs,
    json: bool,
) -> Result<(), Failure> {
    print_report(&args.over_http(client)?, json)
}

/// Adds the flags for exporting a file to a command.
pub(crate) fn export_arguments(command: Command) -> Command {
    ExportArgs::augment_args(command)
}

/// Adds the flags for importing a file to a command.
pub(crate) fn import_arguments(command: Command) -> Command {
    ImportArgs::augment_args(command)
}

impl ExportArgs {
    /// Writes a file that only its owner can read.
    fn write(&self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            return print(text);
        };
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| {
                // `mode` applies only to new files.
                file.set_permissions(Permissions::from_mode(0o600))?;
                file.write_all(text.as_bytes())
            });
        written.map_err(|error| cannot_write(path, &error))
    }
}

impl ImportArgs {
    fn read(&self) -> Result<(Value, SettingsFile), Failure> {
        let about = |what: String| Failure::usage(format!("{}: {what}", self.file.display()));
        let bytes = read_at_most(&self.file, FILE_MAX as u64)?;
        let json: Value = serde_json::from_slice(&bytes).map_err(|error| {
            about(format!(
                "{} ({error})",
                SettingsFileError::NotSettings.message()
            ))
        })?;
        let file = settings_file::parse(&json).map_err(|error| about(error.message().into()))?;
        Ok((json, file))
    }

    fn over_http(&self, client: &mut ClockClient) -> Result<Value, Failure> {
        let (json, _) = self.read()?;
        let import = ImportRequest {
            file: json,
            dry_run: self.dry_run,
            except: self.except.clone(),
        };
        let payload = Payload::Json(json!(import));
        let request = ClientRequest::new("POST", "/api/settings/import", payload);
        let response = client.send(&request)?;
        // A report comes with an error status too, if a value of the file is refused.
        let report = response
            .json()
            .filter(|report| report.get("changes").is_some());
        match report {
            Some(report) => Ok(report),
            None => Ok(response.accepted()?.json().unwrap_or_default()),
        }
    }

    fn offline(&self, folder: &Path) -> Result<Value, Failure> {
        let (_, mut file) = self.read()?;
        let mut offline = OfflineSettings::open(folder)?;
        settings_file::remove(&mut file, self.except.iter().map(String::as_str)).map_err(
            |name| Failure::usage(format!("--except {name}: the file has no such setting")),
        )?;
        let import = settings_file::import(&file, &offline.settings);
        let applied = !self.dry_run && import.refused.is_empty();
        let report = ImportReport {
            // No clock is running.
            reboot_required: false,
            ..settings_file::import_report(&file, &import, applied)
        };
        if applied {
            offline.replace(import.settings)?;
        }
        Ok(json!(report))
    }
}

fn print_report(report: &Value, json: bool) -> Result<(), Failure> {
    let text = if json { format!("{report:#}\n") } else { lines(report) };
    print(&text)?;
    let refused = texts(&report["refused"], "error");
    if refused.is_empty() {
        Ok(())
    } else {
        Err(Failure::refused(format!(
            "nothing was changed: {}",
            refused.join(", ")
        )))
    }
}

/// The report for people.
fn lines(report: &Value) -> String {
    let empty = Vec::new();
    let changes = report["changes"].as_array().unwrap_or(&empty);
    let words = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let name = |change: &Value| words(&change["name"]);
    let widths = changes.iter().map(|change| name(change).len());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for change in changes {
        let what = match change["secret"].as_bool() {
            Some(true) => "new secret".into(),
            Some(false) | None => format!("{} -> {}", change["old"], change["new"]),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{:width$}  {what}", name(change));
    }
    for (member, what) in [
        ("unknown", "unknown to this version"),
        ("notes", "adjusted"),
    ] {
        for entry in report[member].as_array().into_iter().flatten() {
            let _ = writeln!(text, "{what}: {}", words(entry));
        }
    }
    let missing = report["missing"].as_array().unwrap_or(&empty);
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().map(words).collect();
        let _ = writeln!(text, "not in the file, so unchanged: {}", names.join(", "));
    }
    for refusal in report["refused"].as_array().into_iter().flatten() {
        let token = words(&refusal["error"]);
        let reason = refusal
            .get("msg")
            .map(|reason| format!(": {}", words(reason)));
        let _ = writeln!(text, "refused: {token}{}", reason.unwrap_or_default());
    }
    let count = changes.len();
    let word = if count == 1 { "setting" } else { "settings" };
    let _ = match (
        report["applied"].as_bool(),
        report["rebootRequired"].as_bool(),
    ) {
        (Some(true), Some(true)) => writeln!(
            text,
            "{count} {word} changed; some take effect after a restart: papertick ctl restart"
        ),
        (Some(true), _) => writeln!(text, "{count} {word} changed"),
        _ => writeln!(text, "{count} {word} would change"),
    };
    text
}

fn texts(list: &Value, member: &str) -> Vec<String> {
    let entries = list.as_array().into_iter().flatten();
    let text = |entry: &Value| Some(one_line(entry[member].as_str()?));
    entries.filter_map(text).collect()
}

/// Prompts twice for a new password, to detect typing errors.
///
/// # Errors
/// There is no terminal, or the two inputs differ.
pub(crate) fn prompt_twice(prompt: &str) -> Result<Secret, Failure> {
    let no_terminal = || {
        Failure::usage(
            "there is no terminal to type it: use the file or the variable that --help names",
        )
    };
    let first = prompt_secret(prompt).ok_or_else(no_terminal)?;
    let second = prompt_secret("Repeat it: ").ok_or_else(no_terminal)?;
    if first == second {
        Ok(first)
    } else {
        Err(Failure::usage("the two inputs differ: nothing was changed"))
    }
}
