//! Who may ask: a browser on this machine that has opened the printed address.
//!
//! A page of another site can make a browser send requests here. It cannot choose Host and Origin, which are
//! compared with lists (a name that another site lets point here is not among them), and it has no cookie: that is
//! for one site only, and is given for a token that is used once.

use std::sync::Mutex;

use http::header::{COOKIE, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Method, StatusCode};
use olm_types::hash::hex;
use sha2::{Digest, Sha256};

use crate::{ConsoleError, csrf};

/// What browsers say about where a request comes from.
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// What browsers say about what a request is for.
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// Bytes of a token.
const BYTES: usize = 32;

/// Compares what callers say with what was printed and given.
#[derive(Debug)]
pub(crate) struct Guard {
    port: u16,
    /// Digest of the token, until it is used.
    token: Mutex<Option<[u8; 32]>>,
    /// The value of the cookie.
    session: String,
}

/// What a caller gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum GuardDecision {
    /// The page.
    Enter,
    /// The cookie, and the way to the first page.
    Begin,
    /// A refusal, with a message.
    Refuse(StatusCode, &'static str),
}

impl Guard {
    /// A guard of a port, and the token that is printed.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub(crate) fn new(port: u16) -> Result<(Self, String), ConsoleError> {
        let (token, session) = (random()?, random()?);
        let kept = Mutex::new(Some(digest(&token)));
        Ok((Self { port, token: kept, session }, token))
    }

    /// What a caller gets; `token` is that of the address.
    pub(crate) fn judge(
        &self,
        method: &Method,
        headers: &HeaderMap,
        token: Option<&str>,
    ) -> GuardDecision {
        if let Some(refusal) = self.refusal(method, headers) {
            return refusal;
        }
        if self.has_cookie(headers) {
            return if token.is_some() { GuardDecision::Begin } else { GuardDecision::Enter };
        }
        match token {
            Some(token) if self.is_first_use(token) => GuardDecision::Begin,
            Some(_) => GuardDecision::Refuse(
                StatusCode::FORBIDDEN,
                "This address was used before, or is not the one that was printed. \
                 Start `kubectl olm console` again for a new one.",
            ),
            None => GuardDecision::Refuse(
                StatusCode::FORBIDDEN,
                "Open the address that `kubectl olm console` has printed.",
            ),
        }
    }

    /// The header that gives the cookie. Cookies ignore ports, so its name has the port.
    pub(crate) fn cookie(&self) -> String {
        format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.name(), self.session)
    }

    fn name(&self) -> String {
        format!("olm-console-{}", self.port)
    }

    /// The names under which this machine reaches the port.
    fn hosts(&self) -> [String; 2] {
        ["127.0.0.1", "localhost"].map(|host| format!("{host}:{}", self.port))
    }

    fn refusal(&self, method: &Method, headers: &HeaderMap) -> Option<GuardDecision> {
        let hosts = self.hosts();
        let mut named = headers.get_all(HOST).iter();
        let (host, other) = (named.next(), named.next());
        let is_host = host.is_some_and(|host| hosts.iter().any(|known| host == known.as_str()));
        if !is_host || other.is_some() {
            let why = "This server answers at 127.0.0.1 and localhost only.";
            return Some(GuardDecision::Refuse(StatusCode::MISDIRECTED_REQUEST, why));
        }
        let is_own = |origin: &&http::HeaderValue| {
            hosts.iter().any(|known| **origin == format!("http://{known}").as_str())
        };
        if !headers.get_all(ORIGIN).iter().all(|origin| is_own(&origin)) || is_foreign(headers) {
            let why = "This request comes from a page of another site.";
            return Some(GuardDecision::Refuse(StatusCode::FORBIDDEN, why));
        }
        csrf::refusal(method, headers)
    }

    /// What the forms of the session have.
    pub(crate) fn form_token(&self) -> csrf::Token {
        csrf::Token::of(&self.session)
    }

    fn has_cookie(&self, headers: &HeaderMap) -> bool {
        let expected = digest(&self.session);
        let all = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            all.flat_map(|value| value.split(';')).filter_map(|one| one.trim().split_once('='));
        pairs.any(|(name, value)| name == self.name() && digest(value) == expected)
    }

    fn is_first_use(&self, token: &str) -> bool {
        let mut kept = self.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        kept.take_if(|kept| *kept == digest(token)).is_some()
    }
}

/// A part of a page of another site, or of another port of this machine. Links may lead here: without the cookie
/// they show nothing.
pub(crate) fn is_foreign(headers: &HeaderMap) -> bool {
    let says =
        |name: &HeaderName, value: &str| headers.get(name).is_some_and(|found| found == value);
    let elsewhere = says(&FETCH_SITE, "cross-site") || says(&FETCH_SITE, "same-site");
    elsewhere && !says(&FETCH_MODE, "navigate")
}

/// Digests are compared in place of secrets, so that the time that takes says nothing of them.
pub(crate) fn digest(text: &str) -> [u8; 32] {
    Sha256::digest(text.as_bytes()).into()
}

/// A secret.
///
/// # Errors
/// The system gives no random bytes.
pub(crate) fn random() -> Result<String, ConsoleError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| ConsoleError::Random(error.to_string()))?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const PORT: u16 = 4321;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::from_static(name), value.parse().unwrap());
        }
        headers
    }

    fn code(verdict: &GuardDecision) -> u16 {
        match verdict {
            GuardDecision::Enter => 200,
            GuardDecision::Begin => 303,
            GuardDecision::Refuse(code, _) => code.as_u16(),
        }
    }

    /// With the cookie; what else a caller says decides.
    #[rstest]
    #[case::address(&[("host", "127.0.0.1:4321")], 200)]
    #[case::name(&[("host", "localhost:4321")], 200)]
    #[case::own_origin(&[("host", "localhost:4321"), ("origin", "http://localhost:4321")], 200)]
    #[case::own_part(&[("host", "localhost:4321"), ("sec-fetch-site", "same-origin")], 200)]
    #[case::link(&[("host", "localhost:4321"), ("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")], 200)]
    #[case::no_host(&[], 421)]
    #[case::rebound(&[("host", "rebound.example:4321")], 421)]
    #[case::suffix(&[("host", "127.0.0.1.rebound.example:4321")], 421)]
    #[case::prefix(&[("host", "rebound.example/127.0.0.1:4321")], 421)]
    #[case::other_port(&[("host", "127.0.0.1:4322")], 421)]
    #[case::no_port(&[("host", "127.0.0.1")], 421)]
    #[case::any_address(&[("host", "0.0.0.0:4321")], 421)]
    #[case::twice(&[("host", "127.0.0.1:4321"), ("host", "rebound.example")], 421)]
    #[case::origin(&[("host", "127.0.0.1:4321"), ("origin", "http://rebound.example")], 403)]
    #[case::origin_port(&[("host", "127.0.0.1:4321"), ("origin", "http://127.0.0.1:4322")], 403)]
    #[case::origin_scheme(&[("host", "127.0.0.1:4321"), ("origin", "https://127.0.0.1:4321")], 403)]
    #[case::null(&[("host", "127.0.0.1:4321"), ("origin", "null")], 403)]
    #[case::cross_site(&[("host", "127.0.0.1:4321"), ("sec-fetch-site", "cross-site")], 403)]
    #[case::other_local(&[("host", "127.0.0.1:4321"), ("sec-fetch-site", "same-site")], 403)]
    fn host_and_origin_are_those_of_this_server(
        #[case] pairs: &[(&'static str, &str)],
        #[case] expected: u16,
    ) {
        let (guard, _) = Guard::new(PORT).unwrap();
        let cookie = format!("{}={}", guard.name(), guard.session);
        let all = [pairs, &[("cookie", cookie.as_str())]].concat();
        assert_eq!(code(&guard.judge(&Method::GET, &headers(&all), None)), expected);
    }

    #[rstest]
    #[case("other=1; olm-console-4321=SESSION", 200)]
    #[case("olm-console-4321=SESSION", 200)]
    #[case("olm-console-4322=SESSION", 403)]
    #[case("olm-console-4321=", 403)]
    #[case("olm-console-4321=other", 403)]
    #[case("olm-console-4321", 403)]
    #[case("", 403)]
    fn the_cookie_is_the_one_that_was_given(#[case] cookie: &str, #[case] expected: u16) {
        let (guard, _) = Guard::new(PORT).unwrap();
        let cookie = cookie.replace("SESSION", &guard.session);
        let all = headers(&[("host", "localhost:4321"), ("cookie", &cookie)]);
        assert_eq!(code(&guard.judge(&Method::GET, &all, None)), expected);
    }

    #[test]
    fn a_token_is_used_once() {
        let (guard, token) = Guard::new(PORT).unwrap();
        let all = headers(&[("host", "127.0.0.1:4321")]);
        let ask = |token| code(&guard.judge(&Method::GET, &all, token));
        assert_eq!(ask(None), 403);
        assert_eq!(ask(Some("")), 403);
        assert_eq!(ask(Some("0000")), 403);
        assert_eq!(ask(Some(&token)), 303);
        assert_eq!(ask(Some(&token)), 403);
        let cookie = guard.cookie();
        assert!(cookie.starts_with("olm-console-4321=") && cookie.contains("HttpOnly"), "{cookie}");
        assert!(
            cookie.ends_with("SameSite=Strict; Path=/") && !cookie.contains(&token),
            "{cookie}"
        );
    }

    #[rstest]
    #[case("http://localhost:4321", 200)]
    #[case("http://rebound.example", 403)]
    #[case("null", 403)]
    fn a_change_comes_from_a_page_of_this_server(#[case] origin: &str, #[case] expected: u16) {
        let (guard, _) = Guard::new(PORT).unwrap();
        let cookie = format!("{}={}", guard.name(), guard.session);
        let all = headers(&[("host", "localhost:4321"), ("cookie", &cookie), ("origin", origin)]);
        assert_eq!(code(&guard.judge(&Method::POST, &all, None)), expected);
    }

    #[rstest]
    #[case(Method::HEAD, 200)]
    #[case(Method::POST, 403)]
    #[case(Method::DELETE, 405)]
    #[case(Method::OPTIONS, 405)]
    fn nothing_is_changed_without_an_origin(#[case] method: Method, #[case] expected: u16) {
        let (guard, _) = Guard::new(PORT).unwrap();
        let cookie = format!("{}={}", guard.name(), guard.session);
        let all = headers(&[("host", "localhost:4321"), ("cookie", &cookie)]);
        assert_eq!(code(&guard.judge(&method, &all, None)), expected);
    }
}
