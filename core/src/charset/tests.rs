use super::*;

#[track_caller]
fn check(body: &[u8], content_type: Option<&str>, wanted: &str, evidence: Evidence) {
    let (encoding, found) = choose(body, content_type, Fallback::Windows1252);
    let shown = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
    assert_eq!((name_of(encoding), found), (wanted, evidence), "body {shown:?}, content type {content_type:?}");
}

#[test]
fn the_byte_order_mark_beats_every_declaration() {
    let header = Some("text/html; charset=cp1251");
    check(b"\xEF\xBB\xBF<meta charset=koi8-r>", header, "utf-8", Evidence::ByteOrderMark);
    check(b"\xFF\xFE<\0", header, "utf-16le", Evidence::ByteOrderMark);
    check(b"\xFE\xFF\0<", None, "utf-16be", Evidence::ByteOrderMark);
}

#[test]
fn content_type_beats_the_page_in_every_spelling_servers_use() {
    for (value, wanted) in [
        ("text/html; charset=ISO-8859-1", "windows-1252"),
        ("text/html;CHARSET=\"utf-8\"", "utf-8"),
        ("text/html; charset='utf-8'", "utf-8"),
        ("text/html; boundary=x; charset=utf-8;", "utf-8"),
        ("text/html; charset = gb2312", "gbk"),
        ("text/html; charset=utf-16le", "utf-16le"),
    ] {
        check(b"<meta charset=windows-1255>", Some(value), wanted, Evidence::ContentType);
    }
    check(b"<meta charset=windows-1255>", Some("text/html; charset=no-such"), "windows-1255", Evidence::Prescan);
}

#[test]
fn prescan_reads_meta_as_the_standard_says() {
    for (body, wanted) in [
        (&b"<meta charset=iso-8859-2>"[..], "iso-8859-2"),
        (b"<META\nCHARSET  =  'EUC-JP'>", "euc-jp"),
        (b"<meta http-equiv=Content-Type content='text/html;charset=windows-1251'>", "windows-1251"),
        (b"<meta content=\"\ntext/html; charset = koi8-r\n\" http-equiv=\"content-type\">", "koi8-r"),
        (b"<!-- <meta charset=windows-1251> --><meta charset=big5>", "big5"),
        (b"<!--><meta charset=big5>", "big5"),
        (b"<meta charset=nonsense><meta charset=gbk>", "gbk"),
        (b"<meta charset=utf-16>", "utf-8"),
        (b"<meta charset=x-user-defined>", "windows-1252"),
        (b"<meta <meta charset=euc-kr>", "euc-kr"),
        (b"<meta x\" charset=shift_jis>", "shift_jis"),
        (b"<script>'<meta charset=koi8-u>'</script>", "koi8-u"),
        (b"</p title='>'><?x y><!z><meta charset=gb18030>", "gb18030"),
        (b"<?xml version='1.0' encoding='ISO-8859-5'?><html>", "iso-8859-5"),
        (b"<\0?\0x\0m\0l\0", "utf-16le"),
    ] {
        check(body, Some("text/html"), wanted, Evidence::Prescan);
    }
}

#[test]
fn what_only_looks_like_a_declaration_is_none() {
    for body in [
        &b"<metacharset=koi8-r>"[..],
        b"<meta charset=koi8-r",
        b"<meta charset=\"koi8-r>\n<p>x",
        b"<meta http-equiv=\"content-type \" content=\"text/html; charset=koi8-r\">",
        b"<meta content=\"text/html; charset=koi8-r\">",
        b"<meta http-equiv=content-type content=\"text/html; charset='koi8-r\">",
        b"<p title=\"<meta charset=koi8-r>\">",
        b"<",
        b"",
    ] {
        check(body, None, "utf-8", Evidence::ValidUtf8);
    }
}

#[test]
fn a_meta_behind_the_first_kibibyte_counts_unless_it_is_text_of_a_script() {
    let padding = "x".repeat(2000);
    let late = format!("<p>{padding}<meta charset=iso-8859-2>");
    check(late.as_bytes(), None, "iso-8859-2", Evidence::LaterMeta);
    let scripted = format!("<p>{padding}<script>'<meta charset=iso-8859-2>'</script><title>x</title>");
    check(scripted.as_bytes(), None, "utf-8", Evidence::ValidUtf8);
    let straddling = format!("<!--{}--><meta charset=iso-8859-2>", "x".repeat(1000));
    check(straddling.as_bytes(), None, "iso-8859-2", Evidence::LaterMeta);
}

#[test]
fn undeclared_bytes_are_utf8_if_they_can_be_and_the_fallback_if_not() {
    check("Räksmörgås".as_bytes(), None, "utf-8", Evidence::ValidUtf8);
    check("învățat".as_bytes().split_last().unwrap().1, None, "utf-8", Evidence::ValidUtf8);
    check(b"cut \xC8", None, "utf-8", Evidence::ValidUtf8);
    check(b"R\xE4ksm\xF6rg\xE5s", None, "windows-1252", Evidence::Fallback);
}

#[test]
fn detection_tells_cyrillic_from_western() {
    let russian = encoding_rs::WINDOWS_1251.encode("Съешь же ещё этих мягких французских булок").0;
    let (text, name) = decode(&russian, None, Fallback::Detect);
    assert_eq!((&*text, name), ("Съешь же ещё этих мягких французских булок", "windows-1251"));
}

#[test]
fn text_is_decoded_without_its_mark_and_damage_is_shown() {
    assert_eq!(decode(b"\xEF\xBB\xBFab", None, Fallback::Windows1252), ("ab".into(), "utf-8"));
    assert_eq!(decode(b"a\xC0b", Some("x; charset=utf8"), Fallback::Windows1252), ("a\u{FFFD}b".into(), "utf-8"));
    assert_eq!(decode(b"\x93x\x94", None, Fallback::Windows1252).0, "\u{201C}x\u{201D}");
    assert_eq!(decode(b"\xB2\xE2\xCA\xD4", Some("x; charset=gb2312"), Fallback::Windows1252), ("测试".into(), "gbk"));
}

#[test]
fn every_name_is_lower_case() {
    for label in
        ["utf8", "latin1", "866", "l2", "arabic", "koi", "macintosh", "gbk", "big5", "sjis", "x-cp1250", "logical"]
    {
        let name = name_of(of_label(label).unwrap());
        assert_eq!(name, name.to_ascii_lowercase());
    }
}

proptest::proptest! {
    #[test]
    fn decoding_never_panics(body in proptest::collection::vec(proptest::num::u8::ANY, 0..400), header in ".{0,40}") {
        decode(&body, Some(&header), Fallback::Windows1252);
        decode(&body, None, Fallback::Detect);
    }

    #[test]
    fn prescan_never_panics_on_tag_soup(soup in "(<|>|/|!|-|meta|charset|=|\"|'|utf-8|content|http-equiv| |<script>|</script>|;){0,40}") {
        decode(soup.as_bytes(), None, Fallback::Windows1252);
    }
}
