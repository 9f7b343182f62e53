//! The examples of the manual: each command is sent as it stands and must succeed.

use board::sim::{self, SimOptions};

use crate::support::{Clock, Kind, Setup};

const MANUAL: &str = include_str!("../../../../docs/http-api.md");

/// A request as a command of the manual asks for it.
#[derive(Debug, Default)]
struct Command {
    method: Option<String>,
    path: String,
    headers: Vec<String>,
    body: String,
}

/// The commands of the manual that start with `curl`.
fn commands() -> Vec<Command> {
    MANUAL
        .lines()
        .filter(|line| line.starts_with("curl "))
        .map(command)
        .collect()
}

fn command(line: &str) -> Command {
    let mut words = words(line).into_iter().skip(1);
    let mut command = Command::default();
    while let Some(word) = words.next() {
        match word.as_str() {
            "-X" => command.method = words.next(),
            "-d" => command.body = words.next().unwrap(),
            "-H" => command.headers.push(words.next().unwrap()),
            "-o" | "-u" => drop(words.next()),
            "-N" => {}
            url => {
                command.path = url
                    .strip_prefix("$CLOCK")
                    .unwrap_or_else(|| panic!("{line}"))
                    .into()
            }
        }
    }
    command
}

/// Splits a line at spaces that stand outside of quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quote = None;
    for letter in line.chars() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), letter) if open == letter => quote = None,
            (None, ' ') => words.push(String::new()),
            (_, letter) => words.last_mut().unwrap().push(letter),
        }
    }
    words
}

#[tokio::test]
async fn every_example_works() {
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    let clock = Clock::with(Setup {
        device: Kind::Real,
        bench: Some(board.bench),
        ..Setup::default()
    })
    .await;
    let commands = commands();
    assert!(commands.len() > 50, "{} examples", commands.len());
    for mut command in commands {
        if command.path == "/events" {
            continue;
        }
        for header in &mut command.headers {
            let tag = clock
                .get("/api/settings")
                .await
                .header("etag")
                .unwrap()
                .to_string();
            *header = header.replace("$TAG", &tag);
        }
        let method = command.method.as_deref().unwrap_or("GET");
        let length = format!("Content-Length: {}", command.body.len());
        // What curl says of every body, right or wrong.
        let form = "Content-Type: application/x-www-form-urlencoded".to_string();
        let headers = [vec![length, form], command.headers.clone()].concat();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = clock
            .send(method, &command.path, &headers, &command.body)
            .await;
        assert_eq!(
            answer.status,
            200,
            "{command:?}: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}

#[test]
fn every_operation_of_today_is_in_the_manual() {
    let api = interface::openapi::document();
    for (path, item) in api["paths"].as_object().unwrap() {
        let old = item
            .as_object()
            .unwrap()
            .values()
            .all(|operation| operation["deprecated"] == true);
        let fixed = path.split('{').next().unwrap();
        let known =
            MANUAL.contains(fixed) || ["/", "/api/scan", "/api/wifi"].contains(&path.as_str());
        assert!(old || known || path.contains("heap_trace"), "{path}");
    }
}
