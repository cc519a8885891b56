//! CustomResourceDefinitions: created with the operator's own rights, upgraded with care.

use olm_effect::{Identity, Resource, Target};
use olm_types::api::{Step, StepResource, StepStatus};
use serde_json::Value;

use super::draft::{Draft, object_target};
use super::{Form, Scope, StepError, StepHandler, StepMessages};
use crate::crd;

/// Handler of CRD steps.
pub(super) struct CustomResourceDefinitions;

/// A refused create goes without a message in v0.
const MESSAGES: StepMessages = StepMessages {
    create: "",
    read: "error finding the CRD ",
    update: "error updating CRD \"",
    owner: "crd ",
};

fn resource(version: &str) -> Resource {
    Resource::new(crd::GROUP, version, "CustomResourceDefinition", "customresourcedefinitions")
}

impl StepHandler for CustomResourceDefinitions {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "CustomResourceDefinition"
    }

    fn messages(&self) -> StepMessages {
        MESSAGES
    }

    fn form(&self) -> Form {
        Form::JsonOrYaml
    }

    fn target(&self, _: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource(crd::api_version(desired).unwrap_or("v1")), None, step, desired)
    }

    fn identity(&self, scope: &Scope, step: &Step) -> Identity {
        if scope.trust.includes(step) { Identity::Own } else { scope.identity.clone() }
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let version = resource(crd::api_version(&manifest)?);
        let draft = Draft::new(step, &version, MESSAGES, manifest)?.place(None)?;
        let draft = match step.resolving.as_str() {
            // A plan that was written by hand may name no CSV.
            "" => draft,
            csv => alongside(draft, &scope.namespace, csv)?,
        };
        Ok(crd::without_placeholder(draft.without_status().finish()))
    }

    fn after_create(&self) -> StepStatus {
        StepStatus::WaitingForApi
    }

    fn examines(&self) -> bool {
        true
    }

    /// v0 forgets a CRD that is not served yet; here the plan waits for it.
    fn serving(&self, live: Option<&Value>) -> StepStatus {
        match live {
            None => StepStatus::NotPresent,
            Some(live) if crd::is_served(live) => StepStatus::Created,
            Some(_) => StepStatus::WaitingForApi,
        }
    }
}

/// Records which CSV the definition is installed alongside.
fn alongside<'a>(draft: Draft<'a>, namespace: &str, csv: &str) -> Result<Draft<'a>, StepError> {
    let key = olm_types::hash::alongside_key(namespace, csv);
    let annotation = format!("{}{key}", olm_types::annotations::INSTALLED_ALONGSIDE_PREFIX);
    draft.annotate(&annotation, &format!("{namespace}/{csv}"))
}
