//! What a form says: each field once, bounded, and on one line unless it holds a text.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use olm_client::clean::cell;

/// Fields of a form.
const FIELDS: usize = 32;

/// Bytes of a field on one line.
const LINE: usize = 1024;

/// Bytes of the name of a field that are shown.
const NAME: usize = 40;

/// Fields that hold texts.
const TEXTS: [&str; 2] = ["config", "object"];

/// A form as it was posted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form(Vec<(String, String)>);

/// What a field says that it may not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InvalidField {
    /// The field.
    pub(crate) field: String,
    /// Why.
    pub(crate) why: String,
}

impl InvalidField {
    /// What is wrong with a field.
    pub(crate) fn new(field: &str, why: &str) -> Self {
        let field = field.chars().take(NAME).collect();
        Self { field, why: why.to_owned() }
    }

    /// In one line.
    pub(crate) fn line(&self) -> String {
        format!("field {}: {}", cell(&self.field), cell(&self.why))
    }
}

impl IntoResponse for InvalidField {
    fn into_response(self) -> Response {
        (StatusCode::BAD_REQUEST, format!("{}\n", self.line())).into_response()
    }
}

impl Form {
    /// Reads the body of a request. Line ends become those of this machine.
    ///
    /// # Errors
    /// A field is there twice, too long, or holds what controls a terminal.
    pub(crate) fn read(body: &[u8]) -> Result<Self, InvalidField> {
        let mut found = Vec::new();
        for (field, value) in form_urlencoded::parse(body) {
            let (field, value) = (field.into_owned(), value.replace("\r\n", "\n"));
            if found.len() >= FIELDS {
                return Err(InvalidField::new(&field, "there are too many fields"));
            }
            if found.iter().any(|(other, _)| *other == field) {
                return Err(InvalidField::new(&field, "it is there twice"));
            }
            check(&field, &value)?;
            found.push((field, value));
        }
        Ok(Self(found))
    }

    /// Takes a field out.
    pub(crate) fn take(&mut self, field: &str) -> Option<String> {
        let place = self.0.iter().position(|(name, _)| name == field)?;
        Some(self.0.remove(place).1)
    }

    /// All fields.
    pub(crate) fn fields(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(field, value)| (field.as_str(), value.as_str()))
    }
}

fn check(field: &str, value: &str) -> Result<(), InvalidField> {
    let is_text = TEXTS.contains(&field);
    let acts = |c: char| c.is_control() && !(is_text && (c == '\n' || c == '\t'));
    if value.contains(acts) {
        return Err(InvalidField::new(field, "it holds a control character"));
    }
    if !is_text && value.len() > LINE {
        return Err(InvalidField::new(field, &format!("it has more than {LINE} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(b"name=a&channel=b%20c", "")]
    #[case::empty(b"", "")]
    #[case::text(b"config=a:%0D%0A%20%20b", "")]
    #[case::twice(b"name=a&name=b", "field name: it is there twice")]
    #[case::nul(b"name=a%00", "field name: it holds a control character")]
    #[case::escape(b"name=%1B%5B2J", "field name: it holds a control character")]
    #[case::lines(b"name=a%0Ab", "field name: it holds a control character")]
    #[case::nul_in_text(b"config=%00", "field config: it holds a control character")]
    #[case::name(b"%1B=%00", "field \u{fffd}: it holds a control character")]
    fn a_field_is_refused_by_name(#[case] body: &[u8], #[case] expected: &str) {
        let found = Form::read(body).err().map(|bad| bad.line()).unwrap_or_default();
        assert_eq!(found, expected);
    }

    #[test]
    fn a_form_is_bounded() {
        let long = format!("name={}", "a".repeat(LINE + 1));
        assert_eq!(Form::read(long.as_bytes()).unwrap_err().field, "name");
        let long = format!("object={}", "a".repeat(LINE + 1));
        assert!(Form::read(long.as_bytes()).is_ok());
        let many: Vec<String> = (0..=FIELDS).map(|number| format!("f{number}=1")).collect();
        let refused = Form::read(many.join("&").as_bytes()).unwrap_err();
        assert_eq!(refused.field, format!("f{FIELDS}"));
        let name = format!("{}=%00", "n".repeat(1000));
        assert_eq!(Form::read(name.as_bytes()).unwrap_err().field.len(), NAME);
    }

    #[test]
    fn line_ends_of_browsers_become_plain() {
        let mut form = Form::read(b"config=a%0D%0Ab&name=x").unwrap();
        assert_eq!(form.take("config").as_deref(), Some("a\nb"));
        assert_eq!(form.take("config"), None);
        assert_eq!(form.fields().collect::<Vec<_>>(), [("name", "x")]);
    }
}
