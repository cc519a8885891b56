//! One operator: its Subscription, its custom resources, what happened, and why there is no newer one.

mod operands;
mod reasons;
mod timeline;

use anyhow::{Context, Result, bail};
use olm_plan::Observed;
use olm_plan::observed::{name, namespace};
use olm_types::api::Subscription;

pub use operands::{Operand, operands};
pub use reasons::{Reasons, in_cluster as reasons, offline as reasons_offline};
pub use timeline::{TimelineEvent, timeline};

/// The one Subscription of that name, or for the package of that name.
///
/// # Errors
/// There is none, or several namespaces have one.
pub fn subscription<'a>(observed: &'a Observed, wanted: &str) -> Result<&'a Subscription> {
    let by_name = |one: &&Subscription| name(&one.metadata) == wanted;
    let by_package = |one: &&Subscription| one.spec.name == wanted;
    let mut found: Vec<&Subscription> = observed.subscriptions.iter().filter(by_name).collect();
    if found.is_empty() {
        found = observed.subscriptions.iter().filter(by_package).collect();
    }
    if found.len() > 1 {
        let places =
            found.iter().map(|one| format!("{}/{}", namespace(&one.metadata), name(&one.metadata)));
        let places: Vec<String> = places.collect();
        bail!(
            "{wanted} is ambiguous: {}; -n and the name of the Subscription choose",
            places.join(", ")
        );
    }
    found.pop().with_context(|| {
        format!("no Subscription is named {wanted} or for a package of that name; -n or -A look elsewhere")
    })
}
