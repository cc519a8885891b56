//! `deploy/chart` gives the objects of `deploy/base` and `deploy/ha`, and follows its values.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::api::DynamicObject;
use olm_testkit::cluster::tools::Helm;
use olm_testkit::deploy::{self, Options};
use olm_testkit::e2e::TestContext;
use olm_testkit::progress::Progress;
use serde::Deserialize;
use serde_json::Value;

use olm_testkit::kubectl::Kubectl;

use super::kustomize::component;

/// Two replicas of both.
const SEVERAL: [&str; 2] = ["olm.replicaCount=2", "catalog.replicaCount=2"];

/// Values that change something, and a text that then occurs so often.
const VALUES: [(&str, &str, usize); 18] = [
    // The name of the ClusterRole, and the reference to it.
    ("namespace=olm", "operator-lifecycle-manager", 2),
    ("debug=true", "- --debug\n", 2),
    ("watchedNamespaces=team", "--watchedNamespaces=team", 1),
    ("writeStatusName=olm-status", "--writeStatusName=olm-status\"\n", 1),
    ("writeStatusName=olm-status", "--writeStatusName=olm-status-catalog\"\n", 1),
    ("catalog_namespace=shelf", "value: shelf\n", 1),
    ("catalog.setWorkloadUserID=false", "--set-workload-user-id", 0),
    ("olm.service.internalPort=9090", "9090", 3),
    ("package.service.internalPort=6443", "6443", 5),
    (
        "catalog.process.enabled=true,catalog.process.namespaces={a}",
        "--catalogs-process-namespaces=a\"\n",
        1,
    ),
    (
        "catalog.process.enabled=true,catalog.process.lastPort=50300",
        "--catalogs-ports=50100-50300\"\n",
        1,
    ),
    ("catalog.process.globalPullSecret=a/b", "--global-pull-secret=a/b\"\n", 1),
    ("olm.tolerations[0].operator=Exists", "operator: Exists\n", 1),
    // Two probes of each operator; ports of containers and Services.
    ("certManager.enabled=true", "scheme: HTTPS\n", 4),
    ("certManager.enabled=true", "port: 8443\n", 2),
    ("certManager.enabled=true", "secretName: olm-cert\n", 3),
    ("certManager.enabled=true,monitoring.enabled=true", "scheme: https\n", 2),
    ("monitoring.enabled=true,monitoring.namespace=watch", "namespace: watch\n", 2),
];

/// Default values, several replicas, and each value alone.
pub async fn says_the_same(_: Arc<TestContext>) -> Result<()> {
    let helm = tokio::task::spawn_blocking(|| Helm::ensure(&Progress::to_stderr())).await??;
    let (kubectl, folder) = (Kubectl::alone()?, deploy::folder());
    let chart = folder.join("chart");
    helm.lint(&chart)?;
    let kustomized = |name: &str| kubectl.run(&["kustomize", &folder.join(name).to_string_lossy()]);
    let crds = kustomized("crds")?;
    let expected = [crds.clone(), kustomized("base")?].join("---\n");
    compare(&expected, &helm.template(&chart, &[])?).context("default values")?;
    let expected = [crds.clone(), kustomized("ha")?].join("---\n");
    compare(&expected, &helm.template(&chart, &SEVERAL)?).context("several replicas")?;
    let monitored = [crds.clone(), kustomized("base")?, kustomized("monitoring")?].join("---\n");
    compare(&monitored, &helm.template(&chart, &["monitoring.enabled=true"])?)
        .context("monitoring")?;
    let process = [crds.clone(), component(&kubectl, "base", "process")?].join("---\n");
    compare(&process, &helm.template(&chart, &["catalog.process.enabled=true"])?)
        .context("catalogs without Pods")?;
    let kept = [crds.clone(), component(&kubectl, "base", "process-pvc")?].join("---\n");
    let values = ["catalog.process.enabled=true", "catalog.process.persistence.enabled=true"];
    compare(&kept, &helm.template(&chart, &values)?)
        .context("catalogs without Pods, on a volume that stays")?;
    let options = Options { namespace: "olm".to_owned(), ..Options::default() };
    let expected = [crds, deploy::render("", &deploy::objects(&options)?)?].join("---\n");
    compare(&expected, &helm.template(&chart, &["namespace=olm"])?).context("another namespace")?;
    for (value, text, times) in VALUES {
        let rendered = helm.template(&chart, &[value])?;
        objects(&rendered).with_context(|| value.to_owned())?;
        let found = rendered.matches(text).count();
        ensure!(found == times, "with {value}, {text:?} is there {found} times");
    }
    Ok(())
}

fn compare(expected: &str, found: &str) -> Result<()> {
    let (expected, found) = (objects(expected)?, objects(found)?);
    let missing = expected.iter().find(|(key, object)| found.get(*key) != Some(object));
    if let Some((key, object)) = missing {
        let other = found.get(key).map(Value::to_string).unwrap_or_default();
        ensure!(*object == Value::Null, "{key}\nexpected {object}\nfound    {other}");
    }
    let more: Vec<_> = found.keys().filter(|key| !expected.contains_key(*key)).collect();
    ensure!(more.is_empty(), "the chart has more: {more:?}");
    Ok(())
}

/// By kind, namespace and name.
fn objects(text: &str) -> Result<BTreeMap<String, Value>> {
    let mut objects = BTreeMap::new();
    for document in yaml_serde::Deserializer::from_str(text) {
        let Some(object) = Option::<DynamicObject>::deserialize(document)? else { continue };
        let metadata = &object.metadata;
        let (namespace, name) = (metadata.namespace.as_deref(), metadata.name.as_deref());
        let key = [deploy::kind(&object), namespace.unwrap_or("-"), name.unwrap_or_default()];
        let key = key.join(" ");
        objects.insert(key, whole_numbers(serde_json::to_value(&object)?));
    }
    Ok(objects)
}

/// kustomize writes whole numbers without a point, whatever they had.
fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 => Value::from(float),
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect()
        }
        other => other,
    }
}
