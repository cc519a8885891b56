//! How many plans of all scenarios were compared, and why the others were not.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::verdict::Verdict;

static TALLY: Mutex<Tally> = Mutex::new(Tally::new());

/// So many plans, by what came of them.
#[derive(Debug)]
struct Tally {
    noted: usize,
    concluded: usize,
    whole: usize,
    other: usize,
    begun: BTreeMap<&'static str, usize>,
    not_comparable: BTreeMap<&'static str, usize>,
}

/// Prints a line about all plans of this program, unless no plan was made.
pub fn print_summary() {
    let tally = lock();
    if tally.noted > 0 {
        println!("{tally}");
    }
}

/// Counts a plan that is to be compared.
pub(super) fn note() {
    lock().noted += 1;
}

/// Counts what came of it.
pub(super) fn conclude(verdict: &Verdict) {
    lock().add(verdict);
}

fn lock() -> MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    const fn new() -> Self {
        Self {
            noted: 0,
            concluded: 0,
            whole: 0,
            other: 0,
            begun: BTreeMap::new(),
            not_comparable: BTreeMap::new(),
        }
    }

    fn add(&mut self, verdict: &Verdict) {
        self.concluded += 1;
        match verdict {
            Verdict::Whole(_) => self.whole += 1,
            Verdict::Other(_) => self.other += 1,
            Verdict::Begun(why) => *self.begun.entry(*why).or_default() += 1,
            Verdict::NotComparable(why) => *self.not_comparable.entry(*why).or_default() += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let begun: usize = self.begun.values().sum();
        let compared = self.whole + self.other + begun;
        write!(f, "{compared} plans compared: {} whole, {} differ", self.whole, self.other)?;
        for (why, count) in &self.begun {
            write!(f, ", {count} as far as it was done ({why})")?;
        }
        let open = self.noted.saturating_sub(self.concluded);
        write!(f, "; {} not comparable", open + self.not_comparable.values().sum::<usize>())?;
        for (why, count) in &self.not_comparable {
            write!(f, ", {count} because {why}")?;
        }
        match open {
            0 => Ok(()),
            open => write!(f, ", {open} because the namespace did not come to rest"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_is_counted_once() {
        let mut tally = Tally::new();
        tally.noted = 5;
        let verdicts = [
            Verdict::Whole(3),
            Verdict::Begun("a catalog changed"),
            Verdict::NotComparable("no plan could be made"),
            Verdict::Other(vec!["a".to_owned()]),
        ];
        verdicts.iter().for_each(|verdict| tally.add(verdict));
        assert_eq!(
            tally.to_string(),
            "3 plans compared: 1 whole, 1 differ, 1 as far as it was done (a catalog changed); 2 not comparable, 1 \
             because no plan could be made, 1 because the namespace did not come to rest"
        );
    }
}
