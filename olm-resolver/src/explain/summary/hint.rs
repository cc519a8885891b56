//! What would most likely help when no repair could be verified.

use olm_types::annotations::PIN;

use crate::constraint::Wanted;
use crate::explain::Fact;
use crate::problem::Missing;

/// What would most likely help.
pub(super) fn hint(facts: &[Fact]) -> Option<String> {
    let orphan = facts.iter().find_map(|fact| match fact {
        Fact::OrphanExists(csv) => Some(csv),
        _ => None,
    });
    if let Some(csv) = orphan {
        return Some(format!(
            "Delete ClusterServiceVersion {0}, or create a Subscription for it whose startingCSV is {0}.",
            csv.name
        ));
    }
    facts.iter().find_map(hint_for)
}

fn hint_for(fact: &Fact) -> Option<String> {
    match fact {
        Fact::NothingFound { subscription, missing, .. } => Some(match missing {
            Missing::Catalog => {
                "Create the CatalogSource, or name another one in the Subscription.".to_owned()
            }
            Missing::Package => {
                "Correct spec.name, or spec.source, of the Subscription.".to_owned()
            }
            Missing::Channel => "Correct spec.channel of the Subscription.".to_owned(),
            Missing::StartingCsv => {
                let pin = subscription.pin().map(|_| format!(" with annotation {PIN}"));
                format!(
                    "Correct spec.startingCSV of Subscription {}, or remove it{} to start with the newest.",
                    subscription.name,
                    pin.unwrap_or_default()
                )
            }
            Missing::InRange(_) => {
                format!("Widen the version-range of Subscription {}.", subscription.name)
            }
            Missing::Unreachable(_) => format!(
                "Set spec.startingCSV of Subscription {} to a bundle that upgrades lead to.",
                subscription.name
            ),
        }),
        Fact::BundleRequires { choices, wanted, .. } if choices.is_empty() => Some(match wanted {
            Wanted::Package { name, .. } => {
                format!("Add a CatalogSource that offers such a version of {name}.")
            }
            Wanted::Api(_) => "Add a CatalogSource that offers a provider.".to_owned(),
            Wanted::Label(_) | Wanted::Other => "Add a CatalogSource that offers one.".to_owned(),
        }),
        Fact::ClusterVersion { need, .. } => {
            Some(format!("Upgrade the cluster to Kubernetes {} or newer.", need.needed))
        }
        Fact::Deprecated(_) => Some(
            "Choose another channel or package: the catalog's maintainer has withdrawn the bundle."
                .to_owned(),
        ),
        Fact::Ineligible { .. } => {
            Some("Have the catalog's maintainer correct the bundle.".to_owned())
        }
        Fact::OneProvider { .. } | Fact::OnePerPackage { .. } => {
            Some("Use different namespaces, or delete one of the Subscriptions.".to_owned())
        }
        _ => None,
    }
}
