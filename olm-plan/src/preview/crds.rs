//! What an InstallPlan makes of CustomResourceDefinitions.

use std::collections::BTreeSet;

use olm_lifecycle::install_plan::execution::{Ended, NoteKind};
use olm_types::api::StepStatus;

use super::result::{CrdVerdict, Preview};
use super::world::World;

/// Names of the CRDs that there are.
pub(super) fn crd_names(world: &World<'_>) -> BTreeSet<String> {
    let crds = world.objects().filter(|(key, _)| key.kind == "CustomResourceDefinition");
    crds.map(|(key, _)| key.name.clone()).collect()
}

/// Says what becomes of each CRD of the steps; `before` are the names of those that were there.
pub(super) fn verdicts(
    world: &World<'_>,
    ended: &Ended,
    before: &BTreeSet<String>,
    preview: &mut Preview,
) {
    let reached = |status: StepStatus| {
        matches!(status, StepStatus::Present | StepStatus::Created | StepStatus::WaitingForApi)
    };
    let failed = ended.steps.iter().position(|step| !reached(step.status));
    for (place, step) in ended.steps.iter().enumerate() {
        if step.resource.kind != "CustomResourceDefinition" {
            continue;
        }
        let warning = ended.notes.iter().find_map(|note| match &note.what {
            NoteKind::CrdValidation(text) if note.step == place => Some(text.clone()),
            _ => None,
        });
        let name = step.resource.name.clone();
        let refused = ended.failure.as_ref().filter(|_| failed == Some(place));
        let (verdict, detail) = match (refused, warning) {
            (Some(failure), _) => ("refused", failure.to_string()),
            (None, Some(warning)) => ("warning", warning),
            (None, None) if !before.contains(&name) => ("new", String::new()),
            (None, None) if is_changed(world, &name) => ("compatible", String::new()),
            (None, None) => ("unchanged", String::new()),
        };
        preview.crds.retain(|crd| crd.name != name);
        preview.crds.push(CrdVerdict { name, verdict, detail, custom_resources: None });
    }
}

fn is_changed(world: &World<'_>, crd: &str) -> bool {
    world.changes().any(|(key, before, after)| {
        let strip =
            |object: Option<&serde_json::Value>| object.and_then(|it| it.get("spec").cloned());
        key.kind == "CustomResourceDefinition" && key.name == crd && strip(before) != strip(after)
    })
}
