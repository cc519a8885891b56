//! `approve`: shows all that an InstallPlan installs, asks, approves exactly that, and follows it.

use std::io::{BufRead, IsTerminal, stderr, stdin};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use olm_client::acts::{self, ReviewedPlan, difference};
use olm_client::cluster::{Cluster, one_namespace};
use olm_plan::Observed;
use olm_plan::approval::{NotApprovable, PendingApproval, pending};
use olm_plan::observed::{name, namespace};
use olm_plan::preview::{Operation, Preview, PreviewRequest};
use olm_types::api::Subscription;

use super::act::writing;
use super::follow::follow_approved;
use super::observe;
use crate::Outcome;
use crate::args::{ApproveArgs, DryRun, Format, Operands};
use crate::output::{Kind, Output};
use crate::plan::{self, in_cluster};

/// Approves the plan that waits with a version of a package.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &ApproveArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let observed = observe(cluster, Some(home), false).await?;
    let found = pending(&observed, home, &asked.package, &asked.version);
    let own = found.map_err(|cause| anyhow::anyhow!(refusal(asked, home, &cause)))?;
    let preview = shown(cluster, &observed, &own, asked).await;
    let approval = named(&own, preview.as_ref());
    let is_text = matches!(output.format(), Format::Table | Format::Wide);
    if is_text {
        output.print(&describe(&approval, preview.as_ref()))?;
    }
    if let Some(hash) = &asked.plan_hash {
        // That of the InstallPlan says the same, without what it would make of the cluster.
        ensure!(
            [&approval.plan_hash, &own.plan_hash].contains(&hash),
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

/// The plan of the upgrade that the InstallPlan makes, as `plan upgrade` shows it; none where that is something else
/// by now, or cannot be read.
async fn shown(
    cluster: &Cluster,
    observed: &Observed,
    approval: &PendingApproval,
    asked: &ApproveArgs,
) -> Option<Preview> {
    let plan = &approval.install_plan;
    match previewed(cluster, observed, approval, asked).await {
        Ok(Some(preview)) => return Some(preview),
        Ok(None) => Output::complain(&format!(
            "warning: an upgrade would do something else by now than InstallPlan {plan} does; its own steps count"
        )),
        Err(error) => Output::complain(&format!(
            "warning: what InstallPlan {plan} makes of the cluster cannot be shown ({error:#}); its own steps count"
        )),
    }
    None
}

async fn previewed(
    cluster: &Cluster,
    observed: &Observed,
    approval: &PendingApproval,
    asked: &ApproveArgs,
) -> Result<Option<Preview>> {
    let home = approval.namespace.as_str();
    let plan = observed.install_plan(home, &approval.install_plan).context("it is gone")?;
    let is_own = |one: &&Subscription| {
        namespace(&one.metadata) == home
            && one.spec.name == asked.package
            && observed
                .plan_of(one)
                .is_some_and(|found| name(&found.metadata) == name(&plan.metadata))
    };
    let subscription = observed.subscriptions.iter().find(is_own).context("nothing asks for it")?;
    let operator = name(&subscription.metadata).to_owned();
    let wanted = Operation::Upgrade { operator, to: None, channel: None };
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let question =
        PreviewRequest { namespace: home.to_owned(), settings, now: Timestamp::now(), wanted };
    let preview = in_cluster(cluster, &question, &asked.reading).await?;
    Ok(difference(plan, &preview.hops).is_none().then_some(preview))
}

/// An approval with the hash of the plan that is shown.
fn named(own: &PendingApproval, preview: Option<&Preview>) -> PendingApproval {
    let hash = preview.map_or(&own.plan_hash, |preview| &preview.plan_hash);
    PendingApproval { plan_hash: hash.clone(), ..own.clone() }
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
fn may_write(asked: &ApproveArgs) -> Result<bool> {
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
    let (name, resource_version) = (&approval.install_plan, &approval.resource_version);
    let looked = ReviewedPlan { namespace: home, name, resource_version };
    ensure!(
        acts::approve(cluster, looked, writing(dry_run)).await?,
        "InstallPlan {name} has changed since it was shown; look again"
    );
    Ok(())
}

fn describe(approval: &PendingApproval, preview: Option<&Preview>) -> String {
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
    match preview {
        Some(preview) => text + &plan::describe(preview, Operands::Keep),
        None => text + &format!("plan hash {}\n", approval.plan_hash),
    }
}

fn refusal(asked: &ApproveArgs, home: &str, cause: &NotApprovable) -> String {
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

    fn approval() -> PendingApproval {
        let approved = Approved {
            csv: "a.v1".to_owned(),
            version: Some("1.0.0".to_owned()),
            replaces: None,
            subscriptions: vec!["a".to_owned()],
        };
        PendingApproval {
            namespace: "ns".to_owned(),
            install_plan: "p".to_owned(),
            resource_version: "1".to_owned(),
            approves: vec![approved],
            objects: [("Service".to_owned(), 2)].into(),
            plan_hash: "h".to_owned(),
        }
    }

    #[test]
    fn the_schema_describes_an_approval() {
        assert_described(Kind::Approval, &approval());
    }

    #[test]
    fn an_approval_has_the_hash_of_the_plan_that_is_shown() {
        let own = approval();
        let alone = describe(&named(&own, None), None);
        assert!(
            alone.contains("a.v1 (version 1.0.0)") && alone.ends_with("plan hash h\n"),
            "{alone}"
        );
        let preview = Preview { action: "upgrade", ..Preview::default() }.hashed();
        let shown = named(&own, Some(&preview));
        assert_eq!(shown.plan_hash, preview.plan_hash);
        let text = describe(&shown, Some(&preview));
        assert!(text.ends_with(&format!("plan hash {}\n", preview.plan_hash)), "{text}");
        assert_eq!(text.matches("plan hash").count(), 1, "{text}");
    }
}
