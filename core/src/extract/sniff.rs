//! Whether bytes that came as a page are plainly something else: an archive, a document, an image, under a wrong Content-Type.
//!
//! By the signatures at the start alone, most of them those of the WHATWG's MIME Sniffing Standard (§6 and §7.1). What has none of
//! them is taken for the page that the server says it is; no guess is made by how text looks.

/// The first bytes of formats that are no page, each long enough that no text begins so.
const SIGNATURES: [&[u8]; 26] = [
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"%PDF-",
    b"%!PS-Adobe-",
    b"\x1F\x8B\x08",
    b"Rar!\x1A\x07",
    b"7z\xBC\xAF\x27\x1C",
    b"BZh9",
    b"\xFD7zXZ\x00",
    b"\x28\xB5\x2F\xFD",
    b"\x89PNG\r\n\x1A\n",
    b"GIF87a",
    b"GIF89a",
    b"\xFF\xD8\xFF",
    b"\x00\x00\x01\x00",
    b"II*\x00",
    b"MM\x00*",
    b"OggS\x00",
    b"ID3\x03",
    b"ID3\x04",
    b"fLaC\x00",
    b"\x1A\x45\xDF\xA3",
    b"\x00asm",
    b"\x7FELF",
    b"wOFF",
    b"wOF2",
];

/// Whether a body is in a format that is no page, whatever its Content-Type says.
pub fn is_other_format(body: &[u8]) -> bool {
    let has_box = |at: usize, name: &[u8]| body.get(at..at + name.len()) == Some(name);
    SIGNATURES.iter().any(|signature| body.starts_with(signature))
        || (body.starts_with(b"RIFF") && [&b"WEBP"[..], b"WAVE", b"AVI "].iter().any(|name| has_box(8, name)))
        // ISO base media files, MP4 and AVIF among them: a box's length, then its name.
        || (body.first() == Some(&0) && has_box(4, b"ftyp"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_documents_and_media_are_no_pages() {
        for body in [
            &b"PK\x03\x04\x14\x00<title>x</title>"[..],
            b"%PDF-1.7\n<title>x</title>",
            b"\x1F\x8B\x08\x00",
            b"\x89PNG\r\n\x1A\n",
            b"GIF89a\x01",
            b"RIFF\x00\x01\x02\x03WEBPVP8 ",
            b"\x00\x00\x00\x20ftypisom",
            b"\xFF\xD8\xFF\xE0",
        ] {
            assert!(is_other_format(body), "{body:?}");
        }
    }

    #[test]
    fn pages_and_what_might_be_one_are_left_to_the_reader() {
        for body in [
            &b""[..],
            b"<!doctype html>",
            b" \n<html>",
            b"\xEF\xBB\xBF<html>",
            b"\xFF\xFE<\x00h\x00",
            b"\xFE\xFF\x00<",
            b"\x00<\x00h\x00t\x00m\x00l",
            b"PK is a title",
            b"RIFF and raff",
            b"%PDF",
            b"GIF is a format",
            b"\x1F\x8B",
            b"plain text",
        ] {
            assert!(!is_other_format(body), "{body:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..16)) {
            is_other_format(&body);
        }
    }
}
