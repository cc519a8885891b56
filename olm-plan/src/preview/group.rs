//! The OperatorGroup of what is installed.

use std::collections::BTreeSet;

use olm_types::api::{ClusterServiceVersion, InstallModeSet, InstallModeType, OperatorGroup};
use serde_json::json;

use super::forward::own_csvs;
use super::mode::Mode;
use super::prepare::GROUP;
use super::result::Preview;
use super::world::World;
use super::{Operation, PreviewRequest};
use crate::observed::name;

/// The OperatorGroup: made by an installation where there is none, and checked against the install modes of the CSVs.
pub(super) fn group(asked: &PreviewRequest, world: &mut World<'_>, preview: &mut Preview) {
    let home = asked.namespace.as_str();
    let mut groups: Vec<OperatorGroup> = world.typed(OperatorGroup::KIND, Some(home));
    groups.retain(|group| group.metadata.deletion_timestamp.is_none());
    let csvs = own_csvs(world, home);
    let installed = |csv: &&ClusterServiceVersion| {
        let name = csv.metadata.name.as_deref().unwrap_or_default();
        let mut bundles = preview.hops.iter().flat_map(|hop| &hop.bundles);
        bundles.any(|bundle| bundle.csv == name)
            && !preview.unknown.iter().any(|unknown| unknown.contains(name))
    };
    let new: Vec<&ClusterServiceVersion> = csvs.iter().filter(installed).collect();
    if new.is_empty() {
        return;
    }
    let targets: Vec<String> = match groups.as_slice() {
        [] if makes_group(asked) => make(asked, world, &new),
        [] => {
            let problem = format!(
                "namespace {home} has no OperatorGroup: OLM installs nothing until there is one"
            );
            return preview.problems.push(problem);
        }
        [group] if group.spec.selector.is_some() => return,
        [group] => {
            let note = kept(asked, group).filter(|note| !preview.notes.contains(note));
            preview.notes.extend(note);
            match group.spec.target_namespaces.as_slice() {
                [] => vec![String::new()],
                names => names.to_vec(),
            }
        }
        several => {
            let problem = format!(
                "namespace {home} has {} OperatorGroups: OLM installs nothing until one is left",
                several.len()
            );
            return preview.problems.push(problem);
        }
    };
    let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
    preview.problems.extend(new.iter().filter_map(|csv| misfit(csv, home, &targets)));
}

/// Why a CSV may not be installed with a group, and what would be possible.
fn misfit(csv: &ClusterServiceVersion, home: &str, targets: &[&str]) -> Option<String> {
    let why = olm_opgroup::check_support(&csv.spec.install_modes, home, targets).err()?;
    let modes = InstallModeSet::of(&csv.spec.install_modes);
    let modes: Vec<&str> = modes.iter().map(InstallModeType::as_str).collect();
    let modes = if modes.is_empty() { "no install mode".to_owned() } else { modes.join(", ") };
    let name = name(&csv.metadata);
    Some(format!("{name} does not fit the OperatorGroup: {why}; it supports {modes}"))
}

/// What is said where another group is there than the one that was asked for; a group of other targets is left alone,
/// as all operators of the namespace follow it.
fn kept(asked: &PreviewRequest, group: &OperatorGroup) -> Option<String> {
    let mode = asked_for(asked)?;
    let selected: BTreeSet<&String> = group.spec.target_namespaces.iter().collect();
    let differs = mode.targets(&asked.namespace).iter().collect::<BTreeSet<_>>() != selected;
    let note = format!(
        "OperatorGroup {} is there already and stays as it is: it does not select what {mode} does",
        name(&group.metadata)
    );
    differs.then_some(note)
}

/// Whether what is asked for makes an OperatorGroup where there is none: nothing else does.
fn makes_group(asked: &PreviewRequest) -> bool {
    matches!(asked.wanted, Operation::Install(_))
}

fn asked_for(asked: &PreviewRequest) -> Option<&Mode> {
    match &asked.wanted {
        Operation::Install(install) => install.install_mode.as_ref(),
        Operation::Apply { .. } | Operation::Upgrade { .. } | Operation::Uninstall { .. } => None,
    }
}

/// Makes the OperatorGroup, for all namespaces where the CSVs support that. Its target namespaces.
fn make(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    csvs: &[&ClusterServiceVersion],
) -> Vec<String> {
    let home = asked.namespace.as_str();
    let everywhere = |csv: &&ClusterServiceVersion| {
        InstallModeSet::of(&csv.spec.install_modes).supports(InstallModeType::AllNamespaces)
    };
    let default = || match csvs.iter().all(everywhere) {
        true => Mode::AllNamespaces,
        false => Mode::OwnNamespace,
    };
    let targets = asked_for(asked).cloned().unwrap_or_else(default).targets(home);
    let spec = if targets.is_empty() { json!({}) } else { json!({ "targetNamespaces": targets }) };
    world.create(json!({"apiVersion": format!("{GROUP}/v1"), "kind": OperatorGroup::KIND,
        "metadata": {"name": home, "namespace": home}, "spec": spec}));
    if targets.is_empty() { vec![String::new()] } else { targets }
}
