//! `papertick backup` and `papertick restore`: all settings as a file, of a clock that runs or of a data folder at rest.

use std::{
    fmt::Write as _,
    fs::{OpenOptions, Permissions},
    io::Write as _,
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use api::{
    documents::settings_file::{ExportRequest, ImportReport, ImportRequest, SettingsOrigin},
    operation::ProgramOperation,
    operations::path_of,
};
use clap::{Args, Command, ValueHint};
use device::secret::Secret;
use runtime::{
    clock::Clock,
    printable::{one_line, print},
    standard_error::print_error,
};
use serde_json::{Value, json};
use updates::build;
use web::settings_file::{self, Backup, FILE_MAX, SettingsFileError};

use super::{
    at_rest::AtRest,
    client::{
        Ask, ClockClient, Payload,
        target::{ClockTarget, secret, typed},
    },
    files::{cannot_write, read_at_most},
};
use crate::failure::Failure;

/// Variable with the passphrase of a file.
const PASSPHRASE: &str = "PAPERTICK_PASSPHRASE";

/// The flags of `backup`.
#[derive(Debug, Args)]
pub struct BackupArgs {
    #[command(flatten)]
    target: ClockTarget,

    #[command(flatten)]
    export: ExportArgs,

    /// Folder of a clock that does not run, instead of a clock that does
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,
}

/// What is said of a file that is written.
#[derive(Debug, Args)]
pub(crate) struct ExportArgs {
    /// File for the settings; without one they go to the standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    output: Option<PathBuf>,

    /// With the secrets: passwords, keys and the wallet, sealed with a passphrase
    #[arg(long)]
    secrets: bool,

    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// The flags of `restore`.
#[derive(Debug, Args)]
pub struct RestoreArgs {
    #[command(flatten)]
    target: ClockTarget,

    #[command(flatten)]
    import: ImportArgs,

    /// Folder of a clock that does not run, instead of a clock that does
    #[arg(long, value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,

    /// Print what differs as JSON
    #[arg(long)]
    json: bool,
}

/// What is said of a file that is taken over.
#[derive(Debug, Args)]
pub(crate) struct ImportArgs {
    /// The file
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    file: PathBuf,

    /// Only tell what would change
    #[arg(long)]
    dry_run: bool,

    /// Settings that are left as they are, with commas between them
    #[arg(long, value_name = "KEY", value_delimiter = ',')]
    except: Vec<String>,

    #[command(flatten)]
    passphrase: PassphraseArgs,
}

/// Where the passphrase of a file is.
#[derive(Debug, Args)]
struct PassphraseArgs {
    /// File with the passphrase of the secrets; PAPERTICK_PASSPHRASE holds it as well, and else it is asked for
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    passphrase_file: Option<PathBuf>,
}

/// What `--help` of `backup` says after the flags.
pub(crate) const BACKUP_EXAMPLES: &str = "\
Examples:
  papertick backup -o settings.json
  papertick backup --host 192.168.1.7 --secrets -o settings.json
  papertick backup --data-dir /var/lib/papertick -o settings.json

A clock hands out secrets only if it asks for a password; a data folder is its owner's.";

/// What `--help` of `restore` says after the flags.
pub(crate) const RESTORE_EXAMPLES: &str = "\
Examples:
  papertick restore --dry-run settings.json
  papertick restore --host 192.168.1.7 settings.json
  papertick restore --except httpAuthEnabled,hostnamePrefix settings.json
  papertick restore --data-dir /var/lib/papertick settings.json

All of it is taken over, or nothing.";

/// Writes the settings of a clock to a file.
///
/// # Errors
/// They cannot be had, or not be written.
pub fn backup(args: &BackupArgs) -> Result<(), Failure> {
    match &args.data_dir {
        Some(folder) => {
            let at_rest = AtRest::open(folder)?;
            let origin = SettingsOrigin {
                clock: String::new(),
                board: String::new(),
                firmware: build::revision(),
                time: Clock::host().rfc3339(),
            };
            let passphrase = args.export.passphrase()?;
            let backup = Backup::new(&at_rest.settings, origin, passphrase.as_ref());
            let backup = backup.map_err(|error| Failure::usage(error.message()))?;
            args.export.write(&backup.to_text())
        }
        None => export(&mut args.target.client()?, &args.export),
    }
}

/// Writes the settings of a clock that runs to a file.
///
/// # Errors
/// The clock does not hand them out, or they cannot be written.
pub(crate) fn export(client: &mut ClockClient, args: &ExportArgs) -> Result<(), Failure> {
    let passphrase = args.passphrase()?;
    let request = ExportRequest {
        passphrase: passphrase.map(|passphrase| passphrase.expose().into()),
    };
    let path = path_of(ProgramOperation::ExportSettings);
    let ask = Ask::new("POST", path, Payload::Json(json!(request)));
    let reply = client.ask(&ask)?.accepted()?;
    args.write(&String::from_utf8_lossy(&reply.body))
}

/// Takes over the settings of a file.
///
/// # Errors
/// Something in it is refused; nothing was changed then.
pub fn restore(args: &RestoreArgs) -> Result<(), Failure> {
    let told = match &args.data_dir {
        Some(folder) => args.import.at_rest(folder)?,
        None => args.import.over_http(&mut args.target.client()?)?,
    };
    tell(&told, args.json)
}

/// Takes over the settings of a file on a clock that runs.
///
/// # Errors
/// Something in it is refused; nothing was changed then.
pub(crate) fn import(
    client: &mut ClockClient,
    args: &ImportArgs,
    json: bool,
) -> Result<(), Failure> {
    tell(&args.over_http(client)?, json)
}

/// Gives a command the flags of a file that is written.
pub(crate) fn export_arguments(command: Command) -> Command {
    ExportArgs::augment_args(command)
}

/// Gives a command the flags of a file that is taken over.
pub(crate) fn import_arguments(command: Command) -> Command {
    ImportArgs::augment_args(command)
}

impl ExportArgs {
    fn passphrase(&self) -> Result<Option<Secret>, Failure> {
        if !self.secrets {
            return Ok(None);
        }
        let file = self.passphrase.passphrase_file.as_deref();
        let passphrase = match secret(PASSPHRASE, file)? {
            Some(passphrase) => passphrase,
            None => typed_twice("Passphrase for the secrets: ")?,
        };
        settings_file::check_passphrase(&passphrase)
            .map_err(|error| Failure::usage(error.message()))?;
        Ok(Some(passphrase))
    }

    /// Writes a file that its owner alone can read.
    fn write(&self, text: &str) -> Result<(), Failure> {
        let Some(path) = &self.output else {
            print(text);
            return Ok(());
        };
        let written = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| {
                // The mode counts for new files alone.
                file.set_permissions(Permissions::from_mode(0o600))?;
                file.write_all(text.as_bytes())
            });
        written.map_err(|error| cannot_write(path, &error))
    }
}

impl ImportArgs {
    fn read(&self) -> Result<(Value, Backup), Failure> {
        let about = |what: String| Failure::usage(format!("{}: {what}", self.file.display()));
        let bytes = read_at_most(&self.file, FILE_MAX as u64)?;
        let json: Value = serde_json::from_slice(&bytes).map_err(|error| {
            about(format!(
                "{} ({error})",
                SettingsFileError::NotSettings.message()
            ))
        })?;
        let file = Backup::parse(&json).map_err(|error| about(error.message()))?;
        Ok((json, file))
    }

    /// The passphrase of a file with secrets; without one they stay closed.
    fn passphrase(&self, file: &Backup) -> Result<Option<Secret>, Failure> {
        if !file.has_secrets() {
            return Ok(None);
        }
        let said = secret(PASSPHRASE, self.passphrase.passphrase_file.as_deref())?;
        let passphrase =
            said.or_else(|| typed("Passphrase of the file (empty: without its secrets): "));
        let passphrase = passphrase.filter(|passphrase| !passphrase.is_empty());
        if passphrase.is_none() {
            print_error(
                "the secrets of the file stay closed: PAPERTICK_PASSPHRASE or --passphrase-file opens them",
            );
        }
        Ok(passphrase)
    }

    fn over_http(&self, client: &mut ClockClient) -> Result<Value, Failure> {
        let (json, file) = self.read()?;
        let passphrase = self.passphrase(&file)?;
        let request = ImportRequest {
            file: json,
            dry_run: self.dry_run,
            passphrase: passphrase.map(|passphrase| passphrase.expose().into()),
            except: self.except.clone(),
        };
        let path = path_of(ProgramOperation::ImportSettings);
        let reply = client.ask(&Ask::new("POST", path, Payload::Json(json!(request))))?;
        // What is refused in the file is told like what is taken from it.
        let told = reply.json().filter(|told| told.get("changes").is_some());
        match told {
            Some(told) => Ok(told),
            None => Ok(reply.accepted()?.json().unwrap_or_default()),
        }
    }

    fn at_rest(&self, folder: &Path) -> Result<Value, Failure> {
        let (_, file) = self.read()?;
        let mut at_rest = AtRest::open(folder)?;
        let passphrase = self.passphrase(&file)?;
        let mut content = file
            .content(passphrase.as_ref())
            .map_err(|error| Failure::refused(error.message()))?;
        content
            .remove(self.except.iter().map(String::as_str))
            .map_err(|name| {
                Failure::usage(format!("--except {name}: the file has no such setting"))
            })?;
        let import = content.import(&at_rest.settings);
        let applied = !self.dry_run && import.refused.is_empty();
        let report = ImportReport {
            // Nothing runs that could be restarted.
            reboot_required: false,
            ..settings_file::import_report(&file, content.secrets, &import, applied)
        };
        if applied {
            at_rest.replace(import.settings)?;
        }
        Ok(json!(report))
    }
}

/// Prints what was, or would be, taken over.
fn tell(told: &Value, json: bool) -> Result<(), Failure> {
    let text = match json {
        true => format!("{told:#}\n"),
        false => lines(told),
    };
    print(&text);
    let refused = texts(&told["refused"], "error");
    match refused.is_empty() {
        true => Ok(()),
        false => Err(Failure::refused(format!(
            "nothing was taken over: {}",
            refused.join(", ")
        ))),
    }
}

/// What was taken over, for people.
fn lines(told: &Value) -> String {
    let empty = Vec::new();
    let changes = told["changes"].as_array().unwrap_or(&empty);
    let words = |value: &Value| one_line(value.as_str().unwrap_or_default());
    let name = |change: &Value| words(&change["name"]);
    let widths = changes.iter().map(|change| name(change).len());
    let width = widths.max().unwrap_or_default();
    let mut text = String::new();
    for change in changes {
        let what = match change["secret"].as_bool() {
            Some(true) => "another secret".into(),
            Some(false) | None => format!("{} -> {}", change["old"], change["new"]),
        };
        // A string takes everything.
        let _ = writeln!(text, "{:width$}  {what}", name(change));
    }
    for (member, what) in [
        ("unknown", "not known to this version"),
        ("notes", "understood otherwise"),
    ] {
        for entry in told[member].as_array().into_iter().flatten() {
            let _ = writeln!(text, "{what}: {}", words(entry));
        }
    }
    for refusal in told["refused"].as_array().into_iter().flatten() {
        let token = words(&refusal["error"]);
        let reason = refusal
            .get("msg")
            .map(|reason| format!(": {}", words(reason)));
        let _ = writeln!(text, "refused: {token}{}", reason.unwrap_or_default());
    }
    let count = changes.len();
    let word = if count == 1 { "setting" } else { "settings" };
    let _ = match (told["applied"].as_bool(), told["rebootRequired"].as_bool()) {
        (Some(true), Some(true)) => writeln!(
            text,
            "{count} {word} changed; some count from the next start: papertick ctl restart"
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

/// A new passphrase or password, typed twice so that it is the one that was meant.
///
/// # Errors
/// Nobody is there to type it, or the two differ.
pub(crate) fn typed_twice(question: &str) -> Result<Secret, Failure> {
    let nobody = || {
        Failure::usage(
            "there is no terminal to type it: use the file or the variable that --help names",
        )
    };
    let first = typed(question).ok_or_else(nobody)?;
    let second = typed("Once more: ").ok_or_else(nobody)?;
    match first == second {
        true => Ok(first),
        false => Err(Failure::usage("the two differ: nothing was done")),
    }
}
