//! What can be set: image, replicas and flags of the Deployments, and the namespace of OLM.

use std::collections::BTreeMap;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use kube::api::DynamicObject;
use serde_json::{Value, json};

use crate::operators::{OLM_NAMESPACE, Operator};

/// The image that `deploy/base` names: that of this version.
pub const DEFAULT_IMAGE: &str = concat!("olm-rs.dev/olm-rs:v", env!("CARGO_PKG_VERSION"));

/// The flag by which several Pods have one of them act.
pub const LEADER_ELECT: &str = "--leader-elect";

/// How the operators are deployed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The image of both operators, and of what catalog-operator starts.
    pub image: String,
    /// Pods of each operator. 0 stops both; of more than 1 one acts, and they elect it.
    pub replicas: i32,
    /// Flags that follow those of `deploy/base`.
    pub extra_args: BTreeMap<Operator, Vec<String>>,
    /// The operators' namespace, in which global catalogs are, too.
    pub namespace: String,
}

impl Default for Options {
    /// What `deploy/base` says.
    fn default() -> Self {
        Self {
            image: DEFAULT_IMAGE.to_owned(),
            replicas: 1,
            extra_args: BTreeMap::new(),
            namespace: OLM_NAMESPACE.to_owned(),
        }
    }
}

impl Options {
    /// Puts an object into the namespace, or has it refer to it.
    pub(super) fn put_in_namespace(&self, object: DynamicObject) -> Result<DynamicObject> {
        let mut value = serde_json::to_value(object).context("cannot read an object")?;
        rename(&mut value, &self.namespace);
        serde_json::from_value(value).context("cannot put an object into another namespace")
    }

    /// Sets the rest in a Deployment, as `images:`, `replicas:` and patches of a kustomization do.
    pub(super) fn set_in(&self, deployment: &mut DynamicObject) -> Result<()> {
        ensure!(self.replicas >= 0, "{} replicas: give 0 or more", self.replicas);
        let name = deployment.name_any();
        let spec = deployment.data.pointer_mut("/spec").and_then(Value::as_object_mut);
        spec.with_context(|| format!("Deployment {name} has no spec"))?
            .insert("replicas".to_owned(), json!(self.replicas));
        if self.replicas > 1 {
            deployment.data["spec"]["strategy"] = json!({"type": "RollingUpdate"});
        }
        let containers = deployment.data.pointer_mut("/spec/template/spec/containers");
        let containers = containers.and_then(Value::as_array_mut);
        for container in containers.with_context(|| format!("Deployment {name} runs nothing"))? {
            self.set_image(container);
            self.add_args(container)?;
        }
        Ok(())
    }

    /// Where `image-fields.yaml` lets kustomize set it.
    fn set_image(&self, container: &mut Value) {
        let replace = |field: &mut Value| {
            if field.as_str() == Some(DEFAULT_IMAGE) {
                *field = json!(self.image);
            }
        };
        container.get_mut("image").into_iter().for_each(replace);
        let variables = container.get_mut("env").and_then(Value::as_array_mut);
        let values = variables.into_iter().flatten().filter_map(|entry| entry.get_mut("value"));
        values.for_each(replace);
    }

    /// The containers have the names of the operators.
    fn add_args(&self, container: &mut Value) -> Result<()> {
        let name = container.get("name").and_then(Value::as_str).unwrap_or_default();
        let operator = Operator::ALL.into_iter().find(|operator| operator.name() == name);
        let extra = operator.and_then(|operator| self.extra_args.get(&operator));
        let elect = (self.replicas > 1).then_some(LEADER_ELECT);
        let flags = extra.into_iter().flatten().map(String::as_str).chain(elect);
        let flags: Vec<_> = flags.map(|flag| json!(flag)).collect();
        if flags.is_empty() {
            return Ok(());
        }
        let context = format!("container {name} has no args");
        let args = container.get_mut("args").and_then(Value::as_array_mut).context(context)?;
        args.extend(flags);
        Ok(())
    }
}

/// Names of bindings end with the namespace, as v0's do.
fn rename(value: &mut Value, namespace: &str) {
    match value {
        Value::String(text) if text == OLM_NAMESPACE => *text = namespace.to_owned(),
        Value::String(text) => {
            let binding =
                text.strip_suffix(OLM_NAMESPACE).filter(|name| name.ends_with("-binding-"));
            if let Some(binding) = binding {
                *text = format!("{binding}{namespace}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename(item, namespace)),
        Value::Object(fields) => fields.values_mut().for_each(|field| rename(field, namespace)),
        _ => {}
    }
}
