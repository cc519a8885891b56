//! Install modes: which sets of namespaces an operator can watch.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether the operator supports one way of being installed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct InstallMode {
    /// `OwnNamespace`, `SingleNamespace`, `MultiNamespace` or `AllNamespaces`; other texts have no effect.
    #[serde(rename = "type")]
    pub type_: String,
    /// Whether the operator supports it.
    pub supported: bool,
}

/// A way of being installed: the relation between the namespace of the operator and those it watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum InstallModeType {
    /// The operator watches its own namespace.
    OwnNamespace,
    /// The operator watches one other namespace.
    SingleNamespace,
    /// The operator watches several namespaces.
    MultiNamespace,
    /// The operator watches all namespaces.
    AllNamespaces,
}

impl InstallModeType {
    /// Every type, in the order in which v0 lists them.
    pub const ALL: [Self; 4] =
        [Self::OwnNamespace, Self::SingleNamespace, Self::MultiNamespace, Self::AllNamespaces];

    /// The text that the API holds.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::OwnNamespace => "OwnNamespace",
            Self::SingleNamespace => "SingleNamespace",
            Self::MultiNamespace => "MultiNamespace",
            Self::AllNamespaces => "AllNamespaces",
        }
    }
}

impl std::fmt::Display for InstallModeType {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The install modes that an operator supports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct InstallModeSet(BTreeSet<InstallModeType>);

impl InstallModeSet {
    /// The supported modes of a list. When a type is listed twice, its last entry counts.
    #[must_use]
    pub fn of(modes: &[InstallMode]) -> Self {
        let is_supported = |wanted: &InstallModeType| {
            let last = modes.iter().rfind(|mode| mode.type_ == wanted.as_str());
            last.is_some_and(|mode| mode.supported)
        };
        Self(InstallModeType::ALL.into_iter().filter(is_supported).collect())
    }

    /// Whether a mode is supported.
    #[must_use]
    pub fn supports(&self, mode: InstallModeType) -> bool {
        self.0.contains(&mode)
    }

    /// The supported modes in order.
    pub fn iter(&self) -> impl Iterator<Item = InstallModeType> + '_ {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::{InstallMode, InstallModeSet, InstallModeType};

    fn mode(type_: &str, supported: bool) -> InstallMode {
        InstallMode { type_: type_.to_owned(), supported }
    }

    #[test]
    fn unlisted_and_unsupported_modes_are_not_in_the_set() {
        let set = InstallModeSet::of(&[
            mode("OwnNamespace", true),
            mode("AllNamespaces", false),
            mode("Own", true),
        ]);
        assert!(set.supports(InstallModeType::OwnNamespace));
        assert!(!set.supports(InstallModeType::AllNamespaces));
        assert!(!set.supports(InstallModeType::MultiNamespace));
        assert_eq!(set.iter().count(), 1);
    }

    #[test]
    fn the_last_entry_of_a_type_counts() {
        let set = InstallModeSet::of(&[mode("OwnNamespace", true), mode("OwnNamespace", false)]);
        assert_eq!(set, InstallModeSet::default());
    }
}
