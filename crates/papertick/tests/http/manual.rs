//! The examples in the documentation: each command is sent unchanged and must succeed.

use board::sim::{self, SimOptions};

use crate::examples;
use crate::support::{Clock, Kind, Setup};

const MANUAL: &str = include_str!("../../../../docs/http-api.md");

#[tokio::test]
async fn every_example_works() {
    let board = sim::board(board::spec::find("rev-b").unwrap(), SimOptions::default());
    let clock = Clock::with(Setup {
        device: Kind::Real,
        bench: Some(board.bench),
        ..Setup::default()
    })
    .await;
    let mut commands = examples::commands(MANUAL);
    commands.retain(|(_, command)| command.starts_with("curl "));
    assert!(commands.len() > 50, "{} examples", commands.len());
    for (line, command) in commands {
        let mut request = examples::request(&command);
        let path = request.url.strip_prefix("$CLOCK");
        let path = path.unwrap_or_else(|| panic!("line {line}: {command}"));
        if request.follows {
            continue;
        }
        for header in &mut request.headers {
            let tag = clock
                .get("/api/settings")
                .await
                .header("etag")
                .unwrap()
                .to_string();
            *header = header.replace("$TAG", &tag);
        }
        let method = request.method.as_deref().unwrap();
        let length = format!("Content-Length: {}", request.body.len());
        // The content type that curl sends for every body.
        let form = "Content-Type: application/x-www-form-urlencoded".to_string();
        let headers = [vec![length, form], request.headers.clone()].concat();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let answer = clock.send(method, path, &headers, &request.body).await;
        assert_eq!(
            answer.status,
            200,
            "line {line}: {command}: {}",
            String::from_utf8_lossy(&answer.body)
        );
    }
}

#[test]
fn every_operation_that_is_not_deprecated_is_documented() {
    let api = api::openapi::document();
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
