//! Objects of the cluster that OLM makes because of what the tenant writes in his namespace.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Namespace, ServiceAccount};
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_testkit::builders;
use olm_testkit::wait;
use olm_types::api::{Operator, OperatorGroup};

use super::tenant::Tenant;

/// Labels of one object, and groups.
const MANY: usize = 40;

/// Groups of one namespace that have roles and labels, as `olm_opgroup::SHOWN` says.
const SHOWN: usize = 5;

/// An object may have thousands of labels, and Operators stay until a person deletes them: a label brings only
/// those of its own namespace.
pub async fn labels(tenant: Tenant) -> Result<()> {
    let own = format!("flood.{}", tenant.home());
    let mut account: ServiceAccount = builders::service_account(tenant.home(), "flood");
    let foreign = (0..MANY).map(|number| format!("flood{number}.{}", tenant.foreign));
    let names = foreign.chain([own.clone(), format!("flood-of-{}", tenant.home())]);
    let labels = names.map(|name| (format!("operators.coreos.com/{name}"), String::new()));
    account.labels_mut().extend(labels);
    tenant.create(&account).await?;
    let operators: Api<Operator> = Api::all(tenant.ctx.client.clone());
    wait::until(&operators, &own, "be there", |_| true).await?;
    tenant.ctx.until_idle().await?;
    let all = operators.list(&ListParams::default()).await?.items;
    let made = all.iter().map(ResourceExt::name_any).filter(|name| {
        name.ends_with(&format!(".{}", tenant.foreign)) || name.starts_with("flood-of-")
    });
    ensure!(made.count() == 0, "labels in one namespace fill the cluster with Operators");
    Ok(())
}

/// Many groups of one namespace are of no use, and each would have roles of the cluster and a label of the
/// Namespace.
pub async fn groups(tenant: Tenant) -> Result<()> {
    for number in 0..MANY {
        let name = format!("group{number}");
        tenant.create(&builders::operator_group(tenant.home(), &name, &[tenant.home()])).await?;
    }
    let reported = |group: &OperatorGroup| {
        let mut conditions = group.status.iter().flat_map(|status| &status.conditions);
        conditions.any(|condition| condition.type_ == "MultipleOperatorGroup")
    };
    let last = format!("group{}", MANY - 1);
    wait::until(&tenant.ctx.api(), &last, "say that there are others", reported).await?;
    tenant.ctx.until_idle().await?;
    let roles: Api<ClusterRole> = Api::all(tenant.ctx.client.clone());
    let labels = format!("olm.owner.namespace={},olm.owner.kind=OperatorGroup", tenant.home());
    let roles = roles.list(&ListParams::default().labels(&labels)).await?.items;
    ensure!(roles.len() <= 3 * SHOWN, "{} roles of the cluster for one namespace", roles.len());
    let namespaces: Api<Namespace> = Api::all(tenant.ctx.client.clone());
    let home = namespaces.get(tenant.home()).await.context("no namespace")?;
    let labels = home.labels().keys().filter(|key| key.starts_with("olm.operatorgroup.uid/"));
    let labels = labels.count();
    ensure!(labels <= SHOWN, "{labels} labels on the Namespace");
    Ok(())
}
