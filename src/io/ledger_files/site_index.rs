//! Which frames of a closed segment speak of a site: a file beside the segment, so that `ledger` and `explain` read a few frames of it
//! instead of all.
//!
//! The index is derived: where it is missing, damaged or of another segment it is built anew, and where it cannot be written the segment
//! is read from its head to its end. The newest segment has none, since it grows. Only entries are in it, no snapshots: they repeat what
//! other segments say.
//!
//! The form: blocks of [`BLOCK_BYTES`], each with a CRC-32 of its own. The first says of which segment it is; the others hold pairs of a
//! site's hash and a frame's place, in order, and are searched by halves. So a look-up reads a dozen blocks, however large the segment is,
//! and memory holds one block and the places found. Building holds all pairs of one segment at once, a third of the segment at most.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use lohisoftbot_actors::storage::{LedgerError, LineOrigin};
use lohisoftbot_core::key;
use lohisoftbot_core::ledger::LedgerEvent;
use lohisoftbot_core::site::Site;

use super::reader::StopFlag;
use super::segment::{Piece, SegmentReader, Tail, io_error};

const MAGIC: [u8; 8] = *b"LSBLEDIX";
/// The form of indexes; one of another form is built anew.
const VERSION: u16 = 1;
/// Size of a block.
const BLOCK_BYTES: usize = 4096;
/// A CRC-32, and a count of what follows.
const BLOCK_HEAD_BYTES: usize = 8;
/// A hash and a place, eight bytes each.
const PAIR_BYTES: usize = 16;
const PAIRS_A_BLOCK: usize = (BLOCK_BYTES - BLOCK_HEAD_BYTES) / PAIR_BYTES;
/// Stands for every site: what happened to the list of exclusions may concern any.
const ANY_SITE: u64 = 0;

/// Where the index of a segment lies.
pub fn path_of(segment: &Path) -> PathBuf {
    segment.with_extension("idx")
}

/// The places of the frames of a closed segment that speak of `site`, in order; none where there is no sound index.
pub fn find(segment: &Path, site: &Site) -> Option<Vec<u64>> {
    let mut index = Index::open(segment).ok()??;
    let mut places = index.places_of(ANY_SITE).ok()??;
    places.extend(index.places_of(hash_of(site)).ok()??);
    places.sort_unstable();
    places.dedup();
    Some(places)
}

/// Builds the index of a closed segment. It gets its name only when it is whole.
pub(super) fn build(segment: &Path, stop: &StopFlag) -> Result<(), LedgerError> {
    let mut reader = SegmentReader::open(segment, Tail::MustBeWhole)?;
    let mut pairs: Vec<(u64, u64)> = Vec::new();
    let num_bytes = loop {
        stop.check(segment)?;
        match reader.next_piece()? {
            Piece::Lines(LineOrigin::Snapshot, _) => {}
            Piece::Lines(LineOrigin::Entry, lines) => {
                let place = reader.piece_at();
                pairs.extend(lines.iter().map(|line| match &line.event {
                    LedgerEvent::Site { site, .. } => (hash_of(site), place),
                    LedgerEvent::Excluded { .. } | LedgerEvent::Included { .. } => (ANY_SITE, place),
                }));
            }
            Piece::End { sound_bytes, .. } => break sound_bytes,
        }
    };
    pairs.sort_unstable();
    pairs.dedup();
    let path = path_of(segment);
    let unfinished = path.with_extension("idx.new");
    write(&unfinished, num_bytes, reader.header().first_seq, &pairs)
        .and_then(|()| fs::rename(&unfinished, &path))
        .map_err(io_error("write", &path))
}

fn write(path: &Path, segment_bytes: u64, first_seq: u64, pairs: &[(u64, u64)]) -> io::Result<()> {
    let mut file = BufWriter::new(File::create(path)?);
    let mut head = Vec::with_capacity(BLOCK_BYTES);
    head.extend_from_slice(&MAGIC);
    for number in [u64::from(VERSION), segment_bytes, first_seq, pairs.len() as u64] {
        head.extend_from_slice(&number.to_le_bytes());
    }
    file.write_all(&block(0, &head))?;
    for chunk in pairs.chunks(PAIRS_A_BLOCK) {
        let bytes: Vec<u8> =
            chunk.iter().flat_map(|(hash, place)| [hash.to_le_bytes(), place.to_le_bytes()]).flatten().collect();
        file.write_all(&block(chunk.len() as u32, &bytes))?;
    }
    file.into_inner().map_err(|error| error.into_error())?.sync_all()
}

fn block(count: u32, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![0; BLOCK_BYTES];
    bytes[4..8].copy_from_slice(&count.to_le_bytes());
    bytes[BLOCK_HEAD_BYTES..BLOCK_HEAD_BYTES + content.len()].copy_from_slice(content);
    let crc = crc32fast::hash(&bytes[4..]);
    bytes[..4].copy_from_slice(&crc.to_le_bytes());
    bytes
}

/// The exclusions' key is no site's.
fn hash_of(site: &Site) -> u64 {
    key::site_hash(site).max(ANY_SITE + 1)
}

fn number_at(bytes: &[u8], place: usize) -> u64 {
    bytes.get(place..place + 8).and_then(|number| number.try_into().ok()).map_or(0, u64::from_le_bytes)
}

/// An index, open.
struct Index {
    file: File,
    num_pairs: u64,
}

impl Index {
    /// The index of a segment; none where it is not one of this form, or not of this segment as it is.
    fn open(segment: &Path) -> io::Result<Option<Self>> {
        let file = File::open(path_of(segment))?;
        let num_index_bytes = file.metadata()?.len();
        let mut index = Self { file, num_pairs: 0 };
        let Some((_, head)) = index.read_block(0)? else { return Ok(None) };
        let segment_bytes = fs::metadata(segment)?.len();
        let Ok(reader) = SegmentReader::open(segment, Tail::MustBeWhole) else { return Ok(None) };
        let is_of_segment = head.starts_with(&MAGIC)
            && number_at(&head, 8) == u64::from(VERSION)
            && number_at(&head, 16) == segment_bytes
            && number_at(&head, 24) == reader.header().first_seq;
        index.num_pairs = number_at(&head, 32);
        let num_blocks = index.num_pairs.div_ceil(PAIRS_A_BLOCK as u64).checked_add(1);
        let is_whole = num_blocks.and_then(|blocks| blocks.checked_mul(BLOCK_BYTES as u64)) == Some(num_index_bytes);
        Ok((is_of_segment && is_whole).then_some(index))
    }

    /// The count and content of a block; none where it is damaged.
    fn read_block(&mut self, number: u64) -> io::Result<Option<(usize, Vec<u8>)>> {
        self.file.seek(SeekFrom::Start(number * BLOCK_BYTES as u64))?;
        let mut bytes = vec![0; BLOCK_BYTES];
        self.file.read_exact(&mut bytes)?;
        let (crc, rest) = bytes.split_at(4);
        let count = u32::from_le_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        let is_sound = crc32fast::hash(rest).to_le_bytes() == crc && count <= PAIRS_A_BLOCK;
        Ok(is_sound.then(|| (count, bytes.split_off(BLOCK_HEAD_BYTES))))
    }

    /// The places of one hash; none where a block on the way is damaged.
    fn places_of(&mut self, hash: u64) -> io::Result<Option<Vec<u64>>> {
        let num_blocks = self.num_pairs.div_ceil(PAIRS_A_BLOCK as u64);
        // The first block whose last pair is not before the hash.
        let (mut low, mut high) = (0, num_blocks);
        while low < high {
            let middle = low + (high - low) / 2;
            let Some((count, bytes)) = self.read_block(1 + middle)? else { return Ok(None) };
            let last = number_at(&bytes, count.saturating_sub(1) * PAIR_BYTES);
            if last < hash { low = middle + 1 } else { high = middle }
        }
        let mut places = Vec::new();
        for number in low..num_blocks {
            let Some((count, bytes)) = self.read_block(1 + number)? else { return Ok(None) };
            for pair in bytes.chunks_exact(PAIR_BYTES).take(count) {
                match number_at(pair, 0).cmp(&hash) {
                    std::cmp::Ordering::Less => {}
                    std::cmp::Ordering::Equal => places.push(number_at(pair, 8)),
                    std::cmp::Ordering::Greater => return Ok(Some(places)),
                }
            }
        }
        Ok(Some(places))
    }
}
