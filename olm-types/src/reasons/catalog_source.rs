//! Reasons in `CatalogSource.status.reason` and its conditions (spec catalog-operator 1.1, 1.9).

/// The spec cannot work; waits for a change of the spec.
pub const SPEC_INVALID_ERROR: &str = "SpecInvalidError";
/// The ConfigMap of the catalog is missing or unusable.
pub const CONFIG_MAP_ERROR: &str = "ConfigMapError";
/// The registry server cannot be created or reached.
pub const REGISTRY_SERVER_ERROR: &str = "RegistryServerError";
/// The polling interval is not a duration.
pub const INVALID_INTERVAL_ERROR: &str = "InvalidIntervalError";
/// Image template: every variable has a value.
pub const ALL_TEMPLATES_RESOLVED: &str = "AllTemplatesResolved";
/// Image template: a variable has no value or the result is not an image reference.
pub const UNABLE_TO_RESOLVE: &str = "UnableToResolve";
/// Content: the registry server does not answer.
pub const UNREACHABLE: &str = "CatalogUnreachable";
/// Content: the registry server answers, and what it gives cannot be used.
pub const NOT_READABLE: &str = "CatalogNotReadable";
/// Content: the registry server does not answer because its Pod does not come up.
pub const POD_FAILING: &str = "RegistryPodFailing";
/// Packages: there is no memory for more of them.
pub const TOO_LARGE: &str = "PackagesTooLarge";
/// Polling: the Pod that was to show the newest image did not come up.
pub const UPDATE_POD_FAILED: &str = "UpdatePodFailed";
