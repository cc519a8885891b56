//! What was created before its approval, from the audit log.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;

use crate::audit::{AuditLog, Write};
use crate::builders::Crd;
use crate::e2e::context::TestContext;
use crate::operators::Operator;

/// Since when a plan is approved.
#[derive(Clone, Copy, Debug)]
pub(super) enum Approved<'a> {
    /// It is from the beginning.
    Always,
    /// A Subscription declares it: catalog-operator approves the plan of this name.
    Declared(&'a str),
    /// The scenario has approved it, not before this.
    ByHand(Timestamp),
}

/// The CSVs and kinds of a scenario that are created from its beginning on.
pub(super) struct Creations {
    /// Nothing where there is no audit log: then nothing is known.
    log: Option<AuditLog>,
    namespace: String,
    /// How the names of kinds end that only this scenario has.
    group: String,
    expected: BTreeMap<String, Expected>,
    /// What catalog-operator has written.
    writes: Vec<Write>,
}

/// An object that may be created.
#[derive(Clone, Debug)]
struct Expected {
    /// The plan that catalog-operator has to approve before, if it has to.
    plan: Option<String>,
    /// When it may be created at the earliest.
    since: Timestamp,
}

impl Creations {
    /// Follows what is created from now on.
    pub(super) fn begin(ctx: &TestContext) -> Result<Self> {
        let log = ctx.facts().audit_log.clone().map(AuditLog::from_now).transpose()?;
        let kind = ctx.kind("Any").name();
        let (_, group) = kind.split_once('.').context("a kind without a group")?;
        let (namespace, group) = (ctx.namespace.clone(), format!(".{group}"));
        Ok(Self { log, namespace, group, expected: BTreeMap::new(), writes: Vec::new() })
    }

    /// A CSV may be created, and a kind of its own where it brings one, once its plan is approved.
    pub(super) fn expect(&mut self, csv: &str, kind: Option<&Crd>, approved: Approved<'_>) {
        let (plan, since) = match approved {
            Approved::Always => (None, Timestamp::MIN),
            Approved::Declared(plan) => (Some(plan.to_owned()), Timestamp::MIN),
            Approved::ByHand(since) => (None, since),
        };
        let csv = format!("clusterserviceversions {}/{csv}", self.namespace);
        let kind = kind.map(|kind| format!("customresourcedefinitions {}", kind.name()));
        for object in kind.into_iter().chain([csv]) {
            self.expected.insert(object, Expected { plan: plan.clone(), since });
        }
    }

    /// Fails when something was created that was not expected, or before its plan was approved, and when
    /// something that was expected was not created.
    pub(super) fn check(&mut self) -> Result<()> {
        let Some(log) = &mut self.log else { return Ok(()) };
        self.writes.extend(log.writes(&[Operator::Catalog.name()])?);
        let created = self.writes.iter().filter(|write| write.verb == "create");
        let created: Vec<_> = created.filter(|write| self.concerns(write)).collect();
        created.iter().try_for_each(|write| self.judge(write))?;
        let is_there = |object: &str| created.iter().any(|write| write.object == object);
        let missing: Vec<_> = self.expected.keys().filter(|object| !is_there(object)).collect();
        ensure!(missing.is_empty(), "the audit log does not have the creation of {missing:?}");
        Ok(())
    }

    fn judge(&self, created: &Write) -> Result<()> {
        let Some(expected) = self.expected.get(&created.object) else {
            bail!("{created}: it was not approved");
        };
        let since = match &expected.plan {
            Some(plan) => self.approved(plan)?,
            None => expected.since,
        };
        ensure!(since <= created.done, "{created} at {}, approved at {since}", created.done);
        Ok(())
    }

    /// When the operator had the plan approved. It patches nothing else of a plan.
    fn approved(&self, plan: &str) -> Result<Timestamp> {
        let object = format!("installplans {}/{plan}", self.namespace);
        let is_it = |write: &&Write| write.verb == "patch" && write.object == object;
        let patch = self.writes.iter().find(is_it);
        patch.map(|patch| patch.received).with_context(|| format!("{plan} was never approved"))
    }

    fn concerns(&self, write: &Write) -> bool {
        match write.resource() {
            "clusterserviceversions" => write.namespace == self.namespace,
            "customresourcedefinitions" => write.object.ends_with(&self.group),
            _ => false,
        }
    }
}
