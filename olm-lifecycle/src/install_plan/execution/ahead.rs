//! Steps that wait for nothing of each other are begun together: CRDs, for which the API server takes
//! longest, and further objects of one kind that follow each other in the plan.
//!
//! Only first calls are made so, and only those that follow from what is known already. What became of
//! them is taken in step by step, in the order of the plan, so that statuses, notes and the error that ends
//! an execution are those of one call at a time. Steps behind an error may have been begun then: their
//! objects exist, and the next execution finds them.

use std::collections::BTreeMap;

use olm_effect::Target;
use olm_types::api::Step;

use super::call::{Reply, Request};
use super::handlers::handler_for;
use super::machine::{Execution, MachineState};

/// Steps that are begun together at most.
pub const AT_ONCE: usize = 8;

/// Bytes of their manifests at most, unless one alone has more: what is made of all of them is in memory
/// at a time.
const BYTES: usize = 1 << 20;

/// Kinds whose objects begin something: the later ones wait until the earlier ones are there.
const ONE_BY_ONE: [&str; 2] = ["ClusterServiceVersion", "Subscription"];

/// Steps whose first calls are made ahead of their turn, by place.
#[derive(Default)]
pub(super) struct Ahead {
    asked: Vec<(usize, MachineState)>,
    answered: BTreeMap<usize, (MachineState, Reply)>,
}

impl Execution {
    /// The calls to make next, at the same time; none when all steps were visited or one failed.
    pub fn next_requests(&mut self) -> Vec<Request> {
        self.take_in();
        self.look_again();
        let together = self.together();
        if together.is_empty() { self.next_request().into_iter().collect() } else { together }
    }

    /// Takes in what became of the last requests, in their order.
    pub fn accept_replies(&mut self, replies: Vec<Reply>) {
        let asked = std::mem::take(&mut self.ahead.asked);
        if asked.is_empty() {
            return replies.into_iter().for_each(|reply| self.accept_reply(reply));
        }
        let answered = asked.into_iter().zip(replies);
        self.ahead.answered =
            answered.map(|((place, state), reply)| (place, (state, reply))).collect();
    }

    /// Goes on with steps whose first call was answered, until one needs another call.
    fn take_in(&mut self) {
        while !self.has_failed()
            && matches!(self.state, MachineState::Open)
            && let Some((state, reply)) = self.next_answer()
        {
            self.state = state;
            self.accept_reply(reply);
        }
    }

    /// Steps that are done already were passed over.
    fn next_answer(&mut self) -> Option<(MachineState, Reply)> {
        let (place, answer) = self.ahead.answered.pop_first()?;
        self.cursor = place;
        Some(answer)
    }

    /// First calls of the current step and of those after it; none where there is only one.
    fn together(&mut self) -> Vec<Request> {
        if !matches!(self.state, MachineState::Open)
            || !self.ahead.answered.is_empty()
            || self.has_failed()
        {
            return Vec::new();
        }
        let first = self.cursor;
        let mut requests = Vec::new();
        self.ahead.asked.clear();
        for place in self.independent() {
            self.cursor = place;
            match self.request() {
                Ok(Some(request)) if self.is_first_call() && is_other(&request, &requests) => {
                    let state = std::mem::replace(&mut self.state, MachineState::Open);
                    self.ahead.asked.push((place, state));
                    requests.push(request);
                }
                // It is done already.
                Ok(None) => {}
                Ok(Some(_)) | Err(_) => break,
            }
        }
        self.cursor = first;
        self.state = MachineState::Open;
        if requests.len() < 2 {
            self.ahead.asked.clear();
            requests.clear();
        }
        requests
    }

    /// Whether the step creates its object now, or only waits for its API. Before anything else something
    /// has to be known.
    fn is_first_call(&self) -> bool {
        matches!(self.state, MachineState::Create { .. } | MachineState::Serving { .. })
    }

    /// Places of the current step and of those behind it of the same kind, as far as their manifests are
    /// held at the same time.
    fn independent(&self) -> Vec<usize> {
        let kind = |step: &Step| (step.resource.group.clone(), step.resource.kind.clone());
        let open = self.steps.iter().enumerate().skip(self.cursor).take(AT_ONCE);
        let first = self.steps.get(self.cursor).map(kind);
        let alike = open.take_while(|(_, step)| {
            Some(kind(step)) == first
                && !ONE_BY_ONE.contains(&step.resource.kind.as_str())
                && handler_for(&step.resource).is_some()
        });
        let mut bytes = 0;
        let bounded = alike.take_while(|(_, step)| {
            bytes += self.scope.bundles.manifest(step).map_or(0, str::len);
            bytes <= BYTES
        });
        bounded.map(|(place, _)| place).collect()
    }
}

/// Whether no other call is about the same object.
fn is_other(request: &Request, others: &[Request]) -> bool {
    others.iter().all(|other| target(other) != target(request))
}

fn target(request: &Request) -> Option<&Target> {
    match request {
        Request::Do(effect) => Some(&effect.target),
        Request::Read(target) => Some(target),
        Request::Resolve(_) | Request::List(..) => None,
    }
}
