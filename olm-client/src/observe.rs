//! What is in a namespace, or in all of them: Subscriptions and what came of them.
//!
//! Whoever may write to a namespace may fill it with large objects, and of most of them little is looked at: of CSVs,
//! Deployments and Pods an outline is kept, and of an InstallPlan its steps only while it waits for a user.

use std::cell::Cell;
use std::collections::BTreeSet;

use anyhow::Result;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Container, Pod, PodSpec};
use kube::api::Api;
use olm_lifecycle::unpack::BundleReference;
use olm_plan::Observed;
use olm_plan::approval::is_pending;
use olm_plan::observed::{Plural, namespace};
use olm_types::api::{
    CatalogSource, ClusterServiceVersion, InstallPlan, OperatorCondition, OperatorGroup,
    Subscription,
};
use olm_types::labels::COPIED_FROM;

use crate::cluster::{Cluster, TimedOut, cause, slim_metadata, without_olm};
use crate::examined::pages::{FEW, MANY};
use crate::examined::slim;

/// Bytes of the InstallPlans of a namespace that wait, as far as they are kept.
const WAITING: usize = 16 << 20;

impl Cluster {
    /// Subscriptions and what comes of them, in a namespace or in all. Copies of CSVs are left out. What a plan does is
    /// there for one namespace only, and only while it waits.
    ///
    /// # Errors
    /// Subscriptions cannot be read, or time runs out. Every other kind that cannot be read is
    /// noted in the result and complained of.
    pub async fn observe(&self, home: Option<&str>, workloads: bool) -> Result<Observed> {
        let mut observed = Observed { home: home.map(str::to_owned), ..Observed::default() };
        let subscriptions = self.list(&self.api::<Subscription>(home)).await;
        observed.subscriptions = subscriptions.map_err(without_olm)?;
        self.observe_plans(home, &mut observed).await?;
        let csvs = self.csv_outlines(home).await;
        observed.csvs = noted(csvs, "clusterserviceversions", &mut observed)?;
        let packages = self.asked_packages(home, &observed.subscriptions).await;
        observed.packages = noted(packages, "packagemanifests", &mut observed)?;
        self.observe_catalogs(&mut observed).await?;
        if workloads {
            self.observe_workloads(home, &mut observed).await?;
        }
        for (kind, cause) in &observed.unread {
            self.notices.say(&format!("warning: cannot read {kind}: {cause}"));
        }
        Ok(observed)
    }

    /// A CSV with all that it says.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub async fn csv(&self, home: &str, name: &str) -> Result<ClusterServiceVersion> {
        let api: Api<ClusterServiceVersion> = self.api(Some(home));
        self.answer(api.get(name)).await
    }

    /// CSVs by what a resolver, a tree and a table look at, without copies.
    ///
    /// # Errors
    /// As [`Self::answer`].
    pub(crate) async fn csv_outlines(
        &self,
        home: Option<&str>,
    ) -> Result<Vec<ClusterServiceVersion>> {
        let originals = format!("!{COPIED_FROM}");
        let api: Api<ClusterServiceVersion> = self.api(home);
        self.kept(&api, (FEW, Some(&originals)), |csv, _| slim::csv(csv)).await
    }

    async fn observe_plans(&self, home: Option<&str>, observed: &mut Observed) -> Result<()> {
        let (api, waiting) = (self.api::<InstallPlan>(home), Cell::new(0));
        let keep = |plan, bytes| kept_plan(plan, bytes, home.is_some(), &waiting);
        let plans = self.kept(&api, (FEW, None), keep).await;
        let plans = noted(plans, "installplans", observed)?;
        if plans.iter().any(Option::is_none) {
            let why = format!("those that wait take more than {WAITING} bytes");
            observed.unread.insert("installplans", why);
        }
        observed.install_plans = plans.into_iter().flatten().collect();
        Ok(())
    }

    async fn observe_workloads(&self, home: Option<&str>, observed: &mut Observed) -> Result<()> {
        let (deployments, pods) = (self.api::<Deployment>(home), self.api::<Pod>(home));
        let read = self.kept(&deployments, (FEW, None), |one, _| slim::deployment(one)).await;
        observed.deployments = noted(read, "deployments", observed)?;
        let read = self.kept(&pods, (MANY, None), |one, _| pod(one)).await;
        observed.pods = noted(read, "pods", observed)?;
        let read = self.list(&self.api::<OperatorGroup>(home)).await;
        observed.operator_groups = noted(read, "operatorgroups", observed)?;
        let read = self.list(&self.api::<OperatorCondition>(home)).await;
        observed.operator_conditions = noted(read, "operatorconditions", observed)?;
        Ok(())
    }

    /// All CatalogSources, or those of the namespaces that Subscriptions name.
    async fn observe_catalogs(&self, observed: &mut Observed) -> Result<()> {
        let mut ignored = Observed::default();
        let everywhere = self.list(&self.api::<CatalogSource>(None)).await;
        observed.catalog_sources = noted(everywhere, "catalogsources", &mut ignored)?;
        if ignored.unread.is_empty() {
            return Ok(());
        }
        let named = observed.subscriptions.iter().map(|one| one.spec.source_namespace.clone());
        let own = observed.subscriptions.iter().map(|one| namespace(&one.metadata).to_owned());
        let homes: BTreeSet<String> = named.chain(own).collect();
        for home in homes.iter().filter(|home| !home.is_empty()) {
            let found = self.list(&self.api::<CatalogSource>(Some(home))).await;
            let found = noted(found, "catalogsources", observed)?;
            observed.catalog_sources.extend(found);
        }
        Ok(())
    }
}

/// What was read; that it could not be read is noted.
///
/// # Errors
/// Time ran out.
fn noted<T>(read: Result<Vec<T>>, kind: Plural, observed: &mut Observed) -> Result<Vec<T>> {
    match read {
        Err(error) if error.downcast_ref::<TimedOut>().is_none() => {
            observed.unread.insert(kind, cause(&error));
            Ok(Vec::new())
        }
        read => read,
    }
}

/// A plan with its steps where it waits for a user and these are looked at; nothing where such ones take too much. Of
/// others there is what says which bundles were unpacked for them.
fn kept_plan(
    plan: InstallPlan,
    bytes: usize,
    with_steps: bool,
    waiting: &Cell<usize>,
) -> Option<InstallPlan> {
    let mut plan = InstallPlan { metadata: slim_metadata(plan.metadata), ..plan };
    if with_steps && is_pending(&plan) {
        waiting.set(waiting.get().saturating_add(bytes));
        return (waiting.get() <= WAITING).then_some(plan);
    }
    for step in plan.status.iter_mut().flat_map(|status| status.plan.iter_mut()) {
        let manifest = step.resource.manifest.take();
        step.resource.manifest = manifest.filter(|text| BundleReference::parse(text).is_some());
    }
    Some(plan)
}

/// A Pod with the names of its containers.
fn pod(mut one: Pod) -> Pod {
    let containers = one.spec.take().map(|spec| spec.containers).unwrap_or_default();
    let named =
        containers.into_iter().map(|it| Container { name: it.name, ..Container::default() });
    let spec = PodSpec { containers: named.collect(), ..PodSpec::default() };
    Pod { spec: Some(spec), ..slim::pod(one) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, from_value, json};

    use super::*;

    fn plan(approval: &str, phase: &str) -> InstallPlan {
        let reference = json!({"kind": "ConfigMap", "name": "unpacked", "namespace": "olm",
            "catalogSourceName": "kitchen", "catalogSourceNamespace": "olm"});
        let steps = ["{\"kind\": \"Secret\"}".to_owned(), reference.to_string()];
        let steps = steps.map(|manifest| {
            json!({"resolving": "a.v1",
                "resource": {"kind": "K", "name": "n", "manifest": manifest}})
        });
        let metadata = json!({"name": "p", "managedFields": [{"manager": "m"}]});
        let spec = json!({"approval": approval, "approved": false,
            "clusterServiceVersionNames": ["a.v1"]});
        from_value(json!({"metadata": metadata, "spec": spec,
            "status": {"phase": phase, "plan": steps}}))
        .unwrap()
    }

    #[rstest]
    #[case::waits("Manual", "RequiresApproval", true, 2)]
    #[case::of_all_namespaces("Manual", "RequiresApproval", false, 1)]
    #[case::done("Automatic", "Complete", true, 1)]
    fn steps_are_kept_of_plans_that_wait(
        #[case] approval: &str,
        #[case] phase: &str,
        #[case] with_steps: bool,
        #[case] expected: usize,
    ) {
        let kept = kept_plan(plan(approval, phase), 1, with_steps, &Cell::new(0)).unwrap();
        let steps = kept.status.unwrap().plan;
        let manifests = steps.iter().filter(|step| step.resource.manifest.is_some()).count();
        assert_eq!((steps.len(), manifests), (2, expected));
        assert_eq!(kept.metadata.managed_fields, None);
    }

    #[test]
    fn plans_that_wait_and_take_too_much_are_left_out() {
        let waiting = Cell::new(0);
        let kept = |bytes| kept_plan(plan("Manual", "RequiresApproval"), bytes, true, &waiting);
        assert!(kept(WAITING).is_some());
        assert!(kept(1).is_none());
        assert!(kept_plan(plan("Manual", "Complete"), 1, true, &waiting).is_some());
    }

    #[test]
    fn a_pod_keeps_what_logs_and_trees_look_at() {
        let whole: Value = json!({"metadata": {"name": "a", "labels": {"app": "kettle"}},
            "spec": {"containers": [{"name": "manager", "image": "i", "args": ["--long"]}]},
            "status": {"phase": "Running"}});
        let kept = serde_json::to_value(pod(from_value(whole).unwrap())).unwrap();
        assert_eq!(kept["metadata"]["labels"]["app"], "kettle");
        assert_eq!(kept["spec"]["containers"], json!([{"name": "manager"}]));
        assert_eq!(kept["status"]["phase"], "Running");
    }
}
