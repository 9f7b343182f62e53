//! The file `papertick.txt` on the boot partition of the image: the Wi-Fi profile that it makes, and the mistakes that are
//! named.

use std::{fs, process::Command};

use crate::clock::folder;

const SCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../packaging/image/root/usr/lib/papertick-image/boot-file"
);

/// Applies a file on a system that has a profile. Returns the name and the password in the profile, and the mistakes.
fn applied(text: &[u8]) -> (String, String) {
    let root = folder();
    let at = |path: &str| root.path().join(path);
    let connections = "etc/NetworkManager/system-connections";
    for path in [connections, "etc/issue.d", "run"] {
        fs::create_dir_all(at(path)).unwrap();
    }
    let profile = at(connections).join("papertick-boot-file.nmconnection");
    fs::write(&profile, "ssid=before\n").unwrap();
    fs::write(at("papertick.txt"), text).unwrap();
    let mut script = Command::new("sh");
    let script = script
        .arg(SCRIPT)
        .args([at("papertick.txt").as_path(), root.path()]);
    let output = script.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let profile = fs::read_to_string(profile).unwrap_or_default();
    let values = profile.lines().filter_map(|line| {
        let secret = line.strip_prefix("psk=");
        secret.or_else(|| line.strip_prefix("ssid="))
    });
    let mistakes = fs::read_to_string(at("etc/issue.d/papertick.issue")).unwrap_or_default();
    (values.collect::<Vec<_>>().join(" "), mistakes)
}

#[test]
fn the_boot_file_sets_the_network_and_its_mistakes_are_named() {
    let key = "a1".repeat(32);
    let with_key = format!("wifi_ssid=Home\nwifi_password={key}\n");
    let large = "#".repeat(17_000);
    let many = "nonsense\n".repeat(1000);
    let long = format!("a{}=1\n", "\u{e9}".repeat(1000));
    let cut = format!("line 1: `a{}\n", "\u{e9}".repeat(87));
    #[rustfmt::skip]
    let rows: &[(&[u8], &str, &str)] = &[
        (b"", "", ""),
        (b"# wifi_ssid=Home\n", "", ""),
        (b" wifi_ssid = My net \r\nwifi_password=its password\r\n", "My net its password", ""),
        // As NetworkManager reads them.
        (b"wifi_ssid=a;b\\c\nwifi_password=1234;67\\9\n", "a\\;b\\\\c 1234;67\\\\9", ""),
        (with_key.as_bytes(), &format!("Home {key}"), ""),
        (b"\xef\xbb\xbfwifi_ssid=Home\n", "Home", ""),
        (b"# K\xfcche\nwifi_ssid=Home\n", "Home", ""),
        (b"wifi_ssid=K\xfcche\nwifi_password=12345678\n", "before", "line 1 has characters of another encoding"),
        (b"wifi_ssid=Home\nwifi_password=short\n", "before", "wifi_password has 5 characters"),
        (b"wifi_ssid=Home\nwifi_ssid=Other\n", "Home", "line 2: `wifi_ssid` is there twice"),
        (b"wifi_ssid=\"Home\"\n", "\"Home\"", "line 1: the quotes are used"),
        (b"wifi_ssid=Home\nnonsense\nwlan=1\n", "Home", "line 2 is not of the form key=value"),
        (b"wifi_ssid=Home\nnonsense\nwlan=1\n", "Home", "line 3: `wlan` is not a key"),
        // The environment of the program is limited.
        (many.as_bytes(), "", "line 10 is not of the form key=value\n"),
        (long.as_bytes(), "", &cut),
        (large.as_bytes(), "before", "larger than 16 KiB"),
    ];
    for (text, profile, mistake) in rows {
        let shown = String::from_utf8_lossy(text);
        let (actual, mistakes) = applied(text);
        assert_eq!(actual, *profile, "{shown}");
        assert_eq!(
            mistake.is_empty(),
            mistakes.is_empty(),
            "{shown}: {mistakes}"
        );
        assert!(mistakes.contains(mistake), "{shown}: {mistakes}");
        assert!(mistakes.lines().count() <= 10, "{shown}: {mistakes}");
    }
}
