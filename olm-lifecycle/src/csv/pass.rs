//! One pass of a CSV through the stages.

use std::cell::OnceCell;
use std::collections::BTreeSet;

use jiff::Timestamp;
use olm_effect::{CertificateOrder, Target};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, RequirementStatus};
use olm_types::gvk::Gvk;

use super::chain::Chain;
use super::components::{Components, examine};
use super::observed::Observed;
use super::requirements::{Evaluation, evaluate};
use crate::install::PodLabels;

/// Something that no watch store holds and that must be read before a decision is possible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Which of these APIs the API server serves.
    Served(BTreeSet<Gvk>),
    /// Certificates, which a caller with a source of randomness has to issue.
    Certificates(CertificateOrder),
    /// These objects, as they are now.
    Live(BTreeSet<Target>),
    /// The Pods of the CSV's namespace that carry all of one of these sets of labels.
    Pods(Vec<PodLabels>),
}

/// What stages see: the observed value, the time, and what several of them compute from these.
pub struct Pass<'a> {
    /// What was observed.
    pub observed: &'a Observed,
    /// The time of the decision.
    pub now: Timestamp,
    requirements: OnceCell<Evaluation>,
    components: OnceCell<Result<Components, Request>>,
}

impl<'a> Pass<'a> {
    /// A pass over `observed`.
    pub fn new(observed: &'a Observed, now: Timestamp) -> Self {
        Self { observed, now, requirements: OnceCell::new(), components: OnceCell::new() }
    }

    /// The requirements, evaluated once per pass.
    pub fn requirements(&self) -> &Evaluation {
        self.requirements.get_or_init(|| evaluate(self.observed))
    }

    /// The state of the components, looked at once per pass: for each Deployment a hash is computed.
    ///
    /// # Errors
    /// What has to be read first.
    pub(super) fn components(&self) -> Result<Components, Request> {
        self.components.get_or_init(|| examine(self.observed)).clone()
    }

    /// What the requirements are, if a stage of this pass evaluated them.
    pub(super) fn found_requirements(&self) -> Option<&[RequirementStatus]> {
        match self.requirements.get()? {
            Evaluation::Known(requirements) => Some(&requirements.entries),
            Evaluation::Invalid(_) | Evaluation::Need(_) => None,
        }
    }

    /// The replacement links of the namespace, this CSV included.
    pub fn chain(&self) -> Chain<'a> {
        let siblings = self.observed.siblings.iter().map(AsRef::as_ref);
        Chain::new(siblings.chain([self.observed.csv.as_ref()]))
    }

    /// The CSV that this one replaces and that is still there.
    pub fn predecessor(&self) -> Option<&'a ClusterServiceVersion> {
        self.chain().replaced_by(&self.observed.csv)
    }

    /// The CSV that replaces this one.
    pub fn successor(&self) -> Option<&'a ClusterServiceVersion> {
        self.chain().replacement_of(&self.observed.csv)
    }

    /// What is wrong with the replacements when they lead in a circle, and what would help.
    pub fn circle(&self) -> Option<String> {
        let names = self.chain().circle_before(&self.observed.csv);
        let first = *names.first()?;
        let replaced = names.iter().skip(1).copied().chain([first]);
        let links =
            names.iter().zip(replaced).map(|(name, next)| format!("{name} replaces {next}"));
        let links = links.collect::<Vec<_>>().join(", ");
        Some(format!(
            "spec.replaces leads in a circle: {links}; remove spec.replaces from one of them"
        ))
    }

    /// The OperatorGroup of the namespace, if there is exactly one.
    pub fn group(&self) -> Option<&'a OperatorGroup> {
        match self.observed.own_groups().as_slice() {
            [group] => Some(*group),
            _ => None,
        }
    }
}
