//! CEL rules over the properties of one bundle (spec catalog-operator 3.3).
//!
//! The environment is v0's: the standard functions and macros, the variable `properties` (a list of
//! `{type, value}`) and `semver_compare(any, any) -> int`. What v0 refuses when it compiles is
//! refused here, too. Rules come from catalogs and are untrusted: length, nesting and steps are
//! bounded, deep ones run on a stack of their own. A rule that fails on a bundle does not fit it.

mod check;
mod cost;
mod evaluate;
mod lexical;
mod screen;
mod standard;
mod types;

use std::fmt;
use std::sync::{Arc, LazyLock};

use ::cel::{Env, Program};
use thiserror::Error;

use super::{ConstraintError, EvaluationBudget, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

use check::Wrong;
use cost::Bounds;
pub use evaluate::PropertyValues;
use screen::Screen;
use types::CelType;

/// Why a rule is not accepted, or cannot be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum CelError {
    /// It does not parse.
    #[error("cel rule {rule:?} does not parse: {reason}")]
    Syntax {
        /// The rule.
        rule: String,
        /// What is wrong, and where.
        reason: String,
    },
    /// It uses a name or a function that does not exist, or with wrong types.
    #[error("cel rule {rule:?} does not compile: {reason} at byte {offset} of the rule")]
    Type {
        /// The rule.
        rule: String,
        /// Where, in bytes from 0.
        offset: usize,
        /// What is wrong.
        reason: String,
    },
    /// Its result is not known to be a bool.
    #[error("cel expressions must have type Bool: rule {rule:?} has type {found}")]
    NotBool {
        /// The rule.
        rule: String,
        /// The type that it has.
        found: String,
    },
    /// It is refused because evaluating it could take too long or too much memory.
    #[error("cel rule {rule:?} is too expensive: {reason}")]
    TooExpensive {
        /// The rule.
        rule: String,
        /// Which bound it exceeds.
        reason: String,
    },
}

impl CelError {
    /// The rule, or its beginning.
    pub(super) fn rule(&self) -> &str {
        match self {
            Self::Syntax { rule, .. }
            | Self::Type { rule, .. }
            | Self::NotBool { rule, .. }
            | Self::TooExpensive { rule, .. } => rule,
        }
    }

    /// What is wrong starts at this byte of the rule, if it is not all of it.
    pub(super) fn offset(&self) -> Option<usize> {
        match self {
            Self::Type { offset, .. } => Some(*offset),
            Self::Syntax { .. } | Self::NotBool { .. } | Self::TooExpensive { .. } => None,
        }
    }
}

/// The rule is true for the bundle.
pub struct CelRequirement {
    rule: String,
    message: String,
    program: Program,
    env: Arc<Env>,
    screen: Screen,
    bounds: Bounds,
    /// How deep the rule is nested.
    depth: usize,
}

impl CelRequirement {
    /// Compiles a rule. `message` is the constraint's `failureMessage`.
    pub fn compile(rule: String, message: String) -> Result<Self, CelError> {
        let compile = || {
            let (program, env) = parse_and_check(&rule)?;
            let (screen, depth) =
                (Screen::of(program.expression()), cost::depth(program.expression()));
            Ok::<_, CelError>((program, env, screen, depth))
        };
        let (program, env, screen, depth) = evaluate::on_stack(lexical::depth(&rule)?, compile)
            .unwrap_or_else(|reason| Err(CelError::Syntax { rule: rule.clone(), reason }))?;
        Ok(Self { rule, message, program, env, screen, bounds: Bounds::default(), depth })
    }

    fn run(&self, properties: &PropertyValues) -> bool {
        let evaluate = || evaluate::is_true(&self.program, &self.env, properties);
        evaluate::on_stack(self.depth, evaluate).unwrap_or(false)
    }

    fn steps(&self, properties: &PropertyValues) -> u64 {
        self.bounds.steps(self.program.expression(), properties.size())
    }
}

/// The same for all rules, and costly to make.
static ENVIRONMENT: LazyLock<Arc<Env>> = LazyLock::new(|| Arc::new(evaluate::environment()));

fn parse_and_check(rule: &str) -> Result<(Program, Arc<Env>), CelError> {
    let env = ENVIRONMENT.clone();
    let program = env
        .compile(rule)
        .map_err(|errors| CelError::Syntax { rule: rule.to_owned(), reason: errors.to_string() })?;
    match check::type_of(program.expression()) {
        Ok(CelType::Bool) => Ok((program, env)),
        Ok(other) => Err(CelError::NotBool { rule: rule.to_owned(), found: other.to_string() }),
        Err(Wrong { at, reason }) => {
            let start = at.and_then(|id| program.source_info().offset_for(id));
            let offset = start.and_then(|(start, _)| usize::try_from(start).ok());
            let offset = offset.unwrap_or_default();
            Err(CelError::Type { rule: rule.to_owned(), offset, reason })
        }
    }
}

impl Requirement for CelRequirement {
    fn holds(
        &self,
        bundle: &Bundle,
        budget: &mut EvaluationBudget,
    ) -> Result<bool, ConstraintError> {
        if !self.screen.lets_pass(&bundle.entry.properties) {
            return Ok(false);
        }
        let properties = bundle.cel_values();
        let steps = self.steps(properties);
        if steps > cost::LIMIT {
            let reason = format!(
                "over the {} properties of {} it may take more than {} steps: nest fewer macros",
                properties.size().properties,
                bundle.entry.name,
                cost::LIMIT
            );
            return Err(CelError::TooExpensive { rule: self.rule.clone(), reason }.into());
        }
        budget.spend(steps)?;
        Ok(self.run(properties))
    }

    fn lookup(&self) -> Lookup {
        Lookup::Everything
    }

    fn wanted(&self) -> Wanted {
        Wanted::Other
    }

    fn messages(&self) -> Vec<&str> {
        Some(self.message.as_str()).filter(|message| !message.is_empty()).into_iter().collect()
    }
}

impl fmt::Display for CelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "with constraint: {:?} and message: {:?}", self.rule, self.message)
    }
}

impl fmt::Debug for CelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CelRequirement").field(&self.rule).finish()
    }
}

#[cfg(test)]
mod tests;
