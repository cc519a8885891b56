//! The objects of OLM in a namespace, or in all.

use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::api::Api;
use olm_plan::Observed;
use olm_plan::observed::{Plural, Size, name, namespace};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    Subscription,
};
use olm_types::labels::COPIED_FROM;

use super::pages::{FEW, MANY};
use super::{Reading, slim};
use crate::cluster::{TimedOut, without_olm};

impl Reading<'_> {
    /// Reads the lists; what comes back are the metadata of the InstallPlans.
    ///
    /// # Errors
    /// Subscriptions cannot be read, or time runs out.
    pub(super) async fn lists(&self, observed: &mut Observed) -> Result<Vec<ObjectMeta>> {
        let originals = format!("!{COPIED_FROM}");
        let (subscriptions, csvs, groups, conditions) =
            (self.api(), self.api(), self.api(), self.api());
        let (plans, sources) = (self.api::<InstallPlan>(), Api::all(self.cluster.client.clone()));
        let read = tokio::join!(
            self.cluster.kept(&subscriptions, (MANY, None), |one, _| slim::subscription(one)),
            self.cluster.kept(&csvs, (FEW, Some(&originals)), |csv, bytes| (slim::csv(csv), bytes)),
            self.cluster.kept(&groups, (MANY, None), |group: OperatorGroup, _| group),
            self.cluster.kept(&conditions, (MANY, None), |one: OperatorCondition, _| one),
            self.cluster.metadata(&plans, None),
            self.cluster.kept(&sources, (MANY, None), |source: CatalogSource, _| source),
        );
        let (subscriptions, csvs, groups, conditions, plans, sources) = read;
        observed.subscriptions = match subscriptions {
            read if self.before && !is_timed_out(&read) => {
                self.noted(read, "subscriptions", observed)
            }
            read => read.map_err(without_olm)?,
        };
        let csvs: Vec<(ClusterServiceVersion, usize)> =
            self.noted(csvs, "clusterserviceversions", observed);
        observed.sizes = csvs.iter().map(of_csv).collect();
        observed.csvs = csvs.into_iter().map(|(csv, _)| csv).collect();
        observed.operator_groups = self.noted(groups, "operatorgroups", observed);
        observed.operator_conditions = self.noted(conditions, "operatorconditions", observed);
        observed.catalog_sources = match sources {
            Ok(sources) => sources,
            Err(_) => self.named_catalogs(&observed.subscriptions.clone(), observed).await,
        };
        Ok(self.noted(plans, "installplans", observed))
    }

    /// Who may not read the CatalogSources of the cluster reads those of the namespaces that Subscriptions
    /// name.
    async fn named_catalogs(
        &self,
        subscriptions: &[Subscription],
        observed: &mut Observed,
    ) -> Vec<CatalogSource> {
        let named = subscriptions.iter().map(|one| one.spec.source_namespace.as_str());
        let homes: BTreeSet<&str> =
            named.chain(self.home).filter(|home| !home.is_empty()).collect();
        let mut found = Vec::new();
        for home in homes {
            let api: Api<CatalogSource> = self.cluster.api(Some(home));
            let read = self.cluster.list(&api).await;
            found.extend(self.noted(read, "catalogsources", observed));
        }
        found
    }

    fn api<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    {
        self.cluster.api(self.home)
    }
}

fn is_timed_out<T>(read: &Result<T>) -> bool {
    read.as_ref().is_err_and(|error| error.downcast_ref::<TimedOut>().is_some())
}

fn of_csv((csv, bytes): &(ClusterServiceVersion, usize)) -> Size {
    size(ClusterServiceVersion::KIND, &csv.metadata, *bytes)
}

/// How large an object is.
pub(super) fn size(kind: Plural, metadata: &ObjectMeta, bytes: usize) -> Size {
    let (namespace, name) = (namespace(metadata).to_owned(), name(metadata).to_owned());
    Size { kind, namespace, name, bytes }
}
