//! axe-core in the page: what of it keeps users out.

use anyhow::{Context, Result};
use fantoccini::Client;
use olm_tools::{AxeCore, Progress};
use serde_json::Value;

/// Runs it over the page for WCAG 2.1 at level AA. The last argument is what the driver waits for.
const RUN: &str = "
    const done = arguments[arguments.length - 1];
    const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
    const places = found => found.nodes.slice(0, 5).map(node => node.html.slice(0, 200)).join(' ');
    axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']}).then(
        found => done(found.violations.map(one => `${one.id}: ${one.help}: ${places(one)}`)),
        error => done([`axe-core fails: ${error}`]));";

/// Why it cannot be run here; none where it can. It is got when it is missing.
#[must_use]
pub fn missing() -> Option<String> {
    let error = AxeCore::ensure(&Progress::to_stderr()).err()?;
    Some(format!("axe-core is not there: {error:#}").replace('\n', " "))
}

/// A line for each rule that the page breaks.
pub(super) async fn findings(client: &Client) -> Result<Vec<String>> {
    let script = AxeCore::ensure(&Progress::to_stderr())?.script()?;
    client.execute(&script, Vec::new()).await.context("axe-core cannot be loaded")?;
    let found = client.execute_async(RUN, Vec::new()).await.context("axe-core does not end")?;
    let lines = found.as_array().context("axe-core says no list")?;
    Ok(lines.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
