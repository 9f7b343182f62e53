//! Keys and signatures, in the file formats of minisign.

use std::{
    ffi::OsString,
    fs::{self, OpenOptions},
    io::{self, IsTerminal, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use base64::{Engine, prelude::BASE64_STANDARD};
use feeds::image::{self, Signature, VerifyingKey};
use minisign::{KeyPair, PublicKey, SecretKey, SecretKeyBox};
use serde_json::{Value, json};

use super::description;
use crate::{
    commands::{
        files::{cannot_read, cannot_write, open, read_at_most},
        hidden_input,
    },
    failure::Failure,
};

/// Largest file of a key or password, bytes.
const KEY_FILE_MAX: u64 = 8 * 1024;

/// Longest password, bytes: the limit of minisign.
const PASSWORD_MAX: usize = 1024;

pub(super) struct NewKeyPair {
    secret_file: PathBuf,
    public_file: PathBuf,
    public: VerifyingKey,
    line: String,
}

impl NewKeyPair {
    pub(super) fn document(&self) -> Value {
        json!({
            "id": self.public.id().to_string(),
            "publicKey": self.line,
            "secretKeyFile": self.secret_file,
            "publicKeyFile": self.public_file,
        })
    }

    pub(super) fn line(&self) -> String {
        format!(
            "key {}: the secret key is in {}, the public key for clocks in {}\n{}\n",
            self.public.id(),
            self.secret_file.display(),
            self.public_file.display(),
            self.line
        )
    }
}

/// Makes a key pair. The files must not exist yet.
pub(super) fn make(path: &Path, password: Option<String>) -> Result<NewKeyPair, Failure> {
    let mut name = OsString::from(path);
    name.push(".pub");
    let public_file = PathBuf::from(name);
    for path in [path, &public_file] {
        if path.exists() {
            return Err(Failure::refused(format!(
                "{} already exists: keys are never overwritten, choose another name",
                path.display()
            )));
        }
    }
    let cannot = |error| Failure::failed(format!("cannot make a key: {error}"));
    let (pair, comment) = match password {
        Some(password) => (
            KeyPair::generate_encrypted_keypair(Some(password)),
            "minisign encrypted secret key",
        ),
        None => (
            KeyPair::generate_unencrypted_keypair(),
            "minisign secret key without a password",
        ),
    };
    let pair = pair.map_err(cannot)?;
    let public_text = pair.pk.to_box().map_err(cannot)?.to_string();
    let secret_text = pair.sk.to_box(Some(comment)).map_err(cannot)?.to_string();
    let public = VerifyingKey::parse(&public_text)
        .ok_or_else(|| Failure::failed("cannot make a key: the new key cannot be parsed"))?;
    new_file(path, 0o600, &secret_text)?;
    new_file(&public_file, 0o644, &public_text)?;
    Ok(NewKeyPair {
        secret_file: path.to_path_buf(),
        public_file,
        public,
        line: pair.pk.to_base64(),
    })
}

fn new_file(path: &Path, mode: u32, text: &str) -> Result<(), Failure> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(path)
        .and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            file.sync_all()
        })
        .map_err(|error| cannot_write(path, &error))
}

pub(super) fn public(path: &Path) -> Result<VerifyingKey, Failure> {
    let bytes = read_at_most(path, KEY_FILE_MAX)?;
    let key = String::from_utf8(bytes)
        .ok()
        .and_then(|text| VerifyingKey::parse(&text));
    key.ok_or_else(|| {
        Failure::failed(format!(
            "{} has no minisign public key: `papertick image keygen` makes one",
            path.display()
        ))
    })
}

pub(crate) struct SigningKey {
    secret: SecretKey,
    public: PublicKey,
}

impl SigningKey {
    /// Reads a key file. Prompts for its password if it is encrypted.
    pub(crate) fn read(path: &Path, password_file: Option<&Path>) -> Result<SigningKey, Failure> {
        let no_key = || {
            Failure::failed(format!(
                "{} has no minisign secret key: `papertick image keygen` makes one",
                path.display()
            ))
        };
        let bytes = read_at_most(path, KEY_FILE_MAX)?;
        let text = String::from_utf8(bytes).map_err(|_| no_key())?;
        let line = text.lines().nth(1).unwrap_or_default();
        let bytes = BASE64_STANDARD.decode(line).map_err(|_| no_key())?;
        let secret = match bytes.get(..4) {
            // Unencrypted keys have no checksum. Signatures of a damaged key are found invalid after signing.
            Some(b"Ed\0\0") => SecretKey::from_bytes(&bytes).map_err(|_| no_key())?,
            Some(b"EdSc") => SecretKeyBox::from(text)
                .into_secret_key(Some(password(password_file)?))
                .map_err(|error| Failure::failed(format!("{}: {error}", path.display())))?,
            Some(_) | None => return Err(no_key()),
        };
        let public = PublicKey::from_secret_key(&secret).map_err(|_| no_key())?;
        Ok(SigningKey { secret, public })
    }

    fn key(&self) -> Option<VerifyingKey> {
        VerifyingKey::parse(&self.public.to_base64())
    }
}

/// Signs an image file.
pub(crate) fn sign(secret: &SigningKey, path: &Path) -> Result<(), Failure> {
    let cannot =
        |error: String| Failure::failed(format!("cannot sign {}: {error}", path.display()));
    let image = open(path)?;
    let comment = format!("papertick {}", description::line(&image));
    let signed = image.head().signed_bytes();
    let mut file = image.into_inner();
    file.rewind().map_err(|error| cannot_read(path, &error))?;
    let signature = minisign::sign(
        Some(&secret.public),
        &secret.secret,
        file.take(signed),
        Some(&comment),
        Some("signature of a papertick image"),
    )
    .map_err(|error| cannot(error.to_string()))?;
    let mut signatures = Signature::parse_all(signature.to_string().as_bytes())
        .map_err(|fault| cannot(fault.to_string()))?;
    let key = secret.key();
    match (signatures.pop(), key) {
        (Some(signature), Some(key)) => append_and_verify(&signature, &key, path),
        _ => Err(cannot("the new signature cannot be parsed".to_string())),
    }
}

/// Inserts a signature of minisign into the image file.
pub(super) fn attach(signature_file: &Path, path: &Path) -> Result<(), Failure> {
    let bytes = read_at_most(signature_file, KEY_FILE_MAX)?;
    let signatures = Signature::parse_all(&bytes);
    let Some(signature) = signatures.ok().and_then(|mut signatures| {
        let one = signatures.len() == 1;
        signatures.pop().filter(|_| one)
    }) else {
        return Err(Failure::failed(format!(
            "{} has no minisign signature: `minisign -Sm {}` makes one",
            signature_file.display(),
            path.display()
        )));
    };
    append_signature(&signature, path)
}

fn append_and_verify(
    signature: &Signature,
    key: &VerifyingKey,
    path: &Path,
) -> Result<(), Failure> {
    append_signature(signature, path)?;
    // A wrong signature must be noticed here, not by the clocks.
    let checked = open(path)?.verify(std::slice::from_ref(key));
    checked.map(|_| ()).map_err(|fault| {
        Failure::failed(format!(
            "the new signature of {} is invalid: {fault}",
            path.display()
        ))
    })
}

/// Appends a signature after the payload, keeps those of other keys, and replaces the file.
fn append_signature(signature: &Signature, path: &Path) -> Result<(), Failure> {
    let image = open(path)?;
    let trailer = image::sign(image.signatures(), signature)
        .map_err(|fault| Failure::refused(format!("{}: {fault}", path.display())))?;
    let signed = image.head().signed_bytes();
    rewrite(path, image.into_inner(), signed, trailer.as_bytes())
        .map_err(|error| cannot_write(path, &error))
}

fn rewrite(path: &Path, mut file: fs::File, signed: u64, trailer: &[u8]) -> io::Result<()> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut new = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    new.as_file()
        .set_permissions(file.metadata()?.permissions())?;
    file.rewind()?;
    io::copy(&mut file.take(signed), &mut new)?;
    new.write_all(trailer)?;
    new.as_file().sync_all()?;
    new.persist(path)?;
    Ok(())
}

/// Prompts twice for the password of a new key.
pub(super) fn new_password(file: Option<&Path>) -> Result<String, Failure> {
    let password = password(file)?;
    if file.is_none() && prompt("Repeat it: ")? != password {
        return Err(Failure::usage("the two passwords differ"));
    }
    Ok(password)
}

fn password(file: Option<&Path>) -> Result<String, Failure> {
    let Some(path) = file else {
        return prompt("Password of the secret key: ");
    };
    let bytes = read_at_most(path, KEY_FILE_MAX)?;
    let text = String::from_utf8(bytes).unwrap_or_default();
    let password = text.lines().next().unwrap_or_default();
    if password.is_empty() || password.len() > PASSWORD_MAX {
        return Err(Failure::failed(format!(
            "the first line of {} is not a password of 1 to {PASSWORD_MAX} bytes",
            path.display()
        )));
    }
    Ok(password.to_string())
}

fn prompt(text: &str) -> Result<String, Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage(
            "no terminal to prompt for a password: set --password-file FILE, or --no-password for a new key",
        ));
    }
    let password = hidden_input::prompt(text)
        .map_err(|error| Failure::failed(format!("cannot prompt for a password: {error}")))?;
    match password.len() {
        1..=PASSWORD_MAX => Ok(password),
        _ => Err(Failure::usage(format!(
            "a password has 1 to {PASSWORD_MAX} bytes; --no-password makes a new key without one"
        ))),
    }
}
