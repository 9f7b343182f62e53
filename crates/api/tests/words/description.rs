//! The OpenAPI document is up to date, complete, and matches the table of operations.

use std::{collections::BTreeSet, fs};

use api::{
    openapi,
    operation::{Guard, ProgramOperation},
    operations::{all, path_of},
};

#[test]
fn the_description_in_the_docs_is_fresh() {
    let fresh = format!("{:#}\n", openapi::document());
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        fs::write(path, &fresh).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == fresh,
        "docs/openapi.json is stale: run the tests with UPDATE_EXPECT=1 and commit it"
    );
}

#[test]
fn the_description_is_complete() {
    let api = openapi::document();
    let schemas = api["components"]["schemas"].as_object().unwrap();
    let text = api.to_string();
    let named = text
        .split("#/components/schemas/")
        .skip(1)
        .map(|rest| rest.split('"').next().unwrap());
    let named: BTreeSet<&str> = named.collect();
    let listed: BTreeSet<&str> = schemas.keys().map(String::as_str).collect();
    assert_eq!(named, listed);
    let operations = api["paths"]
        .as_object()
        .unwrap()
        .values()
        .flat_map(|item| item.as_object().unwrap().values());
    let ids: Vec<&str> = operations
        .map(|operation| operation["operationId"].as_str().unwrap())
        .collect();
    let unique: BTreeSet<&str> = ids.iter().copied().collect();
    assert_eq!(ids.len(), unique.len(), "operation ids are unique");
    let endpoints = all().flat_map(|operation| operation.endpoints);
    let endpoints = endpoints.filter(|endpoint| !endpoint.upgrades).count();
    assert_eq!(ids.len(), endpoints, "each endpoint has an id");
}

#[test]
fn operations_exist_only_in_the_states_they_are_for() {
    for operation in all() {
        let (at_work, as_access_point) = (operation.is_served(false), operation.is_served(true));
        let expected = match (operation.also_in_portal, operation.guard) {
            (true, _) => (true, true),
            (false, Guard::Portal) => (false, true),
            (false, Guard::Open | Guard::Control | Guard::Monitoring | Guard::Upload) => {
                (true, false)
            }
        };
        assert_eq!(
            (at_work, as_access_point),
            expected,
            "{}",
            operation.summary
        );
    }
}

#[test]
fn paths_are_found_in_the_table() {
    assert_eq!(path_of(ProgramOperation::Health), "/healthz");
    assert_eq!(path_of(ProgramOperation::Join), "/save");
}
