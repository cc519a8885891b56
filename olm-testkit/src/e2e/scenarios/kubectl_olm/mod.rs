//! `kubectl olm` as its users run it: the real program against the cluster, without a terminal.

mod bad_input;
mod completion;
pub(super) mod console;
pub(super) mod console_acts;
pub(super) mod console_hosted;
mod console_live;
pub(super) mod console_login;
mod doctor;
mod images;
mod install;
mod looks;
mod plan;
mod program;

use std::sync::Arc;

use anyhow::{Result, ensure};
use olm_types::api::{Approval, InstallPlan, InstallPlanPhase, Subscription};
use serde_json::json;
use tokio::time::Instant;

use crate::builders;
use crate::e2e::scenarios::upgrades::{kettle, kettles, stable};
use crate::e2e::{Need, Scenario, TestContext, scenario};
use crate::wait;
pub(crate) use plan::same_steps;
pub(crate) use program::Program;

/// What running a bundle needs: Pods for its catalog, its image and its operator.
const OF_AN_AUTHOR: [Need; 5] =
    [Need::Containers, Need::Workload, Need::OlmPods, Need::Registry, Need::Kubectl];

pub(super) const OLD: &str = "kettle.v1.0.0";
pub(super) const NEW: &str = "kettle.v1.1.0";

/// The scenarios of this folder.
pub(super) fn all() -> Vec<Scenario> {
    let consoles = [console(), console_live(), console_acts(), console_hosted()];
    commands().into_iter().chain(looks()).chain(consoles).collect()
}

fn looks() -> [Scenario; 2] {
    let looks = scenario(
        "kubectl_olm::looks",
        "kubectl olm finds a package, draws its graph, and shows of an operator and its dependency what is \
         installed, who needs whom, custom resources, and the rights that another version lacks",
        looks::at_everything,
    );
    let completion = scenario(
        "kubectl_olm::completion",
        "kubectl completes commands and flags of kubectl olm by the program that completion prints",
        completion::by_kubectl,
    );
    [looks.needs(&[Need::Kubectl]), completion.needs(&[Need::Kubectl])]
}

fn console() -> Scenario {
    scenario(
        "kubectl_olm::console",
        "kubectl olm console shows the catalog, a package with its graph, what is installed, a plan that waits \
         and the doctor's findings to the browser that opened the printed address, and to no other caller",
        console::pages,
    )
    .needs(&[Need::Kubectl])
}

fn console_acts() -> Scenario {
    scenario(
        "kubectl_olm::console_acts",
        "the console installs, approves, upgrades, creates a custom resource and removes as it has shown, refuses what \
         has changed, comes from elsewhere or has no token, and says why not to who may only look",
        console_acts::acts,
    )
    .needs(&[Need::Kubectl])
}

fn console_live() -> Scenario {
    scenario(
        "kubectl_olm::console_live",
        "a page of the console is sent that a Subscription has come, says what it may not watch, and is refused \
         beyond fifty pages until one is closed",
        console_live::events,
    )
    .needs(&[Need::Kubectl])
}

fn console_hosted() -> Scenario {
    scenario(
        "kubectl_olm::console_hosted",
        "the console of a cluster shows each user who logs in with a token what he may see, and refuses wrong and \
         expired tokens, names of users in headers, and other names and sites",
        console_hosted::logged_in,
    )
    .needs(&[Need::Kubectl])
}

fn commands() -> Vec<Scenario> {
    vec![
        scenario(
            "kubectl_olm::approve",
            "kubectl olm approves the version that was shown, and nothing else",
            approve,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::hostile_text",
            "kubectl olm prints no escape sequence of a package's name, and its JSON keeps it",
            hostile_text,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::bad_input",
            "kubectl olm says soon and clearly that no API server answers and what may not be read, and prints \
             no escape sequence of a package's description or icon",
            bad_input::bad_input,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::doctor",
            "kubectl olm doctor finds a missing OperatorGroup and a plan that waits, each fix as it is \
             printed repairs it, and nothing is found of a healthy operator",
            doctor::finds_and_repairs,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::plan",
            "kubectl olm plan shows an installation, an upgrade and a removal: InstallPlans have the steps that \
             were shown, and every object comes or goes as it was shown",
            plan::comes_true,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::install",
            "kubectl olm installs, upgrades and removes an operator as it has shown, with and without waiting for the \
             end, and writes nothing before that is agreed to",
            install::to_the_end,
        )
        .needs(&[Need::Kubectl]),
        scenario(
            "kubectl_olm::pods_and_images",
            "kubectl olm asks a catalog in its Pod through a port-forward, pulls bundle images, keeps both by \
             digest, and says what is missing without that right",
            images::of_pods_and_images,
        )
        .needs(&[Need::Containers, Need::Workload, Need::Registry, Need::Kubectl])
        // It counts the catalogs that are read.
        .makes_global_catalogs(),
        scenario(
            "kubectl_olm::run_bundle",
            "kubectl olm runs an operator from the folder of a bundle and from its image, and cleans up after it",
            images::of_an_author,
        )
        .needs(&OF_AN_AUTHOR),
    ]
}

/// Another version, another hash or no agreement change nothing. With the hash that was shown the
/// version is installed, and what is installed is listed.
async fn approve(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    waiting(&ctx).await?;
    let list = program.prints(&["list"]).await?;
    ensure!(list.starts_with("NAME") && list.contains("NeedsApproval"), "{list}");

    let hash = check_refusals(&program).await?;
    let approve = ["approve", "kettle", "1.0.0", "--yes", "--plan-hash", &hash];
    let tried = program.prints(&[&approve[..], &["--dry-run=server"]].concat()).await?;
    ensure!(tried.contains("approved (server dry run)"), "{tried}");
    let approved = program.run(&approve).await?;
    ensure!(approved.code == Some(0), "{approved:?}");
    ensure!(approved.printed.contains(&format!("{OLD} (version 1.0.0)")), "{approved:?}");
    ensure!(approved.printed.ends_with(&format!("{OLD} has succeeded.\n")), "{approved:?}");
    ensure!(approved.errors.contains(&format!("{OLD}: Succeeded")), "{approved:?}");
    ctx.succeeded(OLD).await?;
    let again = program.run(&approve).await?;
    again.failed_with("waits for approval, but this: kettle.v1.1.0").or_else(|_| {
        // The plan for the next version is not there yet.
        again.failed_with("waits for no approval")
    })?;
    check_installed(&ctx, &program).await
}

/// What is refused, and the hash that is shown.
async fn check_refusals(program: &Program) -> Result<String> {
    let other = program.run(&["approve", "kettle", "1.1.0", "--dry-run"]).await?;
    other.failed_with("version 1.1.0 of kettle waits for no approval, but this: kettle.v1.0.0")?;
    let stranger = program.run(&["approve", "stove", "1.0.0", "--dry-run"]).await?;
    stranger.failed_with("asks for the package stove")?;
    program.run(&["approve", "kettle", "1.0.0"]).await?.failed_with("--yes")?;
    program.run(&["approve", "kettle", "1.0.0", "--yes"]).await?.failed_with("--plan-hash")?;
    let wrong = ["approve", "kettle", "1.0.0", "--yes", "--plan-hash", "0"];
    program.run(&wrong).await?.failed_with("the plan has changed")?;

    let shown = program.json(&["approve", "kettle", "1.0.0", "--dry-run"]).await?;
    ensure!(shown["kind"] == "Approval" && shown["approves"][0]["csv"] == OLD, "{shown}");
    ensure!(shown["objects"]["ClusterServiceVersion"] == 1, "{shown}");
    Ok(shown["planHash"].as_str().unwrap_or_default().to_owned())
}

async fn check_installed(ctx: &TestContext, program: &Program) -> Result<()> {
    ctx.installed("kettle", OLD).await?;
    let list = program.json(&["list"]).await?;
    let row = &list["items"][0];
    ensure!(row["version"] == "1.0.0" && row["approval"] == "Manual", "{list}");
    ensure!(row["channelHead"] == "1.1.0" && row["channel"] == "stable", "{list}");
    let names = program.prints(&["list", "-o", "name"]).await?;
    ensure!(names == "subscription.operators.coreos.com/kettle\n", "{names}");
    let tree = program.prints(&["status", "kettle"]).await?;
    for part in ["Subscription/kettle", "ClusterServiceVersion/kettle.v1.0.0", "Deployment/kettle"]
    {
        ensure!(tree.contains(part), "{part} is not in\n{tree}");
    }
    let events = program.prints(&["events", "kettle"]).await?;
    ensure!(events.contains("InstallSucceeded"), "{events}");
    let operands = program.json(&["operands", "kettle"]).await?;
    ensure!(operands["items"] == json!([]), "{operands}");
    completed(program).await?;
    let version = program.prints(&["version"]).await?;
    ensure!(version.contains("client: ") && version.contains("server: v1."), "{version}");
    program.survives_a_closed_pipe(&["list"]).await
}

/// Names come from the cluster, where it answers within the two seconds that a shell waits.
async fn completed(program: &Program) -> Result<()> {
    let deadline = Instant::now() + wait::TIMEOUT;
    loop {
        let names = program.prints(&["__complete", "--", "status", "ket"]).await?;
        ensure!(names.ends_with(":4\n"), "{names}");
        if names.starts_with("kettle\n") {
            return Ok(());
        }
        ensure!(Instant::now() < deadline, "the Subscription is not offered: {names}");
    }
}

/// A package's name comes from a user and may hold what moves a terminal's cursor.
async fn hostile_text(ctx: Arc<TestContext>) -> Result<()> {
    let program = Program::new(&ctx).await?;
    let package = "\u{1b}[2Jkettle\u{9b}31m";
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "none");
    package.clone_into(&mut subscription.spec.name);
    ctx.create(&subscription).await?;
    for format in ["table", "wide", "yaml", "json"] {
        let printed = program.prints(&["list", "-o", format]).await?;
        let acts = printed.chars().find(|c| c.is_control() && *c != '\n');
        ensure!(acts.is_none() && printed.contains("kettle"), "{format}: {printed:?}");
    }
    let list = program.json(&["list"]).await?;
    ensure!(list["items"][0]["package"] == package, "{list}");
    let missing = program.run(&["status", package]).await?;
    ensure!(missing.code == Some(0), "it is found by its name: {missing:?}");
    let missing = program.run(&["status", "\u{1b}[2J"]).await?;
    missing.failed_with("no Subscription is named")?;
    ensure!(!missing.errors.contains('\u{1b}'), "{missing:?}");
    Ok(())
}

/// A plan that waits for its approval.
async fn waiting(ctx: &TestContext) -> Result<()> {
    ctx.operator_group().await?;
    subscribe(ctx).await?;
    waiting_plan(ctx, "kettle").await.map(drop)
}

/// Two versions, and a Manual Subscription that starts with the first.
pub(super) async fn subscribe(ctx: &TestContext) -> Result<()> {
    let kind = kettles(ctx);
    let versions = [kettle("1.0.0", &kind), kettle("1.1.0", &kind).replaces(OLD)];
    ensure!(versions[1].name() == NEW, "the versions have other names");
    ctx.catalog("kitchen", &stable(&versions)).await?;
    let mut subscription = builders::subscription(&ctx.namespace, "kettle", "stable", "kitchen");
    subscription.spec.install_plan_approval = Some(Approval::Manual);
    subscription.spec.starting_csv = Some(OLD.to_owned());
    ctx.create(&subscription).await.map(drop)
}

/// Waits until a plan waits for approval, and the Subscription points at it: before, it points at the one before.
pub(super) async fn waiting_plan(ctx: &TestContext, name: &str) -> Result<InstallPlan> {
    let here = format!("metadata.namespace={}", ctx.namespace);
    let plan = wait::until_some(&ctx.api(), &here, "wait for approval", |plan: &InstallPlan| {
        let phase = plan.status.as_ref().map(|status| status.phase);
        phase == Some(InstallPlanPhase::RequiresApproval)
    })
    .await?;
    let points = |subscription: &Subscription| {
        let status = subscription.status.as_ref();
        let reference = status.and_then(|status| status.install_plan_ref.as_ref());
        reference.is_some_and(|reference| reference.name == plan.metadata.name)
    };
    wait::until(&ctx.api(), name, "point at the plan", points).await?;
    Ok(plan)
}
