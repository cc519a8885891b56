//! What every answer says to a browser.

use http::HeaderMap;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// What a page may load: scripts, style and pictures of this server, none of which stands in the page.
const PAGE: &str = "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; \
                    img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/// Said with a file whose address has a hash of its contents. No other answer is kept.
pub(crate) const IMMUTABLE: &str = "private, max-age=31536000, immutable";

/// What a picture of an author may do: its own style, in no document.
pub(crate) const PICTURE: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// What is said with every answer. Without any referrer a browser would not say of a form where it comes from.
const ALWAYS: [(HeaderName, &str); 5] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (REFERRER_POLICY, "same-origin"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Adds what every answer says; a picture has brought a policy of its own, and a file how long it is kept.
pub(crate) fn add(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    if headers.get(CACHE_CONTROL).is_none_or(|said| said != IMMUTABLE) {
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    headers.entry(CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(PAGE));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_inline_and_no_frame_is_allowed() {
        let mut headers = HeaderMap::new();
        add(&mut headers);
        let policy = headers[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'none'") && policy.contains("frame-ancestors 'none'")
        );
        assert!(policy.contains("script-src 'self';") && !policy.contains("unsafe"), "{policy}");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PICTURE));
        add(&mut headers);
        assert_eq!(headers[CONTENT_SECURITY_POLICY], PICTURE);
    }

    #[test]
    fn only_files_are_kept() {
        let mut headers = HeaderMap::new();
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        add(&mut headers);
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(IMMUTABLE));
        add(&mut headers);
        assert_eq!(headers[CACHE_CONTROL], IMMUTABLE);
    }
}
