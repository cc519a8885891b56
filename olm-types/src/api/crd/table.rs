//! The table of constraints: type, field, constraint. Same as in v0, line by line.

use super::constraint::Constraint::{
    self, AtomicMap, DefaultNumber, DefaultObject, DefaultText, Enum, Format, Length, List,
    ListByKeys, NoFormat, Pattern, Range, Rule,
};

const CONDITION: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.Condition";
const LABEL_SELECTOR: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector";
const LABEL_REQUIREMENT: &str = "io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelectorRequirement";
const OBJECT_REFERENCE: &str = "io.k8s.api.core.v1.ObjectReference";
const POLICY_RULE: &str = "io.k8s.api.rbac.v1.PolicyRule";
const QUANTITY: &str = "io.k8s.apimachinery.pkg.api.resource.Quantity";
const WEBHOOK_RULE: &str = "io.k8s.api.admissionregistration.v1.RuleWithOperations";

const CONDITION_REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";
const CONDITION_TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const QUANTITY_TEXT: &str = r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$";

/// Constraints by type name. An empty field name means the type itself.
pub(super) const TABLE: &[(&str, &str, Constraint)] = &[
    // Types of Kubernetes.
    (CONDITION, "message", Length(None, Some(32768))),
    (CONDITION, "observedGeneration", Range(Some(0), None)),
    (CONDITION, "reason", Length(Some(1), Some(1024))),
    (CONDITION, "reason", Pattern(CONDITION_REASON)),
    (CONDITION, "status", Enum(&["True", "False", "Unknown"])),
    (CONDITION, "type", Length(None, Some(316))),
    (CONDITION, "type", Pattern(CONDITION_TYPE)),
    (LABEL_SELECTOR, "", AtomicMap),
    (LABEL_SELECTOR, "matchExpressions", List("atomic")),
    (LABEL_REQUIREMENT, "values", List("atomic")),
    (OBJECT_REFERENCE, "", AtomicMap),
    (POLICY_RULE, "apiGroups", List("atomic")),
    (POLICY_RULE, "nonResourceURLs", List("atomic")),
    (POLICY_RULE, "resourceNames", List("atomic")),
    (POLICY_RULE, "resources", List("atomic")),
    (POLICY_RULE, "verbs", List("atomic")),
    (QUANTITY, "", Pattern(QUANTITY_TEXT)),
    (WEBHOOK_RULE, "apiGroups", List("atomic")),
    (WEBHOOK_RULE, "apiVersions", List("atomic")),
    (WEBHOOK_RULE, "operations", List("atomic")),
    (WEBHOOK_RULE, "resources", List("atomic")),
    // ClusterServiceVersion.
    ("Descriptor", "value", Format("byte")),
    ("ClusterServiceVersionSpec", "release", Length(None, Some(20))),
    (
        "ClusterServiceVersionSpec",
        "release",
        Rule(
            r"self.matches('^[0-9A-Za-z-]+(\\.[0-9A-Za-z-]+)*$')",
            "release version must be composed of dot-separated identifiers containing only alphanumerics and hyphens",
        ),
    ),
    (
        "ClusterServiceVersionSpec",
        "release",
        Rule(
            "!self.split('.').exists(x, x.matches('^0[0-9]+$'))",
            "numeric identifiers in release version must not have leading zeros",
        ),
    ),
    ("WebhookDescription", "containerPort", DefaultNumber(443)),
    ("WebhookDescription", "containerPort", Range(Some(1), Some(65535))),
    (
        "WebhookDescription",
        "type",
        Enum(&["ValidatingAdmissionWebhook", "MutatingAdmissionWebhook", "ConversionWebhook"]),
    ),
    // CatalogSource.
    ("CatalogSourceSpec", "priority", NoFormat),
    ("GrpcPodConfig", "securityContextConfig", Enum(&["legacy", "restricted"])),
    ("CatalogSourceStatus", "conditions", ListByKeys(&["type"])),
    // InstallPlan and Subscription.
    ("InstallPlanSpec", "generation", NoFormat),
    ("SubscriptionStatus", "installPlanGeneration", NoFormat),
    // OLMConfig.
    ("Features", "packageServerSyncInterval", Pattern(r"^([0-9]+(\.[0-9]+)?(s|m|h))+$")),
    // OperatorCondition.
    ("ConditionOverride", "message", Length(None, Some(32768))),
    ("ConditionOverride", "observedGeneration", Range(Some(0), None)),
    ("ConditionOverride", "reason", Length(Some(1), Some(1024))),
    ("ConditionOverride", "reason", Pattern(CONDITION_REASON)),
    ("ConditionOverride", "status", Enum(&["True", "False", "Unknown"])),
    ("ConditionOverride", "type", Length(None, Some(316))),
    ("ConditionOverride", "type", Pattern(CONDITION_TYPE)),
    // OperatorGroup.
    ("OperatorGroupSpec", "", DefaultObject("upgradeStrategy", "Default")),
    ("OperatorGroupSpec", "targetNamespaces", List("set")),
    ("OperatorGroupSpec", "upgradeStrategy", DefaultText("Default")),
    ("OperatorGroupSpec", "upgradeStrategy", Enum(&["Default", "TechPreviewUnsafeFailForward"])),
    ("OperatorGroupStatus", "namespaces", List("set")),
    // Operator.
    ("RichReference", "", AtomicMap),
];
