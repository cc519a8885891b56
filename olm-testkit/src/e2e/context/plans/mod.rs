//! What `kubectl olm plan` shows of the installations and upgrades of a scenario is what OLM then does.
//!
//! It is compared where that is asked for (`--plans`), as each plan is a run of the program. Before a scenario
//! creates a Subscription, the plan of this installation is noted, and before it publishes a catalog, that of each
//! upgrade. Once the operators are at rest, InstallPlans have the steps that were shown, and the audit log names no
//! object that was not shown. Where a scenario has done nothing else until then, it names each that was shown, and
//! rights and images are those that were shown, too. What cannot be compared is counted, with the fact that is in the
//! way.

mod question;
mod tally;
mod verdict;
mod window;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription};
use serde_json::Value;

use super::TestContext;
use crate::audit::AuditLog;
use crate::plan_check::{images, rights, shown_objects};
use question::{Answer, Question};
use verdict::{Observed, Verdict, decide};
use window::{Span, Window};

pub use tally::print_summary;

/// Has scenarios in other programs compare plans; `cargo xtask test` sets it for `--plans`.
const VARIABLE: &str = "OLM_PLANS";

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Has the scenarios of this program compare plans from now on.
pub fn compare() {
    IS_WANTED.store(true, Ordering::Relaxed);
}

/// The plans of a scenario that nothing was compared with yet, and what came of the others.
#[derive(Debug, Default)]
pub(super) struct ScenarioPlans {
    open: Vec<ForeseenPlan>,
    /// When the scenario changed a catalog.
    changes: Vec<Timestamp>,
    differences: Vec<String>,
}

/// A plan, and what was there when it was made.
#[derive(Debug)]
struct ForeseenPlan {
    question: Question,
    namespace: String,
    answer: Answer,
    /// The log since before it was made.
    audit: AuditLog,
    begun: Timestamp,
    ended: Timestamp,
}

impl TestContext {
    /// Notes what the installation of a Subscription would do that is about to be created.
    pub(super) async fn foresee_installation(&self, subscription: &Value) -> Result<()> {
        let Some(log) = self.compared_log() else { return Ok(()) };
        match serde_json::from_value::<Subscription>(subscription.clone()) {
            Ok(subscription) => self.foresee(log, Question::installation(&subscription)).await,
            // The API server is asked to refuse it.
            Err(_) => Ok(()),
        }
    }

    /// Notes what other content of a catalog would do, by the address at which it is about to be served.
    pub(super) async fn foresee_upgrades(
        &self,
        catalog: &str,
        address: &str,
        content: &Path,
    ) -> Result<()> {
        let Some(log) = self.compared_log() else { return Ok(()) };
        self.catalog_changes().await;
        let subscriptions = self.api::<Subscription>().list(&ListParams::default()).await;
        for subscription in subscriptions.context("cannot list Subscriptions")? {
            let spec = &subscription.spec;
            let is_of_it = spec.source == catalog && spec.source_namespace == self.namespace;
            let status = subscription.status.as_ref();
            if is_of_it && status.is_some_and(|status| status.installed_csv.is_some()) {
                let name = subscription.name_any();
                self.foresee(log, Question::upgrade(&name, address, content)).await?;
            }
        }
        Ok(())
    }

    /// From now on plans that were noted before are no longer of what there is.
    pub(super) async fn catalog_changes(&self) {
        if self.compared_log().is_some() {
            self.plans.lock().await.changes.push(Timestamp::now());
        }
    }

    /// Compares the plans of the namespace, whose operators are at rest.
    pub(super) async fn conclude_plans(&self) -> Result<()> {
        let (open, changes) = {
            let mut plans = self.plans.lock().await;
            let all = std::mem::take(&mut plans.open).into_iter();
            let (here, elsewhere): (Vec<_>, Vec<_>) =
                all.partition(|plan| plan.namespace == self.namespace);
            plans.open = elsewhere;
            (here, plans.changes.clone())
        };
        for mut plan in open {
            let verdict = self.verdict(&mut plan, &changes).await?;
            let line = format!("plan of {} in {}: {verdict}", plan.question.about, plan.namespace);
            println!("{line}");
            tally::conclude(&verdict);
            if verdict.is_other() {
                self.plans.lock().await.differences.push(line);
            }
        }
        Ok(())
    }

    /// Fails when something was done otherwise than it was shown.
    pub(super) async fn plans_are_as_shown(&self) -> Result<()> {
        let differences = std::mem::take(&mut self.plans.lock().await.differences);
        ensure!(differences.is_empty(), "{}", differences.join("\n"));
        Ok(())
    }

    /// The audit log, where there is one and it is to be compared with plans.
    fn compared_log(&self) -> Option<&Path> {
        let is_wanted = IS_WANTED.load(Ordering::Relaxed) || std::env::var_os(VARIABLE).is_some();
        self.facts().audit_log.as_deref().filter(|_| is_wanted)
    }

    async fn foresee(&self, log: &Path, question: Question) -> Result<()> {
        let (audit, begun) = (AuditLog::from_now(log.to_owned())?, Timestamp::now());
        let answer = question.ask(self).await;
        let (namespace, ended) = (self.namespace.clone(), Timestamp::now());
        let plan = ForeseenPlan { question, namespace, answer, audit, begun, ended };
        tally::note();
        self.plans.lock().await.open.push(plan);
        Ok(())
    }

    async fn verdict(&self, foreseen: &mut ForeseenPlan, changes: &[Timestamp]) -> Result<Verdict> {
        let shown = foreseen.answer.plan.as_ref().map(shown_objects).unwrap_or_default();
        let names = shown.iter().filter_map(|object| object.rsplit([' ', '/']).next());
        let texts = names.filter(|name| !name.is_empty()).chain([self.namespace.as_str()]);
        let texts: Vec<&str> = texts.collect();
        let writes = foreseen.audit.writes_about(&texts)?;
        let span = Span {
            namespace: &foreseen.namespace,
            subscription: &foreseen.question.subscription,
            shown: &shown,
            begun: foreseen.begun,
            ended: foreseen.ended,
        };
        let window = Window::of(writes, &span, changes);
        let plans = self.api::<InstallPlan>().list(&ListParams::default()).await;
        let plans = plans.context("cannot list InstallPlans")?.items;
        let succeeded = self.succeeded_csvs().await?;
        let observed =
            Observed { namespace: &foreseen.namespace, window: &window, plans, succeeded };
        let verdict = decide(&foreseen.answer, &observed);
        match &foreseen.answer.plan {
            Ok(plan) if verdict.is_whole() => {
                let others = self.others(plan, &foreseen.answer.images).await?;
                Ok(if others.is_empty() { verdict } else { Verdict::Other(others) })
            }
            _ => Ok(verdict),
        }
    }

    async fn succeeded_csvs(&self) -> Result<BTreeSet<String>> {
        let all: Api<ClusterServiceVersion> = self.api();
        let all = all.list(&ListParams::default()).await.context("cannot list CSVs")?;
        let has_succeeded = |csv: &&ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        Ok(all.iter().filter(has_succeeded).map(ResourceExt::name_any).collect())
    }

    /// Images and rights that are not as they were shown.
    async fn others(&self, plan: &Value, before: &BTreeSet<String>) -> Result<Vec<String>> {
        let after = images::there(&self.client, &self.namespace).await?;
        let mut lines = images::differences(plan, before, &after);
        lines.extend(rights::differences(&self.client, &self.namespace, plan).await?);
        Ok(lines)
    }
}
