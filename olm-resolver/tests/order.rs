//! The order of the input never matters, and answers do not change between runs.

use olm_resolver::Resolver;
use proptest::prelude::*;

use crate::support::{self, Problem};

const MADE: &str = "
    catalog olm/community
    a.v1@1.0.0 a/stable* +1 needs:b:>=1.0.0
    a.v2@2.0.0 a/stable* ->a.v1 +1 needs:b:>=2.0.0 ?3
    a.v2@2.0.0 a/fast +1 needs:b:>=2.0.0 ?3
    b.v1@1.0.0 b/stable* +2
    b.v2@2.0.0 b/stable* ->b.v1 +2 ?label:x
    c.v1 c/stable* +3 label:x
    d.v1 d/stable* +3 label:x
    catalog team/extra 7
    c.v1 c/stable* +3 label:x
    b.v2@2.0.0 b/stable* +2
    sub one a
    sub two c/stable in:team/extra
    sub three e/stable is:e.v1
    csv e.v1@1.0.0 +9
    csv f.v1@1.0.0 +8 ?2
    catalog olm/community
    e.v1@1.0.0 e/stable
    e.v2@2.0.0 e/stable ->e.v1 +9";

const UNSATISFIABLE: &str = "
    a.v1 a/stable* +1
    b.v1 b/stable* +1
    c.v1 c/stable* ?9
    csv f.v1 ?7
    csv g.v1 ?7
    sub a a/stable
    sub b b/stable
    sub c c/stable";

fn shuffled(text: &'static str) -> impl Strategy<Value = Problem> {
    let made = Problem::read(text);
    (
        Just(made.entries).prop_shuffle(),
        Just(made.subscriptions).prop_shuffle(),
        Just(made.installed).prop_shuffle(),
        Just(made.catalogs).prop_shuffle(),
    )
        .prop_map(|(entries, subscriptions, installed, catalogs)| Problem {
            entries,
            subscriptions,
            installed,
            catalogs,
            held: Vec::new(),
            fail_forward: false,
            cluster_version: None,
        })
}

fn printed(problem: &Problem) -> String {
    match problem.resolve(&Resolver::default()) {
        Ok(resolution) => format!("{:#?}", resolution.chosen),
        Err(error) => error.to_string(),
    }
}

#[test]
fn the_made_problem_has_an_answer() {
    assert_eq!(support::answer(MADE), "a.v2 b.v2 c.v1 e.v2");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn input_order_does_not_matter(problem in shuffled(MADE)) {
        prop_assert_eq!(printed(&problem), printed(&Problem::read(MADE)));
    }

    #[test]
    fn explanations_do_not_depend_on_it_either(problem in shuffled(UNSATISFIABLE)) {
        prop_assert_eq!(printed(&problem), printed(&Problem::read(UNSATISFIABLE)));
    }
}
