//! Several authorities in one PEM text: whom clients trust.

use super::certificate::blocks;

/// Last line of a certificate.
const END: &str = "-----END CERTIFICATE-----";

/// The PEM texts one after the other, each once, in their order; empty ones are left out. One text
/// alone stays as it is, byte for byte.
pub fn join<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> Vec<u8> {
    let mut seen: Vec<&[u8]> = Vec::new();
    let mut joined: Vec<u8> = Vec::new();
    for text in texts.into_iter().filter(|text| !text.is_empty()) {
        if seen.contains(&text) {
            continue;
        }
        if !joined.is_empty() && !joined.ends_with(b"\n") {
            joined.push(b'\n');
        }
        joined.extend_from_slice(text);
        seen.push(text);
    }
    joined
}

/// Whether clients who trust the authorities of `bundle` trust `authority`, too.
pub fn trusts(bundle: &[u8], authority: &[u8]) -> bool {
    let (Ok(bundle), Ok(authority)) = (blocks(bundle), blocks(authority)) else { return false };
    !authority.is_empty() && authority.iter().all(|one| bundle.contains(one))
}

/// The first `count` certificates of a PEM text, which are the newest; everything else is cut.
pub fn newest(pem: &[u8], count: usize) -> Vec<u8> {
    let Ok(text) = std::str::from_utf8(pem) else { return Vec::new() };
    if blocks(pem).is_err() {
        return Vec::new();
    }
    let kept = text.split_inclusive(END).filter(|block| block.ends_with(END)).take(count);
    let kept = kept.map(|block| format!("{}\n", block.trim_start()));
    kept.collect::<String>().into_bytes()
}
