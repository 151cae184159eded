//! What is logged, and how the web starts and ends.

use super::*;

#[tokio::test]
async fn log_tells_each_request_and_its_file_tells_the_same() {
    let directory = tempfile::tempdir().expect("a directory can be made");
    let file = directory.path().join("requests.jsonl");
    let web = start(PracticePlan { log_file: Some(file.clone()), ..PracticePlan::small(6, 2) }).await;
    let site = &web.sites().sites()[0];
    ask_main(&web, site, "/robots.txt").await;
    ask_main(&web, site, "/").await;
    web.log().wait_until(|entries| entries.len() == 2 && entries.iter().all(|entry| entry.end.is_some())).await;
    let entries = web.log().entries();
    let told: Vec<(u64, &str, &str, Option<u16>)> =
        entries.iter().map(|entry| (entry.seq, entry.host.as_str(), entry.path.as_str(), entry.status)).collect();
    let host = site.main_host.as_str();
    assert_eq!(told, [(0, host, "/robots.txt", Some(200)), (1, host, "/", Some(200))]);
    assert!(entries.iter().all(|entry| entry.field("user-agent") == Some(AGENT) && entry.address == site.address));
    let end_us = |entry: &LogEntry| entry.end.map(|end| end.end_us);
    assert!(end_us(&entries[0]) >= Some(entries[0].start_us) && end_us(&entries[0]) <= Some(entries[1].start_us));
    assert_eq!(RequestLog::read_file(&file).expect("it is readable"), entries);
    let report = web.audit(&rules());
    assert_eq!(report.to_string().lines().last(), Some("0 violations on 1 site, 2 requests"), "{report}");
    web.shutdown().await;
}

#[tokio::test]
async fn stalled_request_ends_in_the_log_when_its_asker_leaves() {
    let faults = Faults::none().with_page(PageFault::Stall);
    let web = start(PracticePlan { faults, ..PracticePlan::small(6, 2) }).await;
    let (site, path) = page_of(&web, PageFault::Stall);
    let mut stream = connect(&web, site.scheme, &site.main_host).await.expect("the handshake succeeds");
    send(&mut *stream, &site.main_host, path).await;
    web.log().wait_until(|entries| entries.len() == 1).await;
    assert_eq!(web.log().entries()[0].end, None);
    drop(stream);
    web.log().wait_until(|entries| entries[0].end.is_some()).await;
    assert_eq!(web.log().entries()[0].end.map(|end| end.ended_by), Some(EndedBy::Client));
    web.shutdown().await;
}

#[tokio::test]
async fn shut_down_web_listens_no_more_even_with_an_open_request() {
    let faults = Faults::none().with_page(PageFault::Stall);
    let web = start(PracticePlan { faults, ..PracticePlan::small(6, 2) }).await;
    let (site, path) = page_of(&web, PageFault::Stall);
    let (scheme, address, host) = (site.scheme, site.address, site.main_host.clone());
    let mut stream = connect(&web, scheme, &host).await.expect("the handshake succeeds");
    send(&mut *stream, &host, path).await;
    web.log().wait_until(|entries| entries.len() == 1).await;
    let ports = web.ports();
    web.shutdown().await;
    let refused = TcpStream::connect((address, ports.http)).await.map(drop).expect_err("nobody listens");
    assert_eq!(refused.kind(), io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn addresses_outside_the_loopback_are_refused() {
    let plan = PracticePlan { base_address: Ipv4Addr::new(10, 0, 0, 0), ..PracticePlan::small(1, 1) };
    let refused = PracticeWeb::start(PracticeSites::generate(plan)).await;
    assert!(matches!(refused, Err(StartError::NotLoopback(_))));
}

#[tokio::test]
async fn seeds_and_resolve_table_name_every_site() {
    let web = start(PracticePlan::demo(1)).await;
    let table = web.resolve_table();
    assert_eq!((web.seeds().len(), table.len()), (64, 128));
    for (seed, site) in web.seeds().iter().zip(web.sites().sites()) {
        assert!(seed.contains(&site.name) && table.contains(&(site.name.clone(), site.address)), "{seed}");
        assert!(table.contains(&(format!("*.{}", site.name), site.address)));
    }
    assert!(web.seeds().iter().any(|seed| seed.starts_with("https://")));
    web.shutdown().await;
}
