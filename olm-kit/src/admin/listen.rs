//! Where the endpoints listen: plain, or over TLS.

use std::io;
use std::sync::Arc;

use kube::Client;

use super::AdminError;
use super::guard::Guard;
use crate::listen::{self, Server};
use crate::metrics::Metrics;
use crate::tasks::Tasks;
use crate::tls::{Followed, ListenError, SharedProfile, TlsFiles};

/// What is needed to serve over TLS.
pub(super) struct Tls {
    pub(super) files: TlsFiles,
    pub(super) profile: SharedProfile,
    /// Asks the cluster about callers.
    pub(super) client: Client,
}

/// Listens, and says whom to let in.
pub(super) async fn bind(
    address: &str,
    tls: Option<Tls>,
    metrics: &Metrics,
    tasks: &Tasks,
) -> Result<(Server, Guard), AdminError> {
    let failed = |error| match error {
        ListenError::Address { address, source } => AdminError::Address { address, source },
        ListenError::Certificate(reason) => {
            AdminError::Address { address: address.to_owned(), source: io::Error::other(reason) }
        }
    };
    let Some(Tls { files, profile, client }) = tls else {
        return Ok((Server::bind(address, None).await.map_err(failed)?, Guard::Open));
    };
    let followed = Followed::begin(files, profile).await?;
    metrics.certificate("admin", &followed.identity);
    let authorities = Arc::clone(&followed.authorities);
    let guard = Guard::asking(Arc::clone(&authorities), client);
    let tls = listen::Tls { identity: followed.identity.clone(), authorities };
    let server = Server::bind(address, Some(tls)).await.map_err(failed)?;
    let token = tasks.token();
    tasks.spawn("certificates of the admin endpoints", async move {
        tokio::select! {
            () = followed.follow() => {}
            () = token.cancelled() => {}
        }
    });
    Ok((server, guard))
}
