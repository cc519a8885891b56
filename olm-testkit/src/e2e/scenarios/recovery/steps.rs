//! Steps of these scenarios.

use std::fmt::Debug;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use kube::{Resource, ResourceExt};
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::builders::{Bundle, Crd, CsvBuilder, Package, csv};
use crate::e2e::context::TestContext;
use crate::wait;

/// A phase with its reason and its message.
pub type State<'a> = (CsvPhase, &'a str, &'a str);

/// The message of a CSV while its Deployment has too few pods.
pub fn not_available(name: &str) -> String {
    format!(
        "installing: waiting for deployment {name} to become ready: deployment \"{name}\" not \
         available: Deployment does not have minimum availability."
    )
}

/// An operator with one kind, one Deployment of its own name, and rights in its namespace.
pub fn operator(name: &str, crd: &Crd) -> CsvBuilder {
    let pods = json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]);
    csv(&format!("{name}.v1.0.0"), "1.0.0").owns(crd).deployment(name, name).permission(name, pods)
}

impl TestContext {
    /// Installs an operator by a Subscription from a catalog of its own, `shelf`.
    pub async fn install(&self, name: &str, crd: &Crd) -> Result<ClusterServiceVersion> {
        let bundle = Bundle::new("1.0.0", &operator(name, crd)).provides(crd);
        self.operator_group().await?;
        self.catalog("shelf", &[Package::single(name, bundle)]).await?;
        self.subscribe(name, "shelf").await?;
        let csv = format!("{name}.v1.0.0");
        self.at_latest(name, &csv).await?;
        self.succeeded(&csv).await
    }

    /// Changes an object as `kubectl patch --type=merge` does. Plans are compared before.
    pub async fn edit<K>(&self, name: &str, patch: Value) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        self.conclude_done_plans().await?;
        let edited = self
            .api()
            .patch(name, &PatchParams::default(), &Patch::Merge(self.dressed(patch)))
            .await;
        edited.with_context(|| format!("cannot edit {name}"))
    }

    /// Changes the status of an object.
    pub async fn edit_status<K>(&self, name: &str, status: Value) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let patch = Patch::Merge(json!({"status": status}));
        let edited = self.api().patch_status(name, &PatchParams::default(), &patch).await;
        edited.with_context(|| format!("cannot edit the status of {name}"))
    }

    /// Deletes an object, without waiting.
    pub async fn delete<K>(&self, name: &str) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        delete(&self.api::<K>(), name).await
    }

    /// Waits until a CSV is in a state.
    pub async fn is(&self, csv: &str, state: State<'_>) -> Result<ClusterServiceVersion> {
        let what = format!("be {state:?}");
        wait::until(&self.api(), csv, &what, |csv| current(csv) == state).await
    }

    /// Waits until a CSV has been in these states since it was as `before`, in this order, with
    /// any others in between, and has succeeded again.
    pub async fn recovered(
        &self,
        before: &ClusterServiceVersion,
        through: &[State<'_>],
    ) -> Result<ClusterServiceVersion> {
        let name = before.name_any();
        let what = format!("go through {through:?} and succeed again");
        wait::until(&self.api(), &name, &what, |csv| {
            went_through(before, csv, through) && current(csv).0 == CsvPhase::Succeeded
        })
        .await
    }

    /// Waits for an event about an object of the namespace.
    pub async fn announced(&self, name: &str, reason: &str, message: &str) -> Result<Event> {
        let about = format!("involvedObject.name={name},reason={reason}");
        let what = format!("say {message:?}");
        let says = |event: &Event| event.message.as_deref() == Some(message);
        wait::until_some(&self.api(), &about, &what, says).await
    }
}

/// Deletes an object, without waiting.
pub async fn delete<K: Clone + Debug + DeserializeOwned>(api: &Api<K>, name: &str) -> Result<()> {
    let deleted = api.delete(name, &DeleteParams::default()).await;
    deleted.map(drop).with_context(|| format!("cannot delete {name}"))
}

/// The object as it would lie in a file.
pub fn anew<K: Resource>(mut object: K) -> K {
    let ObjectMeta { name, namespace, labels, .. } = std::mem::take(object.meta_mut());
    *object.meta_mut() = ObjectMeta { name, namespace, labels, ..ObjectMeta::default() };
    object
}

/// Fails unless an object is still the one that it was, and as it was. What a Deployment's status
/// says is not OLM's.
pub fn untouched<K: Resource<DynamicType = ()> + Serialize>(before: &K, after: &K) -> Result<()> {
    let content = |object| -> Result<Value> {
        let mut content = serde_json::to_value::<&K>(object)?;
        if K::kind(&()) == "Deployment" {
            content["status"].take();
        }
        content["metadata"]["resourceVersion"].take();
        content["metadata"]["managedFields"].take();
        Ok(content)
    };
    let (before, after) = (content(before)?, content(after)?);
    ensure!(before == after, "it was changed\nfrom {before}\nto   {after}");
    Ok(())
}

/// What a CSV says about itself.
fn current(csv: &ClusterServiceVersion) -> State<'_> {
    let Some(status) = &csv.status else { return (CsvPhase::None, "", "") };
    let (reason, message) = (status.reason.as_deref(), status.message.as_deref());
    (status.phase, reason.unwrap_or_default(), message.unwrap_or_default())
}

/// Whether the history of a CSV has these states after the end of an earlier history.
fn went_through(
    before: &ClusterServiceVersion,
    now: &ClusterServiceVersion,
    through: &[State<'_>],
) -> bool {
    let history = |csv| -> &[_] {
        let csv: &ClusterServiceVersion = csv;
        csv.status.as_ref().map_or(&[], |status| &status.conditions)
    };
    let mut expected = through.iter().peekable();
    for past in history(now).iter().skip(history(before).len()) {
        let reason = past.reason.as_deref().unwrap_or_default();
        let message = past.message.as_deref().unwrap_or_default();
        expected.next_if(|state| **state == (past.phase, reason, message));
    }
    expected.peek().is_none()
}
