//! Component labels on the objects of a plan: a step creates its object with those that adoption
//! would add afterwards, because a definition that is written again is built anew by the API server.

use olm_effect::Target;
use olm_types::api::{ClusterServiceVersion, Step, Subscription};
use serde_json::Value;

use super::super::components::key_of;
use super::Scope;
use crate::operator::{ComponentOwner, is_kind_of_component, put_labels};
use crate::writes::resource_of;

/// What has to be read before the object of a step can be labelled: the CSV that it belongs to, if
/// that was not created in this execution and passes on labels.
pub(super) fn reads(scope: &Scope, step: &Step) -> Option<Target> {
    let passes_on = scope.components.get(&step.resolving).is_some_and(|keys| !keys.is_empty());
    let has_owner =
        ![ClusterServiceVersion::KIND, Subscription::KIND].contains(&&*step.resource.kind);
    (passes_on && has_owner).then(|| scope.csv(&step.resolving))
}

/// Labels the object of a step.
pub(super) fn label(scope: &Scope, step: &Step, target: &Target, object: &mut Value) {
    if target.resource == resource_of::<ClusterServiceVersion>() {
        put_labels(object, scope.components.get(&target.name).into_iter().flatten());
    } else if target.resource == resource_of::<Subscription>() {
        let package = object.pointer("/spec/name").and_then(Value::as_str).unwrap_or_default();
        let key = key_of(package, &scope.namespace);
        put_labels(object, key.as_ref());
    } else if is_kind_of_component(&target.resource)
        && let Some(owner) = owner(scope, step)
    {
        owner.label(target, object);
    }
}

/// The CSV that a step resolves, as far as it is known.
fn owner(scope: &Scope, step: &Step) -> Option<ComponentOwner> {
    let live = scope.object(&scope.csv(&step.resolving)).ok()?;
    let keys = scope.components.get(&step.resolving).into_iter().flatten();
    ComponentOwner::of_object(live).map(|owner| owner.with_keys(keys))
}
