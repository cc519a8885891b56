//! What an answer of the API server means for an effect.

use http::{Response, StatusCode};
use kube::client::Body;
use kube::core::response::Status;
use olm_effect::{Action, Outcome, Refusal};
use serde_json::Value;
use tokio::time::timeout;

use super::{Executed, difference};
use crate::client::REQUEST_TIMEOUT;
use crate::client::fence::Fenced;
use crate::tasks::chain;

/// An answer that was read to its end.
#[derive(Debug)]
pub(super) struct ApiResponse {
    code: StatusCode,
    body: Value,
    name: String,
    warnings: Vec<String>,
}

impl ApiResponse {
    /// Reads the answer to a call on the object called `name`.
    pub(super) async fn read(
        answer: Result<Response<Body>, kube::Error>,
        name: String,
    ) -> Result<Self, Refusal> {
        let response = answer.map_err(|error| refusal_of(&error))?;
        let warnings = warnings(&response);
        let code = response.status();
        let bytes = timeout(REQUEST_TIMEOUT, response.into_body().collect_bytes())
            .await
            .map_err(|_| no_answer(format!("no complete answer within {REQUEST_TIMEOUT:?}")))?
            .map_err(|error| refusal_of(&error))?;
        let text = || Value::String(String::from_utf8_lossy(&bytes).into_owned());
        let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| text());
        Ok(Self { code, body, name, warnings })
    }

    /// The API server does not know who is calling.
    pub(super) fn is_unauthenticated(&self) -> bool {
        self.code == StatusCode::UNAUTHORIZED
    }

    /// What became of `action` on an object that had version `known` before.
    pub(super) fn conclude(mut self, action: &Action, known: Option<&str>) -> Executed {
        let warnings = std::mem::take(&mut self.warnings);
        let executed = if self.code.is_success() {
            self.succeeded(action, known)
        } else {
            Executed::without_write(self.failed(action))
        };
        Executed { warnings, ..executed }
    }

    fn failed(&self, action: &Action) -> Outcome {
        let refusal = self.refusal();
        match action {
            Action::Create(_) if refusal.reason == "AlreadyExists" => Outcome::AlreadyExists,
            Action::Create(_) => Outcome::Refused(refusal),
            Action::Delete { .. } if self.is_absent(&refusal) => Outcome::Deleted,
            _ if self.is_absent(&refusal) => Outcome::NotFound,
            _ => Outcome::Refused(refusal),
        }
    }

    fn succeeded(self, action: &Action, known: Option<&str>) -> Executed {
        // An unchanged version says that the API server found nothing to write.
        let known = known.filter(|_| !self.has_ended());
        let same = known.is_some() && difference::version(&self.body) == known;
        match action {
            Action::Delete { .. } => Executed::writing(Outcome::Deleted),
            Action::Create(_) => Executed::writing(Outcome::Created(self.body)),
            // Server-side apply creates when there is nothing.
            _ if self.code == StatusCode::CREATED => Executed::writing(Outcome::Created(self.body)),
            _ if same => Executed::without_write(Outcome::Unchanged),
            _ => Executed::writing(Outcome::Changed(self.body)),
        }
    }

    /// Whether the object is gone with this call: its last finalizer was removed. The answer then
    /// carries the version before.
    fn has_ended(&self) -> bool {
        let part = |pointer| self.body.pointer(pointer);
        let finalizers = part("/metadata/finalizers").and_then(Value::as_array);
        part("/metadata/deletionTimestamp").is_some() && finalizers.is_none_or(Vec::is_empty)
    }

    /// Whether the object itself is absent, and not its kind or its namespace.
    fn is_absent(&self, refusal: &Refusal) -> bool {
        let named = self.body.pointer("/details/name").and_then(Value::as_str);
        refusal.code == 404 && named == Some(self.name.as_str())
    }

    fn refusal(&self) -> Refusal {
        let text = |field: &str| self.body.get(field).and_then(Value::as_str).map(str::to_owned);
        let code = self.code.as_u16();
        let plain = self.body.as_str().map(str::trim).filter(|text| !text.is_empty());
        let message = text("message").or_else(|| plain.map(str::to_owned));
        Refusal {
            code,
            reason: text("reason")
                .filter(|text| !text.is_empty())
                .unwrap_or_else(|| standard_reason(code)),
            message: message.unwrap_or_else(|| format!("the API server answered {}", self.code)),
        }
    }
}

/// A failed call as a refusal; code 0 when no answer came.
pub fn refusal_of(error: &kube::Error) -> Refusal {
    match error {
        kube::Error::Api(status) => refusal_of_status(status),
        kube::Error::Service(cause) if cause.downcast_ref() == Some(&Fenced::NotSent) => {
            not_leading()
        }
        other => no_answer(chain(other)),
    }
}

/// Nothing reaches the cluster from a replica that does not lead, or not any more.
pub(super) fn not_leading() -> Refusal {
    Refusal { code: 503, reason: "NotLeading".to_owned(), message: Fenced::NotSent.to_string() }
}

fn refusal_of_status(status: &Status) -> Refusal {
    // What kube says in place of a reason when the answer was plain text.
    let plain = status.reason.is_empty() || status.reason.contains(' ');
    let reason = if plain { standard_reason(status.code) } else { status.reason.clone() };
    Refusal { code: status.code, reason, message: status.message.clone() }
}

/// The name of an HTTP status code as Kubernetes writes reasons, for example `NotFound`.
fn standard_reason(code: u16) -> String {
    let name = StatusCode::from_u16(code).ok().and_then(|code| code.canonical_reason());
    name.unwrap_or_default().replace(' ', "")
}

fn no_answer(message: String) -> Refusal {
    Refusal { code: 0, reason: "NoAnswer".to_owned(), message }
}

/// The texts of `Warning: 299 - "text"` headers (RFC 7234, section 5.5).
fn warnings(response: &Response<Body>) -> Vec<String> {
    let headers = response.headers().get_all(http::header::WARNING).into_iter();
    headers.filter_map(|header| warning_text(header.to_str().ok()?)).collect()
}

fn warning_text(header: &str) -> Option<String> {
    let quoted = header.strip_prefix("299 ")?.split_once('"')?.1.strip_suffix('"')?;
    let mut text = String::with_capacity(quoted.len());
    let mut characters = quoted.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => text.extend(characters.next()),
            other => text.push(other),
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[rstest::rstest]
    #[case("AlreadyExists", "AlreadyExists")]
    #[case("Failed to parse error data", "NotFound")]
    #[case("", "NotFound")]
    fn plain_text_answers_get_the_standard_reason(#[case] reason: &str, #[case] expected: &str) {
        let status = Status::failure("text", reason).with_code(404);
        let refusal = refusal_of(&kube::Error::Api(status.boxed()));
        assert_eq!((refusal.reason.as_str(), refusal.message.as_str()), (expected, "text"));
    }

    #[rstest::rstest]
    #[case(r#"299 - "unknown field \"spec.a\"""#, Some(r#"unknown field "spec.a""#))]
    #[case(r#"299 - "deprecated""#, Some("deprecated"))]
    #[case(r#"199 - "other""#, None)]
    #[case("299 - broken", None)]
    #[case(r#"299 - ""#, None)]
    fn warnings_are_unquoted(#[case] header: &str, #[case] text: Option<&str>) {
        assert_eq!(warning_text(header).as_deref(), text);
    }
}
