//! From the events of markup to the entries of a list.
//!
//! There is no stack of elements, so nothing grows with nesting. An entry ends where it is closed, where the next one begins or where the
//! text ends, and a field likewise; so a file whose tags are not closed is read like one whose tags are. What an entry holds beside its
//! fields is skipped with all that is in it.

use ::url::Url;
use quick_xml::events::{BytesRef, BytesStart};
use quick_xml::name::{Prefix, QName};

use super::form::is_blank;
use super::listing::Listing;
use super::names::{DateRank, Field, Role, Root, role_of, root_of};
use super::{NoSitemap, SitemapKind, SitemapLimits, SitemapReading, lastmod};
use crate::time::Timestamp;
use crate::url::{MAX_RAW_URL_BYTES, resolve};

/// Elements of other names that may stand before the root: what a server printed there.
const MAX_ELEMENTS_BEFORE_ROOT: usize = 64;

/// Attributes of one element that are looked at.
const MAX_ATTRIBUTES: usize = 32;

/// The reading of one file.
pub(super) struct Entries<'a> {
    at: &'a Url,
    listing: Listing,
    /// The file's kind, once its root was seen.
    kind: Option<SitemapKind>,
    num_before_root: usize,
    saw_html: bool,
    entry: Option<Entry>,
    depth: usize,
    max_depth: usize,
    owed_bytes: usize,
    is_done: bool,
}

/// An entry that is not over yet.
struct Entry {
    role: EntryRole,
    prefix: Option<String>,
    url: Option<Url>,
    /// `guid` of a feed's item, used where there is no link.
    permalink: Option<Url>,
    changed_at: Option<(DateRank, Timestamp)>,
    place: Place,
}

#[derive(Clone, Copy)]
enum EntryRole {
    Page,
    Sitemap,
}

/// Where inside an entry the reading is.
enum Place {
    BetweenFields,
    /// In a field, `num_inner` elements deep.
    InField {
        field: Field,
        text: FieldText,
        num_inner: usize,
    },
    /// In something else, which is over when as many elements of its name are closed as were opened.
    Skipping {
        name: String,
        num_open: usize,
    },
}

/// The text of a field.
struct FieldText {
    text: String,
    /// It is longer than any URL, or holds an entity that only a declaration could resolve.
    is_unusable: bool,
}

impl FieldText {
    fn new() -> Self {
        Self { text: String::new(), is_unusable: false }
    }

    fn push(&mut self, part: &str) {
        let part = if self.text.is_empty() { part.trim_start_matches(is_blank) } else { part };
        if self.is_unusable || part.len() > MAX_RAW_URL_BYTES - self.text.len() {
            // White space behind the text may be as long as it likes.
            self.is_unusable |= !part.trim_end_matches(is_blank).is_empty();
        } else {
            self.text.push_str(part);
        }
    }

    fn usable(&self) -> Option<&str> {
        let text = self.text.trim_end_matches(is_blank);
        (!self.is_unusable && !text.is_empty()).then_some(text)
    }
}

impl<'a> Entries<'a> {
    pub(super) fn new(at: &'a Url, limits: &SitemapLimits) -> Self {
        Self {
            at,
            listing: Listing::new(SitemapKind::Nothing(NoSitemap::Unknown), limits),
            kind: None,
            num_before_root: 0,
            saw_html: false,
            entry: None,
            depth: 0,
            max_depth: limits.max_depth,
            owed_bytes: 0,
            is_done: false,
        }
    }

    /// Whether nothing that follows can matter.
    pub(super) fn is_done(&self) -> bool {
        self.is_done || self.listing.is_full()
    }

    /// Bytes of work beyond the events themselves since this was asked last.
    pub(super) fn take_owed_bytes(&mut self) -> usize {
        std::mem::take(&mut self.owed_bytes)
    }

    /// Something is missing.
    pub(super) fn cut(&mut self) {
        self.listing.cut();
    }

    pub(super) fn doctype(&mut self, doctype: &str) {
        let name = doctype.trim_start();
        self.saw_html |= name.get(..4).is_some_and(|name| name.eq_ignore_ascii_case("html"));
    }

    pub(super) fn open(&mut self, tag: &BytesStart<'_>) {
        let (local, prefix) = tag.name().decompose();
        let (local, prefix) = (local.into_inner(), prefix.map(Prefix::into_inner));
        let Some(kind) = self.kind else { return self.open_before_root(local) };
        self.depth += 1;
        let role = role_of(kind, local);
        match self.entry.as_mut() {
            None => {}
            Some(entry) => {
                let is_own = entry.is_own_prefix(prefix) || (is_date(role) && prefix == Some("dc"));
                match (&mut entry.place, role) {
                    // Some write `<loc><url>..</url></loc>`; only text before it shows that the field was left open.
                    (Place::InField { text, num_inner, .. }, Role::Page | Role::Sitemap) if text.text.is_empty() => {
                        *num_inner += 1;
                        return self.check_depth();
                    }
                    (Place::InField { num_inner, .. }, _) if !is_own => {
                        *num_inner += 1;
                        return self.check_depth();
                    }
                    (_, Role::Page | Role::Sitemap) if is_own => {}
                    (Place::Skipping { name, num_open }, _) => {
                        *num_open += usize::from(name == tag.name().0);
                        return self.check_depth();
                    }
                    (Place::InField { num_inner, .. }, Role::Extension) => {
                        *num_inner += 1;
                        return self.check_depth();
                    }
                    (Place::InField { .. } | Place::BetweenFields, Role::Field(field)) if is_own => {
                        self.open_field(field, tag);
                        return self.check_depth();
                    }
                    (Place::InField { .. } | Place::BetweenFields, Role::Leaf) if is_own => {
                        self.end_field();
                        return self.check_depth();
                    }
                    (Place::InField { .. } | Place::BetweenFields, _) => {
                        entry.place = Place::Skipping { name: tag.name().0.to_owned(), num_open: 1 };
                        return self.check_depth();
                    }
                }
            }
        }
        let role = match role {
            Role::Page => EntryRole::Page,
            Role::Sitemap => EntryRole::Sitemap,
            Role::Field(_) | Role::Leaf | Role::Extension => return self.check_depth(),
        };
        self.end_entry();
        self.entry = Some(Entry::new(role, prefix));
        // Entries that are never closed do not stand inside each other.
        self.depth = 2;
    }

    pub(super) fn close(&mut self, name: QName<'_>) {
        self.depth = self.depth.saturating_sub(1);
        let (Some(kind), Some(entry)) = (self.kind, self.entry.as_mut()) else { return };
        let (local, prefix) = name.decompose();
        let (local, prefix) = (local.into_inner(), prefix.map(Prefix::into_inner));
        let role = role_of(kind, local);
        if root_of(local).is_some_and(|root| root == Root::Listing(kind))
            && !matches!(entry.place, Place::Skipping { .. })
        {
            return self.end_entry();
        }
        let is_own = entry.is_own_prefix(prefix);
        match (&mut entry.place, role) {
            (Place::InField { num_inner, .. }, Role::Page | Role::Sitemap) if is_own && *num_inner == 0 => {
                self.end_entry()
            }
            (Place::BetweenFields | Place::Skipping { .. }, Role::Page | Role::Sitemap) if is_own => self.end_entry(),
            (Place::InField { field, .. }, Role::Field(closed)) if *field == closed && is_own => self.end_field(),
            (Place::InField { num_inner, .. }, _) => *num_inner = num_inner.saturating_sub(1),
            (Place::Skipping { name: skipped, num_open }, _) => {
                *num_open -= usize::from(skipped == name.0);
                if *num_open == 0 {
                    entry.place = Place::BetweenFields;
                }
            }
            (Place::BetweenFields, _) => {}
        }
    }

    pub(super) fn text(&mut self, part: &str) {
        if let Some(Entry { place: Place::InField { text, .. }, .. }) = &mut self.entry {
            text.push(part);
        }
    }

    /// `&name;` in the text. What a declaration of the file would make of it is not looked up: such a field is none.
    pub(super) fn reference(&mut self, reference: &BytesRef<'_>) {
        let Some(Entry { place: Place::InField { text, .. }, .. }) = &mut self.entry else { return };
        let name: &str = reference;
        match name {
            "amp" => text.push("&"),
            "lt" => text.push("<"),
            "gt" => text.push(">"),
            "quot" => text.push("\""),
            "apos" => text.push("'"),
            _ if name.starts_with('#') => match reference.resolve_char_ref() {
                Ok(Some(c)) => text.push(c.encode_utf8(&mut [0; 4])),
                Ok(None) | Err(_) => text.is_unusable = true,
            },
            _ if is_entity_name(name) => text.is_unusable = true,
            // `?a=1&b=2;` is a query whose ampersand was not escaped.
            _ => {
                text.push("&");
                text.push(name);
                text.push(";");
            }
        }
    }

    /// The tokenizer gave up at markup: the text before it is all there.
    pub(super) fn end_of_broken_run(&mut self) {
        self.end_field();
    }

    /// The text is over. A field that it breaks off in may lack its end, so it is dropped.
    pub(super) fn end_of_text(&mut self) {
        if let Some(entry) = &mut self.entry {
            if let Place::InField { .. } = entry.place {
                entry.place = Place::BetweenFields;
            }
            self.listing.cut();
        }
    }

    pub(super) fn into_reading(mut self) -> SitemapReading {
        self.end_entry();
        if self.kind.is_none() && self.saw_html {
            self.listing.set_kind(SitemapKind::Nothing(NoSitemap::Html));
        }
        self.listing.into_reading()
    }

    fn open_before_root(&mut self, local_name: &str) {
        match root_of(local_name) {
            Some(Root::Listing(kind)) => {
                self.kind = Some(kind);
                self.listing.set_kind(kind);
                self.depth = 1;
            }
            Some(Root::Html) => {
                self.saw_html = true;
                self.is_done = true;
            }
            None => {
                self.num_before_root += 1;
                self.is_done = self.num_before_root > MAX_ELEMENTS_BEFORE_ROOT;
            }
        }
    }

    fn check_depth(&mut self) {
        if self.depth > self.max_depth {
            self.is_done = true;
        }
    }

    fn open_field(&mut self, field: Field, tag: &BytesStart<'_>) {
        self.end_field();
        let at = self.at;
        // A second `loc` where tags are missing is a second entry.
        if field == Field::Loc && self.entry.as_ref().is_some_and(|entry| entry.url.is_some()) {
            let next = self.entry.as_ref().map(|entry| Entry::new(entry.role, entry.prefix.as_deref()));
            self.end_entry();
            self.entry = next;
        }
        let Some(entry) = &mut self.entry else { return };
        match field {
            Field::Link => {
                if let Some(href) = attribute(tag, "href") {
                    let is_page = attribute(tag, "rel").is_none_or(|rel| rel.trim().eq_ignore_ascii_case("alternate"));
                    if is_page && entry.url.is_none() {
                        entry.url = resolve(href.trim_matches(is_blank), Some(at)).ok();
                        self.owed_bytes += at.as_str().len() + href.len();
                    }
                    entry.place = Place::Skipping { name: tag.name().0.to_owned(), num_open: 1 };
                    return;
                }
            }
            Field::Guid => {
                if attribute(tag, "ispermalink").is_some_and(|value| value.trim().eq_ignore_ascii_case("false")) {
                    entry.place = Place::Skipping { name: tag.name().0.to_owned(), num_open: 1 };
                    return;
                }
            }
            Field::Loc | Field::Changed(_) => {}
        }
        entry.place = Place::InField { field, text: FieldText::new(), num_inner: 0 };
    }

    fn end_field(&mut self) {
        let Some(entry) = &mut self.entry else { return };
        let Place::InField { field, text, .. } = std::mem::replace(&mut entry.place, Place::BetweenFields) else {
            return;
        };
        let Some(text) = text.usable() else { return };
        self.owed_bytes += text.len();
        match field {
            Field::Loc | Field::Link => {
                if entry.url.is_none() {
                    self.owed_bytes += self.at.as_str().len();
                    entry.url = resolve(text, Some(self.at)).ok();
                }
            }
            Field::Guid => {
                // A number or a `tag:` is an identity and no address, so nothing relative is read here.
                entry.permalink = entry.permalink.take().or_else(|| resolve(text, None).ok());
            }
            Field::Changed(rank) => {
                let is_better = entry.changed_at.is_none_or(|(known, _)| known < rank);
                if let Some(changed_at) = lastmod::parse(text).filter(|_| is_better) {
                    entry.changed_at = Some((rank, changed_at));
                }
            }
        }
    }

    fn end_entry(&mut self) {
        self.end_field();
        let Some(entry) = self.entry.take() else { return };
        let Some(url) = entry.url.or(entry.permalink) else { return };
        match entry.role {
            EntryRole::Page => self.listing.add_page(url, entry.changed_at.map(|(_, changed_at)| changed_at)),
            EntryRole::Sitemap => self.listing.add_sitemap(url),
        }
    }
}

impl Entry {
    fn new(role: EntryRole, prefix: Option<&str>) -> Self {
        let prefix = prefix.map(str::to_owned);
        Self { role, prefix, url: None, permalink: None, changed_at: None, place: Place::BetweenFields }
    }

    /// Whether an element of this prefix speaks the entry's own language. Without a prefix it does: what is foreign has one, or stands in
    /// an element of a foreign name.
    fn is_own_prefix(&self, prefix: Option<&str>) -> bool {
        prefix.is_none() || prefix == self.prefix.as_deref()
    }
}

fn is_date(role: Role) -> bool {
    role == Role::Field(Field::Changed(DateRank::Dated))
}

/// The value of an attribute, its name in any case, with the predefined entities resolved; as it stands where it holds others.
fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let mut attributes = tag.html_attributes();
    attributes.with_checks(false);
    let attribute = attributes
        .take(MAX_ATTRIBUTES)
        .filter_map(Result::ok)
        .find(|attribute| attribute.key.0.eq_ignore_ascii_case(name))?;
    let value = &attribute.value;
    Some(quick_xml::escape::unescape(value).map_or_else(|_| value.to_string(), std::borrow::Cow::into_owned))
}

/// A name that XML lets an entity have, as far as ASCII goes.
fn is_entity_name(name: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b':') || !byte.is_ascii();
    let is_part = |byte: u8| is_start(byte) || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    name.bytes().next().is_some_and(is_start) && name.bytes().all(is_part)
}
