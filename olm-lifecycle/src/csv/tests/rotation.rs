//! Certificates of a CSV's servers come to their end: spec olm-operator 8.8 and rotation from end
//! to end.

use k8s_openapi::ByteString;
use rstest::rstest;
use serde_json::{Value, json};

use super::fixtures::NS;
use super::servers::{SECRET, become_available, installed, secret, set_phase};
use super::world::World;
use crate::certificates::tests::fixtures::{days, mk_authority, mk_server};
use crate::certificates::{Certificate, ServingNames, ServingSecret, authority_hash, trusts};

/// Whom the API server trusts when it calls the API and the webhook.
fn callers(world: &World) -> [Vec<u8>; 2] {
    let bundle = |value: &Value| -> Vec<u8> {
        serde_json::from_value::<ByteString>(value.clone()).unwrap().0
    };
    let webhook = world.the_only("ValidatingWebhookConfiguration");
    [
        bundle(&world.get("APIService", "v1.a.g").unwrap()["spec"]["caBundle"]),
        bundle(&webhook["webhooks"][0]["clientConfig"]["caBundle"]),
    ]
}

/// Gives the Secret, and those who call, a certificate that ends after `left` days.
fn put_certificate(world: &mut World, left: i64, hosts: usize) {
    let (from, until) = (world.now - days(1), world.now + days(left));
    let (authority, issuer) = mk_authority(from, until);
    let names = ServingNames::new(NS, "csv-dep").hosts();
    let server = mk_server(&issuer, &names[..hosts], from, until);
    let encoded = |text: &str| json!(ByteString(text.as_bytes().to_vec()));
    let hash = authority_hash(authority.as_bytes());
    world.edit("Secret", SECRET, |secret| {
        secret["data"] = json!({
            "tls.crt": encoded(&server.certificate), "tls.key": encoded(&server.key),
            "olmCAKey": encoded(&authority),
        });
        secret["metadata"]["annotations"]["olmcahash"] = json!(hash);
    });
    let bundle = encoded(&authority);
    world.edit("APIService", "v1.a.g", |service| service["spec"]["caBundle"] = bundle.clone());
    let webhook = world.the_only("ValidatingWebhookConfiguration")["metadata"]["name"].clone();
    world.edit("ValidatingWebhookConfiguration", webhook.as_str().unwrap(), |configuration| {
        configuration["webhooks"][0]["clientConfig"]["caBundle"] = bundle;
    });
    world.edit("Deployment", "csv-dep", |deployment| {
        deployment["spec"]["template"]["metadata"]["annotations"]["olmcahash"] = json!(hash);
    });
}

#[rstest]
#[case::succeeded("Succeeded", "CSV owns resources that require a cert refresh")]
#[case::failed("Failed", "owned APIServices need cert refresh")]
fn certificates_that_cannot_be_used_are_replaced_at_once(
    #[case] phase: &str,
    #[case] message: &str,
    #[values(0, 1, 2)] harm: usize,
) {
    let mut world = installed();
    let harms: [fn(&mut World); 3] = [
        |world| put_certificate(world, 0, 3),
        |world| put_certificate(world, 100, 2),
        |world| {
            world.edit("Secret", SECRET, |secret| {
                secret["data"].as_object_mut().unwrap().remove("olmCAKey");
            })
        },
    ];
    harms[harm](&mut world);
    let trusted = callers(&world)[1].clone();
    set_phase(&mut world, phase);
    let expected = format!("Pending/NeedsCertRotation {message}");
    assert_eq!(world.next("csv"), expected);
    assert!(world.next("csv").starts_with("InstallReady/"));
    assert!(world.next("csv").starts_with("Installing/"));
    for bundle in callers(&world) {
        assert!(trusts(&bundle, &trusted), "pods show the old certificate until they are gone");
        assert!(trusts(&bundle, ServingSecret::new(&secret(&world)).active().authority));
    }
}

/// What lies in a Secret may be anything.
#[rstest]
#[case::no_pem("certificate", "cert PEM empty")]
#[case::nothing("", "cert PEM empty")]
#[case::garbage(
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    "a certificate holds a PEM block that is no certificate"
)]
fn certificates_that_cannot_be_read_are_replaced(#[case] text: &str, #[case] said: &str) {
    let mut world = installed();
    let unreadable = json!(ByteString(text.as_bytes().to_vec()));
    world.edit("Secret", SECRET, |secret| secret["data"]["tls.crt"] = unreadable);
    assert_eq!(world.next("csv"), format!("Failed/APIServiceResourceIssue {said}"));
    assert_eq!(world.next("csv"), format!("Pending/APIServiceResourcesNeedReinstall {said}"));
    assert!(world.next("csv").starts_with("InstallReady/"));
    assert!(world.next("csv").starts_with("Installing/"));
    let secret = secret(&world);
    assert!(Certificate::read(ServingSecret::new(&secret).active().certificate).is_ok());
    become_available(&mut world);
    assert!(world.next("csv").starts_with("Succeeded/"));
}

#[test]
fn callers_trust_the_old_and_the_new_authority_while_certificates_are_replaced() {
    let mut world = installed();
    put_certificate(&mut world, 1, 3);
    let old = ServingSecret::new(&secret(&world)).active().authority.to_vec();
    let trusting = |world: &World, authority: &[u8]| {
        callers(world).iter().all(|bundle| trusts(bundle, authority))
    };

    assert!(world.next("csv").starts_with("Pending/NeedsCertRotation"));
    let announced = secret(&world);
    let next = ServingSecret::new(&announced).next().unwrap().authority.to_vec();
    assert_eq!(ServingSecret::new(&announced).active().authority, old, "pods keep theirs");
    assert!(trusting(&world, &old) && trusting(&world, &next));

    assert!(world.next("csv").starts_with("Pending/NeedsCertRotation"), "callers learn");
    world.sleep(5);
    assert!(world.next("csv").starts_with("InstallReady/AllRequirementsMet"));
    assert!(world.next("csv").starts_with("Installing/InstallSucceeded"));
    assert_eq!(ServingSecret::new(&secret(&world)).active().authority, next);
    assert!(trusting(&world, &old) && trusting(&world, &next));
    let template = "/spec/template/metadata/annotations/olmcahash";
    let hash = world.get("Deployment", "csv-dep").unwrap().pointer(template).cloned();
    assert_eq!(hash, Some(json!(authority_hash(&next))));

    assert!(world.next("csv").starts_with("Succeeded/"), "the Deployment's status is kept");
    assert!(trusting(&world, &old), "pods that are being ended may still answer");
    world.sleep(120);
    world.sync("csv");
    assert!(!trusting(&world, &old) && trusting(&world, &next));
    assert_eq!(secret(&world).data.unwrap().len(), 3);
    assert!(world.next("csv").starts_with("Succeeded/"));
}

#[test]
fn a_rotation_goes_on_wherever_it_was_interrupted() {
    for stop in 0..12 {
        let mut world = installed();
        put_certificate(&mut world, 1, 3);
        let old = ServingSecret::new(&secret(&world)).active().authority.to_vec();
        world.stop_after = Some(stop);
        for _ in 0..8 {
            world.sleep(6);
            world.sync("csv");
            let active = secret(&world);
            let active = ServingSecret::new(&active).active();
            for bundle in callers(&world) {
                assert!(trusts(&bundle, active.authority), "stopped after {stop} writes");
                assert!(trusts(&bundle, &old), "stopped after {stop} writes");
            }
        }
        become_available(&mut world);
        assert!(world.next("csv").starts_with("Succeeded/"), "stopped after {stop} writes");
        assert_ne!(ServingSecret::new(&secret(&world)).active().authority, old);
    }
}
