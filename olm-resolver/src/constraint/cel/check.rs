//! The static type of a rule: what v0's CEL library refuses when it compiles is refused here.
//!
//! Trees are at most as deep as `lexical` allows. Names that macros make start with `@`.

use ::cel::IdedExpr;
use ::cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, operators,
};

use super::standard;
use super::types::CelType;

/// What is wrong with a rule.
pub(super) struct Wrong {
    /// Number of the expression, once it is known.
    pub(super) at: Option<u64>,
    /// What is wrong.
    pub(super) reason: String,
}

impl From<String> for Wrong {
    fn from(reason: String) -> Self {
        Self { at: None, reason }
    }
}

/// The type of an expression, or what is wrong with it.
pub(super) fn type_of(expression: &IdedExpr) -> Result<CelType, Wrong> {
    let properties = CelType::list(CelType::map(CelType::String, CelType::Dyn));
    Scope { names: vec![("properties".to_owned(), properties)] }.check(expression)
}

/// Variables, inner ones last.
struct Scope {
    names: Vec<(String, CelType)>,
}

impl Scope {
    fn check(&mut self, expression: &IdedExpr) -> Result<CelType, Wrong> {
        let found = self.check_parts(&expression.expr);
        found.map_err(|wrong| Wrong { at: wrong.at.or(Some(expression.id)), ..wrong })
    }

    fn check_parts(&mut self, expression: &Expr) -> Result<CelType, Wrong> {
        match expression {
            Expr::Ident(name) => self.identifier(name),
            Expr::Literal(literal) => Ok(literal_type(literal)),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(call),
            Expr::Comprehension(comprehension) => self.comprehension(comprehension),
            Expr::List(list) => self.common(&list.elements).map(CelType::list),
            Expr::Map(map) => {
                let (mut keys, mut values) = (CelType::Free, CelType::Free);
                for entry in &map.entries {
                    if let EntryExpr::MapEntry(entry) = &entry.expr {
                        keys = mixed(&keys, &self.check(&entry.key)?);
                        values = mixed(&values, &self.check(&entry.value)?);
                    }
                }
                Ok(CelType::map(keys, values))
            }
            Expr::Struct(object) => {
                Err(format!("undeclared reference to '{}'", object.type_name).into())
            }
            Expr::Unspecified => Err("empty expression".to_owned().into()),
        }
    }

    fn identifier(&self, name: &str) -> Result<CelType, Wrong> {
        let plain = name.trim_start_matches('.');
        match self.names.iter().rev().find(|(known, _)| known == plain) {
            Some((_, known)) => Ok(known.clone()),
            None if standard::is_type_name(plain) => Ok(CelType::Type),
            None => Err(format!("undeclared reference to '{plain}' (in container '')").into()),
        }
    }

    /// The common type of list elements; `dyn` if they differ.
    fn common(&mut self, elements: &[IdedExpr]) -> Result<CelType, Wrong> {
        let mut common = CelType::Free;
        for element in elements {
            common = mixed(&common, &self.check(element)?);
        }
        Ok(common)
    }

    fn select(&mut self, select: &SelectExpr) -> Result<CelType, Wrong> {
        let field = match self.check(&select.operand)? {
            CelType::Map(_, value) => *value,
            open if open.is_open() => CelType::Dyn,
            other => return Err(format!("type '{other}' does not support field selection").into()),
        };
        Ok(if select.test { CelType::Bool } else { field })
    }

    fn call(&mut self, call: &CallExpr) -> Result<CelType, Wrong> {
        let mut arguments = Vec::new();
        for argument in call.target.iter().map(|target| &**target).chain(&call.args) {
            arguments.push(self.check(argument)?);
        }
        let name = call.func_name.as_str();
        let result = match (name, arguments.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => conditional(condition, yes, no),
            (operators::EQUALS | operators::NOT_EQUALS, [one, other]) => {
                one.join(other).map(|_| CelType::Bool)
            }
            (operators::LESS | operators::LESS_EQUALS, [one, other])
            | (operators::GREATER | operators::GREATER_EQUALS, [one, other]) => ordered(one, other),
            (operators::INDEX, [container, key]) => index(container, key),
            (operators::IN, [element, container]) => is_in(element, container),
            (operators::ADD, [CelType::List(_), _] | [_, CelType::List(_)]) => {
                add_lists(&arguments)
            }
            _ => standard::result(name, call.target.is_some(), &arguments),
        };
        result.ok_or_else(|| no_overload(name, &arguments).into())
    }

    fn comprehension(&mut self, comprehension: &ComprehensionExpr) -> Result<CelType, Wrong> {
        let element = match self.check(&comprehension.iter_range)? {
            CelType::List(element) => *element,
            CelType::Map(key, _) => *key,
            open if open.is_open() => CelType::Dyn,
            other => {
                return Err(format!(
                    "expression of type '{other}' cannot be range of a comprehension"
                )
                .into());
            }
        };
        let start = self.check(&comprehension.accu_init)?;
        let outside = self.names.len();
        self.names.push((comprehension.accu_var.clone(), start.clone()));
        self.names.push((comprehension.iter_var.clone(), element));
        let condition = self.check(&comprehension.loop_cond)?;
        let step = self.check(&comprehension.loop_step)?;
        self.names.truncate(outside);
        if condition != CelType::Bool && !condition.is_open() {
            return Err(format!("expected type 'bool' but found '{condition}'").into());
        }
        let end = start.join(&step).ok_or_else(|| no_overload("macro", &[start, step]))?;
        self.names.push((comprehension.accu_var.clone(), end));
        let result = self.check(&comprehension.result);
        self.names.truncate(outside);
        result
    }
}

fn literal_type(literal: &LiteralValue) -> CelType {
    match literal {
        LiteralValue::Boolean(_) => CelType::Bool,
        LiteralValue::Bytes(_) => CelType::Bytes,
        LiteralValue::Double(_) => CelType::Double,
        LiteralValue::Int(_) => CelType::Int,
        LiteralValue::Null => CelType::Null,
        LiteralValue::String(_) => CelType::String,
        LiteralValue::UInt(_) => CelType::Uint,
    }
}

/// Elements of different types make a list or map of `dyn`.
fn mixed(one: &CelType, other: &CelType) -> CelType {
    one.join(other).unwrap_or(CelType::Dyn)
}

fn conditional(condition: &CelType, yes: &CelType, no: &CelType) -> Option<CelType> {
    let is_bool = *condition == CelType::Bool || condition.is_open();
    yes.join(no).filter(|_| is_bool)
}

/// Numbers compare across their types; everything else with its own.
fn ordered(one: &CelType, other: &CelType) -> Option<CelType> {
    use CelType::{Bool, Bytes, Double, Int, String, Uint};
    let number = |of: &CelType| matches!(of, Int | Uint | Double);
    let comparable =
        |of: &CelType| number(of) || of.is_open() || matches!(of, Bool | String | Bytes);
    let both = comparable(one) && comparable(other);
    let alike = number(one) && number(other) || one.join(other).is_some();
    (both && alike).then_some(Bool)
}

fn index(container: &CelType, key: &CelType) -> Option<CelType> {
    match container {
        CelType::List(element) => matches!(key, CelType::Int | CelType::Dyn | CelType::Free)
            .then(|| element.as_ref().clone()),
        CelType::Map(wanted, value) => wanted.join(key).map(|_| value.as_ref().clone()),
        open if open.is_open() => Some(CelType::Dyn),
        _ => None,
    }
}

fn is_in(element: &CelType, container: &CelType) -> Option<CelType> {
    match container {
        CelType::List(of) | CelType::Map(of, _) => of.join(element).map(|_| CelType::Bool),
        open if open.is_open() => Some(CelType::Bool),
        _ => None,
    }
}

fn add_lists(arguments: &[CelType]) -> Option<CelType> {
    match arguments {
        [one, other] => one.join(other).map(|joined| match joined {
            CelType::Dyn if matches!(one, CelType::List(_)) => one.clone(),
            CelType::Dyn => other.clone(),
            list => list,
        }),
        _ => None,
    }
}

fn no_overload(name: &str, arguments: &[CelType]) -> String {
    let known =
        standard::exists(name) || name.starts_with('_') || name.starts_with('@') || name == "macro";
    if !known {
        return format!("undeclared reference to '{name}' (in container '')");
    }
    let types: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    format!("found no matching overload for '{name}' applied to '({})'", types.join(", "))
}
