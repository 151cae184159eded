//! URLs: the first line is a base, the rest what is read against it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lohisoftbot_core::origin::Origin;
use lohisoftbot_core::url::{MAX_URL_BYTES, PageUrl, canonical, canonicalize, resolve};
use lohisoftbot_fuzz::first_line;

fuzz_target!(|data: &[u8]| {
    let (base, raw) = first_line(data);
    let raw = String::from_utf8_lossy(raw);
    let base = resolve(&base, None).ok();
    if let Ok(url) = resolve(&raw, base.as_ref()) {
        assert!(matches!(url.scheme(), "http" | "https"));
        assert_eq!(resolve(url.as_str(), None).as_ref(), Ok(&url), "resolved twice");
    }
    if let Ok(url) = canonical(&raw, base.as_ref()) {
        assert_eq!(canonicalize(url.clone()), url, "canonicalised twice");
    }
    let base = base.and_then(|base| PageUrl::from_url(base).ok());
    let Ok(page) = PageUrl::parse(&raw, base.as_ref()) else { return };
    assert!(page.as_str().is_ascii() && page.as_str().len() <= MAX_URL_BYTES);
    assert!(page.as_url().fragment().is_none() && page.as_url().username().is_empty());
    assert_eq!(PageUrl::parse(page.as_str(), None).as_ref(), Ok(&page), "parsed twice");
    let origin = Origin::of(&page);
    assert_eq!(origin.site(), page.site());
    assert_eq!(Origin::of(&origin.robots_url()), origin);
    assert!(page.site().contains_host(origin.host()));
    assert!(page.path_and_query().starts_with('/'));
});
