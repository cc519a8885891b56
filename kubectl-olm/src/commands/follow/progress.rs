//! What a look at the cluster comes to: how far InstallPlan and CSVs are, and what has failed.

use olm_plan::observed::name;
use olm_plan::preview::is_about_a_copy;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, InstallPlanPhase};

/// What one look at the cluster comes to.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ObservedProgress {
    /// How far it is.
    pub(super) lines: Vec<String>,
    /// Why waiting would not help.
    pub(super) failure: Option<String>,
    /// Whether nothing is left to wait for.
    pub(super) is_done: bool,
}

/// How far a CSV is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    csv: String,
    /// None while it is not there.
    phase: Option<CsvPhase>,
    /// Why it has failed.
    why: String,
}

impl State {
    /// That of a CSV which is there, or is not.
    pub(super) fn of(csv: &str, found: Option<&ClusterServiceVersion>) -> Self {
        let phase = found.map(ClusterServiceVersion::phase);
        let status = found.and_then(|found| found.status.as_ref());
        let text = |text: Option<&String>| text.cloned().unwrap_or_default();
        let (reason, message) = status.map_or_else(Default::default, |status| {
            (text(status.reason.as_ref()), text(status.message.as_ref()))
        });
        let parts = [reason, message].into_iter().filter(|part| !part.is_empty());
        let why = parts.collect::<Vec<_>>().join(": ");
        Self { csv: csv.to_owned(), phase, why }
    }

    /// Whether the CSV is there.
    pub(super) fn is_there(&self) -> bool {
        self.phase.is_some()
    }

    /// Whether the CSV has failed. It may recover.
    pub(super) fn has_failed(&self) -> bool {
        self.phase == Some(CsvPhase::Failed)
    }

    /// Whether the CSV has succeeded.
    pub(super) fn has_succeeded(&self) -> bool {
        self.phase == Some(CsvPhase::Succeeded)
    }
}

/// A line for each CSV that is there, and one for the InstallPlan of all others, or when it has failed.
pub(super) fn lines(plan: Option<&InstallPlan>, states: &[State]) -> Vec<String> {
    let failed = plan.filter(|plan| plan.phase() == InstallPlanPhase::Failed);
    let mut lines: Vec<String> = failed.into_iter().map(of_plan).collect();
    for state in states {
        let line = line(plan, state);
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines
}

fn line(plan: Option<&InstallPlan>, state: &State) -> String {
    let csv = &state.csv;
    match (state.phase, plan) {
        (Some(phase), _) if state.has_failed() && !state.why.is_empty() => {
            format!("ClusterServiceVersion {csv}: {} ({})", phase.as_str(), state.why)
        }
        (Some(phase), _) => format!("ClusterServiceVersion {csv}: {}", phase.as_str()),
        (None, Some(plan)) => of_plan(plan),
        (None, None) => format!("waiting for the InstallPlan of {csv}"),
    }
}

fn of_plan(plan: &InstallPlan) -> String {
    let (name, phase) = (name(&plan.metadata), plan.phase());
    let message = plan.status.as_ref().and_then(|status| status.message.as_deref());
    match message.filter(|text| phase == InstallPlanPhase::Failed && !text.is_empty()) {
        Some(message) => format!("InstallPlan {name}: {} ({message})", phase.as_str()),
        None => format!("InstallPlan {name}: {}", phase.as_str()),
    }
}

/// Why a plan will never be executed; none while it may be. One that is executed with an account is tried again
/// once that has other rights, and one that met the copy of a CSV once that is gone.
pub(super) fn failure(plan: &InstallPlan) -> Option<String> {
    let status = plan.status.as_ref()?;
    let met_a_copy = status.message.as_deref().is_some_and(is_about_a_copy);
    let may_go_on = status.attenuated_service_account_ref.is_some() || met_a_copy;
    let is_final = status.phase == InstallPlanPhase::Failed && !may_go_on;
    let name = name(&plan.metadata);
    is_final.then(|| format!("InstallPlan {name} has failed, and OLM does not try it again"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn plan(status: Value) -> InstallPlan {
        from_value(json!({"metadata": {"name": "p"},
            "spec": {"approval": "Manual", "approved": true, "clusterServiceVersionNames": []},
            "status": status}))
        .unwrap()
    }

    fn state(csv: &str, status: Option<Value>) -> State {
        let found = status.map(|status| {
            from_value::<ClusterServiceVersion>(
                json!({"metadata": {"name": csv}, "status": status}),
            )
            .unwrap()
        });
        State::of(csv, found.as_ref())
    }

    #[rstest]
    #[case::nothing(None, None, "waiting for the InstallPlan of a.v1")]
    #[case::plan(Some(json!({"phase": "Installing"})), None, "InstallPlan p: Installing")]
    #[case::retried(Some(json!({"phase": "Installing", "message": "m"})), None, "InstallPlan p: Installing")]
    #[case::csv(Some(json!({"phase": "Complete"})), Some(json!({"phase": "Pending"})),
        "ClusterServiceVersion a.v1: Pending")]
    #[case::failed_csv(Some(json!({"phase": "Complete"})),
        Some(json!({"phase": "Failed", "reason": "InstallCheckFailed", "message": "install timeout"})),
        "ClusterServiceVersion a.v1: Failed (InstallCheckFailed: install timeout)")]
    #[case::failed_plan(Some(json!({"phase": "Failed", "message": "no quota"})), None,
        "InstallPlan p: Failed (no quota)")]
    #[case::both(Some(json!({"phase": "Failed"})), Some(json!({"phase": "Pending"})),
        "InstallPlan p: Failed\nClusterServiceVersion a.v1: Pending")]
    fn lines_say_what_is_furthest_and_what_has_failed(
        #[case] status: Option<Value>,
        #[case] csv: Option<Value>,
        #[case] expected: &str,
    ) {
        let plan = status.map(plan);
        assert_eq!(lines(plan.as_ref(), &[state("a.v1", csv)]).join("\n"), expected);
    }

    #[test]
    fn those_that_are_not_there_share_a_line() {
        let plan = plan(json!({"phase": "Installing"}));
        let done = Some(json!({"phase": "Succeeded"}));
        let states = [state("a.v1", None), state("b.v1", done), state("c.v1", None)];
        let expected = ["InstallPlan p: Installing", "ClusterServiceVersion b.v1: Succeeded"];
        assert_eq!(lines(Some(&plan), &states), expected);
    }

    #[rstest]
    #[case::on_its_way(json!({"phase": "Installing", "message": "retrying"}), false)]
    #[case::failed(json!({"phase": "Failed"}), true)]
    #[case::with_an_account(json!({"phase": "Failed",
        "attenuatedServiceAccountRef": {"kind": "ServiceAccount", "name": "a", "namespace": "ns"}}), false)]
    #[case::over_a_copy(json!({"phase": "Failed", "message": "namespace ns holds a copy of a.v1, which is installed in \
        namespace x and reaches this one: no CSV of that name can be created while the copy is there; install into \
        another namespace"}), false)]
    fn a_plan_that_is_not_tried_again_ends_the_wait(#[case] status: Value, #[case] expected: bool) {
        assert_eq!(failure(&plan(status)).is_some(), expected);
    }
}
