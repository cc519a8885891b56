//! The catalog brings newer versions, and the operator follows them one after the other.

use anyhow::Result;
use tokio::time::Instant;

use super::guestbooks;
use super::install::NAMESPACE;
use super::phases;
use super::setup::Setup;
use super::subscription;
use super::timeline::Timeline;
use crate::demo_catalog::Edition;

/// The versions on the way, each of which serves one more version of its kind.
const WAY: [&str; 3] = ["guestbook.v1.0.0", "guestbook.v1.1.0", "guestbook.v1.2.0"];

/// Publishes them and follows.
pub(super) async fn followed(timeline: &Timeline, setup: &Setup) -> Result<()> {
    timeline.chapter("The catalog brings newer versions, approval is Automatic");
    let client = &setup.client;
    guestbooks::open(timeline, client, "v1alpha1").await?;
    let follower = phases::follow(*timeline, client, NAMESPACE).await?;
    let started = Instant::now();
    setup.publish(Edition::Update)?;
    timeline.event("catalog", "serves guestbook 1.1.0 and 1.2.0 in channel stable, too");
    let [.., newest] = WAY;
    subscription::at_latest(client, newest).await?;
    follower.until_replaced(&WAY).await?;
    let seconds = started.elapsed().as_secs_f32();
    timeline.event("done", format!("{seconds:.1} s for both upgrades"));
    guestbooks::read(timeline, client, "v1").await
}
