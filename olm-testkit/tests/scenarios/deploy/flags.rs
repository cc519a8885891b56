//! The operators of this workspace know the flags that their Deployments give them.

use std::process::Command;
use std::sync::Arc;

use anyhow::{Context, Result, ensure};
use kube::ResourceExt;
use olm_testkit::built_programs;
use olm_testkit::deploy::{self, Options};
use olm_testkit::e2e::TestContext;
use olm_testkit::operators::Operator;
use serde_json::Value;

/// Asked for their version, the binaries read every flag before it and end.
pub async fn are_known(_: Arc<TestContext>) -> Result<()> {
    let dir = built_programs()?;
    for operator in Operator::ALL {
        let flags = flags(operator)?;
        ensure!(flags.len() > 1, "{operator} gets no flags");
        let answer = Command::new(dir.join(operator.name())).args(&flags).arg("--version").output();
        let answer = answer.with_context(|| format!("cannot run {operator}"))?;
        let complaint = String::from_utf8_lossy(&answer.stderr);
        let (known, flags) = (complaint.is_empty(), flags.join(" "));
        ensure!(answer.status.success() && known, "{operator} {flags}: {complaint}");
    }
    Ok(())
}

fn flags(operator: Operator) -> Result<Vec<String>> {
    let objects = deploy::objects(&Options::default())?;
    let deployment = objects.iter().find(|object| {
        deploy::kind(object) == "Deployment" && object.name_any() == operator.name()
    });
    let data = &deployment.with_context(|| format!("{operator} is not deployed"))?.data;
    let flags = data.pointer("/spec/template/spec/containers/0/args").and_then(Value::as_array);
    let flags = flags.with_context(|| format!("{operator} gets no args"))?;
    Ok(flags.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
