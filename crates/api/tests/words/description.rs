//! The OpenAPI document is up to date, complete, and matches the table of operations.

use std::{collections::BTreeSet, fs};

use api::{openapi, operation::Guard, operations::all};
use serde_json::Value;

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

/// Client generators stop at schemas that are `true` or `false`, or read a constant without a type wrongly.
#[test]
fn client_generators_can_read_all_schemas() {
    let mut values = vec![(String::new(), openapi::document())];
    while let Some((path, value)) = values.pop() {
        if path.ends_with("/items") {
            assert!(value.is_object(), "{path}");
        }
        if value.get("const").is_some() {
            assert!(value["type"].is_string(), "{path}");
        }
        match value {
            Value::Object(members) => {
                let is_schema_list = path.ends_with("/properties") || path.ends_with("/schemas");
                values.extend(members.into_iter().map(|(name, member)| {
                    assert!(!(is_schema_list && member.is_boolean()), "{path}/{name}");
                    (format!("{path}/{name}"), member)
                }));
            }
            Value::Array(members) => {
                let is_schema_list = ["/anyOf", "/oneOf", "/allOf"]
                    .iter()
                    .any(|end| path.ends_with(end));
                values.extend(members.into_iter().map(|member| {
                    assert!(!(is_schema_list && member.is_boolean()), "{path}");
                    (format!("{path}/-"), member)
                }));
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
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
