//! Recordings: what OLM v0 did with the same input.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use serde::Deserialize;
use serde_json::Value;

use super::normalise;

/// Objects in normal form.
pub(super) type State = BTreeMap<Key, Value>;

/// What tells an object apart. The kind comes first, so that a sorted list is grouped by it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub api_version: String,
}

impl Key {
    /// The key of an object; missing parts are empty.
    pub(super) fn of(object: &Value) -> Self {
        let text = |pointer: &str| {
            object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Self {
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            api_version: text("/apiVersion"),
        }
    }

    /// Reads `apiVersion|kind|namespace|name`.
    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('|').map(str::to_owned);
        let (api_version, kind) = (parts.next()?, parts.next()?);
        Some(Self { kind, namespace: parts.next()?, name: parts.next()?, api_version })
    }
}

impl fmt::Display for Key {
    /// `namespace/name`, or the name alone: the kind stands above.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.namespace.as_str() {
            "" => f.write_str(&self.name),
            namespace => write!(f, "{namespace}/{}", self.name),
        }
    }
}

/// A scenario and what came of it.
#[derive(Clone, Debug)]
pub(super) struct Recording {
    /// The name of the file without its extension.
    pub file: String,
    /// The scenario in words.
    pub title: String,
    /// What was applied at the start.
    pub inputs: Vec<DynamicObject>,
    pub steps: Vec<Step>,
}

/// What one event changed.
#[derive(Clone, Debug)]
pub(super) struct Step {
    /// The file and the number of the step, `file/1`.
    pub at: String,
    /// The event in words.
    pub after: String,
    /// Every object that was touched, as it was then; `None` when it was removed.
    pub touched: BTreeMap<Key, Option<Value>>,
}

impl Recording {
    /// Whether the scenario is meant by `name`.
    pub(super) fn is_called(&self, name: &str) -> bool {
        self.file.contains(name) || self.title.contains(name)
    }
}

/// Every recording of a folder, by file name.
pub(super) fn read_all(dir: &Path) -> Result<Vec<Recording>> {
    let list = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    let mut files: Vec<_> = list.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    files.iter().map(|path| read(path)).collect()
}

#[derive(Deserialize)]
struct File {
    scenario: String,
    inputs: Vec<DynamicObject>,
    steps: Vec<FileStep>,
}

#[derive(Deserialize)]
struct FileStep {
    after: String,
    added: Vec<Value>,
    changed: Vec<Value>,
    removed: Vec<String>,
}

fn read(path: &Path) -> Result<Recording> {
    let text = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let file: File = serde_json::from_slice(&text)
        .with_context(|| format!("{} is no recording", path.display()))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = file.steps.into_iter().zip(1..);
    let steps = numbered.map(|(step, number)| self::step(format!("{name}/{number}"), step));
    Ok(Recording { steps: steps.collect(), file: name, title: file.scenario, inputs: file.inputs })
}

fn step(at: String, step: FileStep) -> Step {
    let there = step.added.into_iter().chain(step.changed).map(|mut object| {
        normalise::canonical(&mut object);
        (Key::of(&object), Some(object))
    });
    let gone = step.removed.iter().filter_map(|text| Some((Key::parse(text)?, None)));
    Step { at, after: step.after, touched: there.chain(gone).collect() }
}
