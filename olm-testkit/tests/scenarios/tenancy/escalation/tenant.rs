//! A tenant, his namespace, and one that is none of his business.

use std::fmt::Debug;
use std::sync::Arc;

use anyhow::{Context, Result};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, Resource};
use olm_lifecycle::tenancy::TenantPolicy;
use olm_testkit::builders;
use olm_testkit::e2e::TestContext;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::super::review::Request;

/// What a scenario plays on.
pub struct Tenant {
    /// The tenant's namespace, as an administrator sees it.
    pub ctx: Arc<TestContext>,
    /// How the operators are configured about tenants.
    pub policy: TenantPolicy,
    /// Asks the API server as the tenant.
    pub client: Client,
    /// The name of the tenant; he has permissions in his own namespace alone.
    pub user: String,
    /// A namespace of another user.
    pub foreign: String,
}

impl Tenant {
    /// Gives the tenant the rights of an administrator of the test's namespace, and those on OLM's
    /// objects in it.
    pub async fn new(ctx: Arc<TestContext>, policy: TenantPolicy) -> Result<Self> {
        let user = format!("tenant-of-{}", ctx.namespace);
        let client = impersonated(&ctx, &user).await?;
        let foreign = format!("{}-foreign", ctx.namespace);
        let namespaces: Api<Namespace> = Api::all(ctx.client.clone());
        namespaces.create(&PostParams::default(), &builders::namespace(&foreign)).await?;
        let tenant = Self { ctx, policy, client, user, foreign };
        tenant.employ().await?;
        Ok(tenant)
    }

    /// Whether tenants are trusted less than in v0.
    pub fn is_strict(&self) -> bool {
        self.policy == TenantPolicy::Strict
    }

    /// Name of the tenant's namespace.
    pub fn home(&self) -> &str {
        &self.ctx.namespace
    }

    /// Creates an object as the tenant, who has the right to.
    pub async fn create<K>(&self, object: &K) -> Result<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.home());
        let made = api.create(&PostParams::default(), object).await;
        made.with_context(|| format!("the tenant may not create a {}", K::kind(&())))
    }

    /// Changes an object as the tenant.
    pub async fn put<K>(&self, name: &str, patch: Value) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.home());
        let patched = api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map(drop).with_context(|| format!("the tenant may not change a {}", K::kind(&())))
    }

    /// Changes the status of an object as the tenant.
    pub async fn put_status<K>(&self, name: &str, status: Value) -> Result<()>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = Api::namespaced(self.client.clone(), self.home());
        let patch = Patch::Merge(json!({"status": status}));
        let patched = api.patch_status(name, &PatchParams::default(), &patch).await;
        patched.map(drop).with_context(|| format!("the tenant may not write a {}", K::kind(&())))
    }

    /// The tenant's own OperatorGroup, which targets his namespace.
    pub async fn own_group(&self) -> Result<()> {
        let group = builders::operator_group(self.home(), "group", &[self.home()]);
        self.create(&group).await.map(drop)
    }

    /// Reading Secrets where the tenant has no rights, asked for by an account of his namespace.
    pub fn theft<'a>(&self, account: &'a str, namespace: &'a str) -> Request<'a> {
        Request { user: account, verb: "get", resource: ("", "secrets"), namespace }
    }

    /// The user name of a ServiceAccount of the tenant's namespace.
    pub fn account(&self, name: &str) -> String {
        format!("system:serviceaccount:{}:{name}", self.home())
    }

    /// An administrator allows the namespace these targets.
    pub async fn allow_targets(&self, namespace: &str, targets: &str) -> Result<()> {
        let namespaces: Api<Namespace> = Api::all(self.ctx.client.clone());
        let annotation = json!({"olm-rs.dev/allowed-target-namespaces": targets});
        let patch = Patch::Merge(json!({"metadata": {"annotations": annotation}}));
        let patched = namespaces.patch(namespace, &PatchParams::default(), &patch).await;
        patched.map(drop).context("cannot annotate a namespace")
    }

    async fn employ(&self) -> Result<()> {
        let rules =
            json!([{"apiGroups": ["operators.coreos.com"], "resources": ["*"], "verbs": ["*"]}]);
        let role = json!({"metadata": {"name": "olm"}, "rules": rules});
        self.ctx.create::<Role>(&serde_json::from_value(role)?).await?;
        let user = json!({
            "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": self.user,
        });
        self.bind("olm", "Role", "olm", user.clone()).await?;
        self.bind("admin", "ClusterRole", "admin", user).await?;
        let known = Request {
            user: &self.user,
            verb: "create",
            resource: ("operators.coreos.com", "installplans"),
            namespace: self.home(),
        };
        known.expect(&self.ctx.client, true).await?;
        self.theft(&self.user, &self.foreign).expect(&self.ctx.client, false).await
    }

    /// Binds a user to a role in the tenant's namespace.
    pub async fn bind(&self, name: &str, kind: &str, role: &str, subject: Value) -> Result<()> {
        let binding: RoleBinding = serde_json::from_value(json!({
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role},
            "subjects": [subject],
        }))?;
        self.ctx.create(&binding).await.map(drop)
    }
}

/// The rule that every thief asks for.
pub fn secrets() -> Value {
    json!([{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}])
}

async fn impersonated(ctx: &TestContext, user: &str) -> Result<Client> {
    let file = Kubeconfig::read_from(ctx.kubeconfig().await?)?;
    let mut config = Config::from_custom_kubeconfig(file, &KubeConfigOptions::default()).await?;
    config.auth_info.impersonate = Some(user.to_owned());
    Client::try_from(config).context("cannot make a client for the tenant")
}
