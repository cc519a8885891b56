//! How many plans of all scenarios were compared, and why the others were not.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::verdict::Verdict;

static TALLY: Mutex<Tally> = Mutex::new(Tally::new());

/// So many plans, by what came of them.
#[derive(Debug)]
struct Tally {
    /// Those that nothing was compared with yet, by namespace.
    open: BTreeMap<String, usize>,
    whole: usize,
    refused: usize,
    unread: usize,
    other: usize,
    begun: BTreeMap<&'static str, usize>,
    not_comparable: BTreeMap<&'static str, usize>,
}

/// Prints a line about all plans of this program, unless no plan was made.
pub fn print_summary() {
    let tally = lock();
    if !tally.is_empty() {
        println!("{tally}");
    }
}

/// Counts a plan of a namespace that is to be compared.
pub(super) fn note(namespace: &str) {
    lock().note(namespace);
}

/// Counts what came of it.
pub(super) fn conclude(namespace: &str, verdict: &Verdict) {
    lock().conclude(namespace, verdict);
}

fn lock() -> MutexGuard<'static, Tally> {
    TALLY.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    const fn new() -> Self {
        Self {
            open: BTreeMap::new(),
            whole: 0,
            refused: 0,
            unread: 0,
            other: 0,
            begun: BTreeMap::new(),
            not_comparable: BTreeMap::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.open.is_empty() && self.compared() == 0 && self.not_comparable.is_empty()
    }

    fn compared(&self) -> usize {
        let begun: usize = self.begun.values().sum();
        self.whole + self.refused + self.unread + self.other + begun
    }

    fn note(&mut self, namespace: &str) {
        *self.open.entry(namespace.to_owned()).or_default() += 1;
    }

    fn conclude(&mut self, namespace: &str, verdict: &Verdict) {
        if let Some(open) = self.open.get_mut(namespace) {
            *open -= 1;
        }
        self.open.retain(|_, open| *open > 0);
        match verdict {
            Verdict::Whole(_) => self.whole += 1,
            Verdict::Refused => self.refused += 1,
            Verdict::Unread => self.unread += 1,
            Verdict::Other(_) => self.other += 1,
            Verdict::Begun(why) => *self.begun.entry(*why).or_default() += 1,
            Verdict::NotComparable(why) => *self.not_comparable.entry(*why).or_default() += 1,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { whole, refused, unread, other, .. } = self;
        let compared = self.compared();
        write!(
            f,
            "{compared} plans compared: {whole} whole, {refused} refused as shown, {unread} not read as shown, {other} \
             differ"
        )?;
        for (why, count) in &self.begun {
            write!(f, ", {count} as far as it was done ({why})")?;
        }
        let open: usize = self.open.values().sum();
        write!(f, "; {} not comparable", open + self.not_comparable.values().sum::<usize>())?;
        for (why, count) in &self.not_comparable {
            write!(f, ", {count} because {why}")?;
        }
        match open {
            0 => Ok(()),
            open => {
                let namespaces: Vec<&str> = self.open.keys().map(String::as_str).collect();
                let namespaces = namespaces.join(", ");
                write!(f, ", {open} because the namespace did not come to rest ({namespaces})")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_plan_is_counted_once() {
        let mut tally = Tally::new();
        assert!(tally.is_empty());
        (0..6).for_each(|_| tally.note("ns"));
        let verdicts = [
            Verdict::Whole(3),
            Verdict::Refused,
            Verdict::Begun("a catalog changed"),
            Verdict::NotComparable("no plan could be made"),
            Verdict::Other(vec!["a".to_owned()]),
        ];
        verdicts.iter().for_each(|verdict| tally.conclude("ns", verdict));
        assert_eq!(
            tally.to_string(),
            "4 plans compared: 1 whole, 1 refused as shown, 0 not read as shown, 1 differ, 1 as far as it was done (a catalog changed); 2 not comparable, 1 \
             because no plan could be made, 1 because the namespace did not come to rest (ns)"
        );
    }
}
