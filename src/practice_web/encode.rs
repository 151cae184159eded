//! Content codings, charsets and chunks for the answers. Writing into memory cannot fail, so these functions return bytes.

use std::io::Write as _;

use encoding_rs::Encoding;
use flate2::{
    Compression,
    write::{DeflateEncoder, GzEncoder, ZlibEncoder},
};

const IN_MEMORY: &str = "writing into a vector cannot fail";

/// Text in another charset; letters that it lacks become numeric references, as browsers send them.
pub fn in_charset(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    encoding.encode(text).0.into_owned()
}

/// One gzip member.
pub fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// Three gzip members behind each other.
pub fn gzip_members(bytes: &[u8]) -> Vec<u8> {
    bytes.chunks(bytes.len() / 3 + 1).flat_map(gzip).collect()
}

/// gzip of `bytes` followed by `num_spaces` spaces, made without holding them.
pub fn gzip_bomb(bytes: &[u8], num_spaces: usize) -> Vec<u8> {
    static BLOCK: [u8; 65_536] = [b' '; 65_536];
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).expect(IN_MEMORY);
    for _ in 0..num_spaces / BLOCK.len() {
        encoder.write_all(&BLOCK).expect(IN_MEMORY);
    }
    encoder.finish().expect(IN_MEMORY)
}

/// deflate in the zlib frame, as RFC 9110 §8.4.1.2 wants it.
pub fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// deflate without the frame, as some servers send it.
pub fn raw_deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect(IN_MEMORY);
    encoder.finish().expect(IN_MEMORY)
}

/// br.
pub fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut output, 4096, 4, 20);
    writer.write_all(bytes).expect(IN_MEMORY);
    drop(writer);
    output
}

/// zstd.
pub fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 3).expect(IN_MEMORY)
}

/// The chunks of a chunked body, without the last one that ends it.
pub fn chunks(bytes: &[u8]) -> Vec<u8> {
    let mut output = Vec::with_capacity(bytes.len() + 1_024);
    for chunk in bytes.chunks(3_000) {
        output.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        output.extend_from_slice(chunk);
        output.extend_from_slice(b"\r\n");
    }
    output
}
