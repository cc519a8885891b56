//! The server.

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use kube::Client;

use super::resource::Resource;
use super::routes::{Shared, router};
use crate::callers::{Authorities, Authorizer};
use crate::tasks::Tasks;
use crate::tls::{ListenError, Peer, ServingIdentity, TlsListener, TlsProfile};

/// An aggregated API.
pub struct AggregatedApi {
    resource: Arc<dyn Resource>,
    client: Client,
    identity: ServingIdentity,
    authorities: Arc<ArcSwap<Authorities>>,
}

impl AggregatedApi {
    /// Serves `resource`; rights and tokens are checked with `client`. Connections are closed until
    /// the identity is set.
    pub fn new(resource: Arc<dyn Resource>, client: Client) -> Self {
        Self { resource, client, identity: ServingIdentity::default(), authorities: Arc::default() }
    }

    /// Accepts what `profile` says; to be called before [`Self::identity`].
    #[must_use]
    pub fn profile(self, profile: TlsProfile) -> Self {
        Self { identity: ServingIdentity::new(profile), ..self }
    }

    /// What is shown to callers, to be set and exchanged.
    pub fn identity(&self) -> ServingIdentity {
        self.identity.clone()
    }

    /// Whose certificates count, to be set and exchanged.
    pub fn authorities(&self) -> Arc<ArcSwap<Authorities>> {
        Arc::clone(&self.authorities)
    }

    /// Listens on `address` (`host:port`) and serves as a critical task. Returns the address that
    /// it listens on.
    ///
    /// # Errors
    /// When the address is taken or invalid.
    pub async fn serve(self, address: &str, tasks: &Tasks) -> Result<SocketAddr, ListenError> {
        let listener = TlsListener::bind(address, self.identity).await?;
        let bound = axum::serve::Listener::local_addr(&listener)
            .map_err(|source| ListenError::Address { address: address.to_owned(), source })?;
        let shared = Shared {
            resource: self.resource,
            authorizer: Authorizer::new(self.client.clone()),
            authorities: self.authorities,
            client: self.client,
        };
        let service = router(Arc::new(shared)).into_make_service_with_connect_info::<Peer>();
        let shutdown = tasks.token().cancelled_owned();
        let server = axum::serve(listener, service).with_graceful_shutdown(shutdown);
        tasks.spawn_fallible("aggregated API", async move { server.await });
        tracing::info!(address = %bound, "serving an aggregated API");
        Ok(bound)
    }
}
