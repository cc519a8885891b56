//! Which bundles of a solution become steps (spec catalog-operator 3.9).

use std::collections::BTreeMap;
use std::sync::Arc;

use olm_types::api::Subscription;
use olm_types::bundle::{BundleContent, Entry};

use super::approvers::RequestersByCsv;
use super::{KeptBack, Namespace};

/// One bundle of a solution.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The chosen entry.
    pub entry: Arc<Entry>,
    /// Name of the CSV that it replaces: the installed one, or what the entry itself names.
    pub replaces: Option<String>,
    /// Names of the Subscriptions that need it, directly or not.
    pub needed_by: Vec<String>,
    /// Number of the part of the solution that it belongs to; each part is independent of the others.
    pub part: usize,
}

/// What a solution means for a namespace.
#[derive(Clone, Debug, Default)]
pub struct Selection {
    /// Bundles whose manifests the catalog holds, to be fetched and turned into steps.
    pub inline: Vec<Choice>,
    /// Bundles that have to be unpacked from the image named beside them.
    pub images: Vec<(Choice, String)>,
    /// Entries without a Subscription: each gets a Subscription.
    pub dependencies: Vec<Arc<Entry>>,
    /// New `currentCSV` of Subscriptions, by name.
    pub updates: BTreeMap<String, String>,
    /// Why Subscriptions do not get the newest bundle, by name.
    pub kept_back: KeptBack,
    /// Who asks for what; nothing where everything is in one plan, for all Subscriptions of the namespace.
    pub asks: Option<RequestersByCsv>,
}

impl Selection {
    /// Whether bundles have to be unpacked: where no Subscription would follow, nothing is.
    pub fn needs_images(&self) -> bool {
        !self.updates.is_empty() && !self.images.is_empty()
    }
}

/// Sorts the bundles of a solution. A bundle that all its Subscriptions have already is left out.
pub fn select(namespace: &Namespace, choices: &[Choice]) -> Selection {
    let mut selection = Selection::default();
    for choice in choices {
        let subscribers: Vec<_> = namespace
            .subscriptions
            .iter()
            .filter(|subscription| matches(subscription, &choice.entry))
            .collect();
        let has_it = |subscription: &&Arc<Subscription>| {
            is_installed(namespace, subscription, &choice.entry.name)
        };
        if !subscribers.is_empty() && subscribers.iter().all(has_it) {
            continue;
        }
        match &choice.entry.content {
            BundleContent::Inline => selection.inline.push(choice.clone()),
            BundleContent::Image(path) => selection.images.push((choice.clone(), path.to_string())),
        }
        if subscribers.is_empty() {
            selection.dependencies.push(Arc::clone(&choice.entry));
        }
        for subscription in subscribers
            .into_iter()
            .filter(|subscription| current(subscription) != &*choice.entry.name)
        {
            let name = subscription.metadata.name.clone().unwrap_or_default();
            selection.updates.insert(name, choice.entry.name.to_string());
        }
    }
    selection
}

/// Whether the Subscription is to the entry: an empty channel or catalog fits any.
pub(super) fn matches(subscription: &Subscription, entry: &Entry) -> bool {
    let spec = &subscription.spec;
    let fits = |wanted: &str, found: &str| wanted.is_empty() || wanted == found;
    spec.name == *entry.package
        && fits(spec.channel.as_deref().unwrap_or_default(), &entry.channel)
        && fits(&spec.source, &entry.catalog.name)
        && fits(&spec.source_namespace, &entry.catalog.namespace)
}

fn is_installed(namespace: &Namespace, subscription: &Subscription, csv: &str) -> bool {
    current(subscription) == csv && namespace.csvs.contains_key(csv)
}

/// Name of the CSV that the Subscription moves to.
pub(super) fn current(subscription: &Subscription) -> &str {
    let status = subscription.status.as_ref();
    status.and_then(|status| status.current_csv.as_deref()).unwrap_or_default()
}
