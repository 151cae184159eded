//! From the lines of a file to the policy of one crawler: which group binds it, and what that group says.
//!
//! RFC 9309 §2.2.1: the groups that name the crawler count as one; where there is none, those for `*` do. Only an Allow
//! or Disallow line ends the row of User-agent lines that begins a group; Sitemap, Crawl-delay and unknown lines do not
//! (§2.2.4).
//!
//! Extensions (Crawl-delay, Content-Usage) bind the agents named directly above them: there it is they who end the row,
//! for other extensions only. So `User-agent: a / Crawl-delay: 1 / User-agent: b / Disallow: /` gives a delay to a, and
//! the rule to both.

use std::cmp::Reverse;
use std::mem;
use std::time::Duration;

use super::directive::{self, Directive};
use super::lines::{SourceLine, WellFormed, cut, each_line};
use super::pattern::Pattern;
use super::policy::{Effect, MAX_LINE_TEXT_BYTES, RobotsBasis, RobotsGroup, RobotsLine, RobotsPolicy, Rule};
use super::{MAX_CRAWL_DELAY, MAX_SITEMAPS, product_token};
use crate::content_usage::SearchWish;

pub(super) fn compile(bytes: &[u8], token: &str) -> RobotsPolicy {
    compile_with_outline(bytes, token).0
}

/// Where in the file the group stands that binds the crawler: what an explanation names beside the rules.
#[derive(Debug, Default)]
pub(super) struct Outline {
    /// The number of the first User-agent line that names it.
    pub group_line: Option<u32>,
    /// The first of its Allow and Disallow lines that has no value: it rules nothing, and says so.
    pub empty_line: Option<RobotsLine>,
}

/// The policy, and its outline, which is not kept with it.
pub(super) fn compile_with_outline(bytes: &[u8], token: &str) -> (RobotsPolicy, Outline) {
    let mut reading = Reading { token, ..Reading::default() };
    each_line(bytes, |line| {
        if let Some(directive) = directive::read(&line.text) {
            reading.take(&line, directive);
        }
    });
    reading.into_policy()
}

/// Puts rules in the order in which they decide: most octets first, Allow before Disallow (RFC 9309 §2.2.2), then as in
/// the file.
pub(super) fn sort_by_precedence(rules: &mut Vec<Rule>) {
    rules.sort_by_key(|rule| (Reverse(rule.pattern.num_octets()), rule.effect, rule.number));
    rules.shrink_to_fit();
}

/// The same for wishes about search: of equally specific ones the forbidding counts, since a page can be shown later,
/// but not unshown.
pub(super) fn sort_search_rules(rules: &mut Vec<Rule>) {
    rules.sort_by_key(|rule| Reverse((rule.pattern.num_octets(), rule.effect, rule.number)));
    rules.shrink_to_fit();
}

/// What a line rules about, if its directive is one that does.
pub(super) enum Ruling {
    Access(Effect, Pattern),
    Search(Effect, Pattern),
}

impl Ruling {
    /// Nothing for a directive that rules nothing, and for a pattern that matches nothing.
    pub(super) fn of(directive: &Directive) -> Option<Self> {
        match directive {
            Directive::Allow(value) => Some(Self::Access(Effect::Allow, Pattern::compile(value)?)),
            Directive::Disallow(value) => Some(Self::Access(Effect::Disallow, Pattern::compile(value)?)),
            // A line that the parser cannot take may forbid anything: in doubt, no fetch.
            Directive::Unreadable => Some(Self::Access(Effect::Disallow, Pattern::compile("/")?)),
            Directive::ContentUsage(value) => {
                let (effect, path) = search_usage(value)?;
                Some(Self::Search(effect, Pattern::compile(path)?))
            }
            Directive::UserAgent(_) | Directive::Sitemap(_) | Directive::CrawlDelay(_) => None,
        }
    }
}

/// `[path] statement`: what the statement says of search, and for which paths (draft-ietf-aipref-attach §3.2).
fn search_usage(value: &str) -> Option<(Effect, &str)> {
    let (path, statement) = match value.split_once([' ', '\t']) {
        Some((path, statement)) if path.starts_with(['/', '*']) => (path, statement),
        _ => ("/", value),
    };
    let effect = match SearchWish::stated(statement)? {
        SearchWish::Allowed => Effect::Allow,
        SearchWish::Forbidden => Effect::Disallow,
    };
    Some((effect, path))
}

/// Seconds, with or without a fraction; anything else is no delay. A delay without end counts as the longest.
fn delay(value: &str) -> Option<Duration> {
    if !value.bytes().all(|b| b.is_ascii_digit() || b == b'.') || !value.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let seconds: f64 = value.parse().ok()?;
    Some(Duration::try_from_secs_f64(seconds).unwrap_or(MAX_CRAWL_DELAY).min(MAX_CRAWL_DELAY))
}

/// Which of the two groups that can bind the crawler the agents named last belong to.
#[derive(Clone, Copy, Default)]
struct Row {
    names_own: bool,
    names_any: bool,
    /// The next User-agent line begins a new row.
    ended: bool,
}

impl Row {
    fn name(&mut self, agent: Agent) {
        if mem::take(&mut self.ended) {
            *self = Self::default();
        }
        match agent {
            Agent::Own => self.names_own = true,
            Agent::Any => self.names_any = true,
            Agent::Other => {}
        }
    }
}

#[derive(Clone, Copy)]
enum Agent {
    Own,
    Any,
    Other,
}

/// What one group has said so far.
#[derive(Default)]
struct Collected {
    rules: Vec<Rule>,
    search_rules: Vec<Rule>,
    crawl_delay: Option<Duration>,
    outline: Outline,
}

#[derive(Default)]
struct Reading<'t> {
    token: &'t str,
    rule_row: Row,
    extension_row: Row,
    own_name: Option<Box<str>>,
    has_any: bool,
    has_agent_line: bool,
    own: Collected,
    any: Collected,
    sitemaps: Vec<String>,
}

impl Reading<'_> {
    fn take(&mut self, line: &SourceLine<'_>, directive: Directive) {
        match &directive {
            Directive::UserAgent(value) => self.take_agent(value, line.number),
            Directive::Sitemap(value) => self.take_sitemap(value, line.well_formed),
            Directive::CrawlDelay(value) => {
                let delay = delay(value);
                // Of several delays the longest is the polite one.
                self.for_groups(self.extension_row(), |group| group.crawl_delay = group.crawl_delay.max(delay));
                self.extension_row.ended = true;
            }
            Directive::ContentUsage(_) => {
                self.take_rule(line, &directive, self.extension_row());
                self.extension_row.ended = true;
            }
            Directive::Allow(_) | Directive::Disallow(_) | Directive::Unreadable => {
                self.take_rule(line, &directive, self.rule_row);
                self.rule_row.ended = true;
                self.extension_row.ended = true;
            }
        }
    }

    fn take_agent(&mut self, value: &str, number: u32) {
        self.has_agent_line = true;
        let agent = self.agent(value);
        match agent {
            Agent::Own => {
                self.own_name.get_or_insert_with(|| product_token(value).into());
                self.own.outline.group_line.get_or_insert(number);
            }
            Agent::Any => {
                self.has_any = true;
                self.any.outline.group_line.get_or_insert(number);
            }
            Agent::Other => {}
        }
        self.rule_row.name(agent);
        self.extension_row.name(agent);
    }

    /// Names are compared whole and without regard to case; what follows a name or `*` after a blank is passed over, as
    /// Google does.
    fn agent(&self, value: &str) -> Agent {
        let name = product_token(value);
        if !name.is_empty() && name.eq_ignore_ascii_case(self.token) {
            return Agent::Own;
        }
        match value.strip_prefix('*') {
            Some(rest) if rest.is_empty() || rest.starts_with(char::is_whitespace) => Agent::Any,
            _ => Agent::Other,
        }
    }

    /// An extension before the first User-agent line is taken as said to all: RFC 9309 is silent, and waiting is the
    /// polite reading.
    fn extension_row(&self) -> Row {
        if self.has_agent_line { self.extension_row } else { Row { names_any: true, ..Row::default() } }
    }

    fn take_sitemap(&mut self, value: &str, well_formed: WellFormed) {
        let is_usable = !value.is_empty() && well_formed == WellFormed::Utf8;
        if is_usable && self.sitemaps.len() < MAX_SITEMAPS && !self.sitemaps.iter().any(|known| known == value) {
            self.sitemaps.push(value.to_owned());
        }
    }

    fn take_rule(&mut self, line: &SourceLine<'_>, directive: &Directive, row: Row) {
        if !(row.names_own || row.names_any) {
            return;
        }
        if let Directive::Allow(value) | Directive::Disallow(value) = directive
            && value.is_empty()
        {
            let empty = RobotsLine { number: line.number, text: cut(&line.text, MAX_LINE_TEXT_BYTES).to_owned() };
            self.for_groups(row, |group| {
                group.outline.empty_line.get_or_insert_with(|| empty.clone());
            });
        }
        let Some(ruling) = Ruling::of(directive) else { return };
        self.for_groups(row, |group| {
            let (rules, effect, pattern) = match &ruling {
                Ruling::Access(effect, pattern) => (&mut group.rules, *effect, pattern.clone()),
                Ruling::Search(effect, pattern) => (&mut group.search_rules, *effect, pattern.clone()),
            };
            rules.push(Rule { number: line.number, effect, pattern, text: (&*line.text).into() });
        });
    }

    fn for_groups(&mut self, row: Row, mut change: impl FnMut(&mut Collected)) {
        if row.names_own {
            change(&mut self.own);
        }
        if row.names_any {
            change(&mut self.any);
        }
    }

    fn into_policy(self) -> (RobotsPolicy, Outline) {
        let (group, mut collected) = match self.own_name {
            Some(name) => (RobotsGroup::Own(name), self.own),
            None if self.has_any => (RobotsGroup::Any, self.any),
            None => (RobotsGroup::None, self.any),
        };
        sort_by_precedence(&mut collected.rules);
        sort_search_rules(&mut collected.search_rules);
        let policy = RobotsPolicy {
            basis: RobotsBasis::File,
            group,
            rules: collected.rules,
            search_rules: collected.search_rules,
            crawl_delay: collected.crawl_delay,
            sitemaps: self.sitemaps,
        };
        (policy, collected.outline)
    }
}
