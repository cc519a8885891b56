//! The packages API: its server, and what keeps the objects around it.

use std::sync::Arc;

use olm_kit::aggregated::AggregatedApi;
use olm_kit::tls::SharedProfile;

use super::Parts;
use crate::packages::Maintenance;

impl Parts {
    /// Serves the packages API, if it has an address, to whoever speaks TLS as `profile` says.
    pub(super) async fn serve_packages(&self, profile: SharedProfile) -> anyhow::Result<()> {
        if self.args.packages_address.is_empty() {
            return Ok(());
        }
        let api = AggregatedApi::new(Arc::new(self.content.packages.clone()), self.client.clone())
            .profile(profile);
        self.kit_metrics.certificate("packages", &api.identity());
        let (client, interpreter) = (self.client.clone(), self.interpreter.clone());
        let leadership = self.participant.leadership().clone();
        let maintenance =
            Maintenance::new(client, interpreter, leadership, &self.args.namespace, &api);
        api.serve(&self.args.packages_address, &self.tasks).await?;
        let token = self.tasks.token();
        self.tasks.spawn("packages API maintenance", async move {
            tokio::select! {
                () = maintenance.run() => {}
                () = token.cancelled() => {}
            }
        });
        Ok(())
    }
}
