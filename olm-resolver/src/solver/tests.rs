//! The solver against v0's table (spec catalog-operator 9.3) and against brute force.

use proptest::prelude::*;
use rstest::rstest;

use super::brute_force::{self, BruteForce};
use super::*;
use crate::problem::Rule;

/// Reads "a M D(x,y); x; y": variables with their rules, in visiting order.
fn formula(text: &str) -> (Vec<String>, Formula) {
    let items: Vec<Vec<&str>> =
        text.split(';').map(|item| item.split_whitespace().collect()).collect();
    let names: Vec<String> =
        items.iter().filter_map(|words| words.first()).map(ToString::to_string).collect();
    let id = |name: &str| {
        let position = names.iter().position(|known| known == name).expect("variable is declared");
        VariableId(u32::try_from(position).unwrap())
    };
    let ids = |list: &str| list.trim_end_matches(')').split(',').map(id).collect();
    let rule = |of: &str, word: &str| match word.split_once('(') {
        None if word == "M" => Rule::Mandatory(id(of)),
        None => Rule::Prohibited(id(of)),
        Some(("D", list)) => Rule::Dependency { of: id(of), choices: ids(list) },
        Some(("C", other)) => Rule::Conflict(id(of), id(other.trim_end_matches(')'))),
        Some((_, list)) => Rule::AtMost { count: 1, of: ids(list) },
    };
    let rules = items
        .iter()
        .filter_map(|words| words.split_first())
        .flat_map(|(of, words)| words.iter().map(|word| rule(of, word)).collect::<Vec<_>>());
    (
        names.clone(),
        Formula { variables: u32::try_from(names.len()).unwrap(), rules: rules.collect() },
    )
}

#[rstest]
#[case("", "")]
#[case("a", "")]
#[case("a M", "a")]
#[case("a M P", "unsat 0 1")]
#[case("a; b M D(a)", "a b")]
#[case("a; b D(a); c M D(b)", "a b c")]
#[case("a; b; c M D(a) D(b)", "a b c")]
#[case("a; b C(a); c M D(a,b)", "a c")]
#[case("a; b; c M D(a,b)", "a c")]
#[case("a; b C(a); c M D(b,a)", "b c")]
#[case("a M; b M C(a)", "unsat 0 1 2")]
#[case("a D(x,y); b M D(y,x); x; y", "b y")]
#[case("a M D(x,y) A1(x,y); x M; y M", "unsat 2 3 4")]
#[case("a M D(x,y) A1(x,y); b M D(y); x; y", "a b y")]
#[case("a M D(y); b M D(x,y); x; y", "a b y")]
#[case("a M D(y,z,m); b M D(x,y); x; y; z; m", "a b y")]
#[case("a M D(x,y); b M D(y); x; y", "a b x y")]
#[case(
    "a M D(a1,a2); a1 C(c1) C(c2); a2 C(c1); b M D(b1,b2); b1 C(c1) C(c2); b2 C(c1); c M D(c1,c2); c1; c2",
    "a a2 b b2 c c2"
)]
#[case("a M D(x1,x2) D(y1,y2); x1; x2; y1; y2", "a x1 y1")]
fn table(#[case] text: &str, #[case] wanted: &str) {
    assert_eq!(solved(text, &OrderedSearch::default()), wanted);
    assert_eq!(solved(text, &GuessingSearch::default()), wanted, "as v0");
}

/// Names of what is chosen, or the numbers of the rules that contradict each other.
fn solved(text: &str, solver: &dyn Solver) -> String {
    let (names, formula) = formula(text);
    match solver.solve(&formula).unwrap() {
        Solution::Chosen(chosen) => {
            chosen.iter().map(|id| names[id.index()].clone()).collect::<Vec<_>>().join(" ")
        }
        Solution::Contradiction(rules) => {
            rules.iter().fold("unsat".to_owned(), |text, rule| format!("{text} {}", rule.0))
        }
    }
}

/// That x1 leads nowhere shows only after y1 was chosen, which has nothing to do with it.
#[rstest]
#[case::the_next_candidate("b M D(y1,y2)", "a b x2 y2", "a b x2 y1")]
#[case::none_is_left("b M D(y1)", "a b x2 y1", "a b x2 y1")]
fn v0_does_not_start_again_with_choices_that_it_takes_back(
    #[case] b: &str,
    #[case] v0: &str,
    #[case] preferred: &str,
) {
    let text = format!(
        "a M D(x1,x2); {b}; x1 D(u1,u2) D(w1,w2); x2; y1; y2; u1 C(w1) C(w2); u2 C(w1) C(w2); w1; w2"
    );
    assert_eq!(solved(&text, &GuessingSearch::default()), v0);
    assert_eq!(solved(&text, &OrderedSearch::default()), preferred);
    let impatient = GuessingSearch { steps: 3, ..GuessingSearch::default() };
    assert_eq!(solved(&text, &impatient), preferred, "when it takes too long");
}

const VARIABLES: u32 = 9;

fn variable() -> impl Strategy<Value = VariableId> {
    (0..VARIABLES).prop_map(VariableId)
}

fn variables(most: usize) -> impl Strategy<Value = Vec<VariableId>> {
    prop::collection::btree_set(0..VARIABLES, 0..=most)
        .prop_map(|set| set.into_iter().map(VariableId).collect::<Vec<_>>())
        .prop_shuffle()
}

/// Rules that need no further variables in clauses.
fn plain_rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        2 => variable().prop_map(Rule::Mandatory),
        1 => variable().prop_map(Rule::Prohibited),
        6 => (variable(), variables(4))
            .prop_map(|(of, choices)| Rule::Dependency { of, choices: choices.into() }),
        2 => (variable(), variable()).prop_map(|(one, other)| Rule::Conflict(one, other)),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![
        5 => plain_rule(),
        1 => (0..4_u32, variables(8)).prop_map(|(count, of)| Rule::AtMost { count, of: of.into() }),
    ]
}

fn formula_of(rule: impl Strategy<Value = Rule>) -> impl Strategy<Value = Formula> {
    prop::collection::vec(rule, 0..20).prop_map(|rules| Formula { variables: VARIABLES, rules })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn answers_are_the_most_preferred_ones(formula in formula_of(rule())) {
        match OrderedSearch::default().solve(&formula).unwrap() {
            Solution::Chosen(chosen) => {
                let set = chosen.iter().fold(0_u64, |set, id| set | 1 << id.0);
                prop_assert_eq!(Some(set), brute_force::most_preferred(&formula));
            }
            Solution::Contradiction(rules) => {
                let rules: Vec<Rule> = rules.iter().map(|id| formula.rules[id.index()].clone()).collect();
                prop_assert!(!brute_force::is_satisfiable(VARIABLES, &rules));
                for left_out in 0..rules.len() {
                    let mut rest = rules.clone();
                    rest.remove(left_out);
                    prop_assert!(brute_force::is_satisfiable(VARIABLES, &rest), "rule {} is not needed", left_out);
                }
            }
        }
    }

    #[test]
    fn answers_of_v0_are_answers(formula in formula_of(rule())) {
        let keeps = |set: u64| formula.rules.iter().all(|rule| brute_force::keeps(set, rule));
        match GuessingSearch::default().solve(&formula).unwrap() {
            Solution::Chosen(chosen) => {
                let set = chosen.iter().fold(0_u64, |set, id| set | 1 << id.0);
                prop_assert!(keeps(set));
            }
            Solution::Contradiction(_) => {
                prop_assert!(!brute_force::is_satisfiable(VARIABLES, &formula.rules));
            }
        }
    }

    #[test]
    fn encodings_mean_what_the_rules_say(rule in rule(), set in 0..1_u64 << VARIABLES) {
        let assumptions: Vec<Literal> = (0..VARIABLES)
            .map(|variable| Literal { variable, positive: (set >> variable) & 1 == 1 })
            .collect();
        let mut batsat = BatsatCore::new(1_000_000);
        (0..VARIABLES).for_each(|_| { batsat.new_variable(); });
        encoding::add(&mut batsat, &rule, None);
        let kept = batsat.solve(&assumptions).unwrap() == Satisfiability::Satisfiable;
        prop_assert_eq!(kept, brute_force::keeps(set, &rule));
    }

    #[test]
    fn any_core_gives_the_same_answer(formula in formula_of(plain_rule())) {
        let with_batsat = ordered_search::search(&formula, &mut BatsatCore::new(1_000_000)).unwrap();
        let with_brute_force = ordered_search::search(&formula, &mut BruteForce::default()).unwrap();
        prop_assert_eq!(with_batsat, with_brute_force);
    }
}
