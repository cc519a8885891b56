//! What every answer says to a browser.

use http::HeaderMap;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HeaderName, HeaderValue, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};

/// What a page may load: its own style and pictures, and no script at all.
const PAGE: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                    base-uri 'none'; frame-ancestors 'none'";

/// What a picture of an author may do: its own style, in no document.
pub(crate) const PICTURE: &str = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/// What is said with every answer.
const ALWAYS: [(HeaderName, &str); 6] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // With no-referrer, browsers post forms with the origin `null`.
    (REFERRER_POLICY, "same-origin"),
    (CACHE_CONTROL, "no-store"),
    (X_FRAME_OPTIONS, "DENY"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Adds what every answer says; a picture has brought a policy of its own.
pub(crate) fn add(headers: &mut HeaderMap) {
    for (name, value) in ALWAYS {
        headers.insert(name, HeaderValue::from_static(value));
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
        assert!(!policy.contains("unsafe") && !policy.contains("script-src"), "{policy}");
        assert_eq!(headers[CACHE_CONTROL], "no-store");
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(PICTURE));
        add(&mut headers);
        assert_eq!(headers[CONTENT_SECURITY_POLICY], PICTURE);
    }
}
