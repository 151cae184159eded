use proptest::prelude::*;

use super::*;

const CAPS: HeadCaps = HeadCaps { bytes: 64 * 1024, lines: 256 };

/// Reads a whole head and compares status, fields as `name: value` joined by `|`, and framing.
#[track_caller]
fn check(bytes: impl AsRef<[u8]>, status: u16, fields: &str, framing: Framing) {
    let bytes = bytes.as_ref();
    let shown = String::from_utf8_lossy(bytes);
    let read = read_head(bytes, CAPS).unwrap_or_else(|e| panic!("{shown:?}: {e:?}"));
    let read = read.unwrap_or_else(|| panic!("{shown:?}: no end found"));
    let got: Vec<String> = read
        .head
        .fields()
        .map(|(n, v)| format!("{n}: {}", v.iter().map(|b| char::from(*b)).collect::<String>()))
        .collect();
    assert_eq!((read.head.status, got.join("|").as_str(), read.framing), (status, fields, framing), "{shown:?}");
}

#[track_caller]
fn check_fault(bytes: impl AsRef<[u8]>, fault: HeadFault) {
    let bytes = bytes.as_ref();
    assert_eq!(read_head(bytes, CAPS), Err(fault), "{:?}", String::from_utf8_lossy(&bytes[..bytes.len().min(200)]));
}

#[test]
fn status_lines_of_every_odd_shape_are_read() {
    for (line, status) in [
        ("HTTP/1.1 200 OK", 200),
        ("HTTP/1.1 200", 200),
        ("HTTP/1.1 200 ", 200),
        ("HTTP/1.0 404 Not Found", 404),
        ("http/1.1 301 moved", 301),
        ("HTTP/1.1  200   OK", 200),
        ("HTTP/1.1\t200\tOK", 200),
        ("HTTP/2 200", 200),
        ("HTTP/2.0 503 x", 503),
        ("HTTP/1.1 999 Request denied", 999),
        ("HTTP/1.1 200 \u{fc}ber", 200),
    ] {
        check(format!("{line}\r\n\r\n"), status, "", Framing::UntilClose);
        check(format!("{line}\n\n"), status, "", Framing::UntilClose);
    }
}

#[test]
fn bytes_that_are_no_answer_are_told_at_the_first_byte_that_shows_it() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.2\r\n"[..],
        b"220 mail ESMTP\r\n",
        b"ICY 200 OK\r\n",
        b"<html><title>x</title>",
        b"HTTPS/1.1 200 OK\r\n\r\n",
        b"HTTP/x 200 OK\r\n\r\n",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 20 OK\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 099 OK\r\n\r\n",
        b"HTTP/1.1 +20 OK\r\n\r\n",
        b"\r\n\r\n\r\n\r\n\r\n",
        b"\x15\x03\x01\x00\x02\x02\x46",
        b"X",
    ] {
        check_fault(bytes, HeadFault::Malformed);
    }
}

#[test]
fn heads_without_their_end_ask_for_more() {
    for bytes in [
        "",
        "\r",
        "\r\n",
        "H",
        "HTTP",
        "http/1.1 2",
        "HTTP/1.1 200 OK\r\n",
        "HTTP/1.1 200 OK\r\nA: b\r\n",
        "HTTP/1.1 200 OK\r\n\r",
    ] {
        assert_eq!(read_head(bytes.as_bytes(), CAPS), Ok(None), "{bytes:?}");
    }
}

#[test]
fn fields_are_cleaned_and_broken_lines_dropped() {
    let until_close = Framing::UntilClose;
    for (fields, expected) in [
        ("Content-Type: text/html\r\n", "content-type: text/html"),
        ("X-A:1\r\nX-B:   2  \r\nX-C:\t3\t\r\n", "x-a: 1|x-b: 2|x-c: 3"),
        ("X-A : 1\r\n", "x-a: 1"),
        ("X-A:\r\n", "x-a: "),
        ("X-A: one\r\n two\r\n\tthree\r\n", "x-a: one two three"),
        ("X-A:\r\n two\r\n", "x-a: two"),
        (" folded first\r\nX-A: 1\r\n", "x-a: 1"),
        ("no field at all\r\nX-A: 1\r\n", "x-a: 1"),
        ("no field at all\r\n fold of it\r\nX-A: 1\r\n", "x-a: 1"),
        (": no name\r\nX-A: 1\r\n", "x-a: 1"),
        ("bad name: 1\r\nX-A: 1\r\n", "x-a: 1"),
        ("b\u{e9}d: 1\r\nX-A: 1\r\n", "x-a: 1"),
        ("X-A: a\0b\rc\r\n", "x-a: a b c"),
        ("X-A: http://x:80/\r\n", "x-a: http://x:80/"),
        ("Set-Cookie: a\r\nset-cookie: b\r\n", "set-cookie: a|set-cookie: b"),
        ("HTTP/1.1 200 OK\r\nX-A: 1\r\n", "x-a: 1"),
    ] {
        check(format!("HTTP/1.1 200 OK\r\n{fields}\r\n"), 200, expected, until_close);
        check(format!("\r\nHTTP/1.1 200 OK\n{}\n", fields.replace("\r\n", "\n")), 200, expected, until_close);
    }
    check(b"HTTP/1.1 200 \xdcber\r\nX-A: caf\xe9\r\n\r\n", 200, "x-a: caf\u{e9}", until_close);
}

#[test]
fn the_end_of_the_body_is_told_as_rfc_9112_section_6_3_says() {
    for (status, fields, kept, framing) in [
        (200, "", "", Framing::UntilClose),
        (200, "Content-Length: 5\r\n", "content-length: 5", Framing::Length(5)),
        (200, "Content-Length: 5\r\nContent-Length: 5\r\n", "content-length: 5", Framing::Length(5)),
        (200, "Content-Length: 5, 5\r\n", "content-length: 5", Framing::Length(5)),
        (200, "Content-Length: 005\r\n", "content-length: 5", Framing::Length(5)),
        (200, "Content-Length:\r\n", "", Framing::UntilClose),
        (200, "Content-Length: 0\r\n", "content-length: 0", Framing::Length(0)),
        (200, "Transfer-Encoding: chunked\r\n", "", Framing::Chunked),
        (200, "Transfer-Encoding: Chunked\r\nContent-Length: 5\r\n", "", Framing::Chunked),
        (200, "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", "", Framing::Chunked),
        (200, "Transfer-Encoding: gzip, chunked\r\n", "", Framing::Chunked),
        (200, "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n", "", Framing::UntilClose),
        (200, "Transfer-Encoding: identity\r\n", "", Framing::UntilClose),
        (204, "Content-Length: 5\r\n", "", Framing::Empty),
        (304, "Content-Length: 5\r\nETag: x\r\n", "etag: x", Framing::Empty),
        (304, "Transfer-Encoding: chunked\r\n", "", Framing::Empty),
        (103, "Link: </a>\r\n", "link: </a>", Framing::Empty),
    ] {
        check(format!("HTTP/1.1 {status} x\r\n{fields}\r\n"), status, kept, framing);
    }
    for fields in [
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: 5, 6\r\n",
        "Content-Length: -1\r\n",
        "Content-Length: +5\r\n",
        "Content-Length: 5x\r\n",
        "Content-Length: 0x5\r\n",
        "Content-Length: 99999999999999999999\r\n",
    ] {
        check_fault(format!("HTTP/1.1 200 x\r\n{fields}\r\n"), HeadFault::Malformed);
    }
}

#[test]
fn transfer_codings_under_the_chunks_are_kept_in_order() {
    let read =
        read_head(b"HTTP/1.1 200 x\r\nTransfer-Encoding: GZIP;q=1, br\r\nTransfer-Encoding: chunked\r\n\r\n", CAPS);
    assert_eq!(read.unwrap().unwrap().transfer_codings, ["gzip", "br"]);
}

#[test]
fn caps_are_kept_to_the_byte_and_to_the_line() {
    let start = "HTTP/1.1 200 OK\r\n";
    let lines = |count: usize| format!("{start}{}\r\n", "A: b\r\n".repeat(count));
    assert!(read_head(lines(254).as_bytes(), CAPS).unwrap().is_some(), "254 fields, status line and end are 256 lines");
    check_fault(lines(255), HeadFault::TooLarge);
    check_fault(lines(300), HeadFault::TooLarge);
    let long = |total: usize| format!("{start}A: {}\r\n\r\n", "x".repeat(total - start.len() - 7));
    assert_eq!(long(65536).len(), 65536);
    assert_eq!(read_head(long(65536).as_bytes(), CAPS).unwrap().unwrap().num_bytes, 65536);
    check_fault(long(65537), HeadFault::TooLarge);
    check_fault(format!("{start}A: {}", "x".repeat(70_000)), HeadFault::TooLarge);
    check_fault(format!("HTTP/1.1 200 {}", "x".repeat(70_000)), HeadFault::TooLarge);
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_and_a_head_never_takes_more_than_came(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        if let Ok(Some(read)) = read_head(&bytes, CAPS) {
            prop_assert!(read.num_bytes <= bytes.len());
        }
    }

    #[test]
    fn bytes_behind_the_end_change_nothing(fields in "([A-Za-z-]{1,8}: ?[a-z0-9,]{0,12}\r?\n| fold\r\n){0,8}", tail in prop::collection::vec(any::<u8>(), 0..40)) {
        let mut bytes = format!("HTTP/1.1 200 OK\r\n{fields}\r\n").into_bytes();
        let alone = read_head(&bytes, CAPS);
        bytes.extend_from_slice(&tail);
        prop_assert_eq!(read_head(&bytes, CAPS), alone);
    }
}
