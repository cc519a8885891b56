//! What a family of metrics is called and what it says, before anything is counted.
//!
//! A family is declared once, as a constant beside the code that counts, and registered from there.
//! The list of all registered ones is what `docs/metrics.md` is written from, a row each.

use std::fmt;

/// Upper bounds in seconds for whatever takes between a millisecond and a minute.
pub const LATENCY: [f64; 15] =
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0];

/// A family of metrics: what a person who reads a scrape has to know about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Family {
    /// Name, without the suffixes that histograms and summaries add.
    pub name: &'static str,
    /// What it counts, and in which unit.
    pub help: &'static str,
    /// Names of the labels, in the order in which values are given.
    pub labels: &'static [&'static str],
    /// Who gave it this name.
    pub origin: Origin,
}

/// Who gave a family its name, and so who relies on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// OLM v0 has it, with this type and these labels.
    V0,
    /// Controllers written with Kubernetes' own libraries have it.
    Kubernetes,
    /// This project.
    Ours,
}

/// How values of a family are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Goes up, and starts at zero with the process.
    Counter,
    /// Goes up and down.
    Gauge,
    /// Counts observations below upper bounds.
    Histogram,
    /// Reports quantiles of recent observations.
    Summary,
}

/// A registered family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Described {
    /// What was declared.
    pub family: Family,
    /// As what it was registered.
    pub kind: Type,
}

impl Family {
    /// A family that OLM v0 has.
    pub const fn v0(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self { name, help, labels, origin: Origin::V0 }
    }

    /// A family that Kubernetes' own libraries have.
    pub const fn kubernetes(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self { name, help, labels, origin: Origin::Kubernetes }
    }

    /// A family of this project.
    pub const fn ours(
        name: &'static str,
        help: &'static str,
        labels: &'static [&'static str],
    ) -> Self {
        Self { name, help, labels, origin: Origin::Ours }
    }

    /// The same as a registered one.
    pub(super) const fn described(self, kind: Type) -> Described {
        Described { family: self, kind }
    }
}

/// A row of `docs/metrics.md`.
impl fmt::Display for Described {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Family { name, help, labels, origin } = self.family;
        let labels: Vec<String> = labels.iter().map(|label| format!("`{label}`")).collect();
        let (kind, labels) = (self.kind, labels.join(", "));
        write!(f, "| `{name}` | {kind} | {labels} | {help} | {origin} |")
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
        })
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V0 => "v0",
            Self::Kubernetes => "Kubernetes",
            Self::Ours => "ours",
        })
    }
}
