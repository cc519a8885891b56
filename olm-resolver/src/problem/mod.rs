//! The problem of one resolution: variables, the rules about them, and why each was stated.
//!
//! Constraint sources fill it; solvers see only the [`Formula`], explainers the reasons. Only
//! bundles that something refers to become variables.

mod bundle;
mod claims;
mod formula;
mod reason;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub use bundle::{Bundle, BundleId, BundleRef};
pub use claims::{Claims, ClaimsCache};
pub(crate) use formula::list_address;
pub use formula::{Formula, Rule, RuleId, VariableId};
pub use reason::{ClusterNeed, Missing, Reason};

use crate::request::SubscriptionFacts;

/// What a variable stands for.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A bundle of a catalog, or an installed CSV.
    Bundle(Arc<Bundle>),
    /// A Subscription.
    Subscription(Arc<SubscriptionFacts>),
}

/// A list of bundles and their variables.
type Choices = (Arc<[Arc<Bundle>]>, Arc<[VariableId]>);

/// Variables, rules and reasons of one resolution.
#[derive(Debug, Default)]
pub struct Problem {
    formula: Formula,
    reasons: Vec<Reason>,
    subjects: Vec<Subject>,
    of_bundle: Vec<Option<VariableId>>,
    /// Lists of bundles by their address, with their variables. They are held, so that no address is
    /// used twice.
    lists: HashMap<usize, Choices>,
    replaced: BTreeMap<VariableId, Arc<str>>,
    visited: usize,
}

impl Problem {
    /// The variable of a bundle. A new one is visited later by every constraint source.
    pub fn bundle(&mut self, bundle: &Arc<Bundle>) -> VariableId {
        let position = bundle.id.index();
        if self.of_bundle.len() <= position {
            self.of_bundle.resize(position + 1, None);
        }
        if let Some(known) = self.of_bundle.get(position).copied().flatten() {
            return known;
        }
        let variable = self.variable(Subject::Bundle(bundle.clone()));
        if let Some(slot) = self.of_bundle.get_mut(position) {
            *slot = Some(variable);
        }
        variable
    }

    /// The variables of a list of bundles; the same list for the same one, so that bundles which all
    /// need one of the same thousands share them.
    pub fn choices(&mut self, bundles: &Arc<[Arc<Bundle>]>) -> Arc<[VariableId]> {
        let address = bundles.as_ptr().addr();
        if let Some((_, known)) = self.lists.get(&address) {
            return known.clone();
        }
        let choices: Arc<[VariableId]> = bundles.iter().map(|bundle| self.bundle(bundle)).collect();
        self.lists.insert(address, (bundles.clone(), choices.clone()));
        choices
    }

    /// A variable for a Subscription.
    pub fn subscription(&mut self, subscription: &Arc<SubscriptionFacts>) -> VariableId {
        self.variable(Subject::Subscription(subscription.clone()))
    }

    /// States a rule.
    pub fn state(&mut self, rule: Rule, reason: Reason) {
        self.formula.rules.push(rule);
        self.reasons.push(reason);
    }

    /// Records that a bundle, once chosen, takes the place of an installed CSV. The last one counts.
    pub fn replace(&mut self, variable: VariableId, csv: &Arc<str>) {
        self.replaced.insert(variable, csv.clone());
    }

    /// The installed CSV whose place a bundle takes.
    pub fn replaced_by(&self, variable: VariableId) -> Option<&Arc<str>> {
        self.replaced.get(&variable)
    }

    /// The problem without names.
    pub fn formula(&self) -> &Formula {
        &self.formula
    }

    /// The formula as OLM v0 states it: the members of each "at most" in the order of their names. They
    /// mean the same, and v0's search depends on their order.
    pub(crate) fn formula_of_v0(&self) -> Formula {
        let rules = self.formula.rules.iter().map(|rule| match rule {
            Rule::AtMost { count, of } => {
                let mut of = of.to_vec();
                of.sort_by_cached_key(|variable| self.name_in_v0(*variable));
                Rule::AtMost { count: *count, of: of.into() }
            }
            rule => rule.clone(),
        });
        Formula { variables: self.formula.variables, rules: rules.collect() }
    }

    fn name_in_v0(&self, variable: VariableId) -> String {
        match self.subject(variable) {
            Some(Subject::Bundle(bundle)) => {
                let entry = &bundle.entry;
                let catalog = &entry.catalog;
                format!("{}/{}/{}/{}", catalog.name, catalog.namespace, entry.channel, entry.name)
            }
            Some(Subject::Subscription(subscription)) => {
                format!("subscription:{}", subscription.name)
            }
            None => String::new(),
        }
    }

    /// What a variable stands for.
    pub fn subject(&self, variable: VariableId) -> Option<&Subject> {
        self.subjects.get(variable.index())
    }

    /// What every variable stands for.
    pub fn subjects(&self) -> impl Iterator<Item = (VariableId, &Subject)> {
        (0..).map(VariableId).zip(&self.subjects)
    }

    /// A rule and its reason.
    pub fn rule(&self, rule: RuleId) -> Option<(&Rule, &Reason)> {
        self.formula.rules.get(rule.index()).zip(self.reasons.get(rule.index()))
    }

    /// Every rule with its reason, in the order stated.
    pub fn rules(&self) -> impl Iterator<Item = (&Rule, &Reason)> {
        self.formula.rules.iter().zip(&self.reasons)
    }

    /// Every bundle that is a variable, in the order in which they were reached.
    pub fn bundles(&self) -> impl Iterator<Item = (VariableId, &Arc<Bundle>)> {
        (0..).map(VariableId).zip(&self.subjects).filter_map(|(variable, subject)| match subject {
            Subject::Bundle(bundle) => Some((variable, bundle)),
            Subject::Subscription(_) => None,
        })
    }

    /// The next bundle whose own constraints were not collected yet.
    pub(crate) fn next_unvisited(&mut self) -> Option<(VariableId, Arc<Bundle>)> {
        while let Some(subject) = self.subjects.get(self.visited) {
            let variable = VariableId(u32::try_from(self.visited).ok()?);
            self.visited += 1;
            if let Subject::Bundle(bundle) = subject {
                return Some((variable, bundle.clone()));
            }
        }
        None
    }

    fn variable(&mut self, subject: Subject) -> VariableId {
        let variable = VariableId(self.formula.variables);
        self.formula.variables += 1;
        self.subjects.push(subject);
        variable
    }
}
