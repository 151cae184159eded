//! Queries that grow: too many parameters, one of them repeated, filters combined with filters.

use super::{Judgement, TrapKind};
use crate::url::PageUrl;

/// Most parameters of a query.
pub const MAX_PARAMETERS: usize = 16;
/// From more parameters than this on a URL stands back behind others.
pub const MAX_PLAIN_PARAMETERS: usize = 5;
/// Times that one parameter may stand in a query with the same value.
const MAX_SAME_PARAMETER: usize = 2;
/// Times that its name may, with whatever values: lists are written so.
const MAX_SAME_NAME: usize = 4;

/// Parameters that say which part of a list is shown, not which list; lower case.
const PAGE_NAMES: [&str; 9] = ["page", "p", "pg", "paged", "start", "offset", "from", "cursor", "pagenum"];

pub(super) fn judge(url: &PageUrl) -> Judgement {
    let Some(query) = url.as_url().query() else { return Judgement::Clear };
    let num = parameters(query).count();
    if num > MAX_PARAMETERS {
        return Judgement::Trap(TrapKind::ManyParameters);
    }
    let mut repeats = false;
    for (place, parameter) in parameters(query).enumerate() {
        let later = || parameters(query).skip(place);
        let num_same = later().filter(|other| *other == parameter).count();
        if num_same > MAX_SAME_PARAMETER {
            return Judgement::Trap(TrapKind::RepeatedParameter);
        }
        let num_of_name = later().filter(|other| name_of(other) == name_of(parameter)).count();
        repeats |= num_same > 1 || num_of_name > MAX_SAME_NAME;
    }
    match (repeats, num > MAX_PLAIN_PARAMETERS) {
        (true, _) => Judgement::Suspect(TrapKind::RepeatedParameter),
        (false, true) => Judgement::Suspect(TrapKind::ManyParameters),
        (false, false) => Judgement::Clear,
    }
}

/// The parameters of a query as a set: sorted fingerprints, those that only turn pages left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ParameterSet {
    prints: Vec<u64>,
    turns_pages: bool,
}

impl ParameterSet {
    pub(super) fn of(query: &str) -> Self {
        let mut set = Self::default();
        for parameter in parameters(query).take(MAX_PARAMETERS) {
            if PAGE_NAMES.iter().any(|name| name_of(parameter).eq_ignore_ascii_case(name)) {
                set.turns_pages = true;
            } else {
                set.prints.push(xxhash_rust::xxh3::xxh3_64(parameter.as_bytes()));
            }
        }
        set.prints.sort_unstable();
        set.prints.dedup();
        set
    }

    /// Whether it has all of `other` and more.
    pub(super) fn has_grown_from(&self, other: &Self) -> bool {
        !other.prints.is_empty()
            && other.prints.len() < self.prints.len()
            && other.prints.iter().all(|print| self.prints.binary_search(print).is_ok())
    }

    /// Whether both are the same filters, in whatever order; a page further on in their list is none of that.
    pub(super) fn is_reordered(&self, other: &Self) -> bool {
        !self.turns_pages && !other.turns_pages && self.prints.len() > 1 && self.prints == other.prints
    }

    pub(super) fn len(&self) -> usize {
        self.prints.len()
    }
}

fn parameters(query: &str) -> impl Iterator<Item = &str> {
    query.split('&').filter(|parameter| !parameter.is_empty())
}

fn name_of(parameter: &str) -> &str {
    parameter.split_once('=').map_or(parameter, |(name, _)| name)
}
