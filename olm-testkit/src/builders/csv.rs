//! ClusterServiceVersions.

use olm_types::api::{
    ClusterServiceVersion, ClusterServiceVersionSpec, InstallMode, InstallModeType,
    NamedInstallStrategy, StrategyDetailsDeployment,
};
use serde_json::{Value, json};

use super::Crd;

/// A ClusterServiceVersion without Deployments that supports every install mode.
pub fn csv(name: &str, version: &str) -> CsvBuilder {
    let modes = InstallModeType::ALL;
    let supported =
        |mode: InstallModeType| InstallMode { type_: mode.to_string(), supported: true };
    let spec = ClusterServiceVersionSpec {
        display_name: name.to_owned(),
        version: Some(version.to_owned()),
        install_modes: modes.into_iter().map(supported).collect(),
        install: NamedInstallStrategy {
            strategy: "deployment".to_owned(),
            spec: Some(StrategyDetailsDeployment::default()),
        },
        ..ClusterServiceVersionSpec::default()
    };
    CsvBuilder { csv: ClusterServiceVersion::new(name, spec) }
}

/// Builds a ClusterServiceVersion step by step.
#[derive(Clone, Debug)]
pub struct CsvBuilder {
    csv: ClusterServiceVersion,
}

impl CsvBuilder {
    /// One more Deployment; its pods run as the ServiceAccount.
    #[must_use]
    pub fn deployment(self, name: &str, service_account: &str) -> Self {
        let deployment = json!({"name": name, "spec": deployment_spec(name, service_account)});
        self.edit(|csv| push(csv, "/spec/install/spec", "deployments", deployment))
    }

    /// Rights in the namespaces of the OperatorGroup.
    #[must_use]
    pub fn permission(self, service_account: &str, rules: Value) -> Self {
        let permission = json!({"serviceAccountName": service_account, "rules": rules});
        self.edit(|csv| push(csv, "/spec/install/spec", "permissions", permission))
    }

    /// Rights in the whole cluster.
    #[must_use]
    pub fn cluster_permission(self, service_account: &str, rules: Value) -> Self {
        let permission = json!({"serviceAccountName": service_account, "rules": rules});
        self.edit(|csv| push(csv, "/spec/install/spec", "clusterPermissions", permission))
    }

    /// A kind that the operator provides.
    #[must_use]
    pub fn owns(self, crd: &Crd) -> Self {
        self.describe("owned", crd)
    }

    /// A kind that another operator has to provide.
    #[must_use]
    pub fn requires(self, crd: &Crd) -> Self {
        self.describe("required", crd)
    }

    /// The version that this one follows.
    #[must_use]
    pub fn replaces(mut self, name: &str) -> Self {
        self.csv.spec.replaces = Some(name.to_owned());
        self
    }

    /// Supports these install modes and no other.
    #[must_use]
    pub fn install_modes(mut self, modes: &[InstallModeType]) -> Self {
        for mode in &mut self.csv.spec.install_modes {
            mode.supported = modes.iter().any(|wanted| wanted.as_str() == mode.type_);
        }
        self
    }

    /// A long text for people.
    #[must_use]
    pub fn description(mut self, text: String) -> Self {
        self.csv.spec.description = Some(text);
        self
    }

    /// A change of the spec of every Deployment.
    #[must_use]
    pub fn deployments(mut self, change: impl Fn(&mut Value)) -> Self {
        let strategy = self.csv.spec.install.spec.get_or_insert_default();
        strategy.deployments.iter_mut().for_each(|deployment| deployment.spec.change(&change));
        self
    }

    /// Any other change.
    #[must_use]
    pub fn with(mut self, change: impl FnOnce(&mut ClusterServiceVersion)) -> Self {
        change(&mut self.csv);
        self
    }

    /// The object.
    pub fn build(self) -> ClusterServiceVersion {
        self.csv
    }

    /// The object as it lies in a bundle.
    pub fn manifest(&self) -> Value {
        to_value(&self.csv)
    }

    fn describe(self, list: &str, crd: &Crd) -> Self {
        crd.descriptions().into_iter().fold(self, |builder, description| {
            builder.edit(|csv| push(csv, "/spec/customresourcedefinitions", list, description))
        })
    }

    /// Edits the JSON form, where a list of descriptions is shorter than its many typed fields.
    fn edit(self, change: impl FnOnce(&mut Value)) -> Self {
        let mut value = to_value(&self.csv);
        change(&mut value);
        match serde_json::from_value(value) {
            Ok(csv) => Self { csv },
            Err(_) => self,
        }
    }
}

/// An image that does not exist. Simulated nodes need none.
pub const IMAGE: &str = "registry.example.com/manager:1";

/// One replica of one container that needs no image to exist.
pub fn deployment_spec(name: &str, service_account: &str) -> Value {
    json!({
        "replicas": 1,
        "selector": {"matchLabels": {"app": name}},
        "template": {
            "metadata": {"labels": {"app": name}},
            "spec": {
                "serviceAccountName": service_account,
                "containers": [{"name": "manager", "image": IMAGE}],
            },
        },
    })
}

/// Seconds in which a container answers a probe. The default of Kubernetes is one: on a busy machine a container that
/// works misses that three times in a row, and its CSV fails for a moment.
const PROBE_TIMEOUT: u32 = 10;

/// A readiness probe of a container that is asked every second; `handler` says how, as in a Pod's spec.
///
/// # Panics
/// The handler is no JSON object.
#[must_use]
pub fn readiness_probe(handler: Value) -> Value {
    let mut probe = handler;
    probe["periodSeconds"] = json!(1);
    probe["timeoutSeconds"] = json!(PROBE_TIMEOUT);
    probe
}

fn to_value(csv: &ClusterServiceVersion) -> Value {
    serde_json::to_value(csv).unwrap_or_default()
}

/// Appends to a list, creating it and the object around it where needed.
fn push(root: &mut Value, parent: &str, field: &str, item: Value) {
    if root.pointer(parent).is_none()
        && let Some((outer, name)) = parent.rsplit_once('/')
        && let Some(Value::Object(outer)) = root.pointer_mut(outer)
    {
        outer.insert(name.to_owned(), json!({}));
    }
    if let Some(Value::Object(parent)) = root.pointer_mut(parent) {
        let list = parent.entry(field).or_insert_with(|| json!([]));
        if let Value::Array(items) = list {
            items.push(item);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_arrive_where_the_api_has_them() {
        let (owned, required) = (Crd::new("a.io", "v1", "Own"), Crd::new("b.io", "v1", "Need"));
        let csv = csv("a.v1.0.0", "1.0.0")
            .deployment("a-manager", "a")
            .permission("a", json!([{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]))
            .cluster_permission("a", json!([]))
            .owns(&owned)
            .requires(&required)
            .install_modes(&[InstallModeType::OwnNamespace])
            .build();
        let details = csv.spec.install.spec.unwrap();
        assert_eq!(details.deployments[0].name, "a-manager");
        assert_eq!(details.permissions[0].rules[0].verbs, ["get"]);
        assert_eq!(details.cluster_permissions.len(), 1);
        let crds = csv.spec.customresourcedefinitions.unwrap();
        assert_eq!(
            (crds.owned[0].name.as_str(), crds.required[0].name.as_str()),
            ("owns.a.io", "needs.b.io")
        );
        assert_eq!(csv.spec.install_modes.iter().filter(|mode| mode.supported).count(), 1);
    }
}
