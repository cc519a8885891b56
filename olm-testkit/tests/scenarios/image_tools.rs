//! The programs of our image that talk to a cluster, as Jobs and Pods call them and with the rights
//! that those have: one puts a bundle into a ConfigMap, the other serves a catalog from one.

use std::collections::BTreeMap;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::{PolicyRule, Role, RoleBinding, RoleRef, Subject};
use kube::Client;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use olm_catalog::bundle::config_map;
use olm_testkit::builders::{self, Crd, csv};
use olm_testkit::built_programs;
use olm_testkit::e2e::TestContext;
use olm_testkit::fixture::Fixture;
use olm_testkit::process::{Launch, Lifetime, Running};
use olm_testkit::wait;
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, CsvPhase, OperatorGroup, Subscription, SubscriptionState,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::process::Command;

use crate::environment;

const NAMESPACE: &str = "image-tools";

/// A cluster, and a folder with the programs under the names that our image has for them.
struct Tools {
    fixture: Fixture,
    client: Client,
    dir: TempDir,
}

/// A bundle goes into its ConfigMap, and nowhere else; an operator is installed from a catalog that
/// is a ConfigMap.
pub async fn serve_jobs_and_pods(_: Arc<TestContext>) -> Result<()> {
    let tools = Tools::new().await?;
    tools.extract().await.context("opm alpha bundle extract")?;
    let server = tools.catalog().await.context("configmap-server")?;
    tools.fixture.start_operators().await?;
    tools.install(&server.1).await.context("install from the catalog")?;
    tools.change_package().await.context("change the package")?;
    server.0.stop();
    environment::end(&tools.fixture).await
}

impl Tools {
    async fn new() -> Result<Self> {
        let fixture = environment::cluster("tools").await?;
        let client = fixture.client.clone();
        let namespaces: Api<Namespace> = Api::all(client.clone());
        namespaces.create(&PostParams::default(), &builders::namespace(NAMESPACE)).await?;
        let dir = tempfile::tempdir().context("cannot create a directory")?;
        let program = built_programs()?.join("olm-registry");
        for name in ["opm", "configmap-server"] {
            symlink(&program, dir.path().join(name))?;
        }
        Ok(Self { fixture, client, dir })
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn extract(&self) -> Result<()> {
        let bundle = bundle(self.dir.path())?;
        for name in ["unpacked", "another"] {
            self.create(holding(name, json!({"left": "over"}))?).await?;
        }
        // As for the Job: this one ConfigMap, and no other.
        let kubeconfig = self.account("unpacked", &["create", "get", "update"]).await?;
        let line = |name: &str| {
            let mut command = Command::new(self.dir.path().join("opm"));
            command.args(["alpha", "bundle", "extract", "-n", NAMESPACE, "-c", name, "-z"]);
            command.arg("-m").arg(&bundle).arg("-k").arg(&kubeconfig);
            command.env("CONTAINER_IMAGE", "example.com/kettle:1").kill_on_drop(true);
            command
        };
        let output = line("unpacked").output().await?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let unpacked = self.api::<ConfigMap>().get("unpacked").await?;
        let read = config_map::read(&unpacked)?;
        ensure!(read.csv_name == "kettle.v1.0.0" && read.objects.len() == 2, "{read:?}");
        ensure!(read.image == "example.com/kettle:1" && unpacked.data.is_none(), "{unpacked:?}");

        let output = line("another").output().await?;
        let message = String::from_utf8_lossy(&output.stderr);
        let start = format!(
            "Error: error loading manifests from directory: cannot read the ConfigMap \
             {NAMESPACE}/another: configmaps \"another\" is forbidden"
        );
        ensure!(!output.status.success() && message.starts_with(&start), "{message}");
        Ok(())
    }

    /// Serves a catalog; gives the server and its address.
    async fn catalog(&self) -> Result<(Running, String)> {
        let package = |name: &str| {
            let head = format!("{name}.v1.0.0");
            json!({"packageName": name, "channels": [{"name": "stable", "currentCSV": head}]})
        };
        let packages = json!([package("kettle"), package("cauldron")]);
        let lists = json!({
            "customResourceDefinitions": json!([kettles().manifest()]).to_string(),
            "clusterServiceVersions": json!([kettle(), cauldron()]).to_string(),
            "packages": packages.to_string(),
        });
        self.create(holding("kitchen", lists)?).await?;
        let kubeconfig = self.account("kitchen", &["get"]).await?;
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let (kubeconfig, port) = (kubeconfig.to_string_lossy(), port.to_string());
        let flags = [("-c", "kitchen"), ("-n", NAMESPACE), ("-p", &*port), ("-k", &*kubeconfig)];
        let flags = flags.iter().flat_map(|(flag, value)| [*flag, *value].map(str::to_owned));
        let launch = Launch {
            name: "configmap-server".to_owned(),
            program: self.dir.path().join("configmap-server"),
            args: flags.chain(["--address=127.0.0.1".to_owned()]).collect(),
            env: Vec::new(),
            log: self.dir.path().join("configmap-server.log"),
            lifetime: Lifetime::Command,
        };
        Ok((launch.start()?, format!("127.0.0.1:{port}")))
    }

    async fn install(&self, address: &str) -> Result<()> {
        let once = PostParams::default();
        let group = builders::operator_group(NAMESPACE, "group", &[NAMESPACE]);
        self.api::<OperatorGroup>().create(&once, &group).await?;
        let source = builders::catalog_source(NAMESPACE, "kitchen", address);
        self.api::<CatalogSource>().create(&once, &source).await?;
        let subscription = builders::subscription(NAMESPACE, "kettle", "stable", "kitchen");
        self.api::<Subscription>().create(&once, &subscription).await?;
        self.succeeded("kettle.v1.0.0").await
    }

    /// The Subscription goes on with a package whose first version replaces what is installed.
    async fn change_package(&self) -> Result<()> {
        let patch = Patch::Merge(json!({"spec": {"name": "cauldron"}}));
        self.api::<Subscription>().patch("kettle", &PatchParams::default(), &patch).await?;
        self.succeeded("cauldron.v1.0.0").await?;
        let csvs: Api<ClusterServiceVersion> = self.api();
        wait::until_gone(&csvs, "kettle.v1.0.0").await?;
        let done = |subscription: &Subscription| {
            let status = subscription.status.clone().unwrap_or_default();
            status.state == SubscriptionState::AtLatestKnown
                && status.installed_csv.as_deref() == Some("cauldron.v1.0.0")
        };
        wait::until(&self.api(), "kettle", "be at the latest version", done).await.map(drop)
    }

    async fn succeeded(&self, csv: &str) -> Result<()> {
        let succeeded = |csv: &ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        wait::until(&self.api(), csv, "succeed", succeeded).await.map(drop)
    }

    async fn create(&self, object: ConfigMap) -> Result<()> {
        self.api().create(&PostParams::default(), &object).await.map(drop).context("no ConfigMap")
    }

    /// An account that may do this with the ConfigMap of its name, and a kubeconfig for it.
    async fn account(&self, name: &str, verbs: &[&str]) -> Result<PathBuf> {
        let once = PostParams::default();
        let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
        let accounts: Api<ServiceAccount> = self.api();
        accounts.create(&once, &builders::service_account(NAMESPACE, name)).await?;
        let rule = PolicyRule {
            api_groups: Some(vec![String::new()]),
            resources: Some(vec!["configmaps".to_owned()]),
            resource_names: Some(vec![name.to_owned()]),
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            ..PolicyRule::default()
        };
        let role = Role { metadata: metadata.clone(), rules: Some(vec![rule]) };
        self.api::<Role>().create(&once, &role).await?;
        let binding = RoleBinding {
            metadata,
            role_ref: RoleRef {
                api_group: Some("rbac.authorization.k8s.io".to_owned()),
                kind: "Role".to_owned(),
                name: name.to_owned(),
            },
            subjects: Some(vec![Subject {
                kind: "ServiceAccount".to_owned(),
                name: name.to_owned(),
                namespace: Some(NAMESPACE.to_owned()),
                ..Subject::default()
            }]),
        };
        self.api::<RoleBinding>().create(&once, &binding).await?;
        let spec = Some(TokenRequestSpec::default());
        let request = TokenRequest { spec, ..TokenRequest::default() };
        let token = accounts.create_token_request(name, &once, &request).await?;
        let token = token.status.and_then(|status| status.token).context("no token")?;
        self.kubeconfig(name, &token).await
    }

    /// The cluster's kubeconfig with other credentials.
    async fn kubeconfig(&self, name: &str, token: &str) -> Result<PathBuf> {
        let text = fs::read_to_string(&self.fixture.kubeconfig)?;
        let mut config: Value = yaml_serde::from_str(&text)?;
        let users = config["users"].as_array_mut().context("a kubeconfig without users")?;
        users.iter_mut().for_each(|user| user["user"] = json!({"token": token}));
        let path = self.dir.path().join(format!("{name}.kubeconfig"));
        fs::write(&path, config.to_string())?;
        Ok(path)
    }
}

fn kettles() -> Crd {
    Crd::new("tools.example.com", "v1", "Kettle")
}

fn kettle() -> Value {
    let csv = csv("kettle.v1.0.0", "1.0.0").owns(&kettles());
    csv.deployment("kettle-manager", "default").manifest()
}

/// The first version of another package, which replaces the kettle.
fn cauldron() -> Value {
    let csv = csv("cauldron.v1.0.0", "1.0.0").owns(&kettles()).replaces("kettle.v1.0.0");
    csv.deployment("cauldron-manager", "default").manifest()
}

fn holding(name: &str, data: Value) -> Result<ConfigMap> {
    let data: BTreeMap<String, String> = serde_json::from_value(data)?;
    let metadata = ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() };
    Ok(ConfigMap { metadata, data: Some(data), ..ConfigMap::default() })
}

/// The folder that the Job's other containers leave.
fn bundle(dir: &Path) -> Result<PathBuf> {
    let bundle = dir.join("bundle");
    for (name, text) in [
        ("manifests/kettle.csv.yaml", kettle().to_string()),
        ("manifests/kettles.crd.yaml", kettles().manifest().to_string()),
        ("metadata/annotations.yaml", json!({"annotations": {}}).to_string()),
    ] {
        let path = bundle.join(name);
        fs::create_dir_all(path.parent().unwrap_or(&bundle))?;
        fs::write(path, text)?;
    }
    Ok(bundle)
}
