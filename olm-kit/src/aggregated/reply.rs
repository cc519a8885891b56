//! Responder.

use std::io::Write;

use axum::body::Body;
use axum::http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, ETAG, IF_NONE_MATCH, VARY,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

use super::resource::Subresource;
use super::status::Failure;

/// Bytes from which an answer is packed, as kube-apiserver does it.
pub(super) const PACKED_FROM: usize = 128 * 1024;

/// JSON, packed when it is large and the caller understands that.
pub(super) fn json(text: Vec<u8>, headers: &HeaderMap) -> Response {
    let is_large = understands_gzip(headers) && text.len() >= PACKED_FROM;
    match is_large.then(|| pack(&text)) {
        Some(Ok(bytes)) => described(bytes.into(), true),
        _ => described(text.into(), false),
    }
}

/// Whether the caller takes packed answers.
pub(super) fn understands_gzip(headers: &HeaderMap) -> bool {
    let understood = headers.get(ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
    understood.is_some_and(|value| value.contains("gzip"))
}

/// A body of JSON with what callers have to know of it.
pub(super) fn described(body: Body, is_packed: bool) -> Response {
    let mut response = body.into_response();
    let headers = response.headers_mut();
    if is_packed {
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    }
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(VARY, HeaderValue::from_static("Accept-Encoding, Accept"));
    response
}

/// The same of a value.
pub(super) fn value(value: &Value, headers: &HeaderMap) -> Response {
    json(value.to_string().into_bytes(), headers)
}

/// A part of an object; only that it has not changed, when the caller has it.
pub(super) fn part(part: Subresource, headers: &HeaderMap) -> Response {
    let known = headers.get(IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    if !part.etag.is_empty() && known == Some(part.etag.as_str()) {
        return StatusCode::NOT_MODIFIED.into_response();
    }
    let text = |text: &str| HeaderValue::from_str(text);
    let (Ok(media_type), Ok(etag)) = (text(&part.media_type), text(&part.etag)) else {
        return Failure::internal("the part has a malformed media type or name".to_owned())
            .into_response();
    };
    ([(CONTENT_TYPE, media_type), (ETAG, etag)], part.data).into_response()
}

fn pack(bytes: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderName;
    use rstest::rstest;

    fn headers(name: HeaderName, value: &'static str) -> HeaderMap {
        [(name, HeaderValue::from_static(value))].into_iter().collect()
    }

    #[rstest]
    #[case::the_same("\"a.b.c\"", "\"a.b.c\"", StatusCode::NOT_MODIFIED)]
    #[case::another("\"a.b.c\"", "\"a.b.d\"", StatusCode::OK)]
    #[case::unnamed("", "", StatusCode::OK)]
    fn a_part_that_the_caller_has_is_not_sent_again(
        #[case] etag: &str,
        #[case] known: &'static str,
        #[case] expected: StatusCode,
    ) {
        let part = Subresource {
            media_type: "image/png".to_owned(),
            etag: etag.to_owned(),
            data: vec![1],
        };
        assert_eq!(super::part(part, &headers(IF_NONE_MATCH, known)).status(), expected);
    }

    #[rstest]
    #[case::small(10, "gzip", false)]
    #[case::large(PACKED_FROM, "gzip, deflate", true)]
    #[case::not_understood(PACKED_FROM, "deflate", false)]
    fn large_answers_are_packed(
        #[case] length: usize,
        #[case] understood: &'static str,
        #[case] expected: bool,
    ) {
        let response = json("1".repeat(length).into_bytes(), &headers(ACCEPT_ENCODING, understood));
        assert_eq!(response.headers().contains_key(CONTENT_ENCODING), expected);
        assert_eq!(response.headers()[CONTENT_TYPE], "application/json");
    }
}
