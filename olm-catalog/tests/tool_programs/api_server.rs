//! The few answers of an API server that a program with one ConfigMap needs. The same programs run
//! against a real one in the scenarios of `olm-testkit`.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// Holds the ConfigMap `olm/content`, until the process ends.
pub struct ApiServer {
    state: Arc<Mutex<State>>,
    port: u16,
}

#[derive(Default)]
struct State {
    object: Option<Value>,
    /// Codes of the next writes; then they succeed.
    refusals: VecDeque<u16>,
    calls: Vec<String>,
}

impl ApiServer {
    pub fn start(object: Option<Value>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new(Mutex::new(State { object, ..State::default() }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&mut stream.unwrap(), &shared);
            }
        });
        Self { state, port }
    }

    pub fn refuse_writes(&self, codes: &[u16]) {
        self.state.lock().unwrap().refusals.extend(codes);
    }

    pub fn object(&self) -> Value {
        self.state.lock().unwrap().object.clone().unwrap()
    }

    /// Methods of the calls so far.
    pub fn calls(&self) -> Vec<String> {
        self.state.lock().unwrap().calls.clone()
    }

    /// Writes a kubeconfig into a folder.
    pub fn kubeconfig(&self, folder: &Path) -> PathBuf {
        let path = folder.join("kubeconfig");
        let config = json!({
            "clusters": [{"name": "c", "cluster": {"server": format!("http://127.0.0.1:{}", self.port)}}],
            "users": [{"name": "u", "user": {}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        });
        std::fs::write(&path, config.to_string()).unwrap();
        path
    }
}

fn answer(stream: &mut TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let (mut length, mut header) = (0, String::new());
    while reader.read_line(&mut header).unwrap() > 2 {
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        header.clear();
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let (code, object) = reply(&line, &body, &mut state.lock().unwrap());
    let text = object.to_string();
    let head = "content-type: application/json\r\nconnection: close";
    write!(stream, "HTTP/1.1 {code} x\r\n{head}\r\ncontent-length: {}\r\n\r\n{text}", text.len())
        .unwrap();
}

fn reply(line: &str, body: &[u8], state: &mut State) -> (u16, Value) {
    let mut words = line.split_whitespace();
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    state.calls.push(method.to_owned());
    let failure = |code: u16, message: &str| {
        let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure"});
        let mut status = status.as_object().unwrap().clone();
        status.extend([("code".into(), json!(code)), ("message".into(), json!(message))]);
        (code, Value::Object(status))
    };
    let known = path.trim_end_matches('?') == "/api/v1/namespaces/olm/configmaps/content";
    match (method, &state.object) {
        ("GET", Some(object)) if known => (200, object.clone()),
        ("PUT", Some(_)) if known => match state.refusals.pop_front() {
            Some(code) => failure(code, "not now"),
            None => {
                let object: Value = serde_json::from_slice(body).unwrap();
                state.object = Some(object.clone());
                (200, object)
            }
        },
        _ => failure(404, "configmaps \"content\" not found"),
    }
}
