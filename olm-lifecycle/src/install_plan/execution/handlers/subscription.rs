//! Subscriptions that a plan generates for dependencies: created once, then left to their owner.

use olm_effect::Target;
use olm_types::api::{Step, StepResource, Subscription};
use serde_json::Value;

use super::draft::{Draft, object_target};
use super::{Scope, StepError, StepHandler, StepMessages};
use crate::writes::resource_of;

/// Handler of Subscription steps.
pub(super) struct Subscriptions;

const MESSAGES: StepMessages = StepMessages {
    create: "error creating subscription ",
    read: "",
    update: "",
    owner: "subscription ",
};

impl StepHandler for Subscriptions {
    fn handles(&self, resource: &StepResource) -> bool {
        resource.kind == "Subscription"
    }

    fn messages(&self) -> StepMessages {
        MESSAGES
    }

    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target {
        object_target(resource_of::<Subscription>(), Some(&scope.namespace), step, desired)
    }

    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError> {
        let draft = Draft::new(step, &resource_of::<Subscription>(), MESSAGES, manifest)?
            .place(Some(&scope.namespace))?;
        let draft = draft.annotate(olm_types::annotations::GENERATED_BY, &scope.plan)?;
        Ok(draft.without_status().finish())
    }
}
