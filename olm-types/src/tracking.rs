//! Labels and annotations by which tools that deliver from Git or charts know the objects that they applied.
//!
//! An object that inherits them looks like one of the tool's own that is not in Git any more, and is pruned.

/// Keys as a whole.
const KEYS: [&str; 1] = ["app.kubernetes.io/instance"];

/// Domains: Argo CD, Flux, Helm.
const DOMAINS: [&str; 5] = [
    "argocd.argoproj.io",
    "kustomize.toolkit.fluxcd.io",
    "helm.toolkit.fluxcd.io",
    "helm.sh",
    "meta.helm.sh",
];

/// Whether a label or annotation of this key tracks the object that has it, and is not to be inherited by
/// what OLM makes of that object.
///
/// ```
/// use olm_types::tracking::is_tracking;
///
/// assert!(is_tracking("argocd.argoproj.io/tracking-id"));
/// assert!(!is_tracking("app.kubernetes.io/name"));
/// ```
pub fn is_tracking(key: &str) -> bool {
    let domain = key.split_once('/').map(|(domain, _)| domain);
    KEYS.contains(&key) || domain.is_some_and(|domain| DOMAINS.contains(&domain))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::is_tracking;

    #[rstest]
    #[case::label_of_argo_cd("app.kubernetes.io/instance", true)]
    #[case::annotation_of_argo_cd("argocd.argoproj.io/tracking-id", true)]
    #[case::flux("kustomize.toolkit.fluxcd.io/name", true)]
    #[case::helm_release_of_flux("helm.toolkit.fluxcd.io/name", true)]
    #[case::helm("meta.helm.sh/release-name", true)]
    #[case::chart("helm.sh/chart", true)]
    #[case::another_label("app.kubernetes.io/part-of", false)]
    #[case::another_domain("my.helm.sh/x", false)]
    #[case::no_domain("helm.sh", false)]
    fn keys(#[case] key: &str, #[case] expected: bool) {
        assert_eq!(is_tracking(key), expected);
    }
}
