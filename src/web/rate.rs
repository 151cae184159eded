//! How often one client may ask: a burst, and then a steady rate, each client for itself.
//!
//! A client is an IPv4 address or an IPv6 /64, since that much is what one subscriber is given. The rule is the generic cell rate
//! algorithm: one point in time a client, no counter that must be refilled.
//!
//! **Invariant:** the table never holds more than twice [`MAX_CLIENTS`]. A client that is forgotten is one that could ask a whole burst
//! again anyway, unless more clients than that ask at once: then nobody is refused for what others do.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Clients in one half of the table.
const MAX_CLIENTS: usize = 32_768;

/// Bits of an IPv6 address that name a subscriber.
const SUBSCRIBER_BITS: u32 = 64;

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is answered.
    Admitted,
    /// It is not, until this long has passed.
    Refused(Duration),
}

/// The table of all clients.
pub(super) struct RateLimiter {
    /// Between two requests at the steady rate.
    interval: Duration,
    /// How far ahead of the steady rate a client may be.
    ahead: Duration,
    table: Mutex<Table>,
}

struct Table {
    /// When each client would be back at nothing asked; those seen since the last turn.
    recent: HashMap<IpAddr, Instant>,
    /// Those seen in the turn before it only.
    older: HashMap<IpAddr, Instant>,
    turned_at: Instant,
}

impl RateLimiter {
    /// For `per_minute` requests in the long run, `burst` of them at once; both at least 1.
    pub(super) fn new(per_minute: u32, burst: u32, now: Instant) -> Self {
        let interval = Duration::from_secs(60) / per_minute.max(1);
        let table = Table { recent: HashMap::new(), older: HashMap::new(), turned_at: now };
        Self { interval, ahead: interval.saturating_mul(burst.max(1)), table: Mutex::new(table) }
    }

    /// Counts a request of this client, if it may be answered.
    pub(super) fn admit(&self, client: IpAddr, now: Instant) -> Admission {
        let client = subscriber(client);
        // The table is whole after any panic: each step below leaves it so.
        let mut table = self.table.lock().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(table.turned_at) > self.ahead || table.recent.len() >= MAX_CLIENTS {
            table.older = std::mem::take(&mut table.recent);
            table.turned_at = now;
        }
        let known = table.recent.get(&client).or_else(|| table.older.get(&client)).copied();
        let even_at = known.map_or(now, |at| at.max(now)) + self.interval;
        let lead = even_at.duration_since(now);
        if lead > self.ahead {
            return Admission::Refused(lead - self.ahead);
        }
        table.recent.insert(client, even_at);
        Admission::Admitted
    }
}

/// What one subscriber is given: an IPv4 address, or an IPv6 /64.
pub(super) fn subscriber(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(v4) => IpAddr::V4(v4),
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & (u128::MAX << (u128::BITS - SUBSCRIBER_BITS)))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn num_admitted(limiter: &RateLimiter, client: &str, tries: usize, now: Instant) -> usize {
        (0..tries).filter(|_| limiter.admit(address(client), now) == Admission::Admitted).count()
    }

    #[test]
    fn burst_is_admitted_and_then_the_steady_rate() {
        let start = Instant::now();
        let limiter = RateLimiter::new(60, 5, start);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 9, start), 5);
        assert_eq!(limiter.admit(address("192.0.2.1"), start), Admission::Refused(Duration::from_secs(1)));
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 9, start + Duration::from_secs(1)), 1);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 9, start + Duration::from_secs(4)), 3);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 99, start + Duration::from_secs(600)), 5);
    }

    #[test]
    fn refused_request_costs_nothing() {
        let start = Instant::now();
        let limiter = RateLimiter::new(60, 1, start);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 1000, start), 1);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 1, start + Duration::from_secs(1)), 1);
    }

    #[test]
    fn clients_are_counted_apart_and_a_subscriber_of_ipv6_as_one() {
        let start = Instant::now();
        let limiter = RateLimiter::new(60, 1, start);
        assert_eq!(num_admitted(&limiter, "192.0.2.1", 2, start), 1);
        assert_eq!(num_admitted(&limiter, "192.0.2.2", 2, start), 1);
        assert_eq!(num_admitted(&limiter, "::ffff:192.0.2.2", 2, start), 0);
        assert_eq!(num_admitted(&limiter, "2001:db8::1", 2, start), 1);
        assert_eq!(num_admitted(&limiter, "2001:db8::ffff:2", 2, start), 0);
        assert_eq!(num_admitted(&limiter, "2001:db8:0:1::1", 2, start), 1);
    }

    #[test]
    fn turn_of_the_table_forgets_nobody_who_still_owes() {
        let start = Instant::now();
        let limiter = RateLimiter::new(60, 10, start);
        let mut num = 0;
        for half_second in 0..200 {
            num += num_admitted(&limiter, "192.0.2.1", 3, start + Duration::from_millis(500 * half_second));
        }
        assert!((100..=110).contains(&num), "{num} in 100 s at one a second with 10 at once");
    }

    #[test]
    fn table_stays_small_whoever_asks() {
        let start = Instant::now();
        let limiter = RateLimiter::new(1, 60, start);
        for number in 0..200_000_u32 {
            assert_eq!(limiter.admit(IpAddr::V4(number.into()), start), Admission::Admitted);
        }
        let table = limiter.table.lock().unwrap();
        assert!(table.recent.len() <= MAX_CLIENTS && table.older.len() <= MAX_CLIENTS);
    }
}
