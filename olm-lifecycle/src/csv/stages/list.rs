//! The list of stages that a binary uses: OLM's own, and those that it adds.

use std::any::Any;
use std::ops::Deref;

use super::{STAGES, Stage};

/// Stages in their order; [`STAGES`] unless more were added.
///
/// ```
/// use olm_lifecycle::csv::Pass;
/// use olm_lifecycle::csv::stages::{Install, Stage, Stages, Verdict};
///
/// struct Silent;
///
/// impl Stage for Silent {
///     fn judge(&self, _: &Pass<'_>) -> Verdict {
///         Verdict::Continue
///     }
/// }
///
/// let stages = Stages::default().before::<Install>(&Silent).unwrap();
/// assert_eq!(stages.len(), Stages::default().len() + 1);
/// ```
#[derive(Clone)]
pub struct Stages(Vec<&'static dyn Stage>);

impl Default for Stages {
    fn default() -> Self {
        Self(STAGES.to_vec())
    }
}

impl Stages {
    /// One more stage, which judges right before the first stage of type `Next`. `None` if there is
    /// no stage of that type.
    pub fn before<Next: Stage>(mut self, own: &'static dyn Stage) -> Option<Self> {
        let is_next = |stage: &&'static dyn Stage| {
            let stage: &dyn Any = *stage;
            stage.is::<Next>()
        };
        let place = self.0.iter().position(is_next)?;
        self.0.insert(place, own);
        Some(self)
    }
}

impl Deref for Stages {
    type Target = [&'static dyn Stage];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::super::{Copied, Health, Requirements, Servers, Verdict};
    use super::*;
    use crate::csv::{Decision, Observed, Pass, Step, decide_with};

    /// Stops every CSV with a remark.
    struct Stops(&'static str);

    impl Stage for Stops {
        fn judge(&self, _: &Pass<'_>) -> Verdict {
            Verdict::Stop(Decision::nothing().note(self.0))
        }
    }

    fn place_of<S: Stage>(stages: &Stages) -> usize {
        let stages = stages.iter().map(|stage| *stage as &dyn Any);
        stages.enumerate().find_map(|(place, stage)| stage.is::<S>().then_some(place)).unwrap()
    }

    #[test]
    fn an_own_stage_judges_before_the_one_that_is_named() {
        let stages = Stages::default().before::<Requirements>(&Stops("own")).unwrap();
        assert_eq!(place_of::<Stops>(&stages) + 1, place_of::<Requirements>(&stages));
        assert!(place_of::<Copied>(&stages) < place_of::<Stops>(&stages));
        assert!(place_of::<Stops>(&stages) < place_of::<Health>(&stages));
    }

    #[test]
    fn of_several_of_one_type_the_first_counts() {
        let stages = Stages::default().before::<Servers>(&Stops("own")).unwrap();
        let first = STAGES.iter().position(|stage| (*stage as &dyn Any).is::<Servers>());
        assert_eq!(Some(place_of::<Stops>(&stages)), first);
    }

    #[test]
    fn a_stage_that_is_not_there_is_reported() {
        assert!(Stages::default().before::<Stops>(&Stops("own")).is_none());
    }

    #[test]
    fn what_it_says_is_decided() {
        let stages = Stages::default().before::<Copied>(&Stops("own")).unwrap();
        let decided = decide_with(&stages, &Observed::default(), Timestamp::UNIX_EPOCH);
        assert_eq!(decided, Step::Decided(Decision::nothing().note("own")));
    }
}
