//! What name servers said lately: addresses of names, for as long as every record of the answer allows.
//!
//! It stands in the place of the resolver library's own cache, which forgets the TTL of an alias whose target it knows already, and
//! so keeps the alias for as long as the target. Only addresses are remembered: a name that does not exist parks its site for longer
//! than any memory would last, and servers that failed are to be asked again.
//!
//! Invariants: nothing is given out after its time, none is kept for longer than [`MAX_ANSWER_TTL`], and there are never more than
//! [`MAX_REMEMBERED_NAMES`].

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use hickory_resolver::proto::rr::Name;

/// Longest time for which an answer is remembered, whatever its records say: a server that moves is found again within the hour, and an
/// address that had to be refused is looked at again.
pub const MAX_ANSWER_TTL: Duration = Duration::from_secs(3600);

/// Most names that are remembered at once.
pub const MAX_REMEMBERED_NAMES: usize = 8192;

/// The addresses of names, each with its end.
#[derive(Debug, Default)]
pub struct AnswerMemory(HashMap<Name, Remembered>);

#[derive(Debug)]
struct Remembered {
    addresses: Vec<Ipv4Addr>,
    ends_at: Instant,
}

impl AnswerMemory {
    /// The addresses of a name, as far as they are still good.
    pub fn recall(&self, name: &Name, now: Instant) -> Option<Vec<Ipv4Addr>> {
        self.0.get(name).filter(|entry| now < entry.ends_at).map(|entry| entry.addresses.clone())
    }

    /// Remembers an answer that was heard at `now`. One with a TTL of zero is for the question at hand alone (RFC 1035 §3.2.1).
    pub fn remember(&mut self, name: Name, addresses: Vec<Ipv4Addr>, ttl: Duration, now: Instant) {
        if self.0.len() >= MAX_REMEMBERED_NAMES {
            self.0.retain(|_, entry| now < entry.ends_at);
        }
        // Where all are still good, to forget them costs a question each, and that only once for so many names.
        if self.0.len() >= MAX_REMEMBERED_NAMES {
            self.0.clear();
        }
        self.0.insert(name, Remembered { addresses, ends_at: now + ttl.min(MAX_ANSWER_TTL) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn name(number: usize) -> Name {
        Name::from_ascii(format!("host{number}.example.")).unwrap()
    }

    #[test]
    fn an_answer_ends_with_its_ttl_or_the_cap_whichever_comes_first() {
        let heard = Instant::now();
        for (ttl, good_until) in [
            (Duration::ZERO, None),
            (SECOND, Some(SECOND)),
            (300 * SECOND, Some(300 * SECOND)),
            (MAX_ANSWER_TTL, Some(MAX_ANSWER_TTL)),
            (7 * 86_400 * SECOND, Some(MAX_ANSWER_TTL)),
            (Duration::from_secs(u32::MAX.into()), Some(MAX_ANSWER_TTL)),
        ] {
            let mut memory = AnswerMemory::default();
            memory.remember(name(1), vec![Ipv4Addr::new(1, 1, 1, 1)], ttl, heard);
            let is_good_after = |span| memory.recall(&name(1), heard + span).is_some();
            assert_eq!(is_good_after(Duration::ZERO), good_until.is_some(), "{ttl:?}");
            if let Some(end) = good_until {
                assert!(is_good_after(end - Duration::from_millis(1)) && !is_good_after(end), "{ttl:?}");
            }
            assert_eq!(memory.recall(&name(2), heard), None);
        }
    }

    #[test]
    fn a_later_answer_takes_the_place_of_the_earlier_one_in_any_case_of_letters() {
        let (mut memory, now) = (AnswerMemory::default(), Instant::now());
        for last in [1, 2] {
            memory.remember(name(1), vec![Ipv4Addr::new(1, 1, 1, last)], SECOND, now);
        }
        let shouted = Name::from_ascii("HOST1.EXAMPLE.").unwrap();
        assert_eq!(memory.recall(&shouted, now), Some(vec![Ipv4Addr::new(1, 1, 1, 2)]));
        memory.remember(shouted, vec![Ipv4Addr::new(1, 1, 1, 3)], Duration::ZERO, now);
        assert_eq!(memory.recall(&name(1), now), None, "what was remembered before is no longer true");
    }

    #[test]
    fn never_more_names_than_the_cap_are_remembered() {
        let (mut memory, now) = (AnswerMemory::default(), Instant::now());
        for number in 0..MAX_REMEMBERED_NAMES {
            let ttl = if number == 0 { 60 * SECOND } else { SECOND };
            memory.remember(name(number), vec![Ipv4Addr::LOCALHOST], ttl, now);
        }
        assert_eq!(memory.0.len(), MAX_REMEMBERED_NAMES);
        memory.remember(name(MAX_REMEMBERED_NAMES), vec![], 60 * SECOND, now + SECOND);
        assert_eq!(memory.0.len(), 2, "those whose time is over make room first");
        assert!(memory.recall(&name(0), now + SECOND).is_some());
        for number in 0..2 * MAX_REMEMBERED_NAMES {
            memory.remember(name(number), vec![], 60 * SECOND, now);
            assert!(memory.0.len() <= MAX_REMEMBERED_NAMES);
        }
    }
}
