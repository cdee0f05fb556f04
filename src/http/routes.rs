//! All routes in a list.

use axum::Router;
use axum::handler::Handler;
use axum::routing::{MethodRouter, delete, get, post};

use super::service::Service;
use super::{
    act, dialogs, doctor, events, files, health, lifecycle, navigate, observe, openapi, profile_list,
    recovery, screenshot, settings, snapshot, state, tab_action, tabs, tree, ui,
};

/// Routes, and what they are.
pub(super) struct Routes {
    pub(super) router: Router<Service>,
    /// Of each its method and path.
    #[cfg(test)]
    pub(super) served: Vec<(&'static str, &'static str)>,
}

impl Routes {
    fn new() -> Self {
        Self {
            router: Router::new(),
            #[cfg(test)]
            served: Vec::new(),
        }
    }

    #[cfg_attr(not(test), expect(unused_variables, reason = "a test reads the list"))]
    fn add(mut self, method: &'static str, path: &'static str, handler: MethodRouter<Service>) -> Self {
        #[cfg(test)]
        self.served.push((method, path));
        self.router = self.router.route(path, handler);
        self
    }

    fn get<T: 'static>(self, path: &'static str, handler: impl Handler<T, Service>) -> Self {
        self.add("GET", path, get(handler))
    }

    fn post<T: 'static>(self, path: &'static str, handler: impl Handler<T, Service>) -> Self {
        self.add("POST", path, post(handler))
    }

    fn delete<T: 'static>(self, path: &'static str, handler: impl Handler<T, Service>) -> Self {
        self.add("DELETE", path, delete(handler))
    }
}

/// All routes. Each is told in `openapi`.
pub(super) fn routes(with_metrics: bool) -> Routes {
    let routes = Routes::new()
        .get("/", lifecycle::status)
        .post("/start", lifecycle::start)
        .post("/stop", lifecycle::stop)
        .post("/reset-profile", lifecycle::reset)
        .get("/doctor", doctor::doctor)
        .get("/profiles", profile_list::list)
        // Of `POST` only: a profile may have one of these names.
        .post("/profiles/create", profile_list::create)
        .delete("/profiles/create", profile_list::delete_create)
        .post("/profiles/import", profile_list::not_here)
        .delete("/profiles/import", profile_list::delete_import)
        .delete("/profiles/{name}", profile_list::delete)
        .get("/system-profiles", profile_list::not_here)
        .get("/system-profile-import/status", profile_list::not_here)
        .post("/system-profile-import/dismiss", profile_list::not_here)
        .get("/tabs", tabs::list)
        // A tab may have the label `open`.
        .post("/tabs/open", tabs::open)
        .delete("/tabs/open", tabs::close_named_open)
        // Of `POST` only: a tab may have one of these labels.
        .post("/tabs/focus", tabs::focus)
        .delete("/tabs/focus", tabs::close_named_focus)
        .post("/tabs/action", tab_action::act)
        .delete("/tabs/action", tabs::close_named_action)
        .delete("/tabs/{target}", tabs::close)
        .get("/tabs/{target}", recovery::show)
        .get("/tabs/{target}/thumbnail", screenshot::thumbnail)
        .post("/tabs/{target}/restart", recovery::restart)
        .post("/tabs/{target}/terminate", recovery::terminate)
        .post("/act", act::act)
        .post("/navigate", navigate::navigate)
        .post("/navigate/back", navigate::back)
        .post("/navigate/forward", navigate::forward)
        .post("/navigate/reload", navigate::reload)
        .get("/snapshot", snapshot::snapshot)
        .post("/screenshot", screenshot::screenshot)
        .post("/pdf", files::pdf)
        .post("/download", files::download)
        .post("/wait/download", files::wait)
        .post("/hooks/file-chooser", files::upload)
        .get("/dialogs", dialogs::list)
        .post("/hooks/dialog", dialogs::answer)
        .get("/console", observe::console)
        .get("/errors", observe::errors)
        .get("/requests", observe::requests)
        .post("/response/body", observe::response_body)
        .get("/text", state::text)
        .get("/cookies", state::cookies)
        .post("/cookies/set", state::set_cookie)
        .post("/cookies/set-many", state::set_cookies)
        .post("/cookies/clear", state::clear_cookies)
        .get("/storage/{kind}", state::storage)
        .post("/storage/{kind}/set", state::set_storage)
        .post("/storage/{kind}/clear", state::clear_storage)
        .post("/permissions/grant", state::grant)
        .post("/set/{what}", settings::set)
        .post("/trace/{what}", state::no_trace)
        .post("/screencast", state::no_screencast)
        .get("/events", events::events)
        .get("/supervisor", tree::supervisor)
        .get("/readyz", tree::readyz)
        .post("/highlight", act::highlight)
        .get("/healthz", health::healthz)
        .get("/openapi.json", openapi::openapi)
        .get("/docs", openapi::docs)
        .get("/ui", ui::page)
        .get("/ui/{file}", ui::file);
    if with_metrics { routes.get("/metrics", health::metrics) } else { routes }
}
