//! The standard functions of CEL and `semver_compare`: which arguments they take and what they give.
//!
//! Functions on timestamps and durations are left out: a rule that needs them is refused, as the
//! evaluator has none. Operators that work on any type are in `check`.

use super::types::CelType::{self, Bool, Bytes, Double, Dyn, Int, Null, String, Type, Uint};

/// One way to call a function.
pub(super) struct Overload {
    name: &'static str,
    /// Whether the first argument stands before the dot.
    member: bool,
    arguments: &'static [CelType],
    result: CelType,
}

/// The type of a call, or `None` if no overload fits. Several that fit with different results give
/// a value whose type is known at run time only.
pub(super) fn result(name: &str, member: bool, arguments: &[CelType]) -> Option<CelType> {
    let mut result: Option<CelType> = None;
    for overload in OVERLOADS.iter().filter(|overload| overload.accepts(name, member, arguments)) {
        match &result {
            Some(known) if *known != overload.result => return Some(Dyn),
            _ => result = Some(overload.result.clone()),
        }
    }
    result
}

/// Whether there is a function of this name.
pub(super) fn exists(name: &str) -> bool {
    OVERLOADS.iter().any(|overload| overload.name == name)
}

/// Whether the identifier is the name of a type.
pub(super) fn is_type_name(name: &str) -> bool {
    ["bool", "int", "uint", "double", "string", "bytes", "list", "map", "null_type", "type"]
        .contains(&name)
}

impl Overload {
    fn accepts(&self, name: &str, member: bool, arguments: &[CelType]) -> bool {
        self.name == name
            && self.member == member
            && self.arguments.len() == arguments.len()
            && self.arguments.iter().zip(arguments).all(|(wanted, given)| fits(wanted, given))
    }
}

/// `Dyn` among the parameters takes anything; `Null` stands for "a list or a map".
fn fits(wanted: &CelType, given: &CelType) -> bool {
    match wanted {
        Dyn => true,
        Null => given.is_open() || matches!(given, CelType::List(_) | CelType::Map(..)),
        exact => given.is_open() || exact == given,
    }
}

const fn global(name: &'static str, arguments: &'static [CelType], result: CelType) -> Overload {
    Overload { name, member: false, arguments, result }
}

const fn member(name: &'static str, arguments: &'static [CelType], result: CelType) -> Overload {
    Overload { name, member: true, arguments, result }
}

const OVERLOADS: &[Overload] = &[
    global("_&&_", &[Bool, Bool], Bool),
    global("_||_", &[Bool, Bool], Bool),
    global("!_", &[Bool], Bool),
    global("@not_strictly_false", &[Bool], Bool),
    global("_+_", &[Int, Int], Int),
    global("_+_", &[Uint, Uint], Uint),
    global("_+_", &[Double, Double], Double),
    global("_+_", &[String, String], String),
    global("_+_", &[Bytes, Bytes], Bytes),
    global("_-_", &[Int, Int], Int),
    global("_-_", &[Uint, Uint], Uint),
    global("_-_", &[Double, Double], Double),
    global("_*_", &[Int, Int], Int),
    global("_*_", &[Uint, Uint], Uint),
    global("_*_", &[Double, Double], Double),
    global("_/_", &[Int, Int], Int),
    global("_/_", &[Uint, Uint], Uint),
    global("_/_", &[Double, Double], Double),
    global("_%_", &[Int, Int], Int),
    global("_%_", &[Uint, Uint], Uint),
    global("-_", &[Int], Int),
    global("-_", &[Double], Double),
    global("size", &[String], Int),
    global("size", &[Bytes], Int),
    global("size", &[Null], Int),
    member("size", &[String], Int),
    member("size", &[Bytes], Int),
    member("size", &[Null], Int),
    member("contains", &[String, String], Bool),
    member("startsWith", &[String, String], Bool),
    member("endsWith", &[String, String], Bool),
    member("matches", &[String, String], Bool),
    global("matches", &[String, String], Bool),
    global("bool", &[Bool], Bool),
    global("bool", &[String], Bool),
    global("int", &[Int], Int),
    global("int", &[Uint], Int),
    global("int", &[Double], Int),
    global("int", &[String], Int),
    global("uint", &[Int], Uint),
    global("uint", &[Uint], Uint),
    global("uint", &[Double], Uint),
    global("uint", &[String], Uint),
    global("double", &[Int], Double),
    global("double", &[Uint], Double),
    global("double", &[Double], Double),
    global("double", &[String], Double),
    global("string", &[Bool], String),
    global("string", &[Int], String),
    global("string", &[Uint], String),
    global("string", &[Double], String),
    global("string", &[String], String),
    global("string", &[Bytes], String),
    global("bytes", &[String], Bytes),
    global("bytes", &[Bytes], Bytes),
    global("type", &[Dyn], Type),
    global("dyn", &[Dyn], Dyn),
    global("semver_compare", &[Dyn, Dyn], Int),
];
