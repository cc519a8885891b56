//! One handler per kind of step, and the list of them.
//!
//! To support another kind, add a file with its handler and a line to [`HANDLERS`]. A kind without
//! a handler is an unsupported resource, as in v0.

mod config;
mod crd;
mod csv;
mod draft;
mod other;
mod rbac;
mod secret;
mod service_account;
mod subscription;

use olm_effect::{Action, Identity, Refusal, Target};
use olm_types::api::{Step, StepResource, StepStatus};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::{Form, Scope, StepError};

/// What error texts begin with, before the name of the object. They are v0's, which differ from
/// kind to kind; empty where v0 puts nothing in front, with a quote at the end where it quotes the name.
#[derive(Clone, Copy, Debug)]
pub struct StepMessages {
    /// A create was refused.
    pub create: &'static str,
    /// The existing object cannot be read.
    pub read: &'static str,
    /// A change was refused.
    pub update: &'static str,
    /// The CSV that owns the object cannot be read.
    pub owner: &'static str,
}

/// How the steps of a kind are executed.
pub trait StepHandler: Sync {
    /// Whether the step is of this handler's kind.
    fn handles(&self, resource: &StepResource) -> bool;

    /// What error texts begin with.
    fn messages(&self) -> StepMessages;

    /// How manifests of this kind are written.
    fn form(&self) -> Form {
        Form::Json
    }

    /// The kind that has to be looked up before the handler can say anything, if one has to.
    fn kind(&self, _manifest: &Value) -> Option<Gvk> {
        None
    }

    /// Whether existing objects are looked at before a change, instead of [`Self::on_existing`].
    fn examines(&self) -> bool {
        false
    }

    /// Whether several steps of one plan may be about the same object, each of which adds to it.
    fn is_shared(&self) -> bool {
        false
    }

    /// The object that the step is about; `desired` is null before it is known.
    fn target(&self, scope: &Scope, step: &Step, desired: &Value) -> Target;

    /// The error of a create that the API server refused; `what` begins it.
    fn refused_create(&self, what: String, cause: Refusal) -> StepError {
        StepError::Refused { what, cause }
    }

    /// Who makes the calls.
    fn identity(&self, scope: &Scope, _step: &Step) -> Identity {
        scope.identity.clone()
    }

    /// Objects that have to be read before [`Self::desired`] can be asked.
    fn reads(&self, _scope: &Scope, _step: &Step, _manifest: &Value) -> Vec<Target> {
        Vec::new()
    }

    /// The object to be created, from the manifest of the step.
    fn desired(&self, scope: &Scope, step: &Step, manifest: Value) -> Result<Value, StepError>;

    /// Status of the step after the object was created.
    fn after_create(&self) -> StepStatus {
        StepStatus::Created
    }

    /// What has to be written when the object exists already; nothing leaves it as it is.
    fn on_existing(&self, _desired: &Value, _live: &Value) -> Option<Action> {
        None
    }

    /// Status of a step that waits for an API, from the live object that announces it.
    fn serving(&self, _live: Option<&Value>) -> StepStatus {
        StepStatus::Created
    }
}

/// The handlers of all supported kinds.
pub const HANDLERS: &[&dyn StepHandler] = &[
    &csv::ClusterServiceVersions,
    &crd::CustomResourceDefinitions,
    &subscription::Subscriptions,
    &service_account::ServiceAccounts,
    &rbac::ROLES,
    &rbac::ROLE_BINDINGS,
    &rbac::CLUSTER_ROLES,
    &rbac::CLUSTER_ROLE_BINDINGS,
    &config::SERVICES,
    &config::CONFIG_MAPS,
    &secret::PullSecrets,
    &secret::BundleSecrets,
    &other::Others,
];

/// The handler for the kind of `resource`, if the kind is supported.
pub(super) fn handler_for(resource: &StepResource) -> Option<&'static dyn StepHandler> {
    HANDLERS.iter().find(|handler| handler.handles(resource)).copied()
}
