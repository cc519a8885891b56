//! One fact of an explanation: a rule with the names of what it is about. Prints as v0 words it.

use std::fmt;
use std::sync::Arc;

use olm_types::bundle::{CatalogKey, Entry};
use olm_types::gvk::Gvk;

use crate::constraint::Wanted;
use crate::problem::{BundleRef, Missing, Problem, Reason, Rule, RuleId, Subject, VariableId};
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
    /// A bundle is deprecated by its properties.
    Deprecated(BundleRef),
    /// A bundle needs one of these bundles, most preferred first.
    BundleRequires {
        /// The bundle.
        bundle: BundleRef,
        /// What it needs, as data.
        wanted: Wanted,
        /// What it needs, in v0's words.
        requirement: String,
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
                Self::NothingFound { subscription: subscription(variable)?, missing: *missing }
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
            (Reason::BundleRequires(requirement), Rule::Dependency { of, choices }) => {
                let choices = bundles(problem, choices);
                let wanted = requirement.wanted();
                let passed_over =
                    if choices.is_empty() { passed_over(scope, &wanted) } else { Vec::new() };
                let (bundle, requirement) = (bundle(problem, *of)?, requirement.to_string());
                Self::BundleRequires { bundle, wanted, requirement, choices, passed_over }
            }
            (Reason::TakesPlaceOf, Rule::Conflict(new, old)) => Self::TakesPlaceOf {
                bundle: bundle(problem, *new)?,
                installed: bundle(problem, *old)?,
            },
            (Reason::OnePerPackage(package), Rule::AtMost { of, .. }) => {
                Self::OnePerPackage { package: package.clone(), bundles: bundles(problem, of) }
            }
            (Reason::OneProvider(api), Rule::AtMost { of, .. }) => {
                Self::OneProvider { api: (**api).clone(), bundles: bundles(problem, of) }
            }
            (Reason::Other(text), _) => Self::Other(text.clone()),
            (reason, rule) => Self::Other(format!("{reason:?} {rule:?}")),
        })
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

/// What there is of a package, one bundle per version, newest first.
fn passed_over(scope: &Scope<'_>, wanted: &Wanted) -> Vec<BundleRef> {
    let Wanted::Package { name, .. } = wanted else { return Vec::new() };
    let mut entries: Vec<Arc<Entry>> = scope.package(None, name);
    entries.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.name.cmp(&b.name)));
    entries.dedup_by(|a, b| a.version == b.version);
    entries.iter().map(|entry| BundleRef::from(&**entry)).collect()
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SubscriptionExists(subscription) => {
                write!(f, "subscription {} exists", subscription.name)
            }
            Self::NothingFound { subscription, missing } => {
                nothing_found(f, subscription, *missing)
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
            Self::BundleRequires { bundle, requirement, .. } => {
                write!(f, "bundle {} requires an operator {requirement}", bundle.name)
            }
            Self::TakesPlaceOf { bundle, installed } => {
                write!(f, "{bundle} conflicts with {installed}")
            }
            Self::OnePerPackage { package, bundles } => {
                write!(f, "{} originate from package {package}", list(bundles, "and"))
            }
            Self::OneProvider { api, bundles } => {
                let Gvk { group, version, kind } = api;
                write!(f, "{} provide {kind} ({group}/{version})", list(bundles, "and"))
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

fn nothing_found(
    f: &mut fmt::Formatter<'_>,
    subscription: &SubscriptionFacts,
    missing: Missing,
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

/// `A`, `A and B`, `A, B and C`.
fn list(bundles: &[BundleRef], word: &str) -> String {
    let names: Vec<String> = bundles.iter().map(BundleRef::to_string).collect();
    match names.split_last() {
        None => String::new(),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} {word} {last}", rest.join(", ")),
    }
}
