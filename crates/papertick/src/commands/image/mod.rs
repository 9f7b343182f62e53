//! `papertick image`: makes, signs, verifies and shows update images of firmware and pages.
//!
//! `keys` handles keys and signatures, `packing` makes images, `description` prints their headers.

mod description;
pub(crate) mod keys;
pub(crate) mod packing;

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use board::spec;
use clap::{Args, Subcommand};
use feeds::image::{Image, ImageFault, ImageKind, PAGE_BYTES_MAX, page::Page};
use packing::PackedProgram;
use storage::disk;

use crate::{
    commands::files::{cannot_read, cannot_write, open},
    config::flags::boards,
    failure::Failure,
    standard_output::print,
};

/// The actions of `image`.
#[derive(Debug, Args)]
pub struct ImageArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make a key pair
    #[command(after_help = KEYGEN_EXAMPLES)]
    Keygen(KeygenArgs),
    /// Make an image of a program or of a page
    #[command(after_help = PACK_EXAMPLES)]
    Pack(PackArgs),
    /// Sign images
    #[command(after_help = SIGN_EXAMPLES)]
    Sign(SignArgs),
    /// Verify the signature and the digests of an image
    #[command(after_help = VERIFY_EXAMPLES)]
    Verify(VerifyArgs),
    /// Show the header of an image
    #[command(after_help = SHOW_EXAMPLES)]
    Show(ImageShowArgs),
}

/// Source of the password of a secret key.
#[derive(Debug, Args)]
pub(crate) struct PasswordArgs {
    /// File with the password of the secret key in its first line [default: a prompt on the terminal]
    #[arg(long, value_name = "FILE")]
    pub(crate) password_file: Option<PathBuf>,
}

#[derive(Debug, Args)]
struct KeygenArgs {
    /// File for the secret key; the public key is written to the same name with .pub
    key: PathBuf,

    /// Do not encrypt the secret key with a password
    #[arg(long, conflicts_with = "password_file")]
    no_password: bool,

    #[command(flatten)]
    password: PasswordArgs,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct PackArgs {
    /// The program [default: this one]
    #[arg(long, value_name = "FILE", conflicts_with = "web")]
    program: Option<PathBuf>,

    /// Folder of a built page, to pack instead of a program
    #[arg(long, value_name = "FOLDER", conflicts_with = "board")]
    web: Option<PathBuf>,

    /// The board [default: rev-b]
    #[arg(long, value_parser = boards(), ignore_case = true)]
    board: Option<String>,

    /// Version of the image [default: the version of the program or the page]
    #[arg(long)]
    version: Option<String>,

    /// File for the image
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct SignArgs {
    /// File of the secret key
    #[arg(long, value_name = "FILE", required_unless_present = "signature")]
    key: Option<PathBuf>,

    /// Signature file of the image, made by `minisign -Sm`, to insert into it
    #[arg(long, value_name = "FILE.minisig", conflicts_with = "key")]
    signature: Option<PathBuf>,

    #[command(flatten)]
    password: PasswordArgs,

    /// The images
    #[arg(required = true, value_name = "FILE")]
    images: Vec<PathBuf>,

    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct VerifyArgs {
    /// File of a trusted public key; may be repeated
    #[arg(long, value_name = "FILE.pub", required = true)]
    key: Vec<PathBuf>,

    /// The image
    #[arg(value_name = "FILE")]
    image: PathBuf,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
struct ImageShowArgs {
    /// The image
    #[arg(value_name = "FILE")]
    image: PathBuf,

    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// Text of `--help` after the actions.
pub(crate) const EXAMPLES: &str = "\
Examples:
  papertick image keygen my.key                      once
  papertick image pack --board rev-b -o rev-b.img    this program as an image
  papertick image sign --key my.key rev-b.img
  papertick image verify --key my.key.pub rev-b.img

Keys and signatures are compatible with minisign, which can replace `keygen`, `sign` and `verify`.
The exit code is 5 if an image is damaged, or not signed by a trusted key.";

const KEYGEN_EXAMPLES: &str = "\
Examples:
  papertick image keygen my.key
  papertick image keygen --no-password ci.key

Clocks need my.key.pub. Keep my.key secret: it can sign programs for them.";

const PACK_EXAMPLES: &str = "\
Examples:
  papertick image pack --board v8 -o v8.img
  papertick image pack --program target/aarch64-unknown-linux-gnu/dist/papertick -o rev-b.img
  papertick image pack --web webui/dist -o page.img

The same program or page always makes the same image, byte by byte.";

const SIGN_EXAMPLES: &str = "\
Examples:
  papertick image sign --key my.key rev-b.img v8.img
  minisign -Sm rev-b.img && papertick image sign --signature rev-b.img.minisig rev-b.img

An image can carry up to four signatures, for clocks that trust different keys.";

const VERIFY_EXAMPLES: &str = "\
Examples:
  papertick image verify --key my.key.pub rev-b.img
  papertick image verify --key old.pub --key new.pub rev-b.img && echo trusted";

const SHOW_EXAMPLES: &str = "\
Examples:
  papertick image show rev-b.img
  papertick image show --json rev-b.img | jq -r .version";

/// Runs the action and prints its result.
///
/// # Errors
/// A file cannot be read or written, or has the wrong content.
pub fn run(args: &ImageArgs) -> Result<(), Failure> {
    let text = match &args.action {
        Action::Keygen(args) => keygen(args)?,
        Action::Pack(args) => pack(args)?,
        Action::Sign(args) => sign(args)?,
        Action::Verify(args) => verify(args)?,
        Action::Show(args) => {
            let image = open(&args.image)?;
            if args.json {
                lines(&description::document(&image))
            } else {
                description::table(&image)
            }
        }
    };
    print(&text)
}

fn keygen(args: &KeygenArgs) -> Result<String, Failure> {
    let password = if args.no_password {
        None
    } else {
        Some(keys::new_password(args.password.password_file.as_deref())?)
    };
    let pair = keys::make(&args.key, password)?;
    Ok(if args.json { lines(&pair.document()) } else { pair.line() })
}

fn pack(args: &PackArgs) -> Result<String, Failure> {
    let version = args.version.as_deref().map(packing::version).transpose()?;
    let image = match &args.web {
        Some(folder) => packing::page(folder, version)?,
        None => {
            let board = args.board.as_deref().and_then(spec::find);
            let program = match &args.program {
                Some(program) => program.clone(),
                None => std::env::current_exe().map_err(|error| {
                    Failure::failed(format!("cannot find this program: {error}"))
                })?,
            };
            PackedProgram::read(&program, version)?.image(board.unwrap_or(&spec::BOARDS[0]))?
        }
    };
    fs::write(&args.output, image).map_err(|error| cannot_write(&args.output, &error))?;
    describe(&args.output, args.json)
}

fn sign(args: &SignArgs) -> Result<String, Failure> {
    match (&args.key, &args.signature) {
        (Some(key), _) => {
            let secret = keys::SigningKey::read(key, args.password.password_file.as_deref())?;
            for image in &args.images {
                keys::sign(&secret, image)?;
            }
        }
        (None, Some(signature)) => match args.images.as_slice() {
            [image] => keys::attach(signature, image)?,
            _ => {
                return Err(Failure::usage(
                    "a signature belongs to one image: name only one",
                ));
            }
        },
        (None, None) => return Err(Failure::usage("no key: set one with --key FILE")),
    }
    if args.json {
        let documents: Result<Vec<_>, _> = args
            .images
            .iter()
            .map(|path| Ok::<_, Failure>(description::document(&open(path)?)))
            .collect();
        return Ok(lines(&documents?.into()));
    }
    args.images
        .iter()
        .map(|path| describe(path, false))
        .collect()
}

fn verify(args: &VerifyArgs) -> Result<String, Failure> {
    let trusted: Result<Vec<_>, _> = args.key.iter().map(|path| keys::public(path)).collect();
    let failure = |fault: ImageFault| {
        if let ImageFault::Io(error) = &fault {
            return cannot_read(&args.image, error);
        }
        Failure::refused(format!("{}: {fault}", args.image.display()))
    };
    let file = disk::open_file(&args.image).map_err(|error| cannot_read(&args.image, &error))?;
    let mut image = Image::open(file).map_err(failure)?;
    let signer = image.verify(&trusted?).map_err(failure)?;
    check_content(&mut image).map_err(failure)?;
    Ok(if args.json {
        let mut document = description::document(&image);
        document["signedBy"] = signer.to_string().into();
        lines(&document)
    } else {
        format!(
            "{}: {}, signed by {signer}\n",
            args.image.display(),
            description::line(&image)
        )
    })
}

fn check_content(image: &mut Image<File>) -> Result<(), ImageFault> {
    match image.head().kind {
        ImageKind::Firmware => image.unpack(&mut io::sink()),
        ImageKind::Page => {
            let length = image.head().content_bytes.min(PAGE_BYTES_MAX);
            let mut content = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
            image.unpack(&mut content)?;
            Page::parse(&content).map(|_| ())
        }
    }
}

fn describe(path: &Path, json: bool) -> Result<String, Failure> {
    let image = open(path)?;
    Ok(if json {
        lines(&description::document(&image))
    } else {
        format!("{}: {}\n", path.display(), description::line(&image))
    })
}

fn lines(document: &serde_json::Value) -> String {
    format!("{document:#}\n")
}
