//! A custom resource of an operator, from its own examples: tried by the API server, then made.

use anyhow::{Context, Result};
use askama::Template;
use axum::response::{IntoResponse, Response};
use olm_client::acts::rights::{Action, NamespaceRights};
use olm_client::acts::{Writing, crd_of, examples, make, read_object};
use olm_client::operator::subscription;
use olm_types::api::ClusterServiceVersion;
use serde_json::Value;

use super::act::{self, Refusal, Submit, TRYING, WRITING};
use super::frame::{Frame, Problem, html};
use super::shown::documents;
use super::{Page, PageView, given};
use crate::failure::Failure;
use crate::form::InvalidField;

#[derive(Template)]
#[template(path = "create.html")]
struct Create {
    frame: Frame,
    operator: String,
    examples: Vec<Example>,
    object: String,
    checked: Option<String>,
    submit: Submit,
    refusal: Option<Failure>,
}

/// An example, as it is chosen.
struct Example {
    number: usize,
    title: String,
    is_chosen: bool,
}

/// Reads the page, or does what its form says.
pub(super) async fn read(visit: &PageView<'_>) -> Response {
    let operator = given(&visit.params.name).unwrap_or_default();
    let csv = match csv(visit, operator).await {
        Ok(csv) => csv,
        Err(error) => {
            let Refusal { code, failure } = Refusal::of(&error);
            let command = visit.command().word("operands").word(operator);
            let frame = visit.frame(Page::Create, "Create a custom resource", &command);
            let page = html(&Problem { frame, failure });
            return if visit.params.is_posted() { (code, page).into_response() } else { page };
        }
    };
    match (visit.params.is_posted(), visit.params.step()) {
        (false, _) => page(visit, operator, &csv, Ok(None)).await,
        (true, "check") => {
            let tried = written(visit, &csv, TRYING).await;
            let said = |name: String| Some(format!("the API server would create {name}"));
            page(visit, operator, &csv, tried.map(said)).await
        }
        (true, "create") => match written(visit, &csv, WRITING).await {
            Ok(_) => act::done(visit, operator),
            Err(error) => page(visit, operator, &csv, Err(error)).await,
        },
        (true, _) => InvalidField::new("do", "it is none of check, create").into_response(),
    }
}

/// The CSV that the Subscription has installed.
async fn csv(visit: &PageView<'_>, operator: &str) -> Result<ClusterServiceVersion> {
    let observed = visit.cluster.observe(Some(visit.home()), false).await?;
    let status = subscription(&observed, operator)?.status.as_ref();
    let name = status.and_then(|status| status.installed_csv.as_deref());
    let name = name.with_context(|| format!("nothing is installed for {operator} yet"))?;
    let listed = observed.csv(visit.home(), name);
    listed.with_context(|| format!("ClusterServiceVersion {name} was not read"))?;
    visit.cluster.csv(visit.home(), name).await.with_context(|| format!("cannot read CSV {name}"))
}

async fn written(
    visit: &PageView<'_>,
    csv: &ClusterServiceVersion,
    how: Writing<'_>,
) -> Result<String> {
    let text = visit.params.posted.object.as_deref().unwrap_or_default();
    let object = read_object(text).context("field object")?;
    make(&visit.cluster, csv, &object, how).await
}

async fn page(
    visit: &PageView<'_>,
    operator: &str,
    csv: &ClusterServiceVersion,
    done: Result<Option<String>>,
) -> Response {
    let (checked, refusal) = match done {
        Ok(checked) => (checked, None),
        Err(error) => (None, Some(Refusal::of(&error))),
    };
    let (code, refusal) = act::parts(refusal);
    let all = examples(csv);
    let number: usize = given(&visit.params.example).and_then(|one| one.parse().ok()).unwrap_or(0);
    let example = all.get(number).map(|one| documents(std::slice::from_ref(one)));
    // What was typed is kept.
    let object = visit.params.posted.object.clone().or(example).unwrap_or_default();
    let why_not = in_the_way(visit, csv, &object).await;
    let title = format!("Create a custom resource of {operator}");
    let command = visit.command().word("operands").word(operator);
    let page = html(&Create {
        frame: visit.frame(Page::Create, &title, &command),
        operator: operator.to_owned(),
        examples: all.iter().enumerate().map(|(at, one)| titled(at, one, number)).collect(),
        object,
        checked,
        submit: Submit { text: "Create", step: "create", why_not },
        refusal,
    });
    (code, page).into_response()
}

fn titled(number: usize, example: &Value, chosen: usize) -> Example {
    let text = |path: &str| example.pointer(path).and_then(Value::as_str).unwrap_or_default();
    Example {
        number,
        title: format!("{} {}", text("/kind"), text("/metadata/name")),
        is_chosen: number == chosen,
    }
}

async fn in_the_way(visit: &PageView<'_>, csv: &ClusterServiceVersion, text: &str) -> Vec<String> {
    let object = read_object(text).unwrap_or_default();
    let Some(crd) = crd_of(csv, &object) else { return Vec::new() };
    let may = NamespaceRights::read(&visit.cluster, visit.home()).await;
    act::not_allowed(&may, &[Action::of_crd("create", &crd.name, Some(visit.home()))]).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(object: &str, why_not: &[&str]) -> String {
        let frame = Frame {
            title: "Create".to_owned(),
            here: Page::Create,
            namespace: "ns".to_owned(),
            server: "s".to_owned(),
            command: "c".to_owned(),
            notes: Vec::new(),
            token: "0a".to_owned(),
            leaves: false,
            live: None,
        };
        let why_not = why_not.iter().map(|why| (*why).to_owned()).collect();
        let example = Example { number: 0, title: object.to_owned(), is_chosen: true };
        let page = Create {
            frame,
            operator: object.to_owned(),
            examples: vec![example],
            object: object.to_owned(),
            checked: Some(object.to_owned()),
            submit: Submit { text: "Create", step: "create", why_not },
            refusal: Some(Failure::other(object)),
        };
        page.render().unwrap()
    }

    #[test]
    fn what_is_typed_is_kept_as_text() {
        let text = page("</textarea><script>alert(1)</script>\" autofocus onfocus=\"alert(1)", &[]);
        assert!(!text.contains("<script") && !text.contains("\" autofocus"), "{text}");
        assert_eq!(text.matches("</textarea>").count(), 1, "{text}");
        assert!(text.contains("value=\"0a\""), "the form has no token: {text}");
    }

    #[test]
    fn what_is_not_allowed_is_a_button_that_says_why() {
        let allowed = page("kind: Kettle", &[]);
        assert!(allowed.contains(r#"<button name="do" value="create">"#), "{allowed}");
        assert!(!allowed.contains("disabled"), "{allowed}");
        let refused = page("kind: Kettle", &["not allowed: you may not create <kettles>"]);
        assert!(!refused.contains(r#"<button name="do""#), "{refused}");
        assert!(refused.contains("disabled aria-describedby=\"create-why\""), "{refused}");
        assert!(refused.contains("you may not create &#60;kettles&#62;"), "{refused}");
    }
}
