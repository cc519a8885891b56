//! Reasons of OLMConfig conditions (spec olm-operator 5.6).

/// CSVs are copied to target namespaces.
pub const COPIED_CSVS_ENABLED: &str = "CopiedCSVsEnabled";
/// CSVs of global OperatorGroups are not copied.
pub const COPIED_CSVS_DISABLED: &str = "CopiedCSVsDisabled";
