//! How a registry asks for credentials (Docker registry token authentication).

use olm_types::document::{Budget, json_as};
use serde::Deserialize;

use super::ImageError;

/// Most bytes of a token with what is around it.
pub(super) const TOKEN: u64 = 1 << 20;

/// What a registry wants.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Name and password.
    Basic,
    /// A token.
    Bearer {
        /// Who gives it.
        realm: String,
        /// For whom.
        service: Option<String>,
    },
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Token {
    token: Option<String>,
    access_token: Option<String>,
}

impl Challenge {
    /// From the value of `WWW-Authenticate`.
    pub(super) fn parse(header: Option<&str>) -> Option<Self> {
        let (scheme, rest) = header?.trim().split_once(' ').unwrap_or((header?.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let realm = parameter(rest, "realm")?;
        Some(Self::Bearer { realm, service: parameter(rest, "service") })
    }
}

/// Where a token for pulling from a repository is asked for.
pub(super) fn token_url(realm: &str, service: Option<&str>, repository: &str) -> String {
    let separator = if realm.contains('?') { '&' } else { '?' };
    let scope = escaped(&format!("repository:{repository}:pull"));
    let service = service.map(|service| format!("service={}&", escaped(service)));
    format!("{realm}{separator}{}scope={scope}", service.unwrap_or_default())
}

/// The value of an `Authorization` header, from what the giver of tokens said.
pub(super) fn token(answer: &[u8]) -> Result<String, ImageError> {
    let unusable = |why: &str| ImageError::Misleading {
        what: "the answer of the registry's token server".to_owned(),
        why: why.to_owned(),
    };
    // What is in it is secret, and not repeated.
    let answer: Token =
        json_as(answer, &Budget::PROPERTY).map_err(|_| unusable("it is no JSON"))?;
    let token = answer.token.or(answer.access_token).filter(|token| !token.is_empty());
    token.map(|token| format!("Bearer {token}")).ok_or_else(|| unusable("it has no token"))
}

/// The value of `name="value"`, or of `name=value`.
fn parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    while let Some((key, value)) = rest.split_once('=') {
        let value = value.trim_start();
        let (value, tail) = match value.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"')?,
            None => value.split_once(',').unwrap_or((value, "")),
        };
        if key.trim_matches([' ', ',']).eq_ignore_ascii_case(name) {
            return Some(value.to_owned());
        }
        rest = tail;
    }
    None
}

fn escaped(text: &str) -> String {
    let byte = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' | b':' => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    text.bytes().map(byte).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn bearer(realm: &str, service: Option<&str>) -> Option<Challenge> {
        Some(Challenge::Bearer { realm: realm.to_owned(), service: service.map(str::to_owned) })
    }

    #[rstest]
    #[case("Basic realm=\"Registry\"", Some(Challenge::Basic))]
    #[case(
        "Bearer realm=\"https://a/t\",service=\"s, t\",scope=\"x\"",
        bearer("https://a/t", Some("s, t"))
    )]
    #[case("bearer service=s, realm=https://a/t", bearer("https://a/t", Some("s")))]
    #[case("Bearer service=\"s\"", None)]
    #[case("Bearer realm=\"unfinished", None)]
    #[case("Negotiate", None)]
    #[case("", None)]
    fn challenges(#[case] header: &str, #[case] expected: Option<Challenge>) {
        assert_eq!(Challenge::parse(Some(header)), expected);
    }

    #[test]
    fn tokens_are_asked_for_one_repository() {
        assert_eq!(
            token_url("https://a/t?x=1", Some("s t"), "b/c"),
            "https://a/t?x=1&service=s%20t&scope=repository:b/c:pull"
        );
        assert_eq!(token_url("https://a/t", None, "b"), "https://a/t?scope=repository:b:pull");
    }

    #[rstest]
    #[case("{\"token\": \"t\"}", Ok("Bearer t"))]
    #[case("{\"access_token\": \"t\"}", Ok("Bearer t"))]
    #[case("{}", Err("it has no token"))]
    #[case("<html>", Err("it is no JSON"))]
    fn tokens(#[case] answer: &str, #[case] expected: Result<&str, &str>) {
        match (token(answer.as_bytes()), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(error), Err(expected)) => assert!(error.to_string().contains(expected)),
            (found, _) => panic!("{found:?}"),
        }
    }
}
