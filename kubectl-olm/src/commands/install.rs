//! `install` and `upgrade`: show the plan, ask, write, and follow until the operator has succeeded.

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use olm_client::cluster::{Cluster, one_namespace};
use olm_client::plan::on_cluster;
use olm_plan::preview::{Asked, Preview, Wanted};
use olm_types::api::{Approval, Subscription};
use olm_types::gvk::Gvk;
use serde_json::{Value, json};

use super::act::{MANAGER, agreed};
use super::follow::follow;
use super::plan::{install, outcome, show, verdict};
use crate::Outcome;
use crate::args::{DryRun, Format, Installing, Operands, Upgrading};
use crate::output::Output;
use crate::plan::{Home, installation};

/// Installs a package.
pub async fn run(
    cluster: &Cluster,
    all: bool,
    asked: &Installing,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let question = |namespace: &str| {
        let global = &settings.global_namespace;
        let wanted = install(&asked.package, &asked.subscribing, namespace, global);
        let (settings, now, wanted) = (settings.clone(), Timestamp::now(), Wanted::Install(wanted));
        Asked { namespace: namespace.to_owned(), settings, now, wanted }
    };
    let home = Home { name: home, is_named: cluster.is_named };
    let preview = installation(Some(cluster), home, question, &asked.reading).await?;
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
    if dry_run || !asked.acting.following.wait {
        return Ok(outcome(&preview));
    }
    let expected = expected(&preview)?;
    follow(cluster, &preview, &expected, asked.acting.following.timeout).await?;
    output.progress(&format!("{expected} has succeeded.\n"))?;
    Ok(outcome(&preview))
}

/// Upgrades what a Subscription has installed.
pub async fn upgrade(
    cluster: &Cluster,
    all: bool,
    asked: &Upgrading,
    output: Output,
) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let wanted = Wanted::Upgrade {
        operator: asked.operator.clone(),
        to: asked.to.clone(),
        channel: asked.channel.clone(),
    };
    let settings = cluster.settings(asked.reading.sources.olm_namespace.as_deref()).await?;
    let question = Asked { namespace: home.to_owned(), settings, now: Timestamp::now(), wanted };
    let preview = on_cluster(cluster, &question, &asked.reading).await?;
    if !shown(&preview, output)? || asked.acting.dry_run == DryRun::Client {
        return Ok(outcome(&preview));
    }
    ensure!(
        asked.to.is_none() || is_manual(&preview),
        "an Automatic Subscription is upgraded as far as its channel goes, not to a version"
    );
    if !agreed(&asked.acting, &preview)? {
        return Ok(outcome(&preview));
    }
    let dry_run = asked.acting.dry_run == DryRun::Server;
    if let Some(channel) = &asked.channel {
        let patch = Patch::Merge(json!({"spec": {"channel": channel}}));
        let field_manager = Some(MANAGER.to_owned());
        let parameters = PatchParams { field_manager, dry_run, ..PatchParams::default() };
        let api: Api<Subscription> = cluster.api(Some(home));
        let written = cluster.answer(api.patch(&preview.subscription, &parameters, &patch)).await;
        written.with_context(|| format!("cannot change Subscription {}", preview.subscription))?;
    }
    if dry_run || !asked.acting.following.wait {
        return Ok(outcome(&preview));
    }
    let expected = expected(&preview)?;
    follow(cluster, &preview, &expected, asked.acting.following.timeout).await?;
    output.progress(&format!("{expected} has succeeded.\n"))?;
    Ok(outcome(&preview))
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

fn is_manual(preview: &Preview) -> bool {
    preview.hops.iter().any(|hop| hop.approval == Approval::Manual.as_str())
}

/// The CSV that the Subscription has at last.
fn expected(preview: &Preview) -> Result<String> {
    let bundles = preview.hops.iter().rev().flat_map(|hop| &hop.bundles);
    let own = bundles.into_iter().find(|bundle| bundle.package == preview.package);
    own.map(|bundle| bundle.csv.clone()).context("the plan installs nothing of the package")
}

/// Creates an object that a manifest describes.
pub(super) async fn create(
    cluster: &Cluster,
    manifest: &Value,
    dry_run: bool,
    output: Output,
) -> Result<()> {
    let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
    let (kind, name) = (text("/kind"), text("/metadata/name"));
    let gvk = Gvk::from_api_version(text("/apiVersion"), kind);
    let resource = ApiResource {
        group: gvk.group.clone(),
        version: gvk.version.clone(),
        api_version: gvk.api_version(),
        kind: gvk.kind.clone(),
        plural: kind.to_lowercase() + "s",
    };
    let client = cluster.client.clone();
    let api: Api<DynamicObject> = match text("/metadata/namespace") {
        "" => Api::all_with(client, &resource),
        namespace => Api::namespaced_with(client, namespace, &resource),
    };
    let object: DynamicObject = serde_json::from_value(manifest.clone())?;
    let parameters = PostParams { dry_run, field_manager: Some(MANAGER.to_owned()) };
    let created = cluster.answer(api.create(&parameters, &object)).await;
    created.with_context(|| format!("cannot create {kind} {name}"))?;
    let how = if dry_run { " (server dry run)" } else { "" };
    output.progress(&format!("{}/{name} created{how}\n", kind.to_lowercase()))
}
