//! The routes on browsers, on the tree and on the service itself.

use super::words::Kind::{Any, List, Object, OneOf, OrNull, Shape, Text, Truth};
use super::words::{COUNT, Operation, Scope, may, must};

const OK: super::words::Field = must("ok", Truth, "Always true");
const PROFILE: super::words::Field = must("profile", Text, "Which browser");
const BROWSERS: &str = "browsers";
const SERVICE: &str = "service";

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/", BROWSERS, "How a browser is")
        .more("From what is known: nothing is launched, and nobody is asked.")
        .scope(Scope::Profile)
        .gives(Shape("BrowserStatus"))
        .look(),
    Operation::post("/start", BROWSERS, "Start a browser, unless it runs")
        .more("The third failure in a row begins a pause, in which nothing is tried.")
        .scope(Scope::Timed)
        .query(&[may("headless", Truth, "With windows or without, for this start")])
        .gives(Object(&[OK, PROFILE])),
    Operation::post("/stop", BROWSERS, "Stop a browser and wait until nothing of it is left")
        .scope(Scope::Timed)
        .gives(Object(&[OK, must("stopped", Truth, "There was something to stop"), PROFILE])),
    Operation::post("/reset-profile", BROWSERS, "Stop a browser and move its data aside")
        .scope(Scope::Timed)
        .gives(Object(&[
            OK,
            PROFILE,
            must("moved", Truth, "There was a folder"),
            must("from", OrNull(&Text), "Where it was"),
            must("to", OrNull(&Text), "Where it is"),
        ])),
    Operation::get("/doctor", BROWSERS, "What is wrong with a browser, and what to do about it")
        .scope(Scope::Timed)
        .query(&[may("deep", Truth, "Ask the browser, too"), may("live", Truth, "The same")])
        .gives(Object(&[
            must("ok", Truth, "No check failed"),
            PROFILE,
            must("transport", Text, "Always cdp"),
            must("checks", List(&Shape("Check")), "One by one"),
            must("status", OneOf(&["pass", "warn", "fail"]), "The worst of them"),
        ])),
    Operation::get("/profiles", BROWSERS, "Which browsers there are")
        .scope(Scope::Service)
        .gives(Object(&[must("profiles", List(&Shape("ProfileStatus")), "The default one first")]))
        .look(),
    Operation::post("/profiles/create", BROWSERS, "Make a profile; its browser is started when it is needed")
        .scope(Scope::Service)
        .body(&[
            must("name", Text, "Lower-case letters, digits and hyphens, at most 64"),
            may("color", Text, "For example #ff4500"),
            may("cdpUrl", Text, "Attach to the browser at this ws, wss, http or https address"),
            may("driver", OneOf(&["openclaw", "clawd", "existing-session"]), "existing-session is not supported"),
        ])
        .gives(Object(&[
            OK,
            PROFILE,
            must("transport", Text, "Always cdp"),
            must("cdpPort", OrNull(&COUNT), "Always null"),
            must("cdpUrl", OrNull(&Text), "Where it is attached to"),
            must("userDataDir", OrNull(&Text), "The folder of its data"),
            must("color", Text, "What it is shown in"),
            must("isRemote", Truth, "It is on another machine"),
        ]))
        .also(&[507]),
    Operation::delete("/profiles/{name}", BROWSERS, "Delete a profile that a call has made")
        .gives(Object(&[OK, PROFILE, must("deleted", Truth, "There was a folder, which was moved aside")])),
    Operation::get("/system-profiles", BROWSERS, "Not supported").scope(Scope::Service),
    Operation::get("/system-profile-import/status", BROWSERS, "Not supported").scope(Scope::Service),
    Operation::post("/system-profile-import/dismiss", BROWSERS, "Not supported").scope(Scope::Service),
    Operation::post("/profiles/import", BROWSERS, "Not supported").scope(Scope::Service),
    Operation::get("/supervisor", SERVICE, "The supervision tree")
        .more("From what is published: no actor and no page is asked.")
        .scope(Scope::Profile)
        .gives(Object(&[
            OK,
            must("version", Text, "Of tabvisor"),
            must("stopping", Truth, "No new work is taken"),
            must("pending", Object(&[must("requests", COUNT, "That are work")]), "What runs"),
            must("eventStreams", Shape("Share"), "Readers of /events"),
            must("limits", Any, "As configured"),
            must("browsers", List(&Shape("BrowserNode")), "With what is below them"),
        ]))
        .look(),
    Operation::get("/events", SERVICE, "What happens, as server-sent events")
        .more(
            "Each has its name, its number as id, and its JSON as data. A reader that is slow loses the oldest \
             ones and is told lagged {missed}.",
        )
        .scope(Scope::Profile)
        .gives_other("text/event-stream")
        .also(&[429, 503])
        .look(),
    Operation::get("/healthz", SERVICE, "Alive, whatever the browser does")
        .scope(Scope::Service)
        .gives(Object(&[
            OK,
            must("version", Text, "Of tabvisor"),
            must("stopping", Truth, "No new work is taken"),
            must(
                "browser",
                Object(&[must("ready", Truth, "It runs"), may("version", Text, "What it is")]),
                "The default one",
            ),
        ]))
        .look(),
    Operation::get("/readyz", SERVICE, "Whether the browser can be worked with")
        .more("Found out by a new link to it, as every evaluate has one. With 503 the reason is told.")
        .scope(Scope::Timed)
        .gives(Object(READY))
        .also(&[503])
        .look(),
    Operation::get("/metrics", SERVICE, "Prometheus text").scope(Scope::Service).gives_other("text/plain").look(),
    Operation::get("/openapi.json", SERVICE, "This document").scope(Scope::Service).gives(Any).look().open(),
    Operation::get("/docs", SERVICE, "This document, to read")
        .scope(Scope::Service)
        .gives_other("text/html")
        .look()
        .open(),
    Operation::get("/ui", SERVICE, "The web console")
        .scope(Scope::Service)
        .gives_other("text/html")
        .look()
        .open(),
    Operation::get("/ui/{file}", SERVICE, "Of what the web console is made")
        .scope(Scope::Service)
        .gives_other("*/*")
        .look()
        .open(),
];

/// Both when it is ready and when it is not.
pub(super) const READY: &[super::words::Field] = &[
    must("ready", Truth, "Work is possible"),
    PROFILE,
    may(
        "reason",
        OneOf(&[
            "stopping",
            "browser_starting",
            "browser_stopped",
            "browser_restarting",
            "browser_silent",
            "browser_unavailable",
        ]),
        "Why not",
    ),
    may("why", Text, "The same in words"),
];
