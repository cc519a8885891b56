//! The status of an Operator, and its return when it was deleted too early.

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, LabelSelectorRequirement};
use olm_effect::{Effect, Target};
use olm_types::api::{
    Components, Operator, OperatorSpec, OperatorStatus, RichReference, Subscription,
};

use super::names::{home_of, is_cut, is_operator_name};
use crate::writes::resource_of;

/// Most Operators of a namespace that come into being by themselves. They stay until a person deletes them, and
/// one object may have thousands of labels.
pub const MOST_OF_NAMESPACE: usize = 500;

/// An Operator and its components.
#[derive(Clone, Debug, Default)]
pub struct Observed {
    /// Its name.
    pub name: String,
    /// The object, if it exists.
    pub operator: Option<Arc<Operator>>,
    /// The label that makes objects its components.
    pub key: String,
    /// The objects with that label, in any order.
    pub components: Vec<RichReference>,
    /// How many Operators there are of the same namespace ([`super::have_one_home`]); only counted for one
    /// that does not exist.
    pub alike: usize,
}

/// Brings the status in step with the components, or a missing Operator back that has any. An
/// Operator without components stays: only a person deletes it.
pub fn decide(observed: &Observed) -> Option<Effect> {
    match &observed.operator {
        Some(operator) => write_status(operator, desired(observed)),
        None => may_begin(observed).then(|| create(&observed.name)),
    }
}

/// Whether a missing Operator comes into being. Labels are written by whoever may write any object of a
/// namespace, and Operators are objects of the cluster: such a label brings only Operators of its own
/// namespace, and so many of these.
fn may_begin(observed: &Observed) -> bool {
    let name = observed.name.as_str();
    let is_of_cluster = |component: &RichReference| component.namespace.is_none();
    let is_at_home = |component: &RichReference| match is_cut(name) {
        true => component.kind.as_deref() == Some(Subscription::KIND),
        false => component.namespace.as_deref() == home_of(name),
    };
    is_operator_name(name)
        && observed.alike < MOST_OF_NAMESPACE
        && observed.components.iter().any(|one| is_of_cluster(one) || is_at_home(one))
}

fn create(name: &str) -> Effect {
    let operator = Operator::new(name, OperatorSpec::default());
    Effect::create(target(name), serde_json::to_value(operator).unwrap_or_default())
}

fn write_status(operator: &Operator, wanted: OperatorStatus) -> Option<Effect> {
    if operator.metadata.deletion_timestamp.is_some() {
        return None;
    }
    let wanted = Operator { status: Some(wanted), ..operator.clone() };
    let before = serde_json::to_value(operator).ok()?;
    let after = serde_json::to_value(&wanted).ok()?;
    let name = operator.metadata.name.as_deref().unwrap_or_default();
    (before != after).then(|| Effect::status(target(name), after, Some(before)))
}

fn desired(observed: &Observed) -> OperatorStatus {
    let exists = LabelSelectorRequirement {
        key: observed.key.clone(),
        operator: "Exists".to_owned(),
        values: None,
    };
    let mut refs = observed.components.clone();
    refs.sort_by(|left, right| order(left).cmp(&order(right)));
    let components = Components {
        label_selector: LabelSelector { match_expressions: Some(vec![exists]), match_labels: None },
        refs,
    };
    OperatorStatus { components: Some(components) }
}

type Order<'a> = [Option<&'a str>; 4];

fn order(reference: &RichReference) -> Order<'_> {
    [
        reference.kind.as_deref(),
        reference.api_version.as_deref(),
        reference.namespace.as_deref(),
        reference.name.as_deref(),
    ]
}

fn target(name: &str) -> Target {
    Target::cluster(resource_of::<Operator>(), name)
}
