//! Whether the operator serves a catalog, a Pod does as in v0, or nothing does yet.

use k8s_openapi::api::core::v1::Service;
use olm_types::reasons::catalog_source as reasons;

use super::{Hosting, record};

/// Attempts after which a registry that cannot be reached is left to the node. One that asks for a pause is
/// not asked by a node instead: that is no attempt.
const ATTEMPTS: u32 = 2;

/// Who serves a catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Mode {
    /// A Pod; and why, if the operator was asked to.
    Pod(Option<Refused>),
    /// Nothing yet; what is there stays.
    Waiting,
    /// The operator, at this port.
    Process(u16),
}

/// Why the operator does not serve a catalog that it was asked to serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct Refused {
    pub(in super::super) reason: &'static str,
    pub(in super::super) message: String,
}

/// Decides about the catalog of this image. Before the first success, a Pod takes over where the node
/// may be able to pull what the operator cannot; but what is not what its digest says is not run.
pub(in super::super) fn mode(hosting: &Hosting, image: &str) -> Mode {
    if !hosting.asked {
        return Mode::Pod(None);
    }
    let failure = hosting.failure.as_ref().filter(|failure| failure.image == image);
    let refused =
        |reason, message: &str| Mode::Pod(Some(Refused { reason, message: message.to_owned() }));
    if let Some(failure) = failure.filter(|failure| failure.reason == reasons::NOT_FILE_BASED) {
        return refused(failure.reason, &failure.message);
    }
    if hosting.content.is_some() {
        return match hosting.port {
            Some(port) => Mode::Process(port),
            None => refused(reasons::NO_PORT, NO_PORT),
        };
    }
    match failure {
        Some(failure) if !had_success(hosting) && may_be_run(failure.reason, failure.attempts) => {
            refused(failure.reason, &failure.message)
        }
        _ => Mode::Waiting,
    }
}

/// Whether the catalog was served before, by this process or another one.
pub(super) fn had_success(hosting: &Hosting) -> bool {
    hosting.slice.as_deref().is_some_and(|slice| record(slice).is_some())
}

/// Whether what resolution uses is what the operator serves, not what is behind the catalog's Service.
pub fn connects_in_process(hosting: &Hosting, image: &str, service: Option<&Service>) -> bool {
    let selects = service.is_some_and(selects);
    match mode(hosting, image) {
        Mode::Process(_) => true,
        Mode::Waiting => hosting.content.is_some() || !selects,
        Mode::Pod(_) => hosting.content.is_some() && service.is_some() && !selects,
    }
}

/// Whether the operator need not serve any more what it served: Pods do, and their Service says so.
pub fn is_released(hosting: &Hosting, service: Option<&Service>) -> bool {
    !hosting.asked && hosting.slice.is_none() && service.is_none_or(selects)
}

/// Whether a Service selects Pods.
pub(in super::super) fn selects(service: &Service) -> bool {
    let selector = service.spec.as_ref().and_then(|spec| spec.selector.as_ref());
    selector.is_some_and(|selector| !selector.is_empty())
}

const NO_PORT: &str = "all ports of --catalogs-ports are taken by other catalogs";

fn may_be_run(reason: &str, attempts: u32) -> bool {
    match reason {
        reasons::DIGEST_MISMATCH => false,
        reasons::REGISTRY_UNAVAILABLE => attempts >= ATTEMPTS,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use k8s_openapi::api::discovery::v1::EndpointSlice;
    use rstest::rstest;
    use serde_json::json;

    use super::super::{HostedContent, PullFailure};
    use super::*;

    fn hosting() -> Hosting {
        Hosting { asked: true, port: Some(7), ..Hosting::default() }
    }

    impl Hosting {
        fn failed(mut self, reason: &'static str, attempts: u32) -> Self {
            self.failure = Some(PullFailure {
                image: "i".to_owned(),
                digest: None,
                reason,
                message: "why".to_owned(),
                attempts,
                at: "2026-01-01T12:00:00Z".parse().unwrap(),
                retry_after: 0,
            });
            self
        }

        /// The registry asked for a pause so often, and nothing else.
        fn limited(mut self, times: u32) -> Self {
            for _ in 0..times {
                let before = self.failure.take();
                self = self.failed("RegistryUnavailable", 0);
                let now = self.failure.take();
                let now = now.map(|failure| PullFailure { retry_after: 31, ..failure });
                self.failure = now.map(|failure| failure.after(before.as_ref()));
            }
            self
        }

        fn with_content(mut self) -> Self {
            let pulled_at = "2026-01-01T12:00:00Z".parse().unwrap();
            let (image, digest) = ("i".to_owned(), "d".to_owned());
            self.content = Some(HostedContent { image, digest, folder: None, pulled_at });
            self
        }

        fn recorded(mut self) -> Self {
            let slice: EndpointSlice = serde_json::from_value(json!({
                "metadata": {
                    "labels": {"endpointslice.kubernetes.io/managed-by": "catalog-operator.olm-rs.dev"},
                    "annotations": {"olm-rs.dev/catalog-image": "i", "olm-rs.dev/catalog-digest": "d"},
                },
                "addressType": "IPv4", "endpoints": [],
            }))
            .unwrap();
            self.slice = Some(Arc::new(slice));
            self
        }
    }

    #[rstest]
    #[case::pulling(hosting(), "waiting")]
    #[case::pulled(hosting().with_content(), "process 7")]
    #[case::not_asked(Hosting::default().with_content(), "pod")]
    #[case::no_port(Hosting { port: None, ..hosting().with_content() }, "pod NoPort")]
    #[case::other_catalog(hosting().failed("NotFileBased", 1), "pod NotFileBased")]
    #[case::became_another(hosting().with_content().failed("NotFileBased", 1), "pod NotFileBased")]
    #[case::credentials(hosting().failed("ImageUnauthorized", 1), "pod ImageUnauthorized")]
    #[case::away_once(hosting().failed("RegistryUnavailable", 1), "waiting")]
    #[case::away(hosting().failed("RegistryUnavailable", 2), "pod RegistryUnavailable")]
    #[case::limited_once(hosting().limited(1), "waiting")]
    #[case::limited_for_long(hosting().limited(9), "waiting")]
    #[case::too_large(hosting().failed("ImageInvalid", 1), "pod ImageInvalid")]
    #[case::forged(hosting().failed("DigestMismatch", 9), "waiting")]
    #[case::bad_news(hosting().with_content().failed("ImageInvalid", 9), "process 7")]
    #[case::away_later(hosting().with_content().failed("RegistryUnavailable", 9), "process 7")]
    #[case::lost_after_success(hosting().recorded().failed("RegistryUnavailable", 9), "waiting")]
    #[case::of_another_image({
        let mut hosting = hosting().failed("ImageUnauthorized", 1);
        hosting.failure.as_mut().unwrap().image = "other".to_owned();
        hosting
    }, "waiting")]
    fn modes(#[case] hosting: Hosting, #[case] expected: &str) {
        let shown = match mode(&hosting, "i") {
            Mode::Pod(None) => "pod".to_owned(),
            Mode::Pod(Some(refused)) => format!("pod {}", refused.reason),
            Mode::Waiting => "waiting".to_owned(),
            Mode::Process(port) => format!("process {port}"),
        };
        assert_eq!(shown, expected);
    }
}
