//! A rolling update of OLM itself: new replicas start before old ones end, one operator after the
//! other, while an operator is upgraded.

use std::sync::Arc;

use anyhow::Result;
use olm_testkit::deploy::LEADER_ELECT;
use olm_testkit::e2e::Scene;
use olm_testkit::e2e::stage::local::{Flags, Local};
use olm_testkit::operators::Operator;

use crate::faults::story;

/// As `deploy/ha` has it.
pub const FLAGS: Flags<'static> = Flags { both: &[LEADER_ELECT], catalog: &[], faults: false };

/// The upgrade ends as if nothing had happened.
pub async fn update(local: Arc<Local>, scene: Arc<Scene>) -> Result<()> {
    story::begin(&scene).await?;
    story::publish(&scene).await?;
    for operator in Operator::ALL {
        local.roll_operator(operator).await?;
    }
    story::arrive(&scene).await?;
    // The packages API is served again, without which no namespace could be deleted.
    local.replace_operator(Operator::Catalog).await?;
    story::check_end(&scene).await
}
