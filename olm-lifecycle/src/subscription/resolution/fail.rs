//! What Subscriptions say when their namespace has no plan (spec catalog-operator 2.3, steps 6-8).

use jiff::Timestamp;
use olm_effect::{Effect, EventNote, EventType};
use olm_types::api::SubscriptionCondition;
use olm_types::conditions::subscription as types;
use olm_types::reasons::{event, subscription as reasons};

use super::super::conditions;
use super::decision::namespace_target;
use super::{KeptBack, Namespace, Spec, kept_back, write};

/// What the text of a failure begins with that may pass.
const UNPACK_FAILED: &str = "bundle unpacking failed with an error: ";

/// What went wrong with a resolution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// There is no solution; only a change of the input helps.
    NotSatisfiable(String),
    /// Something else stood in the way; it is tried again.
    Prevented(String),
    /// A chosen bundle cannot be used; only another catalog helps.
    Bundle(String),
    /// A bundle could not be unpacked because of something that may pass.
    Unpack(String),
    /// The InstallPlan could not be written; it is tried again. v0 reports this, too, with the type
    /// of unpacking.
    Plan(String),
}

impl Failure {
    /// Whether the same may succeed later without a change of anything that is watched.
    pub fn is_retried(&self) -> bool {
        matches!(self, Self::Prevented(_) | Self::Unpack(_) | Self::Plan(_))
    }

    /// The text for people.
    pub fn message(&self) -> String {
        match self {
            Self::NotSatisfiable(text) | Self::Prevented(text) | Self::Bundle(text) => text.clone(),
            Self::Unpack(text) => format!("{UNPACK_FAILED}{text}"),
            Self::Plan(text) => format!("error ensuring InstallPlan: {text}"),
        }
    }

    /// What was prevented is still to be resolved.
    fn spec(&self) -> Spec {
        match self {
            Self::Prevented(_) => Spec::Unresolved,
            Self::NotSatisfiable(_) | Self::Bundle(_) | Self::Unpack(_) | Self::Plan(_) => {
                Spec::Resolved
            }
        }
    }

    fn condition(&self) -> (&'static str, &'static str) {
        match self {
            Self::NotSatisfiable(_) => {
                (types::RESOLUTION_FAILED, reasons::CONSTRAINTS_NOT_SATISFIABLE)
            }
            Self::Prevented(_) => (types::RESOLUTION_FAILED, reasons::ERROR_PREVENTED_RESOLUTION),
            Self::Bundle(_) | Self::Unpack(_) => {
                (types::BUNDLE_UNPACK_FAILED, reasons::ERROR_PREVENTED_UNPACKING)
            }
            Self::Plan(_) => (types::BUNDLE_UNPACK_FAILED, reasons::ENSURE_INSTALL_PLAN_FAILED),
        }
    }
}

/// Whether a condition `BundleUnpackFailed` is about something that is tried again soon.
pub(in crate::subscription) fn will_pass(condition: &SubscriptionCondition) -> bool {
    let text = condition.message.as_deref().unwrap_or_default();
    match condition.reason.as_deref().unwrap_or_default() {
        reasons::ENSURE_INSTALL_PLAN_FAILED => true,
        reasons::ERROR_PREVENTED_UNPACKING => text.starts_with(UNPACK_FAILED),
        _ => false,
    }
}

/// Reports the failure on every Subscription of the namespace, and, when that is news, on the
/// Namespace. `kept_back` is what the resolution found out before; nothing if it found no solution.
pub fn fail(
    namespace: &Namespace,
    failure: &Failure,
    kept_back: &KeptBack,
    now: Timestamp,
) -> Vec<Effect> {
    let (kind, reason) = failure.condition();
    let condition = conditions::holding(kind, reason, Some(failure.message()));
    let (mut effects, mut is_news) = (Vec::new(), false);
    for subscription in &namespace.subscriptions {
        let mut status = subscription.status.clone().unwrap_or_default();
        if conditions::get(&status, kind).is_none_or(|stored| !conditions::same(stored, &condition))
        {
            conditions::set(&mut status, condition.clone());
            is_news = true;
        }
        kept_back::report(&mut status, subscription, kept_back);
        effects.extend(write(namespace, subscription, status, None, failure.spec(), now));
    }
    if is_news && kind == types::RESOLUTION_FAILED {
        effects.push(Effect::event(namespace_target(&namespace.name), note(failure)));
    }
    effects
}

fn note(failure: &Failure) -> EventNote {
    EventNote {
        event_type: EventType::Warning,
        reason: event::RESOLUTION_FAILED.to_owned(),
        message: failure.message(),
        uid: None,
        field_path: None,
    }
}
