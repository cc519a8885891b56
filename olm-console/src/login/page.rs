//! The page with which a user logs in, and the cookie.

use askama::Template;
use axum::response::{IntoResponse, Response};
use http::header::{HeaderValue, LOCATION, SET_COOKIE, WWW_AUTHENTICATE};
use http::{StatusCode, Uri};
use olm_client::clean;

/// The name of the cookie. Browsers keep one with this beginning for this host only, and with TLS only.
pub(super) const COOKIE: &str = "__Host-olm-console";

/// How it is kept.
const KEPT: &str = "Path=/; Secure; HttpOnly; SameSite=Strict";

/// Where a user begins.
const FIRST: &str = "/catalog";

#[derive(Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    why: &'a str,
    next: &'a str,
}

/// The page, with why it is shown and where it leads.
pub(super) fn page(code: StatusCode, why: &str, next: &str) -> Response {
    let mut response = match (LoginPage { why, next: own(next) }).render() {
        Ok(text) => (code, axum::response::Html(clean::text(&text))).into_response(),
        Err(error) => {
            let why = format!("This page cannot be written: {error}\n");
            (StatusCode::INTERNAL_SERVER_ERROR, why).into_response()
        }
    };
    if code == StatusCode::UNAUTHORIZED {
        response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// The way to a page, with a cookie.
pub(super) fn begin(secret: &str, next: &str) -> Response {
    leads(own(next), &format!("{COOKIE}={secret}; {KEPT}"))
}

/// The way to the login page, without the cookie.
pub(super) fn leave() -> Response {
    leads("/login", &format!("{COOKIE}=; {KEPT}; Max-Age=0"))
}

fn leads(place: &str, cookie: &str) -> Response {
    let mut response = StatusCode::SEE_OTHER.into_response();
    for (name, value) in [(LOCATION, place), (SET_COOKIE, cookie)] {
        if let Ok(value) = HeaderValue::from_str(value) {
            response.headers_mut().insert(name, value);
        }
    }
    response
}

/// An address of this server; what leads elsewhere is none.
fn own(next: &str) -> &str {
    let uri: Option<Uri> = next.parse().ok();
    let is_path = uri.is_some_and(|uri| uri.authority().is_none() && uri.scheme().is_none());
    let begins = next.starts_with('/') && !next.starts_with("//");
    let is_page = !next.starts_with("/login") && !next.starts_with("/logout");
    if is_path && begins && is_page && !next.contains('\\') { next } else { FIRST }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_cookie_is_for_this_host_and_no_script() {
        let response = begin("secret", "/plan?name=a");
        assert_eq!(response.status(), 303);
        assert_eq!(response.headers()[LOCATION], "/plan?name=a");
        let cookie = "__Host-olm-console=secret; Path=/; Secure; HttpOnly; SameSite=Strict";
        assert_eq!(response.headers()[SET_COOKIE], cookie);
        let gone = leave().headers()[SET_COOKIE].to_str().unwrap().to_owned();
        assert!(gone.starts_with("__Host-olm-console=; ") && gone.ends_with("Max-Age=0"), "{gone}");
    }

    #[rstest]
    #[case("/installed?namespace=a", "/installed?namespace=a")]
    #[case("", "/catalog")]
    #[case("https://rebound.example/", "/catalog")]
    #[case("//rebound.example/", "/catalog")]
    #[case("/\\rebound.example/", "/catalog")]
    #[case("/a\r\nset-cookie: b", "/catalog")]
    #[case("javascript:alert(1)", "/catalog")]
    #[case("/logout", "/catalog")]
    fn it_leads_to_pages_of_this_server(#[case] next: &str, #[case] expected: &str) {
        assert_eq!(own(next), expected);
    }

    #[test]
    fn the_page_has_no_markup_of_others() {
        let page = LoginPage { why: "<b>", next: "/\"><script>" }.render().unwrap();
        assert!(!page.contains("<script>") && !page.contains("<b>"), "{page}");
    }
}
