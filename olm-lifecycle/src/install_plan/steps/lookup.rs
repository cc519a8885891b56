//! Bundles that live in an image and have to be unpacked first.

use k8s_openapi::api::core::v1::ObjectReference;
use olm_types::api::{BundleLookup, BundleLookupCondition};
use olm_types::bundle::Entry;
use olm_types::conditions::bundle_lookup::{NOT_PERSISTED, PENDING};
use olm_types::reasons::install_plan::{BUNDLE_NOT_UNPACKED, JOB_NOT_STARTED};

use super::{BundleError, properties_text};

/// What the InstallPlan records about a bundle image before it is unpacked.
pub fn bundle_lookup(
    entry: &Entry,
    path: &str,
    replaces: Option<&str>,
) -> Result<BundleLookup, BundleError> {
    Ok(BundleLookup {
        path: path.to_owned(),
        identifier: entry.name.to_string(),
        replaces: replaces.unwrap_or_default().to_owned(),
        catalog_source_ref: ObjectReference {
            namespace: Some(entry.catalog.namespace.to_string()),
            name: Some(entry.catalog.name.to_string()),
            ..ObjectReference::default()
        },
        conditions: vec![
            condition(
                NOT_PERSISTED,
                BUNDLE_NOT_UNPACKED,
                "bundle contents have not yet been persisted to installplan status",
            ),
            condition(PENDING, JOB_NOT_STARTED, "unpack job not yet started"),
        ],
        properties: Some(properties_text(entry)?),
    })
}

fn condition(kind: &str, reason: &str, message: &str) -> BundleLookupCondition {
    BundleLookupCondition {
        type_: kind.to_owned(),
        status: "True".to_owned(),
        reason: Some(reason.to_owned()),
        message: Some(message.to_owned()),
        ..BundleLookupCondition::default()
    }
}
