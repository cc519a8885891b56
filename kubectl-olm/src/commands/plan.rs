//! `plan`: what an installation, an upgrade or a removal would do. Nothing is written.

use anyhow::Result;
use jiff::Timestamp;
use olm_client::cluster::{Cluster, one_namespace};
use olm_client::plan::read_state;
use olm_plan::preview::{Install, Operation, Preview, PreviewRequest};
use olm_plan::settings::Settings;
use olm_types::bundle::CatalogKey;

use crate::Outcome;
use crate::args::{Format, Operands, PlanArgs, Planned, SubscribeArgs};
use crate::output::{Kind, Output};
use crate::plan::{Applied, Origin, TargetNamespace, describe, installation, preview};

pub use olm_client::acts::verdict;

/// Shows what would happen on a cluster.
pub async fn run(cluster: &Cluster, all: bool, plan: &PlanArgs, output: Output) -> Result<Outcome> {
    let home = one_namespace(cluster, all)?;
    let reading = plan.planned.reading();
    let settings = cluster.settings(reading.sources.olm_namespace.as_deref()).await?;
    let home = TargetNamespace { name: home, is_named: cluster.is_named };
    let preview = previewed(Origin::Cluster(cluster), home, plan, &settings).await?;
    print(&preview, plan, output)
}

/// Shows what would happen, by files alone.
pub async fn run_offline(
    namespace: Option<&str>,
    plan: &PlanArgs,
    output: Output,
) -> Result<Outcome> {
    print(&offline(namespace, plan).await?, plan, output)
}

async fn offline(namespace: Option<&str>, plan: &PlanArgs) -> Result<Preview> {
    let reading = plan.planned.reading();
    let state = read_state(&reading.sources.state)?;
    let settings = reading.sources.settings(&state);
    let home =
        TargetNamespace { name: namespace.unwrap_or("default"), is_named: namespace.is_some() };
    previewed(Origin::Files(&state), home, plan, &settings).await
}

async fn previewed(
    origin: Origin<'_>,
    home: TargetNamespace<'_>,
    plan: &PlanArgs,
    settings: &Settings,
) -> Result<Preview> {
    let asked = |namespace: &str, wanted| PreviewRequest {
        namespace: namespace.to_owned(),
        settings: settings.clone(),
        now: Timestamp::now(),
        wanted,
    };
    let reading = plan.planned.reading();
    let (home, wanted) = match &plan.planned {
        Planned::Install { package, subscribing, .. } => {
            let global = &settings.global_namespace;
            let install = |home: &str| install(package, subscribing, home, global);
            let asked = |home: &str| asked(home, Operation::Install(install(home)));
            return installation(origin, home, asked, reading).await;
        }
        Planned::Apply { filename, field_manager, .. } => {
            let Applied { namespace, manifests } = Applied::read(filename, home)?;
            (namespace, Operation::Apply { manifests, field_manager: field_manager.clone() })
        }
        Planned::Upgrade { operator, to, channel, .. } => {
            let (operator, to, channel) = (operator.clone(), to.clone(), channel.clone());
            (home.name.to_owned(), Operation::Upgrade { operator, to, channel })
        }
        Planned::Uninstall { operator, .. } => {
            (home.name.to_owned(), Operation::Uninstall { operator: operator.clone() })
        }
    };
    preview(origin, &asked(&home, wanted), reading).await
}

/// The Subscription that flags describe.
pub fn install(package: &str, flags: &SubscribeArgs, home: &str, global: &str) -> Install {
    let catalog = flags.source.as_ref().map(|source| match source.split_once('/') {
        Some((namespace, name)) => CatalogKey::new(namespace, name),
        None => {
            let namespace = flags.source_namespace.as_deref().unwrap_or(global);
            CatalogKey::new(if namespace.is_empty() { home } else { namespace }, source)
        }
    });
    Install {
        package: package.to_owned(),
        channel: flags.channel.clone(),
        version: flags.version.clone(),
        catalog,
        is_manual: flags.approval == crate::args::Approving::Manual,
        install_mode: flags.install_mode.clone(),
        config: None,
    }
}

fn print(preview: &Preview, plan: &PlanArgs, output: Output) -> Result<Outcome> {
    show(preview, Operands::Keep, output)?;
    verdict(preview)?;
    Ok(match outcome(preview) {
        Outcome::Fine if plan.detailed_exitcode && preview.has_changes() => Outcome::Findings,
        outcome => outcome,
    })
}

/// Prints a plan in the form that was asked for, with what becomes of custom resources.
///
/// # Errors
/// The form is none of a plan, or standard output cannot be written.
pub fn show(preview: &Preview, operands: Operands, output: Output) -> Result<()> {
    match output.format() {
        Format::Table | Format::Wide => output.print(&describe(preview, operands)),
        _ => output.object(Kind::Plan, preview),
    }
}

/// Whether all was read that a plan depends on.
pub fn outcome(preview: &Preview) -> Outcome {
    if preview.unknown.is_empty() { Outcome::Fine } else { Outcome::Incomplete }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clap::Parser;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::args::{Cli, Command};

    const CATALOG: [&str; 3] = [
        r#"{"schema": "olm.package", "name": "tea", "defaultChannel": "stable"}"#,
        r#"{"schema": "olm.channel", "name": "stable", "package": "tea", "entries": [{"name": "tea.v1"}]}"#,
        r#"{"schema": "olm.bundle", "name": "tea.v1", "package": "tea", "image": "tea:1", "properties": [{"type":
            "olm.package", "value": {"packageName": "tea", "version": "1.0.0"}}]}"#,
    ];

    /// What `plan install tea` comes to with a catalog of namespace `market`, and these objects.
    fn of_files(objects: &[Value], source: &str) -> Result<Preview> {
        let folder = tempfile::tempdir()?;
        let [catalog, state] = ["catalog", "state.json"].map(|name| folder.path().join(name));
        fs::create_dir(&catalog)?;
        fs::write(catalog.join("catalog.json"), CATALOG.join("\n"))?;
        fs::write(&state, json!({"kind": "List", "items": objects}).to_string())?;
        let (catalog, state) =
            (format!("market/kitchen={}", catalog.display()), state.display().to_string());
        let files = ["--offline", "--catalog", &catalog, "--state", &state, "--source", source];
        let words = [&["kubectl-olm", "plan", "install", "tea"], &files[..]].concat();
        let Command::Plan(plan) = Cli::try_parse_from(words)?.command else {
            panic!("another command")
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        runtime.block_on(offline(Some("home"), &plan))
    }

    /// The namespace of global catalogs is that of the programs whose Deployments the files hold.
    #[rstest]
    #[case::as_its_programs_say(&["catalog-operator"], "kitchen", true)]
    #[case::of_v0(&["catalog-operator", "packageserver"], "kitchen", true)]
    #[case::unknown(&[], "kitchen", false)]
    #[case::named(&[], "market/kitchen", true)]
    fn a_catalog_without_a_namespace_is_a_global_one(
        #[case] programs: &[&str],
        #[case] source: &str,
        #[case] is_found: bool,
    ) {
        let program = |app: &&str| {
            json!({"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": app, "namespace": "market", "labels": {"app": app}},
                "spec": {"selector": {}, "template": {"spec": {"containers": [
                    {"name": "c", "args": ["--namespace=market"]}]}}}})
        };
        let objects: Vec<Value> = programs.iter().map(program).collect();
        let found = of_files(&objects, source);
        if is_found {
            let manifests = found.unwrap().manifests;
            let made = manifests.iter().find(|one| one["kind"] == "Subscription").unwrap();
            assert_eq!(made["spec"]["sourceNamespace"], "market");
            assert_eq!(made["metadata"]["namespace"], "home");
        } else {
            let error = found.unwrap_err().to_string();
            assert!(
                error.contains("is olm/kitchen and") && error.contains("market/kitchen"),
                "{error}"
            );
        }
    }

    #[test]
    fn what_was_not_read_makes_a_plan_incomplete() {
        assert_eq!(outcome(&Preview::default()), Outcome::Fine);
        let unknown = vec!["bundle image i".to_owned()];
        assert_eq!(outcome(&Preview { unknown, ..Preview::default() }), Outcome::Incomplete);
    }

    #[test]
    fn a_plan_has_no_other_form_than_text_and_objects() {
        let refused = show(&Preview::default(), Operands::Keep, Output::new(Format::Name));
        let error = refused.unwrap_err().to_string();
        assert!(error.contains("-o name is not for this command"), "{error}");
    }
}
