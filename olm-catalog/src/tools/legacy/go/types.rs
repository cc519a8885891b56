//! The types, in short: `name:type` for each field; `?` is `omitempty`, `!` is `omitzero`. A type is
//! one of `string`, `bool`, `int`, `int32`, `float`, `time`, `bytes`, `raw` (anything), the name of a
//! struct, `schema|bool`, `schema|[]schema` or `schema|[]string`, behind any of `*` (pointer), `[]`
//! (list) and `{}` (map).
//!
//! From k8s.io/apimachinery and k8s.io/apiextensions-apiserver v0.36, and operator-registry v1.73
//! (`pkg/registry`).

/// Names of structs with their fields.
pub(super) const TYPES: &[(&str, &str)] = &[
    ("Csv", "kind?:string apiVersion?:string metadata:Meta"),
    (
        "Package",
        "packageName:string channels:[]Channel defaultChannel:string deprecation?:*Message",
    ),
    ("Channel", "name:string currentCSV:string deprecation?:*Message"),
    ("Message", "message?:string"),
    ("Definitions", "owned:[]*Definition required:[]*Definition"),
    ("Definition", "group:string kind:string name:string version:string"),
    ("RelatedImage", "name:string image:string"),
    ("Property", "type:string value:raw"),
    ("Label", "label:string"),
    ("PackageProperty", "packageName:string version:string release?:string"),
    ("Gvk", "group:string kind:string version:string"),
    ("Installed", "Install:Strategy"),
    ("Strategy", "strategy:string spec:StrategySpec"),
    ("StrategySpec", "Deployments:[]Deployment"),
    ("Deployment", "Name:string Spec:raw"),
    ("Crd", "kind?:string apiVersion?:string metadata?:Meta spec:Spec status?:Status"),
    (
        "Meta",
        "name?:string generateName?:string namespace?:string selfLink?:string uid?:string \
         resourceVersion?:string generation?:int creationTimestamp!:time \
         deletionTimestamp?:*time deletionGracePeriodSeconds?:*int labels?:{}string \
         annotations?:{}string ownerReferences?:[]Owner finalizers?:[]string \
         managedFields?:[]ManagedFields",
    ),
    (
        "Owner",
        "apiVersion:string kind:string name:string uid:string controller?:*bool \
         blockOwnerDeletion?:*bool",
    ),
    (
        "ManagedFields",
        "manager?:string operation?:string apiVersion?:string time?:*time fieldsType?:string \
         fieldsV1?:*raw subresource?:string",
    ),
    (
        "Spec",
        "group:string version?:string names:Names scope:string validation?:*Validation \
         subresources?:*Subresources versions?:[]Version additionalPrinterColumns?:[]Column \
         selectableFields?:[]Selectable conversion?:*Conversion preserveUnknownFields?:*bool",
    ),
    (
        "Names",
        "plural:string singular?:string shortNames?:[]string kind:string listKind?:string \
         categories?:[]string",
    ),
    (
        "Version",
        "name:string served:bool storage:bool deprecated?:bool deprecationWarning?:*string \
         schema?:*Validation subresources?:*Subresources additionalPrinterColumns?:[]Column \
         selectableFields?:[]Selectable",
    ),
    ("Validation", "openAPIV3Schema?:*Schema"),
    ("Subresources", "status?:*Nothing scale?:*Scale"),
    ("Nothing", ""),
    ("Scale", "specReplicasPath:string statusReplicasPath:string labelSelectorPath?:*string"),
    // The type has JSONPath alone, and so an API server of today would refuse what v0 serves.
    (
        "Column",
        "name:string type:string format?:string description?:string priority?:int32 \
         jsonPath?:string JSONPath?:string",
    ),
    ("Selectable", "jsonPath:string"),
    // The type has no webhook, which is that of `v1`.
    (
        "Conversion",
        "strategy:string webhookClientConfig?:*ClientConfig conversionReviewVersions?:[]string \
         webhook?:*raw",
    ),
    ("ClientConfig", "url?:*string service?:*Service caBundle?:bytes"),
    ("Service", "namespace:string name:string path?:*string port?:*int32"),
    (
        "Status",
        "conditions:[]Condition acceptedNames:Names storedVersions:[]string \
         observedGeneration?:int",
    ),
    (
        "Condition",
        "type:string status:string lastTransitionTime:time reason?:string message?:string \
         observedGeneration?:int",
    ),
    (
        "Schema",
        "id?:string $schema?:string $ref?:*string description?:string type?:string \
         format?:string title?:string default?:*raw maximum?:*float exclusiveMaximum?:bool \
         minimum?:*float exclusiveMinimum?:bool maxLength?:*int minLength?:*int pattern?:string \
         maxItems?:*int minItems?:*int uniqueItems?:bool multipleOf?:*float enum?:[]raw \
         maxProperties?:*int minProperties?:*int required?:[]string items?:*schema|[]schema \
         allOf?:[]Schema oneOf?:[]Schema anyOf?:[]Schema not?:*Schema properties?:{}Schema \
         additionalProperties?:*schema|bool patternProperties?:{}Schema \
         dependencies?:{}schema|[]string additionalItems?:*schema|bool definitions?:{}Schema \
         externalDocs?:*Docs example?:*raw nullable?:bool \
         x-kubernetes-preserve-unknown-fields?:*bool x-kubernetes-embedded-resource?:bool \
         x-kubernetes-int-or-string?:bool x-kubernetes-list-map-keys?:[]string \
         x-kubernetes-list-type?:*string x-kubernetes-map-type?:*string \
         x-kubernetes-validations?:[]Rule",
    ),
    ("Docs", "description?:string url?:string"),
    (
        "Rule",
        "rule:string message?:string messageExpression?:string reason?:*string \
         fieldPath?:string optionalOldSelf?:*bool",
    ),
];
