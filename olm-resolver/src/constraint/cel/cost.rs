//! An upper bound of the steps that evaluating a rule takes, so that rules which nest macros over
//! long lists are refused instead of run.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use ::cel::IdedExpr;
use ::cel::common::ast::{EntryExpr, Expr, LiteralValue, operators};

/// Most steps that one evaluation may take; less than 10 ms.
pub(super) const LIMIT: u64 = 150_000;

/// Steps for a regular expression that is not known before it is run, and for each byte that it may have: three
/// bytes may be a class, which takes thousands of bytes of memory before it is compiled.
const UNKNOWN_PATTERN: u64 = 20_000;
const UNKNOWN_BYTE: u64 = 16;

/// Steps for compiling the smallest regular expression: it is compiled at every call.
const SMALL_PATTERN: u64 = 500;

/// Steps for a class such as `\w`, which holds hundreds of ranges of characters.
const CLASS: u64 = 200;

/// So many bytes are compared with a regular expression in one step, for each so many states that it has.
const BYTES_PER_MATCH: u64 = 64;
const STATES_PER_MATCH: u64 = 64;

/// So many bytes are compared or copied in one step.
const BYTES_PER_STEP: u64 = 4_096;

/// So many bytes are written in one step when texts are joined. Less than for reading, as what is
/// written may be kept.
const BYTES_PER_JOIN: u64 = 64;

/// How much there is to look at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Size {
    /// Number of properties.
    pub properties: u64,
    /// Longest list or map in any property.
    pub longest: u64,
    /// Length of all types and values, in bytes of JSON.
    pub bytes: u64,
    /// Length of the longest text among them, in bytes.
    pub text: u64,
}

impl Size {
    /// The next larger one of few sizes, so that a bound need not be found for every bundle.
    fn rounded(self) -> Self {
        let up = |number: u64| number.checked_next_power_of_two().unwrap_or(u64::MAX);
        Self {
            properties: up(self.properties),
            longest: up(self.longest),
            bytes: up(self.bytes),
            text: up(self.text),
        }
    }
}

/// The bounds of one rule for the sizes that it met so far.
#[derive(Debug, Default)]
pub(super) struct Bounds(Mutex<BTreeMap<Size, u64>>);

impl Bounds {
    /// At most so many steps are needed.
    pub(super) fn steps(&self, expression: &IdedExpr, size: Size) -> u64 {
        let size = size.rounded();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known.entry(size).or_insert_with(|| steps(expression, &size))
    }
}

/// At most so many steps are needed.
fn steps(expression: &IdedExpr, size: &Size) -> u64 {
    let texts = Texts::of(expression);
    let longest = size.bytes.saturating_add(texts.bytes).max(1);
    let factor = 1_u64.checked_shl(texts.joins).unwrap_or(u64::MAX);
    let join = longest.saturating_mul(factor) / BYTES_PER_JOIN;
    let length = size.longest.max(size.properties).saturating_mul(factor);
    let text = size.text.saturating_add(texts.bytes).saturating_mul(factor);
    Bound { size, join, length, text }.steps(expression)
}

/// What may make texts and lists longer.
#[derive(Default)]
struct Texts {
    /// How often two of them are joined by `+`. Each may double the longest one.
    joins: u32,
    /// Length of those in the rule.
    bytes: u64,
}

impl Texts {
    fn of(expression: &IdedExpr) -> Self {
        let own = match &expression.expr {
            Expr::Literal(LiteralValue::String(text)) => {
                Self { joins: 0, bytes: text.inner().len() as u64 }
            }
            Expr::Call(call) if call.func_name == operators::ADD => {
                Self { joins: u32::from(is_join(&call.args)), bytes: 0 }
            }
            _ => Self { joins: 0, bytes: 1 },
        };
        children(expression).into_iter().map(Self::of).fold(own, |sum, one| Self {
            joins: sum.joins.saturating_add(one.joins),
            bytes: sum.bytes.saturating_add(one.bytes),
        })
    }
}

/// Whether `+` may double something: not with a number, and not when macros append an element.
fn is_join(arguments: &[IdedExpr]) -> bool {
    use LiteralValue::{Double, Int, UInt};
    !arguments.iter().any(|argument| {
        matches!(&argument.expr, Expr::Literal(Int(_) | UInt(_) | Double(_)) | Expr::List(_))
    })
}

/// How deep the tree is.
pub(super) fn depth(expression: &IdedExpr) -> usize {
    1 + children(expression).into_iter().map(depth).max().unwrap_or_default()
}

fn children(expression: &IdedExpr) -> Vec<&IdedExpr> {
    match &expression.expr {
        Expr::Ident(_) | Expr::Literal(_) | Expr::Unspecified => Vec::new(),
        Expr::Select(select) => vec![&select.operand],
        Expr::Call(call) => call.target.iter().map(|target| &**target).chain(&call.args).collect(),
        Expr::List(list) => list.elements.iter().collect(),
        Expr::Map(map) => map.entries.iter().flat_map(|entry| members(&entry.expr)).collect(),
        Expr::Struct(object) => {
            object.entries.iter().flat_map(|entry| members(&entry.expr)).collect()
        }
        Expr::Comprehension(loops) => vec![
            &loops.iter_range,
            &loops.accu_init,
            &loops.loop_cond,
            &loops.loop_step,
            &loops.result,
        ],
    }
}

fn members(entry: &EntryExpr) -> Vec<&IdedExpr> {
    match entry {
        EntryExpr::MapEntry(entry) => vec![&entry.key, &entry.value],
        EntryExpr::StructField(field) => vec![&field.value],
    }
}

/// What the bound depends on.
struct Bound<'a> {
    size: &'a Size,
    /// Steps for joining two texts or lists.
    join: u64,
    /// Elements of a list that is not written out in the rule.
    length: u64,
    /// Bytes of the longest text that there may be.
    text: u64,
}

impl Bound<'_> {
    fn steps(&self, expression: &IdedExpr) -> u64 {
        let inner = || sum(children(expression).into_iter().map(|child| self.steps(child)));
        match &expression.expr {
            Expr::Call(call) => {
                let own = 1 + self.size.bytes / BYTES_PER_STEP;
                let more = match call.func_name.as_str() {
                    "matches" => self.matching(call.args.last()),
                    operators::ADD if is_join(&call.args) => self.join,
                    _ => 0,
                };
                own.saturating_add(more).saturating_add(inner())
            }
            Expr::Comprehension(loops) => {
                let once =
                    self.steps(&loops.loop_cond).saturating_add(self.steps(&loops.loop_step));
                self.length(&loops.iter_range)
                    .saturating_mul(once)
                    .saturating_add(self.steps(&loops.iter_range))
                    .saturating_add(self.steps(&loops.result))
            }
            _ => inner(),
        }
    }

    /// Steps for compiling a regular expression, and for comparing the longest text with it.
    fn matching(&self, argument: Option<&IdedExpr>) -> u64 {
        let literal = match argument.map(|argument| &argument.expr) {
            Some(Expr::Literal(LiteralValue::String(text))) => Some(text.inner()),
            _ => None,
        };
        let (compiling, states) = literal.map_or_else(
            || {
                let parsing = self.text.saturating_mul(UNKNOWN_BYTE);
                (parsing.saturating_add(UNKNOWN_PATTERN), self.text.max(UNKNOWN_PATTERN))
            },
            pattern,
        );
        let times = 1 + states / STATES_PER_MATCH;
        compiling.saturating_add((self.text / BYTES_PER_MATCH).saturating_mul(times))
    }

    /// At most so many elements.
    fn length(&self, expression: &IdedExpr) -> u64 {
        match &expression.expr {
            Expr::List(list) => list.elements.len() as u64,
            Expr::Map(map) => map.entries.len() as u64,
            Expr::Ident(name) if name == "properties" => self.size.properties,
            Expr::Comprehension(loops) => self.length(&loops.iter_range),
            Expr::Call(call) => call
                .args
                .iter()
                .map(|argument| self.length(argument))
                .fold(self.length, u64::saturating_add),
            _ => self.length,
        }
    }
}

/// Steps for compiling a regular expression: its length, times every count in `{n,m}`. And how many states it has
/// then, classes counted as one.
fn pattern(text: &str) -> (u64, u64) {
    let classes = text.matches('\\').count() as u64;
    let length = text.len() as u64;
    let own = length.saturating_add(classes.saturating_mul(CLASS));
    let counts = text.split('{').skip(1).map(|rest| {
        let inside = rest.split('}').next().unwrap_or_default();
        let numbers = inside.split(',').filter_map(|number| number.trim().parse::<u64>().ok());
        numbers.max().unwrap_or(1).max(1)
    });
    let times = counts.fold(1, u64::saturating_mul);
    let compiling = own.saturating_mul(times).saturating_add(SMALL_PATTERN);
    (compiling, length.saturating_mul(times))
}

fn sum(parts: impl Iterator<Item = u64>) -> u64 {
    parts.fold(1, u64::saturating_add)
}
