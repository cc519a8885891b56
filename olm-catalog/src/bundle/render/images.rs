//! The images that a bundle needs: those that its CSV names, its own, and those of its containers.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::fbc::{FieldError, Fields};

/// Related images, sorted by image.
///
/// # Errors
/// The list in the CSV has the wrong form.
pub(super) fn related(csv: &Value, bundle_image: &str) -> Result<Vec<Value>, FieldError> {
    let mut images = listed(csv)?;
    let named: BTreeSet<&String> = images.iter().map(|(_, image)| image).collect();
    let mut more: BTreeSet<&str> = BTreeSet::new();
    if !bundle_image.is_empty() {
        more.insert(bundle_image);
    }
    more.extend(of_containers(csv));
    let more: Vec<_> =
        more.into_iter().filter(|image| !named.contains(&(*image).to_owned())).collect();
    images.extend(more.into_iter().map(|image| (String::new(), image.to_owned())));
    images.sort_by(|(_, left), (_, right)| left.cmp(right));
    Ok(images.into_iter().map(|(name, image)| json!({ "name": name, "image": image })).collect())
}

/// Names and images of the list in the CSV.
fn listed(csv: &Value) -> Result<Vec<(String, String)>, FieldError> {
    let spec = csv.get("spec").cloned().unwrap_or_default();
    let mut spec = Fields::nested(spec, "spec".to_owned())?;
    spec.objects("relatedImages", |mut image| Ok((image.text("name")?, image.text("image")?)))
}

/// Images of the containers of every Deployment.
fn of_containers(csv: &Value) -> Vec<&str> {
    let install = csv.pointer("/spec/install");
    let deployed = install.and_then(|install| install.get("strategy")?.as_str());
    let deployments = install.and_then(|install| install.pointer("/spec/deployments"));
    let deployments = deployments.filter(|_| deployed == Some("deployment"));
    let pods = list(deployments).filter_map(|deployment| deployment.pointer("/spec/template/spec"));
    let containers =
        pods.flat_map(|pod| list(pod.get("containers")).chain(list(pod.get("initContainers"))));
    containers
        .map(|container| container.get("image").and_then(Value::as_str).unwrap_or(""))
        .collect()
}

fn list(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    value.and_then(Value::as_array).into_iter().flatten()
}
