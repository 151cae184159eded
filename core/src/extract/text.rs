//! Text as it is kept: white space collapsed, block ends as spaces, scripts and the like left out.
//!
//! White space here is that of HTML (TAB, LF, FF, CR, SPACE). A no-break space and its kin are letters to this module: they stay as they
//! are. Only the question whether anything is there at all looks at white space as Unicode has it.

use html5ever::{QualName, local_name, ns};
use kuchikiki::NodeRef;

use super::meter::WalkMeter;

/// `text` with each run of HTML white space made one space, none at the ends; none where nothing but (Unicode) white space is left.
pub(super) fn collapsed(text: &str) -> Option<String> {
    let mut collapser = Collapser::default();
    collapser.push(text);
    collapser.finish()
}

/// Builds collapsed text piece by piece.
#[derive(Default)]
pub(super) struct Collapser {
    text: String,
    space_is_due: bool,
}

impl Collapser {
    pub(super) fn push(&mut self, piece: &str) {
        for (at, word) in piece.split(is_html_space).enumerate() {
            self.space_is_due |= at > 0;
            if !word.is_empty() {
                if std::mem::take(&mut self.space_is_due) && !self.text.is_empty() {
                    self.text.push(' ');
                }
                self.text.push_str(word);
            }
        }
    }

    pub(super) fn push_space(&mut self) {
        self.space_is_due = true;
    }

    pub(super) fn finish(self) -> Option<String> {
        (!self.text.chars().all(char::is_whitespace)).then_some(self.text)
    }
}

/// HTML's own white space ("ASCII whitespace" in the Infra Standard).
pub(super) fn is_html_space(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\u{C}' | '\r' | ' ')
}

/// The text below an element, else the `alt` texts of the images below it; none where both are empty.
pub(super) fn text_of(root: &NodeRef, meter: &mut WalkMeter<'_, '_>) -> Option<String> {
    let mut text = Collapser::default();
    let mut alternatives = Collapser::default();
    let mut edge = Edge::first_below(root);
    while let Some(now) = edge {
        let mut visit = Visit::Enter;
        match &now {
            Edge::Open(node) => {
                if let Some(piece) = node.as_text() {
                    let piece = piece.borrow();
                    if !meter.may_step(piece.len()) {
                        break;
                    }
                    text.push(&piece);
                } else if let Some(element) = node.as_element() {
                    if !meter.may_step(0) {
                        break;
                    }
                    if is_left_out(&element.name) {
                        visit = Visit::Skip;
                    } else if is_set_apart(&element.name) {
                        text.push_space();
                    } else if is_html(&element.name)
                        && element.name.local == local_name!("img")
                        && let Some(alternative) = element.attributes.borrow().get("alt")
                    {
                        alternatives.push_space();
                        alternatives.push(alternative);
                    }
                }
            }
            Edge::Close(node) => {
                if node.as_element().is_some_and(|element| is_set_apart(&element.name)) {
                    text.push_space();
                }
            }
        }
        edge = now.next(root, visit);
    }
    text.finish().or_else(|| alternatives.finish())
}

/// Whether the walk goes into the node just opened.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    Enter,
    Skip,
}

/// A place in a depth-first walk: before or behind a node and all below it. No recursion, so that depth costs no stack.
pub(super) enum Edge {
    Open(NodeRef),
    Close(NodeRef),
}

impl Edge {
    pub(super) fn first_below(root: &NodeRef) -> Option<Self> {
        root.first_child().map(Self::Open)
    }

    /// The next place inside `root`; none when all of it was seen.
    pub(super) fn next(self, root: &NodeRef, visit: Visit) -> Option<Self> {
        match self {
            Self::Open(node) => match node.first_child().filter(|_| visit == Visit::Enter) {
                Some(child) => Some(Self::Open(child)),
                None => Some(Self::Close(node)),
            },
            Self::Close(node) => match node.next_sibling() {
                Some(sibling) => Some(Self::Open(sibling)),
                None => node.parent().filter(|parent| parent != root).map(Self::Close),
            },
        }
    }
}

pub(super) fn is_html(name: &QualName) -> bool {
    name.ns == ns!(html)
}

/// Elements whose content is no text of the page.
pub(super) fn is_left_out(name: &QualName) -> bool {
    let local = &*name.local;
    if name.ns == ns!(html) {
        matches!(
            local,
            "script"
                | "style"
                | "template"
                | "noscript"
                | "head"
                | "title"
                | "textarea"
                | "iframe"
                | "object"
                | "select"
        )
    } else {
        name.ns == ns!(svg) && matches!(local, "title" | "desc" | "metadata" | "style" | "script")
    }
}

/// Elements that a browser sets on lines or in cells of their own, and the line break.
fn is_set_apart(name: &QualName) -> bool {
    let local = &*name.local;
    name.ns == ns!(html)
        && matches!(
            local,
            "address"
                | "article"
                | "aside"
                | "blockquote"
                | "body"
                | "br"
                | "caption"
                | "center"
                | "col"
                | "colgroup"
                | "dd"
                | "details"
                | "dialog"
                | "dir"
                | "div"
                | "dl"
                | "dt"
                | "fieldset"
                | "figcaption"
                | "figure"
                | "footer"
                | "form"
                | "frameset"
                | "h1"
                | "h2"
                | "h3"
                | "h4"
                | "h5"
                | "h6"
                | "header"
                | "hgroup"
                | "hr"
                | "html"
                | "legend"
                | "li"
                | "listing"
                | "main"
                | "menu"
                | "nav"
                | "ol"
                | "optgroup"
                | "option"
                | "p"
                | "plaintext"
                | "pre"
                | "search"
                | "section"
                | "summary"
                | "table"
                | "tbody"
                | "td"
                | "tfoot"
                | "th"
                | "thead"
                | "tr"
                | "ul"
                | "xmp"
        )
}
