//! From nothing to a served certificate, and from one certificate to the next.

use olm_effect::IssuedServer;
use rcgen::{
    BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, SanType,
};

use super::*;
use crate::certificates::trusts;

fn now() -> Timestamp {
    "2026-03-01T00:00:00Z".parse().unwrap()
}

/// A certificate that ends in the given year.
fn issue(order: &CertificateOrder, year: i32) -> Issued {
    let params = |name: &str| {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.not_before = rcgen::date_time_ymd(2020, 1, 1);
        params.not_after = rcgen::date_time_ymd(year, 1, 1);
        params
    };
    let mut authority = params(&format!("authority until {year}"));
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let mut server = params("server");
    server.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    server.subject_alt_names = order.servers[SECRET]
        .iter()
        .map(|host| SanType::DnsName(host.as_str().try_into().unwrap()))
        .collect();
    let key = KeyPair::generate().unwrap();
    let certificate = server.signed_by(&key, &issuer).unwrap().pem();
    let server = IssuedServer { certificate, key: key.serialize_pem() };
    Issued { authority: pem, not_after: now(), servers: [(SECRET.to_owned(), server)].into() }
}

/// The cluster after a write of the Secret.
fn stored(observed: &Observed, issued: &Issued) -> Observed {
    let effect = store(observed, issued).unwrap();
    let (Action::Create(object) | Action::Replace { object, .. }) = effect.action else {
        panic!("not written as a whole")
    };
    let mut observed = observed.clone();
    observed.secret = Some(serde_json::from_value(object).unwrap());
    observed
}

fn announced(observed: &Observed) -> Observed {
    let Decision::Announce(effect) = decide(observed, now()) else { panic!("nothing to announce") };
    let Action::MergePatch { patch, .. } = effect.action else { panic!("no patch") };
    let mut observed = observed.clone();
    let service = json!({"metadata": {"name": API_SERVICE}, "spec": {
        "caBundle": patch["spec"]["caBundle"], "group": "packages.operators.coreos.com",
        "groupPriorityMinimum": 2000, "version": "v1", "versionPriority": 15,
    }});
    observed.api_service = Some(serde_json::from_value(service).unwrap());
    observed
}

fn shown(observed: &Observed) -> Observed {
    let Decision::Show(serving) = decide(observed, now()) else { panic!("nothing to show") };
    Observed { shown: Some(serving), ..observed.clone() }
}

fn empty() -> Observed {
    let service = json!({"metadata": {"name": API_SERVICE}, "spec": {
        "group": "packages.operators.coreos.com", "groupPriorityMinimum": 2000, "version": "v1",
        "versionPriority": 15,
    }});
    Observed {
        namespace: "olm".to_owned(),
        api_service: Some(serde_json::from_value(service).unwrap()),
        ..Observed::default()
    }
}

fn order(observed: &Observed) -> CertificateOrder {
    let Decision::Issue(order) = decide(observed, now()) else { panic!("nothing to issue") };
    order
}

#[test]
fn a_certificate_is_issued_announced_and_shown() {
    let observed = empty();
    let order = order(&observed);
    assert_eq!(
        order.servers[SECRET],
        ["packageserver-service.olm", "packageserver-service.olm.svc"]
    );
    let observed = stored(&observed, &issue(&order, 2030));
    let observed = shown(&announced(&observed));
    assert_eq!(decide(&observed, now()), Decision::Rest);
}

#[test]
fn another_replica_uses_the_same_secret() {
    let first = stored(&empty(), &issue(&order(&empty()), 2030));
    let second = announced(&first);
    assert!(matches!(decide(&second, now()), Decision::Show(_)));
}

#[test]
fn a_rotation_trusts_both_authorities_before_the_new_certificate_is_shown() {
    let ending = stored(&empty(), &issue(&order(&empty()), 2030));
    let mut observed = shown(&announced(&ending));
    let old = observed.shown.clone().unwrap();
    observed.secret = None;
    let observed = stored(&observed, &issue(&order(&observed), 2031));
    let observed = announced(&observed);
    let bundle = observed.api_service.clone().unwrap().spec.unwrap().ca_bundle.unwrap().0;
    assert!(trusts(&bundle, &old.authorities), "what is still shown is not trusted any more");
    let observed = shown(&observed);
    let new = observed.shown.clone().unwrap();
    assert!(new.certificate != old.certificate && new.authorities == bundle);
    assert_eq!(decide(&observed, now()), Decision::Rest);
}

#[test]
fn what_ends_or_is_garbage_is_replaced() {
    let ended = stored(&empty(), &issue(&order(&empty()), 2026));
    assert_eq!(order(&ended).servers.len(), 1);
    let mut garbage = stored(&empty(), &issue(&order(&empty()), 2030));
    let secret = garbage.secret.as_mut().unwrap();
    secret.metadata.resource_version = Some("7".to_owned());
    secret.data.as_mut().unwrap().insert(CERTIFICATE.to_owned(), ByteString(b"?".to_vec()));
    let effect = store(&garbage, &issue(&order(&garbage), 2030)).unwrap();
    let Action::Replace { object, .. } = effect.action else { panic!("created") };
    assert_eq!(object["metadata"]["resourceVersion"], "7", "the write is guarded");
}

#[test]
fn without_an_api_service_it_is_served_all_the_same() {
    let observed = Observed { api_service: None, ..empty() };
    let observed = stored(&observed, &issue(&order(&observed), 2030));
    assert!(matches!(decide(&observed, now()), Decision::Show(_)));
}
