//! The call of `api.ExperimentalRegistry`.

use std::pin::Pin;
use std::sync::Arc;

use futures::{Stream, stream};
use tonic::{Request, Response, Status, async_trait};

use super::calls::Calls;
use crate::fbc::{KEY_COMPONENT, is_key_component};
use crate::registry::proto;
use crate::registry::proto::experimental_registry_server::ExperimentalRegistry;

/// Metadata by which a caller accepts that the call may change; without it there are no answers.
const ACKNOWLEDGE: &str = "x-acknowledge-experimental";

#[async_trait]
impl ExperimentalRegistry for Calls {
    type ExperimentalListPackageCustomSchemasStream =
        Pin<Box<dyn Stream<Item = Result<prost_types::Struct, Status>> + Send>>;

    async fn experimental_list_package_custom_schemas(
        &self,
        request: Request<proto::ExperimentalListPackageCustomSchemasRequest>,
    ) -> Result<Response<Self::ExperimentalListPackageCustomSchemasStream>, Status> {
        let acknowledged = request.metadata().get(ACKNOWLEDGE).is_some_and(|text| text == "true");
        if !acknowledged {
            return Ok(Response::new(Box::pin(stream::empty())));
        }
        let asked = request.get_ref();
        check(asked)?;
        let (source, asked) = (Arc::clone(&self.source), request.into_inner());
        let count = source.meta_count(&asked.schema, &asked.package_name);
        let answers = (0..count).filter_map(move |place| {
            let meta = source.meta(&asked.schema, &asked.package_name, place)?;
            Some(meta.message().map_err(|error| Status::data_loss(error.to_string())))
        });
        let answers = self.streams.open(answers)?;
        Ok(Response::new(Box::pin(stream::iter(answers))))
    }
}

fn check(asked: &proto::ExperimentalListPackageCustomSchemasRequest) -> Result<(), Status> {
    if asked.schema.is_empty() {
        return Err(Status::invalid_argument("schema is required"));
    }
    for (field, text) in [("schema", &asked.schema), ("packageName", &asked.package_name)] {
        if !text.is_empty() && !is_key_component(text) {
            let message = format!(
                "invalid custom schema query: invalid {field} {text:?}: must match \
                 {KEY_COMPONENT}"
            );
            return Err(Status::invalid_argument(message));
        }
    }
    Ok(())
}
