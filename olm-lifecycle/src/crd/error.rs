//! Why a CustomResourceDefinition is not installed or upgraded.

use olm_effect::Refusal;

/// Why a CRD is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CrdError {
    /// The manifest is of no version of `apiextensions.k8s.io` that is known.
    #[error("CRD APIVersion from manifest not supported: {0}")]
    UnsupportedVersion(String),
    /// An existing object is not valid under the new schema.
    #[error(
        "error validating existing CRs against new CRD's schema for \"{name}\": error validating {kind} \
         \"{object}\": updated validation is too restrictive: {findings}"
    )]
    TooRestrictive {
        /// Name of the definition.
        name: String,
        /// Group, version and kind of the object.
        kind: String,
        /// Namespace and name of the object.
        object: String,
        /// What is wrong with it, with the fields.
        findings: String,
    },
    /// Existing objects cannot be compared with a new schema for what that would cost.
    #[error(
        "error validating existing CRs against new CRD's schema for \"{name}\": comparing them with the schema of \
         version {version} takes more than is allowed: use fewer alternatives, properties and patterns"
    )]
    TooCostly {
        /// Name of the definition.
        name: String,
        /// The version whose schema it is.
        version: String,
    },
    /// Existing objects cannot be listed.
    #[error("error validating existing CRs against new CRD's schema for \"{name}\": {cause}")]
    Unlisted {
        /// Name of the definition.
        name: String,
        /// The API server's answer.
        cause: Refusal,
    },
    /// A served version is removed at once although several operators rely on the definition.
    #[error(
        "CRD \"{name}\" is owned by several operators ({owners}), and the new CRD removes version {version}, \
         which is still served; an upgrade that sets served: false for it has to come first"
    )]
    ServedVersionRemoved {
        /// Name of the definition.
        name: String,
        /// The version that is still served.
        version: String,
        /// CSVs that own the definition, one per replacement chain.
        owners: String,
    },
    /// Objects may be stored in a version that the new definition does not know.
    #[error(
        "risk of data loss updating \"{name}\": new CRD removes version {version} that is listed as a stored \
         version on the existing CRD"
    )]
    StoredVersionRemoved {
        /// Name of the definition.
        name: String,
        /// The version that would be lost.
        version: String,
    },
    /// The same, for a version that is not served any more: an object could not be written anew.
    #[error(
        "risk of data loss updating \"{name}\": new CRD removes version {version} that is listed as a stored \
         version on the existing CRD, and {object} cannot be stored in another version: {cause}"
    )]
    NotRewritten {
        /// Name of the definition.
        name: String,
        /// The version that would be lost.
        version: String,
        /// What could not be written.
        object: String,
        /// The API server's answer.
        cause: Box<Refusal>,
    },
}

impl CrdError {
    /// The answer of the API server behind the error, if there is one.
    pub fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Unlisted { cause, .. } => Some(cause),
            Self::NotRewritten { cause, .. } => Some(cause),
            Self::UnsupportedVersion(_)
            | Self::TooRestrictive { .. }
            | Self::TooCostly { .. }
            | Self::ServedVersionRemoved { .. }
            | Self::StoredVersionRemoved { .. } => None,
        }
    }
}
