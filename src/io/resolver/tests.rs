use std::cell::RefCell;

use tokio::net::UdpSocket;

use super::*;

/// What a name server says of a name.
#[derive(Clone)]
enum Answer {
    Addresses(Vec<[u8; 4]>),
    /// A response code without records.
    Code(u8),
    /// Nothing.
    Silence,
}

const NXDOMAIN: u8 = 3;
const SERVFAIL: u8 = 2;
const REFUSED: u8 = 5;

/// A name server on the loopback, and what it was asked: name and record type.
async fn name_server(answer: Answer) -> (SocketAddr, Rc<RefCell<Vec<(String, u16)>>>) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let asked = Rc::new(RefCell::new(Vec::new()));
    let noted = asked.clone();
    actix_rt::spawn(async move {
        let mut query = [0; 512];
        while let Ok((length, peer)) = socket.recv_from(&mut query).await {
            let (name, kind, end) = question(&query[..length]);
            noted.borrow_mut().push((name, kind));
            let (code, addresses) = match &answer {
                Answer::Addresses(addresses) => (0, addresses.as_slice()),
                Answer::Code(code) => (*code, &[][..]),
                Answer::Silence => continue,
            };
            // Header: same id, response with recursion, one question, the answers; then the question, then the records.
            let mut reply = query[..2].to_vec();
            reply.extend([0x81, 0x80 | code, 0, 1, 0, addresses.len() as u8, 0, 0, 0, 0]);
            reply.extend(&query[12..end]);
            for address in addresses {
                reply.extend([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4]);
                reply.extend(address);
            }
            socket.send_to(&reply, peer).await.unwrap();
        }
    });
    (address, asked)
}

/// Name, type and end of the question in a query.
fn question(query: &[u8]) -> (String, u16, usize) {
    let (mut at, mut labels) = (12, Vec::new());
    while query[at] != 0 {
        let length = usize::from(query[at]);
        labels.push(String::from_utf8(query[at + 1..=at + length].to_vec()).unwrap().to_ascii_lowercase());
        at += length + 1;
    }
    (labels.join("."), u16::from_be_bytes([query[at + 1], query[at + 2]]), at + 5)
}

fn settings(name_servers: Vec<SocketAddr>) -> ResolverSettings {
    ResolverSettings { name_servers, ..ResolverSettings::default() }
}

async fn resolve(settings: ResolverSettings, host: &str, port: u16) -> Result<String, ResolveFailure> {
    let resolver = HickoryResolver::new(Arc::new(settings));
    resolver.resolve(host, port).await.map(|address| address.socket_addr().to_string())
}

fn refused(text: &str) -> Result<String, ResolveFailure> {
    Err(ResolveFailure::AddressRefused(text.to_owned()))
}

#[actix_rt::test]
async fn answers_of_name_servers_are_told_apart() {
    let addresses = |list: &[[u8; 4]]| Answer::Addresses(list.to_vec());
    for (case, answer, expected) in [
        ("a public address", addresses(&[[93, 184, 216, 34]]), Ok("93.184.216.34:443".to_owned())),
        ("the second is public", addresses(&[[10, 0, 0, 1], [93, 184, 216, 34]]), Ok("93.184.216.34:443".to_owned())),
        ("a private address", addresses(&[[10, 0, 0, 1]]), refused("10.0.0.1 is in 10.0.0.0/8 (private)")),
        (
            "the cloud's own",
            addresses(&[[169, 254, 169, 254]]),
            refused("169.254.169.254 is in 169.254.0.0/16 (link-local)"),
        ),
        ("no such name", Answer::Code(NXDOMAIN), Err(ResolveFailure::NoSuchName)),
        ("a name without address", addresses(&[]), Err(ResolveFailure::NoSuchName)),
        ("a failing server", Answer::Code(SERVFAIL), Err(ResolveFailure::NameServers)),
        ("a refusing server", Answer::Code(REFUSED), Err(ResolveFailure::NameServers)),
    ] {
        let (server, asked) = name_server(answer).await;
        assert_eq!(resolve(settings(vec![server]), "www.example.com", 443).await, expected, "{case}");
        let only_a = ("www.example.com".to_owned(), 1);
        assert!(
            !asked.borrow().is_empty() && asked.borrow().iter().all(|q| *q == only_a),
            "{case}: {:?}",
            asked.borrow()
        );
    }
}

#[actix_rt::test]
async fn a_silent_name_server_ends_in_the_dns_time_out() {
    let (server, _) = name_server(Answer::Silence).await;
    let hasty = ResolverSettings { dns_timeout: Duration::from_millis(200), ..settings(vec![server]) };
    assert_eq!(resolve(hasty, "www.example.com", 80).await, Err(ResolveFailure::NameServers));
}

#[actix_rt::test]
async fn hosts_that_need_no_name_server_ask_none() {
    let (server, asked) = name_server(Answer::Addresses(vec![[1, 1, 1, 1]])).await;
    let patterns = [("*.test", [127, 0, 0, 1]), ("pub.test", [9, 9, 9, 9]), ("*.lan.test", [10, 0, 0, 9])];
    let overrides = HostOverrides::new(patterns.map(|(pattern, address)| (pattern, Ipv4Addr::from(address)))).unwrap();
    let allowed = vec!["127.0.0.0/8".parse().unwrap()];
    let settings = ResolverSettings { overrides, allowed, ..settings(vec![server]) };
    for (host, port, expected) in [
        ("8.8.8.8", 80, Ok("8.8.8.8:80".to_owned())),
        ("127.0.0.9", 8080, Ok("127.0.0.9:8080".to_owned())),
        ("192.168.0.1", 80, refused("192.168.0.1 is in 192.168.0.0/16 (private)")),
        ("shop.test", 8080, Ok("127.0.0.1:8080".to_owned())),
        ("PUB.test.", 80, Ok("9.9.9.9:80".to_owned())),
        ("a.lan.test", 80, refused("10.0.0.9 is in 10.0.0.0/8 (private)")),
        ("shop.test", 25, refused("port 25 is not for the web")),
        ("[::1]", 80, refused("IPv6 is not used")),
        ("a..example", 80, Err(ResolveFailure::NoSuchName)),
    ] {
        assert_eq!(resolve(settings.clone(), host, port).await, expected, "{host}:{port}");
    }
    let too_long = format!("{}.example", "x".repeat(64));
    assert_eq!(resolve(settings.clone(), &too_long, 80).await, Err(ResolveFailure::NoSuchName));
    assert!(asked.borrow().is_empty(), "{:?}", asked.borrow());
}

#[actix_rt::test]
async fn odd_but_real_names_are_asked_as_they_are() {
    let (server, asked) = name_server(Answer::Addresses(vec![[1, 1, 1, 1]])).await;
    for host in ["my_shop.example.com", "xn--bcher-kva.example", "-a-.example", "single", "www.example.com."] {
        assert_eq!(resolve(settings(vec![server]), host, 80).await, Ok("1.1.1.1:80".to_owned()), "{host}");
    }
    let names: Vec<String> = asked.borrow().iter().map(|(name, _)| name.clone()).collect();
    assert_eq!(names, ["my_shop.example.com", "xn--bcher-kva.example", "-a-.example", "single", "www.example.com"]);
}

#[actix_rt::test]
async fn a_second_question_is_answered_from_memory() {
    let (server, asked) = name_server(Answer::Addresses(vec![[1, 1, 1, 1]])).await;
    let resolver = HickoryResolver::new(Arc::new(settings(vec![server])));
    for _ in 0..3 {
        assert!(resolver.resolve("www.example.com", 80).await.is_ok());
    }
    assert_eq!(asked.borrow().len(), 1);
}
