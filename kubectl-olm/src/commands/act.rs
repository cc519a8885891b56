//! What the commands that write have in common: they ask, create objects, and say why something is not done in time.

use std::fmt::{self, Display};
use std::io::{BufRead, IsTerminal, stderr, stdin};

use anyhow::{Context, Result, ensure};
use olm_client::Cluster;
use olm_client::acts::{self, Writing};
use olm_client::examined::examination;
use olm_plan::preview::Preview;
use serde_json::Value;

use super::doctor;
use crate::args::WriteArgs;
use crate::output::Output;

pub use olm_client::acts::{LOOK, NotInTime};

/// Who writes, for the API server's records.
pub const MANAGER: &str = "kubectl-olm";

/// Who writes, and whether the API server is only asked as if.
pub fn writing(dry_run: bool) -> Writing<'static> {
    Writing { manager: MANAGER, dry_run }
}

/// Creates an object that a manifest describes, and says what became of it. One that cannot be tried yet, as its
/// namespace or its kind is still to come, is no error of a dry run.
///
/// # Errors
/// The API server refuses it.
pub async fn create(
    cluster: &Cluster,
    manifest: &Value,
    dry_run: bool,
    output: Output,
) -> Result<()> {
    let created = acts::create(cluster, manifest, writing(dry_run)).await?;
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind").to_lowercase(), text("/metadata/name"));
    output.progress(&format!("{kind}/{name} {}\n", created.words()))
}

/// Something has failed for good.
#[derive(Debug)]
pub struct Failed(pub String);

impl Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Failed {}

/// Whether the user agrees to what was shown.
///
/// # Errors
/// The plan has another hash than the flag says, or there is no terminal and no `--yes`.
pub fn agreed(asked: &WriteArgs, preview: &Preview) -> Result<bool> {
    if let Some(hash) = &asked.plan_hash {
        let found = &preview.plan_hash;
        ensure!(hash == found, "the plan has changed: its hash is {found}, not {hash}");
    }
    if asked.yes {
        return Ok(true);
    }
    ensure!(
        stdin().is_terminal() && stderr().is_terminal(),
        "there is no terminal to ask on: --yes goes on without a question"
    );
    Output::complain("Do all of this? Only `yes` does.");
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("cannot read an answer")?;
    let agreed = answer.trim() == "yes";
    if !agreed {
        Output::complain("Nothing was written.");
    }
    Ok(agreed)
}

/// What was done; when it did not come to its end, what the doctor finds is said first.
///
/// # Errors
/// Those of what was done.
pub async fn with_findings<T>(cluster: &Cluster, home: &str, done: Result<T>) -> Result<T> {
    if done.as_ref().is_err_and(has_not_ended) {
        examine(cluster, home).await;
    }
    done
}

/// Whether something did not come to its end, in time or at all, whatever else is said about it.
fn has_not_ended(error: &anyhow::Error) -> bool {
    error.downcast_ref::<NotInTime>().is_some() || error.downcast_ref::<Failed>().is_some()
}

/// Says what the doctor finds in a namespace.
async fn examine(cluster: &Cluster, home: &str) {
    match examination(cluster, Some(home), false).await {
        Ok(report) if report.findings.is_empty() => Output::complain("The doctor finds nothing."),
        Ok(report) => report.findings.iter().for_each(|one| Output::complain(&doctor::line(one))),
        Err(error) => Output::complain(&format!("the doctor cannot look: {error:#}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn the_doctor_is_asked_when_time_ran_out_or_something_has_failed() {
        let late = || anyhow::Error::from(NotInTime::new("a is not gone", Duration::from_secs(1)));
        assert!(has_not_ended(&late()));
        assert!(has_not_ended(&late().context("the operator was not removed")));
        assert!(has_not_ended(&Failed("InstallPlan a has failed".to_owned()).into()));
        assert!(!has_not_ended(&anyhow!("cannot delete a")));
    }
}
