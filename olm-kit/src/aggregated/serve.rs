//! The server.

use std::net::SocketAddr;
use std::sync::Arc;

use arc_swap::ArcSwap;
use kube::Client;

use super::resource::Resource;
use super::routes::{Shared, router};
use crate::callers::{Authorities, Authorizer};
use crate::listen::{Server, Tls};
use crate::tasks::Tasks;
use crate::tls::{ListenError, ServingIdentity, SharedProfile};

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
    pub fn profile(self, profile: impl Into<SharedProfile>) -> Self {
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
        let tls = Tls { identity: self.identity, authorities: Arc::clone(&self.authorities) };
        let server = Server::bind(address, Some(tls)).await?;
        let bound = server.address();
        let shared = Shared {
            resource: self.resource,
            authorizer: Authorizer::new(self.client.clone()),
            authorities: self.authorities,
            client: self.client,
        };
        server.serve("aggregated API", router(Arc::new(shared)), tasks);
        tracing::info!(address = %bound, "serving an aggregated API");
        Ok(bound)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use rustls::ProtocolVersion;
    use rustls::version::{TLS12, TLS13};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::admin::tests::tls::agreed;
    use crate::aggregated::{Item, Kind, Subresource, query};
    use crate::certificates::tests::for_localhost;
    use crate::scripted::Script;
    use crate::tls::{TlsProfile, TlsVersion};

    /// There is nothing.
    pub(in crate::aggregated) struct Nothing(pub(in crate::aggregated) Kind);

    impl Resource for Nothing {
        fn kind(&self) -> &Kind {
            &self.0
        }

        fn list(&self, _: Option<&str>) -> Vec<Box<dyn Item>> {
            Vec::new()
        }

        fn get(&self, _: &str, _: &str) -> Option<Box<dyn Item>> {
            None
        }

        fn subresource(&self, _: &str, _: &str, _: &str) -> Option<Subresource> {
            None
        }
    }

    /// Where it listens, and whom to trust. Nothing is agreed on before it has a certificate.
    async fn serving(profile: impl Into<SharedProfile>, tasks: &Tasks) -> (SocketAddr, String) {
        let resource = Arc::new(Nothing(query::tests::kind()));
        let api = AggregatedApi::new(resource, Script::new().client()).profile(profile);
        let (identity, authorities) = (api.identity(), api.authorities());
        let address = api.serve("127.0.0.1:0", tasks).await.unwrap();
        let (issued, trusted) = for_localhost();
        assert_eq!(agreed(address, &trusted, &TLS13).await, None);
        let (certificate, key) = (issued.certificate.as_bytes(), issued.key.as_bytes());
        identity.set(certificate, key, &authorities.load()).unwrap();
        (address, trusted)
    }

    #[tokio::test]
    async fn a_client_gets_what_the_profile_allows() {
        let tasks = Tasks::new(CancellationToken::new());
        let newest = TlsProfile::given(TlsVersion::V13, &[]).unwrap();
        let (address, trusted) = serving(newest, &tasks).await;
        assert_eq!(agreed(address, &trusted, &TLS12).await, None);
        let version = agreed(address, &trusted, &TLS13).await.unwrap().0;
        assert_eq!(version, ProtocolVersion::TLSv1_3);

        let suite = "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256";
        let only = TlsProfile::given(TlsVersion::V12, &[suite.parse().unwrap()]).unwrap();
        let (address, trusted) = serving(only, &tasks).await;
        let (version, found) = agreed(address, &trusted, &TLS12).await.unwrap();
        assert_eq!((version, format!("{found:?}")), (ProtocolVersion::TLSv1_2, suite.to_owned()));
    }

    #[tokio::test]
    async fn a_profile_that_changes_counts_from_the_next_connection_on() {
        let tasks = Tasks::new(CancellationToken::new());
        let profile = SharedProfile::default();
        let (address, trusted) = serving(profile.clone(), &tasks).await;
        let version = agreed(address, &trusted, &TLS12).await.unwrap().0;
        assert_eq!(version, ProtocolVersion::TLSv1_2);
        assert!(profile.set(TlsProfile::given(TlsVersion::V13, &[]).unwrap()));
        assert_eq!(agreed(address, &trusted, &TLS12).await, None);
        let version = agreed(address, &trusted, &TLS13).await.unwrap().0;
        assert_eq!(version, ProtocolVersion::TLSv1_3);
        assert!(profile.set(TlsProfile::default()));
        assert!(agreed(address, &trusted, &TLS12).await.is_some());
    }
}
