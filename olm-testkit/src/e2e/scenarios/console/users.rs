//! The console of users with few rights, and of those whom nothing answers.

use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::api::rbac::v1::RoleBinding;
use olm_types::api::{CatalogSource, ClusterServiceVersion, Subscription};
use serde_json::json;

use super::kettle_catalog::{KettleCatalog, PAGES};
use super::opened::Opened;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::e2e::scenarios::kubectl_olm::{NEW, OLD};
use crate::operators::free_port;
use crate::wait;

/// What the page of an operator offers.
const ACTS: [&str; 3] = ["act-plan", "act-upgrade", "act-remove"];

/// What of it an editor may: OLM gives him no right to approve an InstallPlan, as v0 does not.
const EDITS: [&str; 2] = ["act-plan", "act-remove"];

/// Each of them.
pub(super) async fn see(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kettles = KettleCatalog::set_up(&ctx).await?;
    let [viewer, editor, stranger] =
        ["viewer", "editor", "stranger"].map(|user| format!("{}-{user}", ctx.namespace));
    give(&ctx, &viewer, "view").await?;
    give(&ctx, &editor, "edit").await?;
    let [catalog, folder, no_pull] = kettles.flags();
    let mut opened = Opened::start(&program, &[catalog, folder, no_pull, "--as", &viewer]).await?;
    reads(&opened).await.with_context(|| format!("as {viewer}"))?;
    may(&opened, &["act-plan"]).await.with_context(|| format!("as {viewer}"))?;
    opened = opened.instead(&program, &[catalog, folder, no_pull, "--as", &editor]).await?;
    reads(&opened).await.with_context(|| format!("as {editor}"))?;
    may(&opened, &EDITS).await.with_context(|| format!("as {editor}"))?;
    opened = opened.instead(&program, &["--as", &stranger]).await?;
    all_say(&opened, "not allowed").await?;
    opened = dead_catalog(&ctx, &program, opened).await?;
    // A port that was just given back has no listener.
    let server = format!("https://127.0.0.1:{}", free_port()?);
    opened = opened.instead(&program, &["--server", &server]).await?;
    all_say(&opened, "no answer").await?;
    opened = opened.instead(&program, &[catalog, folder, no_pull, "--as", &editor]).await?;
    removes(&ctx, &opened).await
}

/// What may be done is a link, and all else a button that cannot be used and says why.
async fn may(opened: &Opened, links: &[&str]) -> Result<()> {
    let why = "not allowed: you may not patch installplans.operators.coreos.com";
    opened.shows("/operator?name=kettle", &[why]).await?;
    for id in ACTS {
        let kind = if links.contains(&id) { "a[href]" } else { "button[disabled]" };
        let expression = format!("document.querySelector('{kind}#{id}')");
        opened.browser.until(&format!("have {id} as {kind}"), &expression).await?;
    }
    opened.is_calm("what may be done").await
}

/// An editor may delete what the operator is, and nothing of the cluster.
async fn removes(ctx: &TestContext, opened: &Opened) -> Result<()> {
    opened.shows("/remove?name=kettle", &["What becomes of custom resources", OLD]).await?;
    opened.browser.click("#remove-form button[value=remove]").await?;
    opened.browser.until("report what is gone", "document.querySelector('#removed')").await?;
    wait::until_gone(&ctx.api::<Subscription>(), "kettle").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), OLD).await?;
    opened.is_calm("a removal by an editor").await
}

/// Everything that a role in the namespace shows.
async fn reads(opened: &Opened) -> Result<()> {
    opened.shows("/catalog?q=kettle", &["1 package"]).await?;
    opened.shows("/package?name=kettle", &[OLD, NEW]).await?;
    opened.shows("/installed", &["1.0.0", "NeedsApproval"]).await?;
    opened.shows("/operator?name=kettle", &[OLD]).await?;
    opened.shows("/plan", &[NEW]).await?;
    opened.shows("/health", &["OLM013"]).await?;
    for (_, path) in PAGES {
        opened.open(path).await?;
        opened.is_calm(path).await?;
    }
    Ok(())
}

/// Pages that need the API server say so, and nothing else happens.
async fn all_say(opened: &Opened, what: &str) -> Result<()> {
    for path in [
        "/catalog",
        "/installed",
        "/installed?all=true",
        "/operator?name=kettle",
        "/plan",
        "/health",
    ] {
        opened.shows(path, &[what]).await?;
        opened.is_calm(path).await?;
    }
    opened.fits_a_phone(what).await
}

/// A catalog that is announced and serves nothing is a line of the page; what is installed is there.
async fn dead_catalog(ctx: &TestContext, program: &Program, opened: Opened) -> Result<Opened> {
    let port = free_port()?;
    let dead = format!("{}/dead=127.0.0.1:{port}", ctx.namespace);
    ctx.catalog_dies("kitchen").await?;
    let lost = |catalog: &CatalogSource| {
        let state = catalog.status.as_ref().and_then(|status| status.connection_state.as_ref());
        state.is_some_and(|state| state.last_observed_state != "READY")
    };
    wait::until(&ctx.api(), "kitchen", "lose its connection", lost).await?;
    let opened = opened.instead(program, &["--catalog", &dead, "--no-pull"]).await?;
    opened.shows("/installed", &["1.0.0"]).await?;
    opened.shows("/operator?name=kettle", &[OLD]).await?;
    opened.shows("/catalog", &["dead"]).await?;
    opened.shows("/health", &["OLM009"]).await?;
    opened.is_calm("a dead catalog").await?;
    ctx.catalog_returns("kitchen").await?;
    wait::until_connected(&ctx.api(), "kitchen").await?;
    Ok(opened)
}

/// Gives a user a role of Kubernetes in the namespace, to which OLM adds its kinds (deploy/base/user-roles.yaml).
async fn give(ctx: &TestContext, user: &str, role: &str) -> Result<()> {
    let group = "rbac.authorization.k8s.io";
    let binding: RoleBinding = serde_json::from_value(json!({
        "metadata": {"name": user, "namespace": ctx.namespace},
        "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": group, "kind": "User", "name": user}],
    }))?;
    ctx.create(&binding).await.map(drop)
}
