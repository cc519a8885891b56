//! What an address, or a form, says about a page.

use serde::Deserialize;

use super::given;
use crate::csrf::Token;
use crate::form::{Form, InvalidField};

/// Characters of a hash.
const HASH: usize = 64;

/// What an address, or a form, says about a page. What is empty is as if it were not there.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Params {
    pub(super) namespace: Option<String>,
    pub(super) q: Option<String>,
    /// An API, as KIND or KIND.GROUP.
    pub(super) provides: Option<String>,
    pub(super) name: Option<String>,
    pub(super) catalog: Option<String>,
    pub(super) category: Option<String>,
    pub(super) capability: Option<String>,
    pub(super) channel: Option<String>,
    pub(super) version: Option<String>,
    pub(super) page: Option<String>,
    /// The package of an installation.
    pub(super) package: Option<String>,
    /// Which of the examples.
    pub(super) example: Option<String>,
    /// Which report of a removal.
    pub(super) report: Option<String>,
    /// `true` where all namespaces are looked at; the one that is named is where links of the menu lead.
    pub(super) all: Option<String>,
    /// Of forms only.
    #[serde(skip)]
    pub(super) posted: Posted,
    /// What the forms of the session have.
    #[serde(skip)]
    pub(super) token: Token,
}

/// What only a form says.
#[derive(Clone, Debug, Default)]
pub(super) struct Posted {
    is_posted: bool,
    /// Which of the form's buttons.
    pub(super) step: Option<String>,
    pub(super) approval: Option<String>,
    pub(super) mode: Option<String>,
    pub(super) targets: Option<String>,
    pub(super) config: Option<String>,
    pub(super) plan_hash: Option<String>,
    pub(super) install_plan: Option<String>,
    pub(super) resource_version: Option<String>,
    pub(super) operands: Option<String>,
    pub(super) object: Option<String>,
}

impl Params {
    /// With what a request says beside its address. What is posted counts alone.
    ///
    /// # Errors
    /// The form has a field that no form has.
    pub(crate) fn with(
        self,
        token: Option<Token>,
        form: Option<&Form>,
    ) -> Result<Self, InvalidField> {
        let token = token.unwrap_or_default();
        let Some(form) = form else { return Ok(Self { token, ..self }) };
        let mut params = Self { token, ..Self::default() };
        params.posted.is_posted = true;
        for (field, value) in form.fields() {
            let place = params.place(field);
            *place.ok_or_else(|| InvalidField::new(field, "there is no such field"))? =
                Some(value.to_owned());
        }
        Ok(params)
    }

    /// Whether a form was posted.
    pub(crate) fn is_posted(&self) -> bool {
        self.posted.is_posted
    }

    /// Whether all namespaces are looked at.
    pub(super) fn is_of_all(&self) -> bool {
        given(&self.all) == Some("true")
    }

    /// Which button of a form was used.
    pub(super) fn step(&self) -> &str {
        given(&self.posted.step).unwrap_or_default()
    }

    /// The hash of what was shown.
    ///
    /// # Errors
    /// There is none.
    pub(super) fn hash(&self) -> Result<&str, InvalidField> {
        let hash = given(&self.posted.plan_hash).unwrap_or_default();
        let is_hash = hash.len() == HASH && hash.chars().all(|c| c.is_ascii_hexdigit());
        if is_hash {
            Ok(hash)
        } else {
            Err(InvalidField::new("plan_hash", "it is no hash of a plan"))
        }
    }

    fn place(&mut self, field: &str) -> Option<&mut Option<String>> {
        let posted = &mut self.posted;
        Some(match field {
            "namespace" => &mut self.namespace,
            "name" => &mut self.name,
            "catalog" => &mut self.catalog,
            "channel" => &mut self.channel,
            "version" => &mut self.version,
            "package" => &mut self.package,
            "example" => &mut self.example,
            "do" => &mut posted.step,
            "approval" => &mut posted.approval,
            "mode" => &mut posted.mode,
            "targets" => &mut posted.targets,
            "config" => &mut posted.config,
            "plan_hash" => &mut posted.plan_hash,
            "install_plan" => &mut posted.install_plan,
            "resource_version" => &mut posted.resource_version,
            "operands" => &mut posted.operands,
            "object" => &mut posted.object,
            _ => return None,
        })
    }
}

/// One of some values, the first where none is given.
///
/// # Errors
/// It is another one.
pub(super) fn one_of<'a>(
    field: &str,
    value: Option<&str>,
    known: &[&'a str],
) -> Result<&'a str, InvalidField> {
    let found = match value {
        None => known.first(),
        Some(value) => known.iter().find(|one| **one == value),
    };
    found
        .copied()
        .ok_or_else(|| InvalidField::new(field, &format!("it is none of {}", known.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posted(body: &str) -> Result<Params, InvalidField> {
        let form = Form::read(body.as_bytes()).unwrap();
        let asked = Params { name: Some("other".to_owned()), ..Params::default() };
        asked.with(Some(Token::of("session")), Some(&form))
    }

    #[test]
    fn what_is_posted_counts_alone() {
        let found = posted("package=kettle&do=plan&config=a").unwrap();
        assert!(found.is_posted() && found.name.is_none());
        assert_eq!((found.package.as_deref(), found.step()), (Some("kettle"), "plan"));
        assert_eq!(found.token, Token::of("session"));
        let asked = Params { package: Some("kettle".to_owned()), ..Params::default() };
        let asked = asked.with(Some(Token::of("session")), None).unwrap();
        assert!(!asked.is_posted() && asked.step().is_empty());
    }

    #[test]
    fn a_field_that_no_form_has_is_refused() {
        assert_eq!(posted("name=a&is_posted=true").unwrap_err().field, "is_posted");
        assert_eq!(posted("report=a").unwrap_err().field, "report");
    }

    #[test]
    fn all_namespaces_are_looked_at_where_that_is_asked_for() {
        let asked = |all: Option<&str>| Params { all: all.map(str::to_owned), ..Params::default() };
        assert!(asked(Some("true")).is_of_all());
        for all in [None, Some(""), Some("false"), Some("*")] {
            assert!(!asked(all).is_of_all(), "{all:?}");
        }
        assert_eq!(posted("all=true").unwrap_err().field, "all", "a change is in one");
    }

    #[test]
    fn a_hash_is_one() {
        for hash in ["", "0", "../../secrets", &"g".repeat(HASH), &"0".repeat(HASH + 1)] {
            assert!(posted(&format!("plan_hash={hash}")).unwrap().hash().is_err(), "{hash}");
        }
        let hash = "0a".repeat(HASH / 2);
        assert_eq!(posted(&format!("plan_hash={hash}")).unwrap().hash(), Ok(hash.as_str()));
    }

    #[test]
    fn a_choice_is_one_of_those_that_there_are() {
        let known = ["Automatic", "Manual"];
        assert_eq!(one_of("approval", None, &known), Ok("Automatic"));
        assert_eq!(one_of("approval", Some("Manual"), &known), Ok("Manual"));
        let refused = one_of("approval", Some("<script>"), &known).unwrap_err();
        assert_eq!(refused.line(), "field approval: it is none of Automatic, Manual");
    }
}
