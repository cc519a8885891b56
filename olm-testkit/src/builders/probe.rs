//! How a node learns that a container is ready.

use serde_json::{Value, json};

/// Seconds in which a container answers a probe. The default of Kubernetes is one: on a busy machine a container that
/// works misses that three times in a row, and its CSV fails for a moment.
const TIMEOUT: u32 = 10;

/// A readiness probe that asks every second; `handler` says how, as in a Pod's spec.
///
/// # Panics
/// The handler is no JSON object.
#[must_use]
pub fn readiness_probe(handler: Value) -> Value {
    let mut probe = handler;
    probe["periodSeconds"] = json!(1);
    probe["timeoutSeconds"] = json!(TIMEOUT);
    probe
}
