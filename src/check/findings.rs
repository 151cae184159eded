//! What `lohisoftbot check` has to say about a configuration. Asks the machine, and nothing else.

use std::net::Ipv4Addr;
use std::time::Duration;

use lohisoftbot_core::config::{Config, show_span};
use lohisoftbot_core::identity::{Identity, IdentityStanding, SourceAddresses, UserAgentForm, is_public};

use super::{Finding, Gravity, Machine};

const DAY: Duration = Duration::from_secs(86_400);

/// The last labels of names that belong to nobody (RFC 2606 §2, RFC 6762 §3), and the example domains (RFC 2606 §3).
const PLACEHOLDER_SUFFIXES: [&str; 8] =
    ["example", "test", "invalid", "localhost", "local", "example.com", "example.net", "example.org"];

/// All that is to say, in the order of the sections.
pub fn findings(config: &Config, machine: &dyn Machine) -> Vec<Finding> {
    let mut found = Found(Vec::new());
    identity(config, &mut found);
    addresses(config, machine, &mut found);
    network(config, machine, &mut found);
    pace(config, &mut found);
    if let Some(why) = machine.unwritable(&config.store.data_dir) {
        found.add(
            Gravity::Problem,
            "store.data_dir",
            format!(
                "{} cannot be written to ({why}): name another folder, or give this user the right",
                config.store.data_dir.display()
            ),
        );
    }
    found.0
}

struct Found(Vec<Finding>);

impl Found {
    fn add(&mut self, gravity: Gravity, key: &'static str, text: impl Into<String>) {
        self.0.push(Finding { gravity, key, text: text.into() });
    }
}

fn identity(config: &Config, found: &mut Found) {
    let settings = &config.identity;
    let identity = Identity::new(settings);
    let show = |form| identity.user_agent(form);
    let shown = match settings.user_agent_url_share {
        0 => format!("sites see {}", show(UserAgentForm::Contact)),
        100 => format!("sites see {}", show(UserAgentForm::InfoUrl)),
        share => {
            format!(
                "{share} % of sites see {}, the others {}",
                show(UserAgentForm::InfoUrl),
                show(UserAgentForm::Contact)
            )
        }
    };
    found.add(Gravity::Good, "identity.user_agent_url_share", shown);
    let mail_host = settings.contact.rsplit('@').next().unwrap_or_default();
    if is_placeholder(mail_host) {
        found.add(
            Gravity::Problem,
            "identity.contact",
            format!("{} reaches nobody: write the mail address of whoever answers for this bot", settings.contact),
        );
    }
    let page_host = url::Url::parse(&settings.info_url).ok().and_then(|url| url.host_str().map(str::to_owned));
    if page_host.is_none_or(|host| is_placeholder(&host)) {
        found.add(
            Gravity::Problem,
            "identity.info_url",
            format!("{} is a page of nobody: write the address of a page that describes this bot", settings.info_url),
        );
    }
}

/// Whether a host is one that is set aside for examples and tests.
fn is_placeholder(host: &str) -> bool {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    PLACEHOLDER_SUFFIXES
        .iter()
        .any(|suffix| host.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

fn addresses(config: &Config, machine: &dyn Machine, found: &mut Found) {
    for (address, host) in &config.identity.addresses {
        if !is_public(*address) {
            found.add(
                Gravity::Problem,
                "identity.addresses",
                format!(
                    "{address} ({host}) is no public address, so no site can see it: publish the one that requests \
                     leave from"
                ),
            );
        }
    }
    let standing = IdentityStanding::of(config, |address| machine.holds_address(address));
    match (&standing, standing.may_crawl_public()) {
        (IdentityStanding::NotEnforced, _) => found.add(
            Gravity::Warning,
            "identity.enforce",
            "is false: requests may leave from addresses that are not published, and nobody can check a visit by its \
             address",
        ),
        (_, Ok(())) => {
            found.add(
                Gravity::Good,
                "identity.addresses",
                "this machine holds the addresses that requests are to leave from",
            );
        }
        (_, Err(refusal)) => found.add(Gravity::Problem, "identity.addresses", refusal.to_string()),
    }
    for address in config.network.source_addresses.iter().filter(|address| !machine.holds_address(**address)) {
        found.add(
            Gravity::Problem,
            "network.source_addresses",
            format!("this machine does not have {address}: give it that address, or take it out"),
        );
    }
    let sources = SourceAddresses::new(config, |address| machine.holds_address(address));
    found.add(
        Gravity::Note,
        "network.source_addresses",
        match sources.as_slice() {
            [] => "requests leave from the address that the system chooses".to_owned(),
            some => {
                format!("requests leave from {}", some.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>().join(", "))
            }
        },
    );
}

fn network(config: &Config, machine: &dyn Machine, found: &mut Found) {
    for path in &config.network.extra_roots {
        if let Some(why) = machine.unreadable(path) {
            found.add(
                Gravity::Problem,
                "network.extra_roots",
                format!("{} cannot be read ({why}): name a PEM file, or take it out", path.display()),
            );
        }
    }
    if !config.network.allow_ranges.is_empty() {
        let ranges: Vec<_> = config.network.allow_ranges.iter().map(ToString::to_string).collect();
        found.add(
            Gravity::Warning,
            "network.allow_ranges",
            format!("opens {}: pages found by links can lead there; take out what is not for tests", ranges.join(", ")),
        );
    }
    let num_names = config.network.resolve.iter().count();
    if num_names > 0 {
        found.add(Gravity::Note, "network.resolve", format!("{num_names} names are answered from the configuration"));
    }
}

fn pace(config: &Config, found: &mut Found) {
    // Tests and the demo shorten these; a public site deserves at least the bound.
    for (key, value, bound) in [
        ("politeness.min_delay", config.politeness.min_delay, Duration::from_secs(1)),
        ("politeness.per_address_delay", config.politeness.per_address_delay, Duration::from_millis(100)),
        // A lower one shortens a Crawl-delay that a site asked for.
        ("politeness.max_crawl_delay", config.politeness.max_crawl_delay, DAY),
        ("backoff.first", config.backoff.first, Duration::from_secs(10)),
        ("recrawl.interval", config.recrawl.interval, DAY.saturating_mul(7)),
        ("recrawl.min_interval", config.recrawl.min_interval, DAY.saturating_mul(7)),
    ] {
        if value < bound {
            let (is, least) = (show_span(value), show_span(bound));
            let text = format!("is {is}, which is for tests: write at least {least} before public sites are crawled");
            found.add(Gravity::Warning, key, text);
        }
    }
    for (key, value) in
        [("recrawl.interval", config.recrawl.interval), ("recrawl.max_interval", config.recrawl.max_interval)]
    {
        if value > DAY.saturating_mul(90) {
            let text = format!("is {}: what is kept grows stale after 90d", show_span(value));
            found.add(Gravity::Warning, key, text);
        }
    }
    found.add(
        Gravity::Good,
        "budget.page_requests",
        format!(
            "at most {} requests a site in {}, one at a time, {} apart at least",
            config.budget.page_requests,
            show_span(config.recrawl.min_interval),
            show_span(config.politeness.min_delay)
        ),
    );
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Holds the shipped address, reads files that are called good, and writes to folders that are called good.
    struct OwnMachine;

    impl Machine for OwnMachine {
        fn holds_address(&self, address: Ipv4Addr) -> bool {
            address == Ipv4Addr::new(79, 139, 58, 98)
        }

        fn unreadable(&self, path: &Path) -> Option<String> {
            (!path.ends_with("good")).then(|| "no such file".to_owned())
        }

        fn unwritable(&self, folder: &Path) -> Option<String> {
            folder.ends_with("bad").then(|| "read-only".to_owned())
        }
    }

    /// Changes the defaults and wants exactly these problems and warnings.
    #[track_caller]
    fn check(change: impl FnOnce(&mut Config), wanted: &[(Gravity, &str)]) {
        let mut config = Config::default();
        change(&mut config);
        let found = findings(&config, &OwnMachine);
        let grave: Vec<_> =
            found.iter().filter(|f| f.gravity >= Gravity::Warning).map(|f| (f.gravity, f.key)).collect();
        assert_eq!(grave, wanted, "{found:#?}");
        assert!(found.iter().all(|finding| !finding.to_string().contains('\n')), "{found:#?}");
    }

    use Gravity::{Problem, Warning};

    #[test]
    fn shipped_configuration_on_its_own_machine_is_good() {
        check(|_| (), &[]);
    }

    #[test]
    fn placeholders_are_no_identity() {
        for contact in ["bot@example.com", "bot@mail.example.org", "bot@site.test", "bot@a.invalid", "bot@EXAMPLE.com"]
        {
            check(|c| c.identity.contact = contact.to_owned(), &[(Problem, "identity.contact")]);
        }
        check(|c| c.identity.contact = "bot@myexample.com".to_owned(), &[]);
        check(|c| c.identity.info_url = "https://www.example.com/bot".to_owned(), &[(Problem, "identity.info_url")]);
        check(|c| c.identity.info_url = "http://localhost/bot".to_owned(), &[(Problem, "identity.info_url")]);
    }

    #[test]
    fn addresses_that_are_not_here_or_not_public_are_problems() {
        let publish = |address: [u8; 4]| {
            move |c: &mut Config| {
                c.identity.addresses = [(address.into(), "a.bot.lohisoft.com".to_owned())].into();
            }
        };
        check(publish([8, 8, 8, 8]), &[(Problem, "identity.addresses")]);
        check(publish([10, 0, 0, 1]), &[(Problem, "identity.addresses"), (Problem, "identity.addresses")]);
        check(|c| c.identity.addresses.clear(), &[(Problem, "identity.addresses")]);
        check(
            |c| {
                c.identity.enforce = false;
                c.network.source_addresses = vec![Ipv4Addr::new(8, 8, 8, 8)];
            },
            &[(Warning, "identity.enforce"), (Problem, "network.source_addresses")],
        );
    }

    #[test]
    fn values_for_tests_are_warned_of() {
        check(|c| c.politeness.min_delay = Duration::from_millis(50), &[(Warning, "politeness.min_delay")]);
        check(|c| c.politeness.per_address_delay = Duration::ZERO, &[(Warning, "politeness.per_address_delay")]);
        check(|c| c.politeness.max_crawl_delay = Duration::from_secs(60), &[(Warning, "politeness.max_crawl_delay")]);
        check(|c| c.recrawl.interval = Duration::from_secs(60), &[(Warning, "recrawl.interval")]);
        check(|c| c.recrawl.interval = DAY * 91, &[(Warning, "recrawl.interval")]);
        check(|c| c.recrawl.min_interval = DAY, &[(Warning, "recrawl.min_interval")]);
        check(|c| c.recrawl.max_interval = DAY * 91, &[(Warning, "recrawl.max_interval")]);
        check(|c| c.network.allow_ranges = vec!["127.0.0.0/8".parse().unwrap()], &[(Warning, "network.allow_ranges")]);
    }

    #[test]
    fn files_and_folders_that_cannot_be_used_are_problems() {
        check(|c| c.network.extra_roots = vec!["good".into()], &[]);
        check(|c| c.network.extra_roots = vec!["good".into(), "ca.pem".into()], &[(Problem, "network.extra_roots")]);
        check(|c| c.store.data_dir = "bad".into(), &[(Problem, "store.data_dir")]);
    }
}
