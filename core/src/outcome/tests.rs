//! The outcome table, row by row, and what must hold for every status.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::barrier::BarrierKind;
use crate::ledger::RequestKind;
use crate::response::ResponseHead;
use crate::time::Timestamp;
use crate::url::PageUrl;

const NOW: Timestamp = Timestamp::from_secs(1_559_559_600);
const MINUTE: Duration = Duration::from_secs(60);

fn page(url: &str) -> PageUrl {
    PageUrl::parse(url, None).unwrap()
}

fn request() -> PageUrl {
    page("https://a.example/dir/page?q=1")
}

fn answer(head: &ResponseHead) -> Answer {
    classify(RequestKind::Page, head, &request(), NOW)
}

#[track_caller]
fn check(head: ResponseHead, fate: PageFate, effect: SiteEffect) {
    assert_eq!(consequence(&answer(&head)), (fate, effect), "{head:?}");
}

/// A head of that status that asks for a minute.
fn asks_a_minute(status: u16) -> ResponseHead {
    ResponseHead::new(status).with("retry-after", "60")
}

#[test]
fn html_and_xhtml_are_stored_and_a_rung_is_forgiven() {
    for content_type in
        ["text/html", "Text/HTML; charset=utf-8", "application/xhtml+xml", "text/html;", "html", "", "*/*"]
    {
        let head = ResponseHead::new(200).with("Content-Type", content_type);
        check(head, PageFate::Store, SiteEffect::ForgiveOneRung);
    }
    check(ResponseHead::new(200), PageFate::Store, SiteEffect::ForgiveOneRung);
    let twice = ResponseHead::new(200).with("content-type", "text/plain").with("content-type", "text/html");
    check(twice, PageFate::Store, SiteEffect::ForgiveOneRung);
}

#[test]
fn answers_to_a_sitemap_differ_from_those_to_a_page_by_what_a_200_is() {
    for content_type in ["application/xml", "text/html", "application/gzip", "text/plain", ""] {
        let head = ResponseHead::new(200).with("content-type", content_type);
        let answer = classify(RequestKind::Sitemap, &head, &request(), NOW);
        assert_eq!(consequence(&answer), (PageFate::ReadSitemap, SiteEffect::ForgiveOneRung), "{content_type:?}");
    }
    for status in (100..600).filter(|status| *status != 200) {
        let head = asks_a_minute(status);
        assert_eq!(classify(RequestKind::Sitemap, &head, &request(), NOW), answer(&head), "{status}");
    }
    let challenge = ResponseHead::new(200).with("cf-mitigated", "challenge");
    assert_eq!(classify(RequestKind::Sitemap, &challenge, &request(), NOW), answer(&challenge));
}

#[test]
fn a_200_of_another_type_removes_the_record_and_another_2xx_does_not() {
    for content_type in
        ["text/plain", "application/pdf", "text/htmlx", "application/xml", "text/html, application/json"]
    {
        let head = ResponseHead::new(200).with("Content-Type", content_type);
        check(head, PageFate::Remove, SiteEffect::Nothing);
    }
    for status in [201, 202, 203, 204, 206, 299] {
        check(ResponseHead::new(status).with("content-type", "text/html"), PageFate::Drop, SiteEffect::Nothing);
    }
    check(asks_a_minute(204), PageFate::Drop, SiteEffect::Nothing);
}

#[test]
fn not_modified_keeps_the_record() {
    check(ResponseHead::new(304), PageFate::KeepRenewed, SiteEffect::Nothing);
}

/// A cache before the site may answer 304 to a visitor whom its bot protection then stops: that renews nothing.
#[test]
fn challenge_fields_on_a_304_are_a_barrier_and_renew_nothing() {
    for (name, value) in [
        ("cf-mitigated", "challenge"),
        ("x-amzn-waf-action", "captcha"),
        ("set-cookie", "techaro.lol-anubis-cookie-verification=x; Path=/"),
    ] {
        let effect = SiteEffect::Barrier { kind: BarrierKind::Challenge, wait: BarrierWait::UsualDelay };
        check(ResponseHead::new(304).with(name, value), PageFate::Drop, effect);
    }
}

#[test]
fn redirects_are_followed_as_new_pages() {
    for (status, permanence) in [
        (301, Permanence::Permanent),
        (308, Permanence::Permanent),
        (302, Permanence::Temporary),
        (303, Permanence::Temporary),
        (307, Permanence::Temporary),
    ] {
        for (location, target) in [
            ("other", "https://a.example/dir/other"),
            ("/x#part", "https://a.example/x"),
            ("//b.example", "https://b.example/"),
            (" http://c.example/?utm_source=a ", "http://c.example/"),
            ("/caf\u{e9}", "https://a.example/caf%C3%A9"),
        ] {
            let fate = PageFate::FollowRedirect { target: page(target), permanence };
            check(ResponseHead::new(status).with("location", location), fate, SiteEffect::Nothing);
        }
    }
}

#[test]
fn location_bytes_that_are_no_utf8_are_replaced() {
    let fate =
        PageFate::FollowRedirect { target: page("https://a.example/%EF%BF%BD"), permanence: Permanence::Temporary };
    check(ResponseHead::new(302).with("location", b"/\xe9"), fate, SiteEffect::Nothing);
}

#[test]
fn a_redirect_that_asks_to_wait_is_followed_after_the_wait() {
    let fate = PageFate::FollowRedirect { target: page("https://a.example/x"), permanence: Permanence::Temporary };
    check(asks_a_minute(302).with("location", "/x"), fate, SiteEffect::WaitFor(MINUTE));
}

#[test]
fn a_redirect_to_itself_is_dropped() {
    for location in ["", "?q=1", "#top", "https://A.example:443/dir/page?q=1&utm_source=x", "page;jsessionid=1?q=1"] {
        let wanted = if location.is_empty() { RedirectTarget::Unusable } else { RedirectTarget::ToItself };
        let head = ResponseHead::new(302).with("location", location);
        let Answer::Redirect { target, .. } = answer(&head) else { panic!("{location:?}") };
        assert_eq!(target, wanted, "{location:?}");
        check(head, PageFate::Drop, SiteEffect::Nothing);
    }
    check(ResponseHead::new(301).with("location", "?q=1"), PageFate::Drop, SiteEffect::Nothing);
}

#[test]
fn a_redirect_to_nowhere_usable_gives_the_record_up_only_when_it_is_for_good() {
    for location in ["mailto:x@a.example", "https://user@a.example/", "http://[::1]/", "http://", "javascript:f()"] {
        check(ResponseHead::new(302).with("location", location), PageFate::Drop, SiteEffect::Nothing);
        check(ResponseHead::new(301).with("location", location), PageFate::Remove, SiteEffect::Nothing);
    }
    check(ResponseHead::new(307), PageFate::Drop, SiteEffect::Nothing);
}

#[test]
fn gone_pages_are_removed_and_ask_for_no_wait() {
    for status in [404, 410] {
        check(asks_a_minute(status), PageFate::Remove, SiteEffect::Nothing);
    }
}

#[test]
fn barriers_are_dropped_and_counted() {
    for (status, kind) in [
        (401, BarrierKind::LoginRequired),
        (402, BarrierKind::PaymentRequired),
        (403, BarrierKind::Forbidden),
        (407, BarrierKind::LoginRequired),
        (451, BarrierKind::LegallyBlocked),
    ] {
        let effect = |wait| SiteEffect::Barrier { kind, wait };
        check(ResponseHead::new(status), PageFate::Drop, effect(BarrierWait::UsualDelay));
        check(asks_a_minute(status), PageFate::Drop, effect(BarrierWait::AsAsked(MINUTE)));
    }
    let effect = SiteEffect::Barrier { kind: BarrierKind::LoginRedirect, wait: BarrierWait::UsualDelay };
    check(ResponseHead::new(302).with("location", "/users/sign_in"), PageFate::Drop, effect);
    check(ResponseHead::new(301).with("location", "https://accounts.b.example/x"), PageFate::Drop, effect);
}

#[test]
fn a_challenge_is_a_barrier_under_every_status_and_never_shortens_a_wait() {
    let challenge =
        |status| ResponseHead::new(status).with("cf-mitigated", "challenge").with("content-type", "text/html");
    let effect = |wait| SiteEffect::Barrier { kind: BarrierKind::Challenge, wait };
    for status in [200, 202, 403, 404] {
        check(challenge(status), PageFate::Drop, effect(BarrierWait::UsualDelay));
    }
    for status in [429, 503, 999, 101] {
        check(challenge(status), PageFate::Drop, effect(BarrierWait::Backoff { retry_after: None }));
        let asking = challenge(status).with("retry-after", "60");
        check(asking, PageFate::Drop, effect(BarrierWait::Backoff { retry_after: Some(MINUTE) }));
    }
}

#[test]
fn other_refusals_are_dropped_and_wait_only_when_asked() {
    for status in [300, 305, 306, 400, 405, 406, 409, 411, 412, 413, 414, 418, 422, 423, 431, 499] {
        check(ResponseHead::new(status), PageFate::Drop, SiteEffect::Nothing);
        check(asks_a_minute(status), PageFate::Drop, SiteEffect::WaitFor(MINUTE));
    }
}

#[test]
fn what_may_do_better_is_asked_once_more() {
    for status in [408, 421, 425] {
        check(ResponseHead::new(status), PageFate::AskAgain { tries: 2 }, SiteEffect::Nothing);
        check(asks_a_minute(status), PageFate::AskAgain { tries: 2 }, SiteEffect::WaitFor(MINUTE));
    }
}

#[test]
fn too_many_requests_and_server_errors_back_off() {
    // RFC 9110 §15: a status outside of HTTP is to be taken for a 5xx.
    for status in [429, 500, 501, 502, 503, 504, 520, 599, 600, 999, 0, 99, 101] {
        check(ResponseHead::new(status), PageFate::AskAgain { tries: 3 }, SiteEffect::Backoff { retry_after: None });
    }
    for status in [429, 500, 503] {
        check(
            asks_a_minute(status),
            PageFate::AskAgain { tries: 3 },
            SiteEffect::Backoff { retry_after: Some(MINUTE) },
        );
        let negative = ResponseHead::new(status).with("retry-after", "-5");
        check(negative, PageFate::AskAgain { tries: 3 }, SiteEffect::Backoff { retry_after: None });
    }
}

#[test]
fn a_wait_by_date_counts_by_the_servers_clock() {
    let head = ResponseHead::new(503)
        .with("date", "Mon, 03 Jun 2019 10:00:00 GMT")
        .with("retry-after", "Mon, 03 Jun 2019 10:01:00 GMT");
    check(head, PageFate::AskAgain { tries: 3 }, SiteEffect::Backoff { retry_after: Some(MINUTE) });
}

#[test]
fn no_answer_is_tried_twice_and_backs_off() {
    for failure in [
        FetchFailure::ConnectRefused,
        FetchFailure::TlsFailed,
        FetchFailure::FirstByteTimeout,
        FetchFailure::Reset,
        FetchFailure::Malformed,
    ] {
        let wanted = (PageFate::AskAgain { tries: 2 }, SiteEffect::Backoff { retry_after: None });
        assert_eq!(consequence_of_failure(failure), wanted, "{failure:?}");
    }
}

#[test]
fn a_body_is_read_only_where_something_of_it_is_kept() {
    let html = |status| ResponseHead::new(status).with("content-type", "text/html");
    for (kind, head, wanted) in [
        (RequestKind::Page, html(200), true),
        (RequestKind::Page, ResponseHead::new(200), true),
        (RequestKind::Page, ResponseHead::new(200).with("content-type", "application/java-archive"), false),
        (RequestKind::Page, html(200).with("cf-mitigated", "challenge"), false),
        (RequestKind::Page, html(206), false),
        (RequestKind::Page, html(404), false),
        (RequestKind::Page, html(301), false),
        (RequestKind::Page, html(503), false),
        (RequestKind::Sitemap, ResponseHead::new(200).with("content-type", "application/gzip"), true),
        (RequestKind::Sitemap, html(200), true),
        (RequestKind::Sitemap, html(200).with("cf-mitigated", "challenge"), false),
        (RequestKind::Sitemap, html(206), false),
        (RequestKind::Sitemap, html(404), false),
        (RequestKind::Robots, ResponseHead::new(200).with("content-type", "application/octet-stream"), true),
        (RequestKind::Robots, html(200), true),
        (RequestKind::Robots, html(404), false),
        (RequestKind::Robots, html(302), false),
        (RequestKind::Robots, html(500), false),
    ] {
        assert_eq!(wants_body(kind, &head), wanted, "{kind:?} {head:?}");
    }
}

proptest! {
    #[test]
    fn every_429_and_5xx_backs_off_whatever_else_it_carries(
        status in prop_oneof![Just(429u16), 500u16.., 0u16..200],
        fields in proptest::collection::vec(
            (proptest::sample::select(vec!["retry-after", "location", "cf-mitigated", "content-type", "date"]), "challenge|text/html|/login|[0-9]{1,9}|.{0,20}"),
            0..6,
        ),
    ) {
        let head = fields.iter().fold(ResponseHead::new(status), |head, (name, value)| head.with(name, value));
        let (_, effect) = consequence(&answer(&head));
        let backs_off = matches!(
            effect,
            SiteEffect::Backoff { .. } | SiteEffect::Barrier { wait: BarrierWait::Backoff { .. }, .. }
        );
        prop_assert!(backs_off, "{:?}", effect);
    }

    #[test]
    fn only_what_is_stored_or_read_for_its_list_has_its_body_read(status: u16, content_type in "text/html|text/plain|.{0,12}", mark in "challenge|x") {
        let head = ResponseHead::new(status).with("content-type", content_type).with("cf-mitigated", mark);
        let (fate, _) = consequence(&answer(&head));
        prop_assert_eq!(wants_body(RequestKind::Page, &head), fate == PageFate::Store);
        let (fate, _) = consequence(&classify(RequestKind::Sitemap, &head, &request(), NOW));
        prop_assert_eq!(wants_body(RequestKind::Sitemap, &head), fate == PageFate::ReadSitemap);
    }

    #[test]
    fn any_location_is_read_without_panic(status in 300u16..400, location: Vec<u8>) {
        let head = ResponseHead::new(status).with("location", location);
        if let Answer::Redirect { target: RedirectTarget::To(target), .. } = answer(&head) {
            prop_assert_ne!(target, request());
        }
    }
}
