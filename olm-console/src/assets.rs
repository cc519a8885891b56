//! Scripts of pages that are live: files of this program, at addresses with a hash of their contents.

use std::sync::LazyLock;

use axum::Router;
use axum::routing::get;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use olm_types::hash::sha256_hex;

use crate::headers::IMMUTABLE;

/// In the order in which a page loads them: the second extends the first, the third needs both.
const SCRIPTS: [(&str, &str); 3] = [
    ("htmx", include_str!("../assets/htmx.min.js")),
    ("htmx-sse", include_str!("../assets/htmx-sse.min.js")),
    ("live", include_str!("../assets/live.js")),
];

/// Digits of a hash that stand in an address.
const DIGITS: usize = 16;

/// Where they are.
static ADDRESSES: LazyLock<[String; 3]> = LazyLock::new(|| SCRIPTS.map(address));

fn address((name, text): (&str, &str)) -> String {
    let hash: String = sha256_hex(text).chars().take(DIGITS).collect();
    format!("/assets/{name}-{hash}.js")
}

/// The addresses of all scripts, in their order.
pub(crate) fn scripts() -> &'static [String] {
    ADDRESSES.as_slice()
}

/// All files.
pub(crate) fn router<S: Clone + Send + Sync + 'static>() -> Router<S> {
    let all = ADDRESSES.iter().zip(SCRIPTS);
    all.fold(Router::new(), |router, (address, (_, text))| {
        let headers =
            [(CONTENT_TYPE, "text/javascript; charset=utf-8"), (CACHE_CONTROL, IMMUTABLE)];
        router.route(address, get(move || std::future::ready((headers.clone(), text))))
    })
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::Request;
    use tower::ServiceExt;

    use super::*;

    #[test]
    fn an_address_changes_with_the_contents() {
        let [first, second] = ["a", "b"].map(|text| address(("live", text)));
        assert_ne!(first, second);
        assert!(first.starts_with("/assets/live-") && first.ends_with(".js"), "{first}");
    }

    #[tokio::test]
    async fn scripts_are_where_pages_look_for_them() {
        for path in scripts() {
            let request = Request::get(path).body(Body::empty()).unwrap();
            let answer = router::<()>().oneshot(request).await.unwrap();
            assert_eq!(answer.status(), 200, "{path}");
            assert_eq!(answer.headers()[CACHE_CONTROL], IMMUTABLE);
            assert_eq!(answer.headers()[CONTENT_TYPE], "text/javascript; charset=utf-8");
        }
    }
}
