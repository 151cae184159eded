//! The pages that show a fault, planned: their paths, their labels and the pages they need beside them.

use fastrand::Rng;

use super::{
    barriers,
    faults::{LOOK_ALIKES, PageFault},
    generate::html_page,
    labels::{AnswerKind, ForbiddenBy, Permission, Storage},
    plan::PracticePlan,
    site_plan::{PageHost, PagePlan, SitePlan, Target},
    words::Language,
};

/// The page of each site that only nofollow links lead to.
pub(super) const UNFOLLOWED_PATH: &str = "/unfollowed/page.html";
/// The page that only a page with a nofollow meta links to.
pub(super) const BEHIND_NOFOLLOW_PATH: &str = "/unfollowed/behind-meta.html";
/// The page that makes extraction panic.
pub(super) const PANIC_PATH: &str = "/fail-point/";
/// The login form of a site with a login redirect.
const LOGIN_PATH: &str = "/login?next=%2Fodd%2Fmembers";
/// The login form that a page links to, by its own address.
const ACCOUNT_LOGIN_PATH: &str = "/account/login";
/// Where a redirect leads to a challenge.
const CHALLENGE_PATH: &str = "/.well-known/sgcaptcha/?r=%2Fodd%2F";
/// The length of the path of `LongUrl`: asked, but only just.
const LONG_PATH_BYTES: usize = 1_500;
/// The length of the path of `TooLongUrl`, beyond the 2 KiB that a URL may have.
const TOO_LONG_PATH_BYTES: usize = 2_200;

/// Adds the page that shows `fault` to a site, and what belongs to it. `other` is an open site for redirects that leave.
pub(super) fn add(plan: &PracticePlan, site: &mut SitePlan, fault: PageFault, other: usize, rng: &mut Rng) {
    let mut page = html_page(plan, rng, site, path(fault), language(fault, site.language));
    page.answer = AnswerKind::Fault(fault);
    page.storage = storage(fault);
    page.redirect = redirect(plan, site, fault, other, rng);
    if fault == PageFault::TooLongUrl {
        page.permission = Permission::Forbidden(ForbiddenBy::TooLong);
    }
    if LOOK_ALIKES.contains(&fault) {
        // The less text there is, the more it looks like what it is not.
        page.target_bytes = 0;
    }
    if fault == PageFault::EndlessBody {
        // What is cut must not depend on how far a slow asker came: the planned page itself is short, the rest is filler.
        page.target_bytes = 8_000;
    }
    if barriers::is_bare_barrier(fault) {
        let behind = html_page(plan, rng, site, barriers::behind_path(&name(fault)), site.language);
        site.pages.push(PagePlan { permission: Permission::Forbidden(ForbiddenBy::Barrier), ..behind });
    }
    if fault == PageFault::LoginLinked {
        let form = html_page(plan, rng, site, ACCOUNT_LOGIN_PATH.to_owned(), site.language);
        site.pages.push(PagePlan { answer: AnswerKind::LoginForm, storage: Storage::NotStored, ..form });
    }
    if fault == PageFault::NofollowMeta {
        let behind = html_page(plan, rng, site, BEHIND_NOFOLLOW_PATH.to_owned(), site.language);
        site.pages.push(PagePlan { permission: Permission::Forbidden(ForbiddenBy::Nofollow), ..behind });
    }
    site.pages.push(page);
}

impl PagePlan {
    /// Whether every reader must see the same text: not where the charset is a guess or the wrong one is declared.
    pub fn text_is_certain(&self) -> bool {
        const UNCERTAIN: [PageFault; 3] =
            [PageFault::Undeclared1252, PageFault::Undeclared1251, PageFault::WrongCharset];
        match self.answer {
            AnswerKind::Page | AnswerKind::PanicPage | AnswerKind::LoginForm | AnswerKind::Trap(_) => true,
            AnswerKind::Fault(fault) => self.storage != Storage::NotStored && !UNCERTAIN.contains(&fault),
            AnswerKind::Robots(_) | AnswerKind::ChainHop | AnswerKind::Sitemap => false,
        }
    }
}

/// The lower-case name of a fault, as it stands in paths.
pub(super) fn name(fault: PageFault) -> String {
    format!("{fault:?}").to_ascii_lowercase()
}

fn path(fault: PageFault) -> String {
    const LENGTHS: [(PageFault, usize); 2] =
        [(PageFault::LongUrl, LONG_PATH_BYTES), (PageFault::TooLongUrl, TOO_LONG_PATH_BYTES)];
    const ENDINGS: [(PageFault, &str); 3] =
        [(PageFault::Pdf, ""), (PageFault::Image, ".png"), (PageFault::LoginRedirect, "")];
    let name = name(fault);
    if let Some((_, bytes)) = LENGTHS.iter().find(|(long, _)| *long == fault) {
        return format!("/odd/{name}/{}", "lengthy-".repeat(bytes / 8));
    }
    let ending = ENDINGS.iter().find(|(other, _)| *other == fault).map_or(".html", |(_, ending)| *ending);
    format!("/odd/{name}{ending}")
}

/// The language that a fault's charset can write; any other fault shows on a page in the site's own.
fn language(fault: PageFault, of_site: Language) -> Language {
    const BY_CHARSET: [(PageFault, Language); 7] = [
        (PageFault::Windows1252, Language::French),
        (PageFault::Undeclared1252, Language::French),
        (PageFault::WrongCharset, Language::French),
        (PageFault::Windows1251, Language::Russian),
        (PageFault::Undeclared1251, Language::Russian),
        (PageFault::Gbk, Language::Chinese),
        (PageFault::Iso88592, Language::RomanianCedilla),
    ];
    BY_CHARSET.iter().find(|(charset, _)| *charset == fault).map_or(of_site, |(_, language)| *language)
}

/// Whether the page's own record may be in the store after a crawl.
const fn storage(fault: PageFault) -> Storage {
    match fault {
        PageFault::RequestTimeoutOnce
        | PageFault::SlowFirstByte
        | PageFault::EndlessBody
        | PageFault::OddHead
        | PageFault::ShortBody
        | PageFault::CutChunks
        | PageFault::CloseDelimited
        | PageFault::InterimResponses
        | PageFault::Windows1252
        | PageFault::Windows1251
        | PageFault::Gbk
        | PageFault::Iso88592
        | PageFault::Undeclared1252
        | PageFault::Undeclared1251
        | PageFault::WrongCharset
        | PageFault::Gzip
        | PageFault::GzipMembers
        | PageFault::Brotli
        | PageFault::Zstd
        | PageFault::Deflate
        | PageFault::RawDeflate
        | PageFault::NoindexOthers
        | PageFault::NoindexStructuredOthers
        | PageFault::TrainingForbidden
        | PageFault::NofollowMeta
        | PageFault::LongUrl
        | PageFault::LimitedSeconds
        | PageFault::LimitedDate
        | PageFault::LimitedPlain
        | PageFault::UnavailableOnce
        | PageFault::MeteredTier
        | PageFault::FreeArticle
        | PageFault::PaidPart
        | PageFault::PaidThing
        | PageFault::AboutLogins
        | PageFault::PasswordHelp
        | PageFault::LoginBox
        | PageFault::LoginLinked
        | PageFault::AboutChallenges
        | PageFault::CaptchaOnForm
        | PageFault::BehindProtection
        | PageFault::NewsletterForm
        | PageFault::SearchForm
        | PageFault::ScriptNote
        | PageFault::CookieBanner => Storage::Stored,
        // The bomb's first bytes are a page; a body that drips until the time-out is a failure to some and a cut page to others.
        PageFault::Bomb | PageFault::Drip => Storage::Either,
        PageFault::NotFound
        | PageFault::Gone
        | PageFault::BadRequest
        | PageFault::ContentTooLarge
        | PageFault::Redirect301
        | PageFault::Redirect302
        | PageFault::Redirect303
        | PageFault::Redirect307
        | PageFault::Redirect308
        | PageFault::RedirectChain
        | PageFault::RedirectChainTooLong
        | PageFault::RedirectToSelf
        | PageFault::RedirectToForbidden
        | PageFault::RedirectToOtherSite
        | PageFault::NoindexMeta
        | PageFault::NoindexOurs
        | PageFault::NoindexHeader
        | PageFault::NoindexLastHeader
        | PageFault::NoindexStructured
        | PageFault::SearchForbidden
        | PageFault::Expired
        | PageFault::Pdf
        | PageFault::Image
        | PageFault::TooLongUrl
        | PageFault::Unauthorized
        | PageFault::PaymentRequired
        | PageFault::Forbidden
        | PageFault::LegalReasons
        | PageFault::Challenge
        | PageFault::LoginRedirect
        | PageFault::ServerError
        | PageFault::MalformedHead
        | PageFault::Reset
        | PageFault::Stall
        | PageFault::ChallengeScript
        | PageFault::ChallengeRefresh
        | PageFault::ChallengeFrame
        | PageFault::ChallengeProof
        | PageFault::ChallengeWords
        | PageFault::ChallengeCaptcha
        | PageFault::ChallengeField
        | PageFault::ChallengeRedirect
        | PageFault::PasswordForm
        | PageFault::Paywalled
        | PageFault::PaywalledTier => Storage::NotStored,
    }
}

/// The redirects to a page of the same site that is there for nothing else.
const PLAIN_REDIRECTS: [(PageFault, u16); 5] = [
    (PageFault::Redirect301, 301),
    (PageFault::Redirect302, 302),
    (PageFault::Redirect303, 303),
    (PageFault::Redirect307, 307),
    (PageFault::Redirect308, 308),
];

/// Where a fault redirects to, if it does, with the pages that only exist for it.
fn redirect(
    plan: &PracticePlan,
    site: &mut SitePlan,
    fault: PageFault,
    other: usize,
    rng: &mut Rng,
) -> Option<(u16, Target)> {
    let site_index = site.index;
    let here = |path: String| Target { site: site_index, host: PageHost::Main, path };
    let landing = format!("/landing/{}.html", name(fault));
    if let Some((_, status)) = PLAIN_REDIRECTS.iter().find(|(redirect, _)| *redirect == fault) {
        let page = html_page(plan, rng, site, landing.clone(), site.language);
        site.pages.push(page);
        return Some((*status, here(landing)));
    }
    if fault == PageFault::RedirectChain {
        return Some((301, chain(plan, site, 2, &landing, Storage::Stored, rng)));
    }
    if fault == PageFault::RedirectChainTooLong {
        return Some((302, chain(plan, site, 6, &landing, Storage::NotStored, rng)));
    }
    if fault == PageFault::RedirectToSelf {
        return Some((302, here(path(fault))));
    }
    if fault == PageFault::RedirectToForbidden {
        let forbidden = Permission::Forbidden(ForbiddenBy::RobotsRule);
        let page = site.pages.iter().find(|page| page.permission == forbidden)?;
        return Some((302, here(page.path.clone())));
    }
    if fault == PageFault::RedirectToOtherSite {
        return Some((301, Target { site: other, host: PageHost::Main, path: "/".to_owned() }));
    }
    if fault == PageFault::ChallengeRedirect {
        let page = html_page(plan, rng, site, CHALLENGE_PATH.to_owned(), site.language);
        site.pages.push(PagePlan { permission: Permission::Forbidden(ForbiddenBy::Barrier), ..page });
        return Some((302, here(CHALLENGE_PATH.to_owned())));
    }
    if fault == PageFault::LoginRedirect {
        let form = html_page(plan, rng, site, LOGIN_PATH.to_owned(), site.language);
        site.pages.push(PagePlan { answer: AnswerKind::LoginForm, storage: Storage::NotStored, ..form });
        return Some((302, here(LOGIN_PATH.to_owned())));
    }
    None
}

/// Adds `num_hops` redirecting pages and the page behind them; gives the first hop.
fn chain(
    plan: &PracticePlan,
    site: &mut SitePlan,
    num_hops: usize,
    landing: &str,
    landing_storage: Storage,
    rng: &mut Rng,
) -> Target {
    let hop_path = |number: usize| format!("{landing}.hop-{number}");
    let site_index = site.index;
    let here = |path: String| Target { site: site_index, host: PageHost::Main, path };
    let mut hops = Vec::new();
    for number in 1..=num_hops {
        let next = if number == num_hops { landing.to_owned() } else { hop_path(number + 1) };
        let mut page = html_page(plan, rng, site, hop_path(number), site.language);
        page.answer = AnswerKind::ChainHop;
        page.storage = Storage::NotStored;
        page.redirect = Some((301, here(next)));
        hops.push(page);
    }
    let first = here(hop_path(1));
    let end = html_page(plan, rng, site, landing.to_owned(), site.language);
    site.pages.extend(hops);
    site.pages.push(PagePlan { storage: landing_storage, ..end });
    first
}
