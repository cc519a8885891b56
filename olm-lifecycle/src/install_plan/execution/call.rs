//! The calls of an execution: what it asks for, and what it gets back.

use olm_effect::{Effect, Outcome, Refusal, Resource, Target};
use olm_types::gvk::Gvk;
use serde_json::Value;

use super::Served;

/// One call that has to be made before the execution can go on.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Execute the effect.
    Do(Effect),
    /// Read the object live.
    Read(Target),
    /// Ask whether and how the API server serves a kind.
    Resolve(Gvk),
    /// Read a page of all objects of a kind in all namespaces, after this token; as the operator
    /// itself.
    List(Resource, Option<String>),
}

/// What became of a [`Request`].
#[derive(Clone, Debug)]
pub enum Reply {
    /// The outcome of an effect, and what the API server warned of.
    Outcome(Outcome, Vec<String>),
    /// The object as it is, or that there is none.
    Live(Option<Value>),
    /// What the API server says about a kind.
    Kind(Served),
    /// A page of objects, and the token of the next one.
    Page(Vec<Value>, Option<String>),
    /// What was asked for could not be read.
    Unreadable(Refusal),
}
