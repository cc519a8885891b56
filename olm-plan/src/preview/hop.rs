//! One reconcile of OLM in a namespace: it resolves, makes an InstallPlan, and executes it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use olm_lifecycle::crd;
use olm_lifecycle::install_plan::component_labels;
use olm_lifecycle::install_plan::execution::{Execution, NoteKind, Scope};
use olm_lifecycle::install_plan::request::PlanRequest;
use olm_lifecycle::install_plan::steps::{self, BundleInput};
use olm_lifecycle::subscription::holding;
use olm_lifecycle::subscription::resolution::{self, Choice, Namespace, Selection, parts};
use olm_lifecycle::unpack::{Unpacked, UnpackedBundle};
use olm_resolver::{Chosen, InstalledCsv, Refusal, ResolutionRequest, Resolver, SubscriptionFacts};
use olm_types::api::{ClusterServiceVersion, OperatorGroup, Subscription, UpgradeStrategy};
use olm_types::bundle::{BundleContent, Entry, Universe};
use olm_types::properties::annotation;
use serde_json::json;

use super::PreviewRequest;
use super::crds::{crd_names, verdicts};
use super::forward::own_csvs;
use super::known::{Content, Key, ReadRequest, bundle_key};
use super::namespace::{is_declared, namespace};
use super::result::{Bundle, Hop, Preview};
use super::waiting::{comes_first, repeat};
use super::world::World;
use crate::observed::name;

/// Reconciles of a namespace, one after the other.
pub(super) struct Reconciler<'a> {
    /// What is asked for.
    pub(super) asked: &'a PreviewRequest,
    /// The bundles that there are.
    pub(super) universe: &'a dyn Universe,
    /// Subscriptions whose InstallPlans are to be done first, and the CSVs that they get.
    pub(super) pending: BTreeMap<String, String>,
}

/// What one reconcile comes to.
#[derive(Debug, Default)]
pub(super) struct Reconciled {
    /// The InstallPlans, one for each part of the solution, executed.
    pub(super) done: Vec<Done>,
    /// Who gets nothing, and why.
    pub(super) refusals: Vec<Refusal>,
    /// What is held back, and why.
    pub(super) blocked: BTreeMap<String, String>,
}

/// An InstallPlan, and what it is about.
#[derive(Debug)]
pub(super) struct Done {
    /// The plan.
    pub(super) hop: Hop,
    /// The namespace before it.
    pub(super) namespace: Namespace,
    /// What it is for.
    pub(super) selection: Selection,
    /// The bundles that it brings.
    pub(super) selected: Vec<Choice>,
    /// CSVs of which only properties are known.
    pub(super) unknown: BTreeSet<String>,
}

/// The manifests of the bundles of a selection, as far as they are known.
#[derive(Default)]
struct Read {
    inline: Vec<BundleInput>,
    unpacked: Vec<Unpacked>,
    /// What is not known, and why.
    unknown: Vec<(Arc<Entry>, String)>,
}

impl Reconciler<'_> {
    /// Reconciles once.
    pub(super) fn reconcile(&self, world: &mut World<'_>, preview: &mut Preview) -> Reconciled {
        let asked = self.asked;
        let csvs = own_csvs(world, &asked.namespace);
        let namespace = namespace(asked, world, &csvs);
        let request = self.request(&namespace, &csvs);
        let outcome = Resolver::default().outcome(&request, asked.settings.resolution);
        let blocked = outcome.blocked.iter();
        let blocked =
            blocked.map(|one| (one.subscription.clone(), one.explanation.summary())).collect();
        let refusals = outcome.refusals;
        let chosen = &outcome.resolution.chosen;
        let refused = refusals.iter().flat_map(|refusal| &refusal.subscriptions).cloned().collect();
        let choices: Vec<Choice> = chosen.iter().map(choice).collect();
        let mut parts = parts(&namespace, &namespace.without(&refused), &choices);
        parts.retain(|part| is_asked_by(&preview.subscription, &part.selection));
        let done = parts.iter().filter_map(|part| {
            installed(asked, world, &namespace, &part.selection, chosen, preview)
        });
        Reconciled { done: done.collect(), refusals, blocked }
    }

    fn request(
        &self,
        namespace: &Namespace,
        csvs: &[ClusterServiceVersion],
    ) -> ResolutionRequest<'_> {
        let all = namespace.subscriptions.iter();
        let held = namespace.held.iter();
        ResolutionRequest {
            subscriptions: all.map(|one| self.facts(one)).collect(),
            held: held
                .filter_map(|one| Some(SubscriptionFacts::held(one, holding(one)?)))
                .collect(),
            installed: csvs.iter().map(InstalledCsv::from).collect(),
            fail_forward: namespace.groups.iter().any(|group| fails_forward(group)),
            ..ResolutionRequest::new(&self.asked.namespace, self.universe)
        }
    }

    /// One whose InstallPlan is to be done first gets what that brings, as if it were pinned to it.
    fn facts(&self, subscription: &Subscription) -> SubscriptionFacts {
        let facts = SubscriptionFacts::from(subscription);
        let csv = self.pending.get(&facts.name);
        let Some(csv) = csv.filter(|csv| facts.installed_csv.as_ref() != Some(csv)) else {
            return facts;
        };
        let is_there = self.universe.by_package(&facts.package).iter().any(|it| *it.name == **csv);
        match is_there {
            true => SubscriptionFacts { starting_csv: Some(csv.clone()), pinned: true, ..facts },
            false => facts,
        }
    }
}

/// Whether the Subscription needs something of it. What its siblings get comes with or without it.
fn is_asked_by(subscription: &String, selection: &Selection) -> bool {
    let asks = selection.asks.iter().flat_map(|asks| asks.values());
    asks.into_iter().any(|ask| ask.by.contains(subscription))
}

fn choice(chosen: &Chosen) -> Choice {
    Choice {
        entry: Arc::clone(&chosen.entry),
        replaces: chosen.replaces.as_deref().map(str::to_owned),
        needed_by: chosen.needed_by.clone(),
        part: chosen.part,
    }
}

/// The plan for a part of what was chosen, executed. None when no Subscription would follow it.
fn installed(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    namespace: &Namespace,
    selection: &Selection,
    chosen: &[Chosen],
    preview: &mut Preview,
) -> Option<Done> {
    if selection.updates.is_empty() {
        return None;
    }
    let mut problems = Vec::new();
    let read = read(world, selection, &mut problems);
    let planned = resolution::plan(namespace, selection, &read.inline, &read.unpacked);
    let mut request = match planned {
        Ok(request) => request,
        Err(error) => {
            problems.push(error.to_string());
            None
        }
    };
    problems.extend(comes_first(asked, namespace, selection));
    preview.problems.append(&mut problems);
    let repeated = request.as_mut().map(|request| repeat(namespace, request, preview));
    let selected: Vec<Choice> = selection
        .inline
        .iter()
        .chain(selection.images.iter().map(|(choice, _)| choice))
        .cloned()
        .collect();
    let mut hop = hop(namespace, selection, &selected, chosen, request.as_ref());
    hop.is_approved = hop.waits() && request.as_ref().is_some_and(|it| is_declared(it, namespace));
    hop.list(&repeated.unwrap_or_default());
    if let Some(request) = &request {
        execute(asked, world, request, &read, preview);
    }
    for (entry, why) in &read.unknown {
        stand_in(world, &asked.namespace, entry);
        let what = match &entry.content {
            BundleContent::Image(image) => format!("bundle image {image} ({}): {why}", entry.name),
            BundleContent::Inline => format!("manifests of bundle {}: {why}", entry.name),
        };
        if !preview.unknown.contains(&what) {
            preview.unknown.push(what);
        }
    }
    let unknown = read.unknown.iter().map(|(entry, _)| entry.name.to_string()).collect();
    let (namespace, selection) = (namespace.clone(), selection.clone());
    Some(Done { hop, namespace, selection, selected, unknown })
}

fn fails_forward(group: &OperatorGroup) -> bool {
    group.spec.upgrade_strategy == Some(UpgradeStrategy::TechPreviewUnsafeFailForward)
}

/// The manifests of a selection; what is not known yet becomes a need.
fn read(world: &mut World<'_>, selection: &Selection, problems: &mut Vec<String>) -> Read {
    let mut read = Read::default();
    for choice in &selection.inline {
        if let Some(bundle) = content(world, &choice.entry, &mut read.unknown) {
            read.inline.push(BundleInput {
                entry: Arc::clone(&choice.entry),
                replaces: choice.replaces.clone(),
                csv_json: bundle.csv_json.clone(),
                objects: bundle.objects.clone(),
            });
        }
    }
    for (choice, image) in &selection.images {
        let entry = &choice.entry;
        let Some(bundle) = content(world, entry, &mut read.unknown) else { continue };
        let unpacked = steps::bundle_lookup(entry, image, choice.replaces.as_deref())
            .and_then(|lookup| Unpacked::new(lookup, Arc::clone(entry), (*bundle).clone()));
        match unpacked {
            Ok(unpacked) => read.unpacked.push(unpacked),
            Err(error) => problems.push(error.to_string()),
        }
    }
    read
}

fn content(
    world: &mut World<'_>,
    entry: &Arc<Entry>,
    unknown: &mut Vec<(Arc<Entry>, String)>,
) -> Option<Arc<UnpackedBundle>> {
    match world.bundle(&bundle_key(entry)) {
        Some(Content::Read(bundle)) => Some(bundle),
        Some(Content::Unknown(why)) => {
            unknown.push((Arc::clone(entry), why));
            None
        }
        None => {
            world.needs.push(ReadRequest::Bundle(Arc::clone(entry)));
            unknown.push((Arc::clone(entry), String::new()));
            None
        }
    }
}

fn hop(
    namespace: &Namespace,
    selection: &Selection,
    selected: &[Choice],
    chosen: &[Chosen],
    request: Option<&PlanRequest>,
) -> Hop {
    let bundle = |choice: &Choice| {
        let entry = &choice.entry;
        let why = chosen.iter().find(|one| Arc::ptr_eq(&one.entry, entry));
        let deprecations = &entry.deprecations;
        let deprecated = [&deprecations.package, &deprecations.channel, &deprecations.bundle];
        Bundle {
            csv: entry.name.to_string(),
            package: entry.package.to_string(),
            version: entry.version.as_ref().map(ToString::to_string),
            channel: entry.channel.to_string(),
            catalog: entry.catalog.to_string(),
            replaces: choice.replaces.clone().filter(|old| namespace.csvs.contains_key(old)),
            because: why.iter().flat_map(|one| &one.wanted_by).map(ToString::to_string).collect(),
            is_dependency: selection.dependencies.iter().any(|one| Arc::ptr_eq(one, entry)),
            deprecated: deprecated.into_iter().flatten().map(ToString::to_string).collect(),
        }
    };
    let mut hop = Hop {
        approval: resolution::approval(namespace, selection).as_str(),
        is_approved: false,
        bundles: selected.iter().map(bundle).collect(),
        steps: Vec::new(),
        manifests: Vec::new(),
    };
    hop.list(request.map(|request| request.steps.as_slice()).unwrap_or_default());
    hop
}

/// Executes the plan on the world, and judges the CRDs among its steps.
fn execute(
    asked: &PreviewRequest,
    world: &mut World<'_>,
    request: &PlanRequest,
    read: &Read,
    preview: &mut Preview,
) {
    let crds_before: BTreeSet<String> = crd_names(world);
    let mut execution = Execution::new(scope(asked, world, request), request.steps.clone());
    for reference in execution.bundles() {
        let held = read.unpacked.iter().find(|one| {
            olm_types::hash::unpack_name(&one.lookup.path) == reference.name
                && one.lookup.replaces == reference.replaces
        });
        let bundle = held.map(|one| UnpackedBundle {
            csv_name: one.lookup.identifier.clone(),
            csv_json: one.input.csv_json.clone(),
            objects: one.input.objects.clone(),
        });
        execution.provide(&reference, bundle.ok_or_else(|| "the bundle is not known".to_owned()));
    }
    while let Some(asked) = execution.next_request() {
        let reply = world.answer(asked);
        execution.accept_reply(reply);
    }
    let ended = execution.finish();
    verdicts(world, &ended, &crds_before, preview);
    if let Some(failure) = &ended.failure {
        preview.problems.push(failure.to_string());
    }
    for note in &ended.notes {
        let is_said = matches!(note.what, NoteKind::TakenOver | NoteKind::CopyKept(_));
        if let Some(step) = ended.steps.get(note.step).filter(|_| is_said) {
            preview.notes.push(note.text(step));
        }
    }
}

fn scope(asked: &PreviewRequest, world: &World<'_>, request: &PlanRequest) -> Scope {
    let plan = request.object(&[]);
    let mut csvs: Vec<Arc<ClusterServiceVersion>> =
        world.typed(ClusterServiceVersion::KIND, None).into_iter().map(Arc::new).collect();
    csvs.retain(|csv| {
        let labels = csv.metadata.labels.as_ref();
        !labels.is_some_and(|labels| labels.contains_key(olm_types::labels::COPIED_FROM))
    });
    let place = |csv: &Arc<ClusterServiceVersion>| {
        let metadata = &csv.metadata;
        (metadata.namespace.clone().unwrap_or_default(), name(metadata).to_owned())
    };
    let mut scope = Scope::default();
    scope.namespace.clone_from(&asked.namespace);
    name(&plan.metadata).clone_into(&mut scope.plan);
    scope.operator_namespace.clone_from(&asked.settings.namespace);
    scope.keeps_stored_versions = asked.settings.keeps_stored_versions;
    scope.csvs = csvs.iter().map(place).collect();
    scope.crd_owners = crd::owners(&csvs);
    scope.wanted = plan.spec.cluster_service_version_names.iter().cloned().collect();
    let subscriptions: Vec<Arc<Subscription>> = world.all(Some(&asked.namespace));
    scope.components = component_labels(&request.steps, &subscriptions, &asked.namespace);
    scope
}

/// A CSV of which only its properties are known, so that later reconciles know that it is installed.
fn stand_in(world: &mut World<'_>, namespace: &str, entry: &Entry) {
    let key: Key = super::prepare::olm_key(ClusterServiceVersion::KIND, namespace, &entry.name);
    if world.get(&key).is_some() {
        return;
    }
    let properties = annotation::print(&entry.properties).unwrap_or_default();
    let version = entry.version.as_ref().map(ToString::to_string);
    world.create(json!({"apiVersion": ClusterServiceVersion::API_VERSION,
        "kind": ClusterServiceVersion::KIND,
        "metadata": {"name": &*entry.name, "namespace": namespace,
            "annotations": {olm_types::annotations::PROPERTIES: properties}},
        "spec": {"version": version, "install": {"strategy": "deployment"}, "displayName": ""}}));
}
