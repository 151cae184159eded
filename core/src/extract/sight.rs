//! What the walk over a page sees of a barrier. It looks at the places where marks stand and measures how much else the page holds; what
//! that comes to is decided in [`crate::barrier`].
//!
//! A page's own text is told from the frame around it: `nav`, `header`, `footer`, dialogs (a cookie banner, a login that opens on a
//! click) and what is hidden belong to the site and are on all its pages. Labels, buttons and links are no text either. An input inside
//! `pre` or `code` is an example.

use kuchikiki::{ElementData, NodeRef};

use super::meter::WalkMeter;
use super::text::{is_html, is_left_out};
use super::walk::child_text;
use crate::barrier::{PageEvidence, Place, is_false, is_page_type};

/// Most levels that are looked up from a microdata property to the thing that has it.
const MAX_LEVELS_UP: usize = 64;
/// Most microdata properties that are looked up so, of one page.
const MAX_PROPERTIES: usize = 16;

/// Roles of elements that belong to the site's frame.
const FRAME_ROLES: [&str; 6] = ["alertdialog", "banner", "contentinfo", "dialog", "navigation", "search"];

/// A part of the page in which not everything counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    /// The site's frame: nothing counts.
    Frame,
    /// Labels, buttons, links, and elements whose text is none: inputs alone count.
    Caption,
    /// Examples: text alone counts.
    Quoted,
}

/// Looks for a barrier while the page is walked.
#[derive(Default)]
pub(super) struct BarrierSight {
    evidence: PageEvidence,
    /// The outermost element that opens a region, while the walk is inside it.
    region: Option<(NodeRef, Region)>,
    num_properties: usize,
}

/// The attributes of one element that are looked at, found in one pass over them.
#[derive(Default)]
struct Seen<'a> {
    action: Option<&'a str>,
    content: Option<&'a str>,
    http_equiv: Option<&'a str>,
    id: Option<&'a str>,
    itemprop: Option<&'a str>,
    name: Option<&'a str>,
    property: Option<&'a str>,
    role: Option<&'a str>,
    src: Option<&'a str>,
    type_: Option<&'a str>,
    has_href: bool,
    has_sitekey: bool,
    is_hidden: bool,
}

impl<'a> Seen<'a> {
    fn of(attributes: &'a kuchikiki::Attributes) -> Self {
        let mut seen = Self::default();
        for (name, attribute) in &attributes.map {
            let value = Some(attribute.value.as_str());
            match &*name.local {
                "action" => seen.action = value,
                "aria-hidden" => seen.is_hidden |= attribute.value.eq_ignore_ascii_case("true"),
                "content" => seen.content = value,
                "data-sitekey" => seen.has_sitekey = true,
                "hidden" => seen.is_hidden = true,
                "href" => seen.has_href = true,
                "http-equiv" => seen.http_equiv = value,
                "id" => seen.id = value,
                "itemprop" => seen.itemprop = value,
                "name" => seen.name = value,
                "property" => seen.property = value,
                "role" => seen.role = value,
                "src" => seen.src = value,
                "type" => seen.type_ = value,
                _ => {}
            }
        }
        seen
    }
}

impl BarrierSight {
    /// The walk goes into an element.
    pub(super) fn enter(&mut self, node: &NodeRef, element: &ElementData, meter: &mut WalkMeter<'_, '_>) {
        if !is_html(&element.name) {
            return;
        }
        let local = &*element.name.local;
        let attributes = element.attributes.borrow();
        let seen = Seen::of(&attributes);
        self.note_marks(node, local, &seen, meter);
        let region = self.region.as_ref().map(|(_, region)| *region);
        match local {
            "a" | "area" if seen.has_href && region != Some(Region::Frame) => self.evidence.note_link(),
            "input" | "textarea" | "select" if matches!(region, None | Some(Region::Caption)) && !seen.is_hidden => {
                self.note_input(local, &seen);
            }
            _ => {}
        }
        if seen.has_sitekey && region != Some(Region::Frame) {
            self.evidence.note_captcha();
        }
        if region.is_none()
            && let Some(region) = region_of(local, &seen).or_else(|| is_silent(element).then_some(Region::Caption))
        {
            self.region = Some((node.clone(), region));
        }
    }

    /// The walk leaves a node.
    pub(super) fn leave(&mut self, node: &NodeRef) {
        self.region.take_if(|(outermost, _)| outermost == node);
    }

    /// The walk comes upon text.
    pub(super) fn text(&mut self, text: &str) {
        match self.region {
            None | Some((_, Region::Quoted)) => self.evidence.note_text(text),
            Some((_, Region::Frame | Region::Caption)) => {}
        }
    }

    /// All that was seen, of a page with this title.
    pub(super) fn evidence(mut self, title: Option<&str>) -> PageEvidence {
        if let Some(title) = title {
            self.evidence.note(Place::Title, title);
        }
        self.evidence
    }

    fn note_marks(&mut self, node: &NodeRef, local: &str, seen: &Seen<'_>, meter: &mut WalkMeter<'_, '_>) {
        if let Some(id) = seen.id {
            self.evidence.note(Place::Id, id);
        }
        match local {
            "script" => self.note_script(node, seen, meter),
            "iframe" => self.note_at(Place::FrameSrc, seen.src),
            "form" => self.note_at(Place::FormAction, seen.action),
            "meta" => self.note_meta(node, seen),
            _ => {}
        }
    }

    fn note_at(&mut self, place: Place, text: Option<&str>) {
        if let Some(text) = text {
            self.evidence.note(place, text);
        }
    }

    fn note_script(&mut self, node: &NodeRef, seen: &Seen<'_>, meter: &mut WalkMeter<'_, '_>) {
        let kind = seen.type_.map(|kind| kind.trim().to_ascii_lowercase()).unwrap_or_default();
        match kind.split(';').next().unwrap_or_default().trim_end() {
            "application/ld+json" => {
                let json = child_text(node);
                if meter.may_read(json.len()) {
                    self.evidence.note_json_ld(&json);
                }
            }
            "" | "module" | "text/javascript" | "application/javascript" => match seen.src {
                Some(src) => self.evidence.note(Place::ScriptSrc, src),
                None => {
                    if let Some(text) = node.first_child().and_then(|child| child.into_text_ref()) {
                        self.evidence.note(Place::ScriptStart, &text.borrow());
                    }
                }
            },
            // No browser runs it; and a script that waits for consent to run is none of a challenge.
            _ => {}
        }
    }

    fn note_meta(&mut self, node: &NodeRef, seen: &Seen<'_>) {
        let Some(content) = seen.content else { return };
        if seen.http_equiv.is_some_and(|pragma| pragma.eq_ignore_ascii_case("refresh")) {
            self.evidence.note(Place::Refresh, content);
        }
        if [seen.property, seen.name].into_iter().flatten().any(|name| name.trim() == "article:content_tier") {
            self.evidence.note_content_tier(content);
        }
        self.note_property(node, seen);
    }

    /// `isAccessibleForFree` as microdata, said of a page that is no part of another thing.
    fn note_property(&mut self, node: &NodeRef, seen: &Seen<'_>) {
        let is_said =
            seen.itemprop.is_some_and(|names| names.split_ascii_whitespace().any(|n| n == "isAccessibleForFree"));
        if !is_said || !seen.content.is_some_and(is_false) || self.num_properties == MAX_PROPERTIES {
            return;
        }
        self.num_properties += 1;
        let of_page = node.ancestors().take(MAX_LEVELS_UP).find_map(|ancestor| {
            let element = ancestor.as_element()?;
            let attributes = element.attributes.borrow();
            attributes.get("itemscope")?;
            let is_own = attributes.get("itemprop").is_none_or(|role| role.trim() == "mainEntity");
            Some(
                is_own
                    && attributes.get("itemtype").is_some_and(|kind| kind.split_ascii_whitespace().any(is_page_type)),
            )
        });
        if of_page == Some(true) {
            self.evidence.note_paid_page(None);
        }
    }

    fn note_input(&mut self, local: &str, seen: &Seen<'_>) {
        let kind = seen.type_.map(|kind| kind.trim().to_ascii_lowercase()).unwrap_or_default();
        match kind.as_str() {
            "password" if local == "input" => self.evidence.note_password_input(),
            "hidden" | "submit" | "button" | "image" | "reset" if local == "input" => {}
            // A captcha brings a text area of its own for its answer.
            _ if seen.name.is_some_and(|name| name.ends_with("-response")) => {}
            _ => self.evidence.note_other_input(),
        }
    }
}

/// Whether what stands in an element is no text that people read. A template in the tree is a shadow root, which they do read.
fn is_silent(element: &ElementData) -> bool {
    is_left_out(&element.name) && &*element.name.local != "template"
}

fn region_of(local: &str, seen: &Seen<'_>) -> Option<Region> {
    let has_frame_role = seen.role.is_some_and(|role| FRAME_ROLES.iter().any(|frame| role.eq_ignore_ascii_case(frame)));
    match local {
        "html" | "body" => None,
        _ if seen.is_hidden || has_frame_role => Some(Region::Frame),
        "nav" | "header" | "footer" | "dialog" => Some(Region::Frame),
        "a" | "label" | "button" | "legend" => Some(Region::Caption),
        "pre" | "code" | "samp" | "kbd" => Some(Region::Quoted),
        _ => None,
    }
}
