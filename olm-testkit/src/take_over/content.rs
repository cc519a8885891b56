//! What users of a cluster have installed: one operator of each sort whose objects differ.

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Namespace;
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, Resource};
use olm_types::api::{
    Approval, ClusterServiceVersion, CsvPhase, InstallPlan, Subscription, WebhookDescription,
};
use serde_json::{Value, json};

use crate::builders::{self, Bundle, CatalogDir, Crd, Package, csv};
use crate::operators::{Binaries, OLM_NAMESPACE};
use crate::registry::Registry;
use crate::wait::{self, Waitable};

/// The name of the catalog, which every namespace sees.
const CATALOG: &str = "community";

/// Which operators are installed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// All of them.
    Everything,
    /// Those without certificates, which end at some time and cannot be written down for good.
    Durable,
}

/// A Subscription to create, and what comes of it.
struct Installation {
    namespace: &'static str,
    /// What the OperatorGroup targets; none where there is a group already.
    targets: Option<&'static [&'static str]>,
    package: &'static str,
    /// The version that is installed first, and no other without an approval.
    pinned: Option<&'static str>,
    /// The CSVs that succeed.
    csvs: &'static [&'static str],
}

const INSTALLATIONS: [Installation; 4] = [
    // In the whole cluster, with copies.
    Installation {
        namespace: "operators",
        targets: None,
        package: "lamp",
        pinned: None,
        csvs: &["lamp.v1.1.0"],
    },
    // With a dependency, for which OLM makes a Subscription of its own.
    Installation {
        namespace: "kitchen",
        targets: Some(&["kitchen"]),
        package: "tea",
        pinned: None,
        csvs: &["tea.v1.0.0", "cup.v1.0.0"],
    },
    // For other namespaces; an upgrade waits for its approval.
    Installation {
        namespace: "garden",
        targets: Some(&["garden", "kitchen"]),
        package: "hose",
        pinned: Some("hose.v1.0.0"),
        csvs: &["hose.v1.0.0"],
    },
    // With webhooks, and so with certificates.
    Installation {
        namespace: "door",
        targets: Some(&["door"]),
        package: "bell",
        pinned: None,
        csvs: &["bell.v1.0.0"],
    },
];

/// Serves the catalog from which everything is installed.
///
/// # Errors
/// It cannot be written or served.
pub fn serve(binaries: &Binaries) -> Result<Registry> {
    Registry::start(binaries, CATALOG, CatalogDir::of(&packages())?)
}

/// Adds the catalog, subscribes to its packages and waits until they are installed.
///
/// # Errors
/// The API server refuses something, or a CSV does not succeed in time.
pub async fn install(client: &Client, registry: &Registry, content: Content) -> Result<()> {
    let source = builders::catalog_source(OLM_NAMESPACE, CATALOG, &registry.address());
    create(client, OLM_NAMESPACE, &source).await?;
    wait::until_connected(&Api::namespaced(client.clone(), OLM_NAMESPACE), CATALOG).await?;
    let chosen = |one: &&Installation| content == Content::Everything || one.is_durable();
    let installations: Vec<_> = INSTALLATIONS.iter().filter(chosen).collect();
    for installation in &installations {
        installation.subscribe(client).await?;
    }
    for installation in installations {
        installation.done(client).await?;
    }
    Ok(())
}

impl Installation {
    fn is_durable(&self) -> bool {
        self.package != "bell"
    }

    async fn subscribe(&self, client: &Client) -> Result<()> {
        if let Some(targets) = self.targets {
            let namespaces: Api<Namespace> = Api::all(client.clone());
            let namespace = builders::namespace(self.namespace);
            namespaces.create(&PostParams::default(), &namespace).await?;
            let group = builders::operator_group(self.namespace, "group", targets);
            create(client, self.namespace, &group).await?;
        }
        let mut subscription =
            builders::subscription(self.namespace, self.package, "stable", CATALOG);
        OLM_NAMESPACE.clone_into(&mut subscription.spec.source_namespace);
        if let Some(pinned) = self.pinned {
            subscription.spec.starting_csv = Some(pinned.to_owned());
            subscription.spec.install_plan_approval = Some(Approval::Manual);
        }
        create(client, self.namespace, &subscription).await
    }

    async fn done(&self, client: &Client) -> Result<()> {
        let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), self.namespace);
        if self.pinned.is_some() {
            approve(client, self.namespace, self.package).await?;
        }
        for name in self.csvs {
            wait::until(&csvs, name, "succeed", |csv: &ClusterServiceVersion| {
                csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
            })
            .await?;
        }
        Ok(())
    }
}

/// The plan that the Subscription waits for.
async fn approve(client: &Client, namespace: &str, subscription: &str) -> Result<()> {
    let subscriptions: Api<Subscription> = Api::namespaced(client.clone(), namespace);
    let plan_of = |subscription: &Subscription| {
        let status = subscription.status.as_ref()?;
        status.install_plan_ref.as_ref()?.name.clone()
    };
    let what = "wait for an approval";
    let waiting = |subscription: &Subscription| plan_of(subscription).is_some();
    let found = wait::until(&subscriptions, subscription, what, waiting).await?;
    let plans: Api<InstallPlan> = Api::namespaced(client.clone(), namespace);
    let plan = plan_of(&found).context("the plan is gone")?;
    let approved = Patch::Merge(json!({"spec": {"approved": true}}));
    let patched = plans.patch(&plan, &PatchParams::default(), &approved).await;
    patched.map(drop).context("the plan cannot be approved")
}

async fn create<K>(client: &Client, namespace: &str, object: &K) -> Result<()>
where
    K: Waitable + Resource<Scope = NamespaceResourceScope>,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let made = api.create(&PostParams::default(), object).await;
    made.map(drop).with_context(|| format!("the API server refuses a {}", K::kind(&())))
}

fn packages() -> Vec<Package> {
    let kind = |name: &str| Crd::new("take-over.example.com", "v1", name);
    let [light, cup, tea, hose, ring] = ["Light", "Cup", "Tea", "Hose", "Ring"].map(kind);
    let lamp = |version: &str| bundle("lamp", version, &light);
    let hoses = |version: &str| bundle("hose", version, &hose);
    let brewer = csv("tea.v1.0.0", "1.0.0")
        .owns(&tea)
        .requires(&cup)
        .deployment("tea", "tea")
        .deployment("tea-pot", "tea")
        .permission("tea", rules("", "configmaps"))
        .cluster_permission("tea", rules("", "nodes"));
    let brewer = Bundle::new("1.0.0", &brewer).provides(&tea).requires(&cup);
    let bell = csv("bell.v1.0.0", "1.0.0").owns(&ring).deployment("bell", "bell");
    let bell = bell.permission("bell", rules("", "pods"));
    let bell = bell.with(|csv| csv.spec.webhookdefinitions = webhooks(&ring));
    vec![
        Package::new("lamp").channel(
            "stable",
            vec![lamp("1.0.0"), lamp("1.1.0").replaces("lamp.v1.0.0").skips(&["lamp.v1.0.1"])],
        ),
        Package::single("cup", bundle("cup", "1.0.0", &cup)),
        Package::single("tea", brewer),
        Package::new("hose")
            .channel("stable", vec![hoses("1.0.0"), hoses("1.1.0").replaces("hose.v1.0.0")]),
        Package::single("bell", Bundle::new("1.0.0", &bell).provides(&ring)),
    ]
}

/// An operator with one kind, a Deployment, rights and a ConfigMap.
fn bundle(name: &str, version: &str, kind: &Crd) -> Bundle {
    let csv = csv(&format!("{name}.v{version}"), version)
        .owns(kind)
        .deployment(name, name)
        .permission(name, rules("apps", "deployments"));
    let settings = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": format!("{name}-settings")},
        "data": {"version": version},
    });
    Bundle::new(version, &csv).provides(kind).manifest(settings)
}

fn rules(group: &str, resource: &str) -> Value {
    json!([{"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]}])
}

/// A webhook that no object passes.
fn webhooks(kind: &Crd) -> Vec<WebhookDescription> {
    let name = kind.name();
    let (plural, group) = name.split_once('.').unwrap_or_default();
    let description = json!({
        "generateName": "rings.take-over.example.com", "type": "ValidatingAdmissionWebhook",
        "deploymentName": "bell", "containerPort": 443, "targetPort": 9443,
        "webhookPath": "/validate", "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "failurePolicy": "Ignore",
        "rules": [{
            "apiGroups": [group], "apiVersions": ["v1"], "resources": [plural],
            "operations": ["CREATE"],
        }],
    });
    serde_json::from_value(description).into_iter().collect()
}
