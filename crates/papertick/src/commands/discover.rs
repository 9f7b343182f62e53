//! `papertick discover`: the clocks on the local network.

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
use runtime::printable::print;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::failure::Failure;

/// Time between two looks at how long it still takes.
const TICK: Duration = Duration::from_millis(250);

/// The flags of `discover`.
#[derive(Debug, Args)]
pub struct DiscoverArgs {
    /// How long to look, s
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=60))]
    seconds: u64,

    /// Look only on the network where this machine has this address
    #[arg(long, value_name = "ADDRESS")]
    on: Option<IpAddr>,

    /// Print a JSON array
    #[arg(long, conflicts_with = "format")]
    json: bool,

    /// Print what another program reads
    #[arg(long, value_name = "PROGRAM")]
    format: Option<InventoryFormat>,
}

/// A program that reads which clocks there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum InventoryFormat {
    /// Targets in a file that Prometheus watches (`file_sd_configs`)
    Prometheus,
    /// An inventory of Ansible
    Ansible,
}

/// What `--help` says after the flags.
pub(crate) const EXAMPLES: &str = "\
Each line is the name of a clock, its address and port, what it is and its version.

Examples:
  papertick discover
  papertick discover --seconds 10 --json
  papertick discover --on 192.168.1.7
  papertick discover --format prometheus > clocks.json
  papertick discover --format ansible > inventory.yml

A clock is found if others can reach it (papertick run --listen 0.0.0.0:8080) and mdnsEnabled is on.
The exit code is 3 if there is none.";

/// Looks for clocks and prints what it found.
///
/// # Errors
/// There is none, or this machine cannot look.
pub fn run(args: &DiscoverArgs) -> Result<(), Failure> {
    let reach = args.on.map_or_else(MdnsScope::all, MdnsScope::one);
    let time = Duration::from_secs(args.seconds);
    let cannot = |error: String| Failure::failed(format!("cannot look for clocks: {error}"));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| cannot(error.to_string()))?;
    let found = runtime
        .block_on(looked(search(&reach, time), args.seconds))
        .map_err(|error| cannot(error.to_string()))?;
    let text = match args.format {
        Some(InventoryFormat::Prometheus) => targets(&found),
        Some(InventoryFormat::Ansible) => inventory(&found),
        None if args.json => documents(&found),
        None => lines(&found),
    };
    print(&text);
    if found.is_empty() {
        return Err(Failure::unreachable(format!(
            "no clock was found in {} s: is one there that listens for others (papertick run --listen 0.0.0.0:8080), with mdnsEnabled on?",
            args.seconds
        )));
    }
    Ok(())
}

/// Waits for the results of a search, and shows the remaining time on a terminal.
async fn looked<T>(search: impl Future<Output = T>, seconds: u64) -> T {
    let mut search = pin!(search);
    if !io::stderr().is_terminal() {
        return search.await;
    }
    let begun = Instant::now();
    loop {
        let left = seconds.saturating_sub(begun.elapsed().as_secs());
        // Nobody may look any more.
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
    format!("looking for clocks, {left} s left ...")
}

/// A line for each clock, in columns.
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

/// Hosts for Ansible, as a YAML inventory. Ansible evaluates templates in names and values, and the names and versions
/// come from any device on the network: they keep only letters that mean nothing to it.
///
/// Tasks run on the machine of Ansible, because a clock is changed over HTTP alone.
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
        // Writing to a string cannot fail. Without the interpreter Ansible takes any Python that it finds.
        let _ = write!(
            text,
            "    \"{name}\":
      papertick_url: !unsafe \"http://{}\"
      papertick_version: !unsafe \"{}\"
      ansible_connection: local
      ansible_python_interpreter: \"{{{{ ansible_playbook_python }}}}\"
",
            clock.place,
            safe_word(&clock.version),
        );
    }
    text
}

/// Names that Ansible gives a meaning of its own, and beginnings of such names.
const RESERVED: [&str; 4] = ["all", "ungrouped", "papertick", "localhost"];

/// What a reserved name gets in front.
const PREFIX: &str = "clock-";

/// A name that Ansible takes for a host and for nothing else.
fn host_name(name: &str) -> String {
    let word = safe_word(name);
    let lower = word.to_ascii_lowercase();
    let is_reserved = RESERVED.contains(&lower.as_str())
        || lower.starts_with("localhost")
        || !word.starts_with(|first: char| first.is_ascii_alphabetic());
    match is_reserved {
        true => format!("{PREFIX}{word}"),
        false => word,
    }
}

/// A word from the network with only `[A-Za-z0-9._-]`.
fn safe_word(text: &str) -> String {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    text.replace(|letter| !is_safe(letter), "_")
}

/// A label from the network: a safe word that may have spaces and commas.
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
    fn other_programs_read_which_clocks_there_are() {
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
                  ansible_connection: local
                  ansible_python_interpreter: "{{ ansible_playbook_python }}"
        "#]]
        .assert_eq(&inventory(&clocks[1..]));
        assert_eq!(inventory(&[]), "papertick:\n  hosts: {}\n");
        assert_eq!(targets(&[]), "[]\n");
    }

    #[test]
    fn names_from_the_network_mean_nothing_to_other_programs() {
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
