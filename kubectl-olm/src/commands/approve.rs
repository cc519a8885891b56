//! `approve`: shows all that an InstallPlan installs, asks, approves exactly that, and follows it.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use anyhow::{Context, Result, bail, ensure};
use kube::api::{Patch, PatchParams};
use olm_client::cluster::{Cluster, one_namespace};
use olm_plan::approval::{NotApprovable, PendingApproval, pending};
use olm_types::api::InstallPlan;
use serde_json::json;

use super::act::MANAGER;
use super::follow::follow_approved;
use super::observe;
use crate::Outcome;
use crate::args::{Approve, DryRun, Format};
use crate::output::{Kind, Output};

/// Approves the plan that waits with a version of a package.
pub async fn run(cluster: &Cluster, all: bool, asked: &Approve, output: Output) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let observed = observe(cluster, Some(home), false).await?;
    let found = pending(&observed, home, &asked.package, &asked.version);
    let approval = found.map_err(|cause| anyhow::anyhow!(refusal(asked, home, &cause)))?;
    let description = describe(&approval);
    let is_text = matches!(output.format(), Format::Table | Format::Wide);
    if is_text {
        output.print(&description)?;
    }
    if let Some(hash) = &asked.plan_hash {
        ensure!(
            *hash == approval.plan_hash,
            "the plan has changed: its hash is {}, not {hash}",
            approval.plan_hash
        );
    }
    if asked.dry_run == DryRun::Client {
        if !is_text {
            output.object(Kind::Approval, &approval)?;
        }
        return Ok(Outcome::Fine);
    }
    if !may_write(asked)? {
        Output::complain("Nothing was approved.");
        return Ok(Outcome::Fine);
    }
    let dry_run = asked.dry_run == DryRun::Server;
    write(cluster, home, &approval, dry_run).await?;
    print_approved(&approval, dry_run, output)?;
    if dry_run || !asked.following.wait {
        return Ok(Outcome::Fine);
    }
    follow_approved(cluster, &approval, asked.following.timeout).await?;
    if is_text {
        let lines = approval.approves.iter().map(|one| format!("{} has succeeded.\n", one.csv));
        output.print(&lines.collect::<String>())?;
    }
    Ok(Outcome::Fine)
}

fn print_approved(approval: &PendingApproval, dry_run: bool, output: Output) -> Result<()> {
    let plan = &approval.install_plan;
    let how = if dry_run { " (server dry run)" } else { "" };
    match output.format() {
        Format::Table | Format::Wide => {
            output.print(&format!("InstallPlan {plan} approved{how}.\n"))
        }
        Format::Name => output.print(&format!("installplan.operators.coreos.com/{plan}\n")),
        _ => output.object(Kind::Approval, approval),
    }
}

/// Whether the user agrees. Without a terminal both flags are the agreement: one to write at all,
/// one to what.
fn may_write(asked: &Approve) -> Result<bool> {
    if !stdin().is_terminal() {
        ensure!(asked.yes, "there is no terminal to ask on: --yes approves without a question");
        ensure!(
            asked.plan_hash.is_some(),
            "there is no terminal to ask on: --plan-hash says what is approved"
        );
    }
    if asked.yes {
        return Ok(true);
    }
    ensure!(
        stderr().is_terminal(),
        "there is no terminal to ask on: --yes approves without a question"
    );
    Output::complain("Approve all of this? Only `yes` does.");
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer).context("cannot read an answer")?;
    Ok(answer.trim() == "yes")
}

/// The version of the object that was shown is part of the write: one that has changed is refused.
async fn write(
    cluster: &Cluster,
    home: &str,
    approval: &PendingApproval,
    dry_run: bool,
) -> Result<()> {
    let patch = Patch::Merge(json!({
        "metadata": {"resourceVersion": approval.resource_version},
        "spec": {"approved": true},
    }));
    let api = cluster.api::<InstallPlan>(Some(home));
    let field_manager = Some(MANAGER.to_owned());
    let parameters = PatchParams { dry_run, field_manager, ..PatchParams::default() };
    let written = cluster.answer(api.patch(&approval.install_plan, &parameters, &patch)).await;
    match written {
        Ok(_) => Ok(()),
        Err(error) => match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Api(status)) if status.is_conflict() => {
                bail!(
                    "InstallPlan {} has changed since it was shown; look again",
                    approval.install_plan
                )
            }
            _ => {
                Err(error.context(format!("cannot approve InstallPlan {}", approval.install_plan)))
            }
        },
    }
}

fn describe(approval: &PendingApproval) -> String {
    let mut text = format!(
        "InstallPlan {} in namespace {} installs:\n",
        approval.install_plan, approval.namespace
    );
    for one in &approval.approves {
        let version = one.version.as_ref().map(|version| format!(" (version {version})"));
        let replaces = one.replaces.as_ref().map(|old| format!(", replaces {old}"));
        let asks = match one.subscriptions.is_empty() {
            true => ", as a dependency".to_owned(),
            false => format!(", for Subscription {}", one.subscriptions.join(", ")),
        };
        let parts = [version.unwrap_or_default(), replaces.unwrap_or_default(), asks].concat();
        text.push_str(&format!("  {}{parts}\n", one.csv));
    }
    let objects = approval.objects.iter().map(|(kind, count)| format!("{count} {kind}"));
    text.push_str(&format!("with {}\n", objects.collect::<Vec<_>>().join(", ")));
    text + &format!("plan hash {}\n", approval.plan_hash)
}

fn refusal(asked: &Approve, home: &str, cause: &NotApprovable) -> String {
    let package = &asked.package;
    match cause {
        NotApprovable::NoSubscription => {
            format!(
                "no Subscription in namespace {home} asks for the package {package}; -n names another"
            )
        }
        NotApprovable::NoPlan => format!(
            "there is no InstallPlan for {package} in namespace {home} yet; `kubectl olm status \
             {package}` shows how far it is"
        ),
        NotApprovable::NothingWaits { install_plan } => {
            format!("InstallPlan {install_plan} for {package} waits for no approval")
        }
        NotApprovable::OtherVersion { waiting } => {
            let waiting = waiting.join(", ");
            format!(
                "version {} of {package} waits for no approval, but this: {waiting}",
                asked.version
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use olm_plan::approval::Approved;

    use super::*;
    use crate::output::assert_described;

    #[test]
    fn the_schema_describes_an_approval() {
        let approved = Approved {
            csv: "a.v1".to_owned(),
            version: Some("1.0.0".to_owned()),
            replaces: None,
            subscriptions: vec!["a".to_owned()],
        };
        let approval = PendingApproval {
            namespace: "ns".to_owned(),
            install_plan: "p".to_owned(),
            resource_version: "1".to_owned(),
            approves: vec![approved],
            objects: [("Service".to_owned(), 2)].into(),
            plan_hash: "h".to_owned(),
        };
        assert_described(Kind::Approval, &approval);
    }
}
