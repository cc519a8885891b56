//! A double of the API server for tests: expects exact requests in order and answers from a
//! script. A request that is not expected gets status 418, and the script remembers it.

use std::collections::VecDeque;
use std::sync::Arc;

use axum::body::Body as AnswerBody;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tower::{BoxError, Layer};

use crate::client::fence::FenceLayer;
use crate::leader::Leadership;

/// More than any test asks. A caller that tries again for ever would fill the memory.
const MOST: usize = 10_000;

/// Expected requests with their answers, and the requests that came.
#[derive(Clone, Default)]
pub(crate) struct Script {
    steps: Arc<Mutex<VecDeque<Step>>>,
    requests: Arc<Mutex<Vec<ReceivedRequest>>>,
}

struct Step {
    request: String,
    code: u16,
    headers: Vec<(&'static str, &'static str)>,
    body: Vec<u8>,
    /// Whether the answer ends; a watch does not.
    ends: bool,
}

/// A request that came.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    /// Method, path and query.
    pub(crate) line: String,
    /// The `Content-Type` header.
    pub(crate) content_type: String,
    /// The `Authorization` header.
    pub(crate) authorization: Option<String>,
    /// The body as JSON.
    pub(crate) body: Value,
}

impl Script {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Expects `request` (method, path and query) and answers it.
    pub(crate) fn answer(self, request: &str, code: u16, body: Value) -> Self {
        self.step(request, code, body.to_string().into_bytes(), true)
    }

    /// Expects `request` and answers it in plain text.
    pub(crate) fn text(self, request: &str, code: u16, body: &str) -> Self {
        self.step(request, code, body.as_bytes().to_vec(), true)
    }

    /// Makes the last answer carry a header.
    pub(crate) fn header(self, name: &'static str, value: &'static str) -> Self {
        if let Some(step) = self.steps.lock().back_mut() {
            step.headers.push((name, value));
        }
        self
    }

    /// Expects `request` and answers with watch events, then silence.
    pub(crate) fn stream(self, request: &str, events: &[Value]) -> Self {
        let lines: String = events.iter().map(line).collect();
        self.step(request, 200, lines.into_bytes(), false)
    }

    /// Expects `request` and refuses it as the API server does.
    pub(crate) fn refuse(self, request: &str, code: u16, reason: &str, message: &str) -> Self {
        let name = request.rsplit('/').next().and_then(|rest| rest.split('?').next());
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code,
            "reason": reason, "message": message, "details": {"name": name}});
        self.answer(request, code, body)
    }

    fn step(self, request: &str, code: u16, body: Vec<u8>, ends: bool) -> Self {
        let request = request.to_owned();
        self.steps.lock().push_back(Step { request, code, headers: Vec::new(), body, ends });
        self
    }

    /// A client that talks to this script.
    pub(crate) fn client(&self) -> Client {
        self.client_of(&Leadership::alone())
    }

    /// The same, writing only under this leadership.
    pub(crate) fn client_of(&self, leadership: &Leadership) -> Client {
        let script = self.clone();
        let service = tower::service_fn(move |request| script.clone().serve(request));
        Client::new(FenceLayer::new(leadership.clone()).layer(service), "default")
    }

    /// The requests that came so far.
    pub(crate) fn requests(&self) -> Vec<ReceivedRequest> {
        self.requests.lock().clone()
    }

    /// Fails the test when requests that were expected did not come.
    pub(crate) fn finish(&self) -> Vec<ReceivedRequest> {
        let missing: Vec<_> = self.steps.lock().iter().map(|step| step.request.clone()).collect();
        assert!(missing.is_empty(), "never requested: {missing:?}, came: {:?}", self.requests());
        self.requests()
    }

    async fn serve(self, request: Request<Body>) -> Result<Response<AnswerBody>, BoxError> {
        let (parts, body) = request.into_parts();
        let header = |name| parts.headers.get(name).and_then(|value| value.to_str().ok());
        let line = format!("{} {}", parts.method, parts.uri);
        let body = body.collect_bytes().await?;
        assert!(self.requests.lock().len() < MOST, "{line} came after {MOST} requests");
        self.requests.lock().push(ReceivedRequest {
            line: line.clone(),
            content_type: header("content-type").unwrap_or_default().to_owned(),
            authorization: header("authorization").map(str::to_owned),
            body: serde_json::from_slice(&body).unwrap_or(Value::Null),
        });
        let step = {
            let mut steps = self.steps.lock();
            let expected = steps.front().is_some_and(|step| step.request == line);
            if expected { steps.pop_front() } else { None }
        };
        Ok(step.map_or_else(|| unexpected(&line), Step::response))
    }
}

impl Step {
    fn response(self) -> Response<AnswerBody> {
        let mut response = Response::builder().status(self.code);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        let body = if self.ends { self.body.into() } else { endless(self.body) };
        response.body(body).unwrap()
    }
}

/// An event as an API server writes it: its type comes first.
fn line(event: &Value) -> String {
    format!("{{\"type\":{},\"object\":{}}}\n", event["type"], event["object"])
}

fn unexpected(line: &str) -> Response<AnswerBody> {
    let body = json!({"kind": "Status", "code": 418, "message": format!("unexpected: {line}")});
    Response::builder().status(418).body(body.to_string().into()).unwrap()
}

fn endless(start: Vec<u8>) -> AnswerBody {
    use futures::StreamExt;
    let start = futures::stream::iter([Ok::<_, std::io::Error>(start)]);
    AnswerBody::from_stream(start.chain(futures::stream::pending()))
}
