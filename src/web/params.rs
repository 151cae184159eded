//! What stands behind the question mark of an address, checked against its bounds.
//!
//! For programs every fault is named with its parameter and bound. People get what they plainly meant where there is such a thing (a
//! page number that is none is the first page), and a sentence where there is not.

use lohisoftbot_core::config::is_host_name;
use std::net::IpAddr;
use url::form_urlencoded;

use super::{MAX_QUERY_BYTES, MAX_REACHABLE_RESULTS, MAX_RESULTS_PER_CALL, MAX_SUGGESTIONS, RESULTS_PER_PAGE};

/// The last page of results that can be reached.
pub(super) const LAST_PAGE: u32 = MAX_REACHABLE_RESULTS / RESULTS_PER_PAGE;

/// A call that a program got wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ParamProblem {
    pub(super) code: &'static str,
    pub(super) message: String,
}

/// What a person asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageParams {
    /// As typed, without white space at its ends.
    pub(super) typed: String,
    /// As in the address, not yet known to be a site.
    pub(super) site: Option<String>,
    /// From 1 on.
    pub(super) page: u32,
}

/// What a program asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CallParams {
    pub(super) typed: String,
    pub(super) site: Option<String>,
    pub(super) offset: u32,
    pub(super) limit: u32,
}

/// The value of a parameter where it stands first.
pub(super) fn first(raw: &str, name: &str) -> Option<String> {
    form_urlencoded::parse(raw.as_bytes()).find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
}

/// Reads the address of a page of results.
pub(super) fn page_params(raw: &str) -> PageParams {
    let typed = first(raw, "q").unwrap_or_default();
    let site = first(raw, "site").map(|site| site.trim().to_ascii_lowercase()).filter(|site| !site.is_empty());
    let page = first(raw, "page").and_then(|page| page.trim().parse().ok()).unwrap_or(1);
    PageParams { typed: typed.trim().to_owned(), site, page: page.clamp(1, LAST_PAGE) }
}

/// Whether the text can be the name of a site.
pub(super) fn is_site(text: &str) -> bool {
    is_host_name(text) || text.parse::<IpAddr>().is_ok()
}

/// Reads a call of `/api/v1/search`.
pub(super) fn search_call(raw: &str) -> Result<CallParams, ParamProblem> {
    let values = Values::read(raw, &["q", "site", "offset", "limit"])?;
    Ok(CallParams {
        typed: values.query()?,
        site: values.site()?,
        offset: values.number("offset", 0, 0, MAX_REACHABLE_RESULTS - 1)?,
        limit: values.number("limit", RESULTS_PER_PAGE, 1, MAX_RESULTS_PER_CALL)?,
    })
}

/// Reads a call of `/api/v1/suggest`: the beginning of a query, and how many suggestions.
pub(super) fn suggest_call(raw: &str) -> Result<(String, u32), ParamProblem> {
    let values = Values::read(raw, &["q", "limit"])?;
    Ok((values.query()?, values.number("limit", MAX_SUGGESTIONS, 1, MAX_SUGGESTIONS)?))
}

/// The parameters of a call, each there once at most.
struct Values(Vec<(String, String)>);

impl Values {
    fn read(raw: &str, known: &[&str]) -> Result<Self, ParamProblem> {
        let mut values: Vec<(String, String)> = Vec::new();
        for (key, value) in form_urlencoded::parse(raw.as_bytes()) {
            // What a stranger wrote is not repeated, be it only the name of a parameter.
            if !known.contains(&&*key) {
                let message = format!("this call takes the parameters {} and no others", known.join(", "));
                return Err(ParamProblem { code: "unknown_parameter", message });
            }
            if values.iter().any(|(seen, _)| *seen == key) {
                let message = format!("the parameter {key} is there twice; write it once");
                return Err(ParamProblem { code: "repeated_parameter", message });
            }
            values.push((key.into_owned(), value.into_owned()));
        }
        Ok(Self(values))
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.trim())
    }

    fn query(&self) -> Result<String, ParamProblem> {
        let text = self.get("q").unwrap_or_default();
        if text.is_empty() {
            let message = format!("the parameter q is missing or empty; write 1 to {MAX_QUERY_BYTES} bytes of text");
            return Err(ParamProblem { code: "missing_query", message });
        }
        if text.len() > MAX_QUERY_BYTES {
            let message = format!("the parameter q has {} bytes; write {MAX_QUERY_BYTES} at most", text.len());
            return Err(ParamProblem { code: "query_too_long", message });
        }
        Ok(text.to_owned())
    }

    fn site(&self) -> Result<Option<String>, ParamProblem> {
        match self.get("site").map(str::to_ascii_lowercase) {
            None => Ok(None),
            Some(site) if is_site(&site) => Ok(Some(site)),
            Some(_) => {
                let message = "the parameter site is no host name; write one of 1 to 253 bytes, such as example.org";
                Err(ParamProblem { code: "bad_site", message: message.to_owned() })
            }
        }
    }

    fn number(&self, name: &str, default: u32, low: u32, high: u32) -> Result<u32, ParamProblem> {
        let Some(text) = self.get(name) else { return Ok(default) };
        text.parse().ok().filter(|number| (low..=high).contains(number)).ok_or_else(|| {
            let message = format!("the parameter {name} is out of bounds; write a whole number from {low} to {high}");
            ParamProblem { code: "out_of_bounds", message }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(raw: &str, code: &str, words: &[&str]) {
        let problem = search_call(raw).expect_err(raw);
        assert_eq!(problem.code, code, "{raw}");
        for word in words {
            assert!(problem.message.contains(word), "{raw}: {:?} names no {word}", problem.message);
        }
    }

    #[test]
    fn call_is_read_with_its_defaults() {
        let call = search_call("q=+a%20b+").unwrap();
        assert_eq!(call, CallParams { typed: "a b".to_owned(), site: None, offset: 0, limit: 10 });
        let call = search_call("limit=20&offset=999&site=Example.org&q=x").unwrap();
        assert_eq!((call.site.as_deref(), call.offset, call.limit), (Some("example.org"), 999, 20));
    }

    #[test]
    fn fault_of_a_call_names_parameter_and_bound() {
        check_refused("", "missing_query", &["q", "256"]);
        check_refused("q=", "missing_query", &["q"]);
        check_refused("q=%20", "missing_query", &["q"]);
        check_refused(&format!("q={}", "a".repeat(257)), "query_too_long", &["q", "257", "256"]);
        check_refused(&format!("q={}", "%C8%99".repeat(129)), "query_too_long", &["258", "256"]);
        check_refused("q=a&limit=0", "out_of_bounds", &["limit", "1", "20"]);
        check_refused("q=a&limit=21", "out_of_bounds", &["limit", "20"]);
        check_refused("q=a&limit=x", "out_of_bounds", &["limit"]);
        check_refused("q=a&limit=-1", "out_of_bounds", &["limit"]);
        check_refused("q=a&offset=1000", "out_of_bounds", &["offset", "0", "999"]);
        check_refused("q=a&offset=99999999999999", "out_of_bounds", &["offset"]);
        check_refused("q=a&site=a%20b", "bad_site", &["site", "253"]);
        check_refused("q=a&site=", "bad_site", &["site"]);
        check_refused("q=a&page=2", "unknown_parameter", &["q, site, offset, limit"]);
        check_refused("q=a&q=b", "repeated_parameter", &["q", "once"]);
    }

    #[test]
    fn page_of_results_is_read_as_it_was_plainly_meant() {
        for (raw, typed, site, page) in [
            ("", "", None, 1),
            ("q=%20a+b%20", "a b", None, 1),
            ("q=a&page=3&site=Example.org", "a", Some("example.org"), 3),
            ("q=a&page=0&site=", "a", None, 1),
            ("q=a&page=x", "a", None, 1),
            ("q=a&page=-4", "a", None, 1),
            ("q=a&page=101", "a", None, 100),
            ("q=a&q=b", "a", None, 1),
            ("q=%FF", "\u{fffd}", None, 1),
        ] {
            let wanted = PageParams { typed: typed.to_owned(), site: site.map(str::to_owned), page };
            assert_eq!(page_params(raw), wanted, "{raw}");
        }
    }
}
