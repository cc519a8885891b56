//! What a kubelet reports itself.

use std::sync::Arc;

use anyhow::{Result, ensure};
use serde_json::json;

use super::catalog::operator;
use super::found::Doctor;
use crate::e2e::TestContext;

/// The image of an operator is nowhere: what the kubelet says is found, and named.
pub(super) async fn image_not_pulled(ctx: Arc<TestContext>) -> Result<()> {
    ctx.operator_group().await?;
    let absent = operator("absent", "1.0.0").deployments(|spec| {
        spec["template"]["spec"]["containers"][0]["image"] = json!("example.com/absent:1");
    });
    ctx.create(&absent.build()).await?;
    let doctor = Doctor::new(&ctx).await?;
    let report = doctor.until(&[], &[("OLM021", &ctx.namespace)]).await?;
    let finding = doctor.finding(&[], "OLM021", &ctx.namespace).await?;
    let evidence = finding["evidence"].as_str().unwrap_or_default();
    ensure!(
        evidence.contains("ErrImagePull") || evidence.contains("ImagePullBackOff"),
        "{report:#}"
    );
    Ok(())
}
