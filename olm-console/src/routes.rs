//! Addresses of pages, and what stands before all of them.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Query, Request, State};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use http::header::{CONTENT_TYPE, HeaderValue, SET_COOKIE};
use http::{StatusCode, Uri};
use serde::Deserialize;
use tokio::sync::{mpsc, oneshot};

use crate::guard::{Guard, Verdict};
use crate::headers;
use crate::pages::{Page, Params};
use crate::reader::Question;

/// Bytes of an address: searches are short.
const ADDRESS: usize = 4 * 1024;

/// The style of all pages.
const STYLE: &str = include_str!("../assets/console.css");

/// The picture that browsers ask for by themselves: without it their console has an error on each page.
const SIGN: &str = include_str!("../assets/console.svg");

type Questions = mpsc::Sender<Question>;

/// The token of an address.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
}

/// All pages, behind a guard.
pub(crate) fn router(guard: Arc<Guard>, questions: Questions) -> Router {
    let page = |page: Page| {
        get(move |questions: State<Questions>, params: Query<Params>| ask(page, questions, params))
    };
    Router::new()
        .route("/", get(async || Redirect::to("/catalog")))
        .route("/catalog", page(Page::Catalog))
        .route("/package", page(Page::Package))
        .route("/installed", page(Page::Installed))
        .route("/operator", page(Page::Operator))
        .route("/plan", page(Page::Plan))
        .route("/health", page(Page::Health))
        .route("/icon", page(Page::Icon))
        .route("/console.css", get(async || ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)))
        .route("/favicon.ico", get(async || ([(CONTENT_TYPE, "image/svg+xml")], SIGN)))
        .fallback(async || (StatusCode::NOT_FOUND, "There is no such page.\n"))
        .layer(from_fn_with_state(guard, guarded))
        .with_state(questions)
}

async fn guarded(State(guard): State<Arc<Guard>>, request: Request, next: Next) -> Response {
    let verdict = match token(request.uri()) {
        Ok(token) => guard.judge(request.method(), request.headers(), token.as_deref()),
        Err(code) => Verdict::Refuse(code, "This address cannot be read."),
    };
    let mut response = match verdict {
        Verdict::Enter => next.run(request).await,
        Verdict::Begin => begin(&guard),
        Verdict::Refuse(code, why) => (code, format!("{why}\n")).into_response(),
    };
    headers::add(response.headers_mut());
    response
}

fn token(uri: &Uri) -> Result<Option<String>, StatusCode> {
    if uri.to_string().len() > ADDRESS {
        return Err(StatusCode::URI_TOO_LONG);
    }
    match Query::<Token>::try_from_uri(uri) {
        Ok(Query(found)) => Ok(found.token),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}

/// The cookie, and an address without the token.
fn begin(guard: &Guard) -> Response {
    let mut response = Redirect::to("/catalog").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&guard.cookie()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}

async fn ask(
    page: Page,
    State(questions): State<Questions>,
    Query(params): Query<Params>,
) -> Response {
    let (reply, answer) = oneshot::channel();
    let question = Question { page, params, reply };
    if questions.try_send(question).is_err() {
        return (StatusCode::SERVICE_UNAVAILABLE, "Too many pages are read; try again.\n")
            .into_response();
    }
    match answer.await {
        Ok(response) => response,
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "The console ends.\n").into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use http::header::{CONTENT_SECURITY_POLICY, COOKIE, HOST, LOCATION};
    use rstest::rstest;
    use tower::ServiceExt;

    use super::*;

    const HERE: &str = "127.0.0.1:4321";

    /// What a router without a reader answers; the cookie is the one that the token has become.
    async fn answer(path: &str, host: &str, with_cookie: bool) -> Response {
        let (guard, token) = Guard::new(4321).unwrap();
        let cookie = guard.cookie().split(';').next().unwrap_or_default().to_owned();
        let (questions, _) = mpsc::channel(1);
        let router = router(Arc::new(guard), questions);
        let path = path.replace("TOKEN", &token);
        let request = Request::get(path).header(HOST, host);
        let cookies = with_cookie.then_some(cookie);
        let request = cookies.into_iter().fold(request, |request, one| request.header(COOKIE, one));
        router.oneshot(request.body(Body::empty()).unwrap()).await.unwrap()
    }

    #[rstest]
    #[case::style("/console.css", HERE, true, 200)]
    #[case::sign("/favicon.ico", HERE, true, 200)]
    #[case::sign_without_cookie("/favicon.ico", HERE, false, 403)]
    #[case::first("/", HERE, true, 303)]
    #[case::page("/catalog", HERE, true, 503)]
    #[case::nowhere("/metrics", HERE, true, 404)]
    #[case::token("/?token=TOKEN", HERE, false, 303)]
    #[case::token_elsewhere("/health?token=TOKEN", HERE, false, 303)]
    #[case::other_token("/?token=0", HERE, false, 403)]
    #[case::no_cookie("/catalog", HERE, false, 403)]
    #[case::style_without_cookie("/console.css", HERE, false, 403)]
    #[case::nowhere_without_cookie("/metrics", HERE, false, 403)]
    #[case::rebound("/catalog", "rebound.example:4321", true, 421)]
    #[case::rebound_with_token("/?token=TOKEN", "rebound.example:4321", false, 421)]
    #[tokio::test]
    async fn nothing_is_before_the_guard_and_every_answer_has_a_policy(
        #[case] path: &str,
        #[case] host: &str,
        #[case] with_cookie: bool,
        #[case] expected: u16,
    ) {
        let found = answer(path, host, with_cookie).await;
        assert_eq!(found.status().as_u16(), expected);
        let policy = found.headers()[CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
        assert_eq!(found.headers()["x-content-type-options"], "nosniff");
        assert_eq!(found.headers()["referrer-policy"], "no-referrer");
    }

    #[tokio::test]
    async fn the_token_leaves_the_address() {
        let found = answer("/?token=TOKEN", HERE, false).await;
        assert_eq!(found.headers()[LOCATION], "/catalog");
        assert!(found.headers().contains_key(SET_COOKIE));
        let long = format!("/catalog?q={}", "a".repeat(ADDRESS));
        assert_eq!(answer(&long, HERE, true).await.status(), 414);
    }
}
