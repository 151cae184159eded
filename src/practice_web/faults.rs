//! Names of everything that can be odd about a practice site: how its robots.txt answers, and how one of its pages does.
//!
//! These are closed lists: the labels (`labels`), the answers (`answers`, `robots_files`) and the tests match on them without a
//! catch-all, so a new fault is not forgotten in any of them.

mod shown;

pub use shown::Faults;

/// Declares an enum and `ALL`, the list of its values, so that the two cannot part ways.
macro_rules! closed_list {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $value:ident,)* }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$inner])* $value,)* }

        impl $name {
            /// Every value, in the order of their declaration.
            pub const ALL: &'static [Self] = &[$(Self::$value,)*];
        }
    };
}

closed_list! {
    /// How the robots.txt of a site answers. Each site has one kind.
    RobotsKind {
        /// Ordinary rules: several groups, wildcards, `$`, an `Allow` inside a `Disallow`.
        Rules,
        /// A group for LohiSoftBot, in two parts, and a group for all others that forbids everything.
        OwnGroup,
        /// 200 without a byte.
        Empty,
        /// Rules with a Crawl-delay.
        CrawlDelay,
        /// Rules behind a byte order mark.
        ByteOrderMark,
        /// Rules whose lines end in CR alone.
        CarriageReturns,
        /// An HTML page served as robots.txt: no rules.
        HtmlPage,
        /// 404: no rules.
        NotFound,
        /// 410: no rules.
        Gone,
        /// 403: no rules.
        Forbidden,
        /// More than 500 KiB, with one rule before that bound and one after it.
        TooLarge,
        /// One redirect within the site, then rules.
        OneHop,
        /// Five redirects within the site, then rules.
        FiveHops,
        /// 429 with Retry-After once, then rules.
        LimitedThenFine,
        /// 503 twice, then rules.
        UnavailableThenFine,
        /// `Disallow: /` for all.
        DisallowAll,
        /// 401: all disallowed.
        Unauthorized,
        /// 503 each time: unreachable.
        AlwaysUnavailable,
        /// The connection is reset each time: unreachable.
        AlwaysReset,
        /// No byte is ever answered: unreachable.
        AlwaysStalled,
        /// Six redirects: unreachable.
        SixHops,
        /// Two redirects to each other: unreachable.
        HopLoop,
        /// A redirect to the robots.txt of another site that can be crawled: its rules are this site's too.
        OtherSitesRobots,
        /// A redirect to the robots.txt of the site of the next kind, which redirects back: unreachable.
        EachOthersFirst,
        /// A redirect back to the robots.txt of the site of the kind before: unreachable.
        EachOthersSecond,
        /// A redirect to some other path of another site: unreachable, and that path must not be asked.
        OtherSitesPath,
        /// The body ends before its Content-Length: unreachable.
        CutBody,
        /// https with a certificate for another name: nothing is ever asked.
        WrongCertificate,
    }
}

closed_list! {
    /// How one page of a site answers, if not plainly.
    PageFault {
        /// 404.
        NotFound,
        /// 410.
        Gone,
        /// 400.
        BadRequest,
        /// 413 with Retry-After: no backoff, but the site waits.
        ContentTooLarge,
        /// 408 once, then the page.
        RequestTimeoutOnce,
        /// 301 to a page of the site.
        Redirect301,
        /// 302 to a page of the site.
        Redirect302,
        /// 303 to a page of the site.
        Redirect303,
        /// 307 to a page of the site.
        Redirect307,
        /// 308 to a page of the site.
        Redirect308,
        /// Three redirects, then a page.
        RedirectChain,
        /// Seven redirects.
        RedirectChainTooLong,
        /// A redirect to itself.
        RedirectToSelf,
        /// A redirect to a path that robots.txt forbids.
        RedirectToForbidden,
        /// A redirect to the home page of another site.
        RedirectToOtherSite,
        /// The page after some hundred milliseconds of silence.
        SlowFirstByte,
        /// A body that never ends, sent as fast as it is read.
        EndlessBody,
        /// Header lines that are folded, without a colon or not ASCII, around a good page.
        OddHead,
        /// Content-Length larger than what is sent.
        ShortBody,
        /// A chunked body without its end.
        CutChunks,
        /// A body without any length, ended by the connection's end.
        CloseDelimited,
        /// 100 and 103 before the final head.
        InterimResponses,
        /// windows-1252, declared in Content-Type.
        Windows1252,
        /// windows-1251, declared in a meta element.
        Windows1251,
        /// GBK, declared in Content-Type.
        Gbk,
        /// iso-8859-2, declared in a meta element.
        Iso88592,
        /// windows-1252, declared nowhere.
        Undeclared1252,
        /// windows-1251, declared nowhere.
        Undeclared1251,
        /// Content-Type says utf-8, the bytes are windows-1252.
        WrongCharset,
        /// Content-Encoding gzip.
        Gzip,
        /// Content-Encoding gzip, in several members.
        GzipMembers,
        /// Content-Encoding br.
        Brotli,
        /// Content-Encoding zstd.
        Zstd,
        /// Content-Encoding deflate with the zlib frame.
        Deflate,
        /// Content-Encoding deflate without it.
        RawDeflate,
        /// A few KB of gzip that decode to 32 MiB.
        Bomb,
        /// meta robots noindex.
        NoindexMeta,
        /// meta lohisoftbot noindex.
        NoindexOurs,
        /// X-Robots-Tag: noindex.
        NoindexHeader,
        /// X-Robots-Tag: noindex, for another robot only.
        NoindexOthers,
        /// Several X-Robots-Tag fields; the noindex stands in the last, for our robot.
        NoindexLastHeader,
        /// Robots-Tag: noindex for all robots, in the structured form.
        NoindexStructured,
        /// Robots-Tag: noindex, for another robot only, in the structured form.
        NoindexStructuredOthers,
        /// Content-Usage: search=n.
        SearchForbidden,
        /// Content-Usage that forbids another use than search.
        TrainingForbidden,
        /// meta robots nofollow: stored, its links not followed.
        NofollowMeta,
        /// X-Robots-Tag with an unavailable_after in the past.
        Expired,
        /// application/pdf.
        Pdf,
        /// image/png.
        Image,
        /// A URL of about 1,500 bytes.
        LongUrl,
        /// A URL of more than 2,048 bytes, which must not be asked.
        TooLongUrl,
        /// 401.
        Unauthorized,
        /// 402.
        PaymentRequired,
        /// 403.
        Forbidden,
        /// 451.
        LegalReasons,
        /// 403 with the marks of a bot protection.
        Challenge,
        /// A redirect to a login form.
        LoginRedirect,
        /// 429 with Retry-After in seconds once, then the page.
        LimitedSeconds,
        /// 429 with Retry-After as a date once, then the page.
        LimitedDate,
        /// 429 without Retry-After once, then the page.
        LimitedPlain,
        /// 503 once, then the page.
        UnavailableOnce,
        /// 500 each time.
        ServerError,
        /// A head that is no HTTP.
        MalformedHead,
        /// The connection is reset.
        Reset,
        /// No byte is ever answered.
        Stall,
        /// A body that comes a few bytes a second and never ends.
        Drip,
        /// 200 with the script of a challenge.
        ChallengeScript,
        /// 200 with a meta refresh to a challenge.
        ChallengeRefresh,
        /// 200 with the frame of a challenge and no text.
        ChallengeFrame,
        /// 200 with a proof of work to do.
        ChallengeProof,
        /// 200 with the title of a challenge and next to nothing else.
        ChallengeWords,
        /// 200 with a captcha and next to nothing else.
        ChallengeCaptcha,
        /// 202 with the header field of a challenge.
        ChallengeField,
        /// A redirect to a challenge.
        ChallengeRedirect,
        /// 200 with a password form and little else.
        PasswordForm,
        /// An article that says of itself that it is not free.
        Paywalled,
        /// An article that says that it is for subscribers.
        PaywalledTier,
        /// An article of which each reader may read some for free.
        MeteredTier,
        /// An article that says that it is free.
        FreeArticle,
        /// An article of which a part is not free.
        PaidPart,
        /// A page about a museum that is not free.
        PaidThing,
        /// A page about logging in.
        AboutLogins,
        /// A page about passwords, with a field as an example.
        PasswordHelp,
        /// A page with a small login form beside its text.
        LoginBox,
        /// A page with a link to a login page.
        LoginLinked,
        /// A page that quotes challenge pages.
        AboutChallenges,
        /// A page with a captcha on its contact form.
        CaptchaOnForm,
        /// A page that a bot protection let through, with its fields and script.
        BehindProtection,
        /// A page with a form to subscribe by mail.
        NewsletterForm,
        /// A page with a search form.
        SearchForm,
        /// A page that asks for scripts where there are none.
        ScriptNote,
        /// A page with a cookie banner.
        CookieBanner,
    }
}

closed_list! {
    /// What a site has for a sitemap. A site that has one has pages that nothing but its sitemap lists, where robots can read it.
    SitemapKind {
        /// A urlset that robots.txt names.
        UrlSet,
        /// An index that robots.txt names; its one child is a gzip file.
        Index,
        /// A list of URLs as text.
        Text,
        /// An RSS feed.
        Feed,
        /// A urlset with URLs of other sites among its own.
        Foreign,
        /// A urlset with a URL that robots.txt forbids.
        ListsForbidden,
        /// A gzip file of some KB that is inflated to 64 MiB.
        Bomb,
        /// An index of an index of an index, and so on.
        Chain,
        /// A web page where robots.txt names a sitemap.
        Html,
        /// A urlset at `/sitemap.xml` that nobody names, on a site with few links.
        Unnamed,
    }
}

closed_list! {
    /// A part of a site that has no end, or as good as none. A site has one kind at most, few ordinary pages, and no faults.
    TrapKind {
        /// A calendar: each month links to the next, to the one before, and to the same month of thirty years.
        Calendar,
        /// Pages that are linked under a new session id each time.
        Sessions,
        /// A relative link that should have been absolute: each page links to a deeper one.
        GrowingPath,
        /// A list with filters: each page links to itself with one filter more.
        Filters,
    }
}

/// How a fault weighs on its site: of the last two a site has one at most, so that the site can still be crawled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultWeight {
    /// Concerns its page only.
    Light,
    /// A barrier: three in a row park the site.
    Barrier,
    /// Makes the whole site wait.
    Heavy,
}

impl PageFault {
    /// How this fault weighs on its site.
    pub const fn weight(self) -> FaultWeight {
        match self {
            Self::Unauthorized
            | Self::PaymentRequired
            | Self::Forbidden
            | Self::LegalReasons
            | Self::Challenge
            | Self::LoginRedirect
            | Self::ChallengeScript
            | Self::ChallengeRefresh
            | Self::ChallengeFrame
            | Self::ChallengeProof
            | Self::ChallengeWords
            | Self::ChallengeCaptcha
            | Self::ChallengeField
            | Self::ChallengeRedirect
            | Self::PasswordForm
            | Self::Paywalled
            | Self::PaywalledTier => FaultWeight::Barrier,
            Self::ContentTooLarge
            | Self::LimitedSeconds
            | Self::LimitedDate
            | Self::LimitedPlain
            | Self::UnavailableOnce
            | Self::ServerError
            | Self::MalformedHead
            | Self::Reset
            | Self::Stall
            | Self::Drip => FaultWeight::Heavy,
            Self::NotFound
            | Self::Gone
            | Self::BadRequest
            | Self::RequestTimeoutOnce
            | Self::Redirect301
            | Self::Redirect302
            | Self::Redirect303
            | Self::Redirect307
            | Self::Redirect308
            | Self::RedirectChain
            | Self::RedirectChainTooLong
            | Self::RedirectToSelf
            | Self::RedirectToForbidden
            | Self::RedirectToOtherSite
            | Self::SlowFirstByte
            | Self::EndlessBody
            | Self::OddHead
            | Self::ShortBody
            | Self::CutChunks
            | Self::CloseDelimited
            | Self::InterimResponses
            | Self::Windows1252
            | Self::Windows1251
            | Self::Gbk
            | Self::Iso88592
            | Self::Undeclared1252
            | Self::Undeclared1251
            | Self::WrongCharset
            | Self::Gzip
            | Self::GzipMembers
            | Self::Brotli
            | Self::Zstd
            | Self::Deflate
            | Self::RawDeflate
            | Self::Bomb
            | Self::NoindexMeta
            | Self::NoindexOurs
            | Self::NoindexHeader
            | Self::NoindexOthers
            | Self::NoindexLastHeader
            | Self::NoindexStructured
            | Self::NoindexStructuredOthers
            | Self::SearchForbidden
            | Self::TrainingForbidden
            | Self::NofollowMeta
            | Self::Expired
            | Self::Pdf
            | Self::Image
            | Self::LongUrl
            | Self::TooLongUrl
            | Self::MeteredTier
            | Self::FreeArticle
            | Self::PaidPart
            | Self::PaidThing
            | Self::AboutLogins
            | Self::PasswordHelp
            | Self::LoginBox
            | Self::LoginLinked
            | Self::AboutChallenges
            | Self::CaptchaOnForm
            | Self::BehindProtection
            | Self::NewsletterForm
            | Self::SearchForm
            | Self::ScriptNote
            | Self::CookieBanner => FaultWeight::Light,
        }
    }
}

/// Honest pages that look like a barrier and are none.
pub const LOOK_ALIKES: [PageFault; 15] = [
    PageFault::MeteredTier,
    PageFault::FreeArticle,
    PageFault::PaidPart,
    PageFault::PaidThing,
    PageFault::AboutLogins,
    PageFault::PasswordHelp,
    PageFault::LoginBox,
    PageFault::LoginLinked,
    PageFault::AboutChallenges,
    PageFault::CaptchaOnForm,
    PageFault::BehindProtection,
    PageFault::NewsletterForm,
    PageFault::SearchForm,
    PageFault::ScriptNote,
    PageFault::CookieBanner,
];

/// Kinds of robots.txt that are no fault: what the sites without one have.
pub const PLAIN_ROBOTS: [RobotsKind; 4] =
    [RobotsKind::Rules, RobotsKind::OwnGroup, RobotsKind::Rules, RobotsKind::Empty];
