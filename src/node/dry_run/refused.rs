//! Seeds that a run would not crawl, and why.

use std::net::Ipv4Addr;

use lohisoftbot_core::address::{AddressRefusal, Ipv4Range, NameStanding, port_is_blocked, standing_of_name, vet};
use lohisoftbot_core::exclusion::Exclusions;
use lohisoftbot_core::politeness::Seed;
use serde::Serialize;

use crate::io::host_overrides::HostOverrides;
use crate::seeds_file::BadLine;

/// A seed that would not be crawled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RefusedSeed {
    /// As it is written, or its URL.
    seed: String,
    /// Why.
    why: String,
}

/// What seeds are held against.
pub struct SeedRules<'a> {
    /// The exclusions in force.
    pub exclusions: &'a Exclusions,
    /// Addresses that the configuration gives.
    pub overrides: &'a HostOverrides,
    /// Ranges that it opens.
    pub allowed: &'a [Ipv4Range],
}

impl RefusedSeed {
    /// A line that is no seed.
    pub fn of_line(line: &BadLine) -> Self {
        Self { seed: line.text.clone(), why: format!("line {} {}", line.number, line.why) }
    }

    /// One seed more than is kept of a site.
    pub fn over_cap(seed: &Seed) -> Self {
        Self { seed: seed.url.to_string(), why: "its site has as many seeds as are kept".to_owned() }
    }
}

impl SeedRules<'_> {
    /// Why a seed would not be crawled, as far as that can be known without asking a name server.
    pub fn refuse(&self, seed: &Seed) -> Option<RefusedSeed> {
        let why = match self.exclusions.covering(seed.url.host()) {
            Some((domain, exclusion)) => format!("{domain} is excluded since {}: {:?}", exclusion.at, exclusion.reason),
            None => self.vet(seed).err()?.to_string(),
        };
        Some(RefusedSeed { seed: seed.url.to_string(), why })
    }

    fn vet(&self, seed: &Seed) -> Result<(), AddressRefusal> {
        let (host, port) = (seed.url.host(), seed.url.as_url().port_or_known_default().unwrap_or_default());
        if port_is_blocked(port) {
            return Err(AddressRefusal::Port(port));
        }
        let written = host.parse().ok().or_else(|| self.overrides.address_of(host));
        match (written, standing_of_name(host)) {
            (Some(address), _) => vet(address, self.allowed),
            (None, NameStanding::Public) => Ok(()),
            (None, NameStanding::Loopback) => vet(Ipv4Addr::LOCALHOST, self.allowed),
            (None, NameStanding::Reserved(suffix)) => Err(AddressRefusal::Name(suffix)),
        }
    }
}

#[cfg(test)]
mod tests {
    use lohisoftbot_core::exclusion::{Domain, Exclusion};
    use lohisoftbot_core::time::Timestamp;

    use super::*;

    #[test]
    fn seed_is_refused_for_what_can_be_known_without_a_name_server() {
        let mut exclusions = Exclusions::default();
        let exclusion = Exclusion { at: Timestamp::EPOCH, reason: "asked".to_owned() };
        exclusions.insert(Domain::parse("out.test").unwrap(), exclusion);
        let overrides =
            HostOverrides::new([("inside.test", Ipv4Addr::new(10, 0, 0, 1)), ("tor.onion", [127, 0, 0, 1].into())])
                .unwrap();
        let allowed = ["127.0.0.0/8".parse().unwrap()];
        let rules = SeedRules { exclusions: &exclusions, overrides: &overrides, allowed: &allowed };
        for (seed, wanted) in [
            ("http://a.test/", None),
            ("http://127.0.0.9/", None),
            ("http://localhost/", None),
            ("http://tor.onion/", None),
            ("http://www.out.test/", Some("out.test is excluded")),
            ("http://192.168.0.1/", Some("192.168.0.0/16")),
            ("http://inside.test/", Some("10.0.0.0/8")),
            ("http://hidden.onion/", Some(".onion")),
            ("http://a.test:25/", Some("port 25")),
        ] {
            let why = rules.refuse(&Seed::parse(seed).unwrap()).map(|refused| refused.why);
            match (why, wanted) {
                (None, None) => {}
                (Some(why), Some(wanted)) => assert!(why.contains(wanted), "{seed}: {why}"),
                (why, wanted) => panic!("{seed}: {why:?}, wanted {wanted:?}"),
            }
        }
    }
}
