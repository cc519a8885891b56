//! The upgrade of one definition that exists, from the first check to the object that is written.
//!
//! Existing objects come in pages and are forgotten page by page. What is needed next is a
//! [`UpgradeRequest`]; the machine that executes steps meets it.

use std::collections::{BTreeSet, VecDeque};

use olm_effect::{Effect, Outcome, Refusal, Resource};
use serde_json::Value;

use super::schema::{CheckBudget, in_words};
use super::versions::{self, VersionCheck};
use super::{CrdError, CrdOwner, alongside, conversion, removal, stored_versions, text, unchanged};

/// How often a listing starts anew after the API server forgot where it was.
const RESTARTS: u8 = 2;

/// What an upgrade needs next.
#[derive(Clone, Debug, PartialEq)]
pub enum UpgradeRequest {
    /// A page of all objects of a kind, in all namespaces, after this token.
    Page(Resource, Option<String>),
    /// A write, made by the operator itself.
    Write(Effect),
    /// Nothing: this object may be written.
    Ready(Value),
    /// Nothing: the definition is as desired, and this merge patch of its metadata may be written.
    Touch(Value),
}

/// Who has a say in a definition.
#[derive(Clone, Debug, Default)]
pub struct Owners<'a> {
    /// CSVs that own it.
    pub owners: BTreeSet<CrdOwner>,
    /// `(namespace, name)` of the CSV that it is installed alongside.
    pub current: (&'a str, &'a str),
    /// `(namespace, name)` of all CSVs that are not copies.
    pub existing: Option<&'a BTreeSet<(String, String)>>,
    /// Whether stored versions stay, so that a definition without one of them is refused.
    pub keeps_stored_versions: bool,
}

/// An upgrade in progress.
#[derive(Debug)]
pub struct Upgrade {
    live: Value,
    desired: Value,
    /// Whether nothing but metadata changes.
    unchanged: bool,
    checks: VecDeque<VersionCheck>,
    retired: Vec<String>,
    /// Objects of the last page that have to be written anew.
    to_write: VecDeque<Effect>,
    /// Whether all objects were written anew.
    rewritten: bool,
    /// How many were.
    count: usize,
    /// What has to be reported of that.
    reported: Option<String>,
    keeps_stored_versions: bool,
    token: Option<String>,
    restarts: u8,
    warning: Option<String>,
}

impl Upgrade {
    /// Begins the upgrade of `live` to `desired`.
    ///
    /// # Errors
    /// It is refused without a look at existing objects.
    pub fn begin(live: Value, desired: &Value, owners: &Owners<'_>) -> Result<Self, CrdError> {
        removal::check(&live, desired, &owners.owners)?;
        let mut object = desired.clone();
        let exists = |namespace: &str, name: &str| {
            let csv = (namespace.to_owned(), name.to_owned());
            owners.existing.is_none_or(|existing| existing.contains(&csv))
        };
        alongside::merge(&mut object, &live, owners.current, exists);
        conversion::keep(&mut object, &live);
        unchanged::keep_component_labels(&mut object, &live);
        let unchanged = unchanged::is_specified(&live, &object);
        let checks = if unchanged { Vec::new() } else { versions::to_check(&live, desired)? };
        Ok(Self {
            checks: checks.into(),
            unchanged,
            desired: object,
            live,
            retired: Vec::new(),
            to_write: VecDeque::new(),
            rewritten: false,
            count: 0,
            reported: None,
            keeps_stored_versions: owners.keeps_stored_versions,
            token: None,
            restarts: 0,
            warning: None,
        })
    }

    /// Whether nothing but metadata changes.
    pub fn is_unchanged(&self) -> bool {
        self.unchanged
    }

    /// What is needed next.
    ///
    /// # Errors
    /// The upgrade is refused.
    pub fn request(&mut self) -> Result<UpgradeRequest, CrdError> {
        if self.unchanged {
            return Ok(UpgradeRequest::Touch(unchanged::metadata_patch(&self.live, &self.desired)));
        }
        if let Some(check) = self.checks.front() {
            return Ok(UpgradeRequest::Page(self.resource(&check.version), self.token.clone()));
        }
        if let Some(effect) = self.to_write.front() {
            return Ok(UpgradeRequest::Write(effect.clone()));
        }
        if self.retired.is_empty() {
            let keep = self.keeps_stored_versions;
            self.retired = stored_versions::to_retire(&self.live, &self.desired, keep)?;
        }
        if self.retired.is_empty() {
            return Ok(UpgradeRequest::Ready(self.object()));
        }
        Ok(match self.rewritten {
            true => UpgradeRequest::Write(stored_versions::retire(&self.live, &self.retired)),
            false => UpgradeRequest::Page(
                self.resource(versions::readable(&self.live)),
                self.token.clone(),
            ),
        })
    }

    /// Takes in a page of objects, and the token of the next one.
    ///
    /// # Errors
    /// One of them is not valid under the new schema, or this cannot be found out.
    pub fn page(&mut self, items: &[Value], next: Option<String>) -> Result<(), CrdError> {
        self.token = next.filter(|token| !token.is_empty());
        let Some(check) = self.checks.front() else {
            let resource = self.resource(versions::readable(&self.live));
            self.to_write
                .extend(items.iter().map(|item| stored_versions::rewrite(&resource, item)));
            self.rewritten = self.token.is_none();
            return Ok(());
        };
        let budget = CheckBudget::default();
        let found = items.iter().find_map(|item| self.violation(check, item, &budget));
        if budget.is_exhausted() {
            return Err(CrdError::TooCostly { name: self.name(), version: check.version.clone() });
        }
        if let Some(error) = found {
            return self.tolerate(error);
        }
        if self.token.is_none() {
            self.checks.pop_front();
        }
        Ok(())
    }

    /// Takes in that a page could not be read.
    ///
    /// # Errors
    /// Unless the listing only has to begin anew.
    pub fn unlisted(&mut self, cause: Refusal) -> Result<(), CrdError> {
        if cause.code == 410 && self.token.take().is_some() && self.restarts < RESTARTS {
            self.restarts += 1;
            return Ok(());
        }
        Err(CrdError::Unlisted { name: self.name(), cause })
    }

    /// Takes in what became of a write.
    ///
    /// # Errors
    /// It was refused.
    pub fn written(&mut self, outcome: Outcome) -> Result<(), CrdError> {
        let effect = self.to_write.pop_front();
        match (outcome, effect) {
            (Outcome::Refused(cause), effect) => {
                let object = effect.map_or_else(
                    || "the definition".to_owned(),
                    |effect| effect.target.to_string(),
                );
                let version = self.retired.first().cloned().unwrap_or_default();
                Err(CrdError::NotRewritten {
                    name: self.name(),
                    version,
                    object,
                    cause: Box::new(cause),
                })
            }
            (Outcome::Changed(live), None) => {
                self.live = live;
                self.reported = Some(self.retirement());
                self.retired.clear();
                Ok(())
            }
            (_, Some(_)) => {
                self.count += 1;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The definition as it was found.
    pub fn live(&self) -> &Value {
        &self.live
    }

    /// What has to be reported although the upgrade goes on.
    pub(crate) fn take_warning(&mut self) -> Option<String> {
        self.warning.take()
    }

    /// Which objects were written anew, and what for, once that is done.
    pub(crate) fn take_rewritten(&mut self) -> Option<String> {
        self.reported.take()
    }

    fn retirement(&self) -> String {
        format!(
            "{} object(s) of CRD {:?} were written anew, so that none is stored in {}, which the new CRD does not have",
            self.count,
            self.name(),
            self.retired.join(", ")
        )
    }

    /// Existing objects will go through the new conversion webhook, which may make them valid.
    fn tolerate(&mut self, error: CrdError) -> Result<(), CrdError> {
        if text(&self.desired, "/spec/conversion/strategy") != "Webhook" {
            return Err(error);
        }
        self.warning = Some(format!(
            "existing objects are not valid under the new schema of CRD {:?}, which is upgraded nevertheless: it \
             brings a conversion webhook that may make them valid. {error}",
            self.name()
        ));
        self.checks.clear();
        self.token = None;
        Ok(())
    }

    fn violation(
        &self,
        check: &VersionCheck,
        item: &Value,
        budget: &CheckBudget,
    ) -> Option<CrdError> {
        let findings = in_words(&check.schema.check(item, budget))?;
        let group = text(&self.desired, "/spec/group");
        let kind =
            format!("{group}/{}, Kind={}", check.version, text(&self.desired, "/spec/names/kind"));
        let object = match (text(item, "/metadata/namespace"), text(item, "/metadata/name")) {
            ("", name) => name.to_owned(),
            (namespace, name) => format!("{namespace}/{name}"),
        };
        Some(CrdError::TooRestrictive { name: self.name(), kind, object, findings })
    }

    /// The definition to be written over the live one, guarded by its resourceVersion.
    fn object(&self) -> Value {
        let mut object = self.desired.clone();
        for field in ["resourceVersion", "uid"] {
            if let (Some(metadata), Some(value)) = (
                object.pointer_mut("/metadata").and_then(Value::as_object_mut),
                self.live.pointer(&format!("/metadata/{field}")),
            ) {
                metadata.insert(field.to_owned(), value.clone());
            }
        }
        object
    }

    fn resource(&self, version: &str) -> Resource {
        let part = |pointer| text(&self.desired, pointer);
        Resource::new(
            part("/spec/group"),
            version,
            part("/spec/names/kind"),
            part("/spec/names/plural"),
        )
    }

    fn name(&self) -> String {
        text(&self.live, "/metadata/name").to_owned()
    }
}
