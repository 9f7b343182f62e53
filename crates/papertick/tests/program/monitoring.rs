//! The metrics, and the alerts and the dashboard in `contrib`.

use std::{
    collections::BTreeSet,
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use crate::clock::{Clock, folder};
use crate::needs;

const CONTRIB: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib");

/// Checks that `promtool` accepts an input.
fn assert_accepts(arguments: &[&str], input: &str) {
    let Some(promtool) = needs::program("promtool") else {
        return;
    };
    let mut child = Command::new(promtool)
        .args(arguments)
        .current_dir(Path::new(CONTRIB).join("prometheus"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(input.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
}

#[test]
fn promtool_accepts_the_metrics() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let metrics = clock.get("/metrics").body;
    assert!(
        metrics.contains("process_resident_memory_bytes "),
        "{metrics}"
    );
    assert_accepts(&["check", "metrics"], &metrics);
}

#[test]
fn promtool_accepts_the_alerts() {
    assert_accepts(&["check", "rules", "papertick.rules.yml"], "");
    assert_accepts(&["test", "rules", "papertick.rules.test.yml"], "");
}

#[test]
fn every_metric_is_documented() {
    const MANUAL: &str = include_str!("../../../../docs/monitoring.md");
    let folder = folder();
    let clock = Clock::start(folder.path());
    let metrics = clock.get("/metrics").body;
    let names = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next());
    let is_documented = |name: &&str| {
        let words = [format!("`{name}`"), format!("`{name}{{")];
        words.iter().any(|words| MANUAL.contains(words))
    };
    let missing: Vec<&str> = names.filter(|name| !is_documented(name)).collect();
    assert_eq!(missing, Vec::<&str>::new());
}

#[test]
fn dashboard_and_alerts_use_existing_metrics() {
    let folder = folder();
    let clock = Clock::start(folder.path());
    let metrics = clock.get("/metrics").body;
    // By their types, because some have no sample on a new clock.
    let names: BTreeSet<&str> = metrics
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next())
        .collect();
    for file in ["grafana/papertick.json", "prometheus/papertick.rules.yml"] {
        let text = std::fs::read_to_string(Path::new(CONTRIB).join(file)).unwrap();
        let words = text.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        let used: BTreeSet<&str> = words
            .filter(|word| word.starts_with("papertick_") || word.starts_with("process_"))
            .collect();
        assert!(used.len() > 3, "{file}: {used:?}");
        for name in used {
            assert!(names.contains(name), "{file}: {name}");
        }
    }
    let dashboard = std::fs::read(Path::new(CONTRIB).join("grafana/papertick.json")).unwrap();
    serde_json::from_slice::<serde_json::Value>(&dashboard).unwrap();
}
