//! What cannot be answered, for people as a page in their language, for programs as JSON.

use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::http::header::{ALLOW, RETRY_AFTER};
use actix_web::{HttpResponse, HttpResponseBuilder};
use askama::Template;
use serde_json::json;

use super::dispatch::{Asked, Audience};
use super::view::{Frame, html};
use super::words::{say, say_with};

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Nothing lies at this path.
    NotFound,
    /// It is only read here.
    MethodNotAllowed,
    /// A fault of ours.
    Internal,
    /// The client is beyond its rate for this long.
    TooManyRequests(Duration),
    /// The host name is none of ours.
    WrongHost,
    /// The address is longer than any that we make.
    TargetTooLong,
    /// The head of the request is.
    HeadTooLarge,
}

impl Problem {
    fn status(self) -> StatusCode {
        match self {
            Self::NotFound => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            Self::TooManyRequests(_) => StatusCode::TOO_MANY_REQUESTS,
            // RFC 9110 §15.5.20: the request was sent to one that does not answer for its authority.
            Self::WrongHost => StatusCode::MISDIRECTED_REQUEST,
            Self::TargetTooLong => StatusCode::URI_TOO_LONG,
            Self::HeadTooLarge => StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE,
        }
    }

    /// The code of the JSON error, and, with hyphens, the name of its texts.
    fn code(self) -> &'static str {
        match self {
            Self::NotFound => "not_found",
            Self::MethodNotAllowed => "method_not_allowed",
            Self::Internal => "internal",
            Self::TooManyRequests(_) => "too_many_requests",
            Self::WrongHost => "wrong_host",
            Self::TargetTooLong => "target_too_long",
            Self::HeadTooLarge => "head_too_large",
        }
    }

    fn message(self) -> String {
        match self {
            Self::NotFound => "nothing lies at this path; /api/v1/openapi.json lists what there is".to_owned(),
            Self::MethodNotAllowed => "this path takes GET and HEAD only".to_owned(),
            Self::Internal => "a fault on our side; try again in a minute".to_owned(),
            Self::TooManyRequests(_) => format!("too many requests from this address; wait {} s", self.wait()),
            Self::WrongHost => {
                "this host name is not served here; the operator sets the names by web.hostnames".to_owned()
            }
            Self::TargetTooLong => "the address of this request is too long".to_owned(),
            Self::HeadTooLarge => "the header lines of this request are too many or too long".to_owned(),
        }
    }

    /// How long to wait, in seconds; nothing where waiting does not help.
    fn wait(self) -> u64 {
        match self {
            Self::TooManyRequests(wait) => seconds(wait),
            Self::NotFound | Self::MethodNotAllowed | Self::Internal => 0,
            Self::WrongHost | Self::TargetTooLong | Self::HeadTooLarge => 0,
        }
    }

    /// The answer that says so.
    pub(super) fn answer(self, asked: &Asked) -> HttpResponse {
        let mut response = HttpResponse::build(self.status());
        match self {
            Self::TooManyRequests(_) => drop(response.insert_header((RETRY_AFTER, self.wait().to_string()))),
            Self::MethodNotAllowed => drop(response.insert_header((ALLOW, "GET, HEAD"))),
            Self::NotFound | Self::Internal | Self::WrongHost | Self::TargetTooLong | Self::HeadTooLarge => {}
        }
        match asked.audience {
            Audience::Program => json_error(&mut response, self.code(), &self.message()),
            Audience::Person => self.page(asked, &mut response),
        }
    }

    fn page(self, asked: &Asked, response: &mut HttpResponseBuilder) -> HttpResponse {
        let name = self.code().replace('_', "-");
        let heading = say(asked.language, &format!("problem-{name}-heading"));
        let text = say_with(asked.language, &format!("problem-{name}-text"), &[("seconds", self.wait().into())]);
        let frame = Frame::plain(asked, heading.clone());
        html(response, &ProblemPage { frame, heading, text })
    }
}

/// Whole seconds, rounded up: who waits that long is admitted.
fn seconds(wait: Duration) -> u64 {
    wait.as_millis().div_ceil(1000).try_into().unwrap_or(u64::MAX)
}

/// `{"error":{"code":..,"message":..}}`.
pub(super) fn json_error(response: &mut HttpResponseBuilder, code: &str, message: &str) -> HttpResponse {
    response.json(json!({ "error": { "code": code, "message": message } }))
}

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage {
    frame: Frame,
    heading: String,
    text: String,
}

#[cfg(test)]
mod tests {
    use super::super::language::PageLanguage;
    use super::*;

    #[test]
    fn every_problem_has_its_texts_in_every_language() {
        for problem in [
            Problem::NotFound,
            Problem::MethodNotAllowed,
            Problem::Internal,
            Problem::TooManyRequests(Duration::from_millis(1)),
            Problem::WrongHost,
            Problem::TargetTooLong,
            Problem::HeadTooLarge,
        ] {
            for language in PageLanguage::ALL {
                for part in ["heading", "text"] {
                    let key = format!("problem-{}-{part}", problem.code().replace('_', "-"));
                    assert_ne!(say_with(language, &key, &[("seconds", 1.into())]), key);
                }
            }
        }
    }

    #[test]
    fn wait_is_rounded_up() {
        assert_eq!(seconds(Duration::from_millis(1)), 1);
        assert_eq!(seconds(Duration::from_millis(1000)), 1);
        assert_eq!(seconds(Duration::from_millis(1001)), 2);
    }
}
