//! CSVs that a user's InstallPlan names (docs/differences.md): each is found in the catalogs that the
//! namespace sees, together with the providers of what it requires.
//!
//! A name is looked for as if a user subscribed to its package from that version on. What is
//! installed already stays as it is.

use std::sync::Arc;

use kube::ResourceExt;
use olm_catalog::snapshot::SnapshotSet;
use olm_lifecycle::subscription::resolution::{self, Namespace, Selection, Terms, select};
use olm_types::annotations::EXCLUDE_GLOBAL_NAMESPACE;
use olm_types::api::{InstallPlan, OperatorGroup, Step, Subscription, SubscriptionSpec};
use olm_types::bundle::Entry;

use super::observe;
use super::reconcile::Resolutions;
use super::solve::{Question, solve};

/// Why a user's plan has no steps yet.
#[derive(Debug)]
pub enum Unresolved {
    /// A catalog is still being loaded.
    Waiting,
    /// Something else, for people.
    Because(String),
}

impl Resolutions {
    /// The steps that install the CSVs which the plan names, and what they need.
    ///
    /// # Errors
    /// There are none, or not yet.
    pub(crate) async fn steps_of(&self, plan: &InstallPlan) -> Result<Vec<Step>, Unresolved> {
        let home = plan.namespace().unwrap_or_default();
        let mut namespace = observe::namespace(&home, &self.stores);
        let universe = self.universe(&namespace, &terms(&namespace)).ok_or(Unresolved::Waiting)?;
        namespace.subscriptions = wanted(plan, &namespace, &universe)?;
        let question = Question {
            csvs: self.stores.csvs.list_in(&home),
            namespace: namespace.clone(),
            universe,
            fail_forward: false,
        };
        let solved = solve(question, &self.rules, &self.metrics.resolutions).await;
        if let Some(refused) = solved.refused.first() {
            return Err(Unresolved::Because(refused.failure.message()));
        }
        // There is no Subscription, so dependencies get no Subscriptions either.
        let selection =
            Selection { dependencies: Vec::new(), ..select(&namespace, &solved.choices) };
        self.steps_for(&namespace, &selection).await
    }

    async fn steps_for(
        &self,
        namespace: &Namespace,
        selection: &Selection,
    ) -> Result<Vec<Step>, Unresolved> {
        if let Some((choice, image)) = selection.images.first() {
            let name = &choice.entry.name;
            return Err(Unresolved::Because(format!(
                "bundle {name} is in the image {image}, and an InstallPlan made by hand takes bundles whose catalog \
                 holds their manifests; create a Subscription instead"
            )));
        }
        let bundles = self.fetch(selection).await;
        let bundles = bundles.map_err(|failure| Unresolved::Because(failure.message()))?;
        let request = resolution::plan(namespace, selection, &bundles, &[]);
        let request = request.map_err(|error| Unresolved::Because(error.to_string()))?;
        let steps = request.map(|request| request.steps).filter(|steps| !steps.is_empty());
        steps.ok_or_else(|| Unresolved::Because("there is nothing to install".to_owned()))
    }
}

fn terms(namespace: &Namespace) -> Terms {
    let excludes = |group: &Arc<OperatorGroup>| {
        let annotation = group.annotations().get(EXCLUDE_GLOBAL_NAMESPACE);
        annotation.is_some_and(|value| value == "true")
    };
    Terms { exclude_global: namespace.groups.iter().any(excludes), ..Terms::default() }
}

/// A Subscription, which exists only for the resolver, for each name that is not installed.
fn wanted(
    plan: &InstallPlan,
    namespace: &Namespace,
    universe: &SnapshotSet,
) -> Result<Vec<Arc<Subscription>>, Unresolved> {
    let names = plan.spec.cluster_service_version_names.iter();
    let absent = names.filter(|name| !namespace.csvs.contains(*name));
    absent
        .map(|name| {
            let entry = best(universe, name).ok_or_else(|| {
                Unresolved::Because(format!(
                    "no catalog that the namespace sees has a bundle {name}"
                ))
            })?;
            Ok(Arc::new(subscription(&entry, &namespace.name)))
        })
        .collect()
}

/// The entry of that name in the catalog with the highest priority, in the default channel if it is
/// in that.
fn best(universe: &SnapshotSet, name: &str) -> Option<Arc<Entry>> {
    let found = universe.members().iter().flat_map(|member| {
        let entries = member.content.iter().flat_map(|snapshot| snapshot.named(name));
        entries.map(move |entry| (member.priority, entry))
    });
    let rank = |(priority, entry): &(i64, &Arc<Entry>)| {
        (std::cmp::Reverse(*priority), !entry.in_default_channel)
    };
    found.min_by_key(rank).map(|(_, entry)| Arc::clone(entry))
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
