//! `explain` where the answer depends on the operator and the settings: paused, excluded, not named, of no use, known under http alone.

use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot::practice_web::site_plan::Scheme;
use serde_json::Value;

use crate::harness::Rig;

fn host_and_port(home: &str) -> &str {
    home.split("://").nth(1).unwrap().trim_end_matches('/')
}

#[test]
fn url_is_explained_by_what_the_operator_did_and_by_what_the_settings_leave_out() {
    let base_address = [127, 79, 1, 0].into();
    let rig = Rig::start(PracticePlan { base_address, ..PracticePlan::small(79, 6) }, |config| {
        config.discovery.max_queued_urls = 8;
    });
    let sites = rig.web().sites().sites();
    let over_http = sites.iter().position(|site| site.scheme == Scheme::Http).expect("one of six is plain http");
    let seeds = rig.web().seeds();
    let home = seeds[over_http].clone();
    let (other, other_name) = (&seeds[(over_http + 1) % 6], &sites[(over_http + 1) % 6].name);
    let reason = |url: &str| -> (String, Value) {
        let answer = rig.ask(&["explain", url]);
        (answer["reason"].as_str().unwrap().to_owned(), answer)
    };

    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    rig.ask(&["pause"]);
    rig.ask(&["seed", &home]);
    node.wait_until("the seed waits for the end of the pause", || reason(&home).0 == "node_paused");
    for (url, wanted) in [
        (other.as_str(), "site_not_seeded"),
        ("ftp://a.test/", "scheme_refused"),
        ("http://somebody:secret@a.test/", "credentials_refused"),
        ("ftp://somebody:secret@a.test/", "scheme_refused"),
        ("mailto:somebody@a.test", "scheme_refused"),
        (&format!("http://{}.test/", "a".repeat(70)), "host_refused"),
        ("http://[::1]/", "host_refused"),
        ("http://a.test:25/", "port_refused"),
        (&format!("{home}robots.txt"), "robots_file"),
        (&format!("{home}nowhere"), "not_linked"),
    ] {
        let (code, answer) = reason(url);
        assert_eq!(code, wanted, "{answer:#}");
        assert!(answer["account"].as_str().unwrap().contains(answer["summary"].as_str().unwrap()), "{answer:#}");
        assert!(!answer.to_string().contains("secret"), "{answer:#}");
    }
    for words in
        [&["seed", "https://me:secret@a.test/"], &["explain", "me:secret@a b"], &["exclude", "me:secret@a.test"]]
    {
        let ran = rig.ctl(words);
        assert!(ran.code != Some(0) && !ran.stderr.contains("secret") && !ran.stdout.contains("secret"), "{ran:#?}");
    }

    rig.ask(&["exclude", other_name, "--reason", "its owner asked by mail"]);
    let (code, answer) = reason(other);
    assert_eq!(code, "excluded");
    assert!(answer["summary"].as_str().unwrap().contains("its owner asked by mail"), "{answer:#}");

    rig.ask(&["resume"]);
    node.wait_until("the site is finished", || {
        rig.ask(&["site", &home])["standing"].as_str().unwrap().starts_with("finished")
    });
    assert_eq!(reason(&home).0, "stored");
    // Eight URLs are kept; what more there is found no place.
    assert_eq!(reason(&format!("{home}nowhere")).0, "queue_full");
    let (code, answer) = reason(host_and_port(&home));
    assert_eq!((code.as_str(), answer["url"].as_str().unwrap()), ("stored", home.as_str()));
    assert!(answer["account"].as_str().unwrap().contains("under http alone"), "{answer:#}");
    let shown = rig.ctl(&["explain", &home]).expect_code(0).stdout;
    assert!(shown.contains("are stored: address, title"), "{shown}");
    rig.ask(&["shutdown"]);
    node.expect_end(0);
}
