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

impl fmt::Display for Difference {
    /// Of two sets of bundles only what differs, against the outcome that comes closest.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((wanted, got)) = self.closest() else {
            self.wanted.iter().take(1).try_for_each(|wanted| writeln!(f, "  wanted {wanted}"))?;
            return write!(f, "  got    {}", self.got);
        };
        wanted.difference(&got).try_for_each(|one| writeln!(f, "  wanted {one}"))?;
        got.difference(&wanted).try_for_each(|one| writeln!(f, "  got    {one}"))?;
        let alike = got.intersection(&wanted).count();
        write!(f, "  {alike} alike, closest of {} outcomes", self.wanted.len())
    }
}

impl Difference {
    /// The wanted bundles that come closest to those that came out, and these.
    fn closest(&self) -> Option<(BTreeSet<Placement>, BTreeSet<Placement>)> {
        let Outcome::Install(got) = &self.got else { return None };
        let got = compared(got);
        let sets = self.wanted.iter().filter_map(|wanted| match wanted {
            Outcome::Install(wanted) => Some(compared(wanted)),
            Outcome::Unsatisfiable(_) | Outcome::Error(_) => None,
        });
        let wanted = sets.min_by_key(|wanted| wanted.symmetric_difference(&got).count())?;
        Some((wanted, got))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn expected(outcomes: serde_json::Value) -> Expectation {
        serde_json::from_value(json!({ "outcomes": outcomes })).unwrap()
    }

    fn installs(names: &[&str]) -> serde_json::Value {
        let placement = |name: &&str| json!({"package": "p", "bundle": name, "catalog": "olm/c", "channel": "a"});
        json!({"install": names.iter().map(placement).collect::<Vec<_>>()})
    }

    fn difference(outcomes: serde_json::Value, got: serde_json::Value) -> String {
        let got: Outcome = serde_json::from_value(got).unwrap();
        expected(outcomes).check(&got).unwrap_err().to_string()
    }

    #[test]
    fn only_what_differs_is_printed() {
        let wanted = json!([installs(&["x"]), installs(&["a", "b"])]);
        let text = difference(wanted, installs(&["a", "c"]));
        let lines =
            ["  wanted olm/c/a/b", "  got    olm/c/a/c", "  1 alike, closest of 2 outcomes"];
        assert_eq!(text, lines.join("\n"));
    }

    #[test]
    fn another_kind_is_printed_whole() {
        let text = difference(json!([installs(&["a"])]), json!({"error": "no catalog"}));
        assert_eq!(text, "  wanted install olm/c/a/a\n  got    error: no catalog");
        let text = difference(json!([{"error": "x"}]), installs(&[]));
        assert_eq!(text, "  wanted error: x\n  got    install");
    }
}
