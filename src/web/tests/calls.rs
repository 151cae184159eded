//! The API, held against its OpenAPI document.

use serde_json::{Value, json};

use super::fake::{FakeIndex, found, nothing};
use super::rig::{Rig, settings};

fn rig() -> Rig {
    Rig::start(settings(), FakeIndex::answering(found))
}

/// Holds a value against a schema of the document: its kind, and exactly its fields.
#[track_caller]
fn check(document: &Value, schema: &Value, value: &Value, place: &str) {
    if let Some(reference) = schema["$ref"].as_str() {
        return check(document, document.pointer(&reference[1..]).expect(reference), value, place);
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let kinds = &schema["type"];
    assert!(
        kinds == kind || kinds.as_array().is_some_and(|all| all.contains(&json!(kind))),
        "{place} is {kind}: {schema}"
    );
    if let Some(values) = schema["enum"].as_array() {
        assert!(values.contains(value), "{place} is {value}: {schema}");
    }
    for (at, item) in value.as_array().into_iter().flatten().enumerate() {
        check(document, &schema["items"], item, &format!("{place}[{at}]"));
    }
    let Some(fields) = value.as_object() else { return };
    let properties = schema["properties"].as_object().expect(place);
    let sorted = |names: &mut Vec<String>| names.sort();
    let (mut written, mut described): (Vec<_>, Vec<_>) =
        (fields.keys().cloned().collect(), properties.keys().cloned().collect());
    let mut required: Vec<String> =
        schema["required"].as_array().unwrap().iter().map(|name| name.as_str().unwrap().to_owned()).collect();
    [&mut written, &mut described, &mut required].into_iter().for_each(sorted);
    assert_eq!(written, described, "{place}");
    assert_eq!(written, required, "{place}");
    for (name, field) in fields {
        check(document, &properties[name], field, &format!("{place}.{name}"));
    }
}

#[test]
fn answers_have_exactly_the_fields_of_the_document() {
    let rig = rig();
    let document = rig.get("/api/v1/openapi.json").is(200).json();
    let schema = |name: &str| document["components"]["schemas"][name].clone();
    for target in ["/api/v1/search?q=harvest", "/api/v1/search?q=harvest&site=farm.test&offset=5&limit=2"] {
        let found = rig.get(target).is(200).json();
        assert_eq!(found["results"].as_array().unwrap().len(), 2);
        check(&document, &schema("Found"), &found, "found");
    }
    check(&document, &schema("Suggested"), &rig.get("/api/v1/suggest?q=ha").is(200).json(), "suggested");
    for target in ["/api/v1/search", "/api/v1/suggest?x=1", "/api/v1/nowhere"] {
        check(&document, &schema("Error"), &rig.get(target).json(), "error");
    }
    let empty = Rig::start(settings(), FakeIndex::answering(nothing));
    check(&document, &schema("Found"), &empty.get("/api/v1/search?q=x").json(), "found");
}

#[test]
fn bounds_of_the_document_are_the_bounds_of_the_calls() {
    let rig = rig();
    let document = rig.get("/api/v1/openapi.json").json();
    for (path, calls) in document["paths"].as_object().unwrap() {
        for parameter in calls["get"]["parameters"].as_array().unwrap() {
            let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
            let call = |value: String| {
                let rest = if name == "q" { "" } else { "q=a&" };
                rig.get(&format!("{path}?{rest}{name}={value}"))
            };
            let (low, high) = match schema["type"].as_str().unwrap() {
                "integer" => (schema["minimum"].as_i64().unwrap(), schema["maximum"].as_i64().unwrap()),
                _ => (schema["minLength"].as_i64().unwrap(), schema["maxLength"].as_i64().unwrap()),
            };
            let text = |length: i64| "a.".repeat(length as usize).chars().take(length as usize).collect::<String>();
            let value = |number: i64| if schema["type"] == "integer" { number.to_string() } else { text(number) };
            let is_name = name == "site";
            call(value(low)).is(200);
            // A name that ends in a dot is none.
            call(value(high - i64::from(is_name && high % 2 == 0))).is(200);
            let error = call(value(high + 1)).is(400).json();
            let message = error["error"]["message"].as_str().unwrap();
            assert!(message.contains(name) && message.contains(&high.to_string()), "{message}");
            call(value(low - 1)).is(400);
        }
    }
}

#[test]
fn answer_is_what_the_index_said() {
    let index = FakeIndex::answering(found);
    let rig = Rig::start(settings(), index.clone());
    let answer = rig.get("/api/v1/search?q=%C8%99coal%C4%83&site=Farm.test&offset=40&limit=20");
    assert_eq!(answer.header("content-type"), Some("application/json"));
    assert_eq!(answer.header("cache-control"), Some("private, no-cache"));
    assert_eq!(index.asked.lock().unwrap()[0], ("școală".to_owned(), Some("farm.test".to_owned()), 40, 20));
    let answer = answer.json();
    assert_eq!(
        (&answer["query"], &answer["num_results"], &answer["has_more"]),
        (&json!("școală"), &json!(1234), &json!(true))
    );
    let first = &answer["results"][0];
    assert_eq!(first["url"], "https://farm.test/harvest?year=1&month=2");
    assert_eq!(first["title"][1], json!({ "text": "harvest", "is_match": true }));
    assert_eq!(first["last_seen"], "2026-11-30T17:05:09.123Z");
    assert_eq!(first["why"]["fields"], json!(["title", "description", "headings", "anchors", "url_words", "site"]));
    let suggested = rig.get("/api/v1/suggest?q=ha&limit=3").json();
    assert_eq!(suggested, json!({ "query": "ha", "suggestions": ["ha one", "ha two"] }));
    assert_eq!(index.asked.lock().unwrap()[1].3, 3);
}

#[test]
fn faults_of_programs_are_answered_as_json() {
    let rig = rig();
    let code = |method: &str, target: &str, status: u16| {
        let answer = rig.ask(method, target, &[]);
        answer.is(status).json()["error"]["code"].as_str().unwrap().to_owned()
    };
    assert_eq!(code("GET", "/api/v1/search?q=", 400), "missing_query");
    assert_eq!(code("GET", "/api/v1/search?q=a&limit=21", 400), "out_of_bounds");
    assert_eq!(code("GET", "/api/v2/search?q=a", 404), "not_found");
    assert_eq!(code("POST", "/api/v1/search?q=a", 405), "method_not_allowed");
}

#[test]
fn browser_finds_the_search_by_its_description() {
    let rig = rig();
    let description = rig.ask("GET", "/opensearch.xml", &["host: localhost:1234"]);
    description.is(200).has("<Language>en</Language>");
    description.has("template=\"http://localhost:1234/search?q={searchTerms}&amp;page={startPage?}\"");
    assert_eq!(description.header("content-type"), Some("application/opensearchdescription+xml; charset=utf-8"));
    rig.get("/opensearch.xml?lang=ro").has("<Language>ro</Language>").has("&amp;lang=ro\"");
    rig.get("/").has("type=\"application/opensearchdescription+xml\"");
    rig.get("/robots.txt").is(200).has("Disallow: /search\n");
}

#[test]
fn page_of_the_bot_is_where_its_user_agent_says() {
    let rig = rig();
    for path in ["/bot", "/bot/ro"] {
        let answer = rig.get(path);
        assert_eq!(answer.status, 302, "{path}");
        assert!(
            answer.head.to_ascii_lowercase().contains("location: https://bot.example/about\r\n"),
            "{}",
            answer.head
        );
    }
}
