//! Why a step could not be executed.

use olm_effect::Refusal;

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
    /// The CSV that has to own the object cannot be read.
    #[error("error generating ownerrefs for {thing} {name}: {cause}")]
    Owner {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
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
    /// The API server refused to create the object.
    #[error("error creating {thing} {name}: {cause}")]
    Create {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
        /// The API server's answer.
        #[source]
        cause: Refusal,
    },
    /// The API server refused to change the object.
    #[error("error updating {thing} {name}: {cause}")]
    Update {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
        /// The API server's answer.
        #[source]
        cause: Refusal,
    },
    /// The object that exists could not be read.
    #[error("error reading {thing} {name}: {cause}")]
    Read {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
        /// The API server's answer.
        #[source]
        cause: Refusal,
    },
    /// The object exists when it is created and is absent when it is read.
    #[error("{thing} {name} was deleted while it was being updated")]
    Vanished {
        /// Kind of the object in lower case.
        thing: String,
        /// Name of the object.
        name: String,
    },
    /// A CRD that must not be changed this way.
    #[error(transparent)]
    Crd(#[from] crate::crd::CrdError),
    /// The driver answered something that was not asked.
    #[error("step {0} got an answer that does not belong to its request")]
    OutOfTurn(String),
}

impl StepError {
    /// Whether the API server said that the acting account lacks a right: such a step is retried
    /// without a time limit.
    pub fn is_forbidden(&self) -> bool {
        match self {
            Self::Create { cause, .. } | Self::Update { cause, .. } | Self::Read { cause, .. } => {
                cause.is_forbidden()
            }
            _ => false,
        }
    }
}
