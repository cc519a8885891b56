//! Which bundles a rule can possibly be true for, judged by the text of their properties.
//!
//! Nearly every rule asks for a property of some type with some text in it, as in
//! `properties.exists(p, p.type == 't' && p.value.name == 'n')`. On a bundle without one it cannot
//! be true (it is false or fails, and both mean "does not fit"), so that it need not be run there.
//! Only what `&&` and `||` combine is looked at; whatever else a rule says is left to running it.

use ::cel::IdedExpr;
use ::cel::common::ast::{ComprehensionExpr, Expr, LiteralValue, operators};
use olm_types::bundle::Property;

/// Most alternatives that are distinguished; more of them count as "any property".
const ALTERNATIVES: usize = 16;

/// What a bundle needs for a rule to be true: for every list a property that fits one of its patterns.
#[derive(Debug, Default)]
pub(super) struct Screen(Vec<Vec<PropertyPattern>>);

/// What is known of a property; nothing at all if empty.
#[derive(Clone, Debug, Default)]
struct PropertyPattern {
    kind: Option<String>,
    /// Strings somewhere in its value, as JSON.
    texts: Vec<String>,
}

impl Screen {
    /// What the rule needs, as far as it is known.
    pub(super) fn of(rule: &IdedExpr) -> Self {
        Self(needs(rule))
    }

    /// Whether the rule may be true for a bundle with these properties.
    pub(super) fn lets_pass(&self, properties: &[Property]) -> bool {
        let is_there = |patterns: &Vec<PropertyPattern>| {
            properties
                .iter()
                .any(|property| patterns.iter().any(|pattern| pattern.may_be(property)))
        };
        self.0.iter().all(is_there)
    }
}

impl PropertyPattern {
    fn may_be(&self, property: &Property) -> bool {
        let value = &*property.value;
        self.kind.as_deref().is_none_or(|kind| kind == &*property.kind)
            && (self.texts.iter().all(|text| value.contains(text.as_str())) || value.contains('\\'))
    }

    fn and(&self, other: &Self) -> Self {
        let kind = self.kind.clone().or_else(|| other.kind.clone());
        Self { kind, texts: [self.texts.as_slice(), &other.texts].concat() }
    }
}

/// What an expression needs to be true.
fn needs(expression: &IdedExpr) -> Vec<Vec<PropertyPattern>> {
    match &expression.expr {
        Expr::Call(call) => match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::LOGICAL_AND, [one, other]) => [needs(one), needs(other)].concat(),
            (operators::LOGICAL_OR, [one, other]) => {
                match (needs(one).first(), needs(other).first()) {
                    (Some(one), Some(other)) => vec![either(one, other)],
                    _ => Vec::new(),
                }
            }
            _ => Vec::new(),
        },
        Expr::Comprehension(loops) => exists(loops).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The properties that `properties.exists(p, ...)` or `properties.exists_one(p, ...)` asks for.
fn exists(loops: &ComprehensionExpr) -> Option<Vec<PropertyPattern>> {
    let Expr::Call(step) = &loops.loop_step.expr else { return None };
    let start = &loops.accu_init.expr;
    let test = match (step.func_name.as_str(), step.args.as_slice()) {
        (operators::LOGICAL_OR, [_, test]) if is_false(start) => test,
        (operators::CONDITIONAL, [test, _, _]) if is_zero(start) => test,
        _ => return None,
    };
    is_name(&loops.iter_range, "properties").then(|| patterns(test, &loops.iter_var))
}

/// The properties for which a test of `variable` can be true.
fn patterns(test: &IdedExpr, variable: &str) -> Vec<PropertyPattern> {
    let anything = || vec![PropertyPattern::default()];
    let Expr::Call(call) = &test.expr else { return anything() };
    let [one, other] = call.args.as_slice() else { return anything() };
    match call.func_name.as_str() {
        operators::LOGICAL_AND => both(&patterns(one, variable), &patterns(other, variable)),
        operators::LOGICAL_OR => either(&patterns(one, variable), &patterns(other, variable)),
        operators::EQUALS => equal(one, other, variable)
            .or_else(|| equal(other, one, variable))
            .map_or_else(anything, |pattern| vec![pattern]),
        operators::IN if is_in_value(other, variable) => {
            text(one).map_or_else(anything, |text| vec![in_value(text)])
        }
        _ => anything(),
    }
}

fn both(one: &[PropertyPattern], other: &[PropertyPattern]) -> Vec<PropertyPattern> {
    if one.len().saturating_mul(other.len()) > ALTERNATIVES {
        return one.to_vec();
    }
    one.iter().flat_map(|one| other.iter().map(|other| one.and(other))).collect()
}

fn either(one: &[PropertyPattern], other: &[PropertyPattern]) -> Vec<PropertyPattern> {
    if one.len().saturating_add(other.len()) > ALTERNATIVES {
        return vec![PropertyPattern::default()];
    }
    [one, other].concat()
}

/// `variable.type == 'text'` and `variable.value.a.b == 'text'`.
fn equal(left: &IdedExpr, right: &IdedExpr, variable: &str) -> Option<PropertyPattern> {
    let text = text(right)?;
    match &left.expr {
        Expr::Select(select)
            if !select.test && select.field == "type" && is_name(&select.operand, variable) =>
        {
            Some(PropertyPattern { kind: Some(text.to_owned()), texts: Vec::new() })
        }
        _ if is_in_value(left, variable) => Some(in_value(text)),
        _ => None,
    }
}

/// A value that holds a string. Written in another way, it has a backslash.
fn in_value(text: &str) -> PropertyPattern {
    PropertyPattern { kind: None, texts: vec![format!("\"{text}\"")] }
}

/// `variable.value`, or a member of it.
fn is_in_value(expression: &IdedExpr, variable: &str) -> bool {
    let Expr::Select(select) = &expression.expr else { return false };
    let is_value = select.field == "value" && is_name(&select.operand, variable);
    !select.test && (is_value || is_in_value(&select.operand, variable))
}

fn is_name(expression: &IdedExpr, name: &str) -> bool {
    matches!(&expression.expr, Expr::Ident(known) if known == name)
}

fn is_false(start: &Expr) -> bool {
    matches!(start, Expr::Literal(LiteralValue::Boolean(start)) if !start.inner())
}

fn is_zero(start: &Expr) -> bool {
    matches!(start, Expr::Literal(LiteralValue::Int(start)) if *start.inner() == 0)
}

fn text(expression: &IdedExpr) -> Option<&str> {
    match &expression.expr {
        Expr::Literal(LiteralValue::String(text)) => Some(text.inner()),
        _ => None,
    }
}
