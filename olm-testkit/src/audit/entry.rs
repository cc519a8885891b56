//! One line of the audit log, and whether it reports a write or a list.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;

use super::Write;

/// Groups whose objects are questions: nothing of them is stored.
const QUESTIONS: [&str; 2] = ["authorization.k8s.io", "authentication.k8s.io"];

/// How the log names reads of whole collections.
const LIST: &str = "list";

/// How it names those that go on.
const WATCH: &str = "watch";

/// The stage of a request that was answered.
const COMPLETE: &str = "ResponseComplete";

/// The status of an answer that refuses to overwrite what is newer, or to create what is there.
const CONFLICT: u16 = 409;

/// The status of an answer about an object that was not there before.
const CREATED: u16 = 201;

/// Requests that change nothing.
const READS: [&str; 3] = ["get", LIST, WATCH];

/// One line of the log, as far as it matters here.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Entry {
    stage: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user_agent: String,
    object_ref: ObjectRef,
    response_status: ResponseStatus,
    request_received_timestamp: Timestamp,
    stage_timestamp: Timestamp,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ObjectRef {
    pub(super) resource: String,
    pub(super) subresource: String,
    pub(super) namespace: String,
    pub(super) name: String,
    pub(super) api_group: String,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ResponseStatus {
    code: u16,
}

impl Entry {
    /// The write that it reports, if it does.
    pub(super) fn write(self) -> Option<Write> {
        let carried_out = self.is_carried_out();
        self.change().filter(|_| carried_out)
    }

    /// The write that was refused because the object was not what the program took it for.
    pub(super) fn conflict(self) -> Option<Write> {
        let refused = self.stage == COMPLETE && self.response_status.code == CONFLICT;
        self.change().filter(|_| refused)
    }

    /// What would be stored, whatever the answer was.
    fn change(self) -> Option<Write> {
        let changes = !READS.contains(&self.verb.as_str()) && !self.request_uri.contains("dryRun=");
        let question = QUESTIONS.contains(&self.object_ref.api_group.as_str())
            || self.object_ref.subresource == "token";
        let program = self.program().to_owned();
        let object = self.object_ref.to_string();
        let namespace = self.object_ref.namespace;
        let agent = self.user_agent;
        let (received, done) = (self.request_received_timestamp, self.stage_timestamp);
        let is_new = self.response_status.code == CREATED;
        let verb = self.verb;
        let write = Write { program, agent, verb, is_new, object, namespace, received, done };
        (changes && !question).then_some(write)
    }

    /// What is listed, and by which labels; further pages of a list are none of their own.
    pub(super) fn list(self) -> Option<String> {
        let first = self.verb == LIST && self.is_carried_out();
        (first && self.parameter("continue").is_none()).then(|| self.collection())
    }

    /// What is watched from then on, and by which labels.
    pub(super) fn watch(self) -> Option<String> {
        let begun = self.stage == "ResponseStarted" && self.response_status.code == 200;
        (self.verb == WATCH && begun).then(|| self.collection())
    }

    fn collection(&self) -> String {
        let labels = self.parameter("labelSelector").unwrap_or_default();
        format!("{} {labels}", self.object_ref).trim_end().to_owned()
    }

    fn parameter(&self, name: &str) -> Option<&str> {
        let (_, query) = self.request_uri.split_once('?').unwrap_or_default();
        let mut values = query.split('&').filter_map(|one| one.split_once('='));
        values.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// The program that asked, as its user agent names it.
    pub(super) fn program(&self) -> &str {
        self.user_agent.split('/').next().unwrap_or_default()
    }

    fn is_carried_out(&self) -> bool {
        self.stage == COMPLETE && (200..300).contains(&self.response_status.code)
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource)?;
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        f.write_str(" ")?;
        if !self.namespace.is_empty() {
            write!(f, "{}/", self.namespace)?;
        }
        f.write_str(&self.name)
    }
}
