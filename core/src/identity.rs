//! Who the bot is to a site: its User-Agent, the address its requests leave from, and whether it may crawl at all.
//!
//! A site always sees the same User-Agent, whichever of the two forms the roll-out gave it, and one source address
//! throughout a cycle: an operator who looks at a log sees one visitor. Nothing here knows what addresses the machine
//! has; the caller says.

use std::net::Ipv4Addr;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::address;
use crate::config::{Config, IdentitySettings};
use crate::site::Site;

/// Seeds that keep the two choices apart from each other and from the partition of a site.
const FORM_SEED: u64 = 0x7573_6572_6167_656e;
const SOURCE_SEED: u64 = 0x736f_7572_6365_6970;

/// Which of the two published forms of the User-Agent a site sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserAgentForm {
    /// `LohiSoftBot/1.0 (+message@lohisoft.com)`
    Contact,
    /// `LohiSoftBot/1.0 (+https://lohisoft.com/bot)`
    InfoUrl,
}

/// What the bot calls itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    product: String,
    with_contact: String,
    with_info_url: String,
    info_url_percent: u32,
}

impl Identity {
    /// From checked settings.
    pub fn new(settings: &IdentitySettings) -> Self {
        let form = |address: &str| format!("{}/{} (+{address})", settings.product, settings.version);
        Self {
            product: settings.product.clone(),
            with_contact: form(&settings.contact),
            with_info_url: form(&settings.info_url),
            info_url_percent: settings.user_agent_url_share,
        }
    }

    /// The name that robots.txt groups are matched with (RFC 9309 §2.2.1), without a version.
    pub fn product_token(&self) -> &str {
        &self.product
    }

    /// The form that `site` sees. Raising the share moves sites from contact to page, never back.
    pub fn form_for(&self, site: &Site) -> UserAgentForm {
        let place = xxh3_64_with_seed(site.as_str().as_bytes(), FORM_SEED) % 100;
        if place < u64::from(self.info_url_percent) { UserAgentForm::InfoUrl } else { UserAgentForm::Contact }
    }

    /// The whole User-Agent field for a request to `site`, robots.txt included.
    pub fn user_agent_for(&self, site: &Site) -> &str {
        self.user_agent(self.form_for(site))
    }

    /// The whole User-Agent field in one form.
    pub fn user_agent(&self, form: UserAgentForm) -> &str {
        match form {
            UserAgentForm::Contact => &self.with_contact,
            UserAgentForm::InfoUrl => &self.with_info_url,
        }
    }
}

/// The addresses that this node's requests leave from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceAddresses(Vec<Ipv4Addr>);

impl SourceAddresses {
    /// Those of the configuration, or the published ones where it names none; only what the machine holds can be sent
    /// from.
    pub fn new(config: &Config, holds_address: impl Fn(Ipv4Addr) -> bool) -> Self {
        Self(wanted_sources(config).into_iter().filter(|address| holds_address(*address)).collect())
    }

    /// The address for a site's cycle; none where the system chooses.
    ///
    /// The highest hash wins, so that an address added or removed moves only the sites that it gains or loses.
    pub fn choose(&self, site: &Site, cycle: u32) -> Option<Ipv4Addr> {
        self.0.iter().copied().max_by_key(|address| {
            let mut key = Vec::with_capacity(site.as_str().len() + 8);
            key.extend_from_slice(&address.octets());
            key.extend_from_slice(&cycle.to_be_bytes());
            key.extend_from_slice(site.as_str().as_bytes());
            xxh3_64_with_seed(&key, SOURCE_SEED)
        })
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Ipv4Addr] {
        &self.0
    }
}

fn wanted_sources(config: &Config) -> Vec<Ipv4Addr> {
    if config.network.source_addresses.is_empty() {
        config.identity.addresses.keys().copied().collect()
    } else {
        config.network.source_addresses.clone()
    }
}

/// Whether the machine can stand for the identity that the configuration publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IdentityStanding {
    /// It holds every address that its requests are to leave from.
    Held,
    /// The configuration does not ask.
    NotEnforced,
    /// The configuration does not ask, and names the identity that the program is shipped with, whose addresses are not here.
    Borrowed,
    /// It publishes no address, so nobody could check a visitor.
    NothingPublished,
    /// It lacks these addresses.
    Lacks(Vec<Ipv4Addr>),
}

/// Why public addresses are not crawled, with what to set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdentityRefusal {
    /// The published addresses are not this machine's.
    #[error(
        "this machine does not hold {}, published in identity.addresses, so it crawls no public address: set an identity of your own \
         in [identity] (product, contact, info_url, host_suffix, and in addresses those of this machine), or, where nobody is to check \
         your visits by address, set addresses = {{}} and enforce = false there",
        list(.0)
    )]
    AddressesNotHeld(Vec<Ipv4Addr>),
    /// Complaints about this node would reach somebody else.
    #[error(
        "identity.contact or identity.info_url is still the one that the program is shipped with, so complaints about this machine would \
         reach somebody else, and no public address is crawled: set product, contact and info_url of your own in [identity]"
    )]
    Borrowed,
    /// There is no published address to send from.
    #[error(
        "identity.addresses publishes no address, so nobody could check a visit, and no public address is crawled: write the addresses \
         of this machine with their host names there, or set enforce = false in [identity]"
    )]
    NothingPublished,
}

fn list(addresses: &[Ipv4Addr]) -> String {
    addresses.iter().map(Ipv4Addr::to_string).collect::<Vec<_>>().join(", ")
}

impl IdentityStanding {
    /// Compares what the configuration publishes with what the machine holds.
    pub fn of(config: &Config, holds_address: impl Fn(Ipv4Addr) -> bool) -> Self {
        if !config.identity.enforce {
            let shipped = IdentitySettings::default();
            let is_borrowed =
                config.identity.contact == shipped.contact || config.identity.info_url == shipped.info_url;
            let is_at_home = shipped.addresses.keys().all(|address| holds_address(*address));
            return if is_borrowed && !is_at_home { Self::Borrowed } else { Self::NotEnforced };
        }
        if config.identity.addresses.is_empty() {
            return Self::NothingPublished;
        }
        let lacking: Vec<_> = wanted_sources(config).into_iter().filter(|address| !holds_address(*address)).collect();
        // A source that is not published cannot stand for the identity, even though an opened range lets tests send
        // from it.
        let unpublished = |address: &Ipv4Addr| !config.identity.addresses.contains_key(address);
        if !lacking.is_empty() {
            Self::Lacks(lacking)
        } else if wanted_sources(config).iter().any(unpublished) {
            Self::Lacks(config.identity.addresses.keys().copied().collect())
        } else {
            Self::Held
        }
    }

    /// Whether an address may be crawled: any that is not public (loopback and opened ranges are vetted elsewhere), and
    /// a public one only by a node that can stand for its identity.
    pub fn may_crawl(&self, address: Ipv4Addr) -> Result<(), IdentityRefusal> {
        if is_public(address) { self.may_crawl_public() } else { Ok(()) }
    }

    /// Whether public addresses may be crawled at all.
    pub fn may_crawl_public(&self) -> Result<(), IdentityRefusal> {
        match self {
            Self::Held | Self::NotEnforced => Ok(()),
            Self::Borrowed => Err(IdentityRefusal::Borrowed),
            Self::NothingPublished => Err(IdentityRefusal::NothingPublished),
            Self::Lacks(addresses) => Err(IdentityRefusal::AddressesNotHeld(addresses.clone())),
        }
    }
}

/// Whether an address belongs to somebody on the public Internet.
pub fn is_public(address: Ipv4Addr) -> bool {
    address::vet(address, &[]).is_ok()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const SHIPPED: Ipv4Addr = Ipv4Addr::new(79, 139, 58, 98);
    const PUBLIC: Ipv4Addr = Ipv4Addr::new(93, 184, 215, 14);

    fn site(n: u32) -> Site {
        Site::of_host(&format!("site-{n}.example"))
    }

    fn identity(percent: u32) -> Identity {
        Identity::new(&IdentitySettings { user_agent_url_share: percent, ..IdentitySettings::default() })
    }

    #[test]
    fn user_agent_has_the_two_published_forms() {
        let shipped = identity(0);
        assert_eq!(shipped.user_agent(UserAgentForm::Contact), "LohiSoftBot/1.0 (+message@lohisoft.com)");
        assert_eq!(shipped.user_agent(UserAgentForm::InfoUrl), "LohiSoftBot/1.0 (+https://lohisoft.com/bot)");
        assert_eq!(shipped.product_token(), "LohiSoftBot");
    }

    #[test]
    fn share_of_sites_sees_the_page() {
        for (percent, low, high) in [(0, 0, 0), (10, 800, 1200), (50, 4700, 5300), (100, 10_000, 10_000)] {
            let identity = identity(percent);
            let num_info = (0..10_000).filter(|n| identity.form_for(&site(*n)) == UserAgentForm::InfoUrl).count();
            assert!((low..=high).contains(&num_info), "{percent} %: {num_info}");
        }
    }

    #[test]
    fn source_address_stays_for_a_cycle_and_spreads_over_sites_and_cycles() {
        let all: Vec<_> = (1..=4).map(|last| Ipv4Addr::new(192, 0, 2, last)).collect();
        let sources = SourceAddresses(all.clone());
        for n in 0..100 {
            assert_eq!(sources.choose(&site(n), 1), sources.choose(&site(n), 1));
        }
        let of_sites: BTreeSet<_> = (0..200).filter_map(|n| sources.choose(&site(n), 1)).collect();
        let of_cycles: BTreeSet<_> = (0..200).filter_map(|cycle| sources.choose(&site(1), cycle)).collect();
        assert_eq!((of_sites.len(), of_cycles.len()), (4, 4));
    }

    #[test]
    fn removed_address_moves_only_its_own_sites() {
        let all: Vec<_> = (1..=4).map(|last| Ipv4Addr::new(192, 0, 2, last)).collect();
        let (four, three) = (SourceAddresses(all.clone()), SourceAddresses(all[..3].to_vec()));
        for n in 0..200 {
            let before = four.choose(&site(n), 1);
            if before != Some(all[3]) {
                assert_eq!(three.choose(&site(n), 1), before);
            }
        }
    }

    #[test]
    fn system_chooses_where_no_address_is_held() {
        let sources = SourceAddresses::new(&Config::default(), |_| false);
        assert_eq!(sources.choose(&site(1), 1), None);
        assert_eq!(SourceAddresses::new(&Config::default(), |_| true).as_slice(), [SHIPPED]);
    }

    /// Changes the shipped configuration; the machine holds 79.139.58.98 or nothing; wants public crawling allowed or
    /// refused.
    #[track_caller]
    fn check_standing(change: impl FnOnce(&mut Config), held: &[Ipv4Addr], wanted: Result<(), &[&str]>) {
        let mut config = Config::default();
        change(&mut config);
        let standing = IdentityStanding::of(&config, |address| held.contains(&address));
        for free in ["127.0.0.1", "10.1.2.3", "192.168.0.1", "203.0.113.9"] {
            assert_eq!(standing.may_crawl(free.parse().unwrap()), Ok(()), "{free} under {standing:?}");
        }
        match (standing.may_crawl(PUBLIC), wanted) {
            (Ok(()), Ok(())) => {}
            (Err(refusal), Err(words)) => {
                let text = refusal.to_string();
                assert!(words.iter().all(|word| text.contains(word)), "{text}");
            }
            (got, wanted) => panic!("got {got:?}, wanted {wanted:?}"),
        }
    }

    #[test]
    fn public_addresses_are_crawled_only_under_an_identity_that_the_machine_holds() {
        check_standing(|_| (), &[SHIPPED], Ok(()));
        check_standing(|_| (), &[], Err(&["79.139.58.98", "identity.addresses", "contact", "enforce = false"]));
        check_standing(|c| c.identity.enforce = false, &[], Err(&["contact", "info_url", "of your own"]));
        check_standing(|c| c.identity.enforce = false, &[SHIPPED], Ok(()));
        check_standing(|c| c.identity.addresses.clear(), &[SHIPPED], Err(&["identity.addresses", "enforce = false"]));
        check_standing(
            |c| {
                c.identity.addresses.clear();
                c.identity.enforce = false;
                c.identity.contact = "bot@own.test".to_owned();
                c.identity.info_url = "https://own.test/bot".to_owned();
            },
            &[],
            Ok(()),
        );
    }

    #[test]
    fn one_of_several_machines_holds_its_own_share_of_the_addresses() {
        let second = Ipv4Addr::new(79, 139, 58, 99);
        let publish = |c: &mut Config| drop(c.identity.addresses.insert(second, "b.bot.lohisoft.com".to_owned()));
        check_standing(publish, &[SHIPPED], Err(&["79.139.58.99"]));
        check_standing(
            |c| {
                publish(c);
                c.network.source_addresses = vec![SHIPPED];
            },
            &[SHIPPED],
            Ok(()),
        );
    }

    #[test]
    fn source_in_an_opened_range_does_not_stand_for_the_identity() {
        let loopback = Ipv4Addr::new(127, 0, 0, 2);
        check_standing(|c| c.network.source_addresses = vec![loopback], &[loopback], Err(&["79.139.58.98"]));
    }

    #[test]
    fn addresses_of_nobody_in_particular_are_not_public() {
        for text in
            ["0.0.0.0", "100.64.0.1", "169.254.1.1", "172.31.255.255", "198.19.0.1", "224.0.0.1", "255.255.255.255"]
        {
            assert!(!is_public(text.parse().unwrap()), "{text}");
        }
        for text in ["1.1.1.1", "100.63.255.255", "172.32.0.0", "192.0.1.0", "198.20.0.0", "223.255.255.255"] {
            assert!(is_public(text.parse().unwrap()), "{text}");
        }
    }

    proptest! {
        #[test]
        fn raising_the_share_never_moves_a_site_back(n in any::<u32>(), low in 0u32..=100, more in 0u32..=100) {
            let high = (low + more).min(100);
            if identity(low).form_for(&site(n)) == UserAgentForm::InfoUrl {
                prop_assert_eq!(identity(high).form_for(&site(n)), UserAgentForm::InfoUrl);
            }
        }
    }
}
