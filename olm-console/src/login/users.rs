//! Users: the cluster, asked with the token of each.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::StatusCode;
use k8s_openapi::api::authentication::v1::SelfSubjectReview;
use kube::api::{Api, PostParams};
use kube::client::Body;
use kube::config::AuthInfo;
use kube::{Client, Config};
use olm_client::catalogs::{Cache, Folders, ReadAccess, Route};
use olm_client::connect::client;
use olm_client::{Cluster, Notices, Remembered};
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::sync::watch::Receiver;

use crate::session::{Identity, SessionEnd};

/// How long the API server may take to answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Tokens that the API server is asked about at once.
const ASKED: usize = 8;

/// Pages that hold the contents of catalogs at once, of all users.
const READERS: usize = 1;

/// The namespace that a page without one shows.
const NAMESPACE: &str = "default";

/// A user who has logged in.
#[derive(Clone)]
pub(super) struct User {
    pub(super) identity: Identity,
    /// The API server has not accepted the token.
    rejected: Arc<AtomicBool>,
}

/// Why a token is none.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Rejection {
    /// The API server does not accept it.
    Token,
    /// The API server gives no answer.
    Silent(String),
    /// Too many tokens are asked about.
    Busy,
}

/// The API server, asked with the tokens of users and with nothing else.
pub(super) struct ApiServer {
    /// Without any credentials.
    config: Config,
    asked: Semaphore,
    readers: Arc<Semaphore>,
}

impl User {
    /// Whether the API server has not accepted the token meanwhile.
    pub(super) fn is_rejected(&self) -> bool {
        self.rejected.load(Ordering::Relaxed)
    }
}

impl ApiServer {
    /// What a configuration says of credentials, it says of this process: that is left out.
    pub(super) fn new(config: Config) -> Self {
        let mut config = config;
        config.auth_info = AuthInfo::default();
        let (asked, readers) = (Semaphore::new(ASKED), Arc::new(Semaphore::new(READERS)));
        Self { config, asked, readers }
    }

    /// A client without credentials.
    ///
    /// # Errors
    /// The configuration cannot be used.
    pub(super) fn anonymous(&self) -> kube::Result<Client> {
        client(self.config.clone())
    }

    /// The cluster, asked by a client.
    pub(super) fn cluster(&self, client: Client) -> Cluster {
        Cluster {
            client,
            namespace: NAMESPACE.to_owned(),
            is_named: false,
            server: self.config.cluster_url.to_string(),
            cache: Cache::default(),
            folders: Folders::default(),
            timeout: Some(TIMEOUT),
            notices: Notices::new(|_| {}),
            route: Route::Service(Arc::new(ReadAccess::new(self.readers.clone()))),
            remembered: Remembered::default(),
        }
    }

    /// A client with the token of a user that the API server knows.
    ///
    /// # Errors
    /// The API server does not accept the token, or gives no answer.
    pub(super) async fn client(&self, token: &str) -> Result<Client, Rejection> {
        let _asked = self.asked.try_acquire().map_err(|_| Rejection::Busy)?;
        let silent = |error: &dyn std::error::Error| Rejection::Silent(error.to_string());
        let mut config = self.config.clone();
        config.auth_info =
            serde_json::from_value(json!({"token": token})).map_err(|error| silent(&error))?;
        let client = client(config).map_err(|error| silent(&error))?;
        let reviews: Api<SelfSubjectReview> = Api::all(client.clone());
        let (parameters, review) = (PostParams::default(), SelfSubjectReview::default());
        match tokio::time::timeout(TIMEOUT, reviews.create(&parameters, &review)).await {
            // What else it answers, it answers a user.
            Ok(Ok(_)) => Ok(client),
            Ok(Err(kube::Error::Api(status))) if status.code == 401 => Err(Rejection::Token),
            Ok(Err(kube::Error::Api(status))) if status.code < 500 => Ok(client),
            Ok(Err(error)) => Err(silent(&error)),
            Err(late) => Err(silent(&late)),
        }
    }

    /// A user of whom that client has the token.
    pub(super) fn user(&self, client: Client, session: u64, end: Receiver<()>) -> User {
        let rejected = Arc::new(AtomicBool::new(false));
        let client = watched(client, rejected.clone());
        let identity =
            Identity { session, cluster: self.cluster(client), ends: SessionEnd::with(end) };
        User { identity, rejected }
    }
}

/// Takes note when the API server does not accept a token any more.
fn watched(client: Client, rejected: Arc<AtomicBool>) -> Client {
    let service = tower::service_fn(move |request: http::Request<Body>| {
        let (client, rejected) = (client.clone(), rejected.clone());
        async move {
            let response = client.send(request).await?;
            if response.status() == StatusCode::UNAUTHORIZED {
                rejected.store(true, Ordering::Relaxed);
            }
            Ok::<_, kube::Error>(response)
        }
    });
    Client::new(service, NAMESPACE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let mut config = Config::new("https://127.0.0.1:1".parse().unwrap());
        config.auth_info.token_file = Some("/var/run/token".to_owned());
        config.auth_info.username = Some("pod".to_owned());
        config
    }

    #[test]
    fn credentials_of_the_process_are_left_out() {
        let server = ApiServer::new(config());
        let left = &server.config.auth_info;
        assert!(left.token_file.is_none() && left.username.is_none() && left.token.is_none());
    }

    #[tokio::test]
    async fn a_token_that_is_not_accepted_is_noted() {
        for (code, expected) in [(401_u16, true), (403, false), (200, false)] {
            let answers = tower::service_fn(move |_: http::Request<Body>| async move {
                let body = axum::body::Body::from(r#"{"message": "m", "code": 0}"#);
                let answer = http::Response::builder().status(code).body(body).unwrap();
                Ok::<_, std::io::Error>(answer)
            });
            let rejected = Arc::new(AtomicBool::new(false));
            let client = watched(Client::new(answers, "ns"), rejected.clone());
            let request = http::Request::get("/version").body(Vec::new()).unwrap();
            let _ = client.request_text(request).await;
            assert_eq!(rejected.load(Ordering::Relaxed), expected, "{code}");
        }
    }
}
