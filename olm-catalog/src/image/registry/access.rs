//! A repository, and how its registry lets us in (Docker registry token authentication).

use ::http::Method;

use super::challenge::{self, Challenge};
use super::http::{Http, RegistryRequest};
use super::response::{RegistryResponse, unauthorized};
use super::{ImageError, ImageReference};
use crate::image::credentials::Credentials;
use crate::image::manifest::ACCEPT;
use crate::image::mirrors::Endpoint;

/// A repository that is asked with certain credentials.
#[derive(Clone, Debug)]
pub(super) struct Access {
    http: Http,
    image: ImageReference,
    without_tls: bool,
    credentials: Option<Credentials>,
    /// What the registry wanted to see last.
    authorization: Option<String>,
}

impl Access {
    pub(super) fn new(http: &Http, endpoint: &Endpoint, credentials: Option<Credentials>) -> Self {
        let image = endpoint.image.clone();
        let without_tls = endpoint.without_tls || http.is_without_tls(image.endpoint());
        Self { http: http.clone(), image, without_tls, credentials, authorization: None }
    }

    pub(super) fn image(&self) -> &ImageReference {
        &self.image
    }

    /// Asks for something of the repository; when the registry wants credentials, once more with
    /// them. So tokens that ran out meanwhile are renewed.
    pub(super) async fn ask(
        &mut self,
        method: Method,
        kind: &str,
        version: &str,
    ) -> Result<RegistryResponse, ImageError> {
        let (host, repository) = (self.image.endpoint(), self.image.repository());
        let scheme = if self.without_tls { "http" } else { "https" };
        let url = format!("{scheme}://{host}/v2/{repository}/{kind}/{version}");
        let question = self.request(method, url, ACCEPT, self.authorization.clone());
        let answer = self.http.ask(question.clone()).await?;
        if answer.code() != 401 {
            return Ok(answer);
        }
        let authorization = self.authorize(&answer).await?;
        self.authorization = Some(authorization.clone());
        self.http.ask(RegistryRequest { authorization: Some(authorization), ..question }).await
    }

    /// What the registry wants to see: a token from somewhere, or the credentials themselves.
    async fn authorize(&self, answer: &RegistryResponse) -> Result<String, ImageError> {
        let refused = |why: &str| unauthorized(&self.image, why);
        match Challenge::parse(answer.header("www-authenticate")) {
            Some(Challenge::Basic) => match &self.credentials {
                Some(credentials) => Ok(credentials.basic()),
                None => Err(refused("it wants credentials, and there are none")),
            },
            Some(Challenge::Bearer { realm, service }) => {
                let repository = self.image.repository();
                let url = challenge::token_url(&realm, service.as_deref(), repository);
                let basic = self.credentials.as_ref().map(Credentials::basic);
                let question = self.request(Method::GET, url, "application/json", basic);
                let answer = self.http.ask(question).await?;
                match answer.code() {
                    200 => challenge::token(&answer.bytes("the token", challenge::TOKEN).await?),
                    400..=499 => Err(refused("its token server does not accept the credentials")),
                    _ => Err(answer.failed().await),
                }
            }
            None => Err(refused("it does not say which credentials it wants")),
        }
    }

    fn request(
        &self,
        method: Method,
        url: String,
        accept: &'static str,
        authorization: Option<String>,
    ) -> RegistryRequest {
        RegistryRequest {
            method,
            url,
            accept,
            home: self.image.endpoint().to_owned(),
            without_tls: self.without_tls,
            user: self.credentials.as_ref().map(|credentials| credentials.user.clone()),
            authorization,
        }
    }
}
