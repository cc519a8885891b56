//! The table of cases.

use std::sync::Arc;

use anyhow::Result;
use futures::FutureExt;
use futures::future::BoxFuture;

use super::made::{catalogs, cluster, csvs, groups, leftovers, names, plans, subscriptions};
use crate::e2e::TestContext;

/// What becomes of a finding.
#[derive(Clone, Copy, Debug)]
pub(super) enum FindingOutcome {
    /// The printed command ends it.
    Repaired,
    /// It is of class `wait`, and its fix says this.
    Waits(&'static str),
    /// It is of class `ask the author`, and its fix says this.
    Asks(&'static str),
}

/// Something that is wrong in one namespace.
pub(super) struct Case {
    /// Its code.
    pub code: &'static str,
    /// The end of the name of its namespace; none begins with another one.
    pub place: &'static str,
    /// What becomes of it.
    pub ends: FindingOutcome,
    /// Other codes that are found with it.
    pub beside: &'static [&'static str],
    /// Codes that are found after the fix.
    pub leaves: &'static [&'static str],
    /// Whether only v0 gets there, or only ours.
    only_v0: Option<bool>,
    make: Make,
}

type Make = Box<dyn Fn(Arc<TestContext>) -> BoxFuture<'static, Result<()>> + Send + Sync>;

impl Case {
    /// Whether an OLM can get there.
    pub(super) fn is_made(&self, is_v0: bool) -> bool {
        self.only_v0.is_none_or(|only| only == is_v0)
    }

    /// Makes it.
    pub(super) async fn make(&self, ctx: Arc<TestContext>) -> Result<()> {
        (self.make)(ctx).await
    }

    fn beside(self, codes: &'static [&'static str]) -> Self {
        Self { beside: codes, ..self }
    }

    fn leaves(self, codes: &'static [&'static str]) -> Self {
        Self { leaves: codes, ..self }
    }

    fn only_v0(self, is_v0: bool) -> Self {
        Self { only_v0: Some(is_v0), ..self }
    }
}

fn case<F, S>(code: &'static str, place: &'static str, ends: FindingOutcome, make: S) -> Case
where
    F: Future<Output = Result<()>> + Send + 'static,
    S: Fn(Arc<TestContext>) -> F + Send + Sync + 'static,
{
    let make: Make = Box::new(move |ctx| make(ctx).boxed());
    Case { code, place, ends, beside: &[], leaves: &[], only_v0: None, make }
}

use FindingOutcome::{Asks, Repaired, Waits};

/// Every case.
pub(super) fn all() -> Vec<Case> {
    let mut all = installing();
    all.extend(running());
    all
}

/// What keeps an operator from being installed.
fn installing() -> Vec<Case> {
    vec![
        case("OLM001", "orphan", Repaired, subscriptions::orphan),
        case("OLM002", "no-group", Repaired, groups::none),
        case("OLM003", "two-groups", Repaired, groups::two),
        case("OLM004", "unfitting-group", Repaired, groups::unfitting),
        case("OLM005", "shared-api", Repaired, groups::shared_api),
        case("OLM006", "source", Repaired, names::source),
        case("OLM007", "package", Repaired, names::package),
        case("OLM008", "channel", Repaired, names::channel),
        case("OLM009", "address", Waits("see whether 127.0.0.1:1 answers"), catalogs::address),
        case("OLM010", "memory", Repaired, catalogs::memory).leaves(&["OLM009"]),
        case("OLM011", "drained", Waits("waits for a node that takes it"), catalogs::drained),
        // v0 removes the Job after minutes, and tries again by itself.
        case("OLM012", "unpacking", Repaired, plans::unpacking).only_v0(false),
        case("OLM013", "approval", Repaired, plans::approval),
        case("OLM014", "plan-deleted", Waits("the next upgrade makes a new plan"), plans::deleted),
        case("OLM015", "held-back", Repaired, plans::held_back).beside(&["OLM013"]),
        case(
            "OLM016",
            "failing-step",
            Asks("kubectl -n e2e-doctor-failing-step delete"),
            plans::step,
        ),
        case("OLM017", "stored", Asks("still serves the stored one"), plans::stored),
        case("OLM018", "invalid", Asks("how the object that the message names"), plans::invalid),
        case("OLM027", "large", Asks("a smaller CSV"), csvs::large),
        case(
            "OLM031",
            "unresolved",
            Asks("the operator that the message names"),
            names::missing_kind,
        ),
        case("OLM033", "refused-pod", Repaired, catalogs::refused).leaves(&["OLM009"]),
        case("OLM034", "left-plan", Repaired, plans::left).only_v0(false),
        case("OLM034", "ignored-plan", Repaired, plans::ignored).only_v0(true),
    ]
}

/// What is wrong with what is installed, and what is left.
fn running() -> Vec<Case> {
    vec![
        case("OLM019", "requirement", Repaired, csvs::requirement),
        case("OLM020", "account", Repaired, csvs::account),
        case("OLM021", "image", Waits("see that nodes reach the registry"), csvs::image),
        case("OLM022", "circle", Repaired, csvs::circle),
        case("OLM022", "cut-chain", Repaired, csvs::cut_chain),
        case(
            "OLM023",
            "behind",
            Asks("for an upgrade edge from island.v1.0.0"),
            subscriptions::behind,
        ),
        case("OLM025", "webhook", Repaired, leftovers::webhook),
        case("OLM025", "conversion", Repaired, leftovers::conversion),
        case("OLM026", "overdue", Waits("see whether olm-operator runs"), csvs::overdue),
        // v0 acts as an administrator here, whom no policy of the case keeps from repairing its webhook.
        case("OLM026", "untrusted", Waits("see whether olm-operator runs"), csvs::untrusted)
            .beside(&["OLM032"])
            .leaves(&["OLM032"])
            .only_v0(false),
        case("OLM028", "busy", Waits("until the operator allows them"), csvs::busy),
        case("OLM029", "second-olm", Repaired, cluster::second_olm),
        case("OLM030", "deprecated", Repaired, subscriptions::deprecated),
        case("OLM032", "failed", Asks("with the log of the operator"), csvs::failed),
        case("OLM035", "finalizer", Repaired, leftovers::finalizer),
        case("OLM041", "accountless", Waits("create the ServiceAccount"), csvs::refused_pods),
        // The InstallPlan went with the Subscription that was deleted; v0 does not look at the other one for that.
        case("OLM036", "unneeded", Repaired, subscriptions::unneeded)
            .beside(&["OLM014"])
            .only_v0(false),
        case("OLM036", "needless", Repaired, subscriptions::unneeded).only_v0(true),
    ]
}
