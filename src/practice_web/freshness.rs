//! Pages that live on: validators of every kind, good and bad, and a second epoch in which pages changed, vanished and came.
//!
//! A site's second epoch begins when its home page is asked for the second time, which is what a crawler's second cycle begins with: so
//! there is no moment at which a test would have to switch. What must come of each page in that cycle is written down here as a label, from the
//! page's life alone; nothing here uses the node's own rules. Sites are kept small enough for a budget of 20, the sitemap's requests included,
//! so that the labels can be exact.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::{
    answers::{self, PageAsked},
    generate::{html_page, rng_for},
    labels::{AnswerKind, Permission, Storage},
    page::{CharsetNote, render},
    plan::PracticePlan,
    script::{Answer, Head},
    site_plan::{LinkForm, PageHost, PagePlan, PlannedLink, Ports, PracticeSites, Rel, SitePlan, Target},
};

/// New pages that each site has in the second epoch.
const NUM_NEW: usize = 2;
/// Before any Last-Modified of the web: 1 January 2024.
const FIRST_DATE: Duration = Duration::from_secs(1_704_067_200);
const DAY: Duration = Duration::from_secs(86_400);

/// Whether pages live on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Epochs {
    /// Every page is what it is.
    #[default]
    One,
    /// A third of the pages changes, a tenth vanishes, some are new.
    Two,
}

/// Which epoch of its life a site is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Epoch {
    /// The home page was asked for once at most.
    First,
    /// It was asked for again.
    Second,
}

impl Epoch {
    /// After so many requests for the home page, that for the page itself included where it is the home page.
    pub const fn after(num_home_requests: usize) -> Self {
        if num_home_requests < 2 { Self::First } else { Self::Second }
    }
}

/// How a page tells its versions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Validator {
    /// A strong ETag.
    StrongEtag,
    /// A weak one.
    WeakEtag,
    /// Last-Modified alone.
    LastModified,
    /// An ETag and a Last-Modified.
    Both,
    /// Nothing.
    None,
    /// An ETag that is another at each request.
    ChangingEtag,
    /// An ETag that is right, and a 200 all the same.
    IgnoresMatch,
    /// An ETag that stays the same when the page changes.
    StuckEtag,
    /// `ETag: *`, which would match everything if it were sent back.
    StarEtag,
    /// A Last-Modified in the future.
    FutureDate,
    /// No validator, and a 304 to whoever asks again.
    UnaskedNotModified,
    /// An ETag; its 304 says noindex.
    NoindexOnNotModified,
    /// An ETag; its 304 names another one.
    OtherEtagOnNotModified,
}

/// What becomes of a page in the second epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Turn {
    /// It stays as it was.
    Same,
    /// Its text changes, but nothing that a record holds.
    TextChanged,
    /// Its title changes.
    Changed,
    /// It is answered with this status.
    Vanished(u16),
    /// It becomes a JSON document.
    BecameJson,
    /// It is there only now.
    New,
}

/// A page over both epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PageLife {
    /// How it tells its versions apart.
    pub validator: Validator,
    /// What becomes of it.
    pub turn: Turn,
}

/// Which condition a request must carry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WantedCondition {
    /// None.
    Plain,
    /// `If-None-Match` with this value, and nothing else.
    IfNoneMatch(String),
    /// `If-Modified-Since` with this value, and nothing else.
    IfModifiedSince(String),
}

/// What must be stored of a page after the second cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RecordAfter {
    /// The record of the first cycle, found right in the second.
    Renewed,
    /// A record made in the second cycle, of the same content.
    MadeAgain,
    /// One of other content.
    Replaced,
    /// The record of the first cycle, as it was.
    Untouched,
    /// None any more.
    Removed,
    /// The first one.
    New,
}

/// What the second cycle must do with one page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FreshnessLabel {
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// Its life.
    pub life: PageLife,
    /// Under which condition it is asked.
    pub condition: WantedCondition,
    /// What it answers then.
    pub status: u16,
    /// What is stored of it afterwards.
    pub record: RecordAfter,
    /// The title of that record.
    pub title: String,
}

/// Gives the pages of a site their lives, and adds those that are new in the second epoch.
pub(super) fn add(plan: &PracticePlan, site: &mut SitePlan) {
    use Validator::{
        Both, ChangingEtag, FutureDate, IgnoresMatch, LastModified, NoindexOnNotModified, None, OtherEtagOnNotModified,
        StarEtag, StrongEtag, StuckEtag, UnaskedNotModified, WeakEtag,
    };
    const OF_CHANGED: [Validator; 8] =
        [StrongEtag, StuckEtag, WeakEtag, LastModified, ChangingEtag, None, IgnoresMatch, Both];
    const OF_SAME: [Validator; 12] = [
        StrongEtag,
        LastModified,
        UnaskedNotModified,
        WeakEtag,
        NoindexOnNotModified,
        Both,
        StarEtag,
        None,
        OtherEtagOnNotModified,
        FutureDate,
        IgnoresMatch,
        ChangingEtag,
    ];
    const OF_GONE: [Validator; 4] = [StrongEtag, LastModified, None, WeakEtag];
    if plan.epochs == Epochs::One {
        return;
    }
    let mut rng = rng_for(plan, site.index, 0xf2e5);
    let is_live = |page: &PagePlan| page.answer == AnswerKind::Page && page.permission == Permission::Allowed;
    let mut live: Vec<usize> = (1..site.pages.len()).filter(|&index| is_live(&site.pages[index])).collect();
    rng.shuffle(&mut live);
    let (num_changed, num_gone) = (live.len().div_ceil(3), live.len().div_ceil(10));
    for (number, &index) in live.iter().enumerate() {
        // Sites begin at different places in the lists, so that a few sites show them all.
        let nth = number + 5 * site.index;
        let (turn, validators) = match number {
            _ if number < num_changed => (Turn::Changed, &OF_CHANGED[..]),
            _ if number < num_changed + num_gone => (Turn::Vanished([404, 410][nth % 2]), &OF_GONE[..]),
            _ if number == num_changed + num_gone => (Turn::BecameJson, &OF_GONE[..]),
            _ if number == num_changed + num_gone + 1 => (Turn::TextChanged, &OF_GONE[..]),
            _ => (Turn::Same, &OF_SAME[..]),
        };
        let life = PageLife { validator: validators[nth % validators.len()], turn };
        site.pages[index].life = Some(life);
    }
    site.pages[0].life = Some(PageLife { validator: StrongEtag, turn: Turn::Changed });
    for number in 0..NUM_NEW {
        let page = html_page(plan, &mut rng, site, format!("/new/{number}"), site.language);
        let life = Some(PageLife { validator: [StrongEtag, None][number % 2], turn: Turn::New });
        site.pages.push(PagePlan { life, storage: Storage::Either, ..page });
    }
}

/// Whether nothing links to the page in the first epoch.
pub(super) fn is_new(page: &PagePlan) -> bool {
    page.life.is_some_and(|life| life.turn == Turn::New)
}

/// The answer of a page that lives on.
pub(super) fn answer(asked: &PageAsked<'_>, life: PageLife) -> Answer {
    match (life.turn, asked.epoch) {
        (Turn::New, Epoch::First) => return answers::not_found(asked.now),
        (Turn::Vanished(status), Epoch::Second) => {
            return Head::new(status, asked.now).answer("vanished", b"gone\n");
        }
        (Turn::BecameJson, Epoch::Second) => {
            let head = Head::new(200, asked.now).with("Content-Type", "application/json");
            return head.answer("became JSON", b"{\"page\": null}\n");
        }
        _ => {}
    }
    let version = version_of(life, asked.epoch);
    let fields = fields_of(asked.page, life.validator, version, asked.num_before, asked.now);
    if is_not_modified(asked, life.validator, &fields) {
        return not_modified(asked, life.validator, &fields);
    }
    let page = edition(asked, version);
    let html = render(asked.sites, asked.site, &page, asked.ports, CharsetNote::Meta("utf-8"));
    let head = Head::new(200, asked.now).with("Content-Type", "text/html; charset=utf-8");
    fields.iter().fold(head, |head, (name, value)| head.with(name, value)).answer("living page", html.as_bytes())
}

const fn version_of(life: PageLife, epoch: Epoch) -> u8 {
    match (life.turn, epoch) {
        (Turn::Changed | Turn::TextChanged, Epoch::Second) => 2,
        _ => 1,
    }
}

fn etag(page: &PagePlan, version: u8) -> String {
    format!("\"{:x}.{version}\"", page.text_seed)
}

fn date(page: &PagePlan, version: u8) -> String {
    let age = Duration::from_secs(page.text_seed % (300 * DAY.as_secs())) + DAY * version.into();
    httpdate::fmt_http_date(SystemTime::UNIX_EPOCH + FIRST_DATE + age)
}

/// The validators that a page is sent with.
fn fields_of(
    page: &PagePlan,
    validator: Validator,
    version: u8,
    num_before: usize,
    now: SystemTime,
) -> Vec<(&'static str, String)> {
    match validator {
        Validator::StrongEtag
        | Validator::IgnoresMatch
        | Validator::NoindexOnNotModified
        | Validator::OtherEtagOnNotModified => vec![("ETag", etag(page, version))],
        Validator::StuckEtag => vec![("ETag", etag(page, 1))],
        Validator::WeakEtag => vec![("ETag", format!("W/{}", etag(page, version)))],
        Validator::LastModified => vec![("Last-Modified", date(page, version))],
        Validator::Both => vec![("ETag", etag(page, version)), ("Last-Modified", date(page, version))],
        Validator::ChangingEtag => vec![("ETag", format!("\"{:x}-{num_before}\"", page.text_seed))],
        Validator::StarEtag => vec![("ETag", "*".to_owned())],
        Validator::FutureDate => vec![("Last-Modified", httpdate::fmt_http_date(now + 1000 * DAY))],
        Validator::None | Validator::UnaskedNotModified => Vec::new(),
    }
}

fn is_not_modified(asked: &PageAsked<'_>, validator: Validator, fields: &[(&str, String)]) -> bool {
    let current = |wanted: &str| fields.iter().find(|(name, _)| *name == wanted).map(|(_, value)| value.as_str());
    match validator {
        Validator::UnaskedNotModified => asked.epoch == Epoch::Second,
        Validator::IgnoresMatch => false,
        Validator::StarEtag => asked.if_none_match.is_some(),
        Validator::FutureDate => asked.if_modified_since.is_some(),
        _ => match (asked.if_none_match, asked.if_modified_since) {
            (Some(etag), _) => current("ETag") == Some(etag),
            (None, Some(date)) => current("Last-Modified") == Some(date),
            (None, None) => false,
        },
    }
}

fn not_modified(asked: &PageAsked<'_>, validator: Validator, fields: &[(&str, String)]) -> Answer {
    let head = Head::new(304, asked.now);
    let head = match validator {
        Validator::OtherEtagOnNotModified => head.with("ETag", "\"quite another\""),
        Validator::NoindexOnNotModified => head.with("X-Robots-Tag", "noindex").with("ETag", &fields[0].1),
        _ => fields.iter().fold(head, |head, (name, value)| head.with(name, value)),
    };
    let bytes = head.bytes();
    Answer::of_steps(304, "not modified", vec![super::script::Step::Send(bytes)])
}

/// The title of a page that changed.
fn second_title(title: &str) -> String {
    format!("{title} (second edition)")
}

/// The page as it is in that version; the home page of the second links to the new pages.
fn edition(asked: &PageAsked<'_>, version: u8) -> PagePlan {
    let mut page = asked.page.clone();
    if version == 1 {
        return page;
    }
    page.target_bytes += 500;
    if page.life.is_some_and(|life| life.turn == Turn::Changed) {
        page.title = second_title(&page.title);
    }
    if page.path == "/" {
        page.links.extend(asked.site.pages.iter().filter(|page| is_new(page)).map(|new| PlannedLink {
            target: Target { site: asked.site.index, host: PageHost::Main, path: new.path.clone() },
            text: new.title.clone(),
            rel: Rel::Plain,
            form: LinkForm::Path,
        }));
    }
    page
}

impl PracticeSites {
    /// What the second cycle of each site must do.
    pub fn freshness_labels(&self, ports: Ports) -> Vec<FreshnessLabel> {
        let pages = self.sites.iter().flat_map(|site| site.pages.iter().map(move |page| (site, page)));
        let living = pages.filter_map(|(site, page)| Some((site, page, page.life?)));
        living.map(|(site, page, life)| label(site, page, life, ports)).collect()
    }
}

fn label(site: &SitePlan, page: &PagePlan, life: PageLife, ports: Ports) -> FreshnessLabel {
    let by_etag = |etag: String| WantedCondition::IfNoneMatch(etag);
    let condition = match (life.turn, life.validator) {
        (Turn::New, _) => WantedCondition::Plain,
        (_, Validator::WeakEtag) => by_etag(format!("W/{}", etag(page, 1))),
        (_, Validator::LastModified) => WantedCondition::IfModifiedSince(date(page, 1)),
        (_, Validator::ChangingEtag) => by_etag(format!("\"{:x}-0\"", page.text_seed)),
        (_, Validator::None | Validator::StarEtag | Validator::FutureDate | Validator::UnaskedNotModified) => {
            WantedCondition::Plain
        }
        (
            _,
            Validator::StrongEtag
            | Validator::Both
            | Validator::IgnoresMatch
            | Validator::StuckEtag
            | Validator::NoindexOnNotModified
            | Validator::OtherEtagOnNotModified,
        ) => by_etag(etag(page, 1)),
    };
    let (status, record) = match (life.turn, life.validator) {
        (Turn::New, _) => (200, RecordAfter::New),
        (Turn::Vanished(status), _) => (status, RecordAfter::Removed),
        (Turn::BecameJson, _) => (200, RecordAfter::Removed),
        (Turn::Changed, Validator::StuckEtag) => (304, RecordAfter::Renewed),
        (Turn::Changed, _) => (200, RecordAfter::Replaced),
        (Turn::TextChanged, _) => (200, RecordAfter::MadeAgain),
        (Turn::Same, Validator::UnaskedNotModified) => (304, RecordAfter::Untouched),
        (Turn::Same, Validator::NoindexOnNotModified) => (304, RecordAfter::Removed),
        (
            Turn::Same,
            Validator::None
            | Validator::ChangingEtag
            | Validator::IgnoresMatch
            | Validator::StarEtag
            | Validator::FutureDate,
        ) => (200, RecordAfter::MadeAgain),
        (
            Turn::Same,
            Validator::StrongEtag
            | Validator::WeakEtag
            | Validator::LastModified
            | Validator::Both
            | Validator::StuckEtag
            | Validator::OtherEtagOnNotModified,
        ) => (304, RecordAfter::Renewed),
    };
    let title = if record == RecordAfter::Replaced { second_title(&page.title) } else { page.title.clone() };
    let url = format!("{}{}", site.origin(page.host, ports), page.path);
    FreshnessLabel { url, site: site.name.clone(), life, condition, status, record, title }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn labels(seed: u64) -> Vec<FreshnessLabel> {
        let plan = PracticePlan { epochs: Epochs::Two, pages_per_site: (9, 12), ..PracticePlan::small(seed, 12) };
        PracticeSites::generate(plan).freshness_labels(Ports { http: 80, https: 443 })
    }

    #[test]
    fn a_dozen_sites_show_every_validator_and_every_fate_and_the_shares_that_were_asked_for() {
        for seed in 0..10 {
            let labels = labels(seed);
            let validators: BTreeSet<_> = labels.iter().map(|label| label.life.validator).collect();
            let records: BTreeSet<_> = labels.iter().map(|label| label.record).collect();
            assert_eq!((validators.len(), records.len()), (13, 6), "seed {seed}: {validators:?} {records:?}");
            let old = labels.iter().filter(|label| label.life.turn != Turn::New).count();
            let share = |is: fn(Turn) -> bool| 100 * labels.iter().filter(|label| is(label.life.turn)).count() / old;
            assert!((30..=50).contains(&share(|turn| turn == Turn::Changed)), "seed {seed}");
            assert!((8..=20).contains(&share(|turn| matches!(turn, Turn::Vanished(_)))), "seed {seed}");
        }
    }

    #[test]
    fn sites_of_two_epochs_fit_into_the_budget() {
        for seed in 0..10 {
            let plan = PracticePlan { epochs: Epochs::Two, pages_per_site: (9, 12), ..PracticePlan::small(seed, 12) };
            for site in PracticeSites::generate(plan).sites() {
                let num_allowed = site.pages.iter().filter(|page| page.permission == Permission::Allowed).count();
                let (guessed, redirected) = (site.sitemap.is_none(), site.index % 10 == 6);
                let num_requests = num_allowed + usize::from(guessed) + usize::from(redirected);
                assert!(num_requests <= 20, "seed {seed}, {}: {num_requests}", site.name);
            }
        }
    }

    #[test]
    fn one_epoch_is_the_rule() {
        let sites = PracticeSites::generate(PracticePlan::demo(1));
        assert!(sites.sites().iter().flat_map(|site| &site.pages).all(|page| page.life.is_none()));
    }
}
