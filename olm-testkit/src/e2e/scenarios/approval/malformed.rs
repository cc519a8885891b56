//! Annotations that cannot be read: each Subscription says what is wrong, and stays as it was until that is mended.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::ListParams;
use olm_types::annotations::{APPROVE, FIRST_INSTALL, PAUSE, PIN, VERSION_RANGE};
use olm_types::api::{Approval, CatalogSource, ClusterServiceVersion, InstallPlan, Subscription};
use serde_json::json;

use super::apart::{manual, waiting};
use crate::builders::{Bundle, Package, csv};
use crate::e2e::context::TestContext;
use crate::e2e::scenarios::Program;
use crate::e2e::{Need, Scenario, scenario};

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![scenario(
        "approval::malformed",
        "each value that cannot be read is reported, and its Subscription stays as it was until that is mended",
        stays_as_it_was,
    )
    .needs(&[Need::Kubectl])]
}

/// An annotation that is wrong.
struct Mistake {
    /// Name of the Subscription and of its package.
    name: &'static str,
    annotation: (&'static str, &'static str),
    /// Part of what condition `AnnotationsInvalid` says besides the key.
    says: &'static str,
    /// Reason of condition `UpgradeHeld`, where the mistake holds everything back. Such a Subscription is
    /// Automatic, and each other one Manual.
    held: Option<&'static str>,
}

const fn holding(
    name: &'static str,
    annotation: (&'static str, &'static str),
    says: &'static str,
    reason: &'static str,
) -> Mistake {
    Mistake { name, annotation, says, held: Some(reason) }
}

const fn approving(
    name: &'static str,
    annotation: (&'static str, &'static str),
    says: &'static str,
) -> Mistake {
    Mistake { name, annotation, says, held: None }
}

const MISTAKES: [Mistake; 14] = [
    holding("pin-word", (PIN, "yes"), "has to be \"true\" or \"false\"", "MalformedValue"),
    holding("pin-capital", (PIN, "True"), "not \"True\"", "MalformedValue"),
    holding("pin-nothing", (PIN, "true"), "a CSV in spec.startingCSV", "MalformedValue"),
    holding("pause-word", (PAUSE, "yes"), "not \"yes\"; until then it pauses", "Paused"),
    holding("pause-empty", (PAUSE, ""), "not \"\"; until then it pauses", "Paused"),
    holding("range-word", (VERSION_RANGE, "latest"), "write one such as 1.2.0", "MalformedValue"),
    holding("range-sign", (VERSION_RANGE, "=>1.0.0"), "is no operator; there", "MalformedValue"),
    holding("range-dash", (VERSION_RANGE, "1.0.0 - 2.0.0"), ">=1.2.0 <=1.4.0", "MalformedValue"),
    holding("range-empty", (VERSION_RANGE, ""), "write a comparison such as", "MalformedValue"),
    approving("approve-word", (APPROVE, "Kettle"), "\"Kettle\" is none"),
    approving("approve-empty", (APPROVE, ""), "as in \"guestbook.v1.4.2\""),
    approving("approve-spaces", (APPROVE, "a.v1 b.v1"), "separated by commas"),
    approving("first-word", (FIRST_INSTALL, "automatic"), "has to be \"Automatic\""),
    approving("unknown", ("olm-rs.dev/aprove", "unknown.v1.0.0"), "is unknown; olm-rs.dev/ has"),
];

/// A sibling without a mistake: what comes for it shows that the namespace was resolved.
const SIBLING: &str = "jug";

const OLD: &str = "1.0.0";
const NEW: &str = "1.1.0";

/// Automatic Subscriptions keep what they have, and Manual ones wait, while there is a newer version. Once the mistake
/// is mended, each gets that one.
async fn stays_as_it_was(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    ctx.catalog("kitchen", &content(false)).await?;
    subscribe(&ctx).await?;
    for mistake in MISTAKES.iter().filter(|one| one.held.is_some()) {
        let (key, value) = mistake.annotation;
        annotate(&ctx, mistake, [(key, Some(value.to_owned()))].into()).await?;
    }
    for mistake in &MISTAKES {
        let reported = is_reported(&ctx, mistake).await;
        reported.with_context(|| format!("Subscription {}", mistake.name))?;
    }
    ctx.publish("kitchen", &content(true)).await?;
    ctx.at_latest(SIBLING, &csv_of(SIBLING, NEW)).await?;
    ctx.until_idle().await?;
    nothing_came(&ctx).await?;
    what_waits_is_shown(&ctx).await?;
    for mistake in &MISTAKES {
        mend(&ctx, mistake).await?;
    }
    for mistake in &MISTAKES {
        let newest = csv_of(mistake.name, NEW);
        ctx.succeeded(&newest).await?;
        ctx.at_latest(mistake.name, &newest).await?;
    }
    Ok(())
}

/// Automatic Subscriptions have the first version before the mistake, Manual ones have the mistake from the beginning.
async fn subscribe(ctx: &TestContext) -> Result<()> {
    ctx.subscribe(SIBLING, "kitchen").await?;
    for mistake in &MISTAKES {
        if mistake.held.is_some() {
            ctx.subscribe(mistake.name, "kitchen").await?;
            continue;
        }
        let (key, value) = mistake.annotation;
        let mut subscription = manual(ctx, mistake.name);
        subscription.annotations_mut().insert(key.to_owned(), value.to_owned());
        ctx.create(&subscription).await?;
    }
    let automatic = MISTAKES.iter().filter(|one| one.held.is_some()).map(|one| one.name);
    for name in automatic.chain([SIBLING]) {
        ctx.succeeded(&csv_of(name, OLD)).await?;
        ctx.at_latest(name, &csv_of(name, OLD)).await?;
    }
    Ok(())
}

/// Waits until the Subscription says what is wrong, and that it is held, or that its plan waits.
async fn is_reported(ctx: &TestContext, mistake: &Mistake) -> Result<()> {
    let (name, malformed) = (mistake.name, "MalformedValue");
    let invalid = ctx.condition(name, "AnnotationsInvalid", "True", malformed).await?;
    let message = invalid.message.unwrap_or_default();
    ensure!(message.contains(mistake.annotation.0), "{message}");
    ensure!(message.contains(mistake.says), "{message}");
    let Some(reason) = mistake.held else {
        let plan = waiting(ctx, name).await?;
        ensure!(plan.waits_for_approval(), "it is approved: {:?}", plan.spec);
        return Ok(());
    };
    ctx.condition(name, "UpgradeHeld", "True", reason).await?;
    ctx.condition(name, "Ready", "False", malformed).await?;
    ctx.condition(name, "Stalled", "True", malformed).await.map(drop)
}

/// There is what there was, and no plan for anything else is approved.
async fn nothing_came(ctx: &TestContext) -> Result<()> {
    let csvs: Vec<ClusterServiceVersion> = ctx.api().list(&ListParams::default()).await?.items;
    let found: BTreeSet<String> = csvs.iter().map(ResourceExt::name_any).collect();
    let held: Vec<&str> =
        MISTAKES.iter().filter(|one| one.held.is_some()).map(|one| one.name).collect();
    let mut expected: BTreeSet<String> = held.iter().map(|name| csv_of(name, OLD)).collect();
    expected.insert(csv_of(SIBLING, NEW));
    ensure!(found == expected, "there is {found:?}, not {expected:?}");
    let plans: Vec<InstallPlan> = ctx.api().list(&ListParams::default()).await?.items;
    for plan in plans {
        let names = &plan.spec.cluster_service_version_names;
        let was_asked_for = plan.spec.approval == Approval::Manual && plan.spec.approved;
        ensure!(!was_asked_for, "the plan for {names:?} is approved");
        let newer = held.iter().map(|name| csv_of(name, NEW)).find(|csv| names.contains(csv));
        ensure!(newer.is_none(), "there is a plan for {newer:?}");
    }
    Ok(())
}

/// `kubectl olm` shows the plan that waits, as an approval would be of that one, and not the newer version.
async fn what_waits_is_shown(ctx: &TestContext) -> Result<()> {
    let kitchen: CatalogSource = ctx.api().get("kitchen").await?;
    let catalog = format!("kitchen={}", kitchen.spec.address.unwrap_or_default());
    let program = Program::new(ctx).await?;
    for mistake in MISTAKES.iter().filter(|one| one.held.is_none()) {
        let upgrade = ["plan", "upgrade", mistake.name, "--catalog", &catalog];
        let shown = program.json(&upgrade).await?;
        let csv = &shown["hops"][0]["bundles"][0]["csv"];
        ensure!(*csv == csv_of(mistake.name, OLD), "{shown:#}");
    }
    Ok(())
}

/// Takes the annotation away. A Manual Subscription approves both versions in its place.
async fn mend(ctx: &TestContext, mistake: &Mistake) -> Result<()> {
    let mut annotations = BTreeMap::from([(mistake.annotation.0, None)]);
    if mistake.held.is_none() {
        let both = [OLD, NEW].map(|version| csv_of(mistake.name, version)).join(", ");
        annotations.insert(APPROVE, Some(both));
    }
    annotate(ctx, mistake, annotations).await
}

async fn annotate(
    ctx: &TestContext,
    mistake: &Mistake,
    annotations: BTreeMap<&str, Option<String>>,
) -> Result<()> {
    let patch = json!({"metadata": {"annotations": annotations}});
    ctx.edit::<Subscription>(mistake.name, patch).await.map(drop)
}

fn csv_of(name: &str, version: &str) -> String {
    format!("{name}.v{version}")
}

/// A package for each Subscription; the second version of each is there later.
fn content(is_newer: bool) -> Vec<Package> {
    let package = |name: &str| {
        let bundle = |version: &str| {
            let made = csv(&csv_of(name, version), version);
            Bundle::new(version, &made.deployment(&format!("{name}-manager"), "default"))
        };
        let newer = is_newer.then(|| bundle(NEW).replaces(&csv_of(name, OLD)));
        let versions = [bundle(OLD)].into_iter().chain(newer).collect();
        Package::new(name).channel("stable", versions)
    };
    MISTAKES.iter().map(|one| one.name).chain([SIBLING]).map(package).collect()
}
