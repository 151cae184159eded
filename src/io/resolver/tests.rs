use std::net::IpAddr;

use super::*;
use crate::practice_web::name_server::{Answer, PracticeNameServer, Reply};

const HOST: &str = "www.example.com";
const GOOD: [u8; 4] = [93, 184, 216, 34];

fn server(script: impl IntoIterator<Item = (&'static str, Vec<Reply>)>) -> PracticeNameServer {
    PracticeNameServer::start(script).unwrap()
}

/// One reply with these addresses of the name that was asked for.
fn addresses<A: Into<IpAddr> + Copy>(list: &[A]) -> Vec<Reply> {
    vec![Reply::Records(list.iter().map(|address| Answer::address(*address)).collect())]
}

fn settings(server: &PracticeNameServer) -> ResolverSettings {
    ResolverSettings { name_servers: vec![server.address().into()], ..ResolverSettings::default() }
}

fn resolver(settings: ResolverSettings) -> HickoryResolver {
    HickoryResolver::new(Arc::new(settings))
}

async fn resolve(resolver: &HickoryResolver, host: &str, port: u16) -> Result<String, ResolveFailure> {
    resolver.resolve(host, port).await.map(|address| address.socket_addr().to_string())
}

fn dials(address: &str) -> Result<String, ResolveFailure> {
    Ok(address.to_owned())
}

fn refuses(what: &str) -> Result<String, ResolveFailure> {
    Err(ResolveFailure::AddressRefused(what.to_owned()))
}

fn refuses_range(what: &str) -> Result<String, ResolveFailure> {
    refuses(&format!("{what}; a range in network.allow_ranges that holds it would open it"))
}

#[actix_rt::test]
async fn answers_of_name_servers_are_told_apart() {
    let records = |list: Vec<Answer>| vec![Reply::Records(list)];
    let (good, private) = (Answer::address(GOOD), Answer::address([10, 0, 0, 1]));
    let private_words = "10.0.0.1 is in 10.0.0.0/8 (private)";
    let (exists, no_such_name) = (dials("93.184.216.34:443"), Err(ResolveFailure::NoSuchName));
    let servers_failed = Err(ResolveFailure::NameServers);
    let code = |code| vec![Reply::Code(code)];
    for (case, replies, expected) in [
        ("a public address", addresses(&[GOOD]), exists.clone()),
        ("a private address", addresses(&[[10, 0, 0, 1]]), refuses_range(private_words)),
        ("the second is public", addresses(&[[10, 0, 0, 1], GOOD]), exists.clone()),
        ("the second is private", addresses(&[GOOD, [10, 0, 0, 1]]), exists.clone()),
        (
            "the cloud's own",
            addresses(&[[169, 254, 169, 254]]),
            refuses_range("169.254.169.254 is in 169.254.0.0/16 (link-local)"),
        ),
        (
            "an alias with its address",
            records(vec![Answer::alias("a.test"), good.clone().owned_by("a.test")]),
            exists.clone(),
        ),
        (
            "an alias behind its address",
            records(vec![good.clone().owned_by("a.test"), Answer::alias("a.test")]),
            exists.clone(),
        ),
        ("an alias of a public name", records(vec![Answer::alias("good.test")]), exists.clone()),
        ("an alias of a private name", records(vec![Answer::alias("private.test")]), refuses_range(private_words)),
        (
            "an alias of the loopback",
            records(vec![Answer::alias("localhost")]),
            refuses_range("127.0.0.1 is in 127.0.0.0/8 (loopback)"),
        ),
        (
            "an alias with a private address",
            records(vec![Answer::alias("a.test"), private.clone().owned_by("a.test")]),
            refuses_range(private_words),
        ),
        ("a chain of aliases", records(vec![Answer::alias("chain.test")]), refuses_range(private_words)),
        ("an alias of no name", records(vec![Answer::alias("nowhere.test")]), no_such_name.clone()),
        ("an alias of a failing name", records(vec![Answer::alias("failing.test")]), servers_failed.clone()),
        ("an alias of itself", records(vec![Answer::alias(HOST)]), no_such_name.clone()),
        ("an address of another name", records(vec![good.clone().owned_by("other.test")]), no_such_name.clone()),
        (
            "another name's beside its own",
            records(vec![good.owned_by("other.test"), private]),
            refuses_range(private_words),
        ),
        ("no address", records(vec![]), no_such_name.clone()),
        ("IPv6 alone", addresses(&["2606:4700::1111".parse::<IpAddr>().unwrap()]), no_such_name.clone()),
        ("IPv4 in IPv6", addresses(&["::ffff:93.184.216.34".parse::<IpAddr>().unwrap()]), no_such_name.clone()),
        ("no such name", code(ResponseCode::NXDomain), no_such_name),
        ("a failing server", code(ResponseCode::ServFail), servers_failed.clone()),
        ("a refusing server", code(ResponseCode::Refused), servers_failed.clone()),
        ("a server that cannot", code(ResponseCode::NotImp), servers_failed.clone()),
        ("a server that does not understand", code(ResponseCode::FormErr), servers_failed),
    ] {
        let server = server([
            (HOST, replies),
            ("good.test", addresses(&[GOOD])),
            ("private.test", addresses(&[[10, 0, 0, 1]])),
            ("chain.test", records(vec![Answer::alias("Middle.test")])),
            ("middle.test", records(vec![Answer::alias("private.test")])),
            ("failing.test", code(ResponseCode::ServFail)),
        ]);
        assert_eq!(resolve(&resolver(settings(&server)), HOST, 443).await, expected, "{case}");
        let asked = server.asked();
        assert!(!asked.is_empty() && asked.iter().all(|question| question.kind == "A"), "{case}: {asked:?}");
        assert_eq!(server.num_asked("localhost"), 0, "{case}");
    }
}

#[actix_rt::test]
async fn servers_that_say_nothing_of_use_end_in_the_dns_time_out_as_failed_servers() {
    let good = || vec![Answer::address(GOOD)];
    for (case, reply) in [
        ("silence", Reply::Silence),
        ("too long for a packet, and no TCP", Reply::Truncated),
        ("the last bytes missing", Reply::CutShort(good())),
        ("bytes that mean nothing", Reply::Garbage),
        ("an answer to another question", Reply::OfAnotherName(good())),
    ] {
        let server = server([(HOST, vec![reply])]);
        let hasty = ResolverSettings { dns_timeout: Duration::from_millis(200), ..settings(&server) };
        assert_eq!(resolve(&resolver(hasty), HOST, 80).await, Err(ResolveFailure::NameServers), "{case}");
        assert!(server.num_asked(HOST) > 0, "{case}");
    }
}

#[actix_rt::test]
async fn hosts_that_need_no_name_server_ask_none() {
    let server = server([]);
    let patterns = [
        ("*.test", [127, 0, 0, 1]),
        ("pub.test", [9, 9, 9, 9]),
        ("*.lan.test", [10, 0, 0, 9]),
        ("a.local", [9, 9, 9, 8]),
    ];
    let overrides = HostOverrides::new(patterns.map(|(pattern, address)| (pattern, Ipv4Addr::from(address)))).unwrap();
    let allowed = vec!["127.0.0.0/8".parse().unwrap()];
    let opened = resolver(ResolverSettings { overrides, allowed, ..settings(&server) });
    let too_long = format!("{}.example", "x".repeat(64));
    let not_looked_up = |suffix: &str| {
        refuses(&format!("names in {suffix} are not looked up; an address in network.resolve would open it"))
    };
    for (host, port, expected) in [
        ("8.8.8.8", 80, dials("8.8.8.8:80")),
        ("127.0.0.9", 8080, dials("127.0.0.9:8080")),
        ("192.168.0.1", 80, refuses_range("192.168.0.1 is in 192.168.0.0/16 (private)")),
        ("shop.test", 8080, dials("127.0.0.1:8080")),
        ("PUB.test.", 80, dials("9.9.9.9:80")),
        ("a.lan.test", 80, refuses_range("10.0.0.9 is in 10.0.0.0/8 (private)")),
        ("shop.test", 25, refuses("port 25 is not for the web, and blocked as in browsers; no setting opens it")),
        ("[::1]", 80, refuses("IPv6 is not used; no setting opens it")),
        ("localhost", 80, dials("127.0.0.1:80")),
        ("a.Localhost.", 80, dials("127.0.0.1:80")),
        ("a.local", 80, dials("9.9.9.8:80")),
        ("b.local", 80, not_looked_up(".local (names of the local link, RFC 6762)")),
        ("x.onion", 80, not_looked_up(".onion (the Tor network, RFC 7686)")),
        ("a.internal.", 80, not_looked_up(".internal (private networks, reserved by ICANN)")),
        ("a.invalid", 80, not_looked_up(".invalid (names that never exist, RFC 6761)")),
        ("a..example", 80, Err(ResolveFailure::NoSuchName)),
        (&too_long, 80, Err(ResolveFailure::NoSuchName)),
    ] {
        assert_eq!(resolve(&opened, host, port).await, expected, "{host}:{port}");
    }
    let closed = resolver(settings(&server));
    let loopback = refuses_range("127.0.0.1 is in 127.0.0.0/8 (loopback)");
    assert_eq!(resolve(&closed, "localhost", 80).await, loopback);
    assert_eq!(resolve(&closed, "foo.localhost", 80).await, loopback);
    assert_eq!(server.asked(), []);
}

#[actix_rt::test]
async fn odd_but_real_names_are_asked_as_they_are() {
    let hosts = ["my_shop.example.com", "xn--bcher-kva.example", "-a-.example", "single", "www.example.com"];
    let server = server(hosts.map(|host| (host, addresses(&[[1, 1, 1, 1]]))));
    for host in hosts {
        assert_eq!(resolve(&resolver(settings(&server)), &format!("{host}."), 80).await, dials("1.1.1.1:80"), "{host}");
    }
    let names: Vec<String> = server.asked().into_iter().map(|question| question.name).collect();
    assert_eq!(names, hosts);
}

#[actix_rt::test]
async fn an_answer_is_remembered_as_long_as_its_shortest_record_allows() {
    let first_then_second = |ttl| {
        let answer = |last| Reply::Records(vec![Answer::address([1, 1, 1, last]).kept_for(ttl)]);
        vec![answer(1), answer(2)]
    };
    let alias = |ttl| vec![Reply::Records(vec![Answer::alias("target.test").kept_for(ttl)])];
    let server = server([
        ("kept.test", first_then_second(60)),
        ("passing.test", first_then_second(0)),
        ("target.test", vec![Reply::Records(vec![Answer::address([1, 1, 1, 1]).kept_for(60)])]),
        ("alias.test", alias(60)),
        ("passing-alias.test", alias(0)),
    ]);
    let resolver = resolver(settings(&server));
    for (host, looked_up, later, num_asked) in [
        ("kept.test", "1.1.1.1:80", "1.1.1.1:80", 1),
        ("passing.test", "1.1.1.1:80", "1.1.1.2:80", 3),
        ("alias.test", "1.1.1.1:80", "1.1.1.1:80", 1),
        ("passing-alias.test", "1.1.1.1:80", "1.1.1.1:80", 3),
    ] {
        assert_eq!(resolve(&resolver, host, 80).await, dials(looked_up), "{host}");
        for _ in 0..2 {
            assert_eq!(resolve(&resolver, host, 80).await, dials(later), "{host}");
        }
        assert_eq!(server.num_asked(host), num_asked, "{host}");
    }
}

#[actix_rt::test]
async fn a_name_that_turns_to_a_refused_address_is_refused_from_then_on() {
    let turn = |last| Reply::Records(vec![Answer::address([127, 0, 0, last])]);
    let server = server([(HOST, vec![turn(1), turn(9)])]);
    let allowed = vec!["127.0.0.1".parse().unwrap()];
    let resolver = resolver(ResolverSettings { allowed, ..settings(&server) });
    assert_eq!(resolve(&resolver, HOST, 80).await, dials("127.0.0.1:80"));
    for _ in 0..2 {
        assert_eq!(resolve(&resolver, HOST, 80).await, refuses_range("127.0.0.9 is in 127.0.0.0/8 (loopback)"));
    }
    assert_eq!(server.num_asked(HOST), 3);
}

#[actix_rt::test]
async fn only_addresses_are_remembered() {
    let answer = || Reply::Records(vec![Answer::address(GOOD).kept_for(60)]);
    for first in [Reply::Code(ResponseCode::NXDomain), Reply::Records(vec![])] {
        let server = server([(HOST, vec![first, answer()])]);
        let resolver = resolver(settings(&server));
        assert_eq!(resolve(&resolver, HOST, 80).await, Err(ResolveFailure::NoSuchName));
        assert_eq!(resolve(&resolver, HOST, 80).await, dials("93.184.216.34:80"));
        assert_eq!(server.num_asked(HOST), 2);
    }
}

#[actix_rt::test]
async fn huge_answers_are_looked_at_in_part() {
    let chain = |links: usize| {
        // Each link has a name of its own; the last one has the address.
        let owner = |at: usize| -> &'static str { if at == 0 { HOST } else { format!("link{at}.test").leak() } };
        let alias = |at: usize| Answer::alias(owner(at + 1)).owned_by(owner(at));
        let address = Answer::address(GOOD).owned_by(owner(links));
        vec![Reply::Records((0..links).map(alias).chain([address]).collect())]
    };
    let crowd = |num_refused: usize| {
        let refused = (0..num_refused).map(|_| Answer::address([10, 0, 0, 1]));
        vec![Reply::Records(refused.chain([Answer::address(GOOD)]).collect())]
    };
    let private = refuses_range("10.0.0.1 is in 10.0.0.0/8 (private)");
    for (case, replies, expected) in [
        ("a long chain", chain(MAX_ALIASES - 1), dials("93.184.216.34:80")),
        ("a longer one", chain(MAX_ALIASES + 1), Err(ResolveFailure::NoSuchName)),
        ("many addresses", crowd(MAX_ADDRESSES - 1), dials("93.184.216.34:80")),
        ("one too many", crowd(MAX_ADDRESSES), private),
    ] {
        let server = server([(HOST, replies)]);
        assert_eq!(resolve(&resolver(settings(&server)), HOST, 80).await, expected, "{case}");
    }
}
