//! Carries out what the execution of a plan asks for.

use kube::Client;
use olm_effect::{Outcome, Refusal};
use olm_kit::discovery::{ApiKinds, DiscoveryError};
use olm_kit::interpreter::{Executed, Interpreter};
use olm_kit::live::{self, Pages};
use olm_lifecycle::install_plan::execution::{Reply, Request, Served};
use olm_types::gvk::Gvk;

/// What calls are made with.
pub(crate) struct Calls {
    pub(crate) client: Client,
    pub(crate) interpreter: Interpreter,
    pub(crate) kinds: ApiKinds,
    pub(crate) pages: Pages,
}

impl Calls {
    /// Makes one call for a plan of this namespace.
    pub(super) async fn make(&self, request: Request, namespace: &str) -> Reply {
        match request {
            Request::Do(effect) => {
                let effects = std::slice::from_ref(&effect);
                let interpreter = self.interpreter.on_behalf_of(namespace);
                let mut executed = interpreter.execute_with_warnings(effects).await;
                match executed.pop() {
                    Some(Executed { outcome, warnings, .. }) => Reply::Outcome(outcome, warnings),
                    None => Reply::Outcome(Outcome::Skipped, Vec::new()),
                }
            }
            Request::Read(target) => match live::read(&self.client, &target).await {
                Ok(found) => Reply::Live(found),
                Err(refusal) => Reply::Unreadable(refusal),
            },
            Request::List(resource, token) => {
                match self.pages.page(&self.client, &resource, token).await {
                    Ok((items, next)) => Reply::Page(items, next),
                    Err(refusal) => Reply::Unreadable(refusal),
                }
            }
            Request::Resolve(kind) => match self.resolve(&kind).await {
                Ok(served) => Reply::Kind(served),
                Err(error) => Reply::Unreadable(unknown(&error)),
            },
        }
    }

    async fn resolve(&self, kind: &Gvk) -> Result<Served, DiscoveryError> {
        let found = self.kinds.resolve(&kind.group, &kind.version, &kind.kind).await?;
        if let Some(found) = found {
            return Ok(Served::Kind { resource: found.resource, namespaced: found.namespaced });
        }
        let served = self.kinds.serves(&kind.group, &kind.version).await?;
        Ok(if served { Served::NoKind } else { Served::NoGroup })
    }
}

fn unknown(error: &DiscoveryError) -> Refusal {
    use std::error::Error as _;
    let cause = error.source().map(|source| format!(": {source}")).unwrap_or_default();
    Refusal { code: 0, reason: String::new(), message: format!("{error}{cause}") }
}
