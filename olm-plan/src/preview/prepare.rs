//! What is written before OLM begins: the Subscription, and what changes in one.

use std::collections::BTreeSet;
use std::sync::Arc;

use olm_types::api::Subscription;
use olm_types::bundle::{CatalogKey, Entry, Universe};
use serde_json::{Value, json};

use super::known::Key;
use super::world::World;
use super::{Install, NoPreview};
use crate::details::NoDetails;
use crate::observed::name;

/// The group of OLM's kinds.
pub(super) const GROUP: &str = "operators.coreos.com";

/// The key of an object of OLM.
pub(super) fn olm_key(kind: &str, namespace: &str, name: &str) -> Key {
    let [group, kind, namespace, name] = [GROUP, kind, namespace, name].map(str::to_owned);
    Key { group, kind, namespace, name }
}

/// The Subscription of that name, or for the package of that name.
pub(super) fn subscription(
    world: &World<'_>,
    namespace: &str,
    operator: &str,
) -> Result<Subscription, NoPreview> {
    let all: Vec<Subscription> = world.typed(Subscription::KIND, Some(namespace));
    let named = all.iter().find(|one| name(&one.metadata) == operator);
    let found = named.or_else(|| all.iter().find(|one| one.spec.name == operator));
    found.cloned().ok_or_else(|| NoPreview::NoSubscription {
        operator: operator.to_owned(),
        namespace: namespace.to_owned(),
    })
}

/// Creates the Subscription that asks for a package, and the Namespace if there is none. Its name.
pub(super) fn subscribe(
    world: &mut World<'_>,
    namespace: &str,
    install: &Install,
    universe: &dyn Universe,
) -> Result<String, NoPreview> {
    let package = &install.package;
    let all: Vec<Subscription> = world.typed(Subscription::KIND, Some(namespace));
    if let Some(one) = all.iter().find(|one| one.spec.name == *package) {
        return Err(NoPreview::Subscribed(name(&one.metadata).to_owned()));
    }
    let catalog = catalog(install, universe)?;
    let mut entries = universe.by_package(package);
    entries.retain(|entry| entry.catalog == catalog);
    let starting = starting(install, &entries)?;
    let mut spec = json!({"name": package, "source": &*catalog.name,
        "sourceNamespace": &*catalog.namespace,
        "installPlanApproval": if install.is_manual { "Manual" } else { "Automatic" }});
    let default = entries.iter().find(|entry| entry.in_default_channel);
    let channel = install.channel.clone();
    if let Some(channel) = channel.or_else(|| default.map(|entry| entry.channel.to_string())) {
        spec["channel"] = json!(channel);
    }
    if let Some(csv) = starting {
        spec["startingCSV"] = json!(csv);
    }
    if let Some(config) = &install.config {
        spec["config"] = config.clone();
    }
    namespace_of(world, namespace);
    world.create(json!({"apiVersion": Subscription::API_VERSION, "kind": Subscription::KIND,
        "metadata": {"name": package, "namespace": namespace}, "spec": spec}));
    Ok(package.clone())
}

/// The Namespace is made where it is missing; a state from files without Namespaces says nothing about them.
pub(super) fn namespace_of(world: &mut World<'_>, namespace: &str) {
    let are_known = world.objects().any(|(key, _)| key.kind == "Namespace");
    let there = |(key, _): (&Key, &Value)| key.kind == "Namespace" && key.name == namespace;
    if are_known && !world.objects().any(there) {
        world.create(
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}),
        );
    }
}

/// Kubernetes makes this account in each namespace, so a new one has it before a CSV that needs it is looked at.
pub(super) fn default_account(world: &mut World<'_>, namespace: &str) {
    let account = json!({"apiVersion": "v1", "kind": "ServiceAccount",
        "metadata": {"name": "default", "namespace": namespace}});
    if Key::of(&account).is_some_and(|key| world.get(&key).is_none()) {
        world.assume(account);
    }
}

/// The catalog that a Subscription to come names.
fn catalog(install: &Install, universe: &dyn Universe) -> Result<CatalogKey, NoPreview> {
    let package = install.package.clone();
    let entries = universe.by_package(&package);
    let views = universe.catalogs();
    let holding: BTreeSet<&CatalogKey> = entries.iter().map(|entry| &entry.catalog).collect();
    let fits = |key: &CatalogKey| install.catalog.as_ref().is_none_or(|wanted| wanted == key);
    let mut fitting: Vec<_> =
        views.iter().filter(|view| holding.contains(&view.key) && fits(&view.key)).collect();
    let best = fitting.iter().map(|view| view.priority).max();
    fitting.retain(|view| Some(view.priority) == best);
    let names = |keys: &mut dyn Iterator<Item = &CatalogKey>| {
        keys.map(ToString::to_string).collect::<Vec<_>>().join(", ")
    };
    match fitting.as_slice() {
        [one] => Ok(one.key.clone()),
        [] => match &install.catalog {
            Some(wanted) if !holding.is_empty() => {
                let catalogs: Vec<String> = holding.iter().map(ToString::to_string).collect();
                let (wanted, catalogs) = (wanted.to_string(), catalogs.join(", "));
                Err(NoPreview::OtherCatalog { package, wanted, catalogs })
            }
            _ => {
                let catalogs = names(&mut views.iter().map(|view| &view.key));
                Err(NoPreview::NoPackage { package, catalogs })
            }
        },
        several => {
            let catalogs = names(&mut several.iter().map(|view| &view.key));
            Err(NoPreview::SeveralCatalogs { package, catalogs })
        }
    }
}

/// The CSV to start with, where a version is asked for.
fn starting(install: &Install, entries: &[Arc<Entry>]) -> Result<Option<String>, NoPreview> {
    let package = install.package.clone();
    if let Some(channel) = &install.channel
        && !entries.iter().any(|entry| *entry.channel == **channel)
    {
        let channels: BTreeSet<&str> = entries.iter().map(|entry| &*entry.channel).collect();
        let channels = channels.into_iter().collect::<Vec<_>>().join(", ");
        return Err(NoDetails::NoChannel { package, channel: channel.clone(), channels }.into());
    }
    let Some(version) = &install.version else { return Ok(None) };
    let in_channel = |entry: &&Arc<Entry>| match &install.channel {
        Some(channel) => *entry.channel == **channel,
        None => entry.in_default_channel,
    };
    let there: Vec<&Arc<Entry>> = entries.iter().filter(in_channel).collect();
    match there.iter().find(|entry| is_version(entry, version)) {
        Some(entry) => Ok(Some(entry.name.to_string())),
        None => {
            let versions: Vec<String> = there.iter().map(|entry| entry.name.to_string()).collect();
            let (version, versions) = (version.clone(), versions.join(", "));
            Err(NoDetails::NoVersion { package, version, versions }.into())
        }
    }
}

/// Whether a text is the version of an entry, or the name of its CSV.
pub(super) fn is_version(entry: &Entry, text: &str) -> bool {
    let version = entry.version.as_ref().map(ToString::to_string);
    *entry.name == *text || version.as_deref() == Some(text)
}

/// Changes the channel of a Subscription.
pub(super) fn follow(world: &mut World<'_>, namespace: &str, subscription: &str, channel: &str) {
    let key = olm_key(Subscription::KIND, namespace, subscription);
    if let Some(mut object) = world.get(&key).cloned() {
        object["spec"]["channel"] = json!(channel);
        world.put(key, Some(object));
    }
}

/// What was found before and is not installed counts as not found: the preview shows it, as if it were found
/// now.
pub(super) fn forget_pending(world: &mut World<'_>, namespace: &str) {
    let all: Vec<Subscription> = world.typed(Subscription::KIND, Some(namespace));
    for one in all {
        let status = one.status.clone().unwrap_or_default();
        if status.current_csv != status.installed_csv {
            let key = olm_key(Subscription::KIND, namespace, name(&one.metadata));
            let Some(mut object) = world.get(&key).cloned() else { continue };
            object["status"]["currentCSV"] = json!(status.installed_csv);
            object["status"]["state"] = json!("AtLatestKnown");
            world.put(key, Some(object));
        }
    }
}
