//! Facts in v0's words; what v0 does not know is worded alike.

use std::fmt;

use olm_types::bundle::CatalogKey;
use olm_types::gvk::Gvk;

use super::Fact;
use crate::problem::{BundleRef, ClusterNeed, Missing};
use crate::request::SubscriptionFacts;

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SubscriptionExists(subscription) => {
                write!(f, "subscription {} exists", subscription.name)
            }
            Self::NothingFound { subscription, missing, .. } => {
                nothing_found(f, subscription, missing)
            }
            Self::SubscriptionRequires { subscription, choices } => {
                requires(f, &subscription.name, choices)
            }
            Self::OrphanExists(bundle) => write!(
                f,
                "clusterserviceversion {} exists and is not referenced by a subscription",
                bundle.name
            ),
            Self::Deprecated(bundle) => write!(f, "bundle {bundle} is deprecated"),
            Self::Kept { installed, subscription } => write!(
                f,
                "clusterserviceversion {} exists and stays as subscription {subscription} is not met",
                installed.name
            ),
            Self::Ineligible { bundle, reason } => {
                write!(f, "bundle {bundle} is ineligible: {reason}")
            }
            Self::ClusterVersion { bundle, need } => needs_newer_cluster(f, bundle, need),
            Self::NotAccepted { bundle, subscription } => {
                write!(f, "bundle {bundle} is not accepted by subscription {}", subscription.name)
            }
            Self::BundleRequires { bundle, requirement, .. } => {
                write!(f, "bundle {} requires an operator {requirement}", bundle.name)
            }
            Self::TakesPlaceOf { bundle, installed } => {
                write!(f, "{bundle} conflicts with {installed}")
            }
            Self::OnePerPackage { package, bundles } => {
                write!(f, "{} originate from package {package}", list(bundles, "and"))
            }
            Self::OneProvider { api, bundles } => one_provider(f, api, bundles),
            Self::Other(text) => f.write_str(text),
        }
    }
}

fn nothing_found(
    f: &mut fmt::Formatter<'_>,
    subscription: &SubscriptionFacts,
    missing: &Missing,
) -> fmt::Result {
    let SubscriptionFacts { name, package, .. } = subscription;
    let channel = subscription.channel.as_deref().unwrap_or_default();
    let csv = subscription.starting_csv.as_deref().unwrap_or_default();
    let nowhere = CatalogKey::new("", "");
    let CatalogKey { namespace, name: catalog } = subscription.catalog.as_ref().unwrap_or(&nowhere);
    match missing {
        Missing::Catalog => {
            write!(
                f,
                "no operators found from catalog {catalog} in namespace {namespace} referenced by subscription {name}"
            )
        }
        Missing::Package => {
            write!(
                f,
                "no operators found in package {package} in the catalog referenced by subscription {name}"
            )
        }
        Missing::Channel => write!(
            f,
            "no operators found in channel {channel} of package {package} in the catalog referenced by subscription {name}"
        ),
        Missing::StartingCsv => write!(
            f,
            "no operators found with name {csv} in channel {channel} of package {package} in the catalog referenced by subscription {name}"
        ),
        Missing::InRange(_) => write!(
            f,
            "no operators found in the version-range of subscription {name} in channel {channel} of package {package} in the catalog referenced by it"
        ),
        Missing::Unreachable(_) => write!(
            f,
            "no upgrade leads to {csv} in channel {channel} of package {package} in the catalog referenced by subscription {name}"
        ),
    }
}

fn requires(f: &mut fmt::Formatter<'_>, subscription: &str, choices: &[BundleRef]) -> fmt::Result {
    match choices {
        [] => write!(f, "no operators found matching the criteria of subscription {subscription}"),
        [only] => write!(f, "subscription {subscription} requires {only}"),
        many => {
            write!(f, "subscription {subscription} requires at least one of {}", list(many, "or"))
        }
    }
}

fn needs_newer_cluster(
    f: &mut fmt::Formatter<'_>,
    bundle: &BundleRef,
    ClusterNeed { needed, server }: &ClusterNeed,
) -> fmt::Result {
    let name = &bundle.name;
    write!(f, "bundle {name} requires Kubernetes {needed} and the cluster has {server}")
}

fn one_provider(f: &mut fmt::Formatter<'_>, api: &Gvk, bundles: &[BundleRef]) -> fmt::Result {
    let Gvk { group, version, kind } = api;
    write!(f, "{} provide {kind} ({group}/{version})", list(bundles, "and"))
}

/// `A`, `A and B`, `A, B and C`.
fn list(bundles: &[BundleRef], word: &str) -> String {
    let names: Vec<String> = bundles.iter().map(BundleRef::to_string).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
    }
}
