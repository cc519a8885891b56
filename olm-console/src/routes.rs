//! Addresses of pages, and what stands before all of them.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Redirect, Response};
use axum::routing::get;
use axum::{Extension, Router};
use http::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE, SET_COOKIE};
use http::{Extensions, StatusCode};
use tokio::sync::{mpsc, oneshot};
use tower_http::sensitive_headers::SetSensitiveHeadersLayer;

use crate::assets;
use crate::gate::{Gate, enter};
use crate::live::{self, Live};
use crate::pages::{Page, Params};
use crate::reader::PageRequest;
use crate::session::Identity;

/// The style of all pages.
const STYLE: &str = include_str!("../assets/console.css");

/// The picture that browsers ask for by themselves: without it their console has an error on each page.
const SIGN: &str = include_str!("../assets/console.svg");

type PageRequests = mpsc::Sender<PageRequest>;

/// All pages, behind a gate.
pub(crate) fn router(gate: Arc<Gate>, questions: PageRequests, live: Live) -> Router {
    let answer = |page: Page| {
        move |questions: State<PageRequests>,
              identity: Extension<Identity>,
              params: Query<Params>,
              said: Extensions| { ask(page, questions, identity, params, said) }
    };
    let page = |page: Page| get(answer(page));
    let form = |page: Page| get(answer(page)).post(answer(page));
    Router::new()
        .route("/", get(async || Redirect::to("/catalog")))
        .route("/catalog", page(Page::Catalog))
        .route("/package", page(Page::Package))
        .route("/installed", page(Page::Installed))
        .route("/operator", page(Page::Operator))
        .route("/plan", form(Page::Plan))
        .route("/install", form(Page::Install))
        .route("/upgrade", form(Page::Upgrade))
        .route("/remove", form(Page::Remove))
        .route("/create", form(Page::Create))
        .route("/health", page(Page::Health))
        .route("/icon", page(Page::Icon))
        .route("/console.css", get(async || ([(CONTENT_TYPE, "text/css; charset=utf-8")], STYLE)))
        .route("/favicon.ico", get(async || ([(CONTENT_TYPE, "image/svg+xml")], SIGN)))
        .merge(live::router::<PageRequests>(live))
        .merge(assets::router::<PageRequests>())
        .fallback(async || (StatusCode::NOT_FOUND, "There is no such page.\n"))
        .layer(from_fn_with_state(gate, enter))
        // Whatever writes a request or an answer into a log leaves these out.
        .layer(SetSensitiveHeadersLayer::new([AUTHORIZATION, COOKIE, SET_COOKIE]))
        .with_state(questions)
}

async fn ask(
    page: Page,
    State(questions): State<PageRequests>,
    Extension(identity): Extension<Identity>,
    Query(params): Query<Params>,
    said: Extensions,
) -> Response {
    let params = match params.with(said.get().cloned(), said.get()) {
        Ok(params) => params,
        Err(bad) => return bad.into_response(),
    };
    let (reply, answer) = oneshot::channel();
    let question = PageRequest { page, params, identity, reply };
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
    use http::Request;
    use http::header::{CONTENT_SECURITY_POLICY, HOST, LOCATION};
    use rstest::rstest;
    use tower::ServiceExt;

    use super::*;
    use crate::gate::ADDRESS;
    use crate::guard::Guard;

    const HERE: &str = "127.0.0.1:4321";

    /// What a router without a reader answers; the cookie is the one that the token has become.
    async fn answer(path: &str, host: &str, with_cookie: bool) -> Response {
        let (guard, token) = Guard::new(4321).unwrap();
        let cookie = guard.cookie().split(';').next().unwrap_or_default().to_owned();
        let (questions, _) = mpsc::channel(1);
        let (identity, _session) = Identity::for_tests();
        let router = router(Arc::new(Gate::Own(guard, identity)), questions, Live::new(None));
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
    #[case::live("/live?page=installed&namespace=ns", HERE, true, 200)]
    #[case::live_nowhere("/live?page=icon&namespace=ns", HERE, true, 400)]
    #[case::live_elsewhere("/live?page=installed&namespace=../ns", HERE, true, 400)]
    #[case::live_without_cookie("/live?page=installed&namespace=ns", HERE, false, 403)]
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
        assert_eq!(found.headers()["referrer-policy"], "same-origin");
    }

    #[tokio::test]
    async fn no_log_of_an_answer_has_its_cookie() {
        let begun = answer("/?token=TOKEN", HERE, false).await;
        assert!(begun.headers()[SET_COOKIE].to_str().unwrap().starts_with("olm-console-4321="));
        let logged = format!("{:?}", begun.headers());
        assert!(logged.contains("set-cookie") && !logged.contains("olm-console-4321"), "{logged}");
    }

    #[rstest]
    #[case::asked("/plan", HERE, "csrf=TOKEN&name=kettle", 503)]
    #[case::other_token("/plan", HERE, "csrf=0&name=kettle", 403)]
    #[case::no_token("/install", HERE, "package=kettle", 403)]
    #[case::foreign("/install", "rebound.example", "csrf=TOKEN", 403)]
    #[case::null("/install", "", "csrf=TOKEN", 403)]
    #[case::field("/remove", HERE, "csrf=TOKEN&%3Cb%3E=1", 400)]
    #[case::read_only("/health", HERE, "csrf=TOKEN", 405)]
    #[tokio::test]
    async fn forms_are_posted_with_the_token_of_their_session(
        #[case] path: &str,
        #[case] origin: &str,
        #[case] body: &str,
        #[case] expected: u16,
    ) {
        let (guard, _) = Guard::new(4321).unwrap();
        let cookie = guard.cookie().split(';').next().unwrap_or_default().to_owned();
        let body = body.replace("TOKEN", guard.form_token().text());
        let (questions, _) = mpsc::channel(1);
        let (identity, _session) = Identity::for_tests();
        let gate = Arc::new(Gate::Own(guard, identity));
        let request = Request::post(path).header(HOST, HERE).header(COOKIE, cookie);
        let request = request.header("origin", format!("http://{origin}"));
        let request = request.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
        let request = request.body(Body::from(body)).unwrap();
        let found = router(gate, questions, Live::new(None)).oneshot(request).await.unwrap();
        assert_eq!(found.status().as_u16(), expected);
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
