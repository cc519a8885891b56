//! What the API server does with Kubernetes' own types where a CSV, a Subscription or a CatalogSource
//! embeds them: how server-side apply merges their lists and objects, and which defaults are filled in.
//!
//! The defaults reach Deployments, and so the hash of their spec.
//! Same as in v0: the markers `listType`, `listMapKey`, `mapType` and `structType` of the Go types in
//! `k8s.io/api/core/v1`. A list without one is replaced as a whole by whoever applies it. Keys that may be
//! left out have a default, below.

use super::constraint::Constraint::{self, AtomicMap, DefaultFalse, DefaultText, List, ListByKeys};

/// Merge rules by type (without its prefix) and field. An empty field name means the type itself.
const MERGE_RULES: &[(&str, &str, Constraint)] = &[
    ("Capabilities", "add", List("atomic")),
    ("Capabilities", "drop", List("atomic")),
    ("CephFSVolumeSource", "monitors", List("atomic")),
    ("ConfigMapEnvSource", "", AtomicMap),
    ("ConfigMapKeySelector", "", AtomicMap),
    ("ConfigMapProjection", "", AtomicMap),
    ("ConfigMapProjection", "items", List("atomic")),
    ("ConfigMapVolumeSource", "", AtomicMap),
    ("ConfigMapVolumeSource", "items", List("atomic")),
    ("Container", "args", List("atomic")),
    ("Container", "command", List("atomic")),
    ("Container", "env", ListByKeys(&["name"])),
    ("Container", "envFrom", List("atomic")),
    ("Container", "ports", ListByKeys(&["containerPort", "protocol"])),
    ("Container", "resizePolicy", List("atomic")),
    ("Container", "restartPolicyRules", List("atomic")),
    ("Container", "volumeDevices", ListByKeys(&["devicePath"])),
    ("Container", "volumeMounts", ListByKeys(&["mountPath"])),
    ("ContainerRestartRuleOnExitCodes", "values", List("set")),
    ("DownwardAPIProjection", "items", List("atomic")),
    ("DownwardAPIVolumeSource", "items", List("atomic")),
    ("EphemeralContainer", "args", List("atomic")),
    ("EphemeralContainer", "command", List("atomic")),
    ("EphemeralContainer", "env", ListByKeys(&["name"])),
    ("EphemeralContainer", "envFrom", List("atomic")),
    ("EphemeralContainer", "ports", ListByKeys(&["containerPort", "protocol"])),
    ("EphemeralContainer", "resizePolicy", List("atomic")),
    ("EphemeralContainer", "restartPolicyRules", List("atomic")),
    ("EphemeralContainer", "volumeDevices", ListByKeys(&["devicePath"])),
    ("EphemeralContainer", "volumeMounts", ListByKeys(&["mountPath"])),
    ("ExecAction", "command", List("atomic")),
    ("FCVolumeSource", "targetWWNs", List("atomic")),
    ("FCVolumeSource", "wwids", List("atomic")),
    ("FileKeySelector", "", AtomicMap),
    ("HTTPGetAction", "httpHeaders", List("atomic")),
    ("HostAlias", "hostnames", List("atomic")),
    // Both required and filled in, as in v0: a list is merged only by keys that have a value.
    ("HostAlias", "ip", DefaultText("")),
    ("ISCSIVolumeSource", "portals", List("atomic")),
    ("LocalObjectReference", "", AtomicMap),
    ("NodeAffinity", "preferredDuringSchedulingIgnoredDuringExecution", List("atomic")),
    ("NodeSelector", "", AtomicMap),
    ("NodeSelector", "nodeSelectorTerms", List("atomic")),
    ("NodeSelectorRequirement", "values", List("atomic")),
    ("NodeSelectorTerm", "", AtomicMap),
    ("NodeSelectorTerm", "matchExpressions", List("atomic")),
    ("NodeSelectorTerm", "matchFields", List("atomic")),
    ("ObjectFieldSelector", "", AtomicMap),
    ("PersistentVolumeClaimSpec", "accessModes", List("atomic")),
    ("PodAffinity", "preferredDuringSchedulingIgnoredDuringExecution", List("atomic")),
    ("PodAffinity", "requiredDuringSchedulingIgnoredDuringExecution", List("atomic")),
    ("PodAffinityTerm", "matchLabelKeys", List("atomic")),
    ("PodAffinityTerm", "mismatchLabelKeys", List("atomic")),
    ("PodAffinityTerm", "namespaces", List("atomic")),
    ("PodAntiAffinity", "preferredDuringSchedulingIgnoredDuringExecution", List("atomic")),
    ("PodAntiAffinity", "requiredDuringSchedulingIgnoredDuringExecution", List("atomic")),
    ("PodDNSConfig", "nameservers", List("atomic")),
    ("PodDNSConfig", "options", List("atomic")),
    ("PodDNSConfig", "searches", List("atomic")),
    ("PodSecurityContext", "supplementalGroups", List("atomic")),
    ("PodSecurityContext", "sysctls", List("atomic")),
    ("PodSpec", "containers", ListByKeys(&["name"])),
    ("PodSpec", "ephemeralContainers", ListByKeys(&["name"])),
    ("PodSpec", "hostAliases", ListByKeys(&["ip"])),
    ("PodSpec", "imagePullSecrets", ListByKeys(&["name"])),
    ("PodSpec", "initContainers", ListByKeys(&["name"])),
    ("PodSpec", "nodeSelector", AtomicMap),
    ("PodSpec", "readinessGates", List("atomic")),
    ("PodSpec", "resourceClaims", ListByKeys(&["name"])),
    ("PodSpec", "schedulingGates", ListByKeys(&["name"])),
    ("PodSpec", "tolerations", List("atomic")),
    ("PodSpec", "topologySpreadConstraints", ListByKeys(&["topologyKey", "whenUnsatisfiable"])),
    ("PodSpec", "volumes", ListByKeys(&["name"])),
    ("ProjectedVolumeSource", "sources", List("atomic")),
    ("RBDVolumeSource", "monitors", List("atomic")),
    ("ResourceFieldSelector", "", AtomicMap),
    ("ResourceRequirements", "claims", ListByKeys(&["name"])),
    ("SecretEnvSource", "", AtomicMap),
    ("SecretKeySelector", "", AtomicMap),
    ("SecretProjection", "", AtomicMap),
    ("SecretProjection", "items", List("atomic")),
    ("SecretVolumeSource", "items", List("atomic")),
    ("TopologySpreadConstraint", "matchLabelKeys", List("atomic")),
    ("TypedLocalObjectReference", "", AtomicMap),
];

/// The merge rules of a type of Kubernetes' core group, by field.
pub(super) fn merge_rules_of(short_name: &str) -> impl Iterator<Item = (&'static str, Constraint)> {
    MERGE_RULES
        .iter()
        .filter(move |(name, ..)| *name == short_name)
        .map(|(_, field, rule)| (*field, *rule))
}

/// Defaults by type (without its prefix) and field.
const DEFAULTS: &[(&str, &str, Constraint)] = &[
    ("AzureDiskVolumeSource", "fsType", DefaultText("ext4")),
    ("AzureDiskVolumeSource", "readOnly", DefaultFalse),
    ("ConfigMapEnvSource", "name", DefaultText("")),
    ("ConfigMapKeySelector", "name", DefaultText("")),
    ("ConfigMapProjection", "name", DefaultText("")),
    ("ConfigMapVolumeSource", "name", DefaultText("")),
    ("ContainerPort", "protocol", DefaultText("TCP")),
    ("FileKeySelector", "optional", DefaultFalse),
    ("GRPCAction", "service", DefaultText("")),
    ("ISCSIVolumeSource", "iscsiInterface", DefaultText("default")),
    ("LocalObjectReference", "name", DefaultText("")),
    ("RBDVolumeSource", "keyring", DefaultText("/etc/ceph/keyring")),
    ("RBDVolumeSource", "pool", DefaultText("rbd")),
    ("RBDVolumeSource", "user", DefaultText("admin")),
    ("ScaleIOVolumeSource", "fsType", DefaultText("xfs")),
    ("ScaleIOVolumeSource", "storageMode", DefaultText("ThinProvisioned")),
    ("SecretEnvSource", "name", DefaultText("")),
    ("SecretKeySelector", "name", DefaultText("")),
    ("SecretProjection", "name", DefaultText("")),
];

/// The defaults of a type of Kubernetes' core group, by field.
pub(super) fn defaults_of(short_name: &str) -> impl Iterator<Item = (&'static str, Constraint)> {
    DEFAULTS
        .iter()
        .filter(move |(name, ..)| *name == short_name)
        .map(|(_, field, value)| (*field, *value))
}
