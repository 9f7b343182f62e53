//! Keys and images, also with the tool minisign.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use crate::{command_rig::CommandRig, needs};

#[test]
fn a_key_is_made_and_protected() {
    let rig = CommandRig::new();
    fs::write(rig.path("pw"), "correct horse\nignored\n").unwrap();
    let made = rig.json("image keygen --json --password-file pw k");
    assert_eq!(made["secretKeyFile"], "k");
    assert_eq!(made["publicKeyFile"], "k.pub");
    let id = made["id"].as_str().unwrap();
    let public = String::from_utf8(rig.bytes("k.pub")).unwrap();
    assert!(public.contains(id) && public.contains(made["publicKey"].as_str().unwrap()));
    let mode = |name: &str| fs::metadata(rig.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("k"), mode("k.pub") & 0o700), (0o600, 0o600));

    let before = rig.bytes("k");
    rig.fails("image keygen --no-password k", 5, &["k already exists"]);
    fs::rename(rig.path("k"), rig.path("kept")).unwrap();
    rig.fails("image keygen --no-password k", 5, &["k.pub already exists"]);
    assert_eq!(rig.bytes("kept"), before);

    rig.program("p", 62, "4.2.0|||x86_64-unknown-linux-gnu");
    rig.run("image pack --program p -o i.img");
    rig.fails("image sign --key kept i.img", 2, &["--password-file"]);
    fs::write(rig.path("wrong"), "wrong\n").unwrap();
    rig.fails(
        "image sign --key kept --password-file wrong i.img",
        1,
        &["kept", "password"],
    );
    rig.fails(
        "image verify --key k.pub i.img",
        5,
        &["i.img", "not signed"],
    );
    rig.run("image sign --key kept --password-file pw i.img");
    let verified = rig.run("image verify --key k.pub i.img");
    assert!(verified.contains(id), "{verified}");
    fs::write(rig.path("empty"), "\n").unwrap();
    rig.fails(
        "image keygen --password-file empty new",
        1,
        &["empty", "1 to 1024"],
    );
    rig.fails("image keygen new", 2, &["--no-password"]);
    assert!(!rig.path("new").exists());
}

#[test]
fn an_image_has_the_build_facts_of_its_program() {
    let rig = CommandRig::new().with_image();
    let shown = rig.json("image show --json i.img");
    for (member, value) in [
        ("kind", "firmware"),
        ("version", "4.2.0"),
        ("board", "rev-b"),
        ("panel", "122x250"),
        ("target", "aarch64-unknown-linux-gnu"),
        ("commit", "abc"),
    ] {
        assert_eq!(shown[member], value);
    }
    assert_eq!(shown["buildTime"], 1_764_547_200);
    assert_eq!(shown["contentBytes"], rig.bytes("p").len());
    assert_eq!(shown["signedBytes"], rig.bytes("i.img").len());
    assert_eq!(shown["signatures"], serde_json::json!([]));
    let table = rig.run("image show i.img");
    for part in ["built        2025-12-01T00:00:00Z", "signed by    no key"] {
        assert!(table.contains(part), "{table}");
    }
    let first = rig.bytes("i.img");
    rig.run("image pack --program p -o again.img");
    assert_eq!(first, rig.bytes("again.img"), "byte by byte");
    let other = rig.json("image pack --json --program p --board V8 --version 5.0.0-rc.1 -o o.img");
    assert_eq!(
        (&other["board"], &other["version"]),
        (&"v8".into(), &"5.0.0-rc.1".into())
    );
}

#[test]
fn this_program_is_packed_by_default() {
    let rig = CommandRig::new();
    let shown = rig.json("image pack --json -o own.img");
    assert_eq!(shown["version"], env!("CARGO_PKG_VERSION"));
    let target = shown["target"].as_str().unwrap();
    assert!(target.contains(std::env::consts::ARCH), "{target}");
    let own = fs::metadata(env!("CARGO_BIN_EXE_papertick")).unwrap().len();
    assert_eq!(shown["contentBytes"], own);
}

#[test]
fn files_that_cannot_be_packed() {
    let rig = CommandRig::new();
    rig.program("machine", 62, "4.2.0|||aarch64-unknown-linux-gnu");
    rig.program("planet", 62, "4.2.0|||z80-unknown-none");
    rig.program("version", 62, "4.2|||x86_64-unknown-linux-gnu");
    rig.program("blank", 62, "4.2.0|a b||x86_64-unknown-linux-gnu");
    fs::write(rig.path("text"), "hello").unwrap();
    fs::write(
        rig.path("script"),
        "\u{1}papertick was built from\u{1}4.2.0\u{1}\u{1}\u{1}x86_64\u{2}",
    )
    .unwrap();
    for (program, parts) in [
        ("missing", &["cannot read missing"][..]),
        ("text", &["text", "not a papertick program"]),
        ("script", &["script", "not a program for Linux"]),
        ("machine", &["machine", "aarch64", "another architecture"]),
        ("planet", &["planet", "z80"]),
        ("blank", &["blank", "commit"]),
    ] {
        rig.fails(
            &format!("image pack --program {program} -o i.img"),
            1,
            parts,
        );
    }
    rig.fails(
        "image pack --program version -o i.img",
        2,
        &["4.2", "MAJOR.MINOR.PATCH"],
    );
    rig.fails("image pack --version x -o i.img", 2, &["`x`"]);
    rig.fails("image pack --board rev-z -o i.img", 2, &["rev-z"]);
    rig.fails("image pack", 2, &["--output"]);
    assert!(!rig.path("i.img").exists());
    rig.program("good", 62, "4.2.0|||x86_64-unknown-linux-gnu");
    rig.fails(
        "image pack --program good -o nowhere/i.img",
        1,
        &["nowhere/i.img"],
    );
}

#[test]
fn signing_and_verifying() {
    let rig = CommandRig::new().with_image();
    rig.run("image keygen --no-password other");
    let unsigned = rig.bytes("i.img");
    let image = rig.path("i.img");
    let mode = || fs::metadata(&image).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(&image, fs::Permissions::from_mode(0o644)).unwrap();
    let signed = rig.json("image sign --json --key k i.img");
    assert_eq!(mode(), 0o644, "signing does not change the file mode");
    assert_eq!(signed[0]["signatures"].as_array().unwrap().len(), 1);
    let id = signed[0]["signatures"][0]["key"].as_str().unwrap();
    assert_eq!(
        rig.json("image verify --json --key k.pub i.img")["signedBy"],
        id
    );
    assert!(rig.bytes("i.img").starts_with(&unsigned));
    rig.fails(
        "image verify --key other.pub i.img",
        5,
        &["i.img", id, "trusted"],
    );
    rig.run("image sign --key other i.img");
    rig.run("image sign --key k i.img");
    rig.run("image verify --key k.pub i.img");
    rig.run("image verify --key other.pub --key k.pub i.img");
    assert_eq!(
        rig.json("image show --json i.img")["signatures"]
            .as_array()
            .unwrap()
            .len(),
        2
    );

    let whole = rig.bytes("i.img");
    let mut changed = whole.clone();
    changed[600] ^= 1;
    fs::write(rig.path("changed"), changed).unwrap();
    rig.fails(
        "image verify --key k.pub changed",
        5,
        &["changed after it was signed"],
    );
    fs::write(rig.path("cut"), &whole[..550]).unwrap();
    rig.fails("image verify --key k.pub cut", 5, &["cut off"]);
    rig.fails("image verify --key k.pub p", 5, &["not a papertick image"]);
    rig.fails("image show p", 1, &["not a papertick image"]);
    rig.fails("image sign --key k p", 1, &["not a papertick image"]);
    rig.fails("image verify --key k.pub missing", 1, &["missing"]);
    rig.fails(
        "image verify --key p i.img",
        1,
        &["p has no minisign public key"],
    );
    rig.fails(
        "image sign --key k.pub i.img",
        1,
        &["k.pub has no minisign secret key"],
    );
    rig.fails("image sign i.img", 2, &["--key"]);
    rig.fails("image verify i.img", 2, &["--key"]);
    rig.fails("image", 2, &["--help"]);
    assert_eq!(rig.bytes("i.img"), whole);
}

#[test]
fn a_page_is_packed_with_its_manifest() {
    let rig = CommandRig::new();
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../webui/dist");
    let shown = rig.json(&format!(
        "image pack --json --web {} -o page.img",
        dist.display()
    ));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        (&shown["kind"], &shown["version"]),
        (&"page".into(), &version.into())
    );
    assert!(shown["commit"].as_str().unwrap().starts_with(version));
    assert!(shown["buildTime"].as_u64().unwrap() > 1_700_000_000);
    assert_eq!(shown["board"], Value::Null);
    rig.run("image keygen --no-password k");
    rig.run("image sign --key k page.img");
    rig.run("image verify --key k.pub page.img");

    fs::create_dir(rig.path("web")).unwrap();
    let write = |name: &str, text: &str| fs::write(rig.path("web").join(name), text).unwrap();
    let pack = "image pack --web web -o p.img";
    rig.fails(pack, 1, &["web", "no manifest.json"]);
    write("manifest.json", "{}");
    rig.fails(pack, 1, &["web", "minFirmware"]);
    write(
        "manifest.json",
        r#"{"commit":"main","buildTime":1,"minFirmware":"4.0.0"}"#,
    );
    rig.fails(pack, 2, &["--version"]);
    rig.fails(
        &format!("{pack} --version 4.0.0"),
        1,
        &["web", "index.html"],
    );
    write("index.html", "<!doctype html>");
    rig.run(&format!("{pack} --version 4.0.0"));
    write("a b.js", "");
    rig.fails(&format!("{pack} --version 4.0.0"), 1, &["web", "name"]);
    rig.fails("image pack --web missing -o p.img", 1, &["missing"]);
    rig.fails("image pack --web web --board v8 -o p.img", 2, &["--board"]);
}

#[test]
fn signatures_are_compatible_with_minisign() {
    let Some(minisign) = needs::program("minisign") else {
        return;
    };
    let rig = CommandRig::new().with_image();
    let run_minisign = |line: &str| {
        let output = Command::new(&minisign)
            .args(line.split_whitespace())
            .current_dir(rig.folder())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (output.status.success(), text)
    };
    let unsigned = rig.bytes("i.img");

    rig.run("image sign --key k i.img");
    let signed = rig.bytes("i.img");
    fs::write(rig.path("body"), &unsigned).unwrap();
    fs::write(rig.path("body.minisig"), &signed[unsigned.len()..]).unwrap();
    let (is_valid, stdout) = run_minisign("-Vm body -p k.pub");
    assert!(is_valid && stdout.contains("firmware 4.2.0"), "{stdout}");

    // A key of minisign, used by both.
    assert!(run_minisign("-G -W -p s.pub -s s.key").0);
    rig.run("image sign --key s.key i.img");
    rig.run("image verify --key s.pub i.img");

    // A signature of minisign, inserted by both.
    assert!(run_minisign("-Sm body -s s.key").0);
    let signature = rig.bytes("body.minisig");
    fs::write(rig.path("appended"), [&unsigned[..], &signature].concat()).unwrap();
    rig.run("image verify --key s.pub appended");
    rig.run("image sign --signature body.minisig body");
    assert_eq!(rig.bytes("body"), rig.bytes("appended"));
    rig.fails(
        "image sign --signature body.minisig body i.img",
        2,
        &["one"],
    );
    rig.fails(
        "image sign --signature k.pub body",
        1,
        &["k.pub", "no minisign signature"],
    );

    // A key of the program, used by minisign.
    fs::write(rig.path("body"), &unsigned).unwrap();
    assert!(run_minisign("-Sm body -s k").0);
    assert!(run_minisign("-Vm body -p k.pub").0);
}

#[test]
fn usual_tools_can_unpack_a_page() {
    let rig = CommandRig::new();
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../webui/dist");
    rig.run(&format!("image pack --web {} -o page.img", dist.display()));
    let script = "tail -c +513 page.img | gunzip | tar -x -C out";
    fs::create_dir(rig.path("out")).unwrap();
    let ran = Command::new("sh")
        .args(["-ec", script])
        .current_dir(rig.folder())
        .status();
    assert!(ran.unwrap().success());
    assert_eq!(
        rig.bytes("out/index.html"),
        fs::read(dist.join("index.html")).unwrap()
    );
    let manifest: Value = serde_json::from_slice(&rig.bytes("out/manifest.json")).unwrap();
    assert!(manifest["minFirmware"].is_string() && manifest["commit"].is_string());

    // A page packed by tar is accepted too.
    let script = "tar --format=ustar -C out -cf made.tar .";
    let ran = Command::new("sh")
        .args(["-ec", script])
        .current_dir(rig.folder())
        .status();
    assert!(ran.unwrap().success());
    let page = feeds::image::page::Page::parse(&rig.bytes("made.tar")).unwrap();
    assert!(page.files.contains_key("index.html"));
}
