//! Plans of several Subscriptions for one change of a catalog: `kubectl olm plan upgrade` shows what one of them gets,
//! and what the others get comes at the same time.

use serde_json::Value;

use super::question::Answer;
use super::verdict::has_unread_bundles;
use crate::plan_check::images::is_hidden;
use crate::plan_check::is_more;

/// Why it is not known whose a change is.
const UNKNOWN: &str =
    "what another Subscription gets by the same change of the catalog is not known";

/// Gives each answer the plans of the others. Where one of those is not known, nothing is compared.
pub(super) fn put_beside(answers: &mut [&mut Answer]) {
    let plans: Vec<Option<Value>> = answers.iter().map(|answer| known(answer)).collect();
    for (place, answer) in answers.iter_mut().enumerate() {
        let others = plans.iter().enumerate().filter(|(other, _)| *other != place);
        let others: Option<Vec<Value>> = others.map(|(_, plan)| plan.clone()).collect();
        match others {
            Some(others) => answer.beside = others,
            // Of what is itself not read only that is compared.
            None if answer.plan.as_ref().is_ok_and(has_unread_bundles) => {}
            None => answer.not_compared = answer.not_compared.or(Some(UNKNOWN)),
        }
    }
}

/// Lines of a plan about what was not done as it shows, without those about what another plan shows so: `others` has
/// the lines of each of these.
pub(super) fn without_shown_beside(mut lines: Vec<String>, others: &[Vec<String>]) -> Vec<String> {
    lines.retain(|line| {
        let may_be_of_another = is_more(line) || is_hidden(line);
        !may_be_of_another || others.iter().all(|other| other.contains(line))
    });
    lines
}

fn known(answer: &Answer) -> Option<Value> {
    let plan = answer.plan.as_ref().ok()?;
    (!has_unread_bundles(plan)).then(|| plan.clone())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn answer(plan: Result<Value, String>) -> Answer {
        Answer { plan, ..Answer::without_plan(String::new()) }
    }

    #[test]
    fn each_answer_has_the_plans_of_the_others() {
        let (a, b) = (json!({"package": "a"}), json!({"package": "b"}));
        let (mut first, mut second) = (answer(Ok(a.clone())), answer(Ok(b.clone())));
        put_beside(&mut [&mut first, &mut second]);
        assert_eq!((first.beside, second.beside), (vec![b], vec![a]));
        assert_eq!((first.not_compared, second.not_compared), (None, None));
    }

    #[rstest::rstest]
    #[case::no_plan(Err("no answer".to_owned()))]
    #[case::not_read(Ok(json!({"unknown": ["bundle image i"]})))]
    fn beside_an_unknown_plan_nothing_is_compared(#[case] plan: Result<Value, String>) {
        let (mut known, mut unknown) = (answer(Ok(json!({}))), answer(plan));
        put_beside(&mut [&mut known, &mut unknown]);
        assert_eq!((known.not_compared, unknown.not_compared), (Some(UNKNOWN), None));
    }

    #[test]
    fn what_is_not_read_needs_no_other_plan() {
        let unread = || answer(Ok(json!({"unknown": ["bundle image i"]})));
        let (mut first, mut second) = (unread(), unread());
        put_beside(&mut [&mut first, &mut second]);
        assert_eq!((first.not_compared, second.not_compared), (None, None));
    }

    #[test]
    fn only_what_was_done_is_excused_by_another_plan() {
        let lines = [
            "created: services ns/a was done, and not shown",
            "created: services ns/b was done, and not shown",
            "created: services ns/c was shown, and not done",
            "images: d was not shown as gained",
            "images: e was shown as gained",
        ]
        .map(str::to_owned);
        // The other plan shows the image and a, and not b.
        let others = [vec![lines[1].clone()]];
        let left = without_shown_beside(lines.to_vec(), &others);
        assert_eq!(left, [lines[1].clone(), lines[2].clone(), lines[4].clone()]);
        assert_eq!(without_shown_beside(lines.to_vec(), &[]), lines);
    }
}
