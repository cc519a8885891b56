//! A minimal set of rules that contradict each other, found by deletion in the order of the rules.
//!
//! Every rule gets a switch that is assumed to be on. The SAT core names switches that cannot all
//! be on; then each of them is left out once, to see whether it is needed. If the core gives up
//! half-way, what was found so far still is a contradiction, just not a minimal one.

use super::encoding;
use super::{Exhausted, Literal, Sat, Verdict};
use crate::problem::{Formula, RuleId};

/// Rules of a formula without an answer that cannot all hold, ascending.
pub(super) fn find(formula: &Formula, sat: &mut dyn Sat) -> Result<Vec<RuleId>, Exhausted> {
    for _ in 0..formula.variables {
        sat.new_variable();
    }
    let mut switches = Vec::with_capacity(formula.rules.len());
    for rule in &formula.rules {
        let switch = sat.new_variable();
        encoding::add(sat, rule, Some(Literal::negative(switch)));
        switches.push(switch);
    }
    let mut needed = match failed(sat, &switches)? {
        Some(failed) => failed,
        None => return Ok(Vec::new()),
    };
    let mut position = 0;
    while position < needed.len() {
        let rest: Vec<u32> = needed
            .iter()
            .enumerate()
            .filter(|(i, _)| *i != position)
            .map(|(_, switch)| *switch)
            .collect();
        match failed(sat, &rest) {
            Ok(Some(fewer)) => needed = fewer,
            Ok(None) => position += 1,
            Err(_) => break,
        }
    }
    let rules = (0..).map(RuleId).zip(switches);
    Ok(rules
        .filter(|(_, switch)| needed.binary_search(switch).is_ok())
        .map(|(rule, _)| rule)
        .collect())
}

/// Switches that cannot all be on, out of the given ones; `None` if they can.
fn failed(sat: &mut dyn Sat, switches: &[u32]) -> Result<Option<Vec<u32>>, Exhausted> {
    let assumptions: Vec<Literal> =
        switches.iter().map(|switch| Literal::positive(*switch)).collect();
    match sat.solve(&assumptions)? {
        Verdict::Satisfiable => Ok(None),
        Verdict::Unsatisfiable => Ok(Some(sat.failed())),
    }
}
