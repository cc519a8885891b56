//! Roles and bindings on the API server, and the same as our code sees them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use k8s_openapi::api::rbac::v1::{
    AggregationRule, ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef,
    Subject,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{LabelSelector, ObjectMeta};
use kube::Client;
use kube::api::{Api, PostParams};
use olm_rbac::{Account, RbacView, Scope};
use olm_testkit::e2e::TestContext;
use olm_testkit::wait;

use super::generate::{BindingForm, HeldRole, Named};
use super::oracle::Oracle;

/// Label by which the rules of a role are collected into another one.
const COLLECTED: &str = "rbac-oracle.example.com/collected-by";

/// What was created, as the API server gave it back.
pub struct Server {
    client: Client,
    namespace: String,
    roles: BTreeMap<String, Arc<Role>>,
    cluster_roles: BTreeMap<String, Arc<ClusterRole>>,
    bindings: Vec<Arc<RoleBinding>>,
    cluster_bindings: Vec<Arc<ClusterRoleBinding>>,
}

impl Server {
    pub fn new(ctx: &TestContext) -> Self {
        Self {
            client: ctx.client.clone(),
            namespace: ctx.namespace.clone(),
            roles: BTreeMap::new(),
            cluster_roles: BTreeMap::new(),
            bindings: Vec::new(),
            cluster_bindings: Vec::new(),
        }
    }

    /// Gives roles to an account.
    pub async fn grant(&mut self, account: &str, holdings: Vec<HeldRole>) -> Result<()> {
        for (index, holding) in holdings.into_iter().enumerate() {
            let name = format!("{}-{account}-{index}", self.namespace);
            let subject = self.subject(account, holding.subject);
            match holding.by {
                BindingForm::Role => {
                    self.role(&name, holding.rules).await?;
                    self.bind_here(&name, "Role", subject).await?;
                }
                BindingForm::ClusterRoleHere => {
                    self.cluster_role(&name, holding.rules).await?;
                    self.bind_here(&name, "ClusterRole", subject).await?;
                }
                BindingForm::ClusterRole => {
                    self.cluster_role(&name, holding.rules).await?;
                    self.bind(&name, subject).await?;
                }
                BindingForm::Aggregated => {
                    self.aggregated(&name, holding.rules).await?;
                    self.bind(&name, subject).await?;
                }
            }
        }
        Ok(())
    }

    /// Waits until the authorizer, which follows each kind by a watch of its own, has seen all of
    /// them: an account that was granted rights last, in every way, has these rights.
    pub async fn until_in_force(&mut self, oracle: &Oracle) -> Result<()> {
        let last = |by, verb: &str| HeldRole {
            by,
            subject: Named::Account,
            rules: vec![PolicyRule {
                verbs: vec![verb.to_owned()],
                api_groups: Some(vec!["last".to_owned()]),
                resources: Some(vec!["last".to_owned()]),
                ..PolicyRule::default()
            }],
        };
        let holdings = vec![last(BindingForm::Role, "get"), last(BindingForm::ClusterRole, "list")];
        let rules: Vec<PolicyRule> = holdings.iter().flat_map(|one| one.rules.clone()).collect();
        self.grant("last", holdings).await?;
        let account = Account::new(&self.namespace, "last");
        let mut beat = tokio::time::interval(Duration::from_millis(50));
        for _ in 0..400 {
            beat.tick().await;
            let mut seen = true;
            for rule in &rules {
                seen &= oracle.allows(&account, rule, Scope::Namespace).await?;
            }
            if seen {
                return Ok(());
            }
        }
        bail!("the authorizer does not see new roles")
    }

    async fn role(&mut self, name: &str, rules: Vec<PolicyRule>) -> Result<()> {
        let role = Role { metadata: named(name), rules: Some(rules) };
        let roles: Api<Role> = Api::namespaced(self.client.clone(), &self.namespace);
        let role = roles.create(&PostParams::default(), &role).await.context("no Role")?;
        self.roles.insert(name.to_owned(), Arc::new(role));
        Ok(())
    }

    async fn cluster_role(&mut self, name: &str, rules: Vec<PolicyRule>) -> Result<()> {
        let role =
            ClusterRole { metadata: named(name), rules: Some(rules), ..ClusterRole::default() };
        let roles: Api<ClusterRole> = Api::all(self.client.clone());
        let role = roles.create(&PostParams::default(), &role).await.context("no ClusterRole")?;
        self.cluster_roles.insert(name.to_owned(), Arc::new(role));
        Ok(())
    }

    /// A role whose rules a controller of the cluster collects from another one.
    async fn aggregated(&mut self, name: &str, rules: Vec<PolicyRule>) -> Result<()> {
        let roles: Api<ClusterRole> = Api::all(self.client.clone());
        let label = BTreeMap::from([(COLLECTED.to_owned(), name.to_owned())]);
        let mut part = ClusterRole {
            metadata: named(&format!("{name}-part")),
            rules: Some(rules),
            ..ClusterRole::default()
        };
        part.metadata.labels = Some(label.clone());
        roles.create(&PostParams::default(), &part).await.context("no ClusterRole")?;
        let selector = LabelSelector { match_labels: Some(label), ..LabelSelector::default() };
        let whole = ClusterRole {
            metadata: named(name),
            aggregation_rule: Some(AggregationRule {
                cluster_role_selectors: Some(vec![selector]),
            }),
            ..ClusterRole::default()
        };
        roles.create(&PostParams::default(), &whole).await.context("no ClusterRole")?;
        let collected = wait::until(&roles, name, "have its rules collected", |role| {
            role.rules.as_ref().is_some_and(|rules| !rules.is_empty())
        });
        self.cluster_roles.insert(name.to_owned(), Arc::new(collected.await?));
        Ok(())
    }

    async fn bind_here(&mut self, name: &str, kind: &str, subject: Subject) -> Result<()> {
        let binding = RoleBinding {
            metadata: named(name),
            role_ref: role_ref(kind, name),
            subjects: Some(vec![subject]),
        };
        let bindings: Api<RoleBinding> = Api::namespaced(self.client.clone(), &self.namespace);
        let binding = bindings.create(&PostParams::default(), &binding).await;
        self.bindings.push(Arc::new(binding.context("no RoleBinding")?));
        Ok(())
    }

    async fn bind(&mut self, name: &str, subject: Subject) -> Result<()> {
        let binding = ClusterRoleBinding {
            metadata: named(name),
            role_ref: role_ref("ClusterRole", name),
            subjects: Some(vec![subject]),
        };
        let bindings: Api<ClusterRoleBinding> = Api::all(self.client.clone());
        let binding = bindings.create(&PostParams::default(), &binding).await;
        self.cluster_bindings.push(Arc::new(binding.context("no ClusterRoleBinding")?));
        Ok(())
    }

    fn subject(&self, account: &str, named: Named) -> Subject {
        let namespace = &self.namespace;
        let of = |kind: &str, name: String, namespace: Option<&str>| Subject {
            kind: kind.to_owned(),
            name,
            namespace: namespace.map(str::to_owned),
            api_group: None,
        };
        match named {
            Named::Account => of("ServiceAccount", account.to_owned(), Some(namespace)),
            Named::User => of("User", format!("system:serviceaccount:{namespace}:{account}"), None),
            Named::Group => of("Group", format!("system:serviceaccounts:{namespace}"), None),
            Named::Elsewhere => of("ServiceAccount", account.to_owned(), Some("elsewhere")),
        }
    }
}

impl RbacView for Server {
    fn role(&self, _: &str, name: &str) -> Option<Arc<Role>> {
        self.roles.get(name).cloned()
    }

    fn cluster_role(&self, name: &str) -> Option<Arc<ClusterRole>> {
        self.cluster_roles.get(name).cloned()
    }

    fn role_bindings(&self, _: &str) -> Vec<Arc<RoleBinding>> {
        self.bindings.clone()
    }

    fn cluster_role_bindings(&self) -> Vec<Arc<ClusterRoleBinding>> {
        self.cluster_bindings.clone()
    }
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta { name: Some(name.to_owned()), ..ObjectMeta::default() }
}

fn role_ref(kind: &str, name: &str) -> RoleRef {
    RoleRef {
        api_group: Some("rbac.authorization.k8s.io".to_owned()),
        kind: kind.to_owned(),
        name: name.to_owned(),
    }
}
