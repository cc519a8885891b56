//! Acting as a service account.
//!
//! Spec catalog-operator 4.4: a scoped install uses the account's bearer token, not impersonation.
//! A token Secret that an administrator made for the account is honoured; clusters have not made
//! those by themselves since Kubernetes 1.24, so usually a token is requested. One token serves
//! until shortly before it expires.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::{ListParams, PostParams};
use kube::{Api, Client, ResourceExt};
use olm_effect::Refusal;
use parking_lot::Mutex;

use super::response::refusal_of;
use crate::clock;
use crate::path::segment;

/// A token is replaced this long before it expires, so that no call starts with one that ends
/// under way.
const RENEW_BEFORE: Duration = Duration::from_secs(120);

/// How long the token of a Secret is used before the Secret is read again.
const SECRET_KEPT: Duration = Duration::from_secs(600);

/// Type of the Secrets that hold tokens.
const TOKEN_SECRETS: &str = "type=kubernetes.io/service-account-token";

/// Annotations that name the account of a token Secret.
const ACCOUNT_NAME: &str = "kubernetes.io/service-account.name";
const ACCOUNT_UID: &str = "kubernetes.io/service-account.uid";

/// Where tokens of service accounts come from.
#[async_trait]
pub trait TokenSource: Send + Sync {
    /// A token of the account.
    ///
    /// # Errors
    /// What the API server said, for example that the account does not exist.
    async fn token(&self, namespace: &str, name: &str) -> Result<String, Refusal>;

    /// The API server did not accept the token, as happens after the account was created anew.
    fn reject(&self, namespace: &str, name: &str);
}

/// Tokens from Secrets and from the TokenRequest API, kept until shortly before they expire.
pub struct TokenRequests {
    client: Client,
    tokens: Mutex<BTreeMap<(String, String), Token>>,
}

#[derive(Clone)]
struct Token {
    text: String,
    expires: Timestamp,
}

impl TokenRequests {
    /// Requests tokens with `client`.
    pub fn new(client: Client) -> Self {
        Self { client, tokens: Mutex::default() }
    }

    /// A kept token that is good for a while yet.
    fn kept(&self, key: &(String, String), now: Timestamp) -> Option<String> {
        let mut tokens = self.tokens.lock();
        tokens.retain(|_, token| token.expires > now + RENEW_BEFORE);
        tokens.get(key).map(|token| token.text.clone())
    }

    /// The token in a Secret of the account, if there is such a Secret.
    async fn stored(&self, namespace: &str, name: &str) -> Result<Option<Token>, Refusal> {
        let secrets: Api<Secret> = Api::namespaced(self.client.clone(), namespace);
        let params = ListParams::default().fields(TOKEN_SECRETS);
        let found = secrets.list(&params).await.map_err(|error| refusal_of(&error))?.items;
        let of_account = |secret: &&Secret| {
            secret.annotations().get(ACCOUNT_NAME).is_some_and(|account| account == name)
        };
        let candidates: Vec<_> = found.iter().filter(of_account).collect();
        if candidates.is_empty() {
            return Ok(None);
        }
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let account = accounts.get(name).await.map_err(|error| refusal_of(&error))?;
        // The Secret of an account that had the same name is worth nothing.
        let uid = account.uid().unwrap_or_default();
        let secret = candidates
            .into_iter()
            .find(|secret| secret.annotations().get(ACCOUNT_UID).is_none_or(|owner| *owner == uid));
        secret.map(|secret| token_in(secret, namespace, name)).transpose()
    }

    async fn request(&self, namespace: &str, name: &str) -> Result<Token, Refusal> {
        // Without audiences and lifetime the API server uses its own audience and one hour.
        let spec = TokenRequestSpec::default();
        let request = TokenRequest { spec: Some(spec), ..TokenRequest::default() };
        let accounts: Api<ServiceAccount> = Api::namespaced(self.client.clone(), namespace);
        let answer = accounts
            .create_token_request(name, &PostParams::default(), &request)
            .await
            .map_err(|error| refusal_of(&error))?;
        let issued = answer.status.and_then(|status| {
            let text = status.token.filter(|text| !text.is_empty())?;
            Some(Token { text, expires: status.expiration_timestamp?.0 })
        });
        issued.ok_or_else(|| Refusal {
            code: 500,
            reason: "InternalError".to_owned(),
            message: format!(
                "the API server issued no token for service account {namespace}/{name}"
            ),
        })
    }
}

#[async_trait]
impl TokenSource for TokenRequests {
    async fn token(&self, namespace: &str, name: &str) -> Result<String, Refusal> {
        segment("name of a service account", name)?;
        let key = (namespace.to_owned(), name.to_owned());
        if let Some(token) = self.kept(&key, clock::now()) {
            return Ok(token);
        }
        let token = match self.stored(namespace, name).await? {
            Some(token) => token,
            None => self.request(namespace, name).await?,
        };
        let text = token.text.clone();
        self.tokens.lock().insert(key, token);
        Ok(text)
    }

    fn reject(&self, namespace: &str, name: &str) {
        self.tokens.lock().remove(&(namespace.to_owned(), name.to_owned()));
    }
}

fn token_in(secret: &Secret, namespace: &str, name: &str) -> Result<Token, Refusal> {
    let data = secret.data.as_ref().and_then(|data| data.get("token"));
    let text = data.and_then(|token| String::from_utf8(token.0.clone()).ok());
    let kept = clock::now() + RENEW_BEFORE + SECRET_KEPT;
    text.filter(|text| !text.is_empty()).map(|text| Token { text, expires: kept }).ok_or_else(
        || {
            let secret = secret.name_any();
            Refusal {
                code: 500,
                reason: "InternalError".to_owned(),
                message: format!(
                    "the secret does not have any API token sa={namespace}/{name} secret={secret}"
                ),
            }
        },
    )
}
