//! Builds the tree of a page with html5ever and kuchikiki, under the page's meter.
//!
//! html5ever has inputs that cost a hundred thousand times their size: nested elements, formatting elements that are opened again
//! in every paragraph, one tag with fifty thousand attributes. So the meter is asked before each token, for what the token before
//! it made and how much the builder looked at for it, and no token reaches the builder once the answer is no. The tree as it then stands
//! is used. What can be taken out beforehand is: see `formatting`; what the tokenizer does inside one tag is estimated: see `open_tag`.
//!
//! Only attributes that something reads are kept, and comments are not. What templates hold is inert and never read, so all of it goes to one
//! place beside the tree: kuchikiki frees a template inside a template's contents by a call of its own for each level, and thirty thousand
//! levels of those end the process. What a declarative shadow root holds (`template shadowrootmode`) is shown to people, so it stays in the
//! tree, below its template.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};

use html5ever::interface::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{BufferQueue, TagToken, Token, TokenSink, TokenSinkResult, Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};
use html5ever::{Attribute, ExpandedName, QualName, TokenizerResult};
use kuchikiki::{NodeData, NodeRef};

use super::formatting;
use super::meter::{MAX_TREE_UNITS, Meter};
use super::open_tag::{self, OpenTag};

/// Bytes fed between two questions.
const CHUNK_BYTES: usize = 4096;
/// Bytes fed while one token goes on and on; html5ever compares each attribute of a tag with all before it, so that every chunk of
/// such a tag costs more than the last.
const CHUNK_BYTES_INSIDE_TOKEN: usize = 256;
/// Elements that the builder looks at in the time in which it makes one: it looks through all levels of nesting for what a tag may close.
const LOOKS_PER_UNIT: usize = 128;

/// Attributes that extraction or the tree builder's sink reads; all others are dropped at once.
const KEPT_ATTRIBUTES: [&str; 22] = [
    "alt",
    "aria-hidden",
    "aria-label",
    "content",
    "data-sitekey",
    "encoding",
    "hidden",
    "href",
    "hreflang",
    "http-equiv",
    "id",
    "itemprop",
    "itemscope",
    "itemtype",
    "lang",
    "name",
    "property",
    "rel",
    "role",
    "title",
    "xml:lang",
    "charset",
];

/// Attributes that are read on these elements alone; elsewhere they may be as long as an image that stands in its own `src`.
const KEPT_ON: [(&str, &str); 6] = [
    ("script", "src"),
    ("script", "type"),
    ("iframe", "src"),
    ("form", "action"),
    ("input", "type"),
    ("template", "shadowrootmode"),
];

/// A page's tree, and whether all of the page went into it.
pub(super) struct PageTree {
    pub(super) document: NodeRef,
    pub(super) is_whole: bool,
}

/// Parses `text` as HTML with scripting on, so that the content of noscript is text.
pub(super) fn build(text: &str, meter: &mut Meter<'_>) -> PageTree {
    let sink = BoundedSink {
        inner: kuchikiki::Sink::default(),
        inert: NodeRef::new(NodeData::DocumentFragment),
        num_new_operations: Cell::new(0),
        num_new_looks: Cell::new(0),
    };
    let document = sink.inner.document_node.clone();
    let options = TreeBuilderOpts { scripting_enabled: true, ..TreeBuilderOpts::default() };
    let gate = TokenGate {
        builder: TreeBuilder::new(sink, options),
        meter: RefCell::new(meter),
        num_tokens: Cell::new(0),
        num_units: Cell::new(0),
        is_open: Cell::new(true),
    };
    let tokenizer = Tokenizer::new(gate, TokenizerOpts::default());
    let input = BufferQueue::default();
    let mut rest = text;
    let mut chunk_bytes = CHUNK_BYTES;
    let mut open_tag = OpenTag::default();
    while !rest.is_empty() && tokenizer.sink.ask() {
        let (chunk, after) = rest.split_at(chunk_end(rest, chunk_bytes));
        rest = after;
        let tokens_before_chunk = tokenizer.sink.num_tokens.get();
        for piece in chunk.split_inclusive('<') {
            let tokens_before = tokenizer.sink.num_tokens.get();
            input.push_back(StrTendril::from_slice(piece));
            // A script's end pauses the tokenizer so that a browser can run it; there is nothing to run here.
            while let TokenizerResult::Script(_) = tokenizer.feed(&input) {}
            if tokenizer.sink.num_tokens.get() == tokens_before {
                tokenizer.sink.charge_beside_token(open_tag.read(piece));
            } else {
                open_tag.read_to_token(piece);
            }
            if !tokenizer.sink.is_open.get() {
                break;
            }
        }
        let is_inside_token = tokenizer.sink.num_tokens.get() == tokens_before_chunk;
        chunk_bytes = if is_inside_token { CHUNK_BYTES_INSIDE_TOKEN } else { CHUNK_BYTES };
    }
    if tokenizer.sink.is_open.get() {
        tokenizer.end();
    }
    PageTree { document, is_whole: tokenizer.sink.is_open.get() }
}

/// The end of the first character that reaches `wanted` bytes, so that a chunk is never empty.
fn chunk_end(text: &str, wanted: usize) -> usize {
    (wanted..text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len())
}

/// Stands between tokenizer and tree builder and lets tokens through as long as the meter allows.
struct TokenGate<'m, 'b> {
    builder: TreeBuilder<NodeRef, BoundedSink>,
    meter: RefCell<&'m mut Meter<'b>>,
    num_tokens: Cell<usize>,
    num_units: Cell<usize>,
    is_open: Cell<bool>,
}

impl TokenGate<'_, '_> {
    fn ask(&self) -> bool {
        self.is_open.set(self.is_open.get() && self.meter.borrow_mut().ask());
        self.is_open.get()
    }

    fn charge_for_last_token(&self) {
        let sink = &self.builder.sink;
        let num_looks = sink.num_new_looks.get();
        sink.num_new_looks.set(num_looks % LOOKS_PER_UNIT);
        self.charge(sink.num_new_operations.take() + num_looks / LOOKS_PER_UNIT);
    }

    /// Charges work, if any, that no token stands for.
    fn charge_beside_token(&self, units: usize) {
        if units > 0 {
            self.charge(units);
        }
    }

    /// Charges that much work beside the token itself.
    fn charge(&self, units: usize) {
        self.num_units.set(self.num_units.get() + units);
        let may_go_on = self.meter.borrow_mut().may_build(1 + units) && self.num_units.get() <= MAX_TREE_UNITS;
        self.is_open.set(self.is_open.get() && may_go_on);
    }
}

impl TokenSink for TokenGate<'_, '_> {
    type Handle = NodeRef;

    fn process_token(&self, mut token: Token, line_number: u64) -> TokenSinkResult<NodeRef> {
        if matches!(token, Token::ParseError(_)) {
            return TokenSinkResult::Continue;
        }
        self.num_tokens.set(self.num_tokens.get() + 1);
        if let TagToken(tag) = &mut token {
            // A tag of many chunks was charged as it came; that it is charged once more at its end cuts no page that somebody wrote.
            self.charge_beside_token(open_tag::units_of_whole_tag(tag.attrs.len()));
            formatting::simplify(tag);
        }
        self.charge_for_last_token();
        if self.is_open.get() { self.builder.process_token(token, line_number) } else { TokenSinkResult::Continue }
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

/// kuchikiki's own sink, counting what it does.
struct BoundedSink {
    inner: kuchikiki::Sink,
    /// The contents of every template.
    inert: NodeRef,
    num_new_operations: Cell<usize>,
    num_new_looks: Cell<usize>,
}

impl BoundedSink {
    fn count(&self) {
        self.num_new_operations.set(self.num_new_operations.get() + 1);
    }

    fn count_look(&self) {
        self.num_new_looks.set(self.num_new_looks.get() + 1);
    }

    /// Text is not counted: no token appends more than itself, and most text joins a node that is there.
    fn count_unless_text(&self, child: &NodeOrText<NodeRef>) {
        match child {
            NodeOrText::AppendNode(_) => self.count(),
            NodeOrText::AppendText(_) => {}
        }
    }
}

impl TreeSink for BoundedSink {
    type Handle = NodeRef;
    type Output = ();
    type ElemName<'a> = ExpandedName<'a>;

    fn finish(self) {}

    fn parse_error(&self, _message: Cow<'static, str>) {}

    fn get_document(&self) -> NodeRef {
        self.inner.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeRef) -> ExpandedName<'a> {
        self.count_look();
        self.inner.elem_name(target)
    }

    fn create_element(&self, name: QualName, mut attrs: Vec<Attribute>, flags: ElementFlags) -> NodeRef {
        self.count();
        attrs.retain(|attribute| is_kept(attribute) || is_kept_on(&name, attribute));
        self.inner.create_element(name, attrs, flags)
    }

    fn create_comment(&self, _text: StrTendril) -> NodeRef {
        self.count();
        self.inner.create_comment(StrTendril::new())
    }

    fn create_pi(&self, _target: StrTendril, _data: StrTendril) -> NodeRef {
        self.count();
        self.inner.create_comment(StrTendril::new())
    }

    fn append(&self, parent: &NodeRef, child: NodeOrText<NodeRef>) {
        self.count_unless_text(&child);
        self.inner.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeRef, previous: &NodeRef, child: NodeOrText<NodeRef>) {
        self.count_unless_text(&child);
        self.inner.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.inner.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeRef) -> NodeRef {
        if is_shadow_root(target) { target.clone() } else { self.inert.clone() }
    }

    fn same_node(&self, one: &NodeRef, other: &NodeRef) -> bool {
        self.count_look();
        self.inner.same_node(one, other)
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.inner.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeRef, child: NodeOrText<NodeRef>) {
        self.count_unless_text(&child);
        self.inner.append_before_sibling(sibling, child);
    }

    fn add_attrs_if_missing(&self, target: &NodeRef, mut attrs: Vec<Attribute>) {
        attrs.retain(is_kept);
        self.inner.add_attrs_if_missing(target, attrs);
    }

    fn remove_from_parent(&self, target: &NodeRef) {
        self.inner.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeRef, new_parent: &NodeRef) {
        self.inner.reparent_children(node, new_parent);
    }

    /// WHATWG HTML, "HTML integration point": an annotation-xml element whose encoding says that HTML is inside.
    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeRef) -> bool {
        handle.as_element().is_some_and(|element| {
            element.attributes.borrow().get("encoding").is_some_and(|encoding| {
                encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
            })
        })
    }

    fn allow_declarative_shadow_roots(&self, _intended_parent: &NodeRef) -> bool {
        false
    }
}

/// WHATWG HTML, "A start tag whose tag name is template": the two states of `shadowrootmode` in which a browser shows what is inside.
fn is_shadow_root(template: &NodeRef) -> bool {
    template.as_element().is_some_and(|element| {
        let attributes = element.attributes.borrow();
        let mode = attributes.get("shadowrootmode");
        mode.is_some_and(|mode| mode.eq_ignore_ascii_case("open") || mode.eq_ignore_ascii_case("closed"))
    })
}

fn is_kept(attribute: &Attribute) -> bool {
    KEPT_ATTRIBUTES.contains(&&*attribute.name.local)
}

fn is_kept_on(element: &QualName, attribute: &Attribute) -> bool {
    KEPT_ON.contains(&(&*element.local, &*attribute.name.local))
}
