//! Patterns of image references: `quay.io/org/{{.Package}}:v{{.Version}}`.

use std::str::FromStr;

use thiserror::Error;

/// A pattern that bundles fill in. Written as `opm` has it, with three fields and nothing more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageTemplate(Vec<Piece>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    Package,
    Name,
    Version,
}

/// A pattern has the wrong form.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TemplateError {
    /// Braces are not closed.
    #[error("invalid image reference template: \"{{{{\" without \"}}}}\"")]
    Open,
    /// There is something else between braces.
    #[error("invalid image reference template: {0:?} is none of .Package, .Name and .Version")]
    Unknown(String),
}

impl FromStr for ImageTemplate {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Self, TemplateError> {
        let (mut pieces, mut rest) = (Vec::new(), text);
        while let Some((before, after)) = rest.split_once("{{") {
            let (action, behind) = after.split_once("}}").ok_or(TemplateError::Open)?;
            pieces.push(Piece::Text(before.to_owned()));
            pieces.push(match action.trim() {
                ".Package" => Piece::Package,
                ".Name" => Piece::Name,
                ".Version" => Piece::Version,
                other => return Err(TemplateError::Unknown(other.to_owned())),
            });
            rest = behind;
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }
}

impl ImageTemplate {
    /// The image reference of a bundle.
    pub fn fill(&self, package: &str, name: &str, version: &str) -> String {
        let pieces = self.0.iter().map(|piece| match piece {
            Piece::Text(text) => text.as_str(),
            Piece::Package => package,
            Piece::Name => name,
            Piece::Version => version,
        });
        pieces.collect()
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("", "")]
    #[case("q.io/{{.Package}}/{{ .Name }}:v{{.Version}}-1", "q.io/foo/foo.v1:v1.0.0-1")]
    #[case("}} {", "}} {")]
    fn fields_are_filled_in(#[case] pattern: &str, #[case] expected: &str) {
        let template: ImageTemplate = pattern.parse().unwrap();
        assert_eq!(template.fill("foo", "foo.v1", "1.0.0"), expected);
    }

    #[rstest]
    #[case("a{{.Package", "invalid image reference template: \"{{\" without \"}}\"")]
    #[case(
        "{{.Channel}}",
        "invalid image reference template: \".Channel\" is none of .Package, .Name and .Version"
    )]
    fn other_actions_are_refused(#[case] pattern: &str, #[case] message: &str) {
        assert_eq!(pattern.parse::<ImageTemplate>().unwrap_err().to_string(), message);
    }
}
