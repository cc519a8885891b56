//! What `kubectl olm plan` shows of the installations and upgrades of a scenario is what OLM then does.
//!
//! It is compared where that is asked for (`--plans`), as each plan is a run of the program. Before a scenario
//! creates a Subscription, the plan of this installation is noted, and before it publishes a catalog, that of each
//! upgrade. Once the operators are at rest, InstallPlans have the steps that were shown, and the audit log names no
//! object that was not shown. Where a scenario has done nothing else until then, it names each that was shown, and
//! rights and images are those that were shown, too. What cannot be compared is counted, with the fact that is in the
//! way.
//!
//! A plan of several InstallPlans shows what is there after the last one. What came and went in between is compared
//! with nothing, and Kubernetes may still have to collect it.

mod beside;
mod install_plans;
mod question;
mod tally;
mod verdict;
mod window;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use kube::api::{Api, ListParams};
use olm_types::api::{ClusterServiceVersion, CsvPhase, InstallPlan, Subscription};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};

use super::TestContext;
use super::idle::QUIET;
use crate::audit::{AuditLog, Write};
use crate::operators::Operator;
use crate::plan_check::{images, rights, shown_objects};
use crate::wait::TIMEOUT;
use beside::{put_beside, without_shown_beside};
use install_plans::strangers;
use question::{Answer, Question, RESTS};
use verdict::{Observed, Verdict, decide};
use window::{Span, Window};

pub use tally::print_summary;

/// Has scenarios in other programs compare plans; `cargo xtask test` sets it for `--plans`.
const VARIABLE: &str = "OLM_PLANS";

/// Why no installation is planned.
const TOGETHER: &str = "several Subscriptions are resolved together";

/// What an API server takes at most that answers at all. Scenarios stop it for seconds, and go on meanwhile.
const ANSWERS: Duration = Duration::from_secs(2);

/// Why no upgrade is planned.
const NO_ANSWER: &str = "the API server did not answer";

/// How long Kubernetes takes at most to collect what belonged to a CSV that is gone: its garbage collector looks every
/// 30 s for kinds that are new in the cluster, and collects nothing of them before.
const COLLECTS: Duration = Duration::from_secs(45);

/// How often the log is read meanwhile.
const READ_AGAIN: Duration = Duration::from_millis(500);

static IS_WANTED: AtomicBool = AtomicBool::new(false);

/// Has the scenarios of this program compare plans from now on.
pub fn compare() {
    IS_WANTED.store(true, Ordering::Relaxed);
}

/// The plans of a scenario that nothing was compared with yet, and what came of the others.
#[derive(Debug, Default)]
pub(super) struct ScenarioPlans {
    open: Vec<ForeseenPlan>,
    /// When the scenario changed a catalog, and of which namespace.
    changes: Vec<(Timestamp, String)>,
    differences: Vec<String>,
    /// Whether Subscriptions are resolved together.
    is_together: bool,
}

/// A plan, and what was there when it was made.
#[derive(Debug)]
struct ForeseenPlan {
    question: Question,
    namespace: String,
    answer: Answer,
    /// The log since before it was made.
    audit: AuditLog,
    /// What it has had so far.
    writes: Vec<Write>,
    /// The verdict on a part of it that was done, before the scenario went on.
    so_far: Option<Verdict>,
    begun: Timestamp,
    ended: Timestamp,
}

impl ScenarioPlans {
    fn has_open(&self, namespace: &str) -> bool {
        self.open.iter().any(|plan| plan.namespace == namespace)
    }
}

impl TestContext {
    /// Notes what the installation of a Subscription would do that is about to be created.
    pub(super) async fn foresee_installation(&self, subscription: &Value) -> Result<()> {
        let Some(log) = self.compared_log() else { return Ok(()) };
        if self.plans.lock().await.is_together {
            self.not_planned(TOGETHER);
            return Ok(());
        }
        match serde_json::from_value::<Subscription>(subscription.clone()) {
            Ok(subscription) => {
                let plan = self.foresee(log, Question::installation(&subscription)).await?;
                self.plans.lock().await.open.push(plan);
                Ok(())
            }
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
        self.conclude_done_plans().await?;
        self.catalog_changes().await;
        let (api, all) = (self.api::<Subscription>(), ListParams::default());
        let Ok(Ok(subscriptions)) = timeout(ANSWERS, api.list(&all)).await else {
            self.not_planned(NO_ANSWER);
            return Ok(());
        };
        let mut plans = Vec::new();
        for subscription in subscriptions {
            let spec = &subscription.spec;
            if spec.source == catalog && spec.source_namespace == self.namespace {
                let question = Question::upgrade(&subscription.name_any(), address, content);
                plans.push(self.foresee(log, question).await?);
            }
        }
        put_beside(&mut plans.iter_mut().map(|plan| &mut plan.answer).collect::<Vec<_>>());
        self.plans.lock().await.open.extend(plans);
        Ok(())
    }

    /// The Subscriptions that are created from now on are resolved together: nothing is planned before one of them, as the
    /// operators would act on those before it meanwhile.
    pub async fn subscribe_together(&self) {
        self.plans.lock().await.is_together = true;
    }

    /// From now on plans of the namespace that were noted before are no longer of what there is.
    pub(super) async fn catalog_changes(&self) {
        if self.compared_log().is_some() {
            let change = (Timestamp::now(), self.namespace.clone());
            self.plans.lock().await.changes.push(change);
        }
    }

    /// Compares those plans of the namespace of which all is done by now: what a scenario does next may be about
    /// the same objects. The others stay open, and so do all while the operators go on.
    ///
    /// # Errors
    /// The cluster cannot be read.
    pub async fn conclude_done_plans(&self) -> Result<()> {
        let Some(log) = self.compared_log() else { return Ok(()) };
        if !self.plans.lock().await.has_open(&self.namespace) {
            return Ok(());
        }
        let mut audit = AuditLog::from_now(log.to_owned())?.of_namespace(&self.namespace);
        if audit.until_idle(&Operator::NAMES, QUIET, RESTS).await.is_err() {
            return Ok(());
        }
        let is_over = |verdict: &Verdict| verdict.is_whole() || verdict.is_refused();
        self.conclude_plans_that(&self.namespace, is_over).await
    }

    /// Compares those plans of the namespace that were shown to fail: the scenario has seen that OLM tries in vain, and
    /// goes on to.
    ///
    /// # Errors
    /// The cluster cannot be read.
    pub async fn conclude_refused_plans(&self) -> Result<()> {
        match self.compared_log() {
            Some(_) => self.conclude_plans_that(&self.namespace, Verdict::is_refused).await,
            None => Ok(()),
        }
    }

    /// Compares those plans of a namespace of which this came; the others stay open.
    async fn conclude_plans_that(
        &self,
        namespace: &str,
        is_over: impl Fn(&Verdict) -> bool,
    ) -> Result<()> {
        let (open, changes) = self.take_open(namespace).await;
        for mut plan in open {
            let verdict = self.verdict(&mut plan, &changes).await?;
            if is_over(&verdict) {
                self.conclude(plan, verdict).await;
                continue;
            }
            if verdict.is_begun() {
                plan.so_far = Some(verdict);
            }
            self.plans.lock().await.open.push(plan);
        }
        Ok(())
    }

    /// Compares the plans of the namespace, whose operators are at rest.
    pub(super) async fn conclude_plans(&self) -> Result<()> {
        self.conclude_plans_of(&self.namespace).await
    }

    /// Compares all plans that are left of a scenario that is over, once the operators are at rest in their namespaces.
    ///
    /// # Errors
    /// Something was done otherwise than it was shown, or the cluster cannot be read.
    pub async fn conclude_all_plans(&self) -> Result<()> {
        let Some(log) = self.compared_log() else { return Ok(()) };
        let open = self.plans.lock().await;
        let namespaces: BTreeSet<String> =
            open.open.iter().map(|plan| plan.namespace.clone()).collect();
        drop(open);
        for namespace in namespaces {
            let mut audit = AuditLog::from_now(log.to_owned())?.of_namespace(&namespace);
            match audit.until_idle(&Operator::NAMES, QUIET, TIMEOUT).await {
                Ok(_) => self.conclude_plans_of(&namespace).await?,
                // What differs then may still be done.
                Err(_) => self.conclude_plans_that(&namespace, |it| !it.is_other()).await?,
            }
        }
        self.plans_are_as_shown().await
    }

    async fn conclude_plans_of(&self, namespace: &str) -> Result<()> {
        let (open, changes) = self.take_open(namespace).await;
        for mut plan in open {
            let verdict = self.last_verdict(&mut plan, &changes).await?;
            self.conclude(plan, verdict).await;
        }
        Ok(())
    }

    /// The open plans of a namespace, and when its catalogs changed.
    async fn take_open(&self, namespace: &str) -> (Vec<ForeseenPlan>, Vec<Timestamp>) {
        let mut plans = self.plans.lock().await;
        let all = std::mem::take(&mut plans.open).into_iter();
        let (here, elsewhere) = all.partition(|plan| plan.namespace == namespace);
        plans.open = elsewhere;
        let changes = plans.changes.iter().filter(|(_, of)| of == namespace);
        let changes = changes.map(|(when, _)| *when).collect();
        (here, changes)
    }

    /// What was compared once stays so, where a later look has nothing to compare with any more.
    async fn conclude(&self, mut plan: ForeseenPlan, verdict: Verdict) {
        let verdict = match verdict {
            Verdict::NotComparable(_) => plan.so_far.take().unwrap_or(verdict),
            verdict => verdict,
        };
        let line = format!("plan of {} in {}: {verdict}", plan.question.about, plan.namespace);
        println!("{line}");
        plan.answer.unknown().for_each(|what| println!("  unknown: {what}"));
        if let (Err(why), false) = (&plan.answer.plan, plan.answer.not_compared.is_some()) {
            println!("  no plan: {}", why.trim());
        }
        tally::conclude(&plan.namespace, &verdict);
        if verdict.is_other() {
            self.plans.lock().await.differences.push(line);
        }
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

    /// Counts a plan that is not made.
    fn not_planned(&self, why: &'static str) {
        tally::note(&self.namespace);
        tally::conclude(&self.namespace, &Verdict::NotComparable(why));
    }

    async fn foresee(&self, log: &Path, question: Question) -> Result<ForeseenPlan> {
        let (audit, begun) = (AuditLog::from_now(log.to_owned())?, Timestamp::now());
        let answer = question.ask(self).await;
        let (namespace, ended) = (self.namespace.clone(), Timestamp::now());
        tally::note(&self.namespace);
        let (writes, so_far) = (Vec::new(), None);
        Ok(ForeseenPlan { question, namespace, answer, audit, writes, so_far, begun, ended })
    }

    /// The verdict once Kubernetes has collected what it may have to.
    async fn last_verdict(
        &self,
        foreseen: &mut ForeseenPlan,
        changes: &[Timestamp],
    ) -> Result<Verdict> {
        let deadline = Instant::now() + COLLECTS;
        loop {
            let verdict = self.verdict(foreseen, changes).await?;
            if !verdict.is_other() || Instant::now() > deadline {
                return Ok(verdict);
            }
            sleep(READ_AGAIN).await;
        }
    }

    async fn verdict(&self, foreseen: &mut ForeseenPlan, changes: &[Timestamp]) -> Result<Verdict> {
        let namespaces = self.namespaces.lock().await.clone();
        let shown = foreseen.answer.plan.as_ref().map(shown_objects).unwrap_or_default();
        let names = shown.iter().filter_map(|object| object.rsplit([' ', '/']).next());
        let names = names.filter(|name| !name.is_empty());
        let texts: Vec<&str> = names.chain(namespaces.iter().map(String::as_str)).collect();
        foreseen.writes.extend(foreseen.audit.writes_about(&texts)?);
        let plans: Api<InstallPlan> = Api::namespaced(self.client.clone(), &foreseen.namespace);
        let plans = plans.list(&ListParams::default()).await;
        let plans = plans.context("cannot list InstallPlans")?.items;
        let strangers = strangers(&foreseen.answer.shown(), &plans);
        let span = Span {
            namespace: &foreseen.namespace,
            subscription: &foreseen.question.subscription,
            shown: &shown,
            approvals: foreseen.answer.approvals(),
            strangers: &strangers,
            namespaces: &namespaces,
            begun: foreseen.begun,
            ended: foreseen.ended,
        };
        let window = Window::of(foreseen.writes.clone(), &span, changes);
        let succeeded = self.succeeded_csvs(&foreseen.namespace).await?;
        let observed =
            Observed { namespace: &foreseen.namespace, window: &window, plans, succeeded };
        let verdict = decide(&foreseen.answer, &observed);
        match &foreseen.answer.plan {
            Ok(plan) if verdict.is_whole() => {
                let others = self.others(plan, foreseen).await?;
                Ok(if others.is_empty() { verdict } else { Verdict::Other(others) })
            }
            _ => Ok(verdict),
        }
    }

    async fn succeeded_csvs(&self, namespace: &str) -> Result<BTreeSet<String>> {
        let all: Api<ClusterServiceVersion> = Api::namespaced(self.client.clone(), namespace);
        let all = all.list(&ListParams::default()).await.context("cannot list CSVs")?;
        let has_succeeded = |csv: &&ClusterServiceVersion| {
            csv.status.as_ref().is_some_and(|status| status.phase == CsvPhase::Succeeded)
        };
        Ok(all.iter().filter(has_succeeded).map(ResourceExt::name_any).collect())
    }

    /// Images and rights that are not as they were shown.
    async fn others(&self, plan: &Value, foreseen: &ForeseenPlan) -> Result<Vec<String>> {
        let (namespace, answer) = (&foreseen.namespace, &foreseen.answer);
        let after = images::there(&self.client, namespace).await?;
        let compare = |plan: &Value| images::differences(plan, &answer.images, &after);
        let others: Vec<Vec<String>> = answer.beside.iter().map(compare).collect();
        let mut lines = without_shown_beside(compare(plan), &others);
        lines.extend(rights::differences(&self.client, namespace, plan).await?);
        Ok(lines)
    }
}
