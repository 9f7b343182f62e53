//! The data that the web page draws its settings form from.

use alloc::{string::String, vec::Vec};
use serde_json::{Map, Value, json};

use super::{
    SPECS, Settings, VIRTUAL,
    kinds::Kind,
    spec::{Access, Apply, Condition, Group, Spec},
    table::{MORE, SEARCHED},
};

/// The data behind the form of the web page: groups of fields, each with its control.
pub fn fields() -> Value {
    let groups: Vec<Value> = Group::ALL
        .iter()
        .map(|group| {
            let written = |access| matches!(access, Access::ReadWrite | Access::WriteOnly);
            let rows = SPECS
                .iter()
                .filter(|spec| spec.group == *group && written(spec.access))
                .filter(|spec| !spec.title.is_empty())
                .map(field);
            let virtual_rows = VIRTUAL.iter().filter(|row| row.group == *group).map(|row| {
                let mut field = worded(row.name, row.title, row.help, row.unit);
                field.extend(control(row.kind));
                field.insert("reboot".into(), false.into());
                field.insert("secret".into(), false.into());
                Value::Object(field)
            });
            let fields: Vec<Value> = virtual_rows.chain(rows).collect();
            json!({ "id": group.id(), "heading": group.heading(), "fields": fields })
        })
        .collect();
    Value::Array(groups)
}

fn field(spec: &Spec) -> Value {
    let mut field = worded(spec.name, spec.title, spec.help, spec.unit);
    field.extend(control(spec.kind));
    match spec.access {
        Access::WriteOnly => {}
        Access::ReadWrite | Access::ReadOnly | Access::Internal => {
            let default = Settings::default().get(spec.key);
            field.insert("default".into(), spec.kind.told(&default));
        }
    }
    field.insert("reboot".into(), (spec.apply == Apply::Reboot).into());
    field.insert("secret".into(), (spec.access == Access::WriteOnly).into());
    if !spec.needs.is_empty() {
        field.insert("needs".into(), spec.needs.iter().map(needed).collect());
    }
    if let Some(alias) = spec.alias {
        field.insert("alias".into(), alias.into());
    }
    if MORE.contains(&spec.name) {
        field.insert("more".into(), true.into());
    }
    Value::Object(field)
}

fn needed(condition: &Condition) -> Value {
    let (key, values) = condition.terms();
    json!({ "key": key, "in": values })
}

fn worded(name: &str, title: &str, help: &str, unit: &str) -> Map<String, Value> {
    let mut field = Map::new();
    for (member, text) in [
        ("key", name),
        ("label", title),
        ("unit", unit),
        ("help", help),
    ] {
        if !text.is_empty() {
            field.insert(member.into(), text.into());
        }
    }
    if let Some((_, words)) = SEARCHED.iter().find(|(row, _)| *row == name) {
        field.insert("search".into(), (*words).into());
    }
    field
}

fn control(kind: &dyn Kind) -> Map<String, Value> {
    match kind.control() {
        Value::Object(members) => members,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Map::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn what_stands_behind_more_exists_and_leaves_something_before_it() {
        let form = fields();
        let rows = |group: &Value| group["fields"].as_array().unwrap().clone();
        let groups = form.as_array().unwrap();
        let behind = groups
            .iter()
            .flat_map(rows)
            .filter(|row| row["more"] == true);
        assert_eq!(behind.count(), MORE.len());
        for group in groups {
            assert!(rows(group).iter().any(|row| row["more"] != true), "{group}");
        }
    }

    #[test]
    fn people_can_search_by_other_words_for_settings_that_exist() {
        let form = fields().to_string();
        for (name, words) in SEARCHED {
            assert!(form.contains(&format!("\"key\":\"{name}\"")), "{name}");
            assert!(form.contains(&format!("\"search\":\"{words}\"")), "{words}");
        }
    }
}
