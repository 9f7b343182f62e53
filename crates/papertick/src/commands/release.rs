//! `papertick release`: makes a folder of update images for any web server.
//!
//! The folder has the images under the names that clocks expect, a checksum file for each, and the list of releases.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Cursor},
    path::{Path, PathBuf},
};

use board::spec;
use clap::Args;
use feeds::{
    image::{Image, ImageHeader, ImageKind, PAYLOAD_BYTES_MAX, SIGNATURE_BYTES_MAX},
    release::{self, CHECKSUM_SUFFIX, Listed, PAGE_ASSET, PAGE_URL_MAX, ReleaseNotes},
};
use jiff::Timestamp;
use net::url::{Scheme, Url};
use runtime::standard_error::print_error;
use semver::Version;
use serde_json::json;
use sha2::{Digest, Sha256};
use storage::disk::open_file;
use tempfile::TempDir;

use crate::{
    commands::{
        files::{cannot_read, cannot_write, open, read_at_most},
        image::{
            PasswordArgs,
            keys::{self, SigningKey},
            packing::{self, PackedProgram},
        },
    },
    config::flags::boards,
    failure::Failure,
    standard_output::print,
};

/// File name of the release list.
const FEED: &str = "release.json";

/// Largest file of release notes, bytes.
const NOTES_MAX: u64 = 64 * 1024;

/// The flags of `release`.
#[derive(Debug, Args)]
pub struct ReleaseArgs {
    /// Programs, which are packed for each board, and finished images
    #[arg(value_name = "FILE", required_unless_present = "web")]
    files: Vec<PathBuf>,

    /// Folder of a built page
    #[arg(long, value_name = "FOLDER")]
    web: Option<PathBuf>,

    /// Only for this board; may be repeated
    #[arg(long, value_parser = boards(), ignore_case = true)]
    board: Vec<String>,

    /// Version of programs and page [default: the version in them]
    #[arg(long)]
    version: Option<String>,

    /// File of the secret key that signs the packed images
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,

    #[command(flatten)]
    password: PasswordArgs,

    /// URL of the folder [default: relative to the list]
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,

    /// File with the release notes
    #[arg(long, value_name = "FILE")]
    notes: Option<PathBuf>,

    /// URL of the release notes, which clocks and Home Assistant link to
    #[arg(long, value_name = "URL")]
    notes_url: Option<String>,

    /// Folder to create; it must be empty or not exist
    #[arg(short, long, value_name = "FOLDER")]
    output: PathBuf,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Text of `--help` after the flags.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick release --key my.key target/dist/papertick -o release
  papertick release --key my.key arm64/papertick amd64/papertick --web webui/dist -o release
  papertick release rev-b.img v8.img --base-url https://example.org/clock -o release

Put the folder on a web server and set gitReleaseUrl of each clock to the address of its release.json.
A clock downloads papertick-BOARD-PANEL-TARGET.img, and the same name with .sha256.";

/// Makes the folder and prints its content.
///
/// # Errors
/// A file cannot be read, packed, signed or written, or two images conflict.
pub fn run(args: &ReleaseArgs) -> Result<(), Failure> {
    let version = args.version.as_deref().map(packing::version).transpose()?;
    let base = args.base_url.as_deref().map(base_url).transpose()?;
    let text = match &args.notes {
        Some(path) => String::from_utf8(read_at_most(path, NOTES_MAX)?)
            .map_err(|_| Failure::failed(format!("{} is no text", path.display())))?,
        None => String::new(),
    };
    let page = args.notes_url.as_deref().map(notes_url).transpose()?;
    let notes = ReleaseNotes { text, page };
    let secret = args.key.as_deref();
    let secret = secret.map(|key| SigningKey::read(key, args.password.password_file.as_deref()));
    let secret = secret.transpose()?;
    let folder = new_folder(&args.output)?;
    let mut builder = ReleaseBuilder {
        folder: folder.path(),
        secret: secret.as_ref(),
        images: BTreeMap::new(),
    };
    for file in &args.files {
        if is_program(file)? {
            builder.add_program(&PackedProgram::read(file, version.clone())?, &args.board)?;
        } else {
            let max = ImageHeader::BYTES as u64 + PAYLOAD_BYTES_MAX + SIGNATURE_BYTES_MAX;
            builder.add(&read_at_most(file, max)?, ImageOrigin::Ready(file))?;
        }
    }
    if let Some(folder) = &args.web {
        builder.add(&packing::page(folder, version)?, ImageOrigin::Packed)?;
    }
    let version = builder.finish(base.as_deref(), &notes)?;
    let text = if args.json {
        builder.document(&version, &args.output)
    } else {
        builder.lines(&version, &args.output)
    };
    move_into_place(folder, &args.output).map_err(|error| cannot_write(&args.output, &error))?;
    print(&text)
}

enum ImageOrigin<'a> {
    /// Packed by this command, which also signs it.
    Packed,
    /// A finished image; has its path.
    Ready(&'a Path),
}

struct ReleaseBuilder<'a> {
    folder: &'a Path,
    secret: Option<&'a SigningKey>,
    images: BTreeMap<String, (ImageHeader, bool)>,
}

impl ReleaseBuilder<'_> {
    fn add_program(&mut self, program: &PackedProgram, only: &[String]) -> Result<(), Failure> {
        let is_selected =
            |id: &str| only.is_empty() || only.iter().any(|one| one.eq_ignore_ascii_case(id));
        for board in spec::BOARDS.iter().filter(|board| is_selected(board.id)) {
            self.add(&program.image(board)?, ImageOrigin::Packed)?;
        }
        Ok(())
    }

    /// Adds an image under the name that clocks expect.
    fn add(&mut self, image: &[u8], origin: ImageOrigin<'_>) -> Result<(), Failure> {
        let new = self.folder.join("image.new");
        let path = match origin {
            ImageOrigin::Packed => &new,
            ImageOrigin::Ready(path) => path,
        };
        let head = Image::open(Cursor::new(image))
            .map_err(|fault| Failure::failed(format!("{}: {fault}", path.display())))?
            .head()
            .clone();
        fs::write(&new, image).map_err(|error| cannot_write(&new, &error))?;
        let name = match head.kind {
            ImageKind::Firmware => release::firmware_asset(&head.board, &head.panel, &head.target),
            ImageKind::Page => PAGE_ASSET.to_string(),
        };
        if self.images.contains_key(&name) {
            return Err(Failure::usage(format!(
                "two images have the same name: {name}"
            )));
        }
        let other = self.images.values().map(|(head, _)| &head.version);
        if let Some(other) = other.into_iter().find(|other| **other != head.version) {
            return Err(Failure::usage(format!(
                "a release has one version, but the images have {other} and {}",
                head.version
            )));
        }
        let path = self.folder.join(&name);
        fs::rename(&new, &path).map_err(|error| cannot_write(&path, &error))?;
        if let (ImageOrigin::Packed, Some(secret)) = (&origin, self.secret) {
            keys::sign(secret, &path)?;
        }
        let signed = !open(&path)?.signatures().is_empty();
        self.images.insert(name, (head, signed));
        Ok(())
    }

    /// Writes the checksums and the list; returns the version.
    fn finish(&self, base: Option<&str>, notes: &ReleaseNotes) -> Result<Version, Failure> {
        let Some((newest, version)) = self
            .images
            .values()
            .map(|(head, _)| (head.build_time, head.version.clone()))
            .max_by_key(|(time, _)| *time)
        else {
            return Err(Failure::usage(
                "nothing to release: add a program or an image",
            ));
        };
        let mut listed = Vec::new();
        for name in self.images.keys() {
            let path = self.folder.join(name);
            let image = fs::read(&path).map_err(|error| cannot_read(&path, &error))?;
            let checksum = release::checksum_file(&Sha256::digest(&image).into(), name);
            let sums = format!("{name}{CHECKSUM_SUFFIX}");
            write(&self.folder.join(&sums), checksum.as_bytes())?;
            for (name, bytes) in [(name.clone(), image.len()), (sums, checksum.len())] {
                listed.push(Listed {
                    url: format!("{}{name}", base.unwrap_or_default()),
                    name,
                    bytes: bytes as u64,
                });
            }
        }
        let published = i64::try_from(newest)
            .ok()
            .and_then(|seconds| Timestamp::from_second(seconds).ok());
        let published = published.unwrap_or_default().to_string();
        let feed = release::write(&version, &published, notes, &listed);
        write(&self.folder.join(FEED), feed.as_bytes())?;
        for (name, (_, signed)) in &self.images {
            if !signed {
                // Only a warning: it may be intended.
                print_error(&format!("{name} is not signed: {UNSIGNED}"));
            }
        }
        Ok(version)
    }

    fn document(&self, version: &Version, folder: &Path) -> String {
        let images: Vec<_> = self
            .images
            .iter()
            .map(|(name, (_, signed))| json!({"name": name, "signed": signed}))
            .collect();
        let document = json!({
            "version": version.to_string(),
            "feed": folder.join(FEED),
            "images": images,
        });
        format!("{document:#}\n")
    }

    fn lines(&self, version: &Version, folder: &Path) -> String {
        let names: String = self
            .images
            .keys()
            .map(|name| format!("  {name}\n"))
            .collect();
        format!(
            "release {version} in {}:\n{names}  {FEED}\n",
            folder.display()
        )
    }
}

/// Warning for an unsigned image.
const UNSIGNED: &str =
    "clocks accept it only with --unsigned-updates; --key FILE signs packed images";

/// A temporary folder beside the output folder, so that an incomplete release is never visible there.
///
/// # Errors
/// The output folder is not empty, or not writable.
fn new_folder(path: &Path) -> Result<TempDir, Failure> {
    fs::create_dir_all(path).map_err(|error| cannot_write(path, &error))?;
    let mut entries = fs::read_dir(path).map_err(|error| cannot_read(path, &error))?;
    if entries.next().is_some() {
        return Err(Failure::refused(format!(
            "{} is not empty: a release needs an empty folder",
            path.display()
        )));
    }
    let whole = fs::canonicalize(path).map_err(|error| cannot_read(path, &error))?;
    let parent = whole.parent().unwrap_or(&whole);
    tempfile::tempdir_in(parent).map_err(|error| cannot_write(parent, &error))
}

/// Replaces the empty output folder by the finished one.
fn move_into_place(made: TempDir, place: &Path) -> io::Result<()> {
    fs::set_permissions(made.path(), fs::metadata(place)?.permissions())?;
    fs::rename(made.path(), place)?;
    // The folder was renamed, so there is nothing to remove.
    let _ = made.keep();
    Ok(())
}

fn is_program(path: &Path) -> Result<bool, Failure> {
    let mut start = Vec::new();
    open_file(path)
        .and_then(|file| io::Read::read_to_end(&mut io::Read::take(file, 4), &mut start))
        .map_err(|error| cannot_read(path, &error))?;
    Ok(start == b"\x7fELF")
}

/// The URL of the folder, with a slash at the end.
fn base_url(text: &str) -> Result<String, Failure> {
    let is_plain = |url: &Url| {
        matches!(url.scheme, Scheme::Http | Scheme::Https) && !text.contains(['?', '#'])
    };
    match Url::parse(text) {
        Ok(url) if is_plain(&url) => Ok(format!("{}/", text.trim_end_matches('/'))),
        Ok(_) | Err(_) => Err(Failure::usage(format!(
            "`{text}` is no URL of a folder: use http:// or https://, a host and a path"
        ))),
    }
}

fn notes_url(text: &str) -> Result<String, Failure> {
    if release::is_page(text) && Url::parse(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err(Failure::usage(format!(
            "`{text}` is no URL of a page: use http:// or https://, a host name and a path, at most {PAGE_URL_MAX} bytes"
        )))
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    fs::write(path, bytes).map_err(|error| cannot_write(path, &error))
}
