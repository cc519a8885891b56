//! Logging in, against an API server that knows one token.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::body::Body;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use axum::{Extension, Json, Router};
use http::header::{HOST, HeaderName, HeaderValue, LOCATION, ORIGIN, SET_COOKIE, WWW_AUTHENTICATE};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use super::*;
use crate::gate::{Gate, enter};
use crate::session::Identity;

const TOKEN: &str = "known.token.of-a-user";

/// An API server; the token is accepted until it has expired.
async fn api_server(expired: Arc<AtomicBool>) -> Config {
    async fn answer(
        State(expired): State<Arc<AtomicBool>>,
        headers: HeaderMap,
    ) -> (StatusCode, Json<Value>) {
        let said = headers.get(AUTHORIZATION).and_then(|said| said.to_str().ok());
        let known = said == Some(format!("Bearer {TOKEN}").as_str());
        if known && !expired.load(Ordering::Relaxed) {
            let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview",
                "metadata": {}, "status": {"userInfo": {"username": "user"}}});
            return (StatusCode::CREATED, Json(review));
        }
        let status = json!({"apiVersion": "v1", "kind": "Status", "metadata": {}, "status": "Failure",
            "message": "Unauthorized", "reason": "Unauthorized", "code": 401});
        (StatusCode::UNAUTHORIZED, Json(status))
    }
    let path = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
    let router = Router::new().route(path, post(answer)).with_state(expired);
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    let mut config = Config::new(format!("http://{address}").parse().unwrap());
    config.default_retry = false;
    config
}

/// A page that asks the API server with the rights of its user.
async fn page_of(Extension(identity): Extension<Identity>) -> String {
    let reviews: kube::Api<k8s_openapi::api::authentication::v1::SelfSubjectReview> =
        kube::Api::all(identity.cluster.client.clone());
    let asked = reviews.create(&Default::default(), &Default::default()).await;
    format!("session {} {}", identity.session, asked.is_ok())
}

struct Served {
    login: Arc<Login>,
    router: Router,
    expired: Arc<AtomicBool>,
}

struct PageResponse {
    code: u16,
    headers: HeaderMap,
    body: String,
}

async fn served() -> Served {
    let expired = Arc::new(AtomicBool::new(false));
    let config = api_server(expired.clone()).await;
    let login = Arc::new(Login::new(vec!["console.example".to_owned()], config));
    let gate = Arc::new(Gate::Login(login.clone()));
    let router =
        Router::new().route("/installed", get(page_of)).layer(from_fn_with_state(gate, enter));
    Served { login, router, expired }
}

impl Served {
    async fn ask(&self, path: &str, headers: &[(&str, &str)]) -> PageResponse {
        self.send(Request::get(path), headers, Body::empty()).await
    }

    async fn log_in(&self, token: &str) -> PageResponse {
        let body = Body::from(format!("token={token}&next=%2Finstalled%3Fnamespace%3Da"));
        let origin = [(ORIGIN.as_str(), "https://console.example")];
        self.send(Request::post("/login"), &origin, body).await
    }

    async fn send(
        &self,
        request: http::request::Builder,
        headers: &[(&str, &str)],
        body: Body,
    ) -> PageResponse {
        let request = request.header(HOST, "console.example");
        let request =
            headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let response = self.router.clone().oneshot(request.body(body).unwrap()).await.unwrap();
        let (head, body) = response.into_parts();
        let body = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
        assert!(!body.contains(TOKEN), "a token is in {body}");
        PageResponse { code: head.status.as_u16(), headers: head.headers, body }
    }
}

/// The cookie of an answer, as a browser sends it.
fn cookie_of(answer: &PageResponse) -> String {
    let given = answer.headers[SET_COOKIE].to_str().unwrap();
    assert!(given.starts_with("__Host-olm-console=") && !given.contains(TOKEN), "{given}");
    given.split(';').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_token_of_the_login_page_becomes_a_session() {
    let served = served().await;
    let asks = served.ask("/installed?namespace=a", &[]).await;
    assert_eq!(asks.code, 401);
    assert!(asks.body.contains("value=\"/installed?namespace=a\""), "{}", asks.body);
    let wrong = served.log_in("other").await;
    assert_eq!((wrong.code, wrong.headers.contains_key(SET_COOKIE)), (401, false));
    assert!(wrong.body.contains("does not accept this token"), "{}", wrong.body);
    let begun = served.log_in(TOKEN).await;
    assert_eq!(begun.code, 303);
    assert_eq!(begun.headers[LOCATION], "/installed?namespace=a");
    let cookie = cookie_of(&begun);
    let with = [("cookie", cookie.as_str())];
    assert_eq!(served.ask("/installed", &with).await.body, "session 1 true");
    let other = served.log_in(TOKEN).await;
    let other = cookie_of(&other);
    assert_eq!(
        served.ask("/installed", &[("cookie", other.as_str())]).await.body,
        "session 2 true"
    );
    let both = format!("{cookie}; {other}");
    assert_eq!(served.ask("/installed", &[("cookie", both.as_str())]).await.code, 401);
    let origin = ("origin", "https://console.example");
    let left = served.send(Request::post("/logout"), &[with[0], origin], Body::empty()).await;
    assert_eq!((left.code, &left.headers[LOCATION]), (303, &"/login".parse().unwrap()));
    let over = served.ask("/installed", &with).await;
    assert_eq!(over.code, 401);
    assert!(over.body.contains("not logged in any more"), "{}", over.body);
    assert_eq!(served.ask("/installed", &[("cookie", other.as_str())]).await.code, 200);
}

#[tokio::test]
async fn two_hundred_users_are_logged_in_at_once() {
    let served = served().await;
    let Login { sessions, server, .. } = &*served.login;
    let client = server.anonymous().unwrap();
    for user in 1..200 {
        let key = digest(&format!("user {user}"));
        let make = |number, end| server.user(client.clone(), number, end);
        assert!(sessions.begin(key, Instant::now(), make).is_some(), "user {user}");
    }
    let last = cookie_of(&served.log_in(TOKEN).await);
    let refused = served.log_in(TOKEN).await;
    assert_eq!((refused.code, refused.headers.contains_key(SET_COOKIE)), (503, false));
    assert!(refused.body.contains("Too many users are logged in"), "{}", refused.body);
    let with = [("cookie", last.as_str())];
    assert_eq!(served.ask("/installed", &with).await.body, "session 200 true");
}

/// The router of these tests has neither file, and says so itself.
#[tokio::test]
async fn what_the_login_page_loads_needs_no_login() {
    let served = served().await;
    for (path, expected) in [("/console.css", 404), ("/favicon.ico", 404), ("/icon", 401)] {
        assert_eq!(served.ask(path, &[]).await.code, expected, "{path}");
    }
}

#[test]
fn a_page_that_reads_itself_is_no_use_of_a_session() {
    let headers = |target: Option<&'static str>| {
        let said = |name, value| (HeaderName::from_static(name), HeaderValue::from_static(value));
        let target = target.map(|target| said("hx-target", target));
        HeaderMap::from_iter(target.into_iter().chain([said("hx-request", "true")]))
    };
    assert!(!is_use(&headers(Some("content")), "/installed"));
    assert!(!is_use(&headers(None), "/live?page=installed&namespace=a"));
    assert!(is_use(&headers(Some("found")), "/catalog?q=a"), "a search as it is typed");
    assert!(is_use(&HeaderMap::new(), "/installed"));
}

#[tokio::test]
async fn a_bearer_token_has_one_session() {
    let served = served().await;
    let known = format!("Bearer {TOKEN}");
    for _ in 0..2 {
        let answer = served.ask("/installed", &[("authorization", known.as_str())]).await;
        assert_eq!(answer.body, "session 1 true");
    }
    for wrong in ["Bearer other", "Bearer ", "Basic dXNlcjpwYXNz", "Bearer a b"] {
        let answer = served.ask("/installed", &[("authorization", wrong)]).await;
        assert_eq!(answer.code, 401, "{wrong}");
        assert_eq!(answer.headers[WWW_AUTHENTICATE], "Bearer", "{wrong}");
    }
}

#[tokio::test]
async fn a_token_that_expires_ends_its_session_with_the_login_page() {
    let served = served().await;
    let cookie = cookie_of(&served.log_in(TOKEN).await);
    let with = [("cookie", cookie.as_str())];
    assert_eq!(served.ask("/installed", &with).await.code, 200);
    served.expired.store(true, Ordering::Relaxed);
    let expired = served.ask("/installed", &with).await;
    assert_eq!(expired.code, 401);
    assert!(expired.body.contains("it has expired"), "{}", expired.body);
    served.expired.store(false, Ordering::Relaxed);
    assert_eq!(served.ask("/installed", &with).await.code, 401, "the session is over");
}

#[tokio::test]
async fn no_header_says_who_a_user_is() {
    let served = served().await;
    let cookie = cookie_of(&served.log_in(TOKEN).await);
    let with = [("cookie", cookie.as_str()), ("x-forwarded-user", "admin")];
    let refused = served.ask("/installed", &with).await;
    assert_eq!(refused.code, 400);
    assert!(refused.body.contains("x-forwarded-user"), "{}", refused.body);
}

#[tokio::test]
async fn the_kubelet_asks_without_a_name_and_a_login() {
    let served = served().await;
    let request = Request::get(HEALTH).header(HOST, "10.0.0.1:8443").body(Body::empty()).unwrap();
    let answer = served.router.clone().oneshot(request).await.unwrap();
    assert_eq!(answer.status(), 200);
    let elsewhere =
        Request::get("/login").header(HOST, "10.0.0.1:8443").body(Body::empty()).unwrap();
    let answer = served.router.clone().oneshot(elsewhere).await.unwrap();
    assert_eq!(answer.status(), 421);
}
