//! Who needs what among the chosen bundles.

use std::collections::{BTreeMap, BTreeSet};

use crate::problem::{Problem, Reason, Rule, Subject, VariableId};
use crate::resolution::WantedBy;
use crate::source::Scope;

/// Dependencies among chosen variables: who needs which one, and why.
pub(crate) struct Needs<'a> {
    all: Vec<(VariableId, VariableId, &'a Reason)>,
}

impl<'a> Needs<'a> {
    /// Of what is chosen.
    pub(crate) fn of(problem: &'a Problem, chosen: &BTreeSet<VariableId>) -> Self {
        let mut all = Vec::new();
        for (rule, reason) in problem.rules() {
            let Rule::Dependency { of, choices } = rule else { continue };
            if chosen.contains(of) {
                let served = choices.iter().filter(|choice| chosen.contains(choice));
                all.extend(served.map(|choice| (*of, *choice, reason)));
            }
        }
        Self { all }
    }

    /// For each variable, who among the chosen ones wanted it.
    pub(crate) fn wanted_by(&self, problem: &Problem) -> BTreeMap<VariableId, BTreeSet<WantedBy>> {
        let mut wanted: BTreeMap<VariableId, BTreeSet<WantedBy>> = BTreeMap::new();
        for (of, choice, reason) in &self.all {
            let Some(who) = problem.subject(*of) else { continue };
            wanted.entry(*choice).or_default().extend(wanting(who, reason));
        }
        wanted
    }

    /// For each variable, the Subscriptions that need it, directly or not. What a Subscription has installed
    /// counts for it, also where it is held or refused itself.
    pub(crate) fn needed_by(
        &self,
        scope: &Scope<'_>,
        problem: &Problem,
    ) -> BTreeMap<VariableId, BTreeSet<String>> {
        let mut served: BTreeMap<VariableId, Vec<VariableId>> = BTreeMap::new();
        for (of, choice, _) in &self.all {
            served.entry(*of).or_default().push(*choice);
        }
        let mut needed: BTreeMap<VariableId, BTreeSet<String>> = BTreeMap::new();
        for (name, mut open) in roots(scope, problem) {
            let mut reached = BTreeSet::new();
            while let Some(variable) = open.pop() {
                if reached.insert(variable) {
                    open.extend(served.get(&variable).into_iter().flatten());
                }
            }
            for variable in reached {
                needed.entry(variable).or_default().insert(name.to_owned());
            }
        }
        needed
    }
}

/// What Subscriptions ask for, or have installed, by name.
fn roots<'a>(scope: &'a Scope<'_>, problem: &'a Problem) -> BTreeMap<&'a str, Vec<VariableId>> {
    let mut roots: BTreeMap<&str, Vec<VariableId>> = BTreeMap::new();
    for (variable, subject) in problem.subjects() {
        match subject {
            Subject::Subscription(subscription) => {
                roots.entry(&subscription.name).or_default().push(variable);
            }
            Subject::Bundle(bundle) if bundle.is_installed() => {
                let has_it = |csv: &String| *csv.as_str() == *bundle.entry.name;
                let all = scope.subscriptions().iter().chain(scope.held());
                for one in all.filter(|one| one.installed_csv.as_ref().is_some_and(has_it)) {
                    roots.entry(&one.name).or_default().push(variable);
                }
            }
            Subject::Bundle(_) => {}
        }
    }
    roots
}

fn wanting(who: &Subject, reason: &Reason) -> Option<WantedBy> {
    match (who, reason) {
        (Subject::Subscription(subscription), _) => {
            Some(WantedBy::Subscription(subscription.name.clone()))
        }
        (Subject::Bundle(bundle), Reason::BundleRequires(requirement)) => Some(WantedBy::Bundle {
            name: bundle.entry.name.to_string(),
            requirement: requirement.to_string(),
        }),
        (Subject::Bundle(_), _) => None,
    }
}
