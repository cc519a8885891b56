//! The fact that a rule of a problem states: its reason, with the names of its variables.

use std::sync::Arc;

use olm_types::bundle::Entry;

use super::{Fact, SubscriptionRef};
use crate::constraint::{Requirement, Wanted};
use crate::problem::{BundleRef, Problem, Reason, Rule, RuleId, Subject, VariableId};
use crate::request::SubscriptionFacts;
use crate::source::Scope;

impl Fact {
    /// The fact behind a rule; `None` for a rule that is not of this problem.
    pub fn of(scope: &Scope<'_>, problem: &Problem, rule: RuleId) -> Option<Self> {
        let (rule, reason) = problem.rule(rule)?;
        if let Reason::Other(text) = reason {
            return Some(Self::Other(text.clone()));
        }
        let names = Names { scope, problem };
        let fact = match rule {
            Rule::Mandatory(one) => names.mandatory(*one, reason),
            Rule::Prohibited(one) => names.prohibited(*one, reason),
            Rule::Dependency { of, choices } => names.dependency(*of, choices, reason),
            Rule::Conflict(new, old) => names.conflict(*new, *old, reason),
            Rule::AtMost { of, .. } => names.at_most(of, reason),
        };
        Some(fact.unwrap_or_else(|| Self::Other(format!("{reason:?} {rule:?}"))))
    }
}

/// What the variables of a problem stand for. Its functions know the reasons that OLM's own rules of
/// a kind have, and return `None` for others.
struct Names<'a, 'b> {
    scope: &'a Scope<'b>,
    problem: &'a Problem,
}

impl Names<'_, '_> {
    fn mandatory(&self, one: VariableId, reason: &Reason) -> Option<Fact> {
        match reason {
            Reason::SubscriptionExists => {
                Some(Fact::SubscriptionExists(self.subscription(one)?.clone()))
            }
            Reason::OrphanExists => Some(Fact::OrphanExists(self.bundle(one)?)),
            Reason::Kept(subscription) => Some(Fact::Kept {
                installed: self.bundle(one)?,
                subscription: subscription.clone(),
            }),
            _ => None,
        }
    }

    fn prohibited(&self, one: VariableId, reason: &Reason) -> Option<Fact> {
        match reason {
            Reason::NothingFound(missing) => {
                let subscription = self.subscription(one)?.clone();
                let installed = self.installed(&subscription);
                Some(Fact::NothingFound { subscription, missing: missing.clone(), installed })
            }
            Reason::Deprecated => Some(Fact::Deprecated(self.bundle(one)?)),
            Reason::Ineligible(reason) => {
                Some(Fact::Ineligible { bundle: self.bundle(one)?, reason: reason.clone() })
            }
            Reason::NotAccepted(subscription) => Some(Fact::NotAccepted {
                bundle: self.bundle(one)?,
                subscription: subscription.clone(),
            }),
            Reason::ClusterVersion(need) => {
                Some(Fact::ClusterVersion { bundle: self.bundle(one)?, need: (**need).clone() })
            }
            _ => None,
        }
    }

    fn dependency(&self, of: VariableId, choices: &[VariableId], reason: &Reason) -> Option<Fact> {
        let choices = self.bundles(choices);
        match reason {
            Reason::SubscriptionRequires => {
                let subscription = self.subscription(of)?.clone();
                Some(Fact::SubscriptionRequires { subscription, choices })
            }
            Reason::BundleRequires(requirement) => {
                Some(self.requires(self.bundle(of)?, requirement.as_ref(), choices))
            }
            _ => None,
        }
    }

    fn conflict(&self, new: VariableId, old: VariableId, reason: &Reason) -> Option<Fact> {
        match reason {
            Reason::TakesPlaceOf => {
                Some(Fact::TakesPlaceOf { bundle: self.bundle(new)?, installed: self.bundle(old)? })
            }
            _ => None,
        }
    }

    fn at_most(&self, of: &[VariableId], reason: &Reason) -> Option<Fact> {
        let bundles = self.sorted(of);
        match reason {
            Reason::OnePerPackage(package) => {
                Some(Fact::OnePerPackage { package: package.clone(), bundles })
            }
            Reason::OneProvider(api) => Some(Fact::OneProvider { api: (**api).clone(), bundles }),
            _ => None,
        }
    }

    fn requires(
        &self,
        bundle: BundleRef,
        requirement: &dyn Requirement,
        choices: Vec<BundleRef>,
    ) -> Fact {
        let wanted = requirement.wanted();
        let passed_over = if choices.is_empty() { self.passed_over(&wanted) } else { Vec::new() };
        Fact::BundleRequires {
            bundle,
            messages: requirement.messages().into_iter().map(str::to_owned).collect(),
            requirement: requirement.to_string(),
            wanted,
            choices,
            passed_over,
        }
    }

    fn subscription(&self, variable: VariableId) -> Option<&SubscriptionRef> {
        match self.problem.subject(variable)? {
            Subject::Subscription(subscription) => Some(subscription),
            Subject::Bundle(_) => None,
        }
    }

    /// Name of the CSV of a Subscription, if it is in the namespace.
    fn installed(&self, subscription: &SubscriptionFacts) -> Option<Arc<str>> {
        let csv = self.scope.installed().named(subscription.installed_csv.as_deref()?)?;
        Some(csv.entry.name.clone())
    }

    fn bundle(&self, variable: VariableId) -> Option<BundleRef> {
        match self.problem.subject(variable)? {
            Subject::Bundle(bundle) => Some(BundleRef::from(&*bundle.entry)),
            Subject::Subscription(_) => None,
        }
    }

    fn bundles(&self, variables: &[VariableId]) -> Vec<BundleRef> {
        variables.iter().filter_map(|variable| self.bundle(*variable)).collect()
    }

    /// Sorted by identifier, as v0 lists them.
    fn sorted(&self, variables: &[VariableId]) -> Vec<BundleRef> {
        let mut bundles = self.bundles(variables);
        bundles.sort_by_cached_key(BundleRef::to_string);
        bundles
    }

    /// What there is of a package, one bundle per version, newest first.
    fn passed_over(&self, wanted: &Wanted) -> Vec<BundleRef> {
        let Wanted::Package { name, .. } = wanted else { return Vec::new() };
        let mut entries: Vec<Arc<Entry>> = self.scope.package(None, name);
        entries.sort_by(|a, b| b.version.cmp(&a.version).then_with(|| a.name.cmp(&b.name)));
        entries.dedup_by(|a, b| a.version == b.version);
        entries.iter().map(|entry| BundleRef::from(&**entry)).collect()
    }
}
