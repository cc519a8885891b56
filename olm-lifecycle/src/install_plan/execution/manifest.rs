//! The manifest of a step as it is written: JSON, for some kinds YAML as well (spec catalog-operator
//! 4.4, 4.5).

use std::ops::ControlFlow;

use olm_types::api::Step;
use olm_types::document::{self, Budget, Meter};
use serde_json::{Map, Value};

use super::{Scope, StepError};

/// What the manifests of a kind may be; as in v0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A JSON object.
    Json,
    /// A JSON object, or a YAML document.
    JsonOrYaml,
    /// Anything: the object is made from the name of the step alone.
    Ignored,
}

/// The object that the manifest of a step describes; empty where it is ignored.
///
/// # Errors
/// It cannot be read from its bundle, or is not in the form of its kind.
pub(super) fn read(scope: &Scope, step: &Step, form: Form) -> Result<Value, StepError> {
    let text = scope.bundles.manifest(step).map_err(StepError::Bundle)?;
    let read = match form {
        Form::Ignored => return Ok(Value::Object(Map::new())),
        Form::JsonOrYaml if !text.trim_start().starts_with('{') => yaml(text),
        Form::Json | Form::JsonOrYaml => json(text),
    };
    read.map_err(|problem| StepError::Manifest { name: step.resource.name.clone(), problem })
}

fn json(text: &str) -> Result<Value, String> {
    let object = document::json(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT));
    let object = object.map_err(|error| error.to_string())?;
    object.is_object().then_some(object).ok_or_else(|| "is not a JSON object".to_owned())
}

/// The first document that is not empty, as Kubernetes reads it.
fn yaml(text: &str) -> Result<Value, String> {
    let mut found = Err("is neither a JSON nor a YAML object".to_owned());
    document::documents(text.as_bytes(), &mut Meter::in_all(Budget::OBJECT), |_, document| {
        match document {
            Ok(Value::Null) => return ControlFlow::Continue(()),
            Ok(object @ Value::Object(_)) => found = Ok(object),
            Ok(_) => {}
            Err(error) => found = Err(error.to_string()),
        }
        ControlFlow::Break(())
    });
    found
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    fn manifest(form: Form, text: &str) -> Result<Value, String> {
        let mut step = Step::default();
        step.resource.name = "x".to_owned();
        step.resource.manifest = Some(text.to_owned());
        let read = read(&Scope::default(), &step, form);
        read.map_err(|error| error.to_string().replace("error parsing step manifest: x: ", ""))
    }

    #[rstest]
    #[case::json(Form::Json, r#" {"a": [1]}"#)]
    #[case::json_where_yaml_may_be(Form::JsonOrYaml, "\n{\"a\": [1]}\n")]
    #[case::yaml(Form::JsonOrYaml, "# made by a tool\na:\n- 1\n")]
    #[case::behind_an_empty_document(Form::JsonOrYaml, "---\n---\na: [1]\n---\nb: 2\n")]
    fn objects(#[case] form: Form, #[case] text: &str) {
        assert_eq!(manifest(form, text), Ok(json!({"a": [1]})));
    }

    #[rstest]
    #[case::nothing(Form::Json, "", "EOF while parsing a value at line 1 column 0")]
    #[case::list(Form::Json, "[]", "is not a JSON object")]
    #[case::yaml(Form::Json, "a: 1", "expected value at line 1 column 1")]
    #[case::empty_yaml(Form::JsonOrYaml, "---\n", "is neither a JSON nor a YAML object")]
    #[case::text(Form::JsonOrYaml, "a", "is neither a JSON nor a YAML object")]
    #[case::cut(Form::JsonOrYaml, "{", "EOF while parsing an object at line 1 column 1")]
    fn others(#[case] form: Form, #[case] text: &str, #[case] problem: &str) {
        assert_eq!(manifest(form, text), Err(problem.to_owned()));
    }

    #[test]
    fn a_manifest_that_is_ignored_may_be_anything() {
        assert_eq!(manifest(Form::Ignored, ""), Ok(json!({})));
    }

    #[rstest]
    #[case::brackets(format!("a: {}", "[".repeat(200_000)))]
    #[case::dashes(format!("a: {}", "- ".repeat(200_000)))]
    #[case::aliases({
        let link = |n: u8| format!("k{n}: &k{n} [{}]\n", format!("*k{},", n - 1).repeat(20));
        format!("k0: &k0 [1]\n{}", (1..20).map(link).collect::<String>())
    })]
    #[case::aliases_of_a_long_text({
        let (others, copies) = (vec!["0"; 4_000].join(","), vec!["*a"; 4_000].join(","));
        format!("a: &a {}\nb: [{others}]\nc: [{copies}]\n", "x".repeat(40_000))
    })]
    #[case::small_maps(format!("a: [{}]", vec!["{a: 0}"; 400_000].join(",")))]
    fn hostile_yaml_is_refused(#[case] text: String) {
        assert!(manifest(Form::JsonOrYaml, &text).is_err());
    }
}
