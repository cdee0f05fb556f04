//! The routes on tabs and what they show.

use super::shapes::COOKIE;
use super::words::Kind::{AllOf, Any, AnyOf, List, MapOf, Number, Object, OneOf, Shape, Text, Truth, Whole};
use super::words::{COUNT, Field, Kind, MOST, Operation, Scope, TEXTS, may, must};

const TABS: &str = "tabs";
const PAGES: &str = "pages";
const HEARD: &str = "what pages say";
const STATE: &str = "what pages hold and believe";

const OK: Field = must("ok", Truth, "Always true");
const LABEL: Field = may("label", Text, "A name for it: letters, digits, _ . : -, at most 64");
const URL: Field = must("url", Text, "http, https or about:blank");
const RUNG: Kind = OneOf(&["dialog", "terminate", "stop_loading", "renderer", "target", "browser"]);
const UNTIL: Field =
    may("waitUntil", OneOf(&["load", "domcontentloaded", "commit"]), "When it is answered; load by default");
const LANDED: Kind = AllOf(&[
    Shape("ActedOn"),
    Object(&[
        may("sameDocument", Truth, "Only the fragment changed"),
        may("httpStatus", COUNT, "What the server answered"),
        may("download", Shape("Download"), "What came was no document"),
    ]),
]);
const SINCE: Field = may("since", COUNT, "Only what came after this next of an earlier answer");
const CLEAR: Field = may("clear", Truth, "Forget them afterwards");
const TAKE_BACK: Field = may("clear", Truth, "Take it back");
const KIND_OF_STORAGE: &str = "kind is local or session.";
const DOWNLOADED: Kind =
    AllOf(&[Shape("ActedOn"), Object(&[may("download", Shape("Download"), "The file")])]);

pub(super) const OPERATIONS: &[Operation] = &[
    Operation::get("/tabs", TABS, "The tabs, the newest first")
        .more("From what is known: no page is asked.")
        .scope(Scope::Profile)
        .gives(Object(&[
            must("running", Truth, "The browser works"),
            must("tabs", List(&Shape("Tab")), "Its tabs"),
        ]))
        .look(),
    Operation::post("/tabs/open", TABS, "Open a tab; the browser is started for it")
        .scope(Scope::Timed)
        .body(&[URL, LABEL])
        .gives(AllOf(&[
            Shape("Tab"),
            Object(&[
                must("resolvedProfile", Text, "Whose tab it is"),
                must("ownership", MapOf(&Text), "Whether it is found again after a restart"),
            ]),
        ])),
    Operation::post("/tabs/focus", TABS, "Bring a tab to the front; it is the last used one from now on")
        .scope(Scope::Timed)
        .body(&[must("targetId", Text, "Its id (t1), label or target id")]),
    Operation::post("/tabs/action", TABS, "Tabs by their place in the list")
        .scope(Scope::Timed)
        .body(&[
            must("action", OneOf(&["list", "new", "label", "select", "close"]), "What to do"),
            may("index", Whole(0, 1000), "Of select and close; 0 is the newest"),
            may("targetId", Text, "Of label"),
            LABEL,
        ])
        .gives(Object(&[
            OK,
            may("tabs", List(&Shape("Tab")), "Of list"),
            may("tab", Shape("Tab"), "Of new and label"),
            may("targetId", Text, "Of select and close"),
        ])),
    Operation::get("/tabs/{target}", TABS, "One tab, with its last recovery")
        .scope(Scope::Profile)
        .gives(Shape("Tab"))
        .look(),
    Operation::get("/tabs/{target}/thumbnail", TABS, "What a tab looks like, small")
        .more("It does not become the last used tab by it.")
        .scope(Scope::Timed)
        .gives_other("image/jpeg"),
    Operation::delete("/tabs/{target}", TABS, "Close a tab, also one that is stuck").query(&[may(
        "targetIdMode",
        OneOf(&["raw"]),
        "Only the exact target id is meant",
    )]),
    Operation::post(
        "/tabs/{target}/restart",
        TABS,
        "Bring a tab back, by the mildest way that makes it usable",
    )
    .scope(Scope::Timed)
    .body(&[may("rung", RUNG, "The first one to try"), may("url", Text, "Load this instead")])
    .gives(Shape("Recovered")),
    Operation::post(
        "/tabs/{target}/terminate",
        TABS,
        "End the scripts that run on a tab; its document stays",
    )
    .scope(Scope::Timed)
    .gives(Shape("Recovered")),
    Operation::post("/act", PAGES, "One action on a tab, one script, one wait, or several of them")
        .more("With a modal dialog open the answer is 200 with blockedByDialog and no result.")
        .body_of(ACT)
        .gives(AnyOf(&[
            Shape("Acted"),
            Shape("Evaluated"),
            Shape("Waited"),
            Shape("Batched"),
            Shape("Done"),
        ])),
    Operation::post("/highlight", PAGES, "Show a person which element is meant")
        .body(&[REF, SELECTOR, may("clear", Truth, "Take the marks away instead")])
        .gives(Shape("Acted")),
    Operation::post("/navigate", PAGES, "Load an address").body(&[URL, UNTIL]).gives(LANDED),
    Operation::post("/navigate/back", PAGES, "Go back").body(&[UNTIL]).gives(LANDED),
    Operation::post("/navigate/forward", PAGES, "Go forward").body(&[UNTIL]).gives(LANDED),
    Operation::post("/navigate/reload", PAGES, "Load the page again").body(&[UNTIL]).gives(LANDED),
    Operation::get("/snapshot", PAGES, "A page as text with refs, or as a list of nodes")
        .query(&[
            may("format", OneOf(&["ai", "role", "aria"]), "ai by default"),
            may("mode", OneOf(&["efficient"]), "Interactive, compact and of depth 6"),
            may("refs", OneOf(&["role", "aria"]), "How refs are made"),
            may("interactive", Truth, "Only what can be acted on"),
            may("compact", Truth, "Without structure that has neither name nor ref"),
            may("depth", Whole(0, 1000), "Only nodes at most so deep"),
            may("selector", Text, "Only the first element that it matches"),
            may("frame", Text, "Only this frame"),
            may("labels", Truth, "With a picture on which elements are marked"),
            may("urls", Truth, "With the addresses of links"),
            may("limit", Whole(1, 2000), "At most so many nodes of a list"),
            may("maxChars", COUNT, "At most so many characters; 0 for any number"),
            may("after", Text, "Go on where the snapshot was cut whose next this is"),
        ])
        .gives(AnyOf(&[Shape("Snapshot"), Shape("Nodes")])),
    Operation::post("/screenshot", PAGES, "Take a picture, into a file on the service's machine")
        .body(&[
            may("fullPage", Truth, "All of the page"),
            may("ref", Text, "Only this element"),
            may("element", Text, "The same, by a CSS selector"),
            may("type", OneOf(&["png", "jpeg"]), "png by default"),
            may("labels", Truth, "Mark the elements of the last snapshot on it"),
        ])
        .gives(AllOf(&[
            Shape("ActedOn"),
            Object(&[
                must("path", Text, "The file"),
                must("imageType", OneOf(&["png", "jpeg"]), "What it is"),
                must("width", COUNT, "In pixels"),
                must("height", COUNT, "In pixels"),
            ]),
        ])),
    Operation::post("/pdf", PAGES, "Make a PDF, in a file on the service's machine").gives(AllOf(&[
        Shape("ActedOn"),
        Object(&[must("path", Text, "The file"), must("bytes", COUNT, "Its size")]),
    ])),
    Operation::post("/download", PAGES, "Download a file by a click, or the document itself")
        .body(&[
            may("ref", Text, "What to click"),
            may("path", Text, "Where to put it, in the folder of downloads"),
            may("currentDocument", Truth, "Download what the tab shows"),
            may("expectedUrl", Text, "What it must show"),
        ])
        .gives(DOWNLOADED),
    Operation::post("/wait/download", PAGES, "Wait for a download")
        .body(&[may("path", Text, "Where to put it, in the folder of downloads")])
        .gives(DOWNLOADED),
    Operation::post("/hooks/file-chooser", PAGES, "Give files to a page")
        .body(&[
            may("paths", TEXTS, "Files in the folder of uploads"),
            may("remotePath", TEXTS, "Files on the browser's machine"),
            may("ref", Text, "What opens the chooser"),
            may("inputRef", Text, "The file input itself"),
            may("element", Text, "The same, by a CSS selector"),
        ])
        .gives(AllOf(&[Shape("Done"), Object(&[may("armed", Truth, "The next chooser will get them")])])),
    Operation::get("/dialogs", PAGES, "The dialogs of a tab").gives(AllOf(&[
        Shape("ActedOn"),
        Object(&[must("browserState", Shape("BrowserState"), "Its dialogs")]),
    ])),
    Operation::post("/hooks/dialog", PAGES, "Answer the open dialog, or the next one")
        .body(&[
            must("accept", Truth, "OK, or Cancel"),
            may("promptText", Text, "What to enter"),
            may("dialogId", Text, "Only this one"),
        ])
        .gives(AllOf(&[
            Shape("Done"),
            Object(&[
                must("dialog", Kind::OrNull(&Any), "The one that was answered"),
                must("armed", Truth, "None was open; the next one will be answered"),
            ]),
        ])),
    Operation::get("/console", HEARD, "What pages log")
        .query(&[may("level", OneOf(&["error", "warn", "info"]), "The mildest that is told"), SINCE])
        .gives(MESSAGES),
    Operation::get("/errors", HEARD, "Errors that nobody caught").query(&[SINCE, CLEAR]).gives(ERRORS),
    Operation::get("/requests", HEARD, "What pages load")
        .query(&[may("filter", Text, "A part of the address, or a resource type"), SINCE, CLEAR])
        .gives(REQUESTS),
    Operation::post("/response/body", HEARD, "Wait for a response and give its body")
        .body(&[
            must("url", Text, "Exactly, a part, or with *"),
            may("maxChars", Whole(1, MOST), "200000 by default"),
        ])
        .gives(AllOf(&[
            Shape("ActedOn"),
            Object(&[must(
                "response",
                Object(&[
                    must("url", Text, "Where it came from"),
                    must("status", COUNT, "Its status"),
                    must("headers", MapOf(&Text), "Its headers"),
                    must("body", Text, "Its body"),
                    may("truncated", Truth, "There was more"),
                ]),
                "The response",
            )]),
        ])),
    Operation::get("/text", STATE, "The text of a page")
        .query(&[may("selector", Text, "Only of this element"), may("maxChars", Whole(1, 40_000), "At most")])
        .gives(AllOf(&[
            Shape("ActedOn"),
            Object(&[must("text", Text, "What it says"), must("truncated", Truth, "There was more")]),
        ])),
    Operation::get("/cookies", STATE, "The cookies of a tab's browser context")
        .gives(AllOf(&[Shape("Done"), Object(&[must("cookies", List(&Shape("Cookie")), "All of them")])])),
    Operation::post("/cookies/set", STATE, "Set a cookie")
        .body(&[must("cookie", Object(NEW_COOKIE), "With url, or domain and path")])
        .gives(ADDED),
    Operation::post("/cookies/set-many", STATE, "Set several cookies, or none")
        .body(&[must("cookies", List(&Object(NEW_COOKIE)), "With url, or domain and path, each")])
        .gives(ADDED),
    Operation::post("/cookies/clear", STATE, "Forget all cookies"),
    Operation::get("/storage/{kind}", STATE, "What a storage of the page's origin holds")
        .more(KIND_OF_STORAGE)
        .query(&[may("key", Text, "Only this value")])
        .gives(AllOf(&[Shape("ActedOn"), Object(&[must("values", MapOf(&Text), "By their keys")])])),
    Operation::post("/storage/{kind}/set", STATE, "Set a value in it")
        .more(KIND_OF_STORAGE)
        .body(&[must("key", Text, "Its key"), may("value", Text, "Empty by default")]),
    Operation::post("/storage/{kind}/clear", STATE, "Forget all values in it").more(KIND_OF_STORAGE),
    Operation::post("/permissions/grant", STATE, "Grant permissions to an origin")
        .body(&[
            must("origin", Text, "For example https://example.org"),
            may("permissions", TEXTS, "Those that must be known"),
            may("optionalPermissions", TEXTS, "Those that need not"),
        ])
        .gives(AllOf(&[
            Shape("Done"),
            Object(&[
                must("origin", Text, "Who has them"),
                must("grantedPermissions", TEXTS, "Which"),
                must("unsupportedPermissions", TEXTS, "Which are none"),
                must("grantMethod", Text, "How"),
            ]),
        ])),
    Operation::post("/set/{what}", STATE, "What a tab is made to believe, until it is closed")
        .more("what is offline, headers, credentials, geolocation, media, timezone, locale or device.")
        .body(&[
            may("offline", Truth, "Of offline"),
            may("headers", MapOf(&Text), "Of headers"),
            may("username", Text, "Of credentials"),
            may("password", Text, "Of credentials"),
            may("latitude", Number, "Of geolocation"),
            may("longitude", Number, "Of geolocation"),
            may("accuracy", Number, "Of geolocation"),
            may("origin", Text, "Of geolocation: who may ask"),
            may("colorScheme", OneOf(&["dark", "light", "no-preference", "none"]), "Of media"),
            may("timezoneId", Text, "Of timezone"),
            may("locale", Text, "Of locale"),
            may("name", Text, "Of device"),
            TAKE_BACK,
        ]),
    Operation::post("/trace/{what}", STATE, "Not supported").scope(Scope::Service),
    Operation::post("/screencast", STATE, "Not supported").scope(Scope::Service),
];

const MESSAGES: Kind =
    AllOf(&[Shape("ActedOn"), Shape("Heard"), Object(&[must("messages", ROWS, "Oldest first")])]);
const ERRORS: Kind =
    AllOf(&[Shape("ActedOn"), Shape("Heard"), Object(&[must("errors", ROWS, "Oldest first")])]);
const REQUESTS: Kind =
    AllOf(&[Shape("ActedOn"), Shape("Heard"), Object(&[must("requests", ROWS, "Oldest first")])]);
const ROWS: Kind = List(&MapOf(&Any));
const ADDED: Kind = AllOf(&[Shape("Done"), Object(&[must("added", COUNT, "How many")])]);
const NEW_COOKIE: &[Field] = &[
    must("name", Text, "Its name"),
    must("value", Text, "Its value"),
    may("url", Text, "Whose it is"),
    COOKIE_DOMAIN,
    may("path", Text, "Its path"),
    may("expires", Number, "Seconds since 1970"),
    may("httpOnly", Truth, "Scripts do not see it"),
    may("secure", Truth, "Over secure connections only"),
    COOKIE[7],
];
const COOKIE_DOMAIN: Field = may("domain", Text, "Whose it is");

const REF: Field = may("ref", Text, "The element, by its ref from a snapshot");
const SELECTOR: Field = may("selector", Text, "The element, by a CSS selector");
const BUTTON: Field = may("button", OneOf(&["left", "right", "middle"]), "left by default");
const DOUBLE: Field = may("doubleClick", Truth, "Twice");
const DELAY: Field = may("delayMs", Whole(0, 5000), "Between pointing or pressing, and what follows");
const MODIFIERS: Field = may(
    "modifiers",
    List(&OneOf(&["Alt", "Control", "ControlOrMeta", "Meta", "Shift"])),
    "Keys that are held down",
);
const SIDE: Kind = Whole(1, 8192);

const fn kind(name: &'static [&'static str]) -> Field {
    must("kind", OneOf(name), "Which action")
}

const ACT: Kind = AnyOf(&[
    Object(&[
        kind(&["evaluate"]),
        must("fn", Text, "A function, an expression, or the body of an async function"),
        REF,
        may("engine", OneOf(&["auto", "cdp", "page"]), "How its element is found"),
        may("backendDOMNodeId", Whole(1, MOST), "The element, by Chromium's number"),
    ]),
    Object(&[
        kind(&["click"]),
        REF,
        SELECTOR,
        DOUBLE,
        BUTTON,
        MODIFIERS,
        DELAY,
        may("mode", OneOf(&["trusted", "dom_event"]), "As a user, or by events"),
    ]),
    Object(&[
        kind(&["clickCoords"]),
        must("x", Number, "CSS pixels of the viewport"),
        must("y", Number, "CSS pixels of the viewport"),
        DOUBLE,
        BUTTON,
        MODIFIERS,
        DELAY,
    ]),
    Object(&[
        kind(&["type"]),
        REF,
        SELECTOR,
        must("text", Text, "What to type; may be empty"),
        may("submit", Truth, "Press Enter afterwards"),
        may("slowly", Truth, "Key by key"),
        may("replace", Truth, "Instead of what is there"),
        may("mode", OneOf(&["insert_text", "keystrokes", "set_value"]), "How"),
    ]),
    Object(&[kind(&["insertText"]), must("text", Text, "Goes to what has the focus")]),
    Object(&[kind(&["press"]), must("key", Text, "For example Control+Shift+T"), REF, DELAY]),
    Object(&[kind(&["hover"]), REF, SELECTOR, MODIFIERS]),
    Object(&[kind(&["scrollIntoView"]), REF, SELECTOR]),
    Object(&[
        kind(&["drag"]),
        may("startRef", Text, "What to drag"),
        may("startSelector", Text, "The same, by a CSS selector"),
        may("endRef", Text, "Where to"),
        may("endSelector", Text, "The same, by a CSS selector"),
    ]),
    Object(&[kind(&["select"]), REF, SELECTOR, must("values", TEXTS, "Values or labels of options")]),
    Object(&[
        kind(&["fill"]),
        must(
            "fields",
            List(&Object(&[
                must("ref", Text, "The element"),
                may("type", Text, "text, checkbox or radio"),
                may("value", Any, "What it gets"),
            ])),
            "One after the other",
        ),
    ]),
    Object(&[kind(&["resize"]), must("width", SIDE, "CSS pixels"), must("height", SIDE, "CSS pixels")]),
    Object(&[
        kind(&["wait"]),
        may("timeMs", Whole(0, 30_000), "So long"),
        may("text", Text, "Until it is there"),
        may("textGone", Text, "Until it is gone"),
        SELECTOR,
        REF,
        may("url", Text, "A part of it, or with *"),
        may("loadState", OneOf(&["load", "domcontentloaded", "networkidle"]), "Until it is so"),
        may("fn", Text, "Until it gives something true"),
    ]),
    Object(&[kind(&["close"])]),
    Object(&[
        kind(&["batch"]),
        must("actions", List(&MapOf(&Any)), "Bodies of this route, at most 100 and 5 deep"),
        may("stopOnError", Truth, "true by default"),
    ]),
]);
