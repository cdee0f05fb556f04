//! What answers look like. Members that are not listed may be there, too.

use super::words::Kind::{self, AllOf, Any, List, MapOf, Number, Object, OneOf, OrNull, Shape, Text, Truth};
use super::words::{COUNT, Field, MOST, TEXTS, may, must};

const TAB_ID: Kind = Text;
const RUNG: Kind = OneOf(&["dialog", "terminate", "stop_loading", "renderer", "target", "browser"]);
const RUNGS: Kind = List(&RUNG);
const DIALOG_TYPE: Kind = OneOf(&["alert", "confirm", "prompt", "beforeunload"]);
const RESTARTS: Kind = Object(&[
    must("inWindow", COUNT, "Within the window that ends now"),
    must("max", COUNT, "One more, and its supervisor gives up"),
    must("windowMs", COUNT, "How long the window is"),
]);

/// By their names.
pub(super) const SHAPES: &[(&str, &str, Kind)] = &[
    ("Error", "What failed requests are answered with", Object(ERROR)),
    ("Done", "It was done", Object(DONE)),
    ("ActedOn", "Which tab it was done on", Object(ACTED_ON)),
    ("BrowserStatus", "A browser", Object(BROWSER_STATUS)),
    ("ProfileStatus", "A browser among others", Object(PROFILE_STATUS)),
    ("Check", "Something that was looked at", Object(CHECK)),
    ("Tab", "A tab", Object(TAB)),
    ("Dialog", "An open dialog", Object(DIALOG)),
    ("DialogRecord", "A dialog, open or closed", AllOf(&[Shape("Dialog"), Object(DIALOG_RECORD)])),
    ("BrowserState", "The dialogs of a tab", Object(BROWSER_STATE)),
    ("Recovered", "How a tab was brought back", Object(RECOVERED)),
    ("Evaluated", "What a script gave", AllOf(&[Shape("ActedOn"), Object(EVALUATED)])),
    ("Acted", "What the page saw of an action", AllOf(&[Shape("ActedOn"), Object(ACTED)])),
    ("Waited", "What was waited for", AllOf(&[Shape("ActedOn"), Object(WAITED)])),
    ("Batched", "What became of several actions", AllOf(&[Shape("ActedOn"), Object(BATCHED)])),
    ("Download", "A file that was downloaded", Object(DOWNLOAD)),
    ("Snapshot", "A page as text with refs", Object(SNAPSHOT)),
    ("Nodes", "A page as a list of nodes", Object(NODES)),
    ("Heard", "Which rows these are", Object(HEARD)),
    ("Cookie", "A cookie", Object(COOKIE)),
    ("Share", "What is taken of what there is", Object(SHARE)),
    ("BrowserNode", "A browser in the tree, with its tabs", Object(BROWSER_NODE)),
];

const OK: Field = must("ok", Truth, "Always true");
const TARGET_ID: Field = must("targetId", Text, "Chromium's id of the tab's target");
const BY_DIALOG: Field = may("blockedByDialog", Truth, "A dialog is open, and there is no other result");
const DIALOGS: Field = may("browserState", Shape("BrowserState"), "The dialogs, where one is open");

const ERROR: &[Field] = &[
    must("error", Text, "In words"),
    may(
        "code",
        OneOf(&[
            "ACT_KIND_REQUIRED",
            "ACT_INVALID_REQUEST",
            "ACT_SELECTOR_UNSUPPORTED",
            "ACT_EVALUATE_DISABLED",
            "ACT_TARGET_ID_MISMATCH",
            "ACT_OPERATION_FAILED",
        ]),
        "Of /act, for programs",
    ),
    may("reason", Text, "For programs: timeout, stale_ref, tab_not_found, overloaded, ..."),
    may("details", MapOf(&Any), "What is known beside: field, budgetMs, elapsedMs, origin, retry, ..."),
];

const DONE: &[Field] = &[OK, may("targetId", Text, "Chromium's id of the tab's target")];

const ACTED_ON: &[Field] = &[OK, TARGET_ID, may("url", Text, "Where the tab is now")];

const BROWSER_STATUS: &[Field] = &[
    must("enabled", Truth, "Always true"),
    must("profile", Text, "Its name"),
    must("driver", Text, "Always openclaw, as clients of the contract call it"),
    must("transport", Text, "Always cdp"),
    must("running", Truth, "It works now"),
    must("starting", Truth, "It is just being started"),
    must("cdpReady", Truth, "As running"),
    must("cdpHttp", Truth, "As running"),
    must("pageReady", Truth, "As running"),
    must("pid", OrNull(&COUNT), "Its process, where it was launched here"),
    must("cdpPort", OrNull(&COUNT), "Always null: whoever reaches its port has the browser"),
    must("cdpUrl", OrNull(&Text), "Where it is attached to"),
    must("chosenBrowser", OrNull(&Text), "What runs"),
    must("version", OrNull(&Text), "Which version of it"),
    must("detectedBrowser", OrNull(&Text), "What would be launched"),
    must("detectedExecutablePath", OrNull(&Text), "Which program that is"),
    must("detectError", OrNull(&Text), "Why there is none"),
    must("userDataDir", OrNull(&Text), "The folder of its data, where it is kept"),
    must("color", Text, "What it is shown in"),
    must("headless", Truth, "Without windows"),
    must("headlessSource", OneOf(&["request", "config", "default"]), "Who said so"),
    must("noSandbox", Truth, "Without Chromium's sandbox"),
    must("executablePath", OrNull(&Text), "The program that is configured"),
    must("attachOnly", Truth, "It is never launched"),
    may("trouble", Text, "Why it cannot be started now, or the last start failed"),
    must("graphics", OrNull(&Any), "Always null"),
];

const PROFILE_STATUS: &[Field] = &[
    must("name", Text, "Its name"),
    must("transport", Text, "Always cdp"),
    must("cdpPort", OrNull(&COUNT), "Always null"),
    must("cdpUrl", OrNull(&Text), "Where it is attached to"),
    must("color", Text, "What it is shown in"),
    must("driver", Text, "Always openclaw"),
    must("running", Truth, "It works now"),
    must("tabCount", COUNT, "Its tabs"),
    must("isDefault", Truth, "It is meant where none is named"),
    must("isRemote", Truth, "It is on another machine"),
    may("missingFromConfig", Truth, "A call has made it; it is gone with the service"),
    must("reconcileReason", OrNull(&Text), "Always null"),
];

const CHECK: &[Field] = &[
    must("id", Text, "For programs"),
    must("label", Text, "For people"),
    must("status", OneOf(&["pass", "info", "warn", "fail"]), "How it is"),
    must("summary", Text, "In words"),
    may("fixHint", Text, "What to do about it"),
];

const TAB: &[Field] = &[
    must("tabId", TAB_ID, "t1, t2, ...; never used again"),
    must("targetId", Text, "Chromium's id of its target now"),
    must("suggestedTargetId", Text, "What to call it by: its label, else its tabId"),
    may("label", Text, "The name that it was given"),
    must("type", Text, "Always page"),
    must("url", Text, "Of its main frame"),
    must("title", Text, "Of its main frame"),
    may("favicon", Text, "Of its main frame"),
    must("loading", Truth, "A document is being loaded"),
    may("error", Any, "The last load failed"),
    must("canGoBack", Truth, "There is something to go back to"),
    must("canGoForward", Truth, "There is something to go forward to"),
    must(
        "state",
        OneOf(&["ready", "busy", "dialog", "stuck", "crashed", "discarded", "restarting"]),
        "How it is",
    ),
    may("stuckForMs", COUNT, "How long it has not answered"),
    may("stuckBy", Text, "What keeps it: script, evaluate, native, stopped, navigation, unknown"),
    may("dialog", Shape("Dialog"), "What is open"),
    may("opener", TAB_ID, "The tab whose page opened it"),
    may("popupsClosed", COUNT, "Tabs of its page that were closed, since there were too many"),
    must("generation", COUNT, "Counts its documents"),
    must("restarts", COUNT, "Of its actors, its renderer or its target"),
    may("sharedRenderer", TEXTS, "The tabs that share its fate"),
    must(
        "queue",
        Object(&[must("actions", COUNT, "Queued or running"), must("evaluates", COUNT, "In flight")]),
        "What waits or works",
    ),
    must("browser", Any, "Its browser in the tree"),
    must("epoch", COUNT, "The start of its browser"),
    may("lastRecovery", Any, "How it was brought back last, where one tab is asked for"),
];

const DIALOG: &[Field] = &[
    must("id", Text, "d1, d2, ..."),
    must("type", DIALOG_TYPE, "Which kind"),
    must("message", Text, "What the page says"),
    may("defaultValue", Text, "The preset text of a prompt"),
];

const DIALOG_RECORD: &[Field] = &[
    must("openedAt", Text, "ISO 8601"),
    may("closedAt", Text, "ISO 8601"),
    may("closedBy", Text, "agent, armed, remote, ..."),
];

const BROWSER_STATE: &[Field] = &[must(
    "dialogs",
    Object(&[
        must("pending", List(&Shape("DialogRecord")), "The open one"),
        must("recent", List(&Shape("DialogRecord")), "Closed ones, at most 20"),
    ]),
    "Those of the tab",
)];

const RECOVERED: &[Field] = &[
    OK,
    must("targetId", Text, "Chromium's id of the tab's target now"),
    must("tab", TAB_ID, "The tab"),
    must("cause", Text, "Why it was brought back"),
    must("rung", RUNG, "What freed it"),
    must("tried", RUNGS, "What was tried, that one included"),
    must("tookMs", COUNT, "How long it took"),
    must("lost", TEXTS, "What it cost"),
    must("url", Text, "What the tab shows now"),
    must("generation", COUNT, "Its document now"),
];

const EVALUATED: &[Field] = &[
    may("result", Any, "The value; absent where JSON has none"),
    may("resultType", Text, "JavaScript's type: undefined, null, number, bigint, array, node, error, ..."),
    may("unserializable", Text, "The value as text, where JSON has none: NaN, -0, 123n"),
    may("unserializableAt", MapOf(&Text), "The same inside of the value, by JSON pointer"),
    may("why", Text, "Why there is no value: cycle, too_large"),
    may("bytes", COUNT, "How large it is"),
    may("limit", COUNT, "How large it may be"),
    may("engine", OneOf(&["cdp", "page"]), "How its element was found"),
    may("fallbackReason", Text, "Why it was not found by its DOM node"),
    BY_DIALOG,
    DIALOGS,
];

const ACTED: &[Field] = &[
    may("effect", OneOf(&["confirmed", "partial", "unverifiable", "refused"]), "How sure it is"),
    may("route", Text, "How it reached the page"),
    may("observed", MapOf(&Any), "What the page saw: target, hit, value, enterPressed, navigation, ..."),
    may("openedTabs", TEXTS, "Tabs that the page opened"),
    may("opened", List(&MapOf(&Any)), "The same, with what is known of them"),
    may("downloads", List(&Shape("Download")), "Downloads that began"),
    BY_DIALOG,
    DIALOGS,
];

const WAITED: &[Field] = &[
    may("effect", Text, "confirmed"),
    may(
        "observed",
        Object(&[
            must("held", List(&MapOf(&Any)), "The conditions that held, and when"),
            must("elapsedMs", COUNT, "How long it took"),
        ]),
        "What was seen",
    ),
    BY_DIALOG,
    DIALOGS,
];

const STOPPED: Kind = Object(&[
    must("reason", Text, "navigation, closed, error, dialog, ..."),
    must("afterAction", Kind::Whole(1, MOST), "The action behind which it stopped"),
    may("url", Text, "Where the page is then"),
    must("skipped", COUNT, "How many were not begun"),
]);

const BATCHED: &[Field] = &[
    may(
        "results",
        List(&Object(&[
            must("ok", Truth, "It was done"),
            may("error", Text, "Why not"),
            may("navigated", Truth, "Another document came"),
            may("url", Text, "Where it went"),
        ])),
        "One of each action that was begun",
    ),
    may("aborted", STOPPED, "Why it stopped early: a navigation, or the tab was closed"),
    may("stopped", STOPPED, "Why it stopped early, whatever the reason"),
    BY_DIALOG,
    DIALOGS,
];

const DOWNLOAD: &[Field] = &[
    must("url", Text, "Where it comes from"),
    must("suggestedFilename", Text, "What the server or the page would call it"),
    may("path", Text, "The file on the service's machine"),
    may("state", Text, "How far it is"),
    may("bytes", COUNT, "How many have arrived"),
    may("totalBytes", COUNT, "How many there will be"),
];

const SNAPSHOT: &[Field] = &[
    OK,
    must("format", OneOf(&["ai"]), "Always ai"),
    TARGET_ID,
    may("url", Text, "What was read"),
    must("snapshot", Text, "The lines"),
    must("refs", MapOf(&Object(REF)), "The elements that can be named"),
    must(
        "stats",
        Object(&[
            must("lines", COUNT, ""),
            must("chars", COUNT, "UTF-16"),
            must("refs", COUNT, ""),
            must("interactive", COUNT, ""),
        ]),
        "Counts",
    ),
    may("truncated", Truth, "Something is missing"),
    may("missing", MapOf(&Any), "What"),
    may("next", Text, "Given as after, it goes on there"),
    may("newElements", COUNT, "Since the last one of this document with these options"),
    may("labelsCount", COUNT, "Elements that are marked on the image"),
    may("imagePath", Text, "The image with the marks"),
    BY_DIALOG,
    DIALOGS,
];

const REF: &[Field] = &[
    must("role", Text, "In lower case"),
    may("name", Text, "What it is called"),
    may("nth", COUNT, "Which one of those with this role and name"),
];

const NODES: &[Field] = &[
    OK,
    must("format", OneOf(&["aria"]), "Always aria"),
    TARGET_ID,
    may("url", Text, "What was read"),
    must(
        "nodes",
        List(&Object(&[
            must("ref", Text, "ax1, ax2, ..."),
            must("role", Text, "As Chromium spells it"),
            must("name", Text, "What it is called"),
            must("depth", COUNT, "How far from the root"),
        ])),
        "In reading order",
    ),
    may("truncated", Truth, "Something is missing"),
    BY_DIALOG,
    DIALOGS,
];

const HEARD: &[Field] = &[
    must("next", COUNT, "Ask with it as since for what comes after these"),
    must("dropped", COUNT, "Rows that had to make room"),
    must("lost", COUNT, "What the page made more of than could be taken"),
    must("gaps", COUNT, "How often nothing was heard for a while"),
];

pub(super) const COOKIE: &[Field] = &[
    must("name", Text, "Its name"),
    must("value", Text, "Its value"),
    must("domain", Text, "With a dot in front where subdomains have it, too"),
    must("path", Text, "Its path"),
    must("expires", Number, "Seconds since 1970; -1 for one that ends with the browser"),
    must("httpOnly", Truth, "Scripts do not see it"),
    must("secure", Truth, "Over secure connections only"),
    may("sameSite", OneOf(&["Lax", "None", "Strict"]), "When it goes along"),
];

const SHARE: &[Field] = &[must("taken", COUNT, "Now"), must("limit", COUNT, "At most")];

const BROWSER_NODE: &[Field] = &[
    may("profile", Text, "Whose browser it is"),
    must("browser", Any, "Its name in the tree"),
    must("epoch", COUNT, "Counts its starts"),
    must("state", OneOf(&["starting", "ready", "lost", "failed"]), "How it is"),
    may("cause", Text, "Why it does not work"),
    may("version", Text, "What it is"),
    may("pid", COUNT, "Its process, where it was launched here"),
    must("restarts", RESTARTS, "Its own"),
    must("evaluates", Shape("Share"), "In flight"),
    must("dials", Shape("Share"), "Links being made"),
    must("openTabs", Shape("Share"), "Its tabs"),
    must(
        "tabs",
        List(&Object(&[
            must("tabId", TAB_ID, "And what else the tab list says"),
            must("actorRestarts", RESTARTS, "Of its actors"),
            must(
                "actors",
                List(&Object(&[
                    must("actor", Text, "Which"),
                    must("state", Text, "starting, running, stopping or stopped"),
                    may("link", Truth, "Its link to Chromium is open"),
                ])),
                "In the order in which they start",
            ),
        ])),
        "What is below it",
    ),
];
