//! What pages that change something have in common: the plan, why something is not offered, and why it was refused.

use axum::response::{IntoResponse, Redirect, Response};
use http::StatusCode;
use jiff::Timestamp;
use olm_client::TimedOut;
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{NotInTime, Writing};
use olm_client::plan::on_cluster;
use olm_plan::preview::{Operation, Preview, PreviewRequest};

use super::PageView;
use super::frame::url;
use crate::failure::Failure;

/// Who writes.
const MANAGER: &str = "olm-console";

/// Something is written.
pub(super) const WRITING: Writing<'static> = Writing { manager: MANAGER, dry_run: false };

/// The API server is asked as if.
pub(super) const TRYING: Writing<'static> = Writing { manager: MANAGER, dry_run: true };

/// What was shown is not so any more.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Changed(pub(super) String);

/// The button of a form, and why it cannot be used.
pub(super) struct Submit {
    /// What it says.
    pub(super) text: &'static str,
    /// What the form does.
    pub(super) step: &'static str,
    /// Empty where it can be used.
    pub(super) why_not: Vec<String>,
}

/// A link to a page that changes something, or why there is none.
pub(super) struct ActionLink {
    pub(super) id: &'static str,
    pub(super) text: &'static str,
    pub(super) url: String,
    pub(super) why_not: Vec<String>,
}

/// Why nothing was written.
pub(super) struct Refusal {
    pub(super) code: StatusCode,
    pub(super) failure: Failure,
}

impl Refusal {
    /// What an error of a change means.
    pub(super) fn of(error: &anyhow::Error) -> Self {
        if error.downcast_ref::<Changed>().is_some() {
            let failure = Failure { kind: "changed", why: format!("{error:#}") };
            return Self { code: StatusCode::CONFLICT, failure };
        }
        let mut failure = Failure::of(error);
        if failure.kind == "not shown" {
            failure.kind = "refused";
        }
        Self { code: code(error), failure }
    }
}

/// The code of the API server, where the error is its own.
fn code(error: &anyhow::Error) -> StatusCode {
    match error.downcast_ref::<kube::Error>() {
        Some(kube::Error::Api(status)) if (400..600).contains(&status.code) => {
            StatusCode::from_u16(status.code).unwrap_or(StatusCode::BAD_GATEWAY)
        }
        Some(_) => StatusCode::BAD_GATEWAY,
        None if error.is::<NotInTime>() || error.is::<TimedOut>() => StatusCode::GATEWAY_TIMEOUT,
        None => StatusCode::BAD_REQUEST,
    }
}

/// A page, and the failure that it shows where something was refused.
pub(super) fn parts(refusal: Option<Refusal>) -> (StatusCode, Option<Failure>) {
    match refusal {
        Some(Refusal { code, failure }) => (code, Some(failure)),
        None => (StatusCode::OK, None),
    }
}

/// What would happen in the namespace of the page.
pub(super) async fn preview(visit: &PageView<'_>, wanted: Operation) -> anyhow::Result<Preview> {
    let reading = &visit.context.console.reading;
    let settings = visit.cluster.settings(reading.sources.olm_namespace.as_deref()).await?;
    let namespace = visit.home().to_owned();
    let asked = PreviewRequest { namespace, settings, now: Timestamp::now(), wanted };
    on_cluster(&visit.cluster, &asked, reading).await
}

/// Only what was shown is written.
///
/// # Errors
/// The plan has another hash than the one that was shown: [`Changed`].
pub(super) fn same(preview: &Preview, shown: &str) -> Result<(), Changed> {
    let now = &preview.plan_hash;
    if now == shown {
        return Ok(());
    }
    Err(Changed(format!(
        "the plan has changed since it was shown: its hash was {shown} and is {now}. Nothing was written; below is the \
         plan as it is now"
    )))
}

/// Why some of these are not allowed, for a reader.
pub(super) async fn not_allowed(may: &NamespaceRights<'_>, wanted: &[Action]) -> Vec<String> {
    let refusals = may.refusals(wanted).await;
    refusals.into_iter().map(|why| format!("not allowed: {why}")).collect()
}

/// The way to the page of an operator, after a change.
pub(super) fn done(visit: &PageView<'_>, operator: &str) -> Response {
    let of = [("namespace", Some(visit.home())), ("name", Some(operator))];
    Redirect::to(&url("/operator", &of)).into_response()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use anyhow::anyhow;
    use http_body_util::BodyExt;
    use kube::Client;
    use kube::core::Status;
    use olm_client::Cluster;
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::session::Identity;

    fn refused(code: u16) -> anyhow::Error {
        let status = Status { code, message: "m".to_owned(), ..Status::default() };
        anyhow::Error::from(kube::Error::Api(status.boxed()))
            .context("cannot create Subscription a")
    }

    #[rstest]
    #[case::forbidden(refused(403), 403, "not allowed")]
    #[case::invalid(refused(422), 422, "refused")]
    #[case::there(refused(409), 409, "refused")]
    #[case::no_code(refused(0), 502, "refused")]
    #[case::changed(Changed("other".to_owned()).into(), 409, "changed")]
    #[case::input(anyhow!("it is no YAML"), 400, "refused")]
    fn a_refusal_has_the_code_of_who_refused(
        #[case] error: anyhow::Error,
        #[case] code: u16,
        #[case] kind: &str,
    ) {
        let refusal = Refusal::of(&error);
        assert_eq!((refusal.code.as_u16(), refusal.failure.kind), (code, kind));
    }

    /// An API server that lists `get` alone. Of what is asked for one by one it allows `patch`; that it was asked.
    fn api_server(is_incomplete: bool) -> (Cluster, Arc<Mutex<Vec<String>>>) {
        let asked: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = asked.clone();
        let service = tower::service_fn(move |request: http::Request<kube::client::Body>| {
            let seen = seen.clone();
            async move {
                let is_list = request.uri().path().ends_with("/selfsubjectrulesreviews");
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let mut review: Value = serde_json::from_slice(&body).unwrap();
                let verb = review["spec"]["resourceAttributes"]["verb"].as_str().map(str::to_owned);
                review["status"] = match (is_list, verb) {
                    (true, _) => listed(is_incomplete),
                    (false, verb) => json!({"allowed": verb.as_deref() == Some("patch")}),
                };
                if !is_list {
                    let verb = review["spec"]["resourceAttributes"]["verb"].to_string();
                    seen.lock().unwrap().push(verb);
                }
                let body = axum::body::Body::from(review.to_string());
                let answer = http::Response::builder().status(201).body(body).unwrap();
                Ok::<_, std::io::Error>(answer)
            }
        });
        let (identity, _) = Identity::for_tests();
        (Cluster { client: Client::new(service, "ns"), ..identity.cluster }, asked)
    }

    fn listed(is_incomplete: bool) -> Value {
        let rule = json!({"verbs": ["get"], "apiGroups": ["operators.coreos.com"],
            "resources": ["installplans"]});
        json!({"resourceRules": [rule], "nonResourceRules": [], "incomplete": is_incomplete})
    }

    #[rstest]
    #[case::complete(false, &["patch", "delete"], &[])]
    #[case::incomplete(true, &["delete"], &["\"delete\"", "\"patch\""])]
    #[tokio::test]
    async fn what_is_not_listed_is_asked_for_where_the_list_is_incomplete(
        #[case] is_incomplete: bool,
        #[case] refused: &[&str],
        #[case] reviewed: &[&str],
    ) {
        let (cluster, asked) = api_server(is_incomplete);
        let may = NamespaceRights::read(&cluster, "ns").await;
        let wanted =
            ["get", "patch", "delete"].map(|verb| Action::of_olm(verb, "installplans", "ns"));
        let found = not_allowed(&may, &wanted).await;
        let why = |verb: &&str| {
            let what = "installplans.operators.coreos.com in namespace ns";
            format!("not allowed: you may not {verb} {what}")
        };
        assert_eq!(found, refused.iter().map(why).collect::<Vec<_>>());
        let mut asked = asked.lock().unwrap().clone();
        asked.sort();
        assert_eq!(asked, reviewed);
    }

    #[test]
    fn only_the_plan_that_was_shown_is_done() {
        let preview = Preview::default().hashed();
        assert!(same(&preview, &preview.plan_hash).is_ok());
        let refused = same(&preview, "0").unwrap_err().to_string();
        assert!(refused.contains(&preview.plan_hash), "{refused}");
    }
}
