//! Files that versions 1 and 2 wrote read as what they said.

use super::*;
use crate::ledger::LedgerBook;
use crate::page_choice::DropReason;

const ROW: &[u8] = include_bytes!("fixtures/site_row_v1.bin");
const ROW_2: &[u8] = include_bytes!("fixtures/site_row_v2.bin");
const FRONTIER: &[u8] = include_bytes!("fixtures/site_frontier_v1.bin");
const FRONTIER_2: &[u8] = include_bytes!("fixtures/site_frontier_v2.bin");
/// Entries behind each other, each after its length as a little-endian u32.
const ENTRIES: &[u8] = include_bytes!("fixtures/ledger_entries_v1.bin");
const ENTRIES_V2: &[u8] = include_bytes!("fixtures/ledger_entries_v2.bin");

const AT: Timestamp = Timestamp::from_secs(1_800_000_000);

fn entries(file: &[u8]) -> Vec<LedgerEntry> {
    let mut entries = Vec::new();
    let mut rest = file;
    while let Some((length, behind)) = rest.split_first_chunk() {
        let (line, behind) = behind.split_at(u32::from_le_bytes(*length) as usize);
        entries.push(codec::decode(line).unwrap());
        rest = behind;
    }
    entries
}

#[test]
fn row_of_version_1_is_read_with_its_whole_account() {
    let row: SiteRow = codec::decode(ROW).unwrap();
    assert_eq!((row.site.as_str(), row.account_seq, row.num_pages), ("a.test", 10, 4));
    assert_eq!(row.seeds, [Seed::parse("https://a.test/").unwrap()]);
    assert_eq!(row.standing, SiteStanding::Parked { reason: WaitReason::RetryAfter });
    let account = &row.account;
    assert_eq!((account.cycle, account.num_page_requests, account.num_sitemap_requests), (3, 1, 0));
    assert_eq!((account.last_ticket, account.rung, account.barrier_streak), (8, 1, 1));
    assert_eq!(account.open.as_ref().unwrap().url.as_str(), "https://a.test/");
    assert_eq!(account.wait.unwrap().until, AT.plus(Duration::from_secs(120)));
}

#[test]
fn row_of_version_2_is_read_with_its_sitemap_requests_and_nothing_learnt() {
    let row: SiteRow = codec::decode(ROW_2).unwrap();
    assert_eq!((row.site.as_str(), row.account.cycle, row.account.num_sitemap_requests), ("a.test", 3, 2));
    assert_eq!((row.last_cycle_finished_at, row.change_rate), (Some(AT), ChangeRate::default()));
    let bytes = codec::encode(&row).unwrap();
    assert_eq!((bytes[0], codec::decode(&bytes)), (SiteRow::VERSION, Ok(row)));
}

#[test]
fn queue_of_version_1_is_read_and_holds_pages_alone() {
    let frontier: SiteFrontier = codec::decode(FRONTIER).unwrap();
    assert!(frontier.entries.iter().all(|entry| entry.role == EntryRole::Page));
    let standings: Vec<_> =
        frontier.entries.iter().map(|entry| (entry.url.path_and_query(), &entry.standing)).collect();
    let forbidden = DropReason::Robots { line: 3, text: "Disallow: /a".to_owned() };
    assert_eq!(
        standings,
        [
            ("/", &EntryStanding::Stored),
            ("/a", &EntryStanding::Dropped(forbidden)),
            ("/b", &EntryStanding::Dropped(DropReason::StoreFull)),
            ("/c", &EntryStanding::Queued),
        ]
    );
    let home = &frontier.entries[0];
    assert_eq!((home.depth, home.num_inlinks, home.num_tries, home.num_hops, home.has_record), (1, 1, 1, 2, true));
}

#[test]
fn queue_of_version_2_is_read_and_remembers_no_links() {
    let frontier: SiteFrontier = codec::decode(FRONTIER_2).unwrap();
    let url = |path: &str| PageUrl::parse(&format!("https://a.test{path}"), None).unwrap();
    let moved = EntryStanding::Dropped(DropReason::MovedForGood { target: url("/c") });
    let wanted = [
        FrontierEntry {
            num_inlinks: 1,
            num_tries: 1,
            has_record: true,
            standing: EntryStanding::Stored,
            ..FrontierEntry::new(url("/"), 0)
        },
        FrontierEntry {
            role: EntryRole::Sitemap { depth: 0 },
            standing: EntryStanding::SitemapRead { num_urls: 1 },
            ..FrontierEntry::new(url("/sitemap.xml"), 1)
        },
        FrontierEntry::new(url("/listed"), 1),
        FrontierEntry { num_inlinks: 2, ..FrontierEntry::new(url("/a"), 1) },
        FrontierEntry { num_inlinks: 1, num_hops: 1, standing: moved, ..FrontierEntry::new(url("/b"), 2) },
    ];
    assert_eq!(frontier.entries, wanted);
    let bytes = codec::encode(&frontier).unwrap();
    assert_eq!((bytes[0], codec::decode(&bytes)), (SiteFrontier::VERSION, Ok(frontier)));
}

/// Folds the entries; each snapshot among them says what was folded before it.
#[track_caller]
fn fold(entries: &[LedgerEntry]) -> LedgerBook {
    let mut book = LedgerBook::default();
    let mut folded = SiteAccount::default();
    for entry in entries {
        if let LedgerEvent::Site { event, .. } = &entry.event {
            if let SiteEvent::Snapshot(account) = event {
                assert_eq!(**account, folded, "what was folded before the snapshot is what it says");
            }
            folded.apply(entry.at, event);
        }
        book.apply(entry);
    }
    assert_eq!(book.accounts[&Site::of_host("a.test")], folded);
    assert!(!book.exclusions.covers_host("b.test"), "taken out, and taken back in by the last entry");
    book
}

#[test]
fn ledger_of_version_1_folds_into_the_account_of_its_own_snapshot() {
    let entries = entries(ENTRIES);
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=12).collect::<Vec<_>>());
    let folded = &fold(&entries).accounts[&Site::of_host("a.test")];
    assert_eq!((folded.cycle, folded.num_page_requests, folded.last_ticket), (3, 1, 8));
}

#[test]
fn ledger_of_version_2_folds_into_the_account_of_its_own_snapshot_and_names_no_source() {
    let entries = entries(ENTRIES_V2);
    assert_eq!(entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), (1..=16).chain([16]).collect::<Vec<_>>());
    let folded = &fold(&entries).accounts[&Site::of_host("a.test")];
    assert_eq!((folded.cycle, folded.num_page_requests, folded.num_sitemap_requests, folded.last_ticket), (1, 3, 1, 4));
    let grounds = entries.iter().filter_map(|entry| match &entry.event {
        LedgerEvent::Site { event: SiteEvent::Ticket { ground, from, .. }, .. } => Some((ground.clone(), *from)),
        LedgerEvent::Site { .. } | LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => None,
    });
    let line = RobotsGround::Line { number: 3, text: "Allow: /p".to_owned() };
    let wanted = [RobotsGround::RobotsFile, RobotsGround::NoRule, line, RobotsGround::NoRule];
    assert_eq!(grounds.collect::<Vec<_>>(), wanted.map(|ground| (ground, None)));
}

#[test]
fn what_is_read_of_version_1_is_written_as_the_present_version() {
    let row: SiteRow = codec::decode(ROW).unwrap();
    let bytes = codec::encode(&row).unwrap();
    assert_eq!((bytes[0], codec::decode(&bytes)), (SiteRow::VERSION, Ok(row)));
}

#[test]
fn version_that_never_was_is_refused() {
    for version in [0, 99] {
        let bytes = [&[version][..], &ROW[1..]].concat();
        let wanted = CodecError::UnknownVersion { found: version, known: SiteRow::VERSION };
        assert_eq!(codec::decode::<SiteRow>(&bytes), Err(wanted));
    }
}
