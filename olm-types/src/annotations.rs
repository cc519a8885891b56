//! Annotation keys that OLM reads and writes (spec catalog-operator 0.1, olm-operator 0.1).
//!
//! Keys are wire contract. The one key with a computed part is built by [`installed_alongside`].

use std::collections::BTreeMap;

use crate::hash;

/// A key of ours: the prefix stands here and nowhere else.
macro_rules! ours {
    ($name:literal) => {
        concat!("olm-rs.dev/", $name)
    };
}

/// Start of all keys of ours.
pub const OURS: &str = ours!("");

/// On CSVs and, through them, on pod templates: name of the OperatorGroup.
pub const OPERATOR_GROUP: &str = "olm.operatorGroup";
/// On CSVs and their copies: namespace of the OperatorGroup.
pub const OPERATOR_NAMESPACE: &str = "olm.operatorNamespace";
/// On CSVs: sorted, comma-separated target namespaces; empty means all.
pub const TARGET_NAMESPACES: &str = "olm.targetNamespaces";
/// On OperatorGroups: sorted, comma-separated `Kind.version.group` of the APIs that members provide.
pub const PROVIDED_APIS: &str = "olm.providedAPIs";

/// On CSVs: properties and dependencies of the bundle as JSON (see [`crate::properties`]).
pub const PROPERTIES: &str = "operatorframework.io/properties";
/// On CSVs: versions that may be upgraded to this one directly.
pub const SKIP_RANGE: &str = "olm.skipRange";
/// On Subscriptions that an InstallPlan created: the name of that InstallPlan.
pub const GENERATED_BY: &str = "olm.generated-by";
/// Start of the key on CRDs that says which CSVs were installed together with the CRD.
pub const INSTALLED_ALONGSIDE_PREFIX: &str = "operatorframework.io/installed-alongside-";

/// On serving certificate Secrets and pod templates: hex SHA-256 of the CA's PEM text.
pub const CA_HASH: &str = "olmcahash";
/// On CatalogSources: priority class of the catalog pod; overrides the spec.
pub const PRIORITY_CLASS: &str = "operatorframework.io/priorityclass";
/// On CatalogSources: template of the image reference.
pub const CATALOG_IMAGE_TEMPLATE: &str = "olm.catalogImageTemplate";
/// On catalog pods, with value `true`: the autoscaler may evict them.
pub const SAFE_TO_EVICT: &str = "cluster-autoscaler.kubernetes.io/safe-to-evict";

/// On OperatorGroups: global catalogs are not used for this namespace.
pub const EXCLUDE_GLOBAL_NAMESPACE: &str =
    "olm.operatorframework.io/exclude-global-namespace-resolution";
/// On Namespaces, under the strict tenant policy of ours: which namespaces their OperatorGroups may
/// target, separated by commas; `*` for all.
pub const ALLOWED_TARGETS: Renamed = Renamed {
    name: ours!("allowed-target-namespaces"),
    old: "operators.coreos.com/allowed-target-namespaces",
};
/// On Subscriptions: names of CSVs, separated by commas; an InstallPlan that brings only these is
/// approved.
pub const APPROVE: &str = ours!("approve");
/// On InstallPlans that Subscriptions approved: which ones, as JSON.
pub const APPROVED_BY: &str = ours!("approved-by");
/// On InstallPlans that several Subscriptions ask for: which one asks for what, and whose approval it takes,
/// as JSON.
pub const ASKED_BY: &str = ours!("asked-by");
/// On Subscriptions with manual approval, with value `Automatic`: the first InstallPlan needs none.
pub const FIRST_INSTALL: &str = ours!("first-install");
/// On Subscriptions, with value `true`: nothing new is resolved or applied for them.
pub const PAUSE: &str = ours!("pause");
/// On Subscriptions, with value `true`: `spec.startingCSV` is the version that they ask for at all times.
pub const PIN: &str = ours!("pin");
/// On Subscriptions: a range of versions, the only ones that may be installed.
pub const VERSION_RANGE: &str = ours!("version-range");
/// On CatalogSources, with value [`SERVED_BY_POD`]: a Pod serves the catalog, whatever the operator would
/// serve itself.
pub const SERVED_BY: &str = ours!("served-by");
/// Value of [`SERVED_BY`].
pub const SERVED_BY_POD: &str = "pod";
/// On EndpointSlices of catalogs that the operator serves: the image as the CatalogSource names it.
pub const CATALOG_IMAGE: &str = ours!("catalog-image");
/// On the same: the digest that the image had when it was pulled last.
pub const CATALOG_DIGEST: &str = ours!("catalog-digest");
/// On CSVs, under the strict tenant policy of ours: shows that a CSV came from a global catalog.
pub const ATTESTATION: Renamed =
    Renamed { name: ours!("attestation"), old: "operators.coreos.com/attestation" };
/// On the same CSVs, when they have [`PROPERTIES`]: shows that these came from a global catalog, too.
pub const ATTESTED_PROPERTIES: &str = ours!("attested-properties");
/// On OperatorGroups: how long a bundle unpack job may run (Go duration).
pub const BUNDLE_UNPACK_TIMEOUT: &str = "operatorframework.io/bundle-unpack-timeout";
/// On OperatorGroups: pause before a failed bundle unpack job is retried (Go duration).
pub const BUNDLE_UNPACK_RETRY_INTERVAL: &str =
    "operatorframework.io/bundle-unpack-min-retry-interval";

/// On unpacked bundle ConfigMaps: the image that they come from.
pub const SOURCE_IMAGE: &str = "olm.sourceImage";
/// On unpacked bundle ConfigMaps: how their values are encoded.
pub const CONTENT_ENCODING: &str = "olm.contentEncoding";
/// Value of [`CONTENT_ENCODING`]: binary data is base64 text of gzip.
pub const CONTENT_ENCODING_GZIP: &str = "gzip+base64";

/// In `annotations.yaml` of bundles, and on ConfigMaps made from them: folder of the manifests.
pub const BUNDLE_MANIFESTS: &str = "operators.operatorframework.io.bundle.manifests.v1";
/// Likewise: format of the bundle.
pub const BUNDLE_MEDIA_TYPE: &str = "operators.operatorframework.io.bundle.mediatype.v1";
/// Likewise: folder of the metadata.
pub const BUNDLE_METADATA: &str = "operators.operatorframework.io.bundle.metadata.v1";
/// Likewise: package of the bundle.
pub const BUNDLE_PACKAGE: &str = "operators.operatorframework.io.bundle.package.v1";
/// Likewise: channels that the bundle is in, separated by commas.
pub const BUNDLE_CHANNELS: &str = "operators.operatorframework.io.bundle.channels.v1";
/// Likewise: default channel of the package.
pub const BUNDLE_DEFAULT_CHANNEL: &str = "operators.operatorframework.io.bundle.channel.default.v1";

/// Written by kubectl; never copied.
pub const LAST_APPLIED_CONFIGURATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// A key of ours that had another name before, which is still read. It is written by its new name only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Renamed {
    /// What it is called.
    pub name: &'static str,
    /// What it was called.
    pub old: &'static str,
}

impl Renamed {
    /// Its value among `annotations`. Where both names are, the new one counts, even without a value.
    pub fn value(self, annotations: &BTreeMap<String, String>) -> Option<&str> {
        let value = annotations.get(self.name).or_else(|| annotations.get(self.old));
        value.map(String::as_str)
    }

    /// Whether `key` is one of its names.
    pub fn is(self, key: &str) -> bool {
        key == self.name || key == self.old
    }
}

/// Key on a CRD that records the CSV `namespace/name` as installed together with it.
pub fn installed_alongside(namespace: &str, csv: &str) -> String {
    format!("{INSTALLED_ALONGSIDE_PREFIX}{}", hash::alongside_key(namespace, csv))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_new_name_counts_where_both_are() {
        let value = |annotations: &[(&str, &str)]| {
            let all = annotations.iter().map(|(key, value)| ((*key).into(), (*value).into()));
            ATTESTATION.value(&all.collect()).map(str::to_owned)
        };
        let (name, old) = (ATTESTATION.name, ATTESTATION.old);
        assert_eq!(value(&[(name, "new")]).as_deref(), Some("new"));
        assert_eq!(value(&[(old, "old")]).as_deref(), Some("old"));
        assert_eq!(value(&[(old, "old"), (name, "")]).as_deref(), Some(""));
        assert_eq!(value(&[("olm-rs.dev/other", "x")]), None);
    }

    /// One prefix for what we add to the annotations of v0, which no key repeats.
    #[test]
    fn keys_of_ours_have_one_prefix() {
        let source = include_str!("annotations.rs");
        let (keys, _) = source.split_once("#[cfg(test)]").unwrap();
        assert_eq!(keys.matches(OURS).count(), 1, "a key is written without the macro");
        assert_eq!(OURS, "olm-rs.dev/");
        let all = [
            APPROVE,
            APPROVED_BY,
            ASKED_BY,
            FIRST_INSTALL,
            PAUSE,
            PIN,
            VERSION_RANGE,
            SERVED_BY,
            CATALOG_IMAGE,
            CATALOG_DIGEST,
            ALLOWED_TARGETS.name,
            ATTESTATION.name,
            ATTESTED_PROPERTIES,
        ];
        // The definitions above, besides that of the macro and the prefix itself.
        assert_eq!(keys.matches("ours!(").count(), all.len() + 1, "a key is not in this test");
        for key in all {
            assert!(key.len() > OURS.len() && key.starts_with(OURS), "{key}");
        }
        for key in [ALLOWED_TARGETS, ATTESTATION] {
            assert!(key.is(key.name) && key.is(key.old) && !key.is(OURS), "{}", key.name);
        }
    }

    #[test]
    fn alongside_key_of_the_specification() {
        assert_eq!(
            installed_alongside("namespace-0", "name-0"),
            "operatorframework.io/installed-alongside-69efe9f983f66e80"
        );
    }
}
