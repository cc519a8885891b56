//! Services and ConfigMaps of a bundle: owned by its CSV, made equal to the bundle's manifest.

use olm_effect::{Action, Resource, Target};
use olm_types::api::{Step, StepResource};
use serde_json::Value;

use super::draft::{Draft, object_target, owning_csvs, patch};
use super::{Scope, StepError, StepHandler, StepMessages};

/// Handler of Service steps. What the API server allocates (cluster IPs, node ports) is no field
/// of the manifest and so stays.
pub(super) const SERVICES: Owned = Owned {
    kind: "Service",
    plural: "services",
    exact: &["spec.selector"],
    messages: StepMessages {
        create: "error updating service: ",
        read: "error updating service: ",
        update: "error updating service: ",
        owner: "service: ",
    },
};
/// Handler of ConfigMap steps.
pub(super) const CONFIG_MAPS: Owned = Owned {
    kind: "ConfigMap",
    plural: "configmaps",
    exact: &["data", "binaryData"],
    messages: StepMessages {
        create: "error updating configmap: ",
        read: "error updating configmap: ",
        update: "error updating configmap: ",
        owner: "configmap: ",
    },
};

/// Handler of a core kind that the CSV owns.
pub(super) struct Owned {
    kind: &'static str,
    plural: &'static str,
    /// Fields that become exactly what the step wants.
    exact: &'static [&'static str],
    messages: StepMessages,
}

impl Owned {
    fn resource(&self) -> Resource {
        Resource::new("", "v1", self.kind, self.plural)
    }
}

impl StepHandler for Owned {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == self.kind && resource.group.is_empty()
    }

    fn messages(&self) -> StepMessages {
        self.messages
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(self.resource(), Some(&scope.namespace), step, desired)
    }

    fn reads(&self, scope: &Scope, step: &Step, manifest: &Value) -> Vec<Target> {
        let mut reads = owning_csvs(scope, step, manifest);
        reads.extend(address(manifest).map(|_| self.target(scope, step, manifest)));
        reads
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft = Draft::new(step, &self.resource(), self.messages, manifest)?;
        let draft = draft.place(Some(&scope.namespace))?.refresh_owners(scope)?;
        let object = draft.owned(scope)?.finish();
        let live = scope.object(&self.target(scope, step, &object)).ok();
        Ok(without_own_address(object, live))
    }

    fn on_existing(&self, desired: &Value, live: &Value) -> Option<Action> {
        patch(live, desired, self.exact)
    }
}

/// The address that the manifest of a Service asks for.
fn address(manifest: &Value) -> Option<&str> {
    let address = manifest.pointer("/spec/clusterIP")?.as_str()?;
    Some(address).filter(|address| !address.is_empty() && *address != "None")
}

/// A Service that asks for the address it has keeps it without asking: the API server looks at
/// addresses before names, and would say that this one is taken.
fn without_own_address(mut object: Value, live: Option<&Value>) -> Value {
    let is_own = address(&object).is_some() && live.and_then(address) == address(&object);
    if let Some(spec) = object.get_mut("spec").and_then(Value::as_object_mut).filter(|_| is_own) {
        spec.remove("clusterIP");
        spec.remove("clusterIPs");
    }
    object
}
