use std::rc::Rc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;
use crate::io::exchange::Exchange;

fn filter() -> (HeadFilter<DuplexStream>, DuplexStream, Rc<Exchange>) {
    let (near, far) = duplex(1 << 20);
    let exchange = Rc::new(Exchange::default());
    (HeadFilter::new(near, exchange.clone(), FetchLimits::default()), far, exchange)
}

#[tokio::test(start_paused = true)]
async fn awc_sees_a_status_line_and_the_bare_body() {
    let (mut filter, mut far, exchange) = filter();
    far.write_all(b"HTTP/1.1 200 OK\r\nA: b\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nbo\r\n2\r\ndy\r\n0\r\n\r\n")
        .await
        .unwrap();
    let mut seen = String::new();
    filter.read_to_string(&mut seen).await.unwrap();
    assert_eq!(seen, "HTTP/1.0 200 -\r\n\r\nbody");
    assert_eq!(exchange.body_end(), Some(BodyEnd::Whole));
    assert_eq!(exchange.take_head().unwrap().head.first("a").as_deref(), Some("b"));
}

#[tokio::test(start_paused = true)]
async fn a_head_that_drips_in_is_waited_for_twenty_seconds_in_all() {
    let (mut filter, mut far, exchange) = filter();
    let started = Instant::now();
    let dripping = async {
        for byte in b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n" {
            tokio::time::sleep(Duration::from_secs(1)).await;
            far.write_all(&[*byte]).await.unwrap();
        }
    };
    let mut seen = Vec::new();
    let (result, ()) = tokio::join!(
        async {
            let result = filter.read_to_end(&mut seen).await;
            (result, started.elapsed())
        },
        dripping
    );
    assert!(result.0.is_err());
    assert_eq!(result.1.as_secs(), 20);
    assert_eq!(exchange.failure(), Some(FetchFailure::FirstByteTimeout));
}

#[tokio::test(start_paused = true)]
async fn each_byte_of_a_body_starts_the_idle_time_anew() {
    let (mut filter, mut far, exchange) = filter();
    let started = Instant::now();
    let dripping = async {
        far.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n").await.unwrap();
        for byte in b"body" {
            tokio::time::sleep(Duration::from_secs(14)).await;
            far.write_all(&[*byte]).await.unwrap();
        }
    };
    let mut seen = Vec::new();
    let (read, ()) = tokio::join!(filter.read_to_end(&mut seen), dripping);
    read.unwrap();
    assert!(seen.ends_with(b"\r\n\r\nbody"));
    assert_eq!(started.elapsed().as_secs(), 4 * 14 + 15);
    assert_eq!((exchange.body_end(), exchange.failure()), (Some(BodyEnd::Stalled), None));
}

#[tokio::test(start_paused = true)]
async fn the_request_is_sent_tidied_when_awc_flushes_it() {
    let (mut filter, mut far, _) = filter();
    for part in [&b"GET / HTTP/1.1\r\nDate: x\r\n"[..], b"Host: a.example\r\n\r\n"] {
        filter.write_all(part).await.unwrap();
    }
    filter.flush().await.unwrap();
    let mut sent = vec![0; 100];
    let length = far.read(&mut sent).await.unwrap();
    assert_eq!(&sent[..length], b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n");
    assert!(filter.write_all(b"more").await.is_err(), "a GET has no body");
}
