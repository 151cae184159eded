//! Putting the request head that awc wrote into the form that is sent.
//!
//! awc adds a `Date` that no request needs and a length for a body that is not there, and writes fields in the order of a hash map.
//! Here the two are taken out, Host comes first (RFC 9110 §7.2), and the order is always the same.

/// Fields as they are sent, in this order; others follow in the order they came.
const ORDER: [&str; 7] =
    ["host", "user-agent", "accept", "accept-encoding", "if-none-match", "if-modified-since", "connection"];

/// Fields that awc adds and that are not sent.
const LEFT_OUT: [&str; 2] = ["date", "content-length"];

/// The head as it is sent; `head` ends in an empty line.
pub fn tidy(head: &[u8]) -> Vec<u8> {
    let mut lines = head.split(|b| *b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let request_line = lines.next().unwrap_or_default();
    let mut fields: Vec<(usize, &[u8])> =
        lines.filter(|line| !line.is_empty()).filter_map(|line| place_of(line).map(|place| (place, line))).collect();
    fields.sort_by_key(|(place, _)| *place);
    let mut tidied = Vec::with_capacity(head.len());
    for line in std::iter::once(request_line).chain(fields.into_iter().map(|(_, line)| line)).chain([&b""[..]]) {
        tidied.extend_from_slice(line);
        tidied.extend_from_slice(b"\r\n");
    }
    tidied
}

/// Where a field goes; none for one that is left out.
fn place_of(line: &[u8]) -> Option<usize> {
    let name = line.split(|b| *b == b':').next().unwrap_or_default();
    let is_named = |known: &&str| name.eq_ignore_ascii_case(known.as_bytes());
    if LEFT_OUT.iter().any(is_named) {
        return None;
    }
    Some(ORDER.iter().position(is_named).unwrap_or(ORDER.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_comes_first_and_what_awc_adds_is_gone() {
        let written = "GET /a?b HTTP/1.1\r\nContent-Length: 0\r\nConnection: close\r\nX-Other: 1\r\nAccept: */*\r\nHost: a.example\r\n\
                       Date: Thu, 01 Jan 1970 00:00:00 GMT\r\nUser-Agent: x\r\n\r\n";
        let sent = "GET /a?b HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\nAccept: */*\r\nConnection: close\r\nX-Other: 1\r\n\r\n";
        assert_eq!(String::from_utf8(tidy(written.as_bytes())).unwrap(), sent);
    }
}
