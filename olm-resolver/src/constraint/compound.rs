//! `all`, `any` and `not` of an `olm.constraint`: combinations of requirements on one bundle.

use std::fmt;
use std::sync::Arc;

use super::{ConstraintError, EvaluationBudget, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

/// The bundle fits every member; every bundle fits an empty list.
#[derive(Debug)]
pub struct All(pub(super) Vec<Arc<dyn Requirement>>);

/// The bundle fits a member; no bundle fits an empty list.
#[derive(Debug)]
pub struct Any(pub(super) Vec<Arc<dyn Requirement>>);

/// The bundle fits no member.
#[derive(Debug)]
pub struct Not(pub(super) Vec<Arc<dyn Requirement>>);

impl Requirement for All {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        for member in &self.0 {
            if !member.holds(bundle, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A member that narrows the search; the others are tested afterwards.
    fn lookup(&self) -> Lookup {
        let lookups = || self.0.iter().map(|member| member.lookup());
        lookups()
            .find(|lookup| matches!(lookup, Lookup::Package(_)))
            .or_else(|| lookups().find(|lookup| *lookup != Lookup::Everything))
            .unwrap_or(Lookup::Everything)
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }

    fn messages(&self) -> Vec<&str> {
        messages(&self.0)
    }
}

impl Requirement for Any {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        for member in &self.0 {
            if member.holds(bundle, budget)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn lookup(&self) -> Lookup {
        Lookup::AnyOf(self.0.iter().map(|member| member.lookup()).collect())
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }

    fn messages(&self) -> Vec<&str> {
        messages(&self.0)
    }
}

impl Requirement for Not {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        for member in &self.0 {
            if member.holds(bundle, budget)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn lookup(&self) -> Lookup {
        Lookup::Everything
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }

    fn messages(&self) -> Vec<&str> {
        messages(&self.0)
    }
}

fn messages(members: &[Arc<dyn Requirement>]) -> Vec<&str> {
    members.iter().flat_map(|member| member.messages()).collect()
}

impl fmt::Display for All {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, &self.0, " and ")
    }
}

impl fmt::Display for Any {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, &self.0, " or ")
    }
}

impl fmt::Display for Not {
    /// As v0 prints it: the first member without "not".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        join(f, &self.0, " and not ")
    }
}

fn join(f: &mut fmt::Formatter<'_>, members: &[Arc<dyn Requirement>], word: &str) -> fmt::Result {
    for (position, member) in members.iter().enumerate() {
        if position > 0 {
            f.write_str(word)?;
        }
        write!(f, "{member}")?;
    }
    Ok(())
}
