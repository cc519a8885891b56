//! Outcomes of cases, and how they compare: installs as sets, everything else by kind.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::ResolveError;
use crate::resolution::{Chosen, Resolution};

/// What a resolution led to. The texts are for the reader; kinds are compared.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Outcome {
    /// Bundles to install.
    Install(BTreeSet<Placement>),
    /// Facts that cannot all hold.
    Unsatisfiable(Vec<String>),
    /// Resolution failed for another reason.
    Error(String),
}

/// A bundle to install.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Placement {
    /// Its package.
    pub package: String,
    /// Its name.
    pub bundle: String,
    /// Its catalog: `namespace/name`.
    pub catalog: String,
    /// Its channel.
    pub channel: String,
    /// Its version, for the reader; not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// What it takes the place of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// Set if a Subscription asked for it by name.
    #[serde(default, rename = "startingCSV", skip_serializing_if = "Option::is_none")]
    pub starting_csv: Option<String>,
}

/// The expected outcome, or several of which one will do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Expectation {
    /// Whether there is exactly one.
    pub stable: bool,
    /// The only outcome.
    pub outcome: Option<Outcome>,
    /// All outcomes that were seen.
    pub outcomes: Vec<Outcome>,
}

/// An outcome that is not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What was expected.
    pub wanted: Vec<Outcome>,
    /// What came out.
    pub got: Outcome,
}

impl Expectation {
    /// Compares an outcome with what is expected.
    pub fn check(&self, got: &Outcome) -> Result<(), Difference> {
        let wanted: Vec<Outcome> = self.outcome.iter().chain(&self.outcomes).cloned().collect();
        if wanted.iter().any(|wanted| wanted.agrees_with(got)) {
            return Ok(());
        }
        Err(Difference { wanted, got: got.clone() })
    }
}

impl Outcome {
    /// Whether both are of the same kind and install the same.
    pub fn agrees_with(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Install(one), Self::Install(other)) => compared(one) == compared(other),
            (Self::Unsatisfiable(_), Self::Unsatisfiable(_)) | (Self::Error(_), Self::Error(_)) => {
                true
            }
            _ => false,
        }
    }
}

/// What counts of the placements.
fn compared(placements: &BTreeSet<Placement>) -> BTreeSet<Placement> {
    placements.iter().map(|placement| Placement { version: None, ..placement.clone() }).collect()
}

impl From<Result<Resolution, ResolveError>> for Outcome {
    fn from(result: Result<Resolution, ResolveError>) -> Self {
        match result {
            Ok(resolution) => {
                Self::Install(resolution.chosen.iter().map(Placement::from).collect())
            }
            Err(ResolveError::NotSatisfiable(explanation)) => {
                Self::Unsatisfiable(explanation.facts().iter().map(ToString::to_string).collect())
            }
            Err(error) => Self::Error(error.to_string()),
        }
    }
}

impl From<&Chosen> for Placement {
    fn from(chosen: &Chosen) -> Self {
        let entry = &chosen.entry;
        Self {
            package: entry.package.to_string(),
            bundle: entry.name.to_string(),
            catalog: entry.catalog.to_string(),
            channel: entry.channel.to_string(),
            version: entry.version.as_ref().map(ToString::to_string),
            replaces: chosen.replaces.as_deref().map(str::to_owned),
            starting_csv: chosen.starting_csv.clone(),
        }
    }
}

/// So many wanted outcomes are printed.
const SHOWN: usize = 2;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for wanted in self.wanted.iter().take(SHOWN) {
            writeln!(f, "  wanted {wanted}")?;
        }
        if let Some(more) = self.wanted.len().checked_sub(SHOWN).filter(|more| *more > 0) {
            writeln!(f, "  or one of {more} more")?;
        }
        write!(f, "  got    {}", self.got)
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Install(placements) => {
                f.write_str("install")?;
                placements.iter().try_for_each(|placement| write!(f, " {placement}"))
            }
            Self::Unsatisfiable(facts) => write!(f, "unsatisfiable: {}", facts.join(", ")),
            Self::Error(text) => write!(f, "error: {text}"),
        }
    }
}

impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}", self.catalog, self.channel, self.bundle)?;
        if let Some(replaces) = &self.replaces {
            write!(f, "(replaces {replaces})")?;
        }
        if let Some(starting) = &self.starting_csv {
            write!(f, "(starting {starting})")?;
        }
        Ok(())
    }
}
