//! What was created before its approval, from the audit log.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail, ensure};
use jiff::Timestamp;
use kube::ResourceExt;
use olm_types::annotations::APPROVED_BY;
use olm_types::api::{Approval, InstallPlan, StepResource};

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
    /// Objects of the steps of plans that were looked at, each with what approved a plan that brings it.
    followed: BTreeMap<String, Vec<Expected>>,
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
        let (expected, followed) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { log, namespace, group, expected, followed, writes: Vec::new() })
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
        let created = self.writes.iter().filter(|write| write.is_new);
        let created: Vec<_> = created.filter(|write| self.concerns(write)).collect();
        created.iter().try_for_each(|write| match self.expected.get(&write.object) {
            Some(expected) => self.judge(write, expected),
            None => bail!("{write}: it was not approved"),
        })?;
        let is_there = |object: &str| created.iter().any(|write| write.object == object);
        let missing: Vec<_> = self.expected.keys().filter(|object| !is_there(object)).collect();
        ensure!(missing.is_empty(), "the audit log does not have the creation of {missing:?}");
        Ok(())
    }

    /// Takes note of plans as they are now: what needs no approval is approved from the beginning, what a Subscription
    /// declares once catalog-operator has approved the plan.
    pub(super) fn follow(&mut self, plans: &[InstallPlan]) -> Result<()> {
        for plan in plans {
            let declared = plan.annotations().contains_key(APPROVED_BY).then(|| plan.name_any());
            let approved = match (plan.spec.approved, plan.spec.approval, declared) {
                (false, ..) => None,
                (true, Approval::Automatic, _) => {
                    Some(Expected { plan: None, since: Timestamp::MIN })
                }
                (true, Approval::Manual, Some(name)) => {
                    Some(Expected { plan: Some(name), since: Timestamp::MIN })
                }
                (true, Approval::Manual, None) => {
                    bail!("nothing says who approved {}", plan.name_any())
                }
            };
            let steps = plan.status.iter().flat_map(|status| &status.plan);
            let objects = steps.filter_map(|step| self.object(&step.resource));
            let objects: Vec<String> = objects.collect();
            for object in objects {
                self.followed.entry(object).or_default().extend(approved.clone());
            }
        }
        Ok(())
    }

    /// Fails when an object of a plan's steps, or a CSV, was created before a plan was approved that brings it.
    pub(super) fn check_followed(&mut self) -> Result<()> {
        let Some(log) = &mut self.log else { return Ok(()) };
        self.writes.extend(log.writes(&[Operator::Catalog.name()])?);
        let created = self.writes.iter().filter(|write| write.is_new);
        let created: Vec<_> = created
            .filter(|write| self.concerns(write) || self.followed.contains_key(&write.object))
            .collect();
        ensure!(self.followed.is_empty() || !created.is_empty(), "the audit log has no creation");
        for write in created {
            let approved = self.followed.get(&write.object).map(Vec::as_slice).unwrap_or_default();
            let in_time = approved.iter().any(|one| self.judge(write, one).is_ok());
            ensure!(in_time, "{write} at {}: approved for it was {approved:?}", write.done);
        }
        Ok(())
    }

    fn judge(&self, created: &Write, expected: &Expected) -> Result<()> {
        let since = match &expected.plan {
            Some(plan) => self.approved(plan)?,
            None => expected.since,
        };
        ensure!(since <= created.done, "{created} at {}, approved at {since}", created.done);
        Ok(())
    }

    /// The object of a step as the audit log names it; nothing for kinds that scenarios of approvals do not bring.
    fn object(&self, step: &StepResource) -> Option<String> {
        let (resource, is_namespaced) = match step.kind.as_str() {
            "ClusterServiceVersion" => ("clusterserviceversions", true),
            "ServiceAccount" => ("serviceaccounts", true),
            "Role" => ("roles", true),
            "RoleBinding" => ("rolebindings", true),
            "Subscription" => ("subscriptions", true),
            "ClusterRole" => ("clusterroles", false),
            "ClusterRoleBinding" => ("clusterrolebindings", false),
            "CustomResourceDefinition" => ("customresourcedefinitions", false),
            _ => return None,
        };
        Some(match is_namespaced {
            true => format!("{resource} {}/{}", self.namespace, step.name),
            false => format!("{resource} {}", step.name),
        })
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
