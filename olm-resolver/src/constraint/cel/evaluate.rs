//! Evaluating a rule on the properties of a bundle, with v0's environment.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use ::cel::common::types::{CelInt, CelNull, DYN_TYPE};
use ::cel::common::value::{CowVal, Val};
use ::cel::context::VariableResolver;
use ::cel::objects::{Key, Map};
use ::cel::{Context, Env, ExecutionError, Program, Value};
use olm_types::bundle::Property;
use olm_types::document::{self, Budget, Meter};
use olm_types::version::Version;

use super::cost::Size;

/// Stack for rules that may be deep: 1,000 levels, unoptimised, with a margin. Only what is
/// touched is taken from memory.
const DEEP_STACK: usize = 64 << 20;

/// Trees up to this depth are worked on with the caller's stack.
const SHALLOW: usize = 48;

/// The properties of a bundle as CEL values, converted once and lent to every rule.
#[derive(Clone, Debug)]
pub struct PropertyValues {
    list: Arc<dyn Val>,
    size: Size,
}

impl PropertyValues {
    /// Converts properties. One whose value is no JSON is an empty map, as in v0.
    pub fn new(properties: &[Property]) -> Self {
        let mut size = Size { properties: properties.len() as u64, ..Size::default() };
        let list: Vec<Value> =
            properties.iter().map(|property| element(property, &mut size)).collect();
        let list: Result<Box<dyn Val>, _> = Value::List(Arc::new(list)).try_into();
        Self { list: list.map_or_else(|_| Arc::new(CelNull) as Arc<dyn Val>, Arc::from), size }
    }

    /// How much there is.
    pub fn size(&self) -> Size {
        self.size
    }
}

impl VariableResolver for PropertyValues {
    fn resolve<'b>(&'b self, variable: &str) -> Option<CowVal<'b, 'b>> {
        (variable == "properties").then(|| CowVal::Borrowed(&*self.list))
    }
}

fn element(property: &Property, size: &mut Size) -> Value {
    size.bytes += (property.kind.len() + property.value.len()) as u64;
    size.text = size.text.max(property.kind.len() as u64);
    let mut map = HashMap::new();
    let read = document::json(property.value.as_bytes(), &mut Meter::in_all(Budget::PROPERTY));
    if let Ok(json) = read {
        map.insert(key("type"), Value::from(&*property.kind));
        map.insert(key("value"), value(&json, size));
    }
    Value::Map(Map { map: Arc::new(map) })
}

/// JSON numbers are doubles, as in Go.
fn value(json: &serde_json::Value, size: &mut Size) -> Value {
    match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        serde_json::Value::String(text) => {
            size.text = size.text.max(text.len() as u64);
            Value::from(text.as_str())
        }
        serde_json::Value::Array(items) => {
            size.longest = size.longest.max(items.len() as u64);
            Value::List(Arc::new(items.iter().map(|item| value(item, size)).collect()))
        }
        serde_json::Value::Object(members) => {
            size.longest = size.longest.max(members.len() as u64);
            let names = members.keys().map(|name| name.len() as u64);
            size.text = names.fold(size.text, u64::max);
            let map =
                members.iter().map(|(name, member)| (key(name), value(member, size))).collect();
            Value::Map(Map { map: Arc::new(map) })
        }
    }
}

fn key(name: &str) -> Key {
    Key::from(name)
}

/// The standard functions and macros, and `semver_compare`.
pub(super) fn environment() -> Env {
    let mut env = Env::stdlib();
    let declared = env.add_overload(
        "semver_compare",
        "semver_compare_any",
        vec![DYN_TYPE, DYN_TYPE],
        semver_compare,
    );
    debug_assert!(declared.is_ok(), "declared once in a new environment");
    env
}

/// -1, 0 or 1; arguments count as they print, read tolerantly.
fn semver_compare<'b, 'v>(
    arguments: Vec<CowVal<'b, 'v>>,
) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let mut versions = Vec::new();
    for argument in &arguments {
        let text = go_text(&Value::try_from(&**argument)?);
        let version = Version::parse_tolerant(&text)
            .map_err(|error| ExecutionError::function_error("semver_compare", error))?;
        versions.push(version);
    }
    match versions.as_slice() {
        [one, other] => Ok(CowVal::owned(CelInt::from(one.cmp(other) as i64))),
        _ => Err(ExecutionError::invalid_argument_count(2, versions.len())),
    }
}

/// The text that Go prints for a value; enough of it to recognise what is a version.
fn go_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        other => format!("{other:?}"),
    }
}

/// Whether the rule is true. A failure, or another result than a bool, is false.
pub(super) fn is_true(program: &Program, env: &Arc<Env>, properties: &PropertyValues) -> bool {
    let mut context = Context::with_env(env.clone());
    context.set_variable_resolver(properties);
    matches!(program.execute(&context), Ok(Value::Bool(true)))
}

/// Runs something on a tree of this depth: a deep one on a stack that is deep enough for any
/// accepted rule. A panic of the CEL library stays here.
pub(super) fn on_stack<T: Send>(
    depth: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, String> {
    if depth <= SHALLOW {
        return catch_unwind(AssertUnwindSafe(work)).map_err(|_| PANICKED.to_owned());
    }
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work);
        let thread = thread.map_err(|error| format!("no thread for it: {error}"))?;
        thread.join().map_err(|_| PANICKED.to_owned())
    })
}

const PANICKED: &str = "the CEL library gave up on it";
