//! The parts of a ClusterOperator that OLM writes.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use olm_effect::{Effect, Resource, Target};
use olm_types::api::ClusterServiceVersion;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Group, version and kind.
pub const API: (&str, &str, &str) = ("config.openshift.io", "v1", "ClusterOperator");

const PLURAL: &str = "clusteroperators";

/// What a ClusterOperator says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Status {
    /// How it goes, by type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// What is installed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionEntry>,
    /// Where to look when something is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_objects: Vec<RelatedObject>,
}

/// One condition.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Condition {
    /// Type, unique within the list.
    #[serde(rename = "type")]
    pub type_: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// When anything of it last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_transition_time: Option<Time>,
    /// Why, in one word.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Why, for people.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub message: String,
}

/// A version of something.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct VersionEntry {
    /// Of what.
    pub name: String,
    /// The version.
    pub version: String,
}

/// An object to look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelatedObject {
    /// API group.
    pub group: String,
    /// Plural of the kind.
    pub resource: String,
    /// Namespace; empty for objects of the whole cluster.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl RelatedObject {
    /// A ClusterServiceVersion.
    pub fn csv(csv: &ClusterServiceVersion) -> Self {
        Self {
            group: "operators.coreos.com".to_owned(),
            resource: "clusterserviceversions".to_owned(),
            namespace: csv.metadata.namespace.clone().unwrap_or_default(),
            name: csv.metadata.name.clone().unwrap_or_default(),
        }
    }

    /// A namespace.
    pub fn namespace(name: &str) -> Self {
        let resource = "namespaces".to_owned();
        Self { resource, name: name.to_owned(), ..Self::default() }
    }
}

impl Status {
    /// What the object says; a part that cannot be read counts as not said.
    pub fn of(object: &Value) -> Self {
        let status = object.get("status").unwrap_or(&Value::Null);
        let read = |field: &str| status.get(field).cloned().unwrap_or(Value::Null);
        Self {
            conditions: serde_json::from_value(read("conditions")).unwrap_or_default(),
            versions: serde_json::from_value(read("versions")).unwrap_or_default(),
            related_objects: serde_json::from_value(read("relatedObjects")).unwrap_or_default(),
        }
    }

    /// Says something under a type; the time changes whenever anything else does.
    pub fn say(&mut self, type_: &str, status: bool, reason: &str, message: &str, now: Timestamp) {
        let now = Timestamp::from_second(now.as_second()).unwrap_or(now);
        let wanted = Condition {
            type_: type_.to_owned(),
            status: if status { "True" } else { "False" }.to_owned(),
            last_transition_time: Some(Time(now)),
            reason: reason.to_owned(),
            message: message.to_owned(),
        };
        match self.conditions.iter_mut().find(|condition| condition.type_ == type_) {
            Some(known) if known.says_the_same(&wanted) => {}
            Some(known) => *known = wanted,
            None => self.conditions.push(wanted),
        }
    }

    /// Says something under a type; the time changes with what is said to be true alone.
    pub fn set_lasting(&mut self, type_: &str, status: bool, message: &str, now: Timestamp) {
        let known = |status: &Self| {
            let found = status.conditions.iter().find(|condition| condition.type_ == type_);
            found.map(|found| (found.status.clone(), found.last_transition_time.clone()))
        };
        let before = known(self);
        self.say(type_, status, "", message, now);
        let same = before.filter(|(before, _)| known(self).is_some_and(|(now, _)| now == *before));
        let condition = self.conditions.iter_mut().find(|condition| condition.type_ == type_);
        if let (Some((_, since)), Some(condition)) = (same, condition) {
            condition.last_transition_time = since;
        }
    }

    /// Sets the version of something.
    pub(crate) fn set_version(&mut self, name: &str, version: &str) {
        match self.versions.iter_mut().find(|entry| entry.name == name) {
            Some(entry) => version.clone_into(&mut entry.version),
            None => self
                .versions
                .push(VersionEntry { name: name.to_owned(), version: version.to_owned() }),
        }
    }

    /// Adds an object to look at, unless it is there.
    pub(crate) fn relate(&mut self, object: RelatedObject) {
        if !self.related_objects.contains(&object) {
            self.related_objects.push(object);
        }
    }
}

impl Condition {
    fn says_the_same(&self, other: &Self) -> bool {
        self.status == other.status && self.reason == other.reason && self.message == other.message
    }
}

/// Creates the object, without a status.
pub(super) fn create(name: &str) -> Effect {
    let target = target(name);
    let object = json!({
        "apiVersion": target.resource.api_version(),
        "kind": target.resource.kind,
        "metadata": {"name": name},
    });
    Effect::create(target, object)
}

/// The write of a status; nothing when the object says it already.
pub(super) fn write(name: &str, live: &Value, wanted: &Status) -> Option<Effect> {
    if Status::of(live) == *wanted {
        return None;
    }
    let mut object = live.clone();
    let fields = object.as_object_mut()?;
    let status = fields.entry("status").or_insert_with(|| json!({}));
    if !status.is_object() {
        *status = json!({});
    }
    status["conditions"] = json!(wanted.conditions);
    status["versions"] = json!(wanted.versions);
    status["relatedObjects"] = json!(wanted.related_objects);
    Some(Effect::status(target(name), object, Some(live.clone())))
}

fn target(name: &str) -> Target {
    let (group, version, kind) = API;
    Target::cluster(Resource::new(group, version, kind, PLURAL), name)
}
