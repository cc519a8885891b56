//! One fact of an explanation: a rule with the names of what it is about. Prints as v0 words it.

mod text;

use std::sync::Arc;

use olm_types::bundle::Entry;
use olm_types::gvk::Gvk;

use crate::constraint::{Requirement, Wanted};
use crate::problem::{
    BundleRef, ClusterNeed, Missing, Problem, Reason, Rule, RuleId, Subject, VariableId,
};
use crate::request::SubscriptionFacts;
use crate::source::Scope;

/// A Subscription by its name and what it asks for.
pub type SubscriptionRef = Arc<SubscriptionFacts>;

/// A fact about the namespace or its catalogs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fact {
    /// A Subscription exists and has to be met.
    SubscriptionExists(SubscriptionRef),
    /// What a Subscription asks for is not offered.
    NothingFound {
        /// The Subscription.
        subscription: SubscriptionRef,
        /// The first thing that is missing.
        missing: Missing,
        /// Name of its CSV that is in the namespace.
        installed: Option<Arc<str>>,
    },
    /// A Subscription needs one of these bundles, most preferred first.
    SubscriptionRequires {
        /// The Subscription.
        subscription: SubscriptionRef,
        /// Its candidates; the installed CSV comes last.
        choices: Vec<BundleRef>,
    },
    /// A CSV without a Subscription exists and stays as it is.
    OrphanExists(BundleRef),
    /// The CSV of a Subscription that cannot be met stays as it is.
    Kept {
        /// The CSV.
        installed: BundleRef,
        /// Name of the Subscription.
        subscription: Arc<str>,
    },
    /// A bundle is deprecated by its properties.
    Deprecated(BundleRef),
    /// A bundle is malformed and counts as not being there.
    Ineligible {
        /// The bundle.
        bundle: BundleRef,
        /// What is malformed.
        reason: String,
    },
    /// A bundle needs a newer Kubernetes.
    ClusterVersion {
        /// The bundle.
        bundle: BundleRef,
        /// What it needs, and what there is.
        need: ClusterNeed,
    },
    /// A bundle needs one of these bundles, most preferred first.
    BundleRequires {
        /// The bundle.
        bundle: BundleRef,
        /// What it needs, as data.
        wanted: Wanted,
        /// What it needs, in v0's words.
        requirement: String,
        /// What the bundle's authors say about it (`failureMessage`).
        messages: Vec<String>,
        /// Bundles that fit.
        choices: Vec<BundleRef>,
        /// If nothing fits: bundles of the wanted package that do not, one per version.
        passed_over: Vec<BundleRef>,
    },
    /// A bundle would take the place of an installed CSV.
    TakesPlaceOf {
        /// The bundle.
        bundle: BundleRef,
        /// The installed CSV.
        installed: BundleRef,
    },
    /// These bundles are of one package, of which there can be only one.
    OnePerPackage {
        /// Name of the package.
        package: Arc<str>,
        /// Sorted by identifier.
        bundles: Vec<BundleRef>,
    },
    /// These bundles provide one API, of which there can be only one provider.
    OneProvider {
        /// The API.
        api: Gvk,
        /// Sorted by identifier.
        bundles: Vec<BundleRef>,
    },
    /// A fact that a constraint source of someone else stated.
    Other(String),
}

impl Fact {
    /// The fact behind a rule; `None` for a rule that is not of this problem.
    pub fn of(scope: &Scope<'_>, problem: &Problem, rule: RuleId) -> Option<Self> {
        let (rule, reason) = problem.rule(rule)?;
        let subscription = |variable: &VariableId| match problem.subject(*variable)? {
            Subject::Subscription(subscription) => Some(subscription.clone()),
            Subject::Bundle(_) => None,
        };
        Some(match (reason, rule) {
            (Reason::SubscriptionExists, Rule::Mandatory(variable)) => {
                Self::SubscriptionExists(subscription(variable)?)
            }
            (Reason::NothingFound(missing), Rule::Prohibited(variable)) => {
                let subscription = subscription(variable)?;
                let installed = installed(scope, &subscription);
                Self::NothingFound { subscription, missing: *missing, installed }
            }
            (Reason::SubscriptionRequires, Rule::Dependency { of, choices }) => {
                Self::SubscriptionRequires {
                    subscription: subscription(of)?,
                    choices: bundles(problem, choices),
                }
            }
            (Reason::OrphanExists, Rule::Mandatory(variable)) => {
                Self::OrphanExists(bundle(problem, *variable)?)
            }
            (Reason::Deprecated, Rule::Prohibited(variable)) => {
                Self::Deprecated(bundle(problem, *variable)?)
            }
            (Reason::Ineligible(reason), Rule::Prohibited(variable)) => {
                Self::Ineligible { bundle: bundle(problem, *variable)?, reason: reason.clone() }
            }
            (Reason::ClusterVersion(need), Rule::Prohibited(variable)) => {
                Self::ClusterVersion { bundle: bundle(problem, *variable)?, need: (**need).clone() }
            }
            (Reason::Kept(subscription), Rule::Mandatory(variable)) => Self::Kept {
                installed: bundle(problem, *variable)?,
                subscription: subscription.clone(),
            },
            (Reason::BundleRequires(requirement), Rule::Dependency { of, choices }) => {
                let choices = bundles(problem, choices);
                requires(scope, bundle(problem, *of)?, requirement.as_ref(), choices)
            }
            (Reason::TakesPlaceOf, Rule::Conflict(new, old)) => Self::TakesPlaceOf {
                bundle: bundle(problem, *new)?,
                installed: bundle(problem, *old)?,
            },
            (Reason::OnePerPackage(package), Rule::AtMost { of, .. }) => {
                Self::OnePerPackage { package: package.clone(), bundles: sorted(problem, of) }
            }
            (Reason::OneProvider(api), Rule::AtMost { of, .. }) => {
                Self::OneProvider { api: (**api).clone(), bundles: sorted(problem, of) }
            }
            (Reason::Other(text), _) => Self::Other(text.clone()),
            (reason, rule) => Self::Other(format!("{reason:?} {rule:?}")),
        })
    }
}

fn installed(scope: &Scope<'_>, subscription: &SubscriptionFacts) -> Option<Arc<str>> {
    let csv = scope.installed().named(subscription.installed_csv.as_deref()?)?;
    Some(csv.entry.name.clone())
}

fn requires(
    scope: &Scope<'_>,
    bundle: BundleRef,
    requirement: &dyn Requirement,
    choices: Vec<BundleRef>,
) -> Fact {
    let wanted = requirement.wanted();
    let passed_over = if choices.is_empty() { passed_over(scope, &wanted) } else { Vec::new() };
    Fact::BundleRequires {
        bundle,
        messages: requirement.messages().into_iter().map(str::to_owned).collect(),
        requirement: requirement.to_string(),
        wanted,
        choices,
        passed_over,
    }
}

fn bundle(problem: &Problem, variable: VariableId) -> Option<BundleRef> {
    match problem.subject(variable)? {
        Subject::Bundle(bundle) => Some(BundleRef::from(&*bundle.entry)),
        Subject::Subscription(_) => None,
    }
}

fn bundles(problem: &Problem, variables: &[VariableId]) -> Vec<BundleRef> {
    variables.iter().filter_map(|variable| bundle(problem, *variable)).collect()
}

/// Sorted by identifier, as v0 lists them.
fn sorted(problem: &Problem, variables: &[VariableId]) -> Vec<BundleRef> {
    let mut bundles = bundles(problem, variables);
    bundles.sort_by_cached_key(BundleRef::to_string);
    bundles
}

/// What there is of a package, one bundle per version, newest first.
fn passed_over(scope: &Scope<'_>, wanted: &Wanted) -> Vec<BundleRef> {
    let Wanted::Package { name, .. } = wanted else { return Vec::new() };
    let mut entries: Vec<Arc<Entry>> = scope.package(None, name);
    entries.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.name.cmp(&b.name)));
    entries.dedup_by(|a, b| a.version == b.version);
    entries.iter().map(|entry| BundleRef::from(&**entry)).collect()
}
