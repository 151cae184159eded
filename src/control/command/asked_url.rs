//! The URL that `explain` is asked about: one that may be asked for, or one that never is.

use lohisoftbot_core::seed::{Seed, SeedRefusal};
use lohisoftbot_core::url::{UrlRefusal, without_userinfo};

use super::{bad, quoted, seed_text};
use crate::control::message::ControlError;

/// What `explain` is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedUrl {
    /// A URL that could be asked for; its scheme may be a guess.
    Page(Seed),
    /// One that no request is ever sent for.
    Never {
        /// As it was written, a user name and password left out.
        text: String,
        /// Why not.
        refusal: UrlRefusal,
    },
}

impl AskedUrl {
    /// Reads a URL, or a host with or without a path. One that no request can be sent for is read too: it can be explained.
    pub fn parse(text: &str) -> Result<Self, ControlError> {
        match Seed::parse(text) {
            Ok(seed) => Ok(Self::Page(seed)),
            Err(SeedRefusal::Url(refusal)) if refusal != UrlRefusal::Unparsable => {
                Ok(Self::Never { text: without_userinfo(text.trim()).into_owned(), refusal })
            }
            Err(refusal) => Err(bad(format!("{} {refusal}", quoted(text)))),
        }
    }

    /// As it is sent.
    pub(super) fn as_str(&self) -> &str {
        match self {
            Self::Page(seed) => seed_text(seed),
            Self::Never { text, refusal: _ } => text,
        }
    }
}
