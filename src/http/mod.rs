//! The HTTP control service: a router to mount in a server of one's own, or to serve as it is.
//!
//! Every answer is JSON, errors too. Before a body is read, three things are checked in this
//! order: the name under which the service is addressed, that no other site sends the request,
//! and the secret ([`Access`]). A client that closes its connection cancels its call: the server
//! drops the handler's future, and that ends the script in the page.
//!
//! | file | holds |
//! |---|---|
//! | `access`, `hosts` | who may call |
//! | `service` | what the routes share |
//! | `profiles`, `runs`, `cool_down`, `in_profile` | which browser it means, started when it is needed |
//! | `call`, `body`, `fields`, `kinds` | what a request says, and for how long it is work |
//! | `targets` | which tab it means |
//! | `tabs`, `tab_action`, `recovery`, `act`, `wait`, `batch`, `navigate`, `snapshot`, `screenshot`, `files`, `dialogs` | the routes |
//! | `observe`, `state`, `settings`, `health` | the routes |
//! | `lifecycle`, `profile_list`, `doctor`, `events`, `tree` | the routes on browsers and the tree |
//! | `kept` | where screenshots and PDFs are put |
//! | `error`, `table` | what a failed request is answered with |

mod access;
mod act;
mod batch;
mod body;
mod call;
mod cool_down;
mod dialogs;
mod doctor;
mod error;
mod events;
mod fields;
mod files;
mod health;
mod hosts;
mod in_profile;
mod kept;
mod kinds;
mod lifecycle;
mod navigate;
mod observe;
mod profile_list;
mod profiles;
mod recovery;
mod runs;
mod screenshot;
mod service;
mod settings;
mod snapshot;
mod state;
mod tab_action;
mod table;
mod tabs;
mod targets;
mod tree;
mod wait;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use axum::routing::{delete, get, post};
use serde::Serialize;

use self::error::ApiError;

pub use access::Access;
pub use service::Service;

/// The routes of `service`, behind its access checks.
pub fn router(service: Service) -> Router {
    let mut routes = Router::new()
        .route("/", get(lifecycle::status))
        .route("/start", post(lifecycle::start))
        .route("/stop", post(lifecycle::stop))
        .route("/reset-profile", post(lifecycle::reset))
        .route("/doctor", get(doctor::doctor))
        .route("/profiles", get(profile_list::list))
        // Of `POST` only: a profile may have one of these names.
        .route("/profiles/create", post(profile_list::create).delete(profile_list::delete_create))
        .route("/profiles/import", post(profile_list::not_here).delete(profile_list::delete_import))
        .route("/profiles/{name}", delete(profile_list::delete))
        .route("/system-profiles", get(profile_list::not_here))
        .route("/system-profile-import/status", get(profile_list::not_here))
        .route("/system-profile-import/dismiss", post(profile_list::not_here))
        .route("/tabs", get(tabs::list))
        // A tab may have the label `open`.
        .route("/tabs/open", post(tabs::open).delete(tabs::close_named_open))
        // Of `POST` only: a tab may have one of these labels.
        .route("/tabs/focus", post(tabs::focus).delete(tabs::close_named_focus))
        .route("/tabs/action", post(tab_action::act).delete(tabs::close_named_action))
        .route("/tabs/{target}", delete(tabs::close).get(recovery::show))
        .route("/tabs/{target}/restart", post(recovery::restart))
        .route("/tabs/{target}/terminate", post(recovery::terminate))
        .route("/act", post(act::act))
        .route("/navigate", post(navigate::navigate))
        .route("/navigate/back", post(navigate::back))
        .route("/navigate/forward", post(navigate::forward))
        .route("/navigate/reload", post(navigate::reload))
        .route("/snapshot", get(snapshot::snapshot))
        .route("/screenshot", post(screenshot::screenshot))
        .route("/pdf", post(files::pdf))
        .route("/download", post(files::download))
        .route("/wait/download", post(files::wait))
        .route("/hooks/file-chooser", post(files::upload))
        .route("/dialogs", get(dialogs::list))
        .route("/hooks/dialog", post(dialogs::answer))
        .route("/console", get(observe::console))
        .route("/errors", get(observe::errors))
        .route("/requests", get(observe::requests))
        .route("/response/body", post(observe::response_body))
        .route("/text", get(state::text))
        .route("/cookies", get(state::cookies))
        .route("/cookies/set", post(state::set_cookie))
        .route("/cookies/set-many", post(state::set_cookies))
        .route("/cookies/clear", post(state::clear_cookies))
        .route("/storage/{kind}", get(state::storage))
        .route("/storage/{kind}/set", post(state::set_storage))
        .route("/storage/{kind}/clear", post(state::clear_storage))
        .route("/permissions/grant", post(state::grant))
        .route("/set/{what}", post(settings::set))
        .route("/trace/{what}", post(state::no_trace))
        .route("/screencast", post(state::no_screencast))
        .route("/events", get(events::events))
        .route("/supervisor", get(tree::supervisor))
        .route("/readyz", get(tree::readyz))
        .route("/highlight", post(act::highlight))
        .route("/healthz", get(health::healthz));
    if service.has_metrics() {
        routes = routes.route("/metrics", get(health::metrics));
    }
    routes
        .fallback(unknown)
        .method_not_allowed_fallback(wrong_method)
        .layer(from_fn_with_state(service.clone(), access::guard))
        .with_state(service)
}

async fn unknown(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    ApiError::new(StatusCode::NOT_FOUND, format!("Cannot {method} {path}")).reason("route_not_found")
}

async fn wrong_method(method: Method, uri: Uri) -> ApiError {
    let path: String = uri.path().chars().take(200).collect();
    let error = format!("{path} does not take {method}");
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, error).reason("method_not_allowed")
}

/// An answer in JSON.
fn json(status: StatusCode, value: &impl Serialize) -> Response {
    match serde_json::to_vec(value) {
        Ok(bytes) => {
            let content_type = HeaderValue::from_static("application/json; charset=utf-8");
            (status, [(CONTENT_TYPE, content_type)], Body::from(bytes)).into_response()
        }
        Err(why) => {
            tracing::error!(%why, "an answer has no JSON form");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
