//! `browser_set_input_files`, `browser_download`: files into pages and out of them.

use serde_json::Value;
use tabvisor_actors::files::Download;
use tabvisor_actors::{Given, Upload, UploadTo};
use tabvisor_page::act::Route;

use super::super::call::{Call, short};
use super::super::catalog::{Hints, Spec, Within};
use super::super::envelope::{Told, members};
use super::super::schema::{Kind, may, must};
use super::{Answer, acted};

pub(super) const TOOLS: &[Spec] = &[
    Spec {
        name: "browser_set_input_files",
        about: "Give files of the uploads folder to the file input of ref; with via_chooser, ref is what opens the chooser. Names \
                and sizes are read back from the page.",
        hints: Hints::Sets,
        on_tab: true,
        args: &[
            must("ref", Kind::Text(64), ""),
            must("files", Kind::Texts(50), "paths"),
            may("via_chooser", Kind::Flag, ""),
        ],
        budget: Within::Patient,
        run: upload,
        step: None,
    },
    Spec {
        name: "browser_download",
        about: "Click ref and wait for the file that this downloads; without ref, wait for one that began or begins. destination is \
                a path in the downloads folder. Tells path, bytes and state.",
        hints: Hints::Acts,
        on_tab: true,
        args: &[may("ref", Kind::Text(64), ""), may("destination", Kind::Text(4096), "")],
        budget: Within::Patient,
        run: download,
        step: None,
    },
];

fn upload(call: Call) -> Answer {
    Box::pin(async move {
        let on = call.args.element();
        let to = match call.args.flag("via_chooser") {
            Some(true) => UploadTo::ChooserOf(on),
            _ => UploadTo::Input(on),
        };
        let upload = Upload { files: Given::Paths(call.args.texts("files")), to };
        let before = call.tab()?;
        let given = call.supervisor().upload(before.tab_id, upload, &call.budget).await;
        Ok(match given.transpose() {
            Some(acted) => call.acted(&before, |it| acted::told("upload", it), acted),
            None => call.settle(&before, Ok(Told::seen(Route::Cdp, "", "the next chooser gets them"))),
        })
    })
}

fn download(call: Call) -> Answer {
    Box::pin(async move {
        let (on, to) = (call.args.named(), call.args.text("destination"));
        let before = call.tab()?;
        let (tab, supervisor) = (before.tab_id, call.supervisor());
        let downloaded = match on {
            Some(on) => supervisor.download(tab, on, to.as_deref(), &call.budget).await,
            None => supervisor.wait_for_download(tab, to.as_deref(), &call.budget).await,
        };
        let told = downloaded.map(|download| {
            let summary = format!("{} bytes of {}", download.bytes, short(&download.suggested_filename));
            let told = Told::seen(Route::Browser, "the browser told that the file is whole", summary);
            told.with("download", row(&download))
        });
        Ok(call.settle(&before, told))
    })
}

/// A download. Chromium's own name for it stays here.
pub(super) fn row(download: &Download) -> Value {
    let mut row = members(download);
    row.remove("guid");
    if let Some(Value::String(url)) = row.get_mut("url") {
        *url = short(url);
    }
    Value::Object(row)
}
