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
mod standard;
mod types;

use std::fmt;
use std::sync::{Arc, LazyLock};

use ::cel::{Env, Program};
use thiserror::Error;

use super::{ConstraintError, Lookup, Requirement, Wanted};
use crate::problem::Bundle;

pub use evaluate::PropertyValues;
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
    #[error("cel rule {rule:?} does not compile: {reason}")]
    Type {
        /// The rule.
        rule: String,
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

/// The rule is true for the bundle.
pub struct CelRequirement {
    rule: String,
    message: String,
    program: Program,
    env: Arc<Env>,
    /// Upper bound of how deep the rule is nested.
    depth: usize,
}

impl CelRequirement {
    /// Compiles a rule. `message` is the constraint's `failureMessage`.
    pub fn compile(rule: String, message: String) -> Result<Self, CelError> {
        let depth = lexical::depth(&rule)?;
        let (program, env) = evaluate::on_deep_stack(|| parse_and_check(&rule))
            .unwrap_or_else(|reason| Err(CelError::Syntax { rule: rule.clone(), reason }))?;
        Ok(Self { rule, message, program, env, depth })
    }

    fn run(&self, properties: &PropertyValues) -> bool {
        let evaluate = || evaluate::is_true(&self.program, &self.env, properties);
        let result = if self.depth > evaluate::SHALLOW {
            evaluate::on_deep_stack(evaluate)
        } else {
            evaluate::guarded(evaluate)
        };
        result.unwrap_or(false)
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
        Err(reason) => Err(CelError::Type { rule: rule.to_owned(), reason }),
    }
}

impl Requirement for CelRequirement {
    fn holds(&self, bundle: &Bundle) -> Result<bool, ConstraintError> {
        let properties = bundle.cel_values();
        let steps = cost::steps(self.program.expression(), &properties.size());
        if steps > cost::LIMIT {
            let reason = format!(
                "over the {} properties of {} it may take more than {} steps: nest fewer macros",
                properties.size().properties,
                bundle.entry.name,
                cost::LIMIT
            );
            return Err(CelError::TooExpensive { rule: self.rule.clone(), reason }.into());
        }
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

    fn effort(&self, bundle: &Bundle) -> u64 {
        cost::steps(self.program.expression(), &bundle.cel_values().size()).min(cost::LIMIT)
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
