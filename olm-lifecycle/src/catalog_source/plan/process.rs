//! A catalog that the operator serves itself, and the way there and back, on which its Service always
//! has an endpoint that answers.
//!
//! ```text
//! there  EndpointSlice of ours -> Service without selector -> endpoints of others go -> Pods go
//! back   Pod -> ready -> Service with selector -> its endpoints are there -> EndpointSlice goes
//! ```

use std::time::Duration;

use k8s_openapi::api::core::v1::Endpoints;
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube_core::ResourceExt;
use olm_effect::{Effect, Target};

use super::super::drift;
use super::super::hosting::{Hosting, Replica, record, selects, slice, slice_name};
use super::super::polling::PollStep;
use super::build::{Build, GRACE};
use super::{InProcess, Plan, PlannedStatus, Server};
use crate::writes::resource_of;

/// How long Pods serve beside the operator, until every node knows where the Service leads now.
const BESIDE: Duration = Duration::from_secs(5);

impl Build<'_> {
    /// Has the operator serve at `port`.
    pub(super) fn in_process(mut self, port: u16) -> Plan {
        let name = self.wanted.service_in_process.name_any();
        let served = self.observed.hosting.as_ref();
        let served = served.and_then(|hosting| Some((hosting, hosting.content.as_ref()?)));
        let Some((hosting, content)) = served else { return self.end(PlannedStatus::Pulling) };
        let known = hosting.slice.as_deref().and_then(record);
        let service = self.observed.server.service.as_deref();
        let is_due = hosting.slice.is_some() || !service.is_some_and(selects) || serves(hosting);
        let recorded = is_due && known.is_none_or(|known| known.digest != content.digest);
        if is_due {
            let effects = slice::ensure(self.catalog(), service, hosting, content, port);
            self.add(effects, &format!("error ensuring endpoint slice: {}", slice_name(&name)));
        }
        let is_taken = self.service_in_process(hosting);
        let beside = if is_taken { self.pods_go(hosting) } else { Some(BESIDE) };
        let in_process = Some(InProcess { recorded, beside });
        let poll = PollStep::Rest;
        self.end(PlannedStatus::Server(Server { service: name, made_pod: false, poll, in_process }))
    }

    /// Takes the Service away from Pods, once an endpoint of ours answers. Says whether Pods may go.
    fn service_in_process(&mut self, hosting: &Hosting) -> bool {
        let (present, desired) = (self.observed.server.service.as_deref(), self.wanted);
        let desired = &desired.service_in_process;
        let selects = present.is_some_and(selects);
        if selects && !leads_to_the_operator(hosting) {
            return false;
        }
        let context = format!("error ensuring service: {}", desired.name_any());
        self.add(drift::service(desired, present), &context);
        // What others made while the Service had a selector stays for ever without one.
        let stale: Vec<Effect> = match selects {
            true => Vec::new(),
            false => hosting.foreign.iter().map(|slice| drift::delete(&**slice, None)).collect(),
        };
        if selects || !stale.is_empty() {
            self.add(vec![Effect::delete(self.target::<Endpoints>(&desired.name_any()))], &context);
        }
        self.add(stale, &context);
        true
    }

    /// Has Pods go, or says how long they stay.
    fn pods_go(&mut self, hosting: &Hosting) -> Option<Duration> {
        let sorted = std::mem::take(&mut self.sorted);
        let living = sorted.right.iter().chain(&sorted.wrong).chain(&sorted.updates);
        let living = living.map(|pod| drift::delete(&**pod, Some(GRACE)));
        let dead = sorted.dead.iter().map(|pod| drift::delete(&**pod, Some(0)));
        let effects: Vec<Effect> = living.chain(dead).collect();
        if effects.is_empty() {
            return None;
        }
        let since = hosting.slice.as_ref().and_then(|slice| slice.creation_timestamp());
        let beside = since.map(|since| self.now.duration_since(since.0));
        let beside = beside.and_then(|beside| Duration::try_from(beside).ok()).unwrap_or_default();
        if beside < BESIDE {
            return Some(BESIDE.saturating_sub(beside));
        }
        let name = self.catalog().name_any();
        self.add(effects, &format!("error deleting pods of {name}"));
        None
    }

    /// Gives the Service to Pods, unless the operator still serves and no Pod does; then takes the
    /// operator's endpoints away.
    pub(super) fn service_of_pods(&mut self, is_ready: bool) {
        let (present, desired) = (self.observed.server.service.as_deref(), &self.wanted.service);
        let lacks_selector = present.is_some_and(|service| !selects(service));
        let hosting = self.observed.hosting.as_ref();
        let serves = |hosting: &Hosting| hosting.content.is_some() && hosting.slice.is_some();
        if lacks_selector && hosting.is_some_and(serves) && !is_ready {
            return;
        }
        let context = format!("error ensuring service: {}", desired.name_any());
        self.add(drift::service(desired, present), &context);
        let slice = hosting.map(|hosting| hosting.slice.as_deref());
        let gone = match (hosting, slice) {
            (Some(hosting), Some(Some(slice))) => {
                let replaced = !serves(hosting) || hosting.foreign.iter().any(|one| answers(one));
                (!lacks_selector && replaced).then(|| drift::delete(slice, None))
            }
            // Not watched, and there only if the operator served the catalog before.
            (None, _) if lacks_selector => {
                let name = slice_name(&desired.name_any());
                Some(Effect::delete(self.target::<EndpointSlice>(&name)))
            }
            _ => None,
        };
        self.add(gone.into_iter().collect(), &context);
    }

    fn target<K: kube_core::Resource<DynamicType = ()>>(&self, name: &str) -> Target {
        let namespace = self.catalog().namespace().unwrap_or_default();
        Target::namespaced(resource_of::<K>(), &namespace, name)
    }
}

/// Whether the operator serves the catalog where clients would be sent: at one of its Pods, or without Pods.
fn serves(hosting: &Hosting) -> bool {
    let answers = |one: &Replica| one.ready && !one.terminating && one.serves;
    hosting.replicas.is_empty() || hosting.replicas.iter().any(answers)
}

/// Whether clients would reach the operator without the Service's selector.
fn leads_to_the_operator(hosting: &Hosting) -> bool {
    let is_without_pods = hosting.replicas.is_empty();
    hosting.slice.as_deref().is_some_and(|slice| is_without_pods || answers(slice))
}

/// Whether one of the endpoints is ready.
fn answers(slice: &EndpointSlice) -> bool {
    slice.endpoints.iter().flatten().any(|endpoint| {
        endpoint.conditions.as_ref().is_none_or(|found| found.ready.unwrap_or(true))
    })
}
