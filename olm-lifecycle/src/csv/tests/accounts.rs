//! Who installs: the operator itself, or the account that the OperatorGroup names (spec
//! olm-operator 4.8).

use super::fixtures::*;
use super::world::World;
use olm_effect::{Identity, Refusal};
use rstest::rstest;
use serde_json::{Value, json};

const READY: &str = "InstallReady/AllRequirementsMet m";

/// A CSV about to be installed, in a group with this account and this reference in its status.
fn mk_world(account: Option<&str>, reference: Value) -> World {
    let mut world = World::new();
    world.edit("OperatorGroup", "default", |group| {
        group["spec"]["serviceAccountName"] = json!(account);
        group["status"]["serviceAccountRef"] = reference;
    });
    world.put(mk_csv_in("a", "InstallReady", "AllRequirementsMet"));
    world
}

fn reference() -> Value {
    json!({"kind": "ServiceAccount", "namespace": NS, "name": "scoped"})
}

fn refusal(code: u16, message: &str) -> Refusal {
    Refusal { code, reason: "R".to_owned(), message: message.to_owned() }
}

#[rstest]
#[case::no_account(None, Value::Null, Identity::Own)]
#[case::left_over(None, reference(), Identity::Own)]
#[case::scoped(Some("scoped"), reference(),
    Identity::ServiceAccount { namespace: NS.to_owned(), name: "scoped".to_owned() })]
fn everything_is_installed_by(
    #[case] account: Option<&str>,
    #[case] reference: Value,
    #[case] expected: Identity,
) {
    let mut world = mk_world(account, reference);
    let decision = world.sync("a");
    assert!(!decision.effects.is_empty());
    assert!(decision.effects.iter().all(|effect| effect.identity == expected));
    assert!(world.state("a").starts_with("Installing/"));
}

#[test]
fn an_account_that_is_not_there_is_waited_for() {
    let mut world = mk_world(Some("scoped"), Value::Null);
    let decision = world.sync("a");
    let note = "please make sure the service account exists. sa=scoped operatorgroup=ns/default";
    assert_eq!((decision.effects.len(), decision.notes), (0, vec![note.to_owned()]));
    assert_eq!(world.state("a"), READY);
}

#[rstest]
#[case::gone(404, "serviceaccounts \"scoped\" not found")]
#[case::token_refused(401, "Unauthorized")]
fn an_account_that_cannot_act_is_no_failure_of_the_install(#[case] code: u16, #[case] text: &str) {
    let mut world = mk_world(Some("scoped"), reference());
    world.refuse = Some(("Deployment", refusal(code, text)));
    assert_eq!(world.next("a"), READY);
    world.refuse = None;
    assert!(world.next("a").starts_with("Installing/"));
}

#[test]
fn what_an_account_may_not_do_ends_the_install_until_rights_change() {
    let mut world = mk_world(Some("scoped"), reference());
    let text = "deployments.apps is forbidden";
    world.refuse = Some(("Deployment", refusal(403, text)));
    assert_eq!(
        world.next("a"),
        format!(
            "Failed/InstallComponentFailedNoRetry install strategy failed: install strategy \
             failed: {text}"
        )
    );
}
