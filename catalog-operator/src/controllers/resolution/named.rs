//! The steps of a user's InstallPlan that names CSVs: observe -> subscribe -> solve -> select -> steps.
//! The rules are in `olm_lifecycle::subscription::resolution`.

use std::sync::Arc;

use kube::ResourceExt;
use olm_catalog::snapshot::SnapshotSet;
use olm_lifecycle::subscription::resolution::{
    NamedError, named_steps, named_subscriptions, select_named,
};
use olm_types::api::{InstallPlan, Step};
use olm_types::bundle::Entry;

use super::observe;
use super::outcome::Outcomes;
use super::solve::ResolutionInputs;
use super::solver::Solver;

/// Why a user's plan has no steps yet.
#[derive(Debug)]
pub enum Unresolved {
    /// A catalog is still being loaded.
    Waiting,
    /// Something else, for people.
    Because(String),
}

impl From<NamedError> for Unresolved {
    fn from(error: NamedError) -> Self {
        Self::Because(error.to_string())
    }
}

impl Solver {
    /// The steps that install the CSVs which the plan names, and what they need.
    ///
    /// # Errors
    /// There are none, or not yet.
    pub(crate) async fn steps_of(&self, plan: &InstallPlan) -> Result<Vec<Step>, Unresolved> {
        let home = plan.namespace().unwrap_or_default();
        let mut namespace = observe::namespace(&home, &self.stores);
        let universe = self.universe(&namespace).ok_or(Unresolved::Waiting)?;
        namespace.subscriptions =
            named_subscriptions(plan, &namespace, |name| entries(&universe, name))?;
        let question = ResolutionInputs {
            csvs: self.stores.csvs.list_in(&home),
            namespace: namespace.clone(),
            universe,
            fail_forward: false,
        };
        let solved = self.solve(question, &self.rules).await;
        if let Some(refused) = solved.refused.first() {
            return Err(Unresolved::Because(refused.failure.message()));
        }
        // Once for each plan: with its steps it is not resolved again.
        Outcomes::default().report(&home, &solved.outcome);
        let selection = select_named(&namespace, &solved.choices)?;
        let bundles = self.fetch(&selection).await;
        let bundles = bundles.map_err(|failure| Unresolved::Because(failure.message()))?;
        Ok(named_steps(&namespace, &selection, &bundles)?)
    }
}

/// The entries of that name, each with the priority of its catalog.
fn entries(universe: &SnapshotSet, name: &str) -> Vec<(i64, Arc<Entry>)> {
    let found = universe.members().iter().flat_map(|member| {
        let entries = member.content.iter().flat_map(|snapshot| snapshot.named(name));
        entries.map(move |entry| (member.priority, Arc::clone(entry)))
    });
    found.collect()
}
