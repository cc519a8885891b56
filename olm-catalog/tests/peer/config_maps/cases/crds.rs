//! CRDs, and other APIs that are owned and required.

use super::{Case, POT, case, crd, csv, old_crd, owner, package, pot, v1, v2};

pub fn crds() -> Vec<Case> {
    let a = || owner("a", "1.0.0", POT);
    let p = || package("p", "", "x=a");
    let with = |name, crd: String| case(name, [crd], [a()], [p()]);
    vec![
        with("a CRD", pot(&["v1"])),
        with("a CRD in several versions, one is owned", pot(&["v1alpha1", "v1"])),
        case(
            "a CRD in several versions, two are owned",
            [pot(&["v1", "v2"])],
            [owner("a", "1.0.0", "{name: pots.example.com, version: v1, kind: Pot}, {name: pots.example.com, version: v2, kind: Pot}")],
            [p()],
        ),
        case(
            "a CRD in several versions as several CRDs",
            [pot(&["v1"]), pot(&["v2"])],
            [a(), owner("b", "2.0.0", "{name: pots.example.com, version: v2, kind: Pot}")],
            [package("p", "y", "x=a y=b")],
        ),
        case("the same CRD twice", [pot(&["v1"]), pot(&["v1"])], [a()], [p()]),
        case("a version of a CRD twice", [pot(&["v1"]), pot(&["v0", "v1"])], [a()], [p()]),
        with("another version is owned", pot(&["v2"])),
        with("another kind is owned", crd("pots", "Jar", &["v1"])),
        with("another plural is owned", crd("potz", "Pot", &["v1"])),
        case("no CRD is there", [], [a()], [p()]),
        case("a CRD without an owner", [pot(&["v1"])], [v1("a")], [p()]),
        case(
            "an owned name without a group",
            [pot(&["v1"])],
            [owner("a", "1.0.0", "{name: pots, version: v1, kind: Pot}")],
            [p()],
        ),
        with("v1beta1 with one version", old_crd("version: v1")),
        with("v1beta1 with a version and versions", old_crd("version: v2, versions: [{name: v1, served: true, storage: true}]")),
        with("v1beta1 with a version and no versions", old_crd("version: v1, versions: []")),
        with("v1beta1 with everything", old_crd("version: v1, scope: Namespaced, preserveUnknownFields: false, validation: {openAPIV3Schema: {type: object, required: [spec], properties: {spec: {type: object, minProperties: 0, additionalProperties: true, properties: {size: {type: integer, minimum: 1, maximum: 2.5, default: 1, enum: [1, x]}, list: {type: array, items: {type: string, pattern: '<.*>'}}}}}}}, subresources: {status: {}, scale: {specReplicasPath: .spec.size, statusReplicasPath: .status.size}}, additionalPrinterColumns: [{name: Size, type: integer, JSONPath: .spec.size}], conversion: {strategy: None}")),
        with("no kind and no version", "{metadata: {name: pots.example.com}, spec: {group: example.com, version: v1, names: {kind: Pot, plural: pots}}}".to_owned()),
        with("another kind", pot(&["v1"]).replace("kind: CustomResourceDefinition", "kind: Other")),
        with("another group of CRDs", pot(&["v1"]).replace("apiextensions.k8s.io/v1", "example.com/v1")),
        with("another version of CRDs", pot(&["v1"]).replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v2")),
        with("a status and fields that are unknown", pot(&["v1"]).replace("spec: {group", "other: 1, status: {storedVersions: [v1], conditions: []}, spec: {more: 1, group")),
        with("a number as group", pot(&["v1"]).replace("group: example.com", "group: 7")),
        with("null", "null".to_owned()),
        with("a text", "pot".to_owned()),
    ]
}

pub fn apis() -> Vec<Case> {
    let jar = "{name: v1.jars, group: jars.example.com, version: v1, kind: Jar}";
    let p = || package("p", "", "x=a");
    let spec = |name, spec: &str| {
        case(name, [pot(&["v1"])], [csv("a", &format!("version: 1.0.0, {spec}"))], [p()])
    };
    vec![
        spec(
            "required CRDs",
            "customresourcedefinitions: {required: [{name: cups.b.c, version: v1, kind: Cup}, {name: cups.b.c, version: v1, kind: Cup}, {name: cups.b.c, version: v2, kind: Cup}]}",
        ),
        spec(
            "a required name without a group",
            "customresourcedefinitions: {required: [{name: cups, version: v1, kind: Cup}]}",
        ),
        spec(
            "APIServices",
            &format!("apiservicedefinitions: {{owned: [{jar}], required: [{jar}]}}"),
        ),
        spec("definitions of another type", "customresourcedefinitions: [a]"),
        spec(
            "a number as kind",
            "customresourcedefinitions: {owned: [{name: pots.example.com, version: v1, kind: 7}]}",
        ),
        spec(
            "other spellings of definitions",
            "customresourcedefinitions: {Owned: [{Name: pots.example.com, VERSION: v1, kind: Pot}]}, CustomResourceDefinitions: 7",
        ),
        case(
            "providers in two packages and channels",
            [pot(&["v1"])],
            [
                owner("a", "1.0.0", POT),
                csv(
                    "b",
                    &format!(
                        "version: 2.0.0, replaces: a, customresourcedefinitions: {{owned: [{POT}]}}"
                    ),
                ),
                v2("c", "b"),
            ],
            [package("q", "y", "x=a y=c"), package("p", "y", "x=c y=b")],
        ),
        case(
            "two plurals of one kind",
            [pot(&["v1"]), crd("potz", "Pot", &["v1"])],
            [
                owner("a", "1.0.0", POT),
                owner("b", "1.0.0", "{name: potz.example.com, version: v1, kind: Pot}"),
            ],
            [p(), package("q", "", "x=b")],
        ),
    ]
}
