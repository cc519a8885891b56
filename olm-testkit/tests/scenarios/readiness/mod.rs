//! Every state of Subscriptions and CatalogSources that the scenarios of a run passed through is what
//! docs/readiness.md says: to kstatus, which is asked itself, and to Argo CD, whose rule is in
//! `olm_testkit::peer::argo_cd`.
//!
//! The states are those that the operators wrote, from the audit logs of all clusters of a run.

mod page;
mod states;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use libtest_mimic::{Arguments, Conclusion, Failed, Trial};
use olm_testkit::peer::{KStatus, argo_cd};
use olm_testkit::progress::Progress;

use page::Row;
use states::{State, written};

/// What was written so far, on clusters that are gone.
static SEEN: Mutex<BTreeSet<State>> = Mutex::new(BTreeSet::new());

/// Adds what was written on a cluster. To be called when the operators have ended.
pub fn note(audit_log: &Path) -> Result<()> {
    let states = written(audit_log)?;
    SEEN.lock().unwrap_or_else(PoisonError::into_inner).extend(states);
    Ok(())
}

/// After all scenarios: kstatus says of each state what the page says. That each row of the page was passed
/// through is known only after a `complete` run.
pub fn conclude(arguments: &Arguments, complete: bool) -> Conclusion {
    let states = std::mem::take(&mut *SEEN.lock().unwrap_or_else(PoisonError::into_inner));
    let name = if complete { "readiness::every_row" } else { "readiness::every_state" };
    // Some scenarios need neither a Subscription nor a catalog, and not kstatus either.
    let is_any = complete || !states.is_empty();
    let examine =
        move || examine(&states, complete).map_err(|error| Failed::from(format!("{error:#}")));
    let trials = is_any.then(|| Trial::test(name, examine)).into_iter().collect();
    let arguments = Arguments { filter: None, exact: false, ..arguments.clone() };
    libtest_mimic::run(&arguments, trials)
}

fn examine(states: &BTreeSet<State>, complete: bool) -> Result<()> {
    let rows = page::rows()?;
    let kstatus = KStatus::ensure(&Progress::to_stderr())?;
    let texts: Vec<String> = states.iter().map(State::text).collect();
    let mut seen: BTreeSet<&Row> = BTreeSet::new();
    let mut wrong = Vec::new();
    for (state, found) in states.iter().zip(kstatus.of(&texts)?) {
        match judge(state, &found, &rows) {
            Ok(row) => seen.extend(row),
            Err(why) => wrong.push(format!("{why}: {}", state.text())),
        }
    }
    let unseen = rows.iter().filter(|row| complete && !seen.contains(row));
    wrong.extend(unseen.map(|row| format!("no scenario passes through {row:?}")));
    ensure!(wrong.is_empty(), "of {} states:\n{}", states.len(), wrong.join("\n"));
    println!("{} states, {} of {} rows", states.len(), seen.len(), rows.len());
    Ok(())
}

/// The row that a state belongs to; none where its spec is not taken into account yet.
fn judge<'a>(state: &State, found: &str, rows: &'a [Row]) -> Result<Option<&'a Row>, String> {
    if state.is_behind() {
        return match found {
            "InProgress" => Ok(None),
            _ => Err(format!("its spec is not taken into account, and kstatus says {found}")),
        };
    }
    let reason = state.reason();
    let fits = |row: &&Row| {
        row.kind == state.kind()
            && row.is_for(&reason, found)
            && (!row.is_before_installed || !state.is_installed())
            && (!row.is_of_failed_plan || state.has_failed_plan())
    };
    let fitting: Vec<&Row> = rows.iter().filter(fits).collect();
    let narrow = fitting.iter().find(|row| row.is_before_installed);
    let Some(row) = narrow.or(fitting.first()).copied() else {
        return Err(format!("no row has reason {reason} and {found}"));
    };
    if state.kind() == "Subscription" {
        let value = state.value();
        let shown = argo_cd::health(&value);
        if !row.allows(shown, argo_cd::is_unhealthy_by_catalog(&value)) {
            return Err(format!("{reason} is {shown} to Argo CD, and the page says {}", row.argo));
        }
    }
    Ok(Some(row))
}
