//! The standard health service: a server that runs is healthy, whatever service is asked about.

use futures::stream;
use tonic::{Request, Response, Status, async_trait};
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_server::Health;
use tonic_health::pb::{HealthCheckRequest, HealthCheckResponse};

/// Says SERVING for every name: probes ask about "", OLM about "Registry".
#[derive(Clone, Copy, Debug)]
pub(super) struct AlwaysServing;

#[async_trait]
impl Health for AlwaysServing {
    type WatchStream = stream::Empty<Result<HealthCheckResponse, Status>>;

    async fn check(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<HealthCheckResponse>, Status> {
        Ok(Response::new(HealthCheckResponse { status: ServingStatus::Serving.into() }))
    }

    async fn watch(
        &self,
        _: Request<HealthCheckRequest>,
    ) -> Result<Response<Self::WatchStream>, Status> {
        Err(Status::unimplemented("health is not watched: ask with Check"))
    }
}
