//! What is refused before anything else is looked at: other names of this server, other sites, and headers that say
//! who a user is.

use http::header::{HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method, StatusCode};

use crate::guard::is_foreign;

/// Headers with which a proxy says who a user is, as the front proxy of an API server does.
const IDENTITIES: [&str; 4] =
    ["x-forwarded-user", "x-forwarded-groups", "x-remote-user", "x-remote-group"];

/// Beginnings of such names.
const BEGINNINGS: [&str; 2] = ["impersonate-", "x-remote-extra-"];

/// A refusal, with a message.
pub(super) type Refusal = (StatusCode, String);

/// Why a request is not looked at.
pub(super) fn refusal(hosts: &[String], method: &Method, headers: &HeaderMap) -> Option<Refusal> {
    if !is_host(hosts, headers) {
        let why = "This server does not answer under this name; --host names those that it has.";
        return Some((StatusCode::MISDIRECTED_REQUEST, format!("{why}\n")));
    }
    if let Some(name) = headers.keys().find(|name| says_who(name)) {
        let why = format!(
            "The header {name} is refused: to act for the user that it names, this server would need the right \
             to impersonate users. Send `Authorization: Bearer`, or log in.\n"
        );
        return Some((StatusCode::BAD_REQUEST, why));
    }
    if !is_own(hosts, method, headers) {
        let why = "This request comes from a page of another site.\n";
        return Some((StatusCode::FORBIDDEN, why.to_owned()));
    }
    let known = [Method::GET, Method::HEAD, Method::POST].contains(method);
    let why = "Only GET, HEAD and POST are answered.\n".to_owned();
    (!known).then_some((StatusCode::METHOD_NOT_ALLOWED, why))
}

fn is_host(hosts: &[String], headers: &HeaderMap) -> bool {
    let mut named = headers.get_all(HOST).iter();
    let (host, other) = (named.next().and_then(|host| host.to_str().ok()), named.next());
    let is_known = |host: &str| hosts.iter().any(|known| known.eq_ignore_ascii_case(host));
    host.is_some_and(is_known) && other.is_none()
}

fn says_who(name: &HeaderName) -> bool {
    IDENTITIES.contains(&name.as_str())
        || BEGINNINGS.iter().any(|beginning| name.as_str().starts_with(beginning))
}

/// Whether a request is of a page of this server, or of none. Browsers say so with every change.
fn is_own(hosts: &[String], method: &Method, headers: &HeaderMap) -> bool {
    let own = |origin: &http::HeaderValue| {
        let origin = origin.to_str().ok().and_then(|origin| origin.strip_prefix("https://"));
        origin.is_some_and(|host| hosts.iter().any(|known| known.eq_ignore_ascii_case(host)))
    };
    let mut origins = headers.get_all(ORIGIN).iter();
    let is_said = headers.contains_key(ORIGIN);
    origins.all(own) && !is_foreign(headers) && (is_said || method != Method::POST)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn code(method: &Method, pairs: &[(&'static str, &str)]) -> u16 {
        let hosts = ["console.example".to_owned(), "console.example:8443".to_owned()];
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        refusal(&hosts, method, &headers).map_or(200, |(code, _)| code.as_u16())
    }

    const HERE: (&str, &str) = ("host", "console.example");
    const OWN: (&str, &str) = ("origin", "https://console.example");

    #[rstest]
    #[case::host(&[HERE], 200)]
    #[case::port(&[("host", "console.example:8443")], 200)]
    #[case::case(&[("host", "Console.Example")], 200)]
    #[case::no_host(&[], 421)]
    #[case::rebound(&[("host", "rebound.example")], 421)]
    #[case::suffix(&[("host", "console.example.rebound.example")], 421)]
    #[case::other_port(&[("host", "console.example:1")], 421)]
    #[case::twice(&[HERE, ("host", "rebound.example")], 421)]
    #[case::user(&[HERE, ("x-forwarded-user", "admin")], 400)]
    #[case::groups(&[HERE, ("x-forwarded-groups", "system:masters")], 400)]
    #[case::remote(&[HERE, ("x-remote-user", "admin")], 400)]
    #[case::remote_extra(&[HERE, ("x-remote-extra-scopes", "a")], 400)]
    #[case::impersonated(&[HERE, ("impersonate-user", "admin")], 400)]
    #[case::impersonated_extra(&[HERE, ("impersonate-extra-a", "b")], 400)]
    #[case::empty(&[HERE, ("x-forwarded-user", "")], 400)]
    #[case::forwarded_for(&[HERE, ("x-forwarded-for", "10.0.0.1")], 200)]
    #[case::own_origin(&[HERE, OWN], 200)]
    #[case::other_origin(&[HERE, ("origin", "https://rebound.example")], 403)]
    #[case::scheme(&[HERE, ("origin", "http://console.example")], 403)]
    #[case::null(&[HERE, ("origin", "null")], 403)]
    #[case::cross_site(&[HERE, ("sec-fetch-site", "cross-site")], 403)]
    #[case::link(&[HERE, ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], 200)]
    fn host_origin_and_identity(#[case] pairs: &[(&'static str, &str)], #[case] expected: u16) {
        assert_eq!(code(&Method::GET, pairs), expected);
    }

    #[rstest]
    #[case(&[HERE, OWN], 200)]
    #[case(&[HERE], 403)]
    #[case(&[HERE, ("origin", "https://rebound.example")], 403)]
    #[case(&[HERE, OWN, ("origin", "https://rebound.example")], 403)]
    fn a_change_says_where_it_comes_from(
        #[case] pairs: &[(&'static str, &str)],
        #[case] expected: u16,
    ) {
        assert_eq!(code(&Method::POST, pairs), expected);
    }

    #[test]
    fn other_methods_are_not_answered_and_a_refusal_says_why() {
        assert_eq!(code(&Method::DELETE, &[HERE]), 405);
        let mut headers = HeaderMap::new();
        headers.insert(HOST, "a".parse().unwrap());
        headers.insert("x-forwarded-user", "secret-name".parse().unwrap());
        let (_, why) = refusal(&["a".to_owned()], &Method::GET, &headers).unwrap();
        assert!(why.contains("x-forwarded-user") && why.contains("impersonate"), "{why}");
        assert!(!why.contains("secret-name"), "{why}");
    }
}
