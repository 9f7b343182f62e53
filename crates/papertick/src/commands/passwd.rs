//! `papertick passwd`: the password of a clock, set or cleared on its own machine.
//!
//! Whoever may write the data folder owns the clock. It has to be stopped first: what it runs on is what it read when it
//! started, so a password counts from the next start in any case, and two writers would overwrite each other.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use device::{
    secret::{PasswordHash, Secret},
    settings::{Key, Settings, TEXT_MAX},
};
use runtime::standard_error::print_error;

use super::{at_rest::AtRest, backup::typed_twice, client::target::secret};
use crate::{
    config::{MarketSource, resolve::default_data_dir},
    failure::Failure,
};

/// Variable with the new password.
const NEW_PASSWORD: &str = "PAPERTICK_NEW_PASSWORD";

/// Shortest password that is taken without a word of warning, letters.
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

    /// File with the new password, - for the standard input; PAPERTICK_NEW_PASSWORD holds it as well, and else it is
    /// asked for
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with = "clear")]
    password_file: Option<PathBuf>,

    /// Ask for no password any more
    #[arg(long)]
    clear: bool,
}

/// What `--help` says after the flags.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick passwd
  papertick passwd --data-dir /var/lib/papertick --user satoshi
  papertick passwd --password-file new-password.txt
  papertick passwd --clear

Stop the clock first (systemctl stop papertick.socket papertick: the service alone would be started by the next
request), and start it again after (systemctl start papertick.socket papertick).
Run it as the owner of the folder, or as root, who gives everything back to the owner.";

/// Sets the password of a clock, or clears it.
///
/// # Errors
/// A clock runs on the folder, or the password cannot be stored.
pub fn run(args: &PasswdArgs) -> Result<(), Failure> {
    let folder = match &args.data_dir {
        Some(folder) => folder.clone(),
        None => default_data_dir(MarketSource::World)?,
    };
    let mut at_rest = AtRest::open(&folder)?;
    let settings = changed(&at_rest.settings, args)?;
    let (is_guarded, user) = (settings.http_auth_enabled, settings.sign_in_user());
    at_rest.replace(settings)?;
    print_error(&match is_guarded {
        true => {
            format!("from its next start the clock asks for this password, and for the name {user}")
        }
        false => "from its next start the clock asks for no password".into(),
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
            None => typed_twice("New password: ")?,
        };
        settings.http_auth_pass = hashed(&password)?;
        settings.http_auth_enabled = true;
    }
    if let Some(user) = &args.user {
        let kind = Key::http_auth_user.spec().kind;
        kind.shape("--user", &user.as_str().into())
            .map_err(|rejection| {
                let hint = rejection.hint().unwrap_or_else(|| rejection.to_string());
                Failure::usage(hint)
            })?;
        settings.http_auth_user.clone_from(user);
    }
    Ok(settings)
}

fn hashed(password: &Secret) -> Result<PasswordHash, Failure> {
    let text = password.expose();
    if text.is_empty() || text.len() > TEXT_MAX || text.chars().any(char::is_control) {
        return Err(Failure::usage(format!(
            "a password has 1 to {TEXT_MAX} bytes and no control characters; --clear asks for none"
        )));
    }
    if text.chars().count() < SHORT {
        print_error(
            "this password is short: four words that have nothing to do with each other are better",
        );
    }
    passwords::hash(text, &mut Vec::new())
        .ok_or_else(|| Failure::failed("the password could not be hashed"))
}
