//! OperatorGroups whose status the tenant writes himself.
//!
//! OLM repairs the status of a group at once, but not that of one that is being deleted, which a
//! finalizer keeps, nor the list of one whose selector means nothing.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRoleBinding;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::ResourceExt;
use kube::api::{Api, DeleteParams, PostParams};
use olm_testkit::builders::{self, csv};
use olm_testkit::wait;
use olm_types::api::{ClusterServiceVersion, OperatorGroup};
use serde_json::json;

use super::plans::{concluded, crown, write_plan};
use super::targets::install;
use super::tenant::Tenant;

/// Keeps a group that is being deleted.
const KEEP: &str = "tenant.example.com/keep";

/// The group names an account of another user in its status, who may do everything.
pub async fn forged_account(tenant: Tenant) -> Result<()> {
    let theft = tenant.theft(&tenant.user, "kube-system");
    theft.expect(&tenant.ctx.client, false).await?;
    ruler(&tenant).await?;
    let group = create(&tenant, |group| {
        group.spec.service_account_name = Some("any".to_owned());
    });
    group.await?;
    delete(&tenant).await?;
    let account = json!({
        "apiVersion": "v1", "kind": "ServiceAccount", "namespace": tenant.foreign, "name": "ruler",
    });
    tenant.put_status::<OperatorGroup>("group", json!({"serviceAccountRef": account})).await?;
    write_plan(&tenant, &crown(&tenant)).await?;
    concluded(&tenant, "is being deleted and gives no namespaces any more").await?;
    theft.expect(&tenant.ctx.client, false).await?;
    release(&tenant).await
}

/// An account with all rights, in a namespace of another user.
pub async fn ruler(tenant: &Tenant) -> Result<()> {
    let (client, once) = (&tenant.ctx.client, PostParams::default());
    let accounts: Api<ServiceAccount> = Api::namespaced(client.clone(), &tenant.foreign);
    accounts.create(&once, &builders::service_account(&tenant.foreign, "ruler")).await?;
    let binding: ClusterRoleBinding = serde_json::from_value(json!({
        "metadata": {"name": format!("{}-ruler", tenant.home())},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin",
        },
        "subjects": [{"kind": "ServiceAccount", "name": "ruler", "namespace": tenant.foreign}],
    }))?;
    let bindings: Api<ClusterRoleBinding> = Api::all(client.clone());
    bindings.create(&once, &binding).await.map(drop).context("no ruler")
}

/// Nothing is selected, since the selector cannot be read, and the status says all namespaces.
pub async fn forged_targets(tenant: Tenant) -> Result<()> {
    let mut group = builders::operator_group(tenant.home(), "group", &[]);
    group.spec = serde_json::from_value(json!({
        "selector": {"matchExpressions": [{"key": "k", "operator": "Like"}]},
    }))?;
    tenant.create(&group).await?;
    let reported = |group: &OperatorGroup| {
        let mut conditions = group.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|condition| condition.type_ == "InvalidTargetNamespaces")
    };
    wait::until(&tenant.ctx.api(), "group", "say that its selector is wrong", reported).await?;
    tenant.put_status::<OperatorGroup>("group", json!({"namespaces": [""]})).await?;
    install(&tenant).await?;
    nothing_is_gained(&tenant).await
}

/// The status of a group that is being deleted says all namespaces.
pub async fn going_targets(tenant: Tenant) -> Result<()> {
    create(&tenant, |_| {}).await?;
    delete(&tenant).await?;
    tenant.put_status::<OperatorGroup>("group", json!({"namespaces": [""]})).await?;
    install(&tenant).await?;
    nothing_is_gained(&tenant).await?;
    release(&tenant).await
}

/// The account of the tenant's CSV has its rights nowhere else.
pub async fn nothing_is_gained(tenant: &Tenant) -> Result<()> {
    tenant.ctx.until_idle().await?;
    let account = tenant.account("thief");
    tenant.theft(&account, "kube-system").expect(&tenant.ctx.client, false).await?;
    tenant.theft(&account, &tenant.foreign).expect(&tenant.ctx.client, false).await
}

/// The status of a group that is being deleted names the namespace of another user, who provides
/// the APIs that it claims.
pub async fn going_claim(tenant: Tenant) -> Result<()> {
    let kind = tenant.ctx.kind("Service");
    let crds: Api<CustomResourceDefinition> = Api::all(tenant.ctx.client.clone());
    crds.create(&PostParams::default(), &serde_json::from_value(kind.manifest())?).await?;
    let apis = kind.gvk();
    let text = |key: &str| apis[key].as_str().unwrap_or_default();
    let claim = format!("{}.{}.{}", text("kind"), text("version"), text("group"));
    let made = create(&tenant, |group| {
        group.spec.static_provided_apis = Some(true);
        group.annotations_mut().insert("olm.providedAPIs".to_owned(), claim);
    });
    let uid = made.await?.uid().context("a group without uid")?;
    delete(&tenant).await?;
    let listed = json!({"namespaces": [tenant.foreign]});
    tenant.put_status::<OperatorGroup>("group", listed).await?;
    let (client, home) = (&tenant.ctx.client, tenant.foreign.as_str());
    let once = PostParams::default();
    let groups: Api<OperatorGroup> = Api::namespaced(client.clone(), home);
    groups.create(&once, &builders::operator_group(home, "group", &[home])).await?;
    let operator = csv("honest.v1.0.0", "1.0.0").owns(&kind).deployment("honest", "default");
    let csvs: Api<ClusterServiceVersion> = Api::namespaced(client.clone(), home);
    csvs.create(&once, &operator.build()).await.context("cannot create the CSV")?;
    let ends = |csv: &ClusterServiceVersion| {
        let phase = csv.status.as_ref().map(|status| status.phase.to_string());
        matches!(phase.as_deref(), Some("Succeeded" | "Failed"))
    };
    let ended = wait::until(&csvs, "honest.v1.0.0", "succeed or fail", ends).await?;
    let reason = ended.status.and_then(|status| status.reason).unwrap_or_default();
    ensure!(reason == "InstallSucceeded", "the neighbour's CSV ends with {reason}");
    let namespaces: Api<Namespace> = Api::all(client.clone());
    let labels = namespaces.get(home).await?.labels().clone();
    let label = format!("olm.operatorgroup.uid/{uid}");
    ensure!(!labels.contains_key(&label), "the neighbour's namespace has {label}");
    release(&tenant).await
}

/// The tenant's group for his own namespace, which a finalizer will keep.
pub async fn create(
    tenant: &Tenant,
    change: impl FnOnce(&mut OperatorGroup),
) -> Result<OperatorGroup> {
    let mut group = builders::operator_group(tenant.home(), "group", &[tenant.home()]);
    group.finalizers_mut().push(KEEP.to_owned());
    change(&mut group);
    tenant.create(&group).await?;
    let listed = |group: &OperatorGroup| {
        group.status.as_ref().is_some_and(|status| !status.namespaces.is_empty())
    };
    wait::until(&tenant.ctx.api(), "group", "list its targets", listed).await
}

/// Deletes the group, which stays.
pub async fn delete(tenant: &Tenant) -> Result<()> {
    let groups: Api<OperatorGroup> = Api::namespaced(tenant.client.clone(), tenant.home());
    groups.delete("group", &DeleteParams::default()).await.context("cannot delete the group")?;
    let going = |group: &OperatorGroup| group.metadata.deletion_timestamp.is_some();
    wait::until(&groups, "group", "be on its way", going).await.map(drop)
}

/// Lets the group go.
pub async fn release(tenant: &Tenant) -> Result<()> {
    tenant.put::<OperatorGroup>("group", json!({"metadata": {"finalizers": null}})).await?;
    wait::until_gone(&tenant.ctx.api::<OperatorGroup>(), "group").await
}
