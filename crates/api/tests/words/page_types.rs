//! Makes the TypeScript types of the page from the schemas of its documents.

use std::{fmt::Write, fs};

use api::{
    documents::{
        ErrorBody, bench::BenchState, diagnostics::Log, displays::DisplayList,
        history::ValueHistory, page::Manifest, settings::RestartRequired,
        settings_file::ImportReport, state::PaintedPanels,
    },
    schema,
    status::{Status, SystemStatus},
};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value};

#[test]
fn the_types_of_the_page_are_fresh() {
    let mut generator = schema::settings("/$defs", true).into_generator();
    // Documents that the page reads.
    let names = [
        named::<Status>(&mut generator),
        named::<SystemStatus>(&mut generator),
        named::<Log>(&mut generator),
        named::<RestartRequired>(&mut generator),
        named::<ImportReport>(&mut generator),
        named::<ErrorBody>(&mut generator),
        named::<Manifest>(&mut generator),
        named::<PaintedPanels>(&mut generator),
        named::<BenchState>(&mut generator),
        named::<DisplayList>(&mut generator),
        named::<ValueHistory>(&mut generator),
    ];
    let fresh = module(names.into(), &generator.take_definitions(false));
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../webui/src/lib/documents.gen.ts"
    );
    if std::env::var_os("UPDATE_EXPECT").is_some_and(|value| value == "1") {
        fs::write(path, &fresh).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    assert!(
        stored == fresh,
        "{path} is stale: run the tests with UPDATE_EXPECT=1 and commit it"
    );
}

/// Generates the schema of a document; returns its name.
fn named<T: JsonSchema>(generator: &mut SchemaGenerator) -> String {
    generator.subschema_for::<T>();
    T::schema_name().into()
}

/// A TypeScript module with a type for each document and for each part of one.
fn module(mut names: Vec<String>, schemas: &Map<String, Value>) -> String {
    let mut text = String::from(
        "/** The documents of the clock. Generated from the types in `crates/api`. */\n",
    );
    let mut at = 0;
    while let Some(name) = names.get(at).cloned() {
        text.push_str(&declaration(&name, &schemas[&name], &mut names));
        at += 1;
    }
    text
}

fn declaration(name: &str, schema: &Value, names: &mut Vec<String>) -> String {
    let mut text = String::from("\n");
    comment(&mut text, "", schema);
    if schema.get("properties").is_none() {
        let _ = writeln!(text, "export type {name} = {};", type_of(schema, names));
        return text;
    }
    let _ = writeln!(text, "export interface {name} {{");
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (member, schema) in schema["properties"].as_object().unwrap() {
        comment(&mut text, "  ", schema);
        let mark = if required.contains(&member.as_str().into()) { "" } else { "?" };
        let _ = writeln!(text, "  {member}{mark}: {};", type_of(schema, names));
    }
    if let Some(others @ Value::Object(_)) = schema.get("additionalProperties") {
        let _ = writeln!(
            text,
            "  [name: string]: {} | undefined;",
            type_of(others, names)
        );
    }
    text.push_str("}\n");
    text
}

fn comment(text: &mut String, indent: &str, schema: &Value) {
    if let Some(description) = schema["description"].as_str() {
        let _ = writeln!(text, "{indent}/** {} */", description.replace('\n', " "));
    }
}

/// The TypeScript type of a schema. Adds the types that it refers to to `names`.
fn type_of(schema: &Value, names: &mut Vec<String>) -> String {
    if let Some(path) = schema["$ref"].as_str() {
        let name = path.rsplit('/').next().unwrap().to_string();
        if !names.contains(&name) {
            names.push(name.clone());
        }
        return name;
    }
    let union = |types: Vec<String>| types.join(" | ");
    let literal = |value: &Value| value.to_string().replace('"', "'");
    if let Some(only) = schema.get("const") {
        return literal(only);
    }
    if let Some(words) = schema["enum"].as_array() {
        return union(words.iter().map(literal).collect());
    }
    if let Some(any) = schema["anyOf"].as_array() {
        return union(any.iter().map(|schema| type_of(schema, names)).collect());
    }
    let of = |name: &str, names: &mut Vec<String>| match name {
        "integer" | "number" => "number".into(),
        "array" => match type_of(&schema["items"], names) {
            items if items.contains(' ') => format!("({items})[]"),
            items => format!("{items}[]"),
        },
        "object" => object(schema, names),
        name => name.into(),
    };
    match &schema["type"] {
        Value::String(name) => of(name, names),
        Value::Array(types) => {
            let types = types.iter().map(|name| of(name.as_str().unwrap(), names));
            union(types.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => "unknown".into(),
    }
}

fn object(schema: &Value, names: &mut Vec<String>) -> String {
    if let Some(members) = schema["properties"].as_object() {
        let member =
            |(name, schema): (&String, &Value)| format!("{name}: {}", type_of(schema, names));
        let members: Vec<String> = members.iter().map(member).collect();
        return format!("{{ {} }}", members.join("; "));
    }
    match schema.get("additionalProperties") {
        Some(values @ Value::Object(_)) => format!("Record<string, {}>", type_of(values, names)),
        _ => "Record<string, unknown>".into(),
    }
}
