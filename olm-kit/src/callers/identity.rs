//! Who asks.

use std::collections::BTreeMap;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use k8s_openapi::api::authentication::v1::{TokenReview, TokenReviewSpec, UserInfo};
use kube::api::PostParams;
use kube::{Api, Client};
use rustls::pki_types::CertificateDer;
use tokio::sync::Semaphore;
use x509_parser::prelude::{FromDer, X509Certificate};

use super::authorities::Authorities;

const ANONYMOUS: &str = "system:anonymous";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const AUTHENTICATED: &str = "system:authenticated";

/// Tokens that are reviewed at the same time: whoever sends invented ones takes no more of what the API
/// server does for this process.
static REVIEWS: Semaphore = Semaphore::const_new(8);

/// A caller.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct User {
    /// Name.
    pub name: String,
    /// Groups.
    pub groups: Vec<String>,
    /// Other facts.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Whether the caller is not known.
    pub(crate) fn is_anonymous(&self) -> bool {
        self.name == ANONYMOUS
    }

    /// Bytes of what is known.
    pub(super) fn bytes(&self) -> usize {
        let extra = self.extra.iter().flat_map(|(key, values)| values.iter().chain([key]));
        let texts = self.groups.iter().chain(extra);
        self.name.len() + texts.map(String::len).sum::<usize>()
    }

    fn anonymous() -> Self {
        let groups = vec![UNAUTHENTICATED.to_owned()];
        Self { name: ANONYMOUS.to_owned(), groups, extra: BTreeMap::new() }
    }

    /// Whoever is known is in the group of those who are; the front proxy does not pass that on for
    /// the API server itself.
    fn known(mut self) -> Self {
        let reported = [AUTHENTICATED, UNAUTHENTICATED];
        if !self.groups.iter().any(|group| reported.contains(&group.as_str())) {
            self.groups.push(AUTHENTICATED.to_owned());
        }
        self
    }
}

/// Finds out who asks: whoever the front proxy names, the owner of a certificate of the cluster,
/// the owner of a token, or anonymous. Headers of other callers than the front proxy mean nothing.
///
/// # Errors
/// A text for the caller: the token or the certificate is not valid, or the token cannot be checked.
pub(crate) async fn identify(
    chain: &[CertificateDer<'static>],
    headers: &HeaderMap,
    authorities: &Authorities,
    client: &Client,
) -> Result<User, String> {
    if authorities.is_the_front_proxy(chain) {
        let user = passed_on(headers, authorities).map(User::known);
        return Ok(user.unwrap_or_else(User::anonymous));
    }
    if let Some(subject) = chain.first().and_then(subject)
        && authorities.is_client(chain)
    {
        return Ok(subject.known());
    }
    match bearer(headers) {
        Some(token) => owner(token, client).await,
        None => Ok(User::anonymous()),
    }
}

/// Common name and organizations of a certificate.
fn subject(certificate: &CertificateDer<'static>) -> Option<User> {
    let (_, certificate) = X509Certificate::from_der(certificate).ok()?;
    let subject = certificate.subject();
    let name = subject.iter_common_name().next()?.as_str().ok()?.to_owned();
    let groups = subject.iter_organization().filter_map(|one| one.as_str().ok());
    Some(User { name, groups: groups.map(str::to_owned).collect(), extra: BTreeMap::new() })
}

/// The user in the headers of the front proxy.
fn passed_on(headers: &HeaderMap, authorities: &Authorities) -> Option<User> {
    let all = |name: &String| {
        let values = headers.get_all(name.to_ascii_lowercase());
        values.iter().filter_map(|value| value.to_str().ok()).map(str::to_owned).collect::<Vec<_>>()
    };
    let name = authorities.user_headers.iter().flat_map(all).find(|name| !name.is_empty())?;
    let groups = authorities.group_headers.iter().flat_map(all).collect();
    Some(User { name, groups, extra: extra(headers, &authorities.extra_prefixes) })
}

fn extra(headers: &HeaderMap, prefixes: &[String]) -> BTreeMap<String, Vec<String>> {
    let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in headers {
        let key = prefixes
            .iter()
            .find_map(|prefix| name.as_str().strip_prefix(&prefix.to_ascii_lowercase()));
        if let (Some(key), Ok(value)) = (key, value.to_str()) {
            extra.entry(key.to_owned()).or_default().push(value.to_owned());
        }
    }
    extra
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let text = headers.get(AUTHORIZATION)?.to_str().ok()?;
    text.strip_prefix("Bearer ").map(str::trim).filter(|token| !token.is_empty())
}

/// Asks the API server whose token it is.
async fn owner(token: &str, client: &Client) -> Result<User, String> {
    let spec = TokenReviewSpec { token: token.to_owned(), ..TokenReviewSpec::default() };
    let review = TokenReview { spec, ..TokenReview::default() };
    let reviews: Api<TokenReview> = Api::all(client.clone());
    let _permit = REVIEWS.acquire().await;
    let answer = reviews.create(&PostParams::default(), &review).await;
    let status = answer.map_err(|error| format!("the token cannot be checked: {error}"))?.status;
    let status = status.filter(|status| status.authenticated == Some(true));
    let user = status.and_then(|status| status.user).ok_or("the token is not valid")?;
    Ok(from_review(user).known())
}

fn from_review(user: UserInfo) -> User {
    User {
        name: user.username.unwrap_or_default(),
        groups: user.groups.unwrap_or_default(),
        extra: user.extra.unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    fn headers(all: &[(&'static str, &'static str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in all {
            headers.append(*name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn the_front_proxy_passes_users_on() {
        let authorities = Authorities::parse(BTreeMap::new()).unwrap();
        let headers = headers(&[
            ("x-remote-user", "alice"),
            ("x-remote-group", "dev"),
            ("x-remote-group", "ops"),
            ("x-remote-extra-scopes", "read"),
        ]);
        let user = passed_on(&headers, &authorities).unwrap().known();
        assert_eq!(user.groups, ["dev", "ops", AUTHENTICATED]);
        assert_eq!(user.clone().known(), user, "once");
        assert_eq!(user.name, "alice");
        assert_eq!(User::anonymous().known(), User::anonymous());
        assert_eq!(user.extra["scopes"], ["read"]);
    }

    #[test]
    fn without_a_name_there_is_no_user() {
        let authorities = Authorities::parse(BTreeMap::new()).unwrap();
        assert_eq!(passed_on(&headers(&[("x-remote-group", "dev")]), &authorities), None);
    }

    #[test]
    fn a_token_stands_behind_bearer() {
        assert_eq!(bearer(&headers(&[("authorization", "Bearer abc")])), Some("abc"));
        assert_eq!(bearer(&headers(&[("authorization", "Basic abc")])), None);
        assert_eq!(bearer(&headers(&[("authorization", "Bearer ")])), None);
    }
}
