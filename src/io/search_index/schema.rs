//! The fields of the index, and how a page becomes a document of it.
//!
//! | field | holds |
//! | --- | --- |
//! | `title`, `description`, `headings`, `anchors`, `url_words`, `site_words` | folded words with places, for phrases and BM25 |
//! | `title_stems`, `body_stems` | stems, by the page's language |
//! | `words` | each folded word of any field once, and each stem behind [`STEM_MARK`]: what there is, and how often |
//! | `site`, `hosts`, `language`, `names` | exact values: the unit of replacing; host and those above it; tag and first subtag; what names a home page |
//! | `page` | the whole [`PageDocument`], stored, for ranking and showing |
//!
//! Words are taken apart by `core`, never by tantivy, so query and page agree.

use std::collections::BTreeSet;

use lohisoftbot_core::codec::{self, CodecError};
use lohisoftbot_core::search::PageDocument;
use lohisoftbot_core::search::text::{self, StemLanguage};
use tantivy::TantivyDocument;
use tantivy::schema::{Field, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};

/// What stands before a stem in `words`: no letter, so no word begins with it.
pub const STEM_MARK: char = '\u{1}';

/// The fields.
#[derive(Clone, Debug)]
pub struct Fields {
    /// All of them, for tantivy.
    pub schema: Schema,
    pub title: Field,
    pub description: Field,
    pub headings: Field,
    pub anchors: Field,
    pub url_words: Field,
    pub site_words: Field,
    pub title_stems: Field,
    pub body_stems: Field,
    pub words: Field,
    pub site: Field,
    pub hosts: Field,
    pub language: Field,
    pub names: Field,
    pub page: Field,
}

impl Fields {
    /// The fields of this version.
    pub fn new() -> Self {
        let mut builder = Schema::builder();
        let text = |option| {
            let indexing = TextFieldIndexing::default().set_tokenizer("raw").set_index_option(option);
            TextOptions::default().set_indexing_options(indexing)
        };
        let placed = || text(IndexRecordOption::WithFreqsAndPositions);
        Self {
            title: builder.add_text_field("title", placed()),
            description: builder.add_text_field("description", placed()),
            headings: builder.add_text_field("headings", placed()),
            anchors: builder.add_text_field("anchors", placed()),
            url_words: builder.add_text_field("url_words", placed()),
            site_words: builder.add_text_field("site_words", placed()),
            title_stems: builder.add_text_field("title_stems", text(IndexRecordOption::WithFreqs)),
            body_stems: builder.add_text_field("body_stems", text(IndexRecordOption::WithFreqs)),
            words: builder.add_text_field("words", text(IndexRecordOption::Basic)),
            site: builder.add_text_field("site", STRING),
            hosts: builder.add_text_field("hosts", STRING),
            language: builder.add_text_field("language", STRING),
            names: builder.add_text_field("names", STRING),
            page: builder.add_bytes_field("page", STORED),
            schema: builder.build(),
        }
    }

    /// The document of a page.
    pub fn document(&self, page: &PageDocument) -> Result<TantivyDocument, CodecError> {
        let mut writing = Writing {
            language: page.language.and_then(|language| StemLanguage::of_tag(language.as_str())),
            document: TantivyDocument::new(),
            words: BTreeSet::new(),
        };
        let (url_words, site_words) = (page.url_words(), page.site_words());
        writing.text(self.title, Some(self.title_stems), page.title.iter().map(String::as_str));
        writing.text(self.description, Some(self.body_stems), page.description.iter().map(String::as_str));
        writing.text(self.headings, Some(self.body_stems), page.headings.iter().map(String::as_str));
        writing.text(self.anchors, Some(self.body_stems), page.anchors.iter().map(|anchor| anchor.text.as_str()));
        writing.text(self.url_words, None, [url_words.as_str()]);
        writing.text(self.site_words, None, [site_words.as_str()]);
        let Writing { mut document, words, .. } = writing;
        document.add_pre_tokenized_text(self.words, tokens(words));
        let site = page.url.site();
        document.add_text(self.site, site.as_str());
        for host in hosts_up_to(page.url.host(), site.as_str()) {
            document.add_text(self.hosts, host);
        }
        if let Some(language) = &page.language {
            let tag = language.as_str();
            document.add_text(self.language, tag);
            if let Some((primary, _)) = tag.split_once('-') {
                document.add_text(self.language, primary);
            }
        }
        for name in page.names() {
            document.add_text(self.names, name);
        }
        document.add_bytes(self.page, &codec::encode(page)?);
        Ok(document)
    }
}

/// A host and the names above it, up to its site.
fn hosts_up_to<'a>(host: &'a str, site: &'a str) -> impl Iterator<Item = &'a str> {
    std::iter::successors(Some(host), move |host| {
        host.split_once('.').map(|(_, above)| above).filter(|above| *host != site && above.len() >= site.len())
    })
}

struct Writing {
    language: Option<StemLanguage>,
    document: TantivyDocument,
    words: BTreeSet<String>,
}

impl Writing {
    fn text<'a>(&mut self, field: Field, stem_field: Option<Field>, texts: impl IntoIterator<Item = &'a str>) {
        for text in texts {
            let (mut folded, mut stems) = (Vec::new(), Vec::new());
            for word in text::words(text) {
                let plain = text::folded(word.text);
                if plain.is_empty() {
                    continue;
                }
                if stem_field.is_some() {
                    let of_word = match self.language {
                        Some(language) => text::stems(word.text, language),
                        None => vec![plain.clone()],
                    };
                    self.words.extend(of_word.iter().map(|stem| format!("{STEM_MARK}{stem}")));
                    stems.extend(of_word);
                }
                self.words.insert(plain.clone());
                folded.push(plain);
            }
            self.document.add_pre_tokenized_text(field, tokens(folded));
            if let Some(stem_field) = stem_field {
                self.document.add_pre_tokenized_text(stem_field, tokens(stems));
            }
        }
    }
}

fn tokens(words: impl IntoIterator<Item = String>) -> PreTokenizedString {
    let token = |(position, text): (usize, String)| Token { position, text, position_length: 1, ..Token::default() };
    // tantivy reads the tokens alone; the text would only be carried along.
    PreTokenizedString { text: String::new(), tokens: words.into_iter().enumerate().map(token).collect() }
}
