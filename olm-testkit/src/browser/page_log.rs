//! What a browser asked for and complained of, from its logs.

use anyhow::{Result, ensure};
use serde_json::Value;

/// What happened in a page, and in those before it since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageLog {
    /// Addresses that were asked for, those that its policy forbids among them.
    pub requests: Vec<String>,
    /// Errors in the console.
    pub errors: Vec<String>,
    /// Texts of dialogs.
    pub dialogs: Vec<String>,
}

impl PageLog {
    /// Reads the console's log and that of the developer tools.
    pub(super) fn of(console: &Value, network: &Value) -> Self {
        let lines = |log: &Value| log.as_array().cloned().unwrap_or_default();
        let errors = lines(console).into_iter().filter(|line| line["level"] == "SEVERE");
        let mut seen =
            Self { errors: errors.map(|line| text(&line["message"])).collect(), ..Self::default() };
        for line in lines(network) {
            let event: Value = serde_json::from_str(&text(&line["message"])).unwrap_or_default();
            seen.take(&event["message"]);
        }
        seen
    }

    fn take(&mut self, event: &Value) {
        let parameters = &event["params"];
        match event["method"].as_str() {
            Some("Network.requestWillBeSent") => {
                self.requests.push(text(&parameters["request"]["url"]));
            }
            Some("Network.webSocketCreated") => self.requests.push(text(&parameters["url"])),
            Some("Page.javascriptDialogOpening") => self.dialogs.push(text(&parameters["message"])),
            _ => {}
        }
    }

    /// Fails unless nothing but this host was asked, and there was no error and no dialog.
    ///
    /// # Errors
    /// There was; `what` begins the message.
    pub fn is_calm(&self, what: &str, host: &str) -> Result<()> {
        let own = ["http", "https"].map(|scheme| format!("{scheme}://{host}/"));
        let is_own = |url: &&String| own.iter().any(|own| url.starts_with(own));
        let is_inside = |url: &&String| is_own(url) || url.as_str() == "about:blank";
        let outside: Vec<&String> = self.requests.iter().filter(|url| !is_inside(url)).collect();
        ensure!(outside.is_empty(), "{what}: the browser asks for {outside:?}");
        ensure!(self.errors.is_empty(), "{what}: the console says {:?}", self.errors);
        ensure!(self.dialogs.is_empty(), "{what}: dialogs open: {:?}", self.dialogs);
        Ok(())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn seen(level: &str, events: &[Value]) -> PageLog {
        let console = json!([{"level": level, "message": "a line"}]);
        let lines: Vec<Value> = events
            .iter()
            .map(|event| json!({"message": json!({"message": event}).to_string()}))
            .collect();
        PageLog::of(&console, &json!(lines))
    }

    fn request(url: &str) -> Value {
        json!({"method": "Network.requestWillBeSent", "params": {"request": {"url": url}}})
    }

    fn socket(url: &str) -> Value {
        json!({"method": "Network.webSocketCreated", "params": {"url": url}})
    }

    #[rstest]
    #[case::own("INFO", request("http://127.0.0.1:1/a"), true)]
    #[case::own_with_tls("INFO", request("https://127.0.0.1:1/a"), true)]
    #[case::other_port("INFO", request("http://127.0.0.1:12/a"), false)]
    #[case::outside("INFO", request("https://evil.example/p.png"), false)]
    #[case::error("SEVERE", request("http://127.0.0.1:1/a"), false)]
    #[case::socket("INFO", socket("ws://evil.example"), false)]
    #[case::dialog("INFO", json!({"method": "Page.javascriptDialogOpening", "params": {"message": "1"}}), false)]
    #[case::other_event("INFO", json!({"method": "Page.frameNavigated", "params": {}}), true)]
    fn what_leaves_or_complains_is_noticed(
        #[case] level: &str,
        #[case] event: Value,
        #[case] expected: bool,
    ) {
        let calm = seen(level, &[event]).is_calm("a page", "127.0.0.1:1");
        assert_eq!(calm.is_ok(), expected, "{calm:?}");
    }

    #[test]
    fn a_log_that_is_none_holds_nothing() {
        assert_eq!(PageLog::of(&json!(null), &json!([{"message": "{"}])), PageLog::default());
    }
}
