//! The two operators of OLM v0 at work.

use std::path::Path;

use anyhow::Result;
use olm_tools::OlmV0;

use crate::operators::OLM_NAMESPACE;
use crate::process::{Launch, Lifetime, Running};

/// Starts both operators beside a cluster. Their logs are in a folder, under names with this end. They
/// reach catalogs through the proxy at this URL.
///
/// They serve health and metrics at ports that no flag sets, and go on without when these are taken.
///
/// # Errors
/// One cannot be started.
pub fn start(
    v0: &OlmV0,
    kubeconfig: &Path,
    logs: &Path,
    end: &str,
    proxy: &str,
) -> Result<Vec<Running>> {
    let start = |program: &str| {
        let launch = Launch {
            name: format!("v0's {program}"),
            program: v0.program(program),
            args: arguments(program),
            env: [("KUBECONFIG", &*kubeconfig.to_string_lossy()), ("GRPC_PROXY", proxy)]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .to_vec(),
            log: logs.join(format!("v0-{program}{end}.log")),
            lifetime: Lifetime::Command,
        };
        launch.start()
    };
    OlmV0::PROGRAMS.into_iter().map(start).collect()
}

/// As in v0's chart.
fn arguments(program: &str) -> Vec<String> {
    let user = (program == "catalog").then_some("--set-workload-user-id=true");
    let all = ["--namespace", OLM_NAMESPACE].into_iter().chain(user);
    all.map(str::to_owned).collect()
}
