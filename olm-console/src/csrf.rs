//! Changes come from forms of this console: a page of another site can make a browser post here, with its cookie even,
//! but it says where it comes from, and it does not know the token that every form has.

use axum::body::to_bytes;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, HeaderMap, ORIGIN};
use http::{Method, StatusCode};
use olm_types::hash::sha256_hex;
use sha2::{Digest, Sha256};

use crate::form::Form;
use crate::guard::GuardDecision;

/// Bytes of a form.
const LARGEST: usize = 64 * 1024;

/// The field of a form that has the token.
const FIELD: &str = "csrf";

/// The type of a form.
const FORM: &str = "application/x-www-form-urlencoded";

/// What every form of a session has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Token(String);

impl Token {
    /// That of a session, by a secret of it, of which it says nothing.
    pub(crate) fn of(session: impl AsRef<[u8]>) -> Self {
        let text = [b"form of ".as_slice(), session.as_ref()].concat();
        Self(sha256_hex(text))
    }

    /// As a form has it.
    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    /// Digests are compared, so that the time that takes says nothing of the token.
    fn is(&self, said: Option<&str>) -> bool {
        let digest = |text: &str| Sha256::digest(text.as_bytes());
        !self.0.is_empty() && said.is_some_and(|said| digest(said) == digest(&self.0))
    }
}

/// Why a method is refused: pages are read, and a form says where it comes from. That this is here was checked.
pub(crate) fn refusal(method: &Method, headers: &HeaderMap) -> Option<GuardDecision> {
    match *method {
        Method::GET | Method::HEAD => None,
        Method::POST if headers.get_all(ORIGIN).iter().count() == 1 => None,
        Method::POST => {
            let why = "A change has to say where it comes from: the header Origin is missing.";
            Some(GuardDecision::Refuse(StatusCode::FORBIDDEN, why))
        }
        _ => {
            let why = "Pages are read, and forms are posted.";
            Some(GuardDecision::Refuse(StatusCode::METHOD_NOT_ALLOWED, why))
        }
    }
}

/// A request with the token of its session, and with its form where it has one.
///
/// # Errors
/// The answer to a form of another type, that is too large, says what no field may, or has another token.
pub(crate) async fn opened(request: Request, token: Token) -> Result<Request, Box<Response>> {
    let (mut head, body) = request.into_parts();
    if head.method != Method::POST {
        head.extensions.insert(token);
        return Ok(Request::from_parts(head, body));
    }
    let said = head.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let said = said.and_then(|value| value.split(';').next()).unwrap_or_default();
    if !said.trim().eq_ignore_ascii_case(FORM) {
        return Err(refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, &format!("A form is {FORM}.")));
    }
    let Ok(bytes) = to_bytes(body, LARGEST).await else {
        let why = format!("A form has at most {LARGEST} bytes.");
        return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, &why));
    };
    let mut form = Form::read(&bytes).map_err(|bad| Box::new(bad.into_response()))?;
    if !token.is(form.take(FIELD).as_deref()) {
        let why = "This form is not one of this session; open its page again.";
        return Err(refuse(StatusCode::FORBIDDEN, why));
    }
    head.extensions.insert(token);
    head.extensions.insert(form);
    Ok(Request::from_parts(head, axum::body::Body::empty()))
}

fn refuse(code: StatusCode, why: &str) -> Box<Response> {
    Box::new((code, format!("{why}\n")).into_response())
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use rstest::rstest;

    use super::*;

    async fn code(of_type: &str, body: String) -> u16 {
        let request = Request::post("/plan").header(CONTENT_TYPE, of_type);
        let request = request.body(Body::from(body)).unwrap();
        match opened(request, Token::of("session")).await {
            Ok(request) => {
                let form = request.extensions().get::<Form>().unwrap();
                assert!(form.fields().all(|(field, _)| field != FIELD), "the token stays here");
                200
            }
            Err(response) => response.status().as_u16(),
        }
    }

    #[rstest]
    #[case::good(FORM, "csrf=TOKEN&name=a", 200)]
    #[case::with_charset("application/x-www-form-urlencoded; charset=utf-8", "csrf=TOKEN", 200)]
    #[case::no_token(FORM, "name=a", 403)]
    #[case::empty(FORM, "csrf=", 403)]
    #[case::wrong(FORM, "csrf=0123", 403)]
    #[case::twice(FORM, "csrf=TOKEN&csrf=TOKEN", 400)]
    #[case::text("text/plain", "csrf=TOKEN", 415)]
    #[case::parts("multipart/form-data; boundary=a", "csrf=TOKEN", 415)]
    #[case::json("application/json", "{}", 415)]
    #[case::no_type("", "csrf=TOKEN", 415)]
    #[case::hostile(FORM, "csrf=TOKEN&name=a%00", 400)]
    #[tokio::test]
    async fn a_form_has_the_token_of_its_session(
        #[case] of_type: &str,
        #[case] body: &str,
        #[case] expected: u16,
    ) {
        let token = Token::of("session");
        assert_eq!(code(of_type, body.replace("TOKEN", token.text())).await, expected);
        let other = Token::of("other");
        let other = code(of_type, body.replace("TOKEN", other.text())).await;
        assert_ne!(other, 200, "the token of another session is taken");
    }

    #[tokio::test]
    async fn a_large_form_is_refused() {
        let body = |bytes: usize| format!("config={}", "a".repeat(bytes));
        assert_eq!(code(FORM, body(LARGEST)).await, 413);
        assert_eq!(code(FORM, body(100)).await, 403);
    }

    #[tokio::test]
    async fn a_page_that_is_read_gets_the_token() {
        let request = Request::get("/plan").body(Body::empty()).unwrap();
        let request = opened(request, Token::of("session")).await.unwrap();
        assert_eq!(request.extensions().get::<Token>(), Some(&Token::of("session")));
        assert!(request.extensions().get::<Form>().is_none());
    }

    #[test]
    fn a_token_says_nothing_of_its_session() {
        let token = Token::of("session");
        assert!(!token.text().contains("session") && token.text().len() == 64, "{token:?}");
        assert!(!Token::default().is(Some("")), "a request without a session has no token");
    }

    #[rstest]
    #[case(Method::GET, None, None)]
    #[case(Method::HEAD, None, None)]
    #[case(Method::POST, Some("http://127.0.0.1:1"), None)]
    #[case(Method::POST, None, Some(403))]
    #[case(Method::PUT, Some("http://127.0.0.1:1"), Some(405))]
    #[case(Method::OPTIONS, None, Some(405))]
    fn a_change_says_where_it_comes_from(
        #[case] method: Method,
        #[case] origin: Option<&str>,
        #[case] expected: Option<u16>,
    ) {
        let mut headers = HeaderMap::new();
        if let Some(origin) = origin {
            headers.insert(ORIGIN, origin.parse().unwrap());
        }
        let found = match refusal(&method, &headers) {
            Some(GuardDecision::Refuse(code, _)) => Some(code.as_u16()),
            _ => None,
        };
        assert_eq!(found, expected);
    }
}
