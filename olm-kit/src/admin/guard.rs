//! Who may read what (spec olm-operator 7.2).

use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::http::{HeaderMap, StatusCode};
use kube::Client;

use crate::callers::{Access, Authorities, Authorizer, identify};
use crate::listen::Caller;

/// Whom to let in.
pub(super) enum Guard {
    /// Every caller may read metrics, as there is no TLS.
    Open,
    /// The cluster is asked.
    Asking { authorities: Arc<ArcSwap<Authorities>>, client: Client, authorizer: Authorizer },
}

/// Why a caller may not.
type Refused = (StatusCode, String);

impl Guard {
    /// A guard that asks with `client`.
    pub(super) fn asking(authorities: Arc<ArcSwap<Authorities>>, client: Client) -> Self {
        Self::Asking { authorities, authorizer: Authorizer::new(client.clone()), client }
    }

    /// Whether the caller may `get` the path.
    pub(super) async fn may_read(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<(), Refused> {
        let Self::Asking { authorities, client, authorizer } = self else { return Ok(()) };
        let authorities = authorities.load_full();
        let user = identify(&caller.chain, headers, &authorities, client).await;
        let user = user.map_err(|reason| (StatusCode::UNAUTHORIZED, format!("{reason}\n")))?;
        if user.is_anonymous() {
            let text = "a token or a client certificate is needed\n".to_owned();
            return Err((StatusCode::UNAUTHORIZED, text));
        }
        match authorizer.allows(&user, &Access::Path(path.to_owned())).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) => {
                let text = format!("{} may not get {path}\n", user.name);
                Err((StatusCode::FORBIDDEN, text))
            }
            Err(error) => Err((StatusCode::INTERNAL_SERVER_ERROR, format!("{error}\n"))),
        }
    }

    /// Whether the caller may see the state of the process. `kubectl port-forward` arrives over the
    /// loopback interface; others need TLS, and the right to `get` the path.
    pub(super) async fn may_debug(
        &self,
        caller: &Caller,
        headers: &HeaderMap,
        path: &str,
    ) -> Result<(), Refused> {
        if caller.address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        if matches!(self, Self::Open) {
            let text = "only from the same host; use kubectl port-forward\n".to_owned();
            return Err((StatusCode::FORBIDDEN, text));
        }
        self.may_read(caller, headers, path).await
    }
}
