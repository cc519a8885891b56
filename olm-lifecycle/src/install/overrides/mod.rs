//! What a Subscription and the cluster's proxy change in an operator's Deployments (spec
//! olm-operator 3.9).
//!
//! `spec.config` of the Subscription stays JSON, so that a field which this build does not know
//! reaches the pods, and an empty map is not taken for none. Init containers are left alone.

mod affinity;
mod merge;
mod proxy;

use serde_json::{Map, Value};

pub(super) use merge::merge_variables;
pub use proxy::ProxySettings;

use super::shape::{ShapeError, as_object, list_in, object_in};
use super::size::bytes_of;
use merge::{append_missing, replace_or_append};

/// The changes to one CSV's Deployments. The default changes nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    config: Map<String, Value>,
    /// Variables of every container: those of the Subscription, then those of the proxy.
    variables: Vec<Value>,
    /// About how many bytes of memory all of it takes.
    bytes: usize,
}

impl Overrides {
    /// The changes that `config`, the `spec.config` of the Subscription which installed the CSV,
    /// and the cluster's proxy ask for. A Subscription that sets any of the proxy's variables
    /// does without all of them.
    pub fn new(config: Option<&Value>, proxy: &ProxySettings) -> Self {
        let config = config.and_then(Value::as_object).cloned().unwrap_or_default();
        let mut variables = list(&config, "env").to_vec();
        if !proxy::is_overridden(&variables) {
            variables.extend(proxy.variables());
        }
        let fields = config.iter().map(|(key, value)| key.len() + bytes_of(value));
        let bytes = fields.chain(variables.iter().map(bytes_of)).sum();
        Self { config, variables, bytes }
    }

    /// About how many bytes of memory a copy of it takes at most.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Changes a pod template, which has the CSV's annotations already. `path` is where it is.
    pub(super) fn apply(
        &self,
        template: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), ShapeError> {
        if let Some(wanted) = self.annotations() {
            let metadata = object_in(template, "metadata", path)?;
            let present = object_in(metadata, "annotations", &format!("{path}.metadata"))?;
            add_absent(present, wanted);
        }
        let pod = object_in(template, "spec", path)?;
        let path = format!("{path}.spec");
        for (index, container) in list_in(pod, "containers", &path)?.iter_mut().enumerate() {
            let path = format!("{path}.containers[{index}]");
            self.change_container(as_object(container, &path)?, &path)?;
        }
        self.change_pod(pod, &path)
    }

    /// Adds the annotations of the Deployment itself, where their keys are free.
    pub(super) fn annotate(
        &self,
        metadata: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), ShapeError> {
        let Some(wanted) = self.annotations() else { return Ok(()) };
        add_absent(object_in(metadata, "annotations", path)?, wanted);
        Ok(())
    }

    fn change_container(
        &self,
        container: &mut Map<String, Value>,
        path: &str,
    ) -> Result<(), ShapeError> {
        merge_variables(container, &self.variables, path)?;
        let (sources, mounts) = (self.list("envFrom"), self.list("volumeMounts"));
        append_missing(container, "envFrom", sources, "core/v1.EnvFromSource", path)?;
        replace_or_append(container, "volumeMounts", mounts, path)?;
        if let Some(resources) = self.value("resources") {
            container.insert("resources".to_owned(), resources.clone());
        }
        Ok(())
    }

    fn change_pod(&self, pod: &mut Map<String, Value>, path: &str) -> Result<(), ShapeError> {
        replace_or_append(pod, "volumes", self.list("volumes"), path)?;
        append_missing(pod, "tolerations", self.list("tolerations"), "core/v1.Toleration", path)?;
        if let Some(selector) = self.value("nodeSelector") {
            pod.insert("nodeSelector".to_owned(), selector.clone());
        }
        if let Some(wanted) = self.value("affinity").and_then(Value::as_object) {
            affinity::change(pod, wanted);
        }
        Ok(())
    }

    /// The annotations that the Subscription wants; `None` when there are none.
    pub(crate) fn annotations(&self) -> Option<&Map<String, Value>> {
        self.value("annotations")?.as_object().filter(|wanted| !wanted.is_empty())
    }

    fn list(&self, field: &str) -> &[Value] {
        list(&self.config, field)
    }

    /// A field that is set, be it to an empty value.
    fn value(&self, field: &str) -> Option<&Value> {
        self.config.get(field).filter(|value| !value.is_null())
    }
}

fn list<'c>(config: &'c Map<String, Value>, field: &str) -> &'c [Value] {
    config.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

fn add_absent(present: &mut Map<String, Value>, wanted: &Map<String, Value>) {
    for (key, value) in wanted {
        present.entry(key).or_insert_with(|| value.clone());
    }
}

#[cfg(test)]
mod tests;
