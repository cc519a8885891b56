//! Finalizers that OLM puts on objects.

/// On CSVs: cluster-scoped children are removed before the CSV goes (spec olm-operator 1.9).
pub const CSV_CLEANUP: &str = "operators.coreos.com/csv-cleanup";
