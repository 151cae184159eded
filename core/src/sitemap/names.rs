//! The element names of sitemaps and feeds, in any letter case.

use super::SitemapKind;

/// What the first known element says about the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Root {
    /// A sitemap or feed.
    Listing(SitemapKind),
    /// A web page.
    Html,
}

/// What an element is inside a file whose root is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// One page of the list.
    Page,
    /// One sitemap of the list.
    Sitemap,
    /// A part of one of these.
    Field(Field),
    /// A part that says nothing here and has no parts itself, so that one left open swallows nothing.
    Leaf,
    /// Anything else, with all that stands in it: images, videos, contents.
    Extension,
}

/// A part of an entry that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    /// `loc`: the URL as text.
    Loc,
    /// `link`: the URL in `href` (Atom), else as text (RSS).
    Link,
    /// `guid` of RSS: the URL of an item without a link, unless it says that it is no permalink.
    Guid,
    /// A time of change.
    Changed(DateRank),
}

/// Which of several times of one entry counts; the highest does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum DateRank {
    /// First published.
    Published,
    /// Dublin Core's, which does not say of what.
    Dated,
    /// Last changed.
    Updated,
}

pub(super) fn root_of(local_name: &str) -> Option<Root> {
    let is = |known: &str| local_name.eq_ignore_ascii_case(known);
    if is("urlset") {
        Some(Root::Listing(SitemapKind::UrlSet))
    } else if is("sitemapindex") {
        Some(Root::Listing(SitemapKind::Index))
    } else if is("rss") || is("rdf") || is("channel") {
        Some(Root::Listing(SitemapKind::Rss))
    } else if is("feed") {
        Some(Root::Listing(SitemapKind::Atom))
    } else if is("html") || is("head") || is("body") {
        Some(Root::Html)
    } else {
        None
    }
}

pub(super) fn role_of(kind: SitemapKind, local_name: &str) -> Role {
    let is = |known: &str| local_name.eq_ignore_ascii_case(known);
    match kind {
        SitemapKind::UrlSet | SitemapKind::Index => {
            if is("url") {
                Role::Page
            } else if is("sitemap") {
                Role::Sitemap
            } else if is("loc") {
                Role::Field(Field::Loc)
            } else if is("lastmod") {
                Role::Field(Field::Changed(DateRank::Updated))
            } else if is("changefreq") || is("priority") {
                Role::Leaf
            } else {
                Role::Extension
            }
        }
        SitemapKind::Rss | SitemapKind::Atom => {
            if is("item") || is("entry") {
                Role::Page
            } else if is("link") {
                Role::Field(Field::Link)
            } else if is("guid") {
                Role::Field(Field::Guid)
            } else if is("updated") || is("modified") || is("pubdate") {
                Role::Field(Field::Changed(DateRank::Updated))
            } else if is("date") {
                Role::Field(Field::Changed(DateRank::Dated))
            } else if is("published") || is("issued") {
                Role::Field(Field::Changed(DateRank::Published))
            } else {
                Role::Extension
            }
        }
        // Neither has markup.
        SitemapKind::Text | SitemapKind::Nothing(_) => Role::Extension,
    }
}
