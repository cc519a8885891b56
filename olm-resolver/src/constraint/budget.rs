//! How much work a resolution may be before it is solved: tests of bundles, and lists of them.

use super::ConstraintError;

/// Steps for one resolution; about a second of CEL rules, or a hundred MB of lists.
const STEPS: u64 = 20_000_000;

/// So many properties are compared in one step.
const LOOK: u64 = 16;

/// What a resolution may still take, in steps. Constraints come from catalogs: each is tested on many
/// bundles, and those that fit are listed for each.
#[derive(Clone, Debug)]
pub struct EvaluationBudget {
    limit: u64,
    left: u64,
}

impl Default for EvaluationBudget {
    /// What one resolution may take.
    fn default() -> Self {
        Self::new(STEPS)
    }
}

impl EvaluationBudget {
    /// So many steps.
    pub fn new(limit: u64) -> Self {
        Self { limit, left: limit }
    }

    /// Takes what a look at so many properties is.
    ///
    /// # Errors
    /// [`ConstraintError::TooMuch`] if less is left.
    pub fn look(&mut self, properties: usize) -> Result<(), ConstraintError> {
        self.spend(1 + properties as u64 / LOOK)
    }

    /// Takes steps, before they are made.
    ///
    /// # Errors
    /// [`ConstraintError::TooMuch`] if fewer are left.
    pub fn spend(&mut self, steps: u64) -> Result<(), ConstraintError> {
        self.left =
            self.left.checked_sub(steps).ok_or(ConstraintError::TooMuch { limit: self.limit })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_is_spent() {
        let mut budget = EvaluationBudget::new(10);
        assert!(budget.spend(6).is_ok() && budget.spend(4).is_ok() && budget.spend(0).is_ok());
        let error = budget.spend(1).unwrap_err().to_string();
        assert!(error.contains("more than 10 steps together"), "{error}");
    }
}
