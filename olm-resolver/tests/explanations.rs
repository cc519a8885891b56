//! What users read when there is no answer: v0's line, then sentences for people with the repairs
//! that were verified. One snapshot per subject; each problem is printed with its explanation.

#![allow(clippy::too_many_lines, reason = "tables of problems")]

use olm_resolver::{Policy, ResolveError, Resolver};

use crate::support::{self, Problem};

/// v0's line and our sentences for each problem, all or nothing.
fn explain(problems: &[(&str, &str)]) -> String {
    let explained = problems.iter().map(|(title, text)| {
        let found = match Problem::read(text).resolve(&Resolver::default()) {
            Err(ResolveError::NotSatisfiable(explanation)) => {
                format!("v0:   {explanation}\nours: {}", explanation.summary())
            }
            other => format!("{title} has an answer: {}", support::outcome(other)),
        };
        format!("# {title}\n{found}\n")
    });
    explained.collect::<Vec<_>>().join("\n")
}

fn check(name: &str, text: &str) {
    insta::with_settings!({omit_expression => true}, { insta::assert_snapshot!(name, text) });
}

#[test]
fn subscriptions() {
    check(
        "subscriptions",
        &explain(&[
            ("missing package", "a.v1 a/alpha\nsub b b/alpha"),
            (
                "missing package, another catalog has it",
                "
            a.v1 a/alpha
            catalog olm/other
            b.v1 b/alpha
            sub b b/alpha",
            ),
            ("missing channel", "a.v1 a/alpha*\na.v1 a/stable\nsub a a/beta"),
            ("missing catalog", "a.v1 a/alpha\nsub a a/alpha in:olm/nowhere"),
            ("missing catalog without a replacement", "a.v1 a/alpha\nsub b b/alpha in:olm/nowhere"),
            ("missing startingCSV", "a.v1 a/alpha\nsub a a/alpha start:a.v9"),
            (
                "startingCSV of another channel",
                "a.v1 a/alpha\na.v2 a/beta\nsub a a/alpha start:a.v2",
            ),
            ("any catalog, none has it", "a.v1 a/alpha\nsub b b in:any"),
            ("installed CSV, its package is gone", "a.v1 a/alpha\ncsv b.v1\nsub b b/alpha is:b.v1"),
            (
                "installed CSV, its channel is gone",
                "
            a.v1 a/alpha
            csv a.v1
            sub a a/beta is:a.v1",
            ),
            (
                "installed CSV, its catalog is gone",
                "a.v1 a/alpha\ncsv b.v1\nsub b b/alpha in:olm/nowhere is:b.v1",
            ),
            (
                "installed CSV, another catalog has its package",
                "
            a.v1 a/alpha
            catalog olm/other
            b.v1 b/alpha
            csv b.v1
            sub b b/alpha is:b.v1",
            ),
            (
                "startingCSV lacks what a newer one does not need",
                "a.v1 a/alpha ?1\na.v2 a/alpha ->a.v1\nsub a a/alpha start:a.v1",
            ),
        ]),
    );
}

#[test]
fn dependencies() {
    check(
        "dependencies",
        &explain(&[
            ("no bundle provides an API", "a.v1 a/alpha ?1\nsub a a/alpha"),
            ("another channel does without", "a.v2 a/alpha ?1\na.v1 a/old\nsub a a/alpha"),
            ("dependency of a dependency", "a.v1 a/alpha ?1\nb.v1 b/alpha +1 ?2\nsub a a/alpha"),
            (
                "version range without candidate",
                "
            a.v1 a/alpha needs:b:>=2.0.0
            b.v1@1.0.0 b/alpha
            b.v1.5@1.5.0 b/alpha ->b.v1
            sub a a/alpha",
            ),
            ("package that no catalog offers", "a.v1 a/alpha needs:b:>=2.0.0\nsub a a/alpha"),
            ("range that nothing is in", "a.v1 a/alpha needs:b:>2.0.0_<2.0.0\nsub a a/alpha"),
            ("label", "a.v1 a/alpha ?label:gpu\nb.v1 b/alpha label:cpu\nsub a a/alpha"),
            (
                "only a skipped entry provides it",
                "
            a.v1 a/alpha ?1
            b.v1 b/alpha +1
            b.v2 b/alpha ~b.v1
            sub a a/alpha",
            ),
            (
                "many candidates",
                "
            a.v1 a/alpha ?1
            a.v2 a/alpha ->a.v1 ?1
            a.v3 a/alpha ->a.v2 ?1
            a.v4 a/alpha ->a.v3 ?1
            a.v5 a/alpha ->a.v4 ?1
            sub a a/alpha",
            ),
            (
                "installed operator lost its dependency",
                "
            a.v1 a/alpha ?1
            csv a.v1 ?1
            sub a a/alpha is:a.v1",
            ),
            (
                "the only provider is deprecated",
                "a.v1 a/alpha ?1\nb.v1 b/alpha +1 deprecated\nsub a a/alpha",
            ),
            (
                "the installed version is too old and has no upgrade",
                "
            a.v1 a/alpha needs:b:>=2.0.0
            b.v1@1.0.0 b/alpha
            b.v2@2.0.0 b/beta*
            csv b.v1@1.0.0 of:b
            sub a a/alpha
            sub b b/alpha is:b.v1",
            ),
            (
                "two dependencies in one bundle",
                "a.v1 a/alpha ?1 ?2\nb.v1 b/alpha +1\nsub a a/alpha",
            ),
        ]),
    );
}

/// A Subscription to a bundle with the constraint, beside one of package b that provides API 1.
fn constraint(json: &str) -> String {
    let json: String = json.split_whitespace().collect();
    format!("a.v1 a/alpha {json}\nb.v1@1.0.0 b/alpha +1\nsub a a/alpha")
}

#[test]
fn constraints() {
    check(
        "constraints",
        &explain(&[
            (
                "CEL",
                r#"
            a.v1 a/alpha {"failureMessage":"needs\u0020arm","cel":{"rule":"properties.exists(p,p.type=='arm')"}}
            sub a a/alpha"#,
            ),
            (
                "message of a gvk",
                r#"
            a.v1 a/alpha {"failureMessage":"needs\u0020a\u0020database","gvk":{"group":"g","version":"v1","kind":"Db"}}
            sub a a/alpha"#,
            ),
            (
                "message of a package",
                r#"
            a.v1 a/alpha {"failureMessage":"needs\u0020b","package":{"packageName":"b","versionRange":">=1.0.0"}}
            sub a a/alpha"#,
            ),
            (
                "messages of all and its members",
                &constraint(
                    r#"{"failureMessage":"outer","all":{"constraints":[
            {"failureMessage":"inner","package":{"packageName":"b","versionRange":">=1.0.0"}},
            {"gvk":{"group":"g","version":"v1","kind":"Db"}}]}}"#,
                ),
            ),
            (
                "message of any",
                &constraint(
                    r#"{"failureMessage":"either","any":{"constraints":[
            {"gvk":{"group":"g","version":"v1","kind":"Db"}},
            {"gvk":{"group":"g","version":"v2","kind":"Db"}}]}}"#,
                ),
            ),
            (
                "CEL without a message",
                r#"
            a.v1 a/alpha {"cel":{"rule":"properties.exists(p,p.type=='arm')"}}
            sub a a/alpha"#,
            ),
            (
                "CEL within all",
                &constraint(
                    r#"{"failureMessage":"a-certified-b","all":{"constraints":[
            {"package":{"packageName":"b","versionRange":">=1.0.0"}},
            {"failureMessage":"certified","cel":{"rule":"properties.exists(p,p.type=='certified')"}}]}}"#,
                ),
            ),
            (
                "message of not",
                &constraint(
                    r#"{"all":{"constraints":[
            {"package":{"packageName":"b","versionRange":">=1.0.0"}},
            {"failureMessage":"not-beside-k1",
             "not":{"constraints":[{"gvk":{"group":"g1","version":"v1","kind":"k1"}}]}}]}}"#,
                ),
            ),
        ]),
    );
}

#[test]
fn conflicts() {
    check(
        "conflicts",
        &explain(&[
            ("two providers", "a.v1 a/alpha +1\nb.v1 b/alpha +1\nsub a a/alpha\nsub b b/alpha"),
            (
                "two channels of a package",
                "
            a.v1 a/alpha
            a.v2 a/beta
            sub a a/alpha
            sub b a/beta",
            ),
            (
                "a dependency provides what another operator provides",
                "
            a.v1 a/alpha ?2
            b.v1 b/alpha +1 +2
            c.v1 c/alpha +1
            sub a a/alpha
            sub c c/alpha",
            ),
            (
                "two versions of a dependency",
                "
            a.v1 a/alpha needs:c:<2.0.0
            b.v1 b/alpha needs:c:>=2.0.0
            c.v1@1.0.0 c/alpha
            c.v2@2.0.0 c/alpha ->c.v1
            sub a a/alpha
            sub b b/alpha",
            ),
            ("deprecated", "a.v1 a/alpha deprecated\nsub a a/alpha"),
            (
                "deprecated in one channel only",
                "a.v1 a/alpha deprecated\na.v2 a/beta\nsub a a/alpha",
            ),
            (
                "one package from two catalogs",
                "
            a.v1 a/alpha
            catalog olm/other
            a.v2 a/alpha
            sub a a/alpha
            sub b a/alpha in:olm/other",
            ),
            (
                "the same bundle through two channels",
                "a.v1 a/alpha\na.v1 a/beta\nsub a a/alpha\nsub b a/beta",
            ),
            (
                "three operators, one API",
                "
            a.v1 a/alpha +1
            b.v1 b/alpha +1
            c.v1 c/alpha ?1
            sub a a/alpha
            sub b b/alpha
            sub c c/alpha",
            ),
        ]),
    );
}

#[test]
fn csvs() {
    check(
        "csvs",
        &explain(&[
            ("orphan CSV", "a.v1 a/alpha +1\ncsv mine +1\nsub a a/alpha"),
            ("orphan that lacks something", "csv mine ?1"),
            ("orphan of the same package", "a.v2 a/alpha\ncsv a.v1 of:a\nsub a a/alpha"),
            ("two orphans", "csv mine +1\ncsv yours +1"),
            ("deprecated orphan", "csv mine of:b deprecated"),
            (
                "orphan stands in the way of a dependency",
                "a.v1 a/alpha ?1\nb.v1 b/alpha +1 +2\ncsv mine +2\nsub a a/alpha",
            ),
            (
                "orphan of an older version than needed",
                "
            a.v1 a/alpha needs:b:>=2.0.0
            b.v2@2.0.0 b/alpha
            csv b.v1@1.0.0 of:b
            sub a a/alpha",
            ),
            (
                "failed upgrade leaves two CSVs",
                "
            a.v1 a/alpha +1
            a.v2 a/alpha ->a.v1 +1
            a.v3 a/alpha ->a.v2 +1
            csv a.v1 +1 phase:Replacing
            csv a.v2 ->a.v1 +1 phase:Failed
            sub a-alpha a/alpha is:a.v2",
            ),
        ]),
    );
}

#[test]
fn cluster_version() {
    check(
        "cluster_version",
        &explain(&[
            (
                "too old",
                r#"
            cluster 1.29.0
            a.v1 a/alpha property:olm.kubeversion={"version":"1.30.0"}
            sub a a/alpha"#,
            ),
            (
                "another channel runs on it",
                r#"
            cluster 1.29.0
            a.v2 a/alpha property:olm.csv.metadata={"minKubeVersion":"v1.31.2"}
            a.v1 a/old property:olm.kubeversion={"version":"1.20"}
            sub a a/alpha"#,
            ),
            (
                "a dependency does not run on it",
                r#"
            cluster 1.29.0
            a.v1 a/alpha ?1
            b.v1 b/alpha +1 property:olm.kubeversion={"version":"1.30.0"}
            sub a a/alpha"#,
            ),
        ]),
    );
}

/// What separate parts say that all or nothing does not.
#[test]
fn isolated() {
    let explain = |text: &str| {
        let problem = Problem::read(text);
        let answer = problem.outcome(&Resolver::default(), Policy::Isolated);
        let refusals = answer.refusals.iter().map(|refusal| {
            let why = match &refusal.error {
                ResolveError::NotSatisfiable(explanation) => explanation.summary(),
                error => error.to_string(),
            };
            format!(
                "refused {} {}: {why}\n",
                refusal.subscriptions.join(" "),
                refusal.csvs.join(" ")
            )
        });
        let blocked = answer.blocked.iter().map(|upgrade| {
            let (to, why) = (&upgrade.bundle.name, upgrade.explanation.summary());
            format!("{} stays at {}, not {to}: {why}\n", upgrade.subscription, upgrade.installed)
        });
        let left_out = answer.left_out.iter().map(|fault| format!("left out: {fault}\n"));
        let all: Vec<String> = refusals.chain(blocked).chain(left_out).collect();
        format!("install {}\n{}", support::outcome(Ok(answer.resolution.clone())), all.concat())
    };
    let problems = [
        "good.v1 good/alpha\nsub good good/alpha\nsub bad bad/alpha",
        "a.v1 a/alpha needs:b:~1\na.v0 a/old\nb.v1 b/alpha\nsub a a/alpha\nsub b b/alpha",
        "a.v2 a/alpha ->a.v1 needs:b:~1\na.v1 a/alpha\nsub a a/alpha",
        "a.v2 a/alpha ->a.v1 ?1\na.v1 a/alpha\ncsv a.v1\nsub a a/alpha is:a.v1\ng.v1 g/alpha\nsub g g/alpha",
        "csv a.v1 unreadable:no_json\ng.v1 g/alpha\nsub g g/alpha\na.v2 a/alpha ->a.v1\nsub a a/alpha is:a.v1",
        "catalog olm/dead 0 no_connection\ncatalog olm/community\ng.v1 g/alpha\nsub a a/alpha in:olm/dead\nsub g g/alpha",
        "a.v1 a/alpha {\"cel\":{\"rule\":\"nonsense\"}}\nb.v1 b/alpha\nsub a a/alpha\nsub b b/alpha",
        "b.v1@1.0.0 b/alpha\nb.v2@2.0.0 b/alpha ->b.v1\na.v1 a/alpha needs:b:<2.0.0\ncsv a.v1 of:a needs:b:<2.0.0\ncsv b.v1@1.0.0 of:b\nsub a a/alpha is:a.v1\nsub b b/alpha is:b.v1",
        "x.v1 x/alpha\ny.v1 x/alpha\ncsv x.v0 +1\nsub x x/alpha is:x.v0\ng.v1 g/alpha ?1\nh.v1 h/alpha +1\nsub g g/alpha",
    ];
    check("isolated", &problems.map(explain).join("\n"));
}
