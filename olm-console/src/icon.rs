//! Pictures of authors: bounded, of known types, and shown as pictures only.

/// Bytes of a picture.
pub(crate) const LARGEST: usize = 256 * 1024;

/// Stands for a picture that is not shown.
pub(crate) const NONE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 40 40\">\
    <rect x=\"6\" y=\"6\" width=\"28\" height=\"28\" rx=\"6\" fill=\"none\" stroke=\"#8a94a0\" stroke-width=\"2\"/></svg>";

/// The type under which a picture is sent. What its bytes say counts: a type of an author could be that of a
/// page.
pub(crate) fn type_of(said: &str, bytes: &[u8]) -> Option<&'static str> {
    let said = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is = |magic: &[u8]| bytes.starts_with(magic);
    match said.as_str() {
        _ if bytes.len() > LARGEST => None,
        "image/png" if is(b"\x89PNG\r\n\x1a\n") => Some("image/png"),
        "image/jpeg" | "image/jpg" if is(b"\xff\xd8\xff") => Some("image/jpeg"),
        "image/gif" if is(b"GIF87a") || is(b"GIF89a") => Some("image/gif"),
        // A policy of its own keeps what it holds from acting, wherever it is opened.
        "image/svg+xml" | "image/svg" if is_markup(bytes) => Some("image/svg+xml"),
        _ => None,
    }
}

fn is_markup(bytes: &[u8]) -> bool {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<') && text.contains("<svg")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const SVG: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\"><script>alert(1)</script></svg>";

    #[rstest]
    #[case("image/png", b"\x89PNG\r\n\x1a\nrest", Some("image/png"))]
    #[case("image/jpg", b"\xff\xd8\xff\xe0", Some("image/jpeg"))]
    #[case("image/gif", b"GIF89a", Some("image/gif"))]
    #[case("image/svg+xml", SVG, Some("image/svg+xml"))]
    #[case("image/svg+xml; charset=utf-8", SVG, Some("image/svg+xml"))]
    #[case("IMAGE/SVG+XML", SVG, Some("image/svg+xml"))]
    #[case("text/html", SVG, None)]
    #[case("text/html", b"<script>alert(1)</script>", None)]
    #[case("image/png", SVG, None)]
    #[case("image/png", b"<html>", None)]
    #[case("image/gif", b"GIF", None)]
    #[case("image/svg+xml", b"<html><script>alert(1)</script>", None)]
    #[case("image/svg+xml", b"\xff\xfe<svg", None)]
    #[case("image/webp", b"RIFF", None)]
    #[case("application/xhtml+xml", SVG, None)]
    #[case("image/\r\nset-cookie: a=b", SVG, None)]
    #[case("", b"", None)]
    fn a_picture_is_what_its_bytes_say(
        #[case] said: &str,
        #[case] bytes: &[u8],
        #[case] expected: Option<&str>,
    ) {
        assert_eq!(type_of(said, bytes), expected);
    }

    #[test]
    fn a_large_picture_is_none() {
        let mut large = b"\x89PNG\r\n\x1a\n".to_vec();
        large.resize(LARGEST + 1, 0);
        assert_eq!(type_of("image/png", &large), None);
    }
}
