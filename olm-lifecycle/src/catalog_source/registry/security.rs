//! Whether a registry Pod keeps to the pod security standard `restricted`, and how.

use k8s_openapi::api::core::v1::{
    Capabilities, Container, PodSecurityContext, PodSpec, SeccompProfile, SecurityContext,
};
use olm_types::api::CatalogSource;

/// The value of `securityContextConfig` and of the namespace's label that asks for restrictions.
pub(in crate::catalog_source) const RESTRICTED: &str = "restricted";

/// Restricts the Pod if the CatalogSource asks for it or, when it says nothing, its namespace does.
pub(super) fn apply(
    pod: &mut PodSpec,
    catalog: &CatalogSource,
    namespace_is_restricted: bool,
    user: Option<i64>,
) {
    let config = catalog.spec.grpc_pod_config.as_ref();
    let asked = config
        .and_then(|config| config.security_context_config.as_deref())
        .filter(|asked| !asked.is_empty());
    if asked.map_or(namespace_is_restricted, |asked| asked == RESTRICTED) {
        restrict(pod, user.filter(|user| *user > 0));
    }
}

fn restrict(pod: &mut PodSpec, user: Option<i64>) {
    pod.security_context = Some(PodSecurityContext {
        seccomp_profile: Some(SeccompProfile {
            type_: "RuntimeDefault".to_owned(),
            ..SeccompProfile::default()
        }),
        run_as_user: user,
        run_as_non_root: user.map(|_| true),
        ..PodSecurityContext::default()
    });
    pod.init_containers
        .iter_mut()
        .flatten()
        .chain(&mut pod.containers)
        .for_each(restrict_container);
}

fn restrict_container(container: &mut Container) {
    let context = container.security_context.get_or_insert_default();
    context.allow_privilege_escalation = Some(false);
    context.capabilities =
        Some(Capabilities { drop: Some(vec!["ALL".to_owned()]), ..Capabilities::default() });
}

/// A context that says only whether the container may write to its own file system.
pub(super) fn read_only(read_only: bool) -> SecurityContext {
    SecurityContext { read_only_root_filesystem: Some(read_only), ..SecurityContext::default() }
}
