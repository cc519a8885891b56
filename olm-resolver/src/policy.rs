//! What a failure stops: the whole namespace, or only what depends on it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// How far a failure reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// All or nothing, as in OLM v0: one Subscription that cannot be met, one malformed property
    /// that is reached or one catalog that is away stops the whole namespace. What is chosen is what
    /// v0 chooses, also where its search misses the most preferred answer.
    V0,
    /// Subscriptions and CSVs that cannot influence each other are resolved separately, and a
    /// bundle that is malformed is left out. Finds the most preferred answer wherever
    /// [`Policy::V0`] has one.
    #[default]
    Isolated,
}

/// Not the name of a policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no resolution policy {0:?}, only \"isolated\" and \"v0\"")]
pub struct UnknownPolicy(String);

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "v0" => Ok(Self::V0),
            "isolated" => Ok(Self::Isolated),
            other => Err(UnknownPolicy(other.to_owned())),
        }
    }
}

impl fmt::Display for Policy {
    /// As flags spell it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0 => "v0",
            Self::Isolated => "isolated",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_both_ways() {
        for policy in [Policy::V0, Policy::Isolated] {
            assert_eq!(policy.to_string().parse(), Ok(policy));
        }
        let error = "some".parse::<Policy>().unwrap_err();
        assert!(error.to_string().contains("\"some\""));
    }
}
