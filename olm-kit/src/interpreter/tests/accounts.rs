//! Acting as a service account.

use super::*;

const TOKEN: &str = "POST /api/v1/namespaces/ns/serviceaccounts/deployer/token?";

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
    Interpreter::new(own.client(), options)
}

#[tokio::test]
async fn a_token_is_requested_once_and_sent_without_own_credentials() {
    let own = Script::new().answer(TOKEN, 201, issued("secret", 3600));
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
    let own = Script::new()
        .answer(TOKEN, 201, issued("old", 60))
        .answer(TOKEN, 201, issued("rejected", 3600))
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
    let own =
        Script::new().refuse(TOKEN, 404, "NotFound", "serviceaccounts \"deployer\" not found");
    let outcomes = scoped(&own, &Script::new()).execute(&[as_account(create())]).await;
    let refusal = outcomes[0].refusal().unwrap();
    assert_eq!(refusal.message, "serviceaccounts \"deployer\" not found");
    let outcomes = interpreter(&Script::new()).execute(&[as_account(create())]).await;
    assert!(outcomes[0].refusal().unwrap().is_forbidden());
}
