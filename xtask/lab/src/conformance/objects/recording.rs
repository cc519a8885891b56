//! Recordings: what OLM v0 did with the same input.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use kube::api::DynamicObject;
use olm_testkit::dump::Key;
use serde::Deserialize;
use serde_json::Value;

use super::normalise;

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
    let mut steps: Vec<Step> = steps.collect();
    number_plans(&mut steps);
    Ok(Recording { steps, file: name, title: file.scenario, inputs: file.inputs })
}

/// The recordings were made without `spec.generation` of InstallPlans. The Subscription that names a
/// plan has the number, too.
fn number_plans(steps: &mut [Step]) {
    let mut numbers: BTreeMap<(String, String), Value> = BTreeMap::new();
    for step in steps {
        let there = step.touched.values().flatten();
        for status in there.filter(|one| one["kind"] == "Subscription").map(|one| &one["status"]) {
            let plan = ["namespace", "name"].map(|field| status["installPlanRef"][field].as_str());
            if let [Some(namespace), Some(name)] = plan {
                let number = status["installPlanGeneration"].clone();
                numbers.entry((namespace.to_owned(), name.to_owned())).or_insert(number);
            }
        }
        let objects = step.touched.iter_mut();
        for (key, object) in objects.filter(|(key, _)| key.kind == "InstallPlan") {
            let number = numbers.get(&(key.namespace.clone(), key.name.clone()));
            let spec = object.as_mut().and_then(|object| object.get_mut("spec"));
            if let (Some(Value::Object(spec)), Some(number)) = (spec, number) {
                spec.entry("generation").or_insert_with(|| number.clone());
            }
        }
    }
}

fn step(at: String, step: FileStep) -> Step {
    let there = step.added.into_iter().chain(step.changed).map(|mut object| {
        normalise::canonical(&mut object);
        (Key::of(&object), Some(object))
    });
    let gone = step.removed.iter().filter_map(|text| Some((key(text)?, None)));
    Step { at, after: step.after, touched: there.chain(gone).collect() }
}

/// Reads `apiVersion|kind|namespace|name`.
fn key(text: &str) -> Option<Key> {
    let mut parts = text.split('|').skip(1).map(str::to_owned);
    Some(Key { kind: parts.next()?, namespace: parts.next()?, name: parts.next()? })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn plans_have_the_number_that_their_subscription_had_first() {
        let subscription = |name: &str, number: i32| {
            json!({"kind": "Subscription", "metadata": {"name": "s"}, "status": {
                "installPlanRef": {"namespace": "n", "name": name},
                "installPlanGeneration": number,
            }})
        };
        let plan = |name: &str| json!({"kind": "InstallPlan", "metadata": {"namespace": "n", "name": name}, "spec": {}});
        let step = |objects: &[Value]| Step {
            at: String::new(),
            after: String::new(),
            touched: objects.iter().map(|one| (Key::of(one), Some(one.clone()))).collect(),
        };
        let mut steps = [
            step(&[subscription("install-1", 1), plan("install-1")]),
            step(&[subscription("install-2", 2), plan("install-2"), plan("install-1")]),
        ];
        number_plans(&mut steps);
        let plans = steps.iter().flat_map(|step| step.touched.iter());
        let numbers: Vec<_> = plans
            .filter(|(key, _)| key.kind == "InstallPlan")
            .map(|(key, object)| {
                (key.name.as_str(), object.as_ref().unwrap()["spec"]["generation"].as_i64())
            })
            .collect();
        let expected = [("install-1", Some(1)), ("install-1", Some(1)), ("install-2", Some(2))];
        assert_eq!(numbers, expected);
    }
}
