//! Why a step could not be executed.

use olm_effect::Refusal;
use olm_types::api::{Step, StepStatus};
use olm_types::gvk::Gvk;

use crate::crd::CrdError;

/// An error of one step; its text becomes part of the InstallPlan's message.
#[derive(Debug, thiserror::Error)]
pub enum StepError {
    /// The kind has no handler, or the step has a status that no execution leaves behind.
    #[error("the InstallPlan contains invalid data: {0}")]
    Invalid(String),
    /// The manifest of the step cannot be used.
    #[error("error parsing step manifest: {name}: {problem}")]
    Manifest {
        /// Name of the step's object.
        name: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The bundle that holds the manifest cannot be read from its ConfigMap.
    #[error("{0}")]
    Bundle(String),
    /// The CSV that has to own the object cannot be read.
    #[error("error generating ownerrefs for {what}: {cause}")]
    Owner {
        /// The object, in v0's words.
        what: String,
        /// Why.
        cause: String,
    },
    /// The Secret to be copied is absent or unreadable.
    #[error("secret {name} does not exist - {cause}")]
    PullSecret {
        /// Name of the Secret.
        name: String,
        /// Why.
        cause: String,
    },
    /// The copy of a Secret was refused.
    #[error("{what} - {cause}")]
    NotCopied {
        /// What was tried, in v0's words.
        what: String,
        /// The API server's words.
        cause: String,
    },
    /// A CSV that the plan does not name would own what another CSV owns.
    #[error("pre-existing CRD owners found for owned CRD(s) of dependent CSV {0}")]
    CompetingOwner(String),
    /// The same, when several CSVs own it already.
    #[error(
        "error checking crd owners for: {csv}: Existing CSVs [{}] in namespace {namespace} all claim to own CRD {crd}",
        owners.join(" ")
    )]
    CompetingOwners {
        /// Name of the CSV of the step.
        csv: String,
        /// CSVs that own the CRD.
        owners: Vec<String>,
        /// Their namespace.
        namespace: String,
        /// Name of the CRD.
        crd: String,
    },
    /// The API server has no such kind, though it has its group.
    #[error("Unable to find GVK in discovery: {} {} {}", .0.group, .0.version, .0.kind)]
    NoKind(Gvk),
    /// The API server has no such API.
    #[error(
        "api-server resource not found installing {} {name}: GroupVersionKind {} not found on the cluster. This API \
         may have been deprecated and removed, see \
         https://kubernetes.io/docs/reference/using-api/deprecation-guide/ for more information.",
        .api.kind, .api.go_text()
    )]
    NoApi {
        /// Group, version and kind of the step.
        api: Gvk,
        /// Name of the step's object.
        name: String,
    },
    /// The API server refused a call.
    #[error("{}{cause}", prefix(what))]
    Refused {
        /// What was tried, in v0's words; empty where v0 has none.
        what: String,
        /// The API server's answer.
        #[source]
        cause: Refusal,
    },
    /// The object that the step brings is on its way out: what is written into it goes with it.
    #[error(
        "{kind} {name} is being deleted and has to be gone before it can be created{}",
        held_by(finalizers)
    )]
    BeingDeleted {
        /// Kind of the object.
        kind: String,
        /// Name of the object.
        name: String,
        /// What keeps the object until a user removes it.
        finalizers: Vec<String>,
    },
    /// A copy of the CSV has its name: an operator of another namespace reaches this one.
    #[error(
        "namespace {namespace} holds a copy of {csv}, which is installed in namespace {from} and reaches this one: no \
         CSV of that name can be created while the copy is there; install into another namespace, or uninstall the \
         operator in {from}, or let the OperatorGroup of {from} select other namespaces"
    )]
    CopyInTheWay {
        /// Name of the CSV.
        csv: String,
        /// Namespace of the plan.
        namespace: String,
        /// Namespace of the original.
        from: String,
    },
    /// The object comes and goes: again and again it exists when it is created and is absent when it
    /// is read or changed.
    #[error("{thing} {name} was deleted while it was being updated")]
    Vanished {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
    },
    /// A CRD that must not be changed this way.
    #[error(transparent)]
    Crd(#[from] CrdError),
    /// The driver answered something that was not asked.
    #[error("step {0} got an answer that does not belong to its request")]
    OutOfTurn(String),
}

impl StepError {
    /// Whether the API server said that the acting account lacks a right: such a step is retried
    /// without a time limit.
    pub fn is_forbidden(&self) -> bool {
        self.refusal().is_some_and(Refusal::is_forbidden)
    }

    /// Whether what stands in the way may go without a change of the plan: it is tried again when it has failed.
    pub fn may_pass(&self) -> bool {
        self.is_forbidden() || matches!(self, Self::CopyInTheWay { .. })
    }

    /// Whether the API server said that something is absent, which may be the API itself.
    pub fn is_not_found(&self) -> bool {
        self.refusal().is_some_and(|refusal| refusal.code == 404)
    }

    /// The error of a step whose kind or status is none that an execution can take up.
    pub(super) fn invalid(step: &Step) -> Self {
        let resource = &step.resource;
        let what = match step.status {
            StepStatus::UnsupportedResource | StepStatus::Unknown | StepStatus::NotPresent => {
                "its kind cannot be installed by this version"
            }
            _ => "its status is none that an execution leaves behind",
        };
        Self::Invalid(format!(
            "step {} {} ({}): {what}",
            resource.kind, resource.name, resource.group
        ))
    }

    fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { cause, .. } => Some(cause),
            Self::Crd(error) => error.refusal(),
            _ => None,
        }
    }
}

fn held_by(finalizers: &[String]) -> String {
    match finalizers {
        [] => String::new(),
        names => format!("; finalizers hold it: {}", names.join(", ")),
    }
}

fn prefix(what: &str) -> String {
    if what.is_empty() { String::new() } else { format!("{what}: ") }
}
