use std::cell::Cell;
use std::io::Write;

use proptest::prelude::*;

use super::*;

const CAPS: DecodeCaps = DecodeCaps { bytes: 2 * 1024 * 1024, ratio: 1000 };

fn gzip(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn gzip_with_every_header_part(plain: &[u8]) -> Vec<u8> {
    let builder = flate2::GzBuilder::new().filename("page.html").comment("c").extra(vec![1, 2, 3, 4]);
    let mut encoder = builder.write(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn zlib(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn deflate(plain: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(plain).unwrap();
    encoder.finish().unwrap()
}

fn br(plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    brotli::CompressorWriter::new(&mut coded, 4096, 5, 22).write_all(plain).unwrap();
    coded
}

fn zstd(plain: &[u8]) -> Vec<u8> {
    zstd::encode_all(plain, 3).unwrap()
}

fn page() -> Vec<u8> {
    (0..400).flat_map(|n| format!("<p>Line {n} of {}</p>\n", n * n).into_bytes()).collect()
}

/// Feeds `coded` in pieces of several sizes and compares the outcome.
#[track_caller]
fn check(name: &str, codings: &[&str], coded: &[u8], body: &[u8], cut: bool) {
    for piece in [1, 7, 1000, coded.len().max(1)] {
        let mut decoder = BodyDecoder::new(codings.iter().copied(), CAPS);
        for part in coded.chunks(piece) {
            if decoder.feed(part) == Flow::Stop {
                break;
            }
        }
        let decoded = decoder.finish();
        assert_eq!(decoded.cut, cut, "{name} in pieces of {piece}: {} bytes decoded", decoded.body.len());
        assert!(decoded.body == body, "{name} in pieces of {piece}: {} bytes, not {}", decoded.body.len(), body.len());
    }
}

#[test]
fn whole_bodies_of_every_coding_decode_whole() {
    let page = page();
    check("plain", &[], &page, &page, false);
    check("identity", &["identity"], &page, &page, false);
    check("none", &["none"], &page, &page, false);
    check("gzip", &["gzip"], &gzip(&page), &page, false);
    check("x-gzip", &["x-gzip"], &gzip(&page), &page, false);
    check("gzip with every header part", &["gzip"], &gzip_with_every_header_part(&page), &page, false);
    check("gzip of nothing", &["gzip"], &gzip(b""), b"", false);
    check("zlib", &["deflate"], &zlib(&page), &page, false);
    check("raw deflate", &["deflate"], &deflate(&page), &page, false);
    check("br", &["br"], &br(&page), &page, false);
    check("zstd", &["zstd"], &zstd(&page), &page, false);
    for coding in ["gzip", "deflate", "br", "zstd"] {
        check("no bytes at all", &[coding], b"", b"", false);
    }
}

#[test]
fn several_members_and_frames_in_a_row_are_one_body() {
    let page = page();
    let twice = page.repeat(2);
    check("two members", &["gzip"], &gzip(&page).repeat(2), &twice, false);
    check("an empty member between", &["gzip"], &[gzip(&page), gzip(b""), gzip(&page)].concat(), &twice, false);
    check("two frames", &["zstd"], &zstd(&page).repeat(2), &twice, false);
}

#[test]
fn bytes_behind_the_end_are_let_go() {
    let page = page();
    for tail in [&b"\0\0\0\0"[..], b"garbage", b"\x1f", b"\x1f\x8bgarbage", b"\n"] {
        check("gzip", &["gzip"], &[&gzip(&page), tail].concat(), &page, false);
        check("zlib", &["deflate"], &[&zlib(&page), tail].concat(), &page, false);
        check("br", &["br"], &[&br(&page), tail].concat(), &page, false);
    }
    check("gzip without trailer", &["gzip"], &gzip(&page)[..gzip(&page).len() - 8], &page, false);
}

#[test]
fn codings_in_a_row_are_undone_from_the_last_to_the_first() {
    let page = page();
    check("gzip, br", &["gzip", "br"], &br(&gzip(&page)), &page, false);
    check("zstd, deflate, gzip", &["zstd", "deflate", "gzip"], &gzip(&zlib(&zstd(&page))), &page, false);
    check("identity, gzip", &["identity", "gzip"], &gzip(&page), &page, false);
    check("four codings", &["gzip"; 4], &gzip(&gzip(&gzip(&gzip(&page)))), b"", true);
}

#[test]
fn broken_data_is_cut_and_what_came_before_is_kept() {
    let page = page();
    for (name, coding, coded) in [
        ("gzip", "gzip", gzip(&page)),
        ("zlib", "deflate", zlib(&page)),
        ("raw deflate", "deflate", deflate(&page)),
        ("br", "br", br(&page)),
        ("zstd", "zstd", zstd(&page)),
    ] {
        for length in [1, 5, coded.len() / 2, coded.len() - 9] {
            let mut decoder = BodyDecoder::new([coding], CAPS);
            decoder.feed(&coded[..length]);
            let decoded = decoder.finish();
            assert!(decoded.cut, "{name} cut at {length}");
            assert!(page.starts_with(&decoded.body), "{name} cut at {length}");
        }
    }
    let mut wrong_sum = gzip(&page);
    let at = wrong_sum.len() - 6;
    wrong_sum[at] ^= 1;
    check("wrong checksum", &["gzip"], &wrong_sum, &page, true);
    for coding in ["gzip", "br", "zstd", "deflate"] {
        check(coding, &[coding], b"<html>not coded at all, whatever the field says</html>", b"", true);
    }
    for codings in [&["compress"][..], &["foo"], &["gzip", "foo"], &["foo", "gzip"]] {
        check("unknown", codings, &gzip(&page), b"", true);
    }
}

#[test]
fn a_file_is_gunzipped_by_its_first_bytes_and_not_by_its_name() {
    let page = page();
    for (name, file, wanted, cut) in [
        ("plain", page.clone(), page.clone(), false),
        ("empty", Vec::new(), Vec::new(), false),
        ("gzip", gzip(&page), page.clone(), false),
        ("gzip of gzip", gzip(&gzip(&page)), page.clone(), false),
        ("with a tail", [&gzip(&page), &b"<!--"[..]].concat(), page.clone(), false),
        ("the magic alone", vec![0x1f, 0x8b], Vec::new(), true),
        ("no gzip behind the magic", b"\x1f\x8bgarbage".to_vec(), Vec::new(), true),
    ] {
        let decoded = gunzip_file(file.into(), CAPS, || true);
        assert_eq!((&decoded.body[..], decoded.cut), (&wanted[..], cut), "{name}");
    }
    for (_, bomb) in bombs(64).into_iter().take(1) {
        let decoded = gunzip_file(gzip(&bomb).into(), CAPS, || true);
        assert!(decoded.cut && decoded.body.len() <= CAPS.bytes);
    }
}

#[test]
fn a_file_that_nobody_wishes_for_any_more_is_unpacked_no_further() {
    let mut seed = 1_u32;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        seed.to_be_bytes()[0]
    })
    .take(FILE_PIECE_BYTES * 8)
    .collect();
    let file = Bytes::from(gzip(&noise));
    let num_asked = Cell::new(0);
    let is_wished = |num_pieces| {
        num_asked.set(num_asked.get() + 1);
        num_asked.get() <= num_pieces
    };
    let caps = DecodeCaps { bytes: noise.len(), ..CAPS };
    assert_eq!(gunzip_file(file.clone(), caps, || is_wished(99)), Decoded { body: noise.into(), cut: false });
    assert!(num_asked.get() > 8, "{} pieces", num_asked.get());
    num_asked.set(0);
    assert_eq!(gunzip_file(file, caps, || is_wished(2)), Decoded { body: Bytes::new(), cut: true });
    assert_eq!(num_asked.get(), 3);
}

/// A body of `plain_mib` MiB of zeros, coded.
fn bombs(plain_mib: usize) -> Vec<(&'static str, Vec<u8>)> {
    let zeros = vec![0; plain_mib * 1024 * 1024];
    vec![("gzip", gzip(&zeros)), ("deflate", zlib(&zeros)), ("br", br(&zeros)), ("zstd", zstd(&zeros))]
}

#[test]
fn bombs_stop_at_the_output_cap_or_at_the_ratio() {
    for (coding, coded) in bombs(64) {
        let mut decoder = BodyDecoder::new([coding], CAPS);
        assert_eq!(decoder.feed(&coded), Flow::Stop, "{coding}");
        assert_eq!(decoder.feed(&coded), Flow::Stop, "{coding}");
        let decoded = decoder.finish();
        let by_ratio = (coded.len() * 1000).clamp(64 * 1024, CAPS.bytes);
        assert_eq!((decoded.body.len(), decoded.cut), (by_ratio, true), "{coding} of {} bytes", coded.len());
    }
    let nested = gzip(&gzip(&vec![0; 64 * 1024 * 1024]));
    let mut decoder = BodyDecoder::new(["gzip", "gzip"], CAPS);
    decoder.feed(&nested);
    assert!(decoder.finish().cut, "a bomb in a bomb of {} bytes", nested.len());
}

#[test]
fn the_output_cap_cuts_plain_and_coded_bodies_at_the_same_byte() {
    let caps = DecodeCaps { bytes: 1000, ratio: 1000 };
    let page = page();
    for (codings, coded) in [(vec![], page.clone()), (vec!["gzip"], gzip(&page)), (vec!["zstd"], zstd(&page))] {
        let mut decoder = BodyDecoder::new(codings.iter().copied(), caps);
        assert_eq!(decoder.feed(&coded), Flow::Stop, "{codings:?}");
        let decoded = decoder.finish();
        assert_eq!((&decoded.body[..], decoded.cut), (&page[..1000], true), "{codings:?}");
    }
    let mut exact = BodyDecoder::new([], caps);
    assert_eq!(exact.feed(&page[..1000]), Flow::Continue);
    assert!(!exact.finish().cut, "a body of exactly the cap is whole");
}

#[test]
fn data_that_decodes_to_nothing_for_ever_is_stopped() {
    let empty_member = gzip(b"");
    let mut decoder = BodyDecoder::new(["gzip"], DecodeCaps { bytes: 1000, ratio: 1000 });
    let num_fed = (0..1_000_000).take_while(|_| decoder.feed(&empty_member) == Flow::Continue).count();
    assert!(num_fed < 10_000, "{num_fed} members taken");
    assert!(decoder.finish().cut);
}

/// The first two bytes are held to see which form of deflate it is; where they broke the inflater, they were counted as read twice.
#[test]
fn deflate_that_is_broken_in_its_first_bytes_is_cut() {
    for bytes in [&[6, 0][..], &[6, 0, 1, 2, 3], &[7, 0xff], &[0xff, 0xff, 0xff]] {
        let mut decoder = BodyDecoder::new(["deflate"], CAPS);
        decoder.feed(bytes);
        let decoded = decoder.finish();
        assert_eq!((decoded.body.len(), decoded.cut), (0, true), "{bytes:?}");
    }
}

proptest! {
    #[test]
    fn no_bytes_make_a_decoder_panic_or_pass_its_caps(bytes in prop::collection::vec(any::<u8>(), 0..400), coding in 0usize..4) {
        let coding = ["gzip", "deflate", "br", "zstd"][coding];
        let caps = DecodeCaps { bytes: 5000, ratio: 1000 };
        let mut decoder = BodyDecoder::new([coding], caps);
        decoder.feed(&bytes);
        prop_assert!(decoder.finish().body.len() <= caps.bytes);
    }

    #[test]
    fn one_flipped_byte_never_panics(at in 0usize..10_000, coding in 0usize..4) {
        let page = page();
        let (coding, mut coded) = [("gzip", gzip(&page)), ("deflate", zlib(&page)), ("br", br(&page)), ("zstd", zstd(&page))][coding].clone();
        let at = at % coded.len();
        coded[at] ^= 0x55;
        let mut decoder = BodyDecoder::new([coding], CAPS);
        decoder.feed(&coded);
        prop_assert!(decoder.finish().body.len() <= CAPS.bytes);
    }
}
