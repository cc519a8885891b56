//! Keeps the certificate of the packages API, and what the cluster says about callers, up to date;
//! retires the package server of v0.

use std::sync::Arc;
use std::time::Duration;

use arc_swap::ArcSwap;
use kube::Client;
use olm_effect::{CertificateOrder, Effect};
use olm_kit::aggregated::AggregatedApi;
use olm_kit::callers::Authorities;
use olm_kit::certificates::issue;
use olm_kit::controller::ReconcileError;
use olm_kit::interpreter::Interpreter;
use olm_kit::leader::Leadership;
use olm_kit::live;
use olm_kit::tls::ServingIdentity;
use olm_lifecycle::packages_api::{
    API_SERVICE, Decision, Observed, PREDECESSOR, SECRET, SERVICE, Serving, decide, store,
};
use tokio::time::sleep;

use crate::clock;

/// Between two looks when nothing is to do.
const REST: Duration = Duration::from_secs(60);

/// What the API server needs at most to notice a changed APIService, and the pause after a failure.
const NOTICE: Duration = Duration::from_secs(5);

/// Maintains the certificates of the packages API.
pub struct Maintenance {
    client: Client,
    interpreter: Interpreter,
    leadership: Leadership,
    namespace: String,
    identity: ServingIdentity,
    authorities: Arc<ArcSwap<Authorities>>,
    shown: Option<Serving>,
}

impl Maintenance {
    /// Maintains those of `api`, served by an operator in `namespace`.
    pub fn new(
        client: Client,
        interpreter: Interpreter,
        leadership: Leadership,
        namespace: &str,
        api: &AggregatedApi,
    ) -> Self {
        Self {
            client,
            interpreter,
            leadership,
            namespace: namespace.to_owned(),
            identity: api.identity(),
            authorities: api.authorities(),
            shown: None,
        }
    }

    /// Looks again and again; never ends.
    pub async fn run(mut self) {
        loop {
            let pause = match self.look().await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, "the packages API cannot be looked after");
                    NOTICE
                }
            };
            sleep(pause).await;
        }
    }

    /// One look; how long until the next.
    async fn look(&mut self) -> anyhow::Result<Duration> {
        let known = self.authorities.load_full();
        let authorities = Authorities::read(&self.client).await?;
        let changed = !known.is_same(&authorities);
        if changed {
            self.authorities.store(Arc::new(authorities));
            if let Some(serving) = self.shown.clone() {
                self.show(serving)?;
            }
        }
        let observed = self.observe().await?;
        match decide(&observed, clock::now()) {
            // Whoever deploys it wants it to work at once.
            Decision::Rest if observed.api_service.is_none() => Ok(NOTICE),
            Decision::Rest => Ok(REST),
            // A follower shows what the leader issued and announced.
            Decision::Issue(_) | Decision::Announce(_) | Decision::TakeOver(_)
                if !self.leadership.is_leader() =>
            {
                Ok(NOTICE)
            }
            Decision::Issue(order) => self.issue(&observed, &order).await,
            Decision::Announce(effect) => {
                self.carry_out(&[effect]).await?;
                Ok(if self.shown.is_some() { NOTICE } else { Duration::ZERO })
            }
            Decision::Show(serving) => {
                self.show(serving)?;
                tracing::info!("the packages API shows a new certificate");
                Ok(Duration::ZERO)
            }
            Decision::TakeOver(effects) => {
                self.carry_out(&effects).await?;
                tracing::info!(csv = PREDECESSOR, "the package server of OLM v0 was retired");
                Ok(NOTICE)
            }
        }
    }

    async fn carry_out(&self, effects: &[Effect]) -> Result<(), ReconcileError> {
        ReconcileError::from_outcomes(&self.interpreter.execute(effects).await)
    }

    async fn observe(&self) -> Result<Observed, kube::Error> {
        let (client, namespace) = (&self.client, &self.namespace);
        let here = Some(namespace.as_str());
        let predecessor = live::get(client, here, PREDECESSOR).await?;
        let service = match &predecessor {
            Some(_) => live::get(client, here, SERVICE).await?,
            None => None,
        };
        Ok(Observed {
            namespace: namespace.clone(),
            secret: live::get(client, here, SECRET).await?,
            api_service: live::get(client, None, API_SERVICE).await?,
            shown: self.shown.clone(),
            predecessor,
            service,
        })
    }

    /// Another replica may have been faster; then its certificate is found at the next look.
    async fn issue(
        &self,
        observed: &Observed,
        order: &CertificateOrder,
    ) -> anyhow::Result<Duration> {
        let issued = issue(order)?;
        let effect = store(observed, &issued);
        let outcomes = self.interpreter.execute(effect.as_slice()).await;
        match ReconcileError::from_outcomes(&outcomes) {
            Err(error) if !error.is_conflict() => Err(error.into()),
            _ => Ok(Duration::ZERO),
        }
    }

    fn show(&mut self, serving: Serving) -> anyhow::Result<()> {
        let authorities = self.authorities.load_full();
        self.identity.set(&serving.certificate, &serving.key, &authorities)?;
        self.shown = Some(serving);
        Ok(())
    }
}
