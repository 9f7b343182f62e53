//! Crash dumps and memory over HTTP.

use std::fs;

use device::settings::Settings;

use crate::support::{Clock, Setup};

/// A dump larger than a read buffer.
fn dump() -> Vec<u8> {
    (0..100_000_u32).map(|at| (at % 251) as u8).collect()
}

async fn with_dump(board: &'static str, settings: Settings) -> Clock {
    let clock = Clock::with(Setup {
        board,
        settings,
        ..Setup::default()
    })
    .await;
    fs::write(clock.folder.path().join("coredump.dmp"), dump()).unwrap();
    clock
}

#[tokio::test]
async fn a_crash_dump_is_available_until_it_is_deleted() {
    let clock = with_dump("rev-b", Settings::default()).await;
    for _ in 0..2 {
        let answer = clock.get("/api/coredump").await;
        assert_eq!((answer.status, &answer.body), (200, &dump()));
        for (name, value) in [
            ("content-type", "application/octet-stream"),
            ("cache-control", "no-store"),
            (
                "content-disposition",
                "attachment; filename=\"coredump.dmp\"",
            ),
            ("content-length", "100000"),
        ] {
            assert_eq!(answer.header(name), Some(value), "{name}");
        }
    }
    for _ in 0..2 {
        let answer = clock.send("DELETE", "/api/coredump", &[], "").await;
        assert_eq!((answer.status, answer.text()), (200, ""));
        let answer = clock.get("/api/coredump").await;
        assert_eq!(answer.status, 404);
        assert_eq!(answer.text(), r#"{"error":"no coredump present"}"#);
    }
    assert_eq!(fs::read_dir(clock.folder.path()).unwrap().count(), 0);
}

#[tokio::test]
async fn a_board_without_crash_dumps_has_none() {
    let clock = with_dump("rev-a", Settings::default()).await;
    assert_eq!(clock.get("/api/coredump").await.status, 404);
    let answer = clock.send("DELETE", "/api/coredump", &[], "").await;
    assert_eq!(answer.status, 200);
}

#[tokio::test]
async fn a_file_that_is_no_dump_is_neither_returned_nor_deleted() {
    let clock = Clock::start().await;
    fs::create_dir_all(clock.folder.path().join("coredump.dmp/in the way")).unwrap();
    assert_eq!(clock.get("/api/coredump").await.status, 404);
    let answer = clock.send("DELETE", "/api/coredump", &[], "").await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.text(), r#"{"error":"erase failed"}"#);
}
