//! CSVs and their metadata.

use super::{Case, case, csv, csv_with, package, v1};

pub fn csvs() -> Vec<Case> {
    let p = || package("p", "", "x=a");
    let spec =
        |name, spec: &str| case(name, [], [csv("a", &format!("version: 1.0.0, {spec}"))], [p()]);
    let container = "deployments: [{name: d, spec: {replicas: 1, template: {spec: {containers: [{name: c, image: i, resources: {limits: {cpu: 1}}}]}}}}]";
    vec![
        case("named twice", [], [v1("a"), csv("a", "version: 2.0.0")], [p()]),
        case("an odd name", [], [v1("'example-operator.v0.2.0&invalid'")], [package("p", "", "x=example-operator.v0.2.0&invalid")]),
        case("capitals and spaces in a name", [], [v1("'A b/C'")], ["{packageName: p, channels: [{name: x, currentCSV: A b/C}]}".to_owned()]),
        case("no name", [], [csv_with("", "version: 1.0.0")], [p()]),
        case("no kind", [], [v1("a").replace("kind: ClusterServiceVersion, ", "")], [p()]),
        case("another kind", [], [v1("a").replace("kind: ClusterServiceVersion", "kind: Pod")], [p()]),
        case("no apiVersion", [], [v1("a").replace("apiVersion: operators.coreos.com/v1alpha1, ", "")], [p()]),
        case("no spec", [], ["{apiVersion: a/v1, kind: ClusterServiceVersion, metadata: {name: a}}".to_owned()], [p()]),
        case("null as spec", [], ["{apiVersion: a/v1, kind: ClusterServiceVersion, metadata: {name: a}, spec: null}".to_owned()], [p()]),
        case("a list as spec", [], ["{apiVersion: a/v1, kind: ClusterServiceVersion, metadata: {name: a}, spec: []}".to_owned()], [p()]),
        case("null", [], ["null".to_owned()], []),
        case("a text", [], ["a".to_owned(), v1("b")], [package("p", "", "x=b")]),
        case("status and other fields", [], [v1("a").replace("spec: {", "status: {phase: Failed}, more: 1, spec: {more: {b: <&>, a: 1.0, c: 1.50, d: 1e3, e: 0.00000001}, ")], [p()]),
        spec("related images", "relatedImages: [{name: a, image: b}]"),
        spec("related images of another type", "relatedImages: {a: b}"),
        spec("deployments", &format!("install: {{strategy: deployment, spec: {{{container}}}}}")),
        spec("deployments of another type", "install: {strategy: deployment, spec: {deployments: {a: b}}}"),
        spec("a text as number of replicas", &format!("install: {{strategy: other, spec: {{{}}}}}", container.replace("replicas: 1", "replicas: x"))),
        spec("icon and description", "icon: [{base64data: x, mediatype: y}], description: 'a < b', displayName: A"),
    ]
}

pub fn metadata() -> Vec<Case> {
    let p = || package("p", "", "x=a");
    let with = |name, metadata: &str| {
        case(name, [], [csv_with(&format!("name: a, {metadata}"), "version: 1.0.0")], [p()])
    };
    let properties =
        |name, text: &str| with(name, &format!("annotations: {{olm.properties: '{text}'}}"));
    vec![
        with(
            "labels, owners and times",
            "namespace: b, labels: {b: c, a: ''}, generation: 3, creationTimestamp: '2020-01-02T03:04:05+01:00', ownerReferences: [{name: o}], finalizers: [f], more: 1",
        ),
        with(
            "empty metadata",
            "labels: {}, annotations: {}, creationTimestamp: null, ownerReferences: []",
        ),
        with("a number as label", "labels: {a: 1}"),
        with("a time that is none", "creationTimestamp: yesterday"),
        with("a CSV stands for another", "annotations: {olm.substitutesFor: b}"),
        with("a CSV stands for none", "annotations: {olm.substitutesFor: ''}"),
        properties(
            "properties",
            "[{\"type\": \"olm.label\", \"value\": {\"label\": \"<b>\"}}, {\"type\": \"x\", \"value\": [ 1.0, {\"b\": 1, \"a\": 2} ]}, {\"type\": \"olm.gvk\", \"value\": {\"group\": \"g\", \"kind\": \"K\", \"version\": \"v1\"}}, {\"type\": \"olm.deprecated\"}, {\"type\": \"olm.gvk\", \"value\": {\"version\": \"v1\", \"kind\": \"K\", \"group\": \"g\"}}]",
        ),
        properties("properties that are no list", "7"),
        properties("properties that are null", "null"),
        properties("properties that are no JSON", "[a]"),
        properties("a property that is null", "[null]"),
        properties("a label of another type", "[{\"type\": \"olm.label\", \"value\": 7}]"),
        properties(
            "a package of another type",
            "[{\"type\": \"olm.package\", \"value\": {\"version\": 7}}]",
        ),
        properties(
            "a second package",
            "[{\"type\": \"olm.package\", \"value\": {\"packageName\": \"z\", \"version\": \"9.0.0\"}}]",
        ),
        properties(
            "constraints",
            "[{\"type\": \"olm.constraint\", \"value\": {\"failureMessage\": \"m\", \"cel\": {\"rule\": \"true\"}}}, {\"type\": \"olm.gvk.required\", \"value\": {\"group\": \"g\", \"kind\": \"K\", \"version\": \"v1\"}}]",
        ),
    ]
}
