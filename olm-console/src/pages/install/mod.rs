//! An installation: what is asked for, the plan of it, and the objects that begin it.

mod choice;

use anyhow::{Context, Result};
use askama::Template;
use axum::response::{IntoResponse, Response};
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{self, verdict};
use olm_client::cause;
use olm_client::package::{key_of, the_only};
use olm_plan::preview::Preview;
use olm_plan::suggested::{Placement, PlacementRequest, place, suggestion};
use olm_types::api::{
    CsvDescription, InstallModeSet, OperatorGroup, PackageChannel, PackageManifestStatus,
};
use serde_json::Value;

use super::act::{self, Refusal, Submit, WRITING};
use super::frame::{Frame, html};
use super::shown::{Shown, shown};
use super::{Page, PageView};
use crate::failure::Failure;
use crate::form::InvalidField;
use choice::{Choice, Mode, modes};

/// Versions that are offered.
const VERSIONS: usize = 200;

#[derive(Template)]
#[template(path = "install.html")]
struct Install {
    frame: Frame,
    choice: Choice,
    catalog: String,
    channel: String,
    version: String,
    targets: String,
    offered: InstallOptions,
    modes: Vec<Mode>,
    may_not: Vec<String>,
    shown: Option<Shown>,
    fields: Vec<(&'static str, String)>,
    submit: Submit,
    failure: Option<Failure>,
    no_plan: Option<Failure>,
    refusal: Option<Failure>,
}

/// What there is to choose from.
#[derive(Default)]
struct InstallOptions {
    channels: Vec<(String, bool)>,
    versions: Vec<String>,
    namespace: String,
    namespaces: Vec<String>,
    why: String,
    supported: InstallModeSet,
}

/// A plan, and the form that confirms it.
struct Planned {
    shown: Shown,
    fields: Vec<(&'static str, String)>,
    submit: Submit,
}

/// Reads the page, shows a plan, or does what was shown.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let choice = match Choice::of(visit.params) {
        Ok(choice) => choice,
        Err(bad) => return bad.into_response(),
    };
    match (visit.params.is_posted(), visit.params.step()) {
        (false, _) => page(visit, choice, None, None).await,
        (true, "plan") => {
            let planned = planned(visit, &choice).await;
            page(visit, choice, Some(planned), None).await
        }
        (true, "install") => {
            let hash = match visit.params.hash() {
                Ok(hash) => hash,
                Err(bad) => return bad.into_response(),
            };
            match installed(visit, &choice, hash).await {
                Ok(subscription) => act::done(visit, &subscription),
                Err(error) => {
                    let planned = planned(visit, &choice).await;
                    page(visit, choice, Some(planned), Some(Refusal::of(&error))).await
                }
            }
        }
        (true, _) => InvalidField::new("do", "it is none of plan, install").into_response(),
    }
}

/// Writes what was shown. The name of the Subscription.
async fn installed(visit: &PageView<'_>, choice: &Choice, hash: &str) -> Result<String> {
    let preview = act::preview(visit, choice.wanted()?).await?;
    act::same(&preview, hash)?;
    verdict(&preview)?;
    let mut done: Vec<String> = Vec::new();
    for manifest in &preview.manifests {
        let text = |path: &str| manifest.pointer(path).and_then(Value::as_str).unwrap_or_default();
        let created = acts::create(&visit.cluster, manifest, WRITING).await;
        match done.as_slice() {
            [] => created?,
            done => created.with_context(|| format!("after {} was created", done.join(", ")))?,
        };
        done.push(format!("{} {}", text("/kind"), text("/metadata/name")));
    }
    Ok(preview.subscription)
}

async fn planned(visit: &PageView<'_>, choice: &Choice) -> Result<Planned> {
    let preview = act::preview(visit, choice.wanted()?).await?;
    let why_not = in_the_way(visit, &preview).await;
    let mut fields = choice.fields(visit.home());
    fields.push(("plan_hash", preview.plan_hash.clone()));
    Ok(Planned { shown: shown(preview), fields, submit: button(why_not) })
}

fn button(why_not: Vec<String>) -> Submit {
    Submit { text: "Install", step: "install", why_not }
}

async fn in_the_way(visit: &PageView<'_>, preview: &Preview) -> Vec<String> {
    let mut why_not: Vec<String> = Vec::new();
    why_not.extend(verdict(preview).err().map(|error| error.to_string()));
    let creates: Vec<Action> = preview.manifests.iter().filter_map(creation).collect();
    let may = NamespaceRights::read(&visit.cluster, visit.home()).await;
    why_not.extend(act::not_allowed(&may, &creates).await);
    why_not
}

/// The creation of an object of a plan.
fn creation(manifest: &Value) -> Option<Action> {
    let home = manifest.pointer("/metadata/namespace").and_then(Value::as_str).unwrap_or_default();
    match manifest["kind"].as_str()? {
        "Namespace" => Some(Action::of_crd("create", "namespaces", None)),
        "OperatorGroup" => Some(Action::of_olm("create", "operatorgroups", home)),
        "Subscription" => Some(Action::of_olm("create", "subscriptions", home)),
        _ => None,
    }
}

async fn page(
    visit: &PageView<'_>,
    choice: Choice,
    planned: Option<Result<Planned>>,
    refusal: Option<Refusal>,
) -> Response {
    let (mut code, refusal) = act::parts(refusal);
    let (offered, failure) = match offered(visit, &choice).await {
        Ok(offered) => (offered, None),
        Err(error) => {
            let namespace = visit.home().to_owned();
            (InstallOptions { namespace, ..InstallOptions::default() }, Some(Failure::of(&error)))
        }
    };
    let groups = groups(visit, &offered.namespace).await;
    let (planned, no_plan) = match planned.transpose() {
        Ok(planned) => (planned, None),
        Err(error) => {
            let refusal = Refusal::of(&error);
            code = if code.is_success() { refusal.code } else { code };
            (None, Some(refusal.failure))
        }
    };
    let (shown, fields, submit) = match planned {
        Some(Planned { shown, fields, submit }) => (Some(shown), fields, submit),
        None => (None, Vec::new(), button(Vec::new())),
    };
    let may = NamespaceRights::read(&visit.cluster, &offered.namespace).await;
    let creates = [Action::of_olm("create", "subscriptions", &offered.namespace)];
    let text = |value: &Option<String>| value.clone().unwrap_or_default();
    let title = format!("Install {}", choice.package);
    let (mode, targets) = choice.mode_and_targets();
    let page = html(&Install {
        frame: visit.frame(Page::Install, &title, &choice.command(visit.command())),
        catalog: choice.catalog.as_ref().map(ToString::to_string).unwrap_or_default(),
        channel: text(&choice.channel),
        version: text(&choice.version),
        targets,
        modes: modes(&offered.supported, &groups, Some(mode.as_str())),
        may_not: act::not_allowed(&may, &creates).await,
        choice,
        offered,
        shown,
        fields,
        submit,
        failure,
        no_plan,
        refusal,
    });
    (code, page).into_response()
}

/// The OperatorGroups of a namespace. Where they cannot be read, a note says so: one that is there decides which install
/// mode it is, whatever is chosen.
async fn groups(visit: &PageView<'_>, namespace: &str) -> Vec<OperatorGroup> {
    let api = visit.cluster.api::<OperatorGroup>(Some(namespace));
    visit.cluster.list(&api).await.unwrap_or_else(|error| {
        let why = cause(&error);
        let notices = &visit.cluster.notices;
        notices
            .say(&format!("warning: cannot read operatorgroups of namespace {namespace}: {why}"));
        Vec::new()
    })
}

/// What the catalogs of the namespace offer. Where a form has named a namespace, that is kept.
async fn offered(visit: &PageView<'_>, choice: &Choice) -> Result<InstallOptions> {
    let listing = visit.listing().await?;
    let source = choice.catalog.as_ref().map(ToString::to_string);
    let status = the_only(&listing.packages, &choice.package, source.as_deref())?;
    let chosen = choice.channel.as_deref().unwrap_or(&status.default_channel);
    let channel = status.channels.iter().find(|channel| channel.name == chosen);
    let head = channel.and_then(|channel| channel.current_csv_desc.as_ref());
    let olm_namespace = visit.context.console.reading.sources.olm_namespace.as_deref();
    let global = visit.cluster.settings(olm_namespace).await?.global_namespace;
    let place = goes_to(visit, status, head, &global);
    let mut namespaces = vec![place.namespace.clone(), visit.home().to_owned()];
    namespaces.dedup();
    Ok(InstallOptions {
        channels: status
            .channels
            .iter()
            .map(|one| (one.name.clone(), one.name == chosen))
            .collect(),
        versions: channel.map(versions).unwrap_or_default(),
        namespace: if visit.params.is_posted() { visit.home().to_owned() } else { place.namespace },
        namespaces,
        why: place.why,
        supported: head.map(|head| InstallModeSet::of(&head.install_modes)).unwrap_or_default(),
    })
}

fn goes_to(
    visit: &PageView<'_>,
    status: &PackageManifestStatus,
    head: Option<&CsvDescription>,
    global: &str,
) -> Placement {
    let catalog = key_of(status).to_string();
    let question =
        PlacementRequest { home: visit.home(), is_named: false, catalog: &catalog, global };
    place(question, head.and_then(|head| suggestion(&head.annotations)).as_ref())
}

fn versions(channel: &PackageChannel) -> Vec<String> {
    let entries = channel.entries.iter().take(VERSIONS);
    entries.map(|one| one.version.clone().unwrap_or_else(|| one.name.clone())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn each_object_of_a_plan_has_to_be_allowed() {
        let of = |kind: &str| {
            let found = creation(&json!({"kind": kind, "metadata": {"namespace": "ns"}}));
            found.map(|action| action.refusal())
        };
        assert_eq!(of("Namespace").unwrap(), "you may not create namespaces in the cluster");
        let expected = "you may not create subscriptions.operators.coreos.com in namespace ns";
        assert_eq!(of("Subscription").unwrap(), expected);
        assert!(of("OperatorGroup").unwrap().contains("operatorgroups"));
        assert_eq!(of("Secret"), None);
    }
}
