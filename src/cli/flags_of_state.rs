//! What can be said on the command line about what pages say, hold and believe.

use clap::{Subcommand, ValueEnum};

use super::flags_of_acts::OnTab;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Kind {
    Local,
    Session,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Print what a page wrote to its console
    Console {
        /// At least so serious
        #[arg(long, value_parser = ["error", "warn", "info"])]
        level: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Print the errors that nobody caught
    Errors {
        /// And forget them
        #[arg(long)]
        clear: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Print the requests of a page
    Requests {
        /// Only those with this in their address or type
        #[arg(long, value_name = "TEXT")]
        filter: Option<String>,
        /// And forget them
        #[arg(long)]
        clear: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Wait for a response and print its body
    #[command(name = "responsebody")]
    ResponseBody {
        /// Its address, a part of it, or a pattern with `*` and `**`
        #[arg(value_name = "URL")]
        address: String,
        /// At most so many characters
        #[arg(long, value_name = "N")]
        max_chars: Option<u32>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Print the cookies, set one, or forget them
    Cookies {
        #[command(subcommand)]
        what: Option<Cookies>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Read or write what an origin stores
    Storage {
        /// Which storage
        kind: Kind,
        #[command(subcommand)]
        what: Storage,
    },
    /// Make a page believe something
    Set {
        #[command(subcommand)]
        what: Set,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Cookies {
    /// Set one
    Set {
        name: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
        /// The address that it is for
        // Not `url`: that is the service's, and one name is one value to clap.
        #[arg(long = "for", value_name = "URL")]
        place: String,
    },
    /// Forget all of them
    Clear,
}

#[derive(Debug, Subcommand)]
pub(super) enum Storage {
    /// Print all values, or one
    Get {
        key: Option<String>,
        #[command(flatten)]
        on: OnTab,
    },
    /// Set a value
    Set {
        key: String,
        #[arg(allow_hyphen_values = true)]
        value: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Forget everything
    Clear {
        #[command(flatten)]
        on: OnTab,
    },
}

#[derive(Debug, Subcommand)]
pub(super) enum Set {
    /// Take the network away, or give it back
    Offline {
        #[arg(value_parser = ["on", "off"])]
        state: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Send headers with every request
    Headers {
        // Not `json`: that is how answers are printed, and one name is one value.
        /// JSON: `{"X-Name": "value"}`; `{}` for none
        #[arg(id = "headers", value_name = "JSON")]
        json: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Give a name and a password to servers that ask
    Credentials {
        #[arg(required_unless_present = "clear", requires = "password")]
        username: Option<String>,
        password: Option<String>,
        /// Give none any more
        #[arg(long, conflicts_with_all = ["username", "password"])]
        clear: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Be at another place
    Geo {
        #[arg(allow_hyphen_values = true, required_unless_present = "clear", requires = "longitude")]
        latitude: Option<f64>,
        #[arg(allow_hyphen_values = true)]
        longitude: Option<f64>,
        /// In metres
        #[arg(long)]
        accuracy: Option<f64>,
        /// Who may ask for it; without it, the page that is shown
        #[arg(long)]
        origin: Option<String>,
        /// Be where one is
        #[arg(long, conflicts_with_all = ["latitude", "longitude"])]
        clear: bool,
        #[command(flatten)]
        on: OnTab,
    },
    /// Prefer these colours
    Media {
        #[arg(value_parser = ["dark", "light", "no-preference", "none"])]
        scheme: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Be in another time zone, such as Europe/Berlin
    Timezone {
        zone: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Speak another language, such as de-DE
    Locale {
        locale: String,
        #[command(flatten)]
        on: OnTab,
    },
    /// Be another device, such as "iPhone 14"
    Device {
        name: String,
        #[command(flatten)]
        on: OnTab,
    },
}
