//! Chromium's command line: options and machine facts in, arguments out.

use super::error::LaunchError;
use super::machine::Machine;
use super::options::LaunchOptions;

/// A switch that Chromium ignores. It ties the browser process to its lease, so that a later
/// start of the service can tell it from a browser that a user started on the same folder.
pub(super) const LEASE: &str = "--tabvisor-lease=";

/// The switch that names the profile.
pub(super) const USER_DATA_DIR: &str = "--user-data-dir=";

/// Makes a browser quiet: nothing fetched, asked, reported or played on its own account.
const QUIET: [&str; 23] = [
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--no-pings",
    "--noerrdialogs",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    // Without a handler process there is none to outlive the browser, and no report in the user's home.
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    // Field trials differ from machine to machine and from day to day.
    "--disable-field-trial-config",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--disable-quic",
    "--hide-crash-restore-bubble",
    "--metrics-recording-only",
    "--mute-audio",
    // No keyring of the desktop is asked, or waited for.
    "--password-store=basic",
    "--use-mock-keychain",
    "--disable-prompt-on-repost",
];

/// Makes every tab as good as the one in front, and lets a caller's actions through as they are.
const AUTOMATED: [&str; 6] = [
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    // What an evaluate opens or pushes has no user's gesture behind it.
    "--disable-popup-blocking",
    "--disable-ipc-flooding-protection",
    // Otherwise input into a document that has not painted yet is dropped without a word.
    "--allow-pre-commit-input",
];

/// Features that cover pages with bubbles, call home, or go to another address than the one asked for.
const DISABLED_FEATURES: [&str; 8] = [
    "Translate",
    "OptimizationHints",
    "MediaRouter",
    "DialMediaRouteProvider",
    "InterestFeedContentSuggestions",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "HttpsUpgrades",
];

/// Switches that are ours alone, and what to use instead.
const OWNED: [(&str, &str); 12] = [
    ("user-data-dir", "tabvisor owns the profile: use --profile"),
    ("remote-debugging-port", "tabvisor takes a free port and reads it back"),
    ("remote-debugging-pipe", "tabvisor holds the pipe, so that chromium ends with it"),
    ("remote-debugging-address", "the DevTools port listens on loopback only"),
    ("tabvisor-lease", "tabvisor writes it itself"),
    ("headless", "headless is the default: use --headed for a window"),
    ("no-sandbox", "use --no-sandbox of tabvisor, or TABVISOR_NO_SANDBOX=1"),
    ("renderer-process-limit", "use the option renderer_process_limit"),
    ("window-size", "use the option window_size"),
    ("no-startup-window", "tabvisor opens the tabs"),
    ("single-process", "every tab would hang with every other"),
    ("type", "it would not start a browser"),
];

/// Refuses what cannot work, before anything is touched.
///
/// # Errors
/// [`LaunchError`] that names the knob.
pub(super) fn check(options: &LaunchOptions, machine: &Machine) -> Result<(), LaunchError> {
    if machine.root && !options.no_sandbox {
        return Err(LaunchError::RootNeedsNoSandbox);
    }
    if !options.headless && !machine.display {
        return Err(LaunchError::NoDisplay);
    }
    for argument in &options.extra_args {
        let refused = |why| Err(LaunchError::ArgumentRefused { argument: argument.clone(), why });
        match switch(argument) {
            None => return refused("it is not a flag; pages are opened as tabs"),
            Some(name) if name.contains('\0') || argument.contains('\0') => return refused("it holds a NUL"),
            Some(name) => {
                if let Some((_, why)) = OWNED.iter().find(|(owned, _)| *owned == name) {
                    return refused(why);
                }
            }
        }
    }
    Ok(())
}

/// The whole command line, for a `profile` and the id of its `lease`.
///
/// Proxy variables of the environment reach the pages' traffic only: the DevTools port is a
/// server of Chromium's own and takes no proxy.
pub(super) fn arguments(
    options: &LaunchOptions,
    machine: &Machine,
    profile: &str,
    lease: &str,
) -> Vec<String> {
    let mut all: Vec<String> = vec![
        format!("{USER_DATA_DIR}{profile}"),
        format!("{LEASE}{lease}"),
        "--remote-debugging-port=0".into(),
        "--remote-debugging-pipe".into(),
    ];
    all.extend(QUIET.iter().chain(&AUTOMATED).map(ToString::to_string));
    if options.headless {
        all.push("--headless=new".into());
        // Otherwise a picture beyond the view takes them away for good, and the page's layout with them.
        all.push("--hide-scrollbars".into());
    } else {
        // A print dialog holds the page until a person answers it (measured).
        all.push("--kiosk-printing".into());
    }
    if options.no_sandbox {
        all.push("--no-sandbox".into());
    }
    if machine.shm_is_small() {
        all.push("--disable-dev-shm-usage".into());
    }
    all.push(format!("--renderer-process-limit={}", options.renderer_process_limit));
    all.push(format!("--window-size={},{}", options.window_size.0, options.window_size.1));
    // It stays alive with no tab at all, before the first and after the last.
    all.push("--no-startup-window".into());
    let (features, others) = split_features(&options.extra_args);
    // Chromium honours only the last such switch, so a caller's list is joined with ours.
    all.push(format!(
        "{DISABLE_FEATURES}{}",
        DISABLED_FEATURES.into_iter().chain(features).collect::<Vec<_>>().join(",")
    ));
    all.extend(others.into_iter().cloned());
    all
}

const DISABLE_FEATURES: &str = "--disable-features=";

fn split_features(extra: &[String]) -> (Vec<&str>, Vec<&String>) {
    let (features, others): (Vec<_>, Vec<_>) =
        extra.iter().partition(|argument| switch(argument) == Some("disable-features"));
    let lists = features.into_iter().filter_map(|argument| argument.split_once('=')).map(|(_, list)| list);
    (lists.filter(|list| !list.is_empty()).collect(), others)
}

/// The name of a switch, `None` for anything else. Chromium takes one dash as well as two.
fn switch(argument: &str) -> Option<&str> {
    let bare = argument.strip_prefix("--").or_else(|| argument.strip_prefix('-'))?;
    let name = bare.split('=').next().unwrap_or(bare);
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOMY: Machine = Machine { root: false, shm_free: Some(8 << 30), display: false };

    fn options() -> LaunchOptions {
        LaunchOptions::new("/state")
    }

    fn line(options: &LaunchOptions, machine: &Machine) -> Vec<String> {
        arguments(options, machine, "/state/profiles/abc", "abc")
    }

    fn has(line: &[String], flag: &str) -> bool {
        line.iter().any(|argument| argument == flag)
    }

    #[test]
    fn a_plain_launch_owns_profile_port_and_pipe() {
        let line = line(&options(), &ROOMY);
        for flag in [
            "--user-data-dir=/state/profiles/abc",
            "--tabvisor-lease=abc",
            "--remote-debugging-port=0",
            "--remote-debugging-pipe",
            "--headless=new",
            "--hide-scrollbars",
            "--renderer-process-limit=200",
            "--window-size=1280,720",
            "--no-startup-window",
        ] {
            assert!(has(&line, flag), "{flag}");
        }
        for flag in ["--no-sandbox", "--disable-dev-shm-usage"] {
            assert!(!has(&line, flag), "{flag}");
        }
        let mut once = line.clone();
        once.sort();
        once.dedup();
        assert_eq!(once.len(), line.len(), "no flag is given twice");
    }

    #[test]
    fn machine_and_options_add_what_they_need() {
        let small = Machine { shm_free: Some(64 << 20), ..ROOMY };
        assert!(has(&line(&options(), &small), "--disable-dev-shm-usage"));
        let headed = LaunchOptions { headless: false, no_sandbox: true, ..options() };
        let line = line(&headed, &ROOMY);
        assert!(has(&line, "--no-sandbox") && !has(&line, "--headless=new"));
    }

    #[test]
    fn a_callers_features_are_joined_with_ours() {
        let extra = vec!["--disable-features=A,B".into(), "--lang=de".into(), "--disable-features=C".into()];
        let line = line(&LaunchOptions { extra_args: extra, ..options() }, &ROOMY);
        let lists: Vec<_> = line.iter().filter(|argument| argument.starts_with(DISABLE_FEATURES)).collect();
        assert_eq!(lists.len(), 1);
        assert!(lists[0].contains("Translate,") && lists[0].ends_with(",A,B,C"), "{lists:?}");
        assert!(has(&line, "--lang=de"));
    }

    #[test]
    fn root_needs_to_say_no_sandbox() {
        let root = Machine { root: true, ..ROOMY };
        assert_eq!(check(&options(), &root), Err(LaunchError::RootNeedsNoSandbox));
        assert_eq!(check(&LaunchOptions { no_sandbox: true, ..options() }, &root), Ok(()));
        assert_eq!(check(&options(), &ROOMY), Ok(()));
    }

    #[test]
    fn a_window_needs_a_display() {
        let headed = LaunchOptions { headless: false, ..options() };
        assert_eq!(check(&headed, &ROOMY), Err(LaunchError::NoDisplay));
        assert_eq!(check(&headed, &Machine { display: true, ..ROOMY }), Ok(()));
    }

    #[test]
    fn what_we_own_is_refused_by_name() {
        let refused = |argument: &str| {
            let with = LaunchOptions { extra_args: vec!["--lang=de".into(), argument.into()], ..options() };
            check(&with, &ROOMY).unwrap_err().to_string()
        };
        for argument in
            ["--user-data-dir=/x", "-user-data-dir=/x", "--remote-debugging-port=9222", "--headless"]
        {
            assert!(refused(argument).starts_with(&format!("chromium argument {argument:?} refused: ")));
        }
        for argument in ["https://example.org/", "--", "-", "", "--lang=\0"] {
            assert!(refused(argument).contains("refused"), "{argument:?}");
        }
        assert!(refused("--user-data-dir=/x").contains("use --profile"));
    }
}
