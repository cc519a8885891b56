//! Why an operator is there, and why there is no newer one.
//!
//! What would be chosen, what blocks it and which changes help is the resolver's answer; each repair was tried
//! there. Who needs whom is read from the properties of what is installed.

mod needs;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_lifecycle::subscription::{held_by_mistake, holding, is_held};
use olm_resolver::{
    Explanation, HeldUpgrade, InstalledCsv, Repair, ResolutionOutcome, ResolutionRequest,
    ResolveError, Resolver, SubscriptionFacts, follows,
};
use olm_types::annotations::{GENERATED_BY, PAUSE};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription, UpgradeStrategy};
use olm_types::bundle::{Entry, Universe};
use olm_types::conditions::readiness;
use serde::Serialize;

use crate::observed::name;
use crate::preview::NoPreview;
use crate::settings::Settings;

pub use needs::{Need, NeededBy};

/// What is known when it is asked.
#[derive(Clone, Copy)]
pub struct WhyInputs<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// Name of a Subscription, or of its package.
    pub operator: &'a str,
    /// All of the namespace.
    pub subscriptions: &'a [Subscription],
    /// All of the namespace; copies are passed over.
    pub csvs: &'a [ClusterServiceVersion],
    /// All of the namespace.
    pub groups: &'a [OperatorGroup],
    /// The catalogs that the namespace sees.
    pub universe: &'a dyn Universe,
    /// How OLM decides.
    pub settings: &'a Settings,
}

/// What keeps an operator where it is, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum UpgradeState {
    /// It has the head of its channel.
    AtHead,
    /// A newer version is chosen: it is on its way, or waits for an approval.
    Upgrading,
    /// A newer version would follow and does not fit.
    Blocked,
    /// The Subscription itself does not accept newer versions.
    Held,
    /// The Subscription cannot be met at all.
    Refused,
    /// No version of the channel follows what is installed.
    DeadEnd,
    /// The catalog was not read, or has nothing of the package.
    Unknown,
}

impl UpgradeState {
    /// A sentence about it.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::AtHead => "it has the newest version of its channel",
            Self::Upgrading => "a newer version is chosen",
            Self::Blocked => "a newer version would follow, and does not fit into the namespace",
            Self::Held => "its Subscription accepts no newer version",
            Self::Refused => "its Subscription cannot be met",
            Self::DeadEnd => "no version of its channel follows what is installed",
            Self::Unknown => "its catalog was not read, or has nothing of the package",
        }
    }
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Why {
    /// The namespace.
    pub namespace: String,
    /// Name of the Subscription.
    pub subscription: String,
    /// Its package.
    pub package: String,
    /// Its channel; none where it takes the default one.
    pub channel: Option<String>,
    /// The CSV that it has installed.
    pub installed: Option<String>,
    /// The InstallPlan that made the Subscription, where OLM made it for a dependency.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generated_by: Option<String>,
    /// Who needs it.
    pub needed_by: Vec<NeededBy>,
    /// What it needs, and who provides that.
    pub needs: Vec<Need>,
    /// What keeps it where it is.
    pub verdict: UpgradeState,
    /// The bundles that come next.
    pub next: Vec<String>,
    /// The reasons, in sentences.
    pub reasons: Vec<String>,
    /// Changes that help: each was tried.
    pub repairs: Vec<String>,
    /// Newer versions at the heads of other channels, as CHANNEL: CSV.
    pub elsewhere: Vec<String>,
    /// What OLM says about the Subscription.
    pub says: Vec<String>,
}

/// Why an operator is there, and why there is no newer one.
///
/// # Errors
/// There is no such Subscription.
pub fn why(question: &WhyInputs<'_>) -> Result<Why, NoPreview> {
    let settings = question.settings;
    let subscriptions = question.subscriptions.iter().map(|one| settings.as_read(one.clone()));
    let subscriptions: Vec<Subscription> = subscriptions.collect();
    let question = &WhyInputs { subscriptions: &subscriptions, ..*question };
    let subscription = found(question)?;
    let request = request(question, subscription);
    let resolver = Resolver::default();
    let outcome = resolver.outcome(&request, question.settings.resolution);
    let status = subscription.status.clone().unwrap_or_default();
    let note = |key: &str| subscription.metadata.annotations.as_ref()?.get(key).cloned();
    let mut why = Why {
        namespace: question.namespace.to_owned(),
        subscription: name(&subscription.metadata).to_owned(),
        package: subscription.spec.name.clone(),
        channel: subscription.spec.channel.clone().filter(|channel| !channel.is_empty()),
        installed: status.installed_csv,
        generated_by: note(GENERATED_BY),
        needed_by: Vec::new(),
        needs: Vec::new(),
        verdict: UpgradeState::Unknown,
        next: Vec::new(),
        reasons: Vec::new(),
        repairs: Vec::new(),
        elsewhere: Vec::new(),
        says: says(subscription),
    };
    let paused = note(PAUSE)
        .filter(|text| text != "false")
        .map(|text| format!("annotation {PAUSE}: {text}"));
    why.reasons.extend(paused.or_else(|| held_by_mistake(subscription)));
    needs::add(&request, &mut why);
    judge(subscription, question, &outcome, &mut why);
    let own = outcome.blocked.iter().find(|one| one.subscription == why.subscription);
    if let Some(blocked) = own.filter(|_| why.verdict == UpgradeState::Blocked) {
        why.repairs =
            resolver.unblocking(&request, blocked).iter().map(Repair::to_string).collect();
    }
    Ok(why)
}

fn found<'a>(question: &WhyInputs<'a>) -> Result<&'a Subscription, NoPreview> {
    let all = question.subscriptions.iter();
    let named = all.clone().find(|one| name(&one.metadata) == question.operator);
    let found = named.or_else(|| all.clone().find(|one| one.spec.name == question.operator));
    found.ok_or_else(|| NoPreview::NoSubscription {
        operator: question.operator.to_owned(),
        namespace: question.namespace.to_owned(),
    })
}

/// As OLM asks, but for the Subscription itself: what would come shows even if it is held.
fn request<'a>(question: &WhyInputs<'a>, asked: &Subscription) -> ResolutionRequest<'a> {
    let csvs = question.csvs.iter().filter(|csv| !olm_lifecycle::csv::is_copied(csv));
    let fails_forward = |group: &OperatorGroup| {
        group.spec.upgrade_strategy == Some(UpgradeStrategy::TechPreviewUnsafeFailForward)
    };
    let there =
        question.subscriptions.iter().filter(|one| one.metadata.deletion_timestamp.is_none());
    let holds =
        |one: &Subscription| holding(one).filter(|_| name(&one.metadata) != name(&asked.metadata));
    let (held, subscriptions): (Vec<_>, Vec<_>) = there.partition(|one| holds(one).is_some());
    ResolutionRequest {
        subscriptions: subscriptions.into_iter().map(SubscriptionFacts::from).collect(),
        held: held
            .into_iter()
            .filter_map(|one| Some(SubscriptionFacts::held(one, holds(one)?)))
            .collect(),
        installed: csvs.map(InstalledCsv::from).collect(),
        fail_forward: question.groups.iter().any(fails_forward),
        ..ResolutionRequest::new(question.namespace, question.universe)
    }
}

/// The true conditions of a Subscription, besides how ready it is, which follows from them.
fn says(subscription: &Subscription) -> Vec<String> {
    let conditions = subscription.status.iter().flat_map(|status| &status.conditions);
    let true_ones = conditions.filter(|condition| {
        condition.status == "True" && !readiness::ALL.contains(&condition.type_.as_str())
    });
    let text = |condition: &olm_types::api::SubscriptionCondition| {
        let parts = [condition.reason.as_deref(), condition.message.as_deref()];
        let parts: Vec<&str> =
            parts.into_iter().flatten().filter(|part| !part.is_empty()).collect();
        format!("{}: {}", condition.type_, parts.join(": "))
    };
    true_ones.map(text).collect()
}

fn judge(
    subscription: &Subscription,
    question: &WhyInputs<'_>,
    outcome: &ResolutionOutcome,
    why: &mut Why,
) {
    let entries = offers(subscription, question.universe);
    let channel = followed(subscription, &entries);
    let own: Vec<&Arc<Entry>> =
        entries.iter().filter(|entry| Some(&*entry.channel) == channel.as_deref()).collect();
    let heads = heads(&own);
    why.elsewhere = elsewhere(&entries, channel.as_deref(), why.installed.as_deref());
    let chosen = outcome.resolution.chosen.iter().filter(|one| *one.entry.package == *why.package);
    why.next = chosen.map(|one| one.entry.name.to_string()).collect();
    let is_held = is_held(subscription);
    let subscription = why.subscription.clone();
    let refusal =
        outcome.refusals.iter().find(|refusal| refusal.subscriptions.contains(&subscription));
    let blocked = outcome.blocked.iter().find(|one| one.subscription == subscription);
    let is_newer_held =
        |one: &&HeldUpgrade| one.subscription.name == subscription && !one.names.is_empty();
    let held = outcome.held.iter().find(is_newer_held);
    why.verdict = if let Some(refusal) = refusal {
        match &refusal.error {
            ResolveError::NotSatisfiable(explanation) => why.explain(explanation),
            error => why.reasons.push(error.to_string()),
        }
        if entries.is_empty() { UpgradeState::Unknown } else { UpgradeState::Refused }
    } else if !why.next.is_empty() {
        if is_held { UpgradeState::Held } else { UpgradeState::Upgrading }
    } else if let Some(blocked) = blocked {
        why.next.push(blocked.bundle.name.to_string());
        why.explain(&blocked.explanation);
        UpgradeState::Blocked
    } else if let Some(held) = held {
        why.next = held.names.iter().map(ToString::to_string).collect();
        UpgradeState::Held
    } else {
        why.at_rest(&own, &heads)
    };
}

impl Why {
    fn explain(&mut self, explanation: &Explanation) {
        self.reasons.push(explanation.summary());
        self.repairs.extend(explanation.repairs().iter().map(ToString::to_string));
    }

    /// Where nothing is chosen, blocked or held.
    fn at_rest(&mut self, own: &[&Arc<Entry>], heads: &BTreeSet<&str>) -> UpgradeState {
        let Some(installed) = self.installed.clone() else { return UpgradeState::Unknown };
        if own.is_empty() {
            return UpgradeState::Unknown;
        }
        if heads.contains(&&*installed) {
            return UpgradeState::AtHead;
        }
        let here = own.iter().find(|entry| *entry.name == *installed);
        let follow = here.map(|here| own.iter().filter(|entry| follows(entry, here)).count());
        self.reasons.push(match (follow, heads.len()) {
            (None, _) => {
                format!("{installed} is not in the channel, and nothing there follows it by name")
            }
            (Some(0), _) => format!("nothing in the channel replaces or skips {installed}"),
            (Some(_), 1) => {
                format!("what follows {installed} is itself skipped by a newer version")
            }
            (Some(_), heads) => format!("the channel has {heads} heads, and so no order"),
        });
        UpgradeState::DeadEnd
    }
}

/// What the catalog of a Subscription has of its package.
fn offers(subscription: &Subscription, universe: &dyn Universe) -> Vec<Arc<Entry>> {
    let spec = &subscription.spec;
    let mut entries = universe.by_package(&spec.name);
    entries.retain(|entry| {
        let catalog = &entry.catalog;
        (spec.source.is_empty() || *catalog.name == *spec.source)
            && (spec.source_namespace.is_empty() || *catalog.namespace == *spec.source_namespace)
    });
    entries
}

fn followed(subscription: &Subscription, entries: &[Arc<Entry>]) -> Option<String> {
    let named = subscription.spec.channel.clone().filter(|channel| !channel.is_empty());
    let default = entries.iter().find(|entry| entry.in_default_channel);
    named.or_else(|| default.map(|entry| entry.channel.to_string()))
}

/// Bundles of a channel that no other one replaces or skips.
fn heads<'a>(entries: &[&'a Arc<Entry>]) -> BTreeSet<&'a str> {
    let followed = entries.iter().flat_map(|entry| entry.replaces.iter().chain(&entry.skips));
    let followed: BTreeSet<&str> = followed.map(|name| &**name).collect();
    let names = entries.iter().map(|entry| &*entry.name);
    names.filter(|name| !followed.contains(name)).collect()
}

/// The heads of other channels that are newer than what is installed.
fn elsewhere(
    entries: &[Arc<Entry>],
    channel: Option<&str>,
    installed: Option<&str>,
) -> Vec<String> {
    let here = entries.iter().find(|entry| Some(&*entry.name) == installed);
    let version = here.and_then(|entry| entry.version.as_ref());
    let mut channels: BTreeMap<&str, Vec<&Arc<Entry>>> = BTreeMap::new();
    for entry in entries.iter().filter(|entry| Some(&*entry.channel) != channel) {
        channels.entry(&entry.channel).or_default().push(entry);
    }
    let newest = channels.iter().filter_map(|(channel, own)| {
        let heads = heads(own);
        let newest = own.iter().filter(|entry| heads.contains(&*entry.name));
        let newest = newest.max_by(|a, b| a.version.cmp(&b.version))?;
        let is_newer = newest.version.as_ref() > version;
        is_newer.then(|| format!("{channel}: {}", newest.name))
    });
    newest.collect()
}
