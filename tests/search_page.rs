//! The search page as the node opens it: over a socket, as a browser asks.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

use lohisoftbot::practice_web::faults::Faults;
use lohisoftbot::practice_web::plan::PracticePlan;
use lohisoftbot_core::config::ListenAddress;
use serde_json::Value;

use crate::harness::{Rig, RunningNode};

const MAX_ANSWER_TIME: Duration = Duration::from_secs(30);

fn rig(number: u8) -> Rig {
    let base_address = [127, 91, number, 0].into();
    let plan = PracticePlan { base_address, faults: Faults::none(), ..PracticePlan::small(u64::from(number), 4) };
    Rig::start(plan, |config| {
        config.search.commit_interval = Duration::from_millis(100);
        config.web.listen = ListenAddress::At(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    })
}

/// Where the newest node says that its search page is.
fn address_of_page(node: &RunningNode) -> Option<SocketAddr> {
    let said = node.said();
    let line = said.lines().rfind(|line| line.contains("the search page is open"))?;
    let (_, rest) = line.split_once("http://")?;
    rest.split(['/', '"', ' ']).next()?.parse().ok()
}

/// Status and body of the answer.
fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(MAX_ANSWER_TIME)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept-Language: en\r\nConnection: close\r\n\r\n")
        .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let text = String::from_utf8(answer).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[test]
fn page_of_a_running_node_finds_what_it_stored_until_its_site_is_excluded() {
    let rig = rig(1);
    rig.node_with_seeds(&["--until-idle", "--max-wait", "3s"]).expect_end(0);
    let mut node = rig.node(&[]);
    rig.wait_for_start(&mut node);
    node.wait_until("the search page is open", || {
        let status = rig.ask(&["status"]);
        status["search"]["state"] == "serving" && status["search"]["num_sites_to_index"] == 0
    });
    let address = address_of_page(&node).expect("the log names the page");

    let (status, home) = get(address, "/");
    assert!(status == 200 && home.contains("<form"), "{status}: {home}");
    let export = rig.ctl(&["export"]).expect_code(0).stdout;
    let records: Vec<Value> = export.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let record = records.iter().find(|record| record["title"].as_str().is_some_and(|title| title.len() > 8)).unwrap();
    let (url, title) = (record["url"].as_str().unwrap(), record["title"].as_str().unwrap());
    let query: String = url::form_urlencoded::byte_serialize(format!("\"{title}\"").as_bytes()).collect();

    let (status, page) = get(address, &format!("/search?q={query}"));
    assert!(status == 200 && page.contains(&format!("href=\"{}\"", url.replace('&', "&amp;"))), "{status}: {page}");
    let (status, answer) = get(address, &format!("/api/v1/search?q={query}"));
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let is_found = |answer: &Value| answer["results"].as_array().unwrap().iter().any(|result| result["url"] == url);
    assert!(status == 200 && is_found(&answer), "{status}: {answer}");

    let host = url.split('/').nth(2).unwrap().split(':').next().unwrap();
    let site = rig.ask(&["site", host])["site"].as_str().unwrap_or(host).to_owned();
    rig.ask(&["exclude", &site]);
    let (_, answer) = get(address, &format!("/api/v1/search?q={query}"));
    assert!(!is_found(&serde_json::from_str(&answer).unwrap()), "{answer}");

    rig.ask(&["shutdown"]);
    node.expect_end(0);
    assert!(TcpStream::connect(address).is_err(), "nobody listens any more");
}

#[test]
fn taken_address_of_the_page_is_refused_before_anything_is_made() {
    let mut rig = rig(2);
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = taken.local_addr().unwrap();
    rig.change_config(|config| config.web.listen = ListenAddress::At(address));
    let mut node = rig.node(&["--until-idle"]);
    node.expect_end(2);
    assert!(node.said().contains("web.listen") && node.said().contains(&address.to_string()), "{}", node.said());
    assert!(!rig.data_dir().exists(), "nothing was made");
}
