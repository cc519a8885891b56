//! What a cache has to know of the objects that it keeps.
//!
//! Every API object shows it by its metadata. A condensed record, of which there are many, shows
//! it without carrying a whole `ObjectMeta`.

use kube::Resource;

/// Something that names an object of the cluster, and the version of it that was seen.
pub trait Cached {
    /// Namespace; `None` for cluster-scoped objects.
    fn cached_namespace(&self) -> Option<&str>;

    /// Name; empty for an object that no API server has stored.
    fn cached_name(&self) -> &str;

    /// What distinguishes the object from an earlier one of the same name.
    fn cached_uid(&self) -> Option<&str>;

    /// The `resourceVersion` that was seen.
    fn cached_version(&self) -> Option<&str>;

    /// Drops `managedFields`, which is not read and which may be as large as the object.
    fn drop_managed_fields(&mut self);
}

impl<K: Resource> Cached for K {
    fn cached_namespace(&self) -> Option<&str> {
        self.meta().namespace.as_deref()
    }

    fn cached_name(&self) -> &str {
        self.meta().name.as_deref().unwrap_or_default()
    }

    fn cached_uid(&self) -> Option<&str> {
        self.meta().uid.as_deref()
    }

    fn cached_version(&self) -> Option<&str> {
        self.meta().resource_version.as_deref()
    }

    fn drop_managed_fields(&mut self) {
        self.meta_mut().managed_fields = None;
    }
}
