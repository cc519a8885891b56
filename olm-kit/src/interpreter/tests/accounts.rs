//! Acting as a service account.

use std::time::Duration;

use super::*;
use crate::leader::Leadership;

const TOKEN: &str = "POST /api/v1/namespaces/ns/serviceaccounts/deployer/token?";

const SECRETS: &str =
    "GET /api/v1/namespaces/ns/secrets?&fieldSelector=type%3Dkubernetes.io%2Fservice-account-token";
const ACCOUNT: &str = "GET /api/v1/namespaces/ns/serviceaccounts/deployer";

fn secrets(secrets: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "SecretList", "metadata": {}, "items": secrets})
}

fn secret(name: &str, account: &str, uid: &str, token: &str) -> Value {
    let annotations = json!({"kubernetes.io/service-account.name": account, "kubernetes.io/service-account.uid": uid});
    json!({"metadata": {"name": name, "annotations": annotations}, "data": {"token": token}})
}

fn issued(token: &str, seconds: i64) -> Value {
    let expires = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(seconds);
    json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {},
        "spec": {"audiences": []},
        "status": {"token": token, "expirationTimestamp": expires.to_string()}})
}

fn as_account(effect: Effect) -> Effect {
    let (namespace, name) = ("ns".to_owned(), "deployer".to_owned());
    effect.acting_as(Identity::ServiceAccount { namespace, name })
}

fn scoped(own: &Script, anonymous: &Script) -> Interpreter {
    let mut options = InterpreterOptions::new("olm");
    options.tokens = Some(Arc::new(TokenRequests::new(own.client())));
    options.anonymous = Some(anonymous.client());
    Interpreter::new(own.client(), options).on_behalf_of("ns")
}

/// `serviceAccountName` of an OperatorGroup may say anything.
#[tokio::test]
async fn no_name_of_an_account_leads_elsewhere() {
    let (own, anonymous) = (Script::new(), Script::new());
    for name in ["ruler/token?", "../../olm/serviceaccounts/ruler", "?x"] {
        let (namespace, name) = ("ns".to_owned(), name.to_owned());
        let effect = create().acting_as(Identity::ServiceAccount { namespace, name });
        let outcomes = scoped(&own, &anonymous).execute(&[effect]).await;
        assert_eq!(outcomes[0].refusal().map(|refusal| refusal.code), Some(422), "{outcomes:?}");
    }
    own.finish();
    anonymous.finish();
}

#[rstest::rstest]
#[case::of_another_namespace(Some("other"), "an object of other;")]
#[case::of_no_account(None, "an object of the cluster;")]
#[tokio::test]
async fn an_account_acts_for_its_own_namespace_alone(
    #[case] behalf: Option<&str>,
    #[case] expected: &str,
) {
    let (own, anonymous) = (Script::new(), Script::new());
    let scoped = scoped(&own, &anonymous);
    let interpreter = match behalf {
        Some(namespace) => scoped.on_behalf_of(namespace),
        None => Interpreter { behalf: None, ..scoped },
    };
    let outcomes = interpreter.execute(&[as_account(create())]).await;
    let refusal = outcomes[0].refusal().unwrap();
    assert!(refusal.is_forbidden() && refusal.message.contains(expected), "{refusal}");
    own.finish();
    anonymous.finish();
}

/// A token that comes when the Lease has run out.
struct LateToken;

#[async_trait::async_trait]
impl TokenSource for LateToken {
    async fn token(&self, _: &str, _: &str) -> Result<String, Refusal> {
        tokio::time::sleep(Duration::from_secs(11)).await;
        Ok("secret".to_owned())
    }

    fn reject(&self, _: &str, _: &str) {}
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_when_the_lease_ran_out_before_the_token_came() {
    let script = Script::new();
    let leadership = Leadership::awaited();
    leadership.renewed(Instant::now(), Duration::from_secs(10));
    let mut options = InterpreterOptions::new("olm").led_by(leadership.clone());
    options.tokens = Some(Arc::new(LateToken));
    options.anonymous = Some(script.client_of(&leadership));
    let interpreter = Interpreter::new(script.client(), options).on_behalf_of("ns");
    let outcomes = interpreter.execute(&[as_account(create())]).await;
    assert_eq!(outcomes[0].refusal().unwrap().reason, "NotLeading");
    assert!(script.finish().is_empty());
}

#[tokio::test]
async fn a_token_is_requested_once_and_sent_without_own_credentials() {
    let own = Script::new().answer(SECRETS, 200, secrets(json!([]))).answer(
        TOKEN,
        201,
        issued("secret", 3600),
    );
    let anonymous = Script::new().answer(&format!("POST {ALL}"), 201, object("6", "x")).answer(
        &format!("POST {ALL}"),
        201,
        object("7", "x"),
    );
    let interpreter = scoped(&own, &anonymous);
    interpreter.execute(&[as_account(create()), as_account(create())]).await;
    own.finish();
    let bearer = anonymous.finish()[0].authorization.clone();
    assert_eq!(bearer.as_deref(), Some("Bearer secret"));
}

#[tokio::test]
async fn an_old_or_rejected_token_is_replaced() {
    let none = || secrets(json!([]));
    let own = Script::new()
        .answer(SECRETS, 200, none())
        .answer(TOKEN, 201, issued("old", 60))
        .answer(SECRETS, 200, none())
        .answer(TOKEN, 201, issued("rejected", 3600))
        .answer(SECRETS, 200, none())
        .answer(TOKEN, 201, issued("good", 3600));
    let anonymous = Script::new()
        .answer(&format!("POST {ALL}"), 201, object("6", "x"))
        .refuse(&format!("POST {ALL}"), 401, "Unauthorized", "who?")
        .answer(&format!("POST {ALL}"), 201, object("7", "x"));
    let interpreter = scoped(&own, &anonymous);
    for code in [None, Some(401), None] {
        let outcomes = interpreter.execute(&[as_account(create())]).await;
        assert_eq!(outcomes[0].refusal().map(|refusal| refusal.code), code);
    }
    own.finish();
}

#[tokio::test]
async fn an_absent_account_is_a_refusal() {
    let own = Script::new().answer(SECRETS, 200, secrets(json!([]))).refuse(
        TOKEN,
        404,
        "NotFound",
        "serviceaccounts \"deployer\" not found",
    );
    let outcomes = scoped(&own, &Script::new()).execute(&[as_account(create())]).await;
    let refusal = outcomes[0].refusal().unwrap();
    assert_eq!(refusal.message, "serviceaccounts \"deployer\" not found");
    let outcomes = interpreter(&Script::new()).execute(&[as_account(create())]).await;
    assert!(outcomes[0].refusal().unwrap().is_forbidden());
}

/// The rows of v0's own test on Secrets of accounts: the annotation has to name the account.
#[rstest::rstest]
#[case::of_the_account(json!([secret("other", "builder", "b", "bm8="), secret("s", "deployer", "u", "bG9uZw==")]), Some("Bearer long"))]
#[case::of_an_earlier_account(json!([secret("s", "deployer", "earlier", "bm8=")]), Some("Bearer requested"))]
#[case::without_a_token(json!([secret("s", "deployer", "u", "")]), None)]
#[tokio::test]
async fn a_secret_of_the_account_is_honoured(#[case] found: Value, #[case] bearer: Option<&str>) {
    let account = json!({"metadata": {"name": "deployer", "namespace": "ns", "uid": "u"}});
    let own = Script::new()
        .answer(SECRETS, 200, secrets(found))
        .answer(ACCOUNT, 200, account)
        .answer(TOKEN, 201, issued("requested", 3600));
    let anonymous = Script::new().answer(&format!("POST {ALL}"), 201, object("6", "x"));
    let outcomes = scoped(&own, &anonymous).execute(&[as_account(create())]).await;
    let refused = outcomes[0].refusal().map(|refusal| refusal.message.as_str());
    match bearer {
        Some(bearer) => {
            assert_eq!(refused, None);
            assert_eq!(anonymous.requests()[0].authorization.as_deref(), Some(bearer));
        }
        None => assert_eq!(
            refused,
            Some("the secret does not have any API token sa=ns/deployer secret=s")
        ),
    }
}
