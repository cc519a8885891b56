//! Asks before each write of an execution whether its plan may still be executed.
//!
//! The API server is asked once, before the first write; from then on the watches report it.

use olm_kit::controller::ReconcileError;
use olm_lifecycle::install_plan::continuation::{CurrentObjects, goes_on};
use olm_lifecycle::install_plan::execution::Request;
use olm_lifecycle::install_plan::phase::Observed;

use super::calls::Calls;
use super::surroundings;
use crate::stores::Stores;

/// What was asked so far for one execution.
pub(super) struct Guard<'a> {
    pub(super) calls: &'a Calls,
    pub(super) stores: &'a Stores,
    pub(super) observed: &'a Observed,
    /// What the stores said when leave was given last; nothing before the first write.
    pub(super) given: Option<CurrentObjects>,
}

/// Whether a request may be made.
pub(super) enum WritePermission {
    /// It may.
    Given,
    /// Nothing was written, and this is known by now.
    Refused(Box<CurrentObjects>),
    /// Something was written already.
    Withdrawn,
}

impl Guard<'_> {
    /// Asks for requests that are made at the same time. Reading is always allowed.
    pub(super) async fn ask(
        &mut self,
        requests: &[Request],
    ) -> Result<WritePermission, ReconcileError> {
        if !requests.iter().any(|request| matches!(request, Request::Do(_))) {
            return Ok(WritePermission::Given);
        }
        let stored = surroundings::now(self.observed, self.stores);
        match &self.given {
            Some(given) if given.is(&stored) => {}
            Some(_) if !goes_on(self.observed, &stored) => return Ok(WritePermission::Withdrawn),
            Some(_) => {}
            None => {
                let mut live = surroundings::live(&self.calls.client, self.observed).await?;
                live.around.csvs.clone_from(&stored.around.csvs);
                if !goes_on(self.observed, &live) {
                    return Ok(WritePermission::Refused(Box::new(live)));
                }
            }
        }
        self.given = Some(stored);
        Ok(WritePermission::Given)
    }
}
