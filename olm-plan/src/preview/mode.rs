//! The namespaces that an OperatorGroup to come selects, as they are asked for.

use std::collections::BTreeSet;
use std::fmt::{self, Display};
use std::str::FromStr;

use olm_types::api::InstallModeType;

use crate::suggested::is_namespace;

/// Most namespaces that are named.
const MOST: usize = 500;

/// An install mode, and the namespaces that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// All namespaces.
    AllNamespaces,
    /// That of the Subscription.
    OwnNamespace,
    /// One; without a name that of the Subscription, which the operator has to support as its own.
    SingleNamespace(Option<String>),
    /// Several.
    MultiNamespace(BTreeSet<String>),
}

/// Why a text is no install mode.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoMode {
    /// It has another form.
    #[error(
        "it has to be AllNamespaces, OwnNamespace, SingleNamespace, SingleNamespace=NAME or \
         MultiNamespace=NAME,NAME"
    )]
    Form,
    /// A name in it is none.
    #[error("{0:?} is no name of a namespace")]
    Name(String),
    /// Several namespaces are one, or too many.
    #[error(
        "MultiNamespace needs two namespaces at least and {most} at most; SingleNamespace=NAME is for one",
        most = MOST
    )]
    Count,
}

impl Mode {
    /// `spec.targetNamespaces` of the OperatorGroup; empty for all.
    #[must_use]
    pub fn targets(&self, home: &str) -> Vec<String> {
        match self {
            Self::AllNamespaces => Vec::new(),
            Self::OwnNamespace | Self::SingleNamespace(None) => vec![home.to_owned()],
            Self::SingleNamespace(Some(name)) => vec![name.clone()],
            Self::MultiNamespace(names) => names.iter().cloned().collect(),
        }
    }

    /// The mode without its namespaces.
    #[must_use]
    pub const fn kind(&self) -> InstallModeType {
        match self {
            Self::AllNamespaces => InstallModeType::AllNamespaces,
            Self::OwnNamespace => InstallModeType::OwnNamespace,
            Self::SingleNamespace(_) => InstallModeType::SingleNamespace,
            Self::MultiNamespace(_) => InstallModeType::MultiNamespace,
        }
    }
}

impl Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind().as_str())?;
        match self {
            Self::SingleNamespace(Some(name)) => write!(f, "={name}"),
            Self::MultiNamespace(names) => {
                let names: Vec<&str> = names.iter().map(String::as_str).collect();
                write!(f, "={}", names.join(","))
            }
            Self::AllNamespaces | Self::OwnNamespace | Self::SingleNamespace(None) => Ok(()),
        }
    }
}

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        let (kind, names) = match text.split_once('=') {
            Some((kind, names)) => (kind, Some(names)),
            None => (text, None),
        };
        let kind = InstallModeType::ALL.into_iter().find(|mode| mode.as_str() == kind);
        match (kind, names) {
            (Some(InstallModeType::AllNamespaces), None) => Ok(Self::AllNamespaces),
            (Some(InstallModeType::OwnNamespace), None) => Ok(Self::OwnNamespace),
            (Some(InstallModeType::SingleNamespace), None) => Ok(Self::SingleNamespace(None)),
            (Some(InstallModeType::SingleNamespace), Some(one)) => {
                Ok(Self::SingleNamespace(Some(named(one)?)))
            }
            (Some(InstallModeType::MultiNamespace), Some(several)) => {
                let names: BTreeSet<String> =
                    several.split(',').map(named).collect::<Result<_, _>>()?;
                match names.len() {
                    2..=MOST => Ok(Self::MultiNamespace(names)),
                    _ => Err(NoMode::Count),
                }
            }
            _ => Err(NoMode::Form),
        }
    }
}

fn named(text: &str) -> Result<String, NoMode> {
    match is_namespace(text) {
        true => Ok(text.to_owned()),
        false => Err(NoMode::Name(text.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::all("AllNamespaces", &[])]
    #[case::own("OwnNamespace", &["home"])]
    #[case::single("SingleNamespace", &["home"])]
    #[case::single_other("SingleNamespace=a", &["a"])]
    #[case::several("MultiNamespace=a,b", &["a", "b"])]
    fn a_mode_selects_namespaces(#[case] text: &str, #[case] expected: &[&str]) {
        let mode: Mode = text.parse().unwrap();
        assert_eq!(mode.targets("home"), expected);
        assert_eq!(mode.to_string(), text);
    }

    #[rstest]
    #[case::no_mode("Everywhere", NoMode::Form)]
    #[case::empty("", NoMode::Form)]
    #[case::all_of_one("AllNamespaces=a", NoMode::Form)]
    #[case::own_of_one("OwnNamespace=a", NoMode::Form)]
    #[case::none_of_several("MultiNamespace", NoMode::Form)]
    #[case::no_name("SingleNamespace=", NoMode::Name(String::new()))]
    #[case::capital("SingleNamespace=A", NoMode::Name("A".to_owned()))]
    #[case::two_for_one("SingleNamespace=a,b", NoMode::Name("a,b".to_owned()))]
    #[case::one_of_several("MultiNamespace=a,a", NoMode::Count)]
    fn what_is_no_mode_is_refused(#[case] text: &str, #[case] expected: NoMode) {
        assert_eq!(text.parse::<Mode>(), Err(expected));
    }
}
