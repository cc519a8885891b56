//! What the status says about a catalog that the operator serves, or was asked to serve.

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube_core::ResourceExt;
use olm_types::annotations::PRIORITY_CLASS;
use olm_types::api::CatalogSource;
use olm_types::conditions::catalog_source::{IMAGE_POLLED, POD_SETTINGS_USED, SERVED_IN_PROCESS};
use olm_types::reasons::catalog_source as reasons;

use super::super::content::note_one;
use super::{Hosting, Mode, PullFailure, had_success, mode};

/// Reasons that say nothing about the content: the registry could not be asked.
const NOT_ASKED: [&str; 3] = [reasons::REGISTRY_UNAVAILABLE, "ImageUnauthorized", "ImageNotFound"];

/// What a new Pod says that has to pull again what the one before had.
const NOT_KEPT: &str = "nothing of it is on the disk: an emptyDir is lost with its Pod, a PersistentVolumeClaim \
    (deploy/process-pvc, or catalog.process.persistence.enabled of the chart) keeps catalogs";

/// Sets or removes the conditions that are about serving in process.
pub(in super::super) fn note(
    catalog: &CatalogSource,
    hosting: &Hosting,
    conditions: &mut Vec<Condition>,
    now: Timestamp,
) {
    let mode = mode(hosting, image(catalog));
    let refused = match &mode {
        Mode::Pod(Some(refused)) => {
            let message = format!("{}; a Pod serves the catalog, as in OLM v0", refused.message);
            Some((refused.reason, message))
        }
        _ => None,
    };
    note_one(SERVED_IN_PROCESS, refused, conditions, now);
    let settings = match mode {
        Mode::Process(_) => pod_settings(catalog),
        _ => None,
    };
    let settings = settings.map(|settings| (reasons::SERVED_IN_PROCESS, settings));
    note_one(POD_SETTINGS_USED, settings, conditions, now);
    if matches!(mode, Mode::Process(_)) {
        note_one(IMAGE_POLLED, not_looked(catalog, hosting), conditions, now);
    }
}

/// Why the content is not what the image holds now; how it goes on is said by the caller.
pub(in super::super) fn content_problem(
    catalog: &CatalogSource,
    hosting: &Hosting,
) -> Option<(&'static str, String)> {
    let failure = of_image(catalog, hosting)?;
    match mode(hosting, image(catalog)) {
        Mode::Pod(_) => None,
        Mode::Process(_) if was_not_asked(failure) => None,
        Mode::Waiting if was_not_asked(failure) && had_success(hosting) => {
            Some((failure.reason, format!("{}; {NOT_KEPT}", failure.message)))
        }
        Mode::Process(_) | Mode::Waiting => Some((failure.reason, failure.message.clone())),
    }
}

/// The registry could not be asked: since when the content is what it is.
fn not_looked(catalog: &CatalogSource, hosting: &Hosting) -> Option<(&'static str, String)> {
    let failure = of_image(catalog, hosting).filter(|failure| was_not_asked(failure))?;
    let content = hosting.content.as_ref()?;
    let message = format!(
        "{}; what was pulled at {} ({}) stays in use",
        failure.message, content.pulled_at, content.digest
    );
    Some((failure.reason, message))
}

fn was_not_asked(failure: &PullFailure) -> bool {
    NOT_ASKED.contains(&failure.reason)
}

fn of_image<'a>(catalog: &CatalogSource, hosting: &'a Hosting) -> Option<&'a PullFailure> {
    hosting.failure.as_ref().filter(|failure| failure.image == image(catalog))
}

fn image(catalog: &CatalogSource) -> &str {
    catalog.spec.image.as_deref().unwrap_or_default()
}

/// What the spec says about a Pod that there is not.
fn pod_settings(catalog: &CatalogSource) -> Option<String> {
    let config = catalog.spec.grpc_pod_config.as_ref();
    let set = |name: &'static str, is_set: bool| is_set.then_some(name);
    let extract = config.and_then(|config| config.extract_content.as_ref());
    let cache = extract.and_then(|extract| extract.cache_dir.as_deref()).unwrap_or_default();
    let of_config = config.map(|config| {
        [
            set("nodeSelector", config.node_selector.is_some()),
            set("tolerations", !config.tolerations.is_empty()),
            set("affinity", config.affinity.is_some()),
            set("securityContextConfig", config.security_context_config.is_some()),
            set("priorityClassName", config.priority_class_name.is_some()),
            set("memoryTarget", config.memory_target.is_some()),
            set("extractContent.cacheDir", !cache.is_empty()),
        ]
    });
    let fields = of_config.into_iter().flatten().flatten();
    let fields = fields.map(|field| format!("spec.grpcPodConfig.{field}"));
    let annotation = catalog.annotations().get(PRIORITY_CLASS).filter(|class| !class.is_empty());
    let annotation = annotation.map(|_| format!("annotation {PRIORITY_CLASS}"));
    let named: Vec<_> = fields.chain(annotation).collect();
    (!named.is_empty()).then(|| {
        let named = named.join(", ");
        format!("the operator serves the catalog itself, without a Pod: {named} has no effect")
    })
}
