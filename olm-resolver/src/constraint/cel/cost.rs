//! An upper bound of the steps that evaluating a rule takes, so that rules which nest macros over
//! long lists are refused instead of run.

use ::cel::IdedExpr;
use ::cel::common::ast::{EntryExpr, Expr};

/// Most steps that one evaluation may take; about 50 ms.
pub(super) const LIMIT: u64 = 1_000_000;

/// So many bytes are compared or copied in one step.
const BYTES_PER_STEP: u64 = 4_096;

/// How much there is to look at.
#[derive(Clone, Copy, Debug, Default)]
pub struct Size {
    /// Number of properties.
    pub properties: u64,
    /// Longest list or map in any property.
    pub longest: u64,
    /// Length of all values, in bytes of JSON.
    pub bytes: u64,
}

/// At most so many steps are needed.
pub(super) fn steps(expression: &IdedExpr, size: &Size) -> u64 {
    let own = 1 + size.bytes / BYTES_PER_STEP;
    let all = |expressions: &[IdedExpr]| sum(expressions.iter().map(|inner| steps(inner, size)));
    match &expression.expr {
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => 1,
        Expr::Select(select) => steps(&select.operand, size).saturating_add(1),
        Expr::Call(call) => {
            let target = call.target.as_ref().map_or(0, |target| steps(target, size));
            own.saturating_add(target).saturating_add(all(&call.args))
        }
        Expr::List(list) => all(&list.elements).saturating_add(1),
        Expr::Map(map) => sum(map.entries.iter().map(|entry| entry_steps(&entry.expr, size))),
        Expr::Struct(object) => {
            sum(object.entries.iter().map(|entry| entry_steps(&entry.expr, size)))
        }
        Expr::Comprehension(loops) => {
            let once = steps(&loops.loop_cond, size).saturating_add(steps(&loops.loop_step, size));
            length(&loops.iter_range, size)
                .saturating_mul(once)
                .saturating_add(steps(&loops.iter_range, size))
                .saturating_add(steps(&loops.result, size))
        }
    }
}

fn entry_steps(entry: &EntryExpr, size: &Size) -> u64 {
    match entry {
        EntryExpr::MapEntry(entry) => {
            steps(&entry.key, size).saturating_add(steps(&entry.value, size))
        }
        EntryExpr::StructField(field) => steps(&field.value, size),
    }
}

/// At most so many elements.
fn length(expression: &IdedExpr, size: &Size) -> u64 {
    let unknown = size.longest.max(size.properties);
    match &expression.expr {
        Expr::List(list) => list.elements.len() as u64,
        Expr::Map(map) => map.entries.len() as u64,
        Expr::Ident(name) if name == "properties" => size.properties,
        Expr::Comprehension(loops) => length(&loops.iter_range, size),
        Expr::Call(call) => call
            .args
            .iter()
            .map(|argument| length(argument, size))
            .fold(unknown, u64::saturating_add),
        _ => unknown,
    }
}

fn sum(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(1, u64::saturating_add)
}
