//! The writes of a catalog that a server is run for, in v0's order.

use std::sync::Arc;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Pod;
use kube_core::ResourceExt;
use olm_effect::{Action, Effect};
use olm_types::api::CatalogSource;
use olm_types::labels;
use serde_json::{Value, json};

use super::super::hosting::{Mode, mode};
use super::super::observed::Observed;
use super::super::polling::{Poll, PollStep, poll};
use super::super::registry::DesiredObjects;
use super::super::{drift, pods};
use super::{Plan, PlannedStatus, Server, Step};
use crate::writes::target_of;

/// Grace period in seconds of a registry Pod that makes way for another one.
pub(super) const GRACE: u32 = 1;
/// Field manager under which a Pod that looked for a newer image is made one that serves.
const PROMOTER: &str = "olm.registry";
/// Field manager under which a Pod that an old version of OLM made gets the label that it lacks.
const LABELLER: &str = "olm-ownership-labeller";

/// A plan in the making.
pub(super) struct Build<'a> {
    pub(super) observed: &'a Observed,
    pub(super) wanted: &'a DesiredObjects,
    pub(super) sorted: pods::Sorted,
    poll: Poll,
    steps: Vec<Step>,
    pub(super) now: Timestamp,
}

impl<'a> Build<'a> {
    pub(super) fn new(observed: &'a Observed, wanted: &'a DesiredObjects, now: Timestamp) -> Self {
        let catalog = &*observed.catalog;
        let sorted = pods::sort(&catalog.name_any(), &observed.server.pods, &wanted.pod);
        let poll = poll(catalog, &sorted, &wanted.pod, observed.digest.as_ref(), now);
        Self { observed, wanted, sorted, poll, steps: Vec::new(), now }
    }

    pub(super) fn finish(mut self) -> Plan {
        self.policies();
        self.account_and_rights();
        let image = self.catalog().spec.image.as_deref().unwrap_or_default();
        match self.observed.hosting.as_ref().map(|hosting| mode(hosting, image)) {
            Some(Mode::Waiting) => self.end(PlannedStatus::Pulling),
            Some(Mode::Process(port)) => self.in_process(port),
            Some(Mode::Pod(_)) | None => self.by_pod(),
        }
    }

    /// Has a Pod serve.
    fn by_pod(mut self) -> Plan {
        let is_ready = self.sorted.right.iter().any(|pod| pods::is_ready(pod));
        let made_pod = self.pods();
        self.update_pods();
        self.service_of_pods(is_ready);
        let (service, poll) = (self.wanted.service.name_any(), std::mem::take(&mut self.poll.step));
        self.end(PlannedStatus::Server(Server { service, made_pod, poll, in_process: None }))
    }

    pub(super) fn end(self, course: PlannedStatus) -> Plan {
        Plan { steps: self.steps, course }
    }

    pub(super) fn catalog(&self) -> &CatalogSource {
        &self.observed.catalog
    }

    pub(super) fn add(&mut self, effects: Vec<Effect>, context: &str) {
        let context = format!("{context}: ");
        self.steps
            .extend(effects.into_iter().map(|effect| Step { effect, context: context.clone() }));
    }

    fn policies(&mut self) {
        let name = self.catalog().name_any();
        for (wanted, what) in self.wanted.policies.iter().zip(["grpc server", "bundle unpack"]) {
            let present = self.observed.server.policies.iter();
            let present = present.into_iter().find(|policy| policy.name_any() == wanted.name_any());
            let effects = drift::policy(wanted, present.map(Arc::as_ref));
            let context = format!("error ensuring {what} network policy for catalog source {name}");
            self.add(effects, &context);
        }
    }

    fn account_and_rights(&mut self) {
        let (present, wanted) = (&self.observed.server, self.wanted);
        let account = wanted.account.name_any();
        let effects = drift::account(&wanted.account, present.account.as_deref());
        self.add(effects, &format!("error ensuring service account: {account}"));
        if let Some((role, binding)) = &wanted.rights {
            let effects = drift::role(role, present.role.as_deref());
            self.add(effects, &format!("error ensuring role: {}", role.name_any()));
            let effects = drift::binding(binding, present.binding.as_deref());
            self.add(effects, &format!("error ensuring rolebinding: {}", binding.name_any()));
        }
    }

    /// One Pod serves. Says whether it has to be made.
    fn pods(&mut self) -> bool {
        let prefix = format!("{}-", self.catalog().name_any());
        let sorted = std::mem::take(&mut self.sorted);
        for pod in &sorted.dead {
            self.add(vec![drift::delete(&**pod, Some(0))], "error deleting dead pods");
        }
        let promoting = matches!(self.poll.step, PollStep::Promote(..));
        let surplus = sorted.right.iter().skip(1).filter(|_| !promoting);
        for pod in sorted.wrong.iter().chain(surplus) {
            let name = pod.name_any();
            let context = format!("error ensuring pod: {prefix}: error deleting old pod: {name}");
            self.add(vec![drift::delete(&**pod, Some(GRACE))], &context);
        }
        let lacking = |pod: &&Arc<Pod>| !pod.labels().contains_key(labels::MANAGED);
        if let Some(pod) = sorted.right.first().filter(lacking) {
            let all = json!({labels::MANAGED: labels::MANAGED_VALUE});
            let context = format!("error ensuring pod: {prefix}");
            self.add(vec![labelling(pod, &all, LABELLER)], &context);
        }
        let missing = sorted.right.is_empty();
        if missing {
            let context = format!("error ensuring pod: {prefix}: error creating new pod: {prefix}");
            self.add(vec![drift::create(&self.wanted.pod)], &context);
        }
        missing
    }

    fn update_pods(&mut self) {
        let name = self.catalog().name_any();
        let context = format!("error ensuring update pod for catalog source {name}");
        for pod in std::mem::take(&mut self.poll.discard) {
            self.add(vec![drift::delete(&*pod, Some(GRACE))], &context);
        }
        let effects = match &self.poll.step {
            PollStep::Look => vec![drift::create(&update_pod(&self.wanted.pod, &name))],
            PollStep::Promote(pod, old) => {
                let old = old.iter().map(|pod| drift::delete(&**pod, Some(GRACE)));
                std::iter::once(promotion(pod, &name)).chain(old).collect()
            }
            PollStep::Rest
            | PollStep::Unchanged
            | PollStep::Pending
            | PollStep::Failed(_)
            | PollStep::Same => Vec::new(),
        };
        self.add(effects, &context);
    }
}

fn update_pod(wanted: &Pod, name: &str) -> Pod {
    let mut pod = wanted.clone();
    pods::update_labels(name, pod.labels_mut());
    pod
}

/// Has the Service find a Pod that looked for a newer image.
fn promotion(pod: &Pod, name: &str) -> Effect {
    let all = json!({labels::CATALOG_SOURCE: name, labels::CATALOG_SOURCE_UPDATE: ""});
    labelling(pod, &all, PROMOTER)
}

fn labelling(pod: &Pod, all: &Value, manager: &str) -> Effect {
    let target = target_of(pod);
    let object = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": target.name, "namespace": target.namespace, "labels": all},
    });
    Effect::new(target, Action::Apply { object, manager: manager.to_owned(), force: true })
}
