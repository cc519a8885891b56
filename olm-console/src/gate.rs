//! What stands before all pages: who asks, and with whose rights that is answered.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{HeaderValue, SET_COOKIE};
use http::{StatusCode, Uri};
use serde::Deserialize;

use crate::guard::{Guard, GuardDecision};
use crate::login::Login;
use crate::session::Identity;
use crate::{csrf, headers};

/// Bytes of an address: searches are short.
pub(crate) const ADDRESS: usize = 4 * 1024;

/// Who may enter.
pub(crate) enum Gate {
    /// A browser of this machine, with the rights of the kubeconfig.
    Own(Guard, Identity),
    /// Users of a cluster, each with the rights of the token with which he has logged in.
    Login(Arc<Login>),
}

/// The token of an address.
#[derive(Deserialize)]
struct Token {
    token: Option<String>,
}

/// Lets a request in with its identity, or answers it.
pub(crate) async fn enter(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let mut response = if request.uri().to_string().len() > ADDRESS {
        StatusCode::URI_TOO_LONG.into_response()
    } else {
        match &*gate {
            Gate::Own(guard, identity) => own(guard, identity, request, next).await,
            Gate::Login(login) => login.answer(request, next).await,
        }
    };
    headers::add(response.headers_mut());
    response
}

async fn own(guard: &Guard, identity: &Identity, request: Request, next: Next) -> Response {
    let verdict = match token(request.uri()) {
        Ok(token) => guard.judge(request.method(), request.headers(), token.as_deref()),
        Err(code) => GuardDecision::Refuse(code, "This address cannot be read."),
    };
    match verdict {
        GuardDecision::Enter => match csrf::opened(request, guard.form_token()).await {
            Ok(mut request) => {
                request.extensions_mut().insert(identity.clone());
                next.run(request).await
            }
            Err(refusal) => *refusal,
        },
        GuardDecision::Begin => begin(guard),
        GuardDecision::Refuse(code, why) => (code, format!("{why}\n")).into_response(),
    }
}

fn token(uri: &Uri) -> Result<Option<String>, StatusCode> {
    match Query::<Token>::try_from_uri(uri) {
        Ok(Query(found)) => Ok(found.token),
        Err(_) => Err(StatusCode::BAD_REQUEST),
    }
}

/// The cookie, and an address without the token.
fn begin(guard: &Guard) -> Response {
    let mut response = Redirect::to("/catalog").into_response();
    if let Ok(cookie) = HeaderValue::from_str(&guard.cookie()) {
        response.headers_mut().insert(SET_COOKIE, cookie);
    }
    response
}
