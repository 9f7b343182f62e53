//! `papertick discover`: lists the clocks on the local network.

use std::{
    collections::BTreeSet,
    fmt::Write as _,
    io::{self, IsTerminal, Write as _},
    net::IpAddr,
    pin::pin,
    time::Duration,
};

use clap::{Args, ValueEnum};
use net::mdns::{FoundClock, MdnsScope, search};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{failure::Failure, standard_output::print};

/// Time between two updates of the countdown.
const TICK: Duration = Duration::from_millis(250);

/// The flags of `discover`.
#[derive(Debug, Args)]
pub struct DiscoverArgs {
    /// How long to search, s
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,

    /// Search only the network on which this machine has this address
    #[arg(long, value_name = "ADDRESS")]
    on: Option<IpAddr>,

    /// Print a JSON array
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Print in the format of another program
    #[arg(long, value_name = "PROGRAM")]
    format: Option<InventoryFormat>,
}

/// Format for another program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InventoryFormat {
    /// A target file of Prometheus (`file_sd_configs`)
    Prometheus,
    /// An Ansible inventory
    Ansible,
}

/// Text of `--help` after the flags.
pub(crate) const EXAMPLES: &str = "\
Each line has the name of a clock, its address and port, its model and its version.

Examples:
  papertick discover
  papertick discover --seconds 10 --json
  papertick discover --on 192.168.1.7
  papertick discover --format prometheus > clocks.json
  papertick discover --format ansible > inventory.yml

A clock is found if other hosts can reach it (papertick run --listen 0.0.0.0:8080) and mdnsEnabled is on.
The exit code is 3 if none is found.";

/// Searches for clocks and prints them.
///
/// # Errors
/// None is found, or the search failed.
pub fn run(args: &DiscoverArgs) -> Result<(), Failure> {
    let scope = args.on.map_or_else(MdnsScope::all, MdnsScope::one);
    let time = Duration::from_secs(args.seconds);
    let cannot = |error: String| Failure::failed(format!("cannot search for clocks: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| cannot(error.to_string()))?;
    let found = runtime
        .block_on(with_countdown(search(&scope, time), args.seconds))
        .map_err(|error| cannot(error.to_string()))?;
    let text = match args.format {
        Some(InventoryFormat::Prometheus) => targets(&found),
        Some(InventoryFormat::Ansible) => inventory(&found),
        None if args.json => documents(&found),
        None => lines(&found),
    };
    print(&text)?;
    if found.is_empty() {
        return Err(Failure::unreachable(format!(
            "no clock found in {} s: a clock must be reachable (papertick run --listen 0.0.0.0:8080) and have mdnsEnabled on",
            args.seconds
        )));
    }
    Ok(())
}

/// Waits for the results of a search, and shows the remaining time on a terminal.
async fn with_countdown<T>(search: impl Future<Output = T>, seconds: u64) -> T {
    let mut search = pin!(search);
    if !io::stderr().is_terminal() {
        return search.await;
    }
    let started_at = Instant::now();
    loop {
        let left = seconds.saturating_sub(started_at.elapsed().as_secs());
        // Fails if the terminal is gone.
        let _ = write!(io::stderr(), "\r{}\x1b[K", progress(left));
        tokio::select! {
            found = &mut search => {
                let _ = write!(io::stderr(), "\r\x1b[K");
                return found;
            }
            () = sleep(TICK) => {}
        }
    }
}

fn progress(left: u64) -> String {
    format!("searching for clocks, {left} s left ...")
}

fn lines(found: &[FoundClock]) -> String {
    let rows: Vec<[String; 4]> = found
        .iter()
        .map(|clock| {
            [
                clock.name.clone(),
                clock.place.to_string(),
                clock.model.clone(),
                clock.version.clone(),
            ]
        })
        .collect();
    let width = |column: usize| {
        let lengths = rows.iter().map(|row| row[column].chars().count());
        lengths.max().unwrap_or_default()
    };
    let widths = [width(0), width(1), width(2)];
    let mut text = String::new();
    for [name, place, model, version] in &rows {
        let [first, second, third] = widths;
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "{name:first$}  {place:second$}  {model:third$}  {version}"
        );
    }
    text
}

fn documents(found: &[FoundClock]) -> String {
    let clocks: Vec<_> = found
        .iter()
        .map(|clock| {
            json!({
                "name": clock.name,
                "host": clock.host,
                "address": clock.place.ip().to_string(),
                "port": clock.place.port(),
                "url": format!("http://{}/", clock.place),
                "model": clock.model,
                "version": clock.version,
                "rev": clock.revision,
                "hwRev": clock.hardware,
            })
        })
        .collect();
    format!("{}\n", json!(clocks))
}

/// Targets for Prometheus (`file_sd_configs`), which reads JSON.
fn targets(found: &[FoundClock]) -> String {
    let groups = found.iter().map(|clock| {
        json!({
            "targets": [clock.place.to_string()],
            "labels": {
                "clock": safe_word(&clock.name),
                "hardware": safe_label(&clock.hardware),
            },
        })
    });
    format!("{:#}\n", Value::Array(groups.collect()))
}

/// A YAML inventory for Ansible. Ansible evaluates templates in names and values, and any device on the network can
/// choose these: only harmless characters are kept.
///
/// Tasks run on the machine of Ansible, because clocks are configured over HTTP.
fn inventory(found: &[FoundClock]) -> String {
    if found.is_empty() {
        return "papertick:\n  hosts: {}\n".into();
    }
    let mut text = String::from("papertick:\n  hosts:\n");
    let mut names = BTreeSet::new();
    for clock in found {
        let mut name = host_name(&clock.name);
        if !names.insert(name.clone()) {
            let place = safe_word(&clock.place.to_string());
            name = format!("{name}-{place}");
            names.insert(name.clone());
        }
        // Writing to a string cannot fail. Without the interpreter Ansible would use any Python that it finds.
        let _ = write!(
            text,
            "    \"{name}\":
      papertick_url: !unsafe \"http://{}\"
      papertick_version: !unsafe \"{}\"
      ansible_host: \"{}\"
      ansible_connection: local
      ansible_python_interpreter: \"{{{{ ansible_playbook_python }}}}\"
",
            clock.place,
            safe_word(&clock.version),
            clock.place.ip(),
        );
    }
    text
}

/// Names that are special to Ansible, and prefixes of such names.
const RESERVED: [&str; 4] = ["all", "ungrouped", "papertick", "localhost"];

/// Prefix of hosts with a reserved name.
const PREFIX: &str = "clock-";

/// A host name without a special meaning to Ansible.
fn host_name(name: &str) -> String {
    let word = safe_word(name);
    let lower = word.to_ascii_lowercase();
    let is_reserved = RESERVED.contains(&lower.as_str())
        || lower.starts_with("localhost")
        || !word.starts_with(|first: char| first.is_ascii_alphabetic());
    if is_reserved { format!("{PREFIX}{word}") } else { word }
}

/// Replaces all characters of a name from the network except `[A-Za-z0-9._-]`.
fn safe_word(text: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    text.replace(|letter| !is_safe(letter), "_")
}

/// As `safe_word`, but keeps spaces and commas.
fn safe_label(text: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._- ,".contains(letter);
    text.replace(|letter| !is_safe(letter), "_")
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that fails should say where")]

    use expect_test::expect;

    use super::*;

    fn found(name: &str, place: &str) -> FoundClock {
        FoundClock {
            name: name.to_string(),
            host: format!("{name}.local"),
            place: place.parse().unwrap(),
            model: "papertick".to_string(),
            version: "4.0.0".to_string(),
            revision: "1a2b3c4-4.0.0".to_string(),
            hardware: "Rev A".to_string(),
        }
    }

    #[test]
    fn formats_for_other_programs() {
        let clocks = [
            found("papertick-0a1b2c", "192.0.2.7:80"),
            found("shop-3d", "[2001:db8::7]:8080"),
        ];
        expect![[r#"
            [
              {
                "targets": [
                  "192.0.2.7:80"
                ],
                "labels": {
                  "clock": "papertick-0a1b2c",
                  "hardware": "Rev A"
                }
              },
              {
                "targets": [
                  "[2001:db8::7]:8080"
                ],
                "labels": {
                  "clock": "shop-3d",
                  "hardware": "Rev A"
                }
              }
            ]
        "#]]
        .assert_eq(&targets(&clocks));
        expect![[r#"
            papertick:
              hosts:
                "shop-3d":
                  papertick_url: !unsafe "http://[2001:db8::7]:8080"
                  papertick_version: !unsafe "4.0.0"
                  ansible_host: "2001:db8::7"
                  ansible_connection: local
                  ansible_python_interpreter: "{{ ansible_playbook_python }}"
        "#]]
        .assert_eq(&inventory(&clocks[1..]));
        assert_eq!(inventory(&[]), "papertick:\n  hosts: {}\n");
        assert_eq!(targets(&[]), "[]\n");
    }

    #[test]
    fn names_from_the_network_are_harmless_to_other_programs() {
        for (name, host) in [
            ("shop-3d", "shop-3d"),
            ("localhost", "clock-localhost"),
            ("LocalHost4.x", "clock-LocalHost4.x"),
            ("all", "clock-all"),
            ("Ungrouped", "clock-Ungrouped"),
            ("papertick", "clock-papertick"),
            ("127.0.0.1", "clock-127.0.0.1"),
            ("", "clock-"),
            ("a[1:9]", "a_1_9_"),
            (
                "{{ lookup('pipe','id') }}",
                "clock-___lookup__pipe___id_____",
            ),
            ("x\":\n  y", "x_____y"),
        ] {
            assert_eq!(host_name(name), host, "{name}");
        }
        let mut hostile = found("x", "192.0.2.7:80");
        hostile.version = "{{ lookup('pipe','id') }}\" \\".to_string();
        hostile.hardware = "{{ $labels }}\u{9b}".to_string();
        let twice = [hostile.clone(), hostile];
        let text = format!("{}{}", inventory(&twice), targets(&twice));
        let own = "{{ ansible_playbook_python }}";
        assert_eq!(
            text.matches("{{").count(),
            text.matches(own).count(),
            "{text}"
        );
        assert!(text.contains("\"x-192.0.2.7_80\":"), "{text}");
        assert!(
            text.contains("!unsafe \"___lookup__pipe___id________\""),
            "{text}"
        );
    }
}
