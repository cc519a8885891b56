//! The whole way of an operator by a user who has a browser only.

use std::sync::Arc;

use anyhow::{Result, ensure};
use kube::api::Api;
use olm_types::api::{ClusterServiceVersion, Subscription};
use serde_json::json;

use super::opened::Opened;
use crate::e2e::TestContext;
use crate::e2e::scenarios::Program;
use crate::e2e::scenarios::kubectl_olm::console_acts::{MINE, kettle, kettle_api};
use crate::e2e::scenarios::kubectl_olm::{NEW, OLD, waiting_plan};
use crate::e2e::scenarios::upgrades::{kettles, stable};
use crate::wait;

/// Installs with a plan, approves, watches, upgrades, asks why there is nothing newer, creates a custom resource, and
/// removes all of it.
pub(super) async fn go(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let kind = kettles(&ctx);
    let [old, new] = ["1.0.0", "1.1.0"].map(|version| kettle(&ctx, version, &kind));
    let packages = stable(&[old, new.replaces(OLD)]);
    let content = ctx.content(&packages)?;
    let folder = format!("{}/kitchen={}", ctx.namespace, content.path().display());
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &packages).await?;
    let opened = Opened::start(&program, &["--catalog", &folder, "--no-pull"]).await?;
    install(&ctx, &opened).await?;
    approve(&ctx, &opened).await?;
    upgrade(&ctx, &opened).await?;
    create(&ctx, &opened).await?;
    remove(&ctx, &opened).await
}

/// From a search to a Subscription, by way of the plan.
async fn install(ctx: &TestContext, opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.shows("/catalog?q=kettle", &["1 package"]).await?;
    browser.click(".card a[href*='name=kettle']").await?;
    browser.click("#act-install").await?;
    browser.until("become the form", "document.querySelector('#install-form')").await?;
    browser.fill("#install-version", "1.0.0").await?;
    browser.fill("#install-namespace", &ctx.namespace).await?;
    browser.click("#mode-OwnNamespace").await?;
    browser.click("#approval-manual").await?;
    opened.fits_a_phone("the form").await?;
    browser.click("#install-form button[value=plan]").await?;
    for text in ["What it does", "Rights gained", OLD, "kind: Subscription"] {
        browser.until_shown(text).await?;
    }
    let subscriptions: Api<Subscription> = ctx.api();
    ensure!(subscriptions.get_opt("kettle").await?.is_none(), "a plan has installed something");
    browser.click("#install-confirm button[value=install]").await?;
    at(opened, "/operator").await?;
    let made = wait::until(&subscriptions, "kettle", "be there", |_| true).await?;
    ensure!(made.spec.starting_csv.as_deref() == Some(OLD), "{made:?}");
    opened.is_calm("an install").await
}

/// The InstallPlan that waits, and what comes of it, as it happens.
async fn approve(ctx: &TestContext, opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    waiting_plan(ctx, "kettle").await?;
    opened.shows("/plan?name=kettle", &[OLD, "Approve"]).await?;
    browser.click("#approve-form button[value=approve]").await?;
    at(opened, "/operator").await?;
    // The page is live, and shows it by itself.
    browser.until("be live", "document.getElementById('live')").await?;
    browser.until_shown("InstallSucceeded").await?;
    ctx.succeeded(OLD).await?;
    opened.is_calm("an approval").await
}

/// The next version, after which there is none.
async fn upgrade(ctx: &TestContext, opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    ctx.installed("kettle", OLD).await?;
    // Roles of its APIs come after a CSV has succeeded: a plan that was shown before is refused.
    ctx.until_idle().await?;
    opened.shows("/upgrade?name=kettle", &[NEW, "Hash of the plan"]).await?;
    browser.click("#upgrade-form button[value=upgrade]").await?;
    at(opened, "/operator").await?;
    ctx.succeeded(NEW).await?;
    ctx.at_latest("kettle", NEW).await?;
    opened.shows("/operator?name=kettle", &[NEW, "newest version of its channel"]).await?;
    opened.is_calm("an upgrade").await
}

/// The operator's own example, checked first.
async fn create(ctx: &TestContext, opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.shows("/create?name=kettle", &["litres: 2"]).await?;
    browser.click("#create-form button[value=check]").await?;
    browser.until("say what a check says", "document.querySelector('#checked')").await?;
    ensure!(kettle_api(ctx).get_opt(MINE).await?.is_none(), "a check has created something");
    browser.click("#create-form button[value=create]").await?;
    at(opened, "/operator").await?;
    let made = kettle_api(ctx).get(MINE).await?;
    ensure!(made.data["spec"] == json!({"litres": 2}), "{made:?}");
    let below = format!(
        "[...document.querySelectorAll('.tree ul ul strong')]\
        .some((one) => one.textContent === 'Kettle {MINE}')"
    );
    browser.until("show it below the CSV", &below).await?;
    opened.is_calm("a custom resource").await
}

/// All of it goes, with what users have made.
async fn remove(ctx: &TestContext, opened: &Opened) -> Result<()> {
    let browser = &opened.browser;
    opened.shows("/remove?name=kettle", &["There are 1 custom resources", NEW]).await?;
    browser.click("#operands-delete").await?;
    browser.click("#remove-form button[value=remove]").await?;
    browser.until("report what is gone", "document.querySelector('#removed')").await?;
    wait::until_gone(&ctx.api::<ClusterServiceVersion>(), NEW).await?;
    wait::until_gone(&ctx.api::<Subscription>(), "kettle").await?;
    ensure!(kettle_api(ctx).get_opt(MINE).await?.is_none(), "the custom resource is left");
    opened.is_calm("a removal").await
}

/// Waits until a form has led to another page.
async fn at(opened: &Opened, path: &str) -> Result<()> {
    let expression = format!("location.pathname === '{path}'");
    opened.browser.until(&format!("become {path}"), &expression).await
}
