//! A certificate comes to its end while the operator is called all the time.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use olm_types::api::{ClusterServiceVersion, CsvPhase};
use olm_types::labels;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};

use super::operator::Example;
use super::traffic::Traffic;
use crate::e2e::TestContext;
use crate::wait;

/// A certificate is renewed that long before its end.
const RENEWED_BEFORE_END: SignedDuration = SignedDuration::from_hours(24);

/// Calls before and after the rotation.
const ROUNDS: u64 = 10;

/// With a process in place of Pods.
pub(super) async fn no_call_fails(ctx: Arc<TestContext>) -> Result<()> {
    rotate(&ctx, Duration::from_secs(8)).await
}

/// With Pods, which take longer until they run.
pub(super) async fn no_call_of_pods_fails(ctx: Arc<TestContext>) -> Result<()> {
    rotate(&ctx, Duration::from_secs(40)).await
}

/// The Secret is there before the CSV, with a certificate that is due soon.
async fn rotate(ctx: &TestContext, due: Duration) -> Result<()> {
    ctx.operator_group().await?;
    let example = Example::new(ctx);
    let (secret, name) = (short_lived(ctx, &example, due)?, example.secret());
    ctx.create(&secret).await?;
    example.install(ctx).await?;
    let mut traffic = Traffic::begin(ctx, &example).await?;
    traffic.until_called(ROUNDS).await?;
    let kept = ctx.api::<Secret>().get(&name).await?;
    ensure!(part(&kept, "tls.crt") == part(&secret, "tls.crt"), "a good certificate was replaced");
    let renewed = wait::until(&ctx.api(), &name, "hold a new certificate", |now: &Secret| {
        part(now, "tls.crt") != part(&secret, "tls.crt")
    })
    .await?;
    let still = part(&renewed, "previous.olmCAKey").context("the old authority was forgotten")?;
    ensure!(Some(still) == part(&secret, "olmCAKey"), "another authority is trusted");
    wait::until(&ctx.api(), example.name(), "run with new certificates", is_renewed).await?;
    traffic.until_called(ROUNDS).await?;
    traffic.end().await.map(drop)
}

fn is_renewed(csv: &ClusterServiceVersion) -> bool {
    csv.status.as_ref().is_some_and(|status| {
        status.phase == CsvPhase::Succeeded
            && status.certs_last_updated.is_some()
            && status.certs_rotate_at.is_some()
    })
}

fn part<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    secret.data.as_ref()?.get(key).map(|ByteString(bytes)| bytes.as_slice())
}

/// A Secret as an earlier install would have left it, two years ago but a day.
fn short_lived(ctx: &TestContext, example: &Example, due: Duration) -> Result<Secret> {
    let left = RENEWED_BEFORE_END.saturating_add(SignedDuration::try_from(due)?);
    let end = Timestamp::now().checked_add(left)?;
    let (authority, issuer) = authority(end)?;
    let (certificate, key) =
        server(&issuer, &format!("{}-service.{}", example.name(), ctx.namespace), end)?;
    let data = [("olmCAKey", authority), ("tls.crt", certificate), ("tls.key", key)];
    let managed = (labels::MANAGED.to_owned(), labels::MANAGED_VALUE.to_owned());
    Ok(Secret {
        metadata: ObjectMeta {
            name: Some(example.secret()),
            labels: Some([managed].into()),
            ..ObjectMeta::default()
        },
        type_: Some("kubernetes.io/tls".to_owned()),
        data: Some(data.map(|(key, text)| (key.to_owned(), ByteString(text.into_bytes()))).into()),
        ..Secret::default()
    })
}

fn authority(end: Timestamp) -> Result<(String, Issuer<'static, KeyPair>)> {
    let key = KeyPair::generate().context("cannot make a key")?;
    let mut params = params(end)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let certificate = params.self_signed(&key).context("cannot sign an authority")?.pem();
    Ok((certificate, Issuer::new(params, key)))
}

fn server(
    issuer: &Issuer<'static, KeyPair>,
    base: &str,
    end: Timestamp,
) -> Result<(String, String)> {
    let hosts = [base.to_owned(), format!("{base}.svc"), format!("{base}.svc.cluster.local")];
    let names = CertificateParams::new(hosts).context("bad names")?.subject_alt_names;
    let key = KeyPair::generate().context("cannot make a key")?;
    let mut params = params(end)?;
    params.subject_alt_names = names;
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = params.signed_by(&key, issuer).context("cannot sign a certificate")?;
    Ok((certificate.pem(), key.serialize_pem()))
}

fn params(end: Timestamp) -> Result<CertificateParams> {
    let mut params = CertificateParams::default();
    let seconds = u64::try_from(end.as_second())?;
    params.not_after = rcgen::date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
    Ok(params)
}
