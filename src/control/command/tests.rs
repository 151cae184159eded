//! Requests that are read as commands, and what is said of those that are none.

use lohisoftbot_core::url::UrlRefusal;

use super::*;

fn parse(text: &str) -> Result<Command, ControlError> {
    Command::from_fields(serde_json::from_str(text).unwrap())
}

#[track_caller]
fn check_refused(text: &str, code: ErrorCode, words: &[&str]) {
    let error = parse(text).expect_err(text);
    assert_eq!(error.code, code, "{error}");
    for word in words {
        assert!(error.message.contains(word), "{word:?} is missing in {error}");
    }
}

fn one_of_each() -> Vec<Command> {
    vec![
        Command::Status,
        Command::Seed {
            seeds: ["a.test", "http://b.test/x", "https://c.test/", "d.test:8080/y"]
                .map(|s| Seed::parse(s).unwrap())
                .to_vec(),
        },
        Command::Site { site: Site::of_host("example.com") },
        Command::Sites { filter: SiteFilter::Parked, after: Some(Site::of_host("a.test")), limit: 5 },
        Command::Sites { filter: SiteFilter::All, after: None, limit: DEFAULT_LISTED_SITES },
        Command::Explain { asked: AskedUrl::parse("http://a.test/x?y").unwrap() },
        Command::Explain { asked: AskedUrl::parse("a.test/x").unwrap() },
        Command::Explain { asked: AskedUrl::parse("ftp://a.test/x").unwrap() },
        Command::Explain { asked: AskedUrl::parse("https://me:secret@a.test/x").unwrap() },
        Command::Explain { asked: AskedUrl::parse("mailto:me@a.test").unwrap() },
        Command::Ledger {
            site: Site::of_host("a.test"),
            limit: 7,
            since: Some(Since::Ago(std::time::Duration::from_secs(60))),
            before: Some(9),
        },
        Command::Audit { site: None },
        Command::Watch { site: Some(Site::of_host("a.test")) },
        Command::Export { site: None },
        Command::Exclude {
            domain: Domain::parse("bücher.example").unwrap(), reason: "asked \"by\" mail\n".to_owned()
        },
        Command::Include { domain: Domain::parse("github.io").unwrap() },
        Command::Exclusions,
        Command::Recrawl { site: Site::of_host("example.com") },
        Command::Search(search::sample()),
        Command::Reindex,
        Command::Pause,
        Command::Resume,
        Command::Shutdown,
    ]
}

#[test]
fn every_command_reads_back_as_it_was_written() {
    let mut names = Vec::new();
    for command in one_of_each() {
        assert_eq!(Command::from_fields(command.to_fields()), Ok(command.clone()));
        names.push(command.name());
    }
    names.dedup();
    assert_eq!(names, COMMANDS.map(|(name, _)| name));
}

#[test]
fn unknown_command_is_answered_with_those_there_are() {
    check_refused(r#"{"command":"stats"}"#, ErrorCode::UnknownCommand, &["\"stats\"", "status", "shutdown"]);
    check_refused(r#"{"command":"\u001b[2J"}"#, ErrorCode::UnknownCommand, &["\\u{1b}"]);
    check_refused(r#"{"command":"backup"}"#, ErrorCode::NotInThisVersion, &["backup is not in this version"]);
    check_refused(r#"{"command":5}"#, ErrorCode::BadRequest, &["no text"]);
}

#[test]
fn wrong_fields_are_named() {
    use ErrorCode::BadRequest;
    check_refused(r#"{"command":"status","x":1}"#, BadRequest, &["\"x\"", "none"]);
    check_refused(r#"{"command":"exclude","host":"a.test"}"#, BadRequest, &["\"host\"", "domain, reason"]);
    check_refused(r#"{"command":"exclude"}"#, BadRequest, &["exclude", "domain"]);
    check_refused(r#"{"command":"exclude","domain":"https://a.test/"}"#, BadRequest, &["not a domain name"]);
    check_refused(r#"{"command":"include","domain":5}"#, BadRequest, &["include"]);
    check_refused(r#"{"command":"seed","urls":[]}"#, BadRequest, &["at least one"]);
    check_refused(
        r#"{"command":"seed","urls":["a.test","ftp://b.test/"]}"#,
        BadRequest,
        &["ftp://b.test/", "neither http"],
    );
    check_refused(r#"{"command":"sites","limit":0}"#, BadRequest, &["limit", "10000"]);
    check_refused(r#"{"command":"sites","state":"dead"}"#, BadRequest, &["dead", "parked"]);
    check_refused(r#"{"command":"site","site":"a b"}"#, BadRequest, &["a b"]);
    check_refused(r#"{"command":"ledger","site":"a.test","limit":0}"#, BadRequest, &["limit", "10000"]);
    check_refused(r#"{"command":"ledger","site":"a.test","since":"soon"}"#, BadRequest, &["soon", "7d"]);
    check_refused(r#"{"command":"ledger"}"#, BadRequest, &["site"]);
    check_refused(r#"{"command":"watch","site":"a b"}"#, BadRequest, &["a b"]);
    let long = json!({"command": "exclude", "domain": "a.test", "reason": "x".repeat(MAX_REASON_BYTES + 1)});
    check_refused(&long.to_string(), BadRequest, &["shorter"]);
}

#[test]
fn password_in_what_was_typed_is_never_repeated() {
    let urls = [
        "https://me:sesame@a.test/x",
        "ftp://me:sesame@a.test/",
        "me:sesame@a.test",
        "https:me:sesame@a.test",
        "https://me:ses/ame@a.test/",
        "https://me:sesame@[::1]/",
        "//me:sesame@a.test/",
        "https://me:sesame@a b/",
    ];
    for url in urls {
        for fields in [
            json!({"command": "explain", "url": url}),
            json!({"command": "seed", "urls": ["a.test", url]}),
            json!({"command": "site", "site": url}),
            json!({"command": "sites", "after": url}),
            json!({"command": "ledger", "site": url}),
            json!({"command": "ledger", "site": "a.test", "since": url}),
            json!({"command": "exclude", "domain": url}),
            json!({"command": "include", "domain": url}),
            json!({"command": url}),
            json!({"command": "status", url: 1}),
        ] {
            let said = match parse(&fields.to_string()) {
                Ok(command) => format!("{command:?} {}", Value::Object(command.to_fields())),
                Err(error) => error.to_string(),
            };
            assert!(!said.contains("sesame") && !said.contains("ame@"), "{fields}: {said}");
        }
    }
}

#[test]
fn mail_address_and_long_label_are_told_for_what_they_are() {
    let refusal = |text: &str| match AskedUrl::parse(text) {
        Ok(AskedUrl::Never { refusal, .. }) => refusal,
        other => panic!("{text}: {other:?}"),
    };
    assert_eq!(refusal("mailto:x@y"), UrlRefusal::OtherScheme);
    assert_eq!(refusal("mailto:x@y.test"), UrlRefusal::OtherScheme);
    assert_eq!(refusal("x:y@z.test"), UrlRefusal::Credentials);
    assert_eq!(refusal(&format!("https://{}.test/", "x".repeat(70))), UrlRefusal::LabelTooLong);
    assert_eq!(refusal(&format!("{}.test", "x".repeat(70))), UrlRefusal::LabelTooLong);
}

#[test]
fn site_is_found_by_any_host_or_url_in_it() {
    for text in ["example.com", "www.Example.com.", "https://www.example.com/x", "example.com/x", "//a.example.com/"] {
        let command = parse(&json!({"command": "site", "site": text}).to_string());
        assert_eq!(command, Ok(Command::Site { site: Site::of_host("example.com") }), "{text}");
    }
}
