//! The search index on tantivy 0.27.
//!
//! ```text
//! DIR/search/current    the name of the folder that serves
//! DIR/search/index-N/   an index; a second one while a new one is built
//! ```
//!
//! What it deliberately does not do: read the store, or decide when to commit; `SearchActor` does. tantivy's query parser is never used.
//!
//! Invariants: the serving folder is named by `current` alone, which is replaced in one step; folders that it does not name are removed at the
//! start. An index that does not open, or was written in another form, is dropped: it is derived, and built anew from the store.

mod ask;
mod rank;
mod reader;
mod schema;
#[cfg(test)]
mod tests;
mod vocabulary;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use lohisoftbot_actors::search::{IndexStanding, IndexStats, SearchIndex, SearchIndexError, SearchReader};
use lohisoftbot_core::config::SearchSettings;
use lohisoftbot_core::search::SiteDocuments;
use serde::{Deserialize, Serialize};
use tantivy::schema::Term;
use tantivy::{Index, IndexReader, IndexWriter, ReloadPolicy};

use self::reader::{Serving, TantivyReader};
use self::schema::Fields;
use crate::io::durable;

/// The form of the index: fields, folding and stems. Another one is built anew.
const FORMAT: u32 = 1;
/// The file that names the serving folder.
const CURRENT: &str = "current";
/// Threads that write: one keeps the order of deletions and additions.
const NUM_WRITERS: usize = 1;
/// Blocks of stored pages that are kept unpacked, of 16 KiB each.
const CACHED_BLOCKS: usize = 256;

/// What a commit carries.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    format: u32,
    #[serde(flatten)]
    standing: IndexStanding,
}

/// The search index.
pub struct TantivyIndex {
    root: PathBuf,
    fields: Fields,
    settings: SearchSettings,
    live: Half,
    building: Option<Half>,
    serving: Arc<RwLock<Arc<Serving>>>,
    standing: Option<IndexStanding>,
}

/// One index on the disk, open for writing.
struct Half {
    path: PathBuf,
    index: Index,
    writer: IndexWriter,
}

impl TantivyIndex {
    /// Opens the index in `root`, or makes an empty one where there is none that can be used.
    pub fn open(root: &Path, settings: &SearchSettings) -> Result<Self, SearchIndexError> {
        fs::create_dir_all(root).map_err(failed(root, "making its folder"))?;
        let fields = Fields::new();
        let named = fs::read_to_string(root.join(CURRENT)).unwrap_or_default();
        let known = names(root).map_err(failed(root, "listing its folder"))?.into_iter().find(|name| *name == named);
        let reopened = known.and_then(|name| {
            let half = Half::open(root.join(&name), &fields, settings);
            half.inspect_err(|error| tracing::warn!(%error, "the search index is built anew")).ok()
        });
        let (live, standing) = match reopened {
            Some((half, Some(standing))) => (half, Some(standing)),
            Some((_, None)) | None => (Half::create(root, &fields, settings)?, None),
        };
        live.name_as_current(root)?;
        let served = Serving::new(live.reader()?, fields.clone(), settings.clone()).map_err(failed(root, "reading"))?;
        let index = Self {
            root: root.to_owned(),
            fields,
            settings: settings.clone(),
            live,
            building: None,
            serving: Arc::new(RwLock::new(Arc::new(served))),
            standing,
        };
        index.remove_others()?;
        Ok(index)
    }

    /// Lets readers see what the serving index has committed.
    fn serve(&self) -> Result<(), SearchIndexError> {
        let reader = self.live.reader()?;
        let serving = Serving::new(reader, self.fields.clone(), self.settings.clone())
            .map_err(failed(&self.live.path, "reading"))?;
        *self.serving.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(serving);
        Ok(())
    }

    /// Removes what neither serves nor is being built.
    fn remove_others(&self) -> Result<(), SearchIndexError> {
        for name in names(&self.root).map_err(failed(&self.root, "listing its folder"))? {
            let path = self.root.join(&name);
            if path != self.live.path && self.building.as_ref().is_none_or(|building| building.path != path) {
                fs::remove_dir_all(&path).map_err(failed(&path, "removing an old one"))?;
            }
        }
        Ok(())
    }
}

/// The folders of indexes in `root`.
fn names(root: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(root)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if name.starts_with("index-") {
            names.push(name);
        }
    }
    Ok(names)
}

impl Half {
    /// An index that was written before, and what its last commit carried: none if that is of another form.
    fn open(
        path: PathBuf,
        fields: &Fields,
        settings: &SearchSettings,
    ) -> Result<(Self, Option<IndexStanding>), SearchIndexError> {
        let index = Index::open_in_dir(&path).map_err(failed(&path, "opening"))?;
        let payload = index.load_metas().map_err(failed(&path, "opening"))?.payload;
        let carried = payload.and_then(|payload| serde_json::from_str::<Payload>(&payload).ok());
        let standing = carried.filter(|payload| payload.format == FORMAT).map(|payload| payload.standing);
        let standing = standing.filter(|_| index.schema() == fields.schema);
        Ok((Self::over(path, index, settings)?, standing))
    }

    /// An empty index in a folder that was not there.
    fn create(root: &Path, fields: &Fields, settings: &SearchSettings) -> Result<Self, SearchIndexError> {
        let taken = names(root).map_err(failed(root, "listing its folder"))?;
        let numbers = taken.iter().filter_map(|name| name.strip_prefix("index-")?.parse::<u64>().ok());
        let path = root.join(format!("index-{}", numbers.max().unwrap_or(0) + 1));
        fs::create_dir(&path).map_err(failed(&path, "making its folder"))?;
        let index = Index::create_in_dir(&path, fields.schema.clone()).map_err(failed(&path, "making an empty one"))?;
        Self::over(path, index, settings)
    }

    fn over(path: PathBuf, index: Index, settings: &SearchSettings) -> Result<Self, SearchIndexError> {
        let memory = usize::try_from(settings.memory_bytes).unwrap_or(usize::MAX);
        let writer =
            index.writer_with_num_threads(NUM_WRITERS, memory).map_err(failed(&path, "opening for writing"))?;
        Ok(Self { path, index, writer })
    }

    fn reader(&self) -> Result<IndexReader, SearchIndexError> {
        let builder = self.index.reader_builder().reload_policy(ReloadPolicy::Manual);
        builder.doc_store_cache_num_blocks(CACHED_BLOCKS).try_into().map_err(failed(&self.path, "reading"))
    }

    fn name_as_current(&self, root: &Path) -> Result<(), SearchIndexError> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        durable::replace_file(&root.join(CURRENT), name.as_bytes()).map_err(failed(root, "naming the serving one"))
    }

    fn replace(&mut self, fields: &Fields, site: &SiteDocuments) -> Result<(), SearchIndexError> {
        self.writer.delete_term(Term::from_field_text(fields.site, site.site.as_str()));
        for page in &site.pages {
            let document = fields.document(page).map_err(failed(&self.path, "packing a page"))?;
            self.writer.add_document(document).map_err(failed(&self.path, "writing"))?;
        }
        Ok(())
    }

    fn commit(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError> {
        let payload = serde_json::to_string(&Payload { format: FORMAT, standing });
        let payload = payload.map_err(failed(&self.path, "committing"))?;
        let mut prepared = self.writer.prepare_commit().map_err(failed(&self.path, "committing"))?;
        prepared.set_payload(&payload);
        prepared.commit().map_err(failed(&self.path, "committing"))?;
        Ok(())
    }
}

impl SearchIndex for TantivyIndex {
    fn standing(&self) -> Option<IndexStanding> {
        self.standing
    }

    fn replace(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError> {
        if let Some(building) = &mut self.building {
            building.replace(&self.fields, site)?;
        }
        self.live.replace(&self.fields, site)
    }

    fn commit(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError> {
        self.live.commit(standing)?;
        self.standing = Some(standing);
        self.serve()
    }

    fn begin_rebuild(&mut self) -> Result<(), SearchIndexError> {
        self.building = None;
        self.remove_others()?;
        self.building = Some(Half::create(&self.root, &self.fields, &self.settings)?);
        Ok(())
    }

    fn rebuild(&mut self, site: &SiteDocuments) -> Result<(), SearchIndexError> {
        match &mut self.building {
            Some(building) => building.replace(&self.fields, site),
            None => Ok(()),
        }
    }

    fn finish_rebuild(&mut self, standing: IndexStanding) -> Result<(), SearchIndexError> {
        let Some(mut building) = self.building.take() else { return Ok(()) };
        building.commit(standing)?;
        building.name_as_current(&self.root)?;
        self.live = building;
        self.standing = Some(standing);
        self.serve()?;
        self.remove_others()
    }

    fn reader(&self) -> Arc<dyn SearchReader> {
        Arc::new(TantivyReader::new(self.serving.clone()))
    }

    fn stats(&self) -> IndexStats {
        let serving = self.serving.read().unwrap_or_else(PoisonError::into_inner).clone();
        let files = fs::read_dir(&self.live.path).into_iter().flatten().flatten();
        let sizes = files.filter_map(|file| file.metadata().ok()).map(|metadata| metadata.len());
        IndexStats { num_pages: serving.num_pages(), num_bytes: sizes.sum() }
    }
}

/// Makes an error of whatever went wrong while `doing`.
fn failed<E: std::fmt::Display>(path: &Path, doing: &'static str) -> impl FnOnce(E) -> SearchIndexError {
    let path = path.to_owned();
    move |error| SearchIndexError { path, doing, detail: error.to_string() }
}
