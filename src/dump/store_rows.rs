//! What each command shows of the record store.

use std::io::Write;

use lohisoftbot_actors::storage::{RecordStore, StoreError};
use lohisoftbot_core::page_choice::EntryStanding;
use lohisoftbot_core::record::PageRecord;
use lohisoftbot_core::site::Site;
use lohisoftbot_core::site_row::{SiteRow, SiteStanding};
use lohisoftbot_core::time::Timestamp;
use lohisoftbot_core::url::{PageUrl, without_userinfo};
use serde_json::{Value, json};

use super::args::DumpArgs;
use super::output::{Column, column, detail};
use super::{DumpError, rows};
use crate::io::sled_store::{SledStore, TreeName};

const TREE_COLUMNS: &[Column] = &[column("tree"), column("rows"), column("bytes")];
const STAT_COLUMNS: &[Column] = &[column("what"), column("count")];
const GET_COLUMNS: &[Column] = &[column("field"), column("value")];
const PAGE_COLUMNS: &[Column] = &[
    column("url"),
    column("status"),
    column("title"),
    detail("description"),
    detail("headings"),
    column("lang"),
    detail("canonical"),
    column("fetched_at"),
    column("cycle"),
    detail("etag"),
    detail("last_modified"),
    detail("cut"),
    detail("nosnippet"),
    detail("unavailable_after"),
    detail("target_sites"),
];
const INLINK_COLUMNS: &[Column] =
    &[column("target"), column("text"), column("source"), column("nofollow"), detail("fetched_at")];
const SITE_COLUMNS: &[Column] = &[
    column("site"),
    column("standing"),
    column("reason"),
    column("due_at"),
    column("pages"),
    column("cycle"),
    column("page_requests"),
    detail("sitemap_requests"),
    detail("next_cycle_at"),
    detail("wait_until"),
    detail("rung"),
    detail("barrier_streak"),
    detail("open_ticket"),
    detail("first_seen_at"),
    detail("last_cycle_finished_at"),
    detail("learnt_interval_seconds"),
    detail("seeds"),
    detail("account_seq"),
];
const FRONTIER_COLUMNS: &[Column] = &[
    column("site"),
    column("url"),
    column("standing"),
    column("reason"),
    column("depth"),
    column("inlinks"),
    column("tries"),
    detail("asked_as"),
];
const EXCLUSION_COLUMNS: &[Column] = &[column("domain"), column("at"), column("reason")];

/// The trees.
pub fn trees(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let mut writer = rows(args, TREE_COLUMNS, output);
    for tree in TreeName::ALL.into_iter().filter(|tree| has_prefix(args, tree.as_str())).take(limit(args)) {
        let (mut num_rows, mut num_bytes) = (0_u64, 0);
        for row in store.raw_rows(tree, &[]) {
            let (key, value) = row?;
            num_rows += 1;
            num_bytes += key.len() + value.len();
        }
        writer.row(vec![json!(tree.as_str()), json!(num_rows), json!(num_bytes)])?;
    }
    Ok(writer.finish()?)
}

/// The counts.
pub fn stats(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let stats = store.stats();
    let standing = stats.standing;
    let counts = [
        ("sites", stats.num_sites),
        ("sites due", standing.num_due),
        ("sites live", standing.num_live),
        ("sites parked", standing.num_parked),
        ("sites finished", standing.num_finished),
        ("sites paused", standing.num_paused),
        ("pages", stats.num_pages),
        ("links", stats.num_links),
        ("inlink rows", stats.num_inlink_rows),
        ("frontier urls", stats.num_frontier_urls),
        ("exclusions", stats.num_exclusions),
        ("changes", stats.change_seq),
        ("ledger entries seen", store.ledger_seq()),
    ];
    let mut writer = rows(args, STAT_COLUMNS, output);
    for (what, count) in counts.into_iter().filter(|(what, _)| has_prefix(args, what)).take(limit(args)) {
        writer.row(vec![json!(what), json!(count)])?;
    }
    Ok(writer.finish()?)
}

/// All of one page or one site.
pub fn get(args: &DumpArgs, store: &SledStore, what: &str, output: &mut dyn Write) -> Result<(), DumpError> {
    let not_found = || DumpError::NotFound(without_userinfo(what).into_owned());
    let (columns, values, more) = if what.contains("://") {
        let url = PageUrl::parse(what, None).map_err(|_| not_found())?;
        let record = store.page(&url)?.ok_or_else(not_found)?;
        let inlinks = store.inlinks_of(&url)?;
        let anchors: Vec<Value> = inlinks
            .iter()
            .flat_map(|row| row.links.iter().map(|link| json!({"source": row.source.as_str(), "text": link.text})))
            .collect();
        (PAGE_COLUMNS, page_values(&record), ("anchors", json!(anchors)))
    } else {
        let site = PageUrl::parse(&format!("http://{what}/"), None).map_err(|_| not_found())?.site();
        let row = store.site(&site)?.ok_or_else(not_found)?;
        let robots: Vec<Value> = store
            .robots(&site)?
            .iter()
            .map(|copy| json!({"origin": copy.origin.to_string(), "bytes": copy.bytes.len()}))
            .collect();
        (SITE_COLUMNS, site_values(&row), ("robots", json!(robots)))
    };
    let mut writer = rows(args, GET_COLUMNS, output);
    for (column, value) in columns.iter().map(|column| column.name).zip(values).chain([more]) {
        writer.row(vec![json!(column), value])?;
    }
    Ok(writer.finish()?)
}

/// Page records.
pub fn pages(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let wanted = |page: &PageRecord| has_prefix(args, page.url.as_str());
    write_rows(args, PAGE_COLUMNS, output, only(store.pages(args.site.as_ref()), wanted), |page| page_values(&page))
}

/// Links.
pub fn inlinks(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let links = store.inlink_rows(args.site.as_ref()).flat_map(|row| {
        let (error, row) = match row {
            Ok((_, row)) => (None, Some(row)),
            Err(error) => (Some(Err(error)), None),
        };
        let links = row.into_iter().flat_map(|row| {
            let (source, fetched_at) = (row.source, row.fetched_at);
            row.links.into_iter().map(move |link| Ok((source.clone(), fetched_at, link)))
        });
        error.into_iter().chain(links)
    });
    let wanted = only(links, |(_, _, link)| has_prefix(args, link.target.as_str()));
    write_rows(args, INLINK_COLUMNS, output, wanted, |(source, fetched_at, link)| {
        vec![
            json!(link.target.as_str()),
            json!(link.text),
            json!(source.as_str()),
            json!(link.nofollow),
            json!(fetched_at.to_string()),
        ]
    })
}

/// Sites.
pub fn sites(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let wanted = |row: &SiteRow| has_prefix(args, row.site.as_str());
    write_rows(args, SITE_COLUMNS, output, only(store.site_rows(args.site.as_ref()), wanted), |row| site_values(&row))
}

/// Queues.
pub fn frontier(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let entries = store.frontier_entries(args.site.as_ref());
    let wanted = only(entries, |(_, entry)| has_prefix(args, entry.url.as_str()));
    write_rows(args, FRONTIER_COLUMNS, output, wanted, |(site, entry)| {
        let (standing, reason) = match entry.standing {
            EntryStanding::Queued => ("queued", Value::Null),
            EntryStanding::Stored => ("stored", Value::Null),
            EntryStanding::SitemapRead { num_urls } => ("read", json!(format!("a sitemap that lists {num_urls} URLs"))),
            EntryStanding::Dropped(reason) => ("dropped", json!(reason.describe())),
        };
        vec![
            json!(site.as_str()),
            json!(entry.url.as_str()),
            json!(standing),
            reason,
            json!(entry.depth),
            json!(entry.num_inlinks),
            json!(entry.num_tries),
            json!(if entry.role.is_sitemap() { "sitemap" } else { "page" }),
        ]
    })
}

/// Exclusions.
pub fn exclusions(args: &DumpArgs, store: &SledStore, output: &mut dyn Write) -> Result<(), DumpError> {
    let touches = |site: &Option<Site>, domain: &lohisoftbot_core::exclusion::Domain| {
        site.as_ref().is_none_or(|site| domain.touches_site(site))
    };
    let all = store.exclusions().iter().filter(|(domain, _)| has_prefix(args, domain.as_str()));
    let wanted = all.filter(|(domain, _)| touches(&args.site, domain)).map(Ok);
    write_rows(args, EXCLUSION_COLUMNS, output, wanted, |(domain, exclusion)| {
        vec![json!(domain.as_str()), json!(exclusion.at.to_string()), json!(exclusion.reason)]
    })
}

fn write_rows<T>(
    args: &DumpArgs,
    columns: &'static [Column],
    output: &mut dyn Write,
    items: impl Iterator<Item = Result<T, StoreError>>,
    values: impl Fn(T) -> Vec<Value>,
) -> Result<(), DumpError> {
    let mut writer = rows(args, columns, output);
    for item in items.take(limit(args)) {
        writer.row(values(item?))?;
    }
    Ok(writer.finish()?)
}

/// Lets errors through, and of the rest what is wanted.
fn only<T>(
    items: impl Iterator<Item = Result<T, StoreError>>,
    wanted: impl Fn(&T) -> bool,
) -> impl Iterator<Item = Result<T, StoreError>> {
    items.filter(move |item| item.as_ref().map_or(true, &wanted))
}

fn limit(args: &DumpArgs) -> usize {
    args.limit.unwrap_or(usize::MAX)
}

fn has_prefix(args: &DumpArgs, text: &str) -> bool {
    args.prefix.as_ref().is_none_or(|prefix| text.starts_with(prefix.as_str()))
}

fn moment(at: Option<Timestamp>) -> Value {
    at.map_or(Value::Null, |at| json!(at.to_string()))
}

fn page_values(page: &PageRecord) -> Vec<Value> {
    vec![
        json!(page.url.as_str()),
        json!(page.status),
        json!(page.title),
        json!(page.description),
        json!(page.headings),
        json!(page.lang),
        json!(page.canonical.as_ref().map(PageUrl::as_str)),
        json!(page.fetched_at.to_string()),
        json!(page.cycle),
        json!(page.etag),
        json!(page.last_modified),
        json!(page.cut),
        json!(page.nosnippet),
        moment(page.unavailable_after),
        json!(page.target_sites.iter().map(Site::as_str).collect::<Vec<_>>()),
    ]
}

fn site_values(row: &SiteRow) -> Vec<Value> {
    let account = &row.account;
    let (reason, due_at) = match row.standing {
        SiteStanding::Due => (Value::Null, Some(row.due_at)),
        SiteStanding::Parked { reason } => (json!(format!("{reason:?}")), Some(row.due_at)),
        SiteStanding::Finished { reason } => (json!(format!("{reason:?}")), Some(row.due_at)),
        SiteStanding::Live | SiteStanding::Paused => (Value::Null, None),
    };
    vec![
        json!(row.site.as_str()),
        json!(row.standing.word()),
        reason,
        moment(due_at),
        json!(row.num_pages),
        json!(account.cycle),
        json!(account.num_page_requests),
        json!(account.num_sitemap_requests),
        moment((account.cycle > 0).then_some(account.next_cycle_at)),
        moment(account.wait.map(|wait| wait.until)),
        json!(account.rung),
        json!(account.barrier_streak),
        json!(account.open.as_ref().map(|open| open.url.as_str())),
        moment(Some(row.first_seen_at)),
        moment(row.last_cycle_finished_at),
        json!(row.change_rate.interval.map(|interval| interval.as_secs())),
        json!(row.seeds.iter().map(|seed| seed.url.as_str()).collect::<Vec<_>>()),
        json!(row.account_seq),
    ]
}
