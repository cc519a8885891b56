//! What is wrong with one CSV is of no concern to the others of its namespace.

use std::sync::Arc;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallMode};
use serde_json::json;

use super::steps::untouched;
use crate::builders::{CsvBuilder, csv};
use crate::e2e::context::TestContext;
use crate::e2e::{Scenario, scenario};
use crate::wait;

/// The scenarios of this file.
pub(super) fn all() -> Vec<Scenario> {
    vec![scenario(
        "recovery::neighbours::garbage",
        "garbage of several sorts disturbs no neighbour",
        garbage,
    )]
}

/// Garbage of several sorts beside a running operator: each says what is wrong with it, the
/// operator runs on undisturbed and another one still installs. Garbage that is put right succeeds.
async fn garbage(ctx: Arc<TestContext>) -> Result<()> {
    let csv = ctx.install("neat", &ctx.kind("Neat")).await?;
    let deployment: Deployment = ctx.api().get("neat").await?;
    for (csv, phase, reason, says) in sorts() {
        let name = csv.manifest()["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        ctx.create(&csv.build()).await?;
        let what = format!("be {phase}/{reason} and say {says:?}");
        wait::until(&ctx.api(), &name, &what, |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| {
                let message = status.message.as_deref().unwrap_or_default();
                status.phase == phase
                    && status.reason.as_deref() == Some(reason)
                    && message.contains(says)
            })
        })
        .await?;
    }
    ctx.create(&plain("second").build()).await?;
    ctx.succeeded("second.v1.0.0").await?;
    untouched(&csv, &ctx.succeeded("neat.v1.0.0").await?)?;
    untouched(&deployment, &ctx.api().get("neat").await?)?;
    for name in ["strategy", "selector"] {
        let repair = json!({"spec": {"install": plain(name).manifest()["spec"]["install"]}});
        let name = format!("{name}.v1.0.0");
        ctx.edit::<ClusterServiceVersion>(&name, repair).await?;
        ctx.succeeded(&name).await?;
    }
    ctx.until_idle().await
}

/// Sorts of garbage, with the phase, the reason and a part of the message that follow.
fn sorts() -> Vec<(CsvBuilder, CsvPhase, &'static str, &'static str)> {
    use CsvPhase::{Failed, Pending};
    let invalid = "InvalidInstallStrategy";
    let both = json!([{
        "apiGroups": [""], "resources": ["pods"], "nonResourceURLs": ["/"], "verbs": ["get"],
    }]);
    let twice = |csv: &mut ClusterServiceVersion| {
        let mode = InstallMode { type_: "OwnNamespace".to_owned(), supported: true };
        csv.spec.install_modes.push(mode);
    };
    vec![
        (
            plain("strategy").with(|csv| csv.spec.install.strategy = "magic".to_owned()),
            Failed,
            invalid,
            "install strategy invalid: ",
        ),
        (plain("rule").permission("default", both), Failed, invalid, "rule invalid: "),
        (plain("modes").with(twice), Failed, "InvalidInstallModes", "InstallMode list"),
        (
            plain("kube").with(|csv| csv.spec.min_kube_version = Some("soon".to_owned())),
            Pending,
            "RequirementsNotMet",
            "one or more requirements couldn't be found",
        ),
        (
            plain("selector")
                .deployments(|spec| spec["selector"]["matchLabels"]["app"] = json!("another")),
            Failed,
            "InstallComponentFailed",
            "`selector` does not match template `labels`",
        ),
    ]
}

fn plain(name: &str) -> CsvBuilder {
    csv(&format!("{name}.v1.0.0"), "1.0.0").deployment(name, "default")
}
