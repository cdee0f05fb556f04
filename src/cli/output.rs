//! What is printed. A reader that goes away (`| head`) is no failure.

use std::io::Write;

/// A line on standard output.
pub(super) fn line(text: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

/// A line on standard error.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

/// `text` without characters that would drive a terminal: titles and messages are the page's.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// One cell: on one line, and no longer than `most` characters.
pub(super) fn cell(text: &str, most: usize) -> String {
    let flat = clean(text).replace(['\n', '\t'], " ");
    if flat.chars().count() <= most {
        return flat;
    }
    flat.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// Rows in aligned columns; the last column is not padded.
pub(super) fn table<const N: usize>(rows: &[[String; N]]) -> String {
    let mut widths = [0; N];
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let line = |row: &[String; N]| {
        let cells: Vec<String> =
            row.iter().zip(widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_cannot_drive_the_terminal() {
        assert_eq!(clean("a\u{1b}[31mb\nc\u{9b}d"), "a\u{fffd}[31mb\nc\u{fffd}d");
        assert_eq!(cell("a\nb", 9), "a b");
        assert_eq!(cell("abcdef", 4), "abc…");
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [["TAB", "URL"], ["t10", "x"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&rows), "TAB  URL\nt10  x");
    }
}
