//! `papertick passwd`: sets or clears the password of a clock on its machine.
//!
//! It needs no old password: a user who can write the data folder owns the clock. The clock must be stopped first, because
//! it reads the settings only when it starts, and two writers would overwrite each other.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use device::{
    secret::{PasswordHash, Secret},
    settings::{Key, Settings, TEXT_MAX},
};
use runtime::standard_error::print_error;

use super::{backup::prompt_twice, client::target::secret, offline_settings::OfflineSettings};
use crate::{
    config::{MarketSource, resolve::default_data_dir},
    failure::Failure,
};

const NEW_PASSWORD: &str = "PAPERTICK_NEW_PASSWORD";

/// Shortest password without a warning, characters.
const SHORT: usize = 8;

/// The flags of `passwd`.
#[derive(Debug, Args)]
pub struct PasswdArgs {
    /// Folder of the clock, which must not run [default: $XDG_STATE_HOME/papertick]
    #[arg(long, env = "PAPERTICK_DATA_DIR", value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    data_dir: Option<PathBuf>,

    /// Name to sign in with
    #[arg(long, value_name = "NAME")]
    user: Option<String>,

    /// File with the new password, - for standard input; the default is PAPERTICK_NEW_PASSWORD, or else a prompt
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "clear")]
    password_file: Option<PathBuf>,

    /// Remove the password
    #[arg(long)]
    clear: bool,
}

/// Text of `--help` after the flags.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick passwd
  papertick passwd --data-dir /var/lib/papertick --user satoshi
  papertick passwd --password-file new-password.txt
  papertick passwd --clear

Stop the clock first (systemctl stop papertick.socket papertick: the service alone would be started by the next
request), and start it again after (systemctl start papertick.socket papertick).
Run it as the owner of the folder, or as root; the files then still belong to the owner.";

/// Sets the password of a clock, or clears it.
///
/// # Errors
/// A clock runs on the folder, or the password cannot be stored.
pub fn run(args: &PasswdArgs) -> Result<(), Failure> {
    let folder = match &args.data_dir {
        Some(folder) => folder.clone(),
        None => default_data_dir(MarketSource::World)?,
    };
    let mut offline = OfflineSettings::open(&folder)?;
    let settings = changed(&offline.settings, args)?;
    let (is_guarded, user) = (settings.http_auth_enabled, settings.sign_in_user());
    offline.replace(settings)?;
    print_error(&if is_guarded {
        format!("from the next start the clock requires this password, with the name {user}")
    } else {
        "from the next start the clock requires no password".into()
    });
    Ok(())
}

fn changed(before: &Settings, args: &PasswdArgs) -> Result<Settings, Failure> {
    let mut settings = before.clone();
    if args.clear {
        settings.http_auth_enabled = false;
        settings.http_auth_pass = PasswordHash::default();
    } else {
        let password = match secret(NEW_PASSWORD, args.password_file.as_deref())? {
            Some(password) => password,
            None => prompt_twice("New password: ")?,
        };
        settings.http_auth_pass = hashed(&password)?;
        settings.http_auth_enabled = true;
    }
    if let Some(user) = &args.user {
        let kind = Key::http_auth_user.spec().kind;
        kind.shape("--user", &user.as_str().into())
            .map_err(|rejection| Failure::usage(rejection.hint()))?;
        settings.http_auth_user.clone_from(user);
    }
    Ok(settings)
}

fn hashed(password: &Secret) -> Result<PasswordHash, Failure> {
    let text = password.expose();
    if text.is_empty() || text.len() > TEXT_MAX || text.chars().any(char::is_control) {
        return Err(Failure::usage(format!(
            "a password has 1 to {TEXT_MAX} bytes and no control characters; --clear removes it"
        )));
    }
    if text.chars().count() < SHORT {
        print_error("this password is short: four unrelated words are better");
    }
    passwords::hash(text, &mut Vec::new())
        .ok_or_else(|| Failure::failed("the password could not be hashed"))
}
