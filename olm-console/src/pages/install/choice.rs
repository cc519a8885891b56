//! What an installation is asked for, and which install modes fit.

use anyhow::{Result, anyhow, ensure};
use olm_plan::observed::name;
use olm_plan::preview::{self, Operation};
use olm_types::api::{InstallModeSet, InstallModeType, OperatorGroup};
use olm_types::bundle::CatalogKey;
use olm_types::document::{self, Budget, Meter};
use serde_json::Value;

use super::super::given;
use super::super::params::{Params, one_of};
use crate::command::CommandLine;
use crate::form::InvalidField;

/// Install modes in the order in which they are offered; the first that fits is the default.
const MODES: [&str; 4] = ["AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"];

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) package: String,
    pub(super) channel: Option<String>,
    pub(super) version: Option<String>,
    pub(super) catalog: Option<CatalogKey>,
    pub(super) is_manual: bool,
    /// For an OperatorGroup that has to be made.
    pub(super) mode: Option<preview::Mode>,
    /// As it was typed.
    pub(super) config: String,
}

/// An install mode, and why it is not offered.
pub(super) struct Mode {
    pub(super) value: &'static str,
    pub(super) is_chosen: bool,
    pub(super) why_not: String,
}

impl Choice {
    /// What an address or a form asks for.
    ///
    /// # Errors
    /// A field says what it may not.
    pub(super) fn of(params: &Params) -> Result<Self, InvalidField> {
        let text = |value: &Option<String>| given(value).map(str::to_owned);
        let posted = &params.posted;
        let package = text(&params.package)
            .ok_or_else(|| InvalidField::new("package", "it names nothing"))?;
        let catalog = given(&params.catalog).map(|catalog| match catalog.split_once('/') {
            Some((namespace, name)) => Ok(CatalogKey::new(namespace, name)),
            None => Err(InvalidField::new("catalog", "it is no NAMESPACE/NAME")),
        });
        let approval = one_of("approval", given(&posted.approval), &["Automatic", "Manual"])?;
        let mode = given(&posted.mode).map(|mode| read_mode(mode, given(&posted.targets)));
        Ok(Self {
            package,
            channel: text(&params.channel),
            version: text(&params.version),
            catalog: catalog.transpose()?,
            is_manual: approval == "Manual",
            mode: mode.transpose()?,
            config: posted.config.clone().unwrap_or_default(),
        })
    }

    /// The question for a plan.
    ///
    /// # Errors
    /// `spec.config` cannot be read.
    pub(super) fn wanted(&self) -> Result<Operation> {
        Ok(Operation::Install(preview::Install {
            package: self.package.clone(),
            channel: self.channel.clone(),
            version: self.version.clone(),
            catalog: self.catalog.clone(),
            is_manual: self.is_manual,
            install_mode: self.mode.clone(),
            config: self.read_config()?,
        }))
    }

    fn read_config(&self) -> Result<Option<Value>> {
        if self.config.trim().is_empty() {
            return Ok(None);
        }
        let read = document::yaml(&self.config, &mut Meter::in_all(Budget::OBJECT));
        let value = read.map_err(|error| anyhow!("field config: it is no YAML: {error}"))?;
        ensure!(value.is_object(), "field config: it has no fields, as env: or resources: are");
        Ok(Some(value))
    }

    /// The fields of the form that confirms it.
    pub(super) fn fields(&self, namespace: &str) -> Vec<(&'static str, String)> {
        let text = |value: &Option<String>| value.clone().unwrap_or_default();
        let all = [
            ("package", self.package.clone()),
            ("namespace", namespace.to_owned()),
            ("catalog", self.catalog.as_ref().map(ToString::to_string).unwrap_or_default()),
            ("channel", text(&self.channel)),
            ("version", text(&self.version)),
            ("approval", self.approval().to_owned()),
            ("mode", self.mode_and_targets().0),
            ("targets", self.mode_and_targets().1),
            ("config", self.config.clone()),
        ];
        all.into_iter().filter(|(_, value)| !value.is_empty()).collect()
    }

    /// The command that does the same.
    pub(super) fn command(&self, command: CommandLine) -> CommandLine {
        let catalog = self.catalog.as_ref().map(ToString::to_string);
        command
            .word("install")
            .word(&self.package)
            .flag("--channel", self.channel.as_deref())
            .flag("--version", self.version.as_deref())
            .flag("--source", catalog.as_deref())
            .flag("--approval", Some(self.approval()))
            .flag("--install-mode", self.mode.as_ref().map(ToString::to_string).as_deref())
    }

    /// The mode, and the namespaces that go with it, as a form has them.
    pub(super) fn mode_and_targets(&self) -> (String, String) {
        let text = self.mode.as_ref().map(ToString::to_string).unwrap_or_default();
        match text.split_once('=') {
            Some((mode, targets)) => (mode.to_owned(), targets.to_owned()),
            None => (text, String::new()),
        }
    }

    fn approval(&self) -> &'static str {
        if self.is_manual { "Manual" } else { "Automatic" }
    }
}

fn read_mode(mode: &str, targets: Option<&str>) -> Result<preview::Mode, InvalidField> {
    let mode = one_of("mode", Some(mode), &MODES)?;
    let text = match targets.filter(|_| ["SingleNamespace", "MultiNamespace"].contains(&mode)) {
        Some(targets) => format!("{mode}={}", targets.replace(' ', "")),
        None => mode.to_owned(),
    };
    text.parse().map_err(|why: preview::NoMode| InvalidField::new("targets", &why.to_string()))
}

/// Every install mode: what an OperatorGroup is made for, and why the rest is not offered.
pub(super) fn modes(
    supported: &InstallModeSet,
    groups: &[OperatorGroup],
    said: Option<&str>,
) -> Vec<Mode> {
    let why_not = |mode: InstallModeType| match groups.first() {
        Some(group) => {
            let group = name(&group.metadata);
            format!("OperatorGroup {group} is there already, and its target namespaces decide")
        }
        None if !supported.supports(mode) => "the operator does not support it".to_owned(),
        None => String::new(),
    };
    let mut all: Vec<Mode> = InstallModeType::ALL
        .into_iter()
        .map(|mode| Mode { value: mode.as_str(), is_chosen: false, why_not: why_not(mode) })
        .collect();
    all.sort_by_key(|mode| MODES.iter().position(|one| *one == mode.value));
    let offered = |mode: &&mut Mode| mode.why_not.is_empty();
    let chosen = all.iter().position(|mode| mode.why_not.is_empty() && said == Some(mode.value));
    match chosen {
        Some(place) => all.iter_mut().skip(place).take(1).for_each(|mode| mode.is_chosen = true),
        None => all.iter_mut().filter(offered).take(1).for_each(|mode| mode.is_chosen = true),
    }
    all
}

#[cfg(test)]
mod tests {
    use olm_types::api::InstallMode;
    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::csrf::Token;
    use crate::form::Form;

    fn choice(body: &str) -> Result<Choice, InvalidField> {
        let form = Form::read(body.as_bytes()).unwrap();
        Choice::of(&Params::default().with(Some(Token::default()), Some(&form)).unwrap())
    }

    #[rstest]
    #[case::nothing("", "package")]
    #[case::catalog("package=kettle&catalog=kitchen", "catalog")]
    #[case::approval("package=kettle&approval=%3Cscript%3E", "approval")]
    #[case::mode("package=kettle&mode=Everywhere", "mode")]
    #[case::no_targets("package=kettle&mode=MultiNamespace", "targets")]
    #[case::target("package=kettle&mode=SingleNamespace&targets=../a", "targets")]
    fn what_is_not_offered_is_refused_by_its_field(#[case] body: &str, #[case] field: &str) {
        assert_eq!(choice(body).unwrap_err().field, field);
    }

    #[test]
    fn what_is_confirmed_is_what_was_asked_for() {
        let body = "package=kettle&catalog=olm/kitchen&channel=stable&version=1.0.0&approval=Manual&\
                    mode=MultiNamespace&targets=b, a&config=env:%0D%0A- name: A";
        let first = choice(body).unwrap();
        let fields = first.fields("ns");
        let mut body = form_urlencoded::Serializer::new(String::new());
        for (field, value) in &fields {
            body.append_pair(field, value);
        }
        assert_eq!(choice(&body.finish()).unwrap(), first);
        let Operation::Install(install) = first.wanted().unwrap() else {
            panic!("another question")
        };
        assert_eq!(install.config, Some(json!({"env": [{"name": "A"}]})));
        assert!(install.is_manual);
        let command = first.command(CommandLine::new(&[], "ns")).line();
        let expected = "kubectl olm -n ns install kettle --channel stable --version 1.0.0 --source olm/kitchen \
                        --approval Manual --install-mode 'MultiNamespace=a,b'";
        assert_eq!(command, expected);
    }

    #[rstest]
    #[case("env: [")]
    #[case("text")]
    #[case("- a")]
    fn a_config_that_is_none_is_refused_by_name(#[case] config: &str) {
        let config = Choice { config: config.to_owned(), ..choice("package=kettle").unwrap() };
        let error = config.wanted().unwrap_err().to_string();
        assert!(error.starts_with("field config: "), "{error}");
    }

    #[test]
    fn only_modes_that_fit_are_offered() {
        let mode = |type_: &str| InstallMode { type_: type_.to_owned(), supported: true };
        let supported = InstallModeSet::of(&[mode("OwnNamespace"), mode("MultiNamespace")]);
        let shown = |groups: &[OperatorGroup], said| -> Vec<(&str, bool, bool)> {
            let all = modes(&supported, groups, said);
            all.iter().map(|one| (one.value, one.is_chosen, one.why_not.is_empty())).collect()
        };
        let expected = [
            ("AllNamespaces", false, false),
            ("OwnNamespace", true, true),
            ("SingleNamespace", false, false),
            ("MultiNamespace", false, true),
        ];
        assert_eq!(shown(&[], None), expected);
        assert_eq!(shown(&[], Some("AllNamespaces")), expected);
        let group: OperatorGroup =
            serde_json::from_value(json!({"metadata": {"name": "mine"}, "spec": {}})).unwrap();
        assert!(shown(&[group], None).iter().all(|(_, chosen, offered)| !chosen && !offered));
    }
}
