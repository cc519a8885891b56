//! CSVs that a user's InstallPlan names (docs/differences.md): each is found in the catalogs that the
//! namespace sees, together with the providers of what it requires.
//!
//! A name is resolved like a Subscription to its package which starts at that version. What is
//! installed already stays as it is.

use std::cmp::Reverse;
use std::sync::Arc;

use olm_types::api::{InstallPlan, Step, Subscription, SubscriptionSpec};
use olm_types::bundle::Entry;
use thiserror::Error;

use super::{Choice, Namespace, Selection, plan, select};
use crate::install_plan::steps::{BundleError, BundleInput};

/// Why a user's plan gets no steps.
#[derive(Debug, Error)]
pub enum NamedError {
    /// No catalog has a bundle of that name.
    #[error("no catalog that the namespace sees has a bundle {0}")]
    NotFound(String),
    /// The manifests are not in the catalog.
    #[error(
        "bundle {name} is in the image {image}, and an InstallPlan made by hand takes bundles whose catalog \
         holds their manifests; create a Subscription instead"
    )]
    InImage {
        /// Name of the bundle.
        name: String,
        /// Its image.
        image: String,
    },
    /// The manifests cannot be used.
    #[error(transparent)]
    Bundle(#[from] BundleError),
    /// Everything that the plan names is installed.
    #[error("there is nothing to install")]
    Nothing,
}

/// A Subscription, which exists only for the resolver, for each name that is not installed. `find`
/// gives the entries of a name, each with the priority of its catalog: the highest priority counts,
/// then the default channel, then the order in which they are given.
///
/// # Errors
/// [`NamedError::NotFound`].
pub fn named_subscriptions(
    plan: &InstallPlan,
    namespace: &Namespace,
    find: impl Fn(&str) -> Vec<(i64, Arc<Entry>)>,
) -> Result<Vec<Arc<Subscription>>, NamedError> {
    let names = plan.spec.cluster_service_version_names.iter();
    let absent = names.filter(|name| !namespace.csvs.contains_key(*name));
    absent
        .map(|name| {
            let best = best(find(name)).ok_or_else(|| NamedError::NotFound(name.clone()))?;
            Ok(Arc::new(subscription(&best, &namespace.name)))
        })
        .collect()
}

/// Which bundles of a solution become steps. The Subscriptions exist only for the resolver, so
/// dependencies get none either.
///
/// # Errors
/// [`NamedError::InImage`].
pub fn select_named(namespace: &Namespace, choices: &[Choice]) -> Result<Selection, NamedError> {
    let selection = Selection { dependencies: Vec::new(), ..select(namespace, choices) };
    match selection.images.first() {
        Some((choice, image)) => {
            let (name, image) = (choice.entry.name.to_string(), image.clone());
            Err(NamedError::InImage { name, image })
        }
        None => Ok(selection),
    }
}

/// The steps of the plan, from the manifests of the selected bundles.
///
/// # Errors
/// [`NamedError::Bundle`], [`NamedError::Nothing`].
pub fn named_steps(
    namespace: &Namespace,
    selection: &Selection,
    bundles: &[BundleInput],
) -> Result<Vec<Step>, NamedError> {
    let steps = plan(namespace, selection, bundles, &[])?.map(|request| request.steps);
    steps.filter(|steps| !steps.is_empty()).ok_or(NamedError::Nothing)
}

fn best(found: Vec<(i64, Arc<Entry>)>) -> Option<Arc<Entry>> {
    let rank =
        |(priority, entry): &(i64, Arc<Entry>)| (Reverse(*priority), !entry.in_default_channel);
    found.into_iter().min_by_key(rank).map(|(_, entry)| entry)
}

fn subscription(entry: &Entry, namespace: &str) -> Subscription {
    let spec = SubscriptionSpec {
        source: entry.catalog.name.to_string(),
        source_namespace: entry.catalog.namespace.to_string(),
        name: entry.package.to_string(),
        channel: Some(entry.channel.to_string()),
        starting_csv: Some(entry.name.to_string()),
        ..SubscriptionSpec::default()
    };
    let mut subscription = Subscription::new(&entry.name, spec);
    subscription.metadata.namespace = Some(namespace.to_owned());
    subscription
}
