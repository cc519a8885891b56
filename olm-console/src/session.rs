//! With whose rights a request is answered.

use olm_client::Cluster;
use tokio::sync::watch::Receiver;

/// A user, as the API server knows him.
#[derive(Clone)]
pub(crate) struct Identity {
    /// No two sessions have the same: what one has read is not shown to another.
    pub(crate) session: u64,
    /// The cluster, asked with the rights of the user.
    pub(crate) cluster: Cluster,
    /// When the session is over.
    pub(crate) ends: SessionEnd,
}

/// The end of a session.
#[derive(Clone, Debug)]
pub(crate) struct SessionEnd(Option<Receiver<()>>);

impl Identity {
    /// The user of this machine, for as long as the program runs.
    pub(crate) fn own(cluster: Cluster) -> Self {
        Self { session: 0, cluster, ends: SessionEnd(None) }
    }

    /// Whether the user has logged in.
    pub(crate) fn has_logged_in(&self) -> bool {
        self.ends.0.is_some()
    }
}

impl SessionEnd {
    /// The session is over when the sender is dropped.
    pub(crate) fn with(session: Receiver<()>) -> Self {
        Self(Some(session))
    }

    /// Waits until the session is over.
    pub(crate) async fn wait(&mut self) {
        match &mut self.0 {
            // Nothing is ever sent: the sender goes with its session.
            Some(session) => while session.changed().await.is_ok() {},
            None => std::future::pending().await,
        }
    }
}

#[cfg(test)]
impl Identity {
    /// A user of a cluster that answers nothing. The session lasts as long as the second.
    pub(crate) fn for_tests() -> (Self, tokio::sync::watch::Sender<()>) {
        let silent = tower::service_fn(|_: http::Request<kube::client::Body>| {
            std::future::pending::<Result<http::Response<axum::body::Body>, std::io::Error>>()
        });
        let cluster = Cluster {
            client: kube::Client::new(silent, "ns"),
            namespace: "ns".to_owned(),
            is_named: false,
            server: "https://cluster.example".to_owned(),
            cache: olm_client::catalogs::Cache::default(),
            folders: olm_client::catalogs::Folders::default(),
            timeout: None,
            notices: olm_client::Notices::new(|_| {}),
            route: olm_client::catalogs::Route::default(),
            remembered: olm_client::Remembered::default(),
        };
        let (sender, receiver) = tokio::sync::watch::channel(());
        (Self { session: 1, cluster, ends: SessionEnd(Some(receiver)) }, sender)
    }
}
