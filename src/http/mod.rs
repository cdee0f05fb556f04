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
//! | `server`, `service` | connections, and what the routes share |
//! | `profiles`, `runs`, `cool_down`, `in_profile` | which browser it means, started when it is needed |
//! | `call`, `body`, `fields`, `kinds` | what a request says, and for how long it is work |
//! | `targets` | which tab it means |
//! | `tabs`, `tab_action`, `recovery`, `act`, `wait`, `batch`, `navigate`, `snapshot`, `screenshot`, `files`, `dialogs` | the routes |
//! | `observe`, `state`, `settings`, `health` | the routes |
//! | `lifecycle`, `profile_list`, `doctor`, `events`, `tree` | the routes on browsers and the tree |
//! | `routes`, `openapi` | all of them in a list, and described |
//! | `ui` | the web console |
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
pub(crate) mod kept;
mod kinds;
mod lifecycle;
mod navigate;
mod observe;
mod openapi;
mod profile_list;
mod profiles;
mod recovery;
mod routes;
mod runs;
mod screenshot;
mod server;
mod service;
mod settings;
mod snapshot;
mod state;
mod tab_action;
mod table;
mod tabs;
mod targets;
mod tree;
mod ui;
mod wait;

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderValue, Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use self::error::ApiError;

pub use access::Access;
#[cfg(feature = "mcp")]
pub use server::serve;
pub use service::Service;
#[cfg(feature = "mcp")]
pub(crate) use service::{Work, tabs_of};

/// The routes of `service`, behind its access checks.
pub fn router(service: Service) -> Router {
    let routes = routes::routes(service.has_metrics()).router;
    // What may be sent there is the protocol's own matter.
    #[cfg(feature = "mcp")]
    let routes = routes.route_service("/mcp", crate::mcp::service(crate::mcp::Home::of_service(&service)));
    routes
        .route("/ui/", axum::routing::get(ui::without_slash))
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
