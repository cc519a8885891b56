//! Whether a namespace should have a copy of a CSV (spec olm-operator 5.2-5.4).

use std::collections::BTreeSet;

use olm_opgroup::NamespaceSet;
use olm_types::annotations;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::reasons::csv as reasons;

/// What the administrator said about copies of operators that watch all namespaces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copying {
    /// Whether such operators are copied at all.
    pub enabled: bool,
    /// Namespaces that have copies even if not.
    pub protected: BTreeSet<String>,
}

/// What should become of the copy in a namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Desired {
    /// It should exist, in step with the original.
    Present,
    /// It should not exist.
    Absent,
    /// As it is now: what is observed does not say.
    Leave,
}

/// What should become of the copy of `origin` in `target`. `given` are the targets that its group
/// gives it, if its annotations agree with them.
pub fn desired(
    origin: Option<&ClusterServiceVersion>,
    given: Option<&NamespaceSet>,
    target: &str,
    copying: &Copying,
) -> Desired {
    let Some(origin) = origin else { return Desired::Absent };
    if origin.metadata.namespace.as_deref() == Some(target)
        || origin.metadata.deletion_timestamp.is_some()
    {
        return Desired::Leave;
    }
    if reason(origin) == reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT
        || !annotated_targets(origin).contains(target)
    {
        return Desired::Absent;
    }
    let Some(given) = given.filter(|_| is_copiable(origin)) else { return Desired::Leave };
    if given.is_all() && !copying.enabled && !copying.protected.contains(target) {
        return Desired::Absent;
    }
    Desired::Present
}

/// Whether the CSV is at the end of its way, from which only a change around it leads further. Copies
/// show that at once, and of what is before only what lasts.
pub fn has_concluded(csv: &ClusterServiceVersion) -> bool {
    matches!(csv.phase(), CsvPhase::Succeeded | CsvPhase::Failed)
}

/// The targets that the CSV shows; all namespaces when it shows none.
fn annotated_targets(csv: &ClusterServiceVersion) -> NamespaceSet {
    let annotations = csv.metadata.annotations.as_ref();
    let text = annotations.and_then(|all| all.get(annotations::TARGET_NAMESPACES));
    NamespaceSet::from_text(text.map(String::as_str).unwrap_or_default())
}

fn is_copiable(csv: &ClusterServiceVersion) -> bool {
    let phase = csv.phase();
    let barred = [
        reasons::COPIED,
        reasons::INVALID_INSTALL_MODES,
        reasons::NO_TARGET_NAMESPACES,
        reasons::UNSUPPORTED_OPERATOR_GROUP,
        reasons::NO_OPERATOR_GROUP,
        reasons::TOO_MANY_OPERATOR_GROUPS,
        reasons::INTER_OPERATOR_GROUP_OWNER_CONFLICT,
        reasons::CANNOT_MODIFY_STATIC_OPERATOR_GROUP_PROVIDED_APIS,
    ];
    phase != CsvPhase::None && !barred.contains(&reason(csv))
}

fn reason(csv: &ClusterServiceVersion) -> &str {
    csv.status.as_ref().and_then(|status| status.reason.as_deref()).unwrap_or_default()
}
