//! What the API server fills into pod templates that a CSV or a Subscription holds.
//!
//! Same as in v0: these values reach the Deployment, and so the hash of its spec.

use super::constraint::Constraint::{self, DefaultFalse, DefaultText};

/// Defaults by type (without its prefix) and field.
const TABLE: &[(&str, &str, Constraint)] = &[
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
pub(super) fn of(short_name: &str) -> impl Iterator<Item = (&'static str, Constraint)> {
    TABLE
        .iter()
        .filter(move |(name, ..)| *name == short_name)
        .map(|(_, field, value)| (*field, *value))
}
