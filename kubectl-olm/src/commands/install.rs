//! `install` and `upgrade`: show the plan, ask, write, and follow until the operator has succeeded.

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use olm_client::acts::{expected, follow_channel, needs_approval};
use olm_client::cluster::{Cluster, one_namespace};
use olm_plan::preview::{Operation, Preview, PreviewRequest};

use super::act::{agreed, create, writing};
use super::follow::{Follow, current};
use super::plan::{install, outcome, show, verdict};
use crate::Outcome;
use crate::args::{DryRun, Format, InstallArgs, Operands, UpgradeArgs, WriteArgs};
use crate::output::Output;
use crate::plan::{Origin, TargetNamespace, in_cluster, installation};

/// Of a plan that shows no bundle of the package.
const NOTHING: &str = "the plan installs nothing of the package";

/// Installs a package.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &InstallArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let question = |namespace: &str| {
        let global = &settings.global_namespace;
        let wanted = install(&asked.package, &asked.subscribing, namespace, global);
        let (settings, now, wanted) =
            (settings.clone(), Timestamp::now(), Operation::Install(wanted));
        PreviewRequest { namespace: namespace.to_owned(), settings, now, wanted }
    };
    let home = TargetNamespace { name: home, is_named: cluster.is_named };
    let preview = installation(Origin::Cluster(cluster), home, question, &asked.reading).await?;
    if matches!(output.format(), Format::Yaml | Format::Json) {
        verdict(&preview)?;
        output.manifests(&preview.manifests)?;
        return Ok(outcome(&preview));
    }
    if !shown(&preview, output)? || asked.acting.dry_run == DryRun::Client {
        return Ok(outcome(&preview));
    }
    if !agreed(&asked.acting, &preview)? {
        return Ok(outcome(&preview));
    }
    let dry_run = asked.acting.dry_run == DryRun::Server;
    for manifest in &preview.manifests {
        create(cluster, manifest, dry_run, output).await?;
    }
    let expected = expected(&preview).context(NOTHING)?;
    let follow = Follow { cluster, preview: &preview, expected, left: None };
    follow.go(&asked.acting, output).await?;
    Ok(outcome(&preview))
}

/// Upgrades what a Subscription has installed.
pub async fn upgrade(
    cluster: &Cluster,
    all: bool,
    asked: &UpgradeArgs,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let wanted = Operation::Upgrade {
        operator: asked.operator.clone(),
        to: asked.to.clone(),
        channel: asked.channel.clone(),
    };
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let question =
        PreviewRequest { namespace: home.to_owned(), settings, now: Timestamp::now(), wanted };
    let preview = in_cluster(cluster, &question, &asked.reading).await?;
    if !shown(&preview, output)? || asked.acting.dry_run == DryRun::Client {
        return Ok(outcome(&preview));
    }
    ensure!(
        asked.to.is_none() || needs_approval(&preview),
        "an Automatic Subscription is upgraded as far as its channel goes, not to a version"
    );
    if !agreed(&asked.acting, &preview)? {
        return Ok(outcome(&preview));
    }
    let left = match &asked.channel {
        Some(channel) => changed(cluster, &preview, channel, &asked.acting, output).await?,
        None => None,
    };
    match (expected(&preview), &asked.channel) {
        (Some(expected), _) => {
            let follow = Follow { cluster, preview: &preview, expected, left: left.as_deref() };
            follow.go(&asked.acting, output).await?;
        }
        (None, Some(channel)) => {
            let package = &preview.package;
            output.progress(&format!("Nothing newer of {package} is in channel {channel}.\n"))?;
        }
        (None, None) => bail!(NOTHING),
    }
    Ok(outcome(&preview))
}

/// Lets a Subscription follow another channel. The InstallPlan that it pointed at before.
async fn changed(
    cluster: &Cluster,
    preview: &Preview,
    channel: &str,
    acting: &WriteArgs,
    output: Output,
) -> Result<Option<String>> {
    let (name, dry_run) = (&preview.subscription, acting.dry_run == DryRun::Server);
    let left = current(cluster, preview).await?;
    let place = (preview.namespace.as_str(), name.as_str());
    follow_channel(cluster, place, channel, writing(dry_run)).await?;
    let how = if dry_run { " (server dry run)" } else { "" };
    output.progress(&format!("Subscription {name} follows channel {channel}{how}.\n"))?;
    Ok(left)
}

/// Shows a plan. Whether there is anything to do.
///
/// # Errors
/// The plan has problems.
fn shown(preview: &Preview, output: Output) -> Result<bool> {
    show(preview, Operands::Keep, output)?;
    verdict(preview)?;
    if preview.has_changes() {
        return Ok(true);
    }
    Output::complain("There is nothing to do.");
    Ok(false)
}
