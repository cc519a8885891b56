//! Commands of chromium's driver that the standard does not know.

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A request to a session.
#[derive(Debug)]
pub(super) struct Command {
    /// Behind the address of the session.
    path: &'static str,
    body: String,
}

impl Command {
    /// A method of the protocol of the developer tools.
    pub(super) fn devtools(method: &str, parameters: &Value) -> Self {
        let body = json!({"cmd": method, "params": parameters});
        Self { path: "goog/cdp/execute", body: body.to_string() }
    }

    /// Lines of a log since it was read last.
    pub(super) fn log(kind: &str) -> Self {
        Self { path: "se/log", body: json!({"type": kind}).to_string() }
    }
}

impl WebDriverCompatibleCommand for Command {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_goes_to_its_session() {
        let base = Url::parse("http://127.0.0.1:9515").unwrap();
        let command = Command::devtools("Page.reload", &json!({}));
        let address = command.endpoint(&base, Some("a")).unwrap();
        assert_eq!(address.as_str(), "http://127.0.0.1:9515/session/a/goog/cdp/execute");
        let (method, body) = command.method_and_body(&address);
        assert_eq!(method, Method::POST);
        assert_eq!(body.as_deref(), Some(r#"{"cmd":"Page.reload","params":{}}"#));
    }
}
