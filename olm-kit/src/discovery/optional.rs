//! Objects of kinds that not every cluster has.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::Client;
use kube::api::{Api, ApiResource, DynamicObject};
use kube::core::GroupVersionKind;
use serde_json::Value;

use super::{ApiKinds, DiscoveryError};

/// What a look for such an object finds.
#[derive(Clone, Debug, PartialEq)]
pub enum Optional {
    /// The API server does not serve the kind.
    NoSuchKind,
    /// It does, and there is no such object.
    NoSuchObject,
    /// The object.
    Is(Value),
}

/// A kind that a controller reports to where the cluster has it, and looks for where it does not.
pub struct OptionalKind {
    kinds: ApiKinds,
    api: (&'static str, &'static str, &'static str),
    /// Whether the log says already that the kind is missing.
    reported: AtomicBool,
}

impl OptionalKind {
    /// Pause before a missing kind is looked for again, as in v0.
    pub const PROBE: Duration = Duration::from_secs(60);

    /// Group, version and kind, looked up with `client`.
    pub fn new(client: Client, api: (&'static str, &'static str, &'static str)) -> Self {
        Self { kinds: ApiKinds::new(client), api, reported: AtomicBool::default() }
    }

    /// Looks for an object of this name. The log says once that the kind is missing.
    ///
    /// # Errors
    /// As [`ApiKinds::look_for`].
    pub async fn look_for(&self, name: &str) -> Result<Optional, DiscoveryError> {
        let found = self.kinds.look_for(self.api, name).await?;
        if found == Optional::NoSuchKind && !self.reported.swap(true, Ordering::Relaxed) {
            let (group, version, kind) = self.api;
            tracing::warn!(
                name,
                "this cluster knows no {kind}s ({group}/{version}), so there is nothing to report to; it is \
                 looked for every minute"
            );
        }
        Ok(found)
    }
}

impl ApiKinds {
    /// Looks for an object of the whole cluster by group, version and kind, and by name.
    ///
    /// # Errors
    /// When the API server cannot be asked, or refuses to say.
    pub async fn look_for(
        &self,
        (group, version, kind): (&str, &str, &str),
        name: &str,
    ) -> Result<Optional, DiscoveryError> {
        let Some(served) = self.resolve(group, version, kind).await? else {
            return Ok(Optional::NoSuchKind);
        };
        let gvk = GroupVersionKind::gvk(group, version, kind);
        let resource = ApiResource::from_gvk_with_plural(&gvk, &served.resource.plural);
        let api: Api<DynamicObject> = Api::all_with(self.client.clone(), &resource);
        let failed = |source| DiscoveryError::Object {
            kind: kind.to_owned(),
            name: name.to_owned(),
            source: Box::new(source),
        };
        let found = api.get_opt(name).await.map_err(failed)?;
        let object = found.map(serde_json::to_value).transpose();
        let object = object.map_err(|error| failed(kube::Error::SerdeError(error)))?;
        Ok(object.map_or(Optional::NoSuchObject, Optional::Is))
    }
}
