//! What a statement of Content-Usage says about search: `search=n` or `search=y` among other preferences.
//!
//! The same statement stands in robots.txt, behind an optional path (`robots`), and in a header field of an answer (`directives`); this
//! is the one reader of both. By its drafts (draft-ietf-aipref-attach, draft-ietf-aipref-vocab) it is a dictionary as in RFC 9651, to
//! be thrown away whole where it is none. Here it is read item by item instead: a statement that is broken elsewhere, or sloppy about
//! case and quotes, has said `search=n` all the same, and what is shown against a wish cannot be unshown.
//!
//! What it deliberately does not do: know the other preferences. They concern uses that this crawler has not.

/// What a statement wishes for search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchWish {
    /// `search=y`: search may use it.
    Allowed,
    /// `search=n`: search may not use it.
    Forbidden,
}

impl SearchWish {
    /// The wish that a statement has for search, if any. Of several in one statement a prohibition counts: fields of one answer may
    /// come joined, and then the order says nothing.
    pub fn stated(statement: &str) -> Option<Self> {
        let wishes = statement.split(',').filter_map(Self::of_item);
        wishes.reduce(|one, two| if one == Self::Forbidden { one } else { two })
    }

    /// `key=value;parameters`.
    fn of_item(item: &str) -> Option<Self> {
        let (key, value) = item.split(';').next()?.split_once('=')?;
        if !key.trim().eq_ignore_ascii_case("search") {
            return None;
        }
        match value.trim().trim_matches(['"', '\'']) {
            "n" | "N" => Some(Self::Forbidden),
            "y" | "Y" => Some(Self::Allowed),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::SearchWish::*;
    use super::*;

    #[track_caller]
    fn check(statement: &str, wanted: Option<SearchWish>) {
        assert_eq!(SearchWish::stated(statement), wanted, "{statement:?}");
    }

    #[test]
    fn a_statement_is_read_item_by_item() {
        check("search=n", Some(Forbidden));
        check("search=y", Some(Allowed));
        check("train-ai=n, search=y", Some(Allowed));
        check("train-ai=y,search=n;until=2030", Some(Forbidden));
        check(" \tsearch = n ", Some(Forbidden));
    }

    #[test]
    fn what_is_broken_elsewhere_still_says_what_it_says() {
        check("search=n,", Some(Forbidden));
        check("???, search=n", Some(Forbidden));
        check("SEARCH=N", Some(Forbidden));
        check("search=\"n\"", Some(Forbidden));
        check("note=\"unfinished, search=n", Some(Forbidden));
    }

    #[test]
    fn of_two_wishes_the_prohibition_counts() {
        check("search=n, search=y", Some(Forbidden));
        check("search=y, search=n", Some(Forbidden));
    }

    #[test]
    fn what_is_no_wish_about_search_is_none() {
        for statement in [
            "",
            "train-ai=n",
            "search",
            "search=",
            "search=maybe",
            "research=n",
            "search;x=n",
            "x;search=n",
            "n=search",
        ] {
            check(statement, None);
        }
    }
}
