//! Parts of the text of a page: below an element, around what is looked for, up to a length. Pure.
//!
//! A line belongs to what stands above it and further to the left.

/// The line of an element and what is below it.
pub(super) fn below(outline: &str, element: &str) -> Option<String> {
    let mark = format!("[ref={}]", element.trim_start_matches("ref=").trim_start_matches('@'));
    let mut lines = outline.lines().skip_while(|line| !line.contains(&mark));
    let first = lines.next()?;
    let depth = indent(first);
    let inside = lines.take_while(|line| indent(line) > depth);
    let all: Vec<&str> =
        std::iter::once(first).chain(inside).map(|line| line.get(depth..).unwrap_or(line)).collect();
    Some(all.join("\n"))
}

/// The lines that contain every word, in any case, with the lines that they belong to; and how many there are.
pub(super) fn around(outline: &str, words: &str) -> (String, usize) {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let mut above: Vec<&str> = Vec::new();
    let (mut kept, mut found) = (Vec::new(), 0);
    for line in outline.lines() {
        while above.last().is_some_and(|it| indent(it) >= indent(line)) {
            above.pop();
        }
        let text = line.to_lowercase();
        if words.iter().all(|word| text.contains(word)) {
            found += 1;
            kept.append(&mut above);
            kept.push(line);
        } else {
            above.push(line);
        }
    }
    (kept.join("\n"), found)
}

/// Whole lines of at most so many characters, and how many lines were left out.
pub(super) fn cut(outline: String, most: usize) -> (String, usize) {
    if outline.chars().nth(most).is_none() {
        return (outline, 0);
    }
    let (mut end, mut chars, mut left) = (0, 0, 0);
    for line in outline.split_inclusive('\n') {
        chars += line.chars().count();
        if chars <= most { end += line.len() } else { left += 1 }
    }
    (outline[..end].trim_end().to_owned(), left)
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start_matches(' ').len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "- main [ref=e1]:\n  - form [ref=e2]:\n    - textbox \"Name\" [ref=e3]\n    - button \"Save\" [ref=e4]\n  - link \"Away\" [ref=e12]";

    #[test]
    fn an_element_is_shown_with_what_is_below_it() {
        assert_eq!(
            below(PAGE, "e2").unwrap(),
            "- form [ref=e2]:\n  - textbox \"Name\" [ref=e3]\n  - button \"Save\" [ref=e4]"
        );
        assert_eq!(below(PAGE, "ref=e12").unwrap(), "- link \"Away\" [ref=e12]");
        assert_eq!(below(PAGE, "e9"), None);
    }

    #[test]
    fn what_is_found_is_shown_with_what_it_is_in() {
        let (text, found) = around(PAGE, "save");
        assert_eq!(
            (text.as_str(), found),
            ("- main [ref=e1]:\n  - form [ref=e2]:\n    - button \"Save\" [ref=e4]", 1)
        );
        assert_eq!(around(PAGE, "away link").1, 1);
        assert_eq!(around(PAGE, "nothing"), (String::new(), 0));
    }

    #[test]
    fn only_whole_lines_are_kept() {
        assert_eq!(cut("ab\ncd\nef".into(), 8), ("ab\ncd\nef".into(), 0));
        assert_eq!(cut("ab\ncd\nef".into(), 7), ("ab\ncd".into(), 1));
        assert_eq!(cut("ab\ncd".into(), 1), (String::new(), 2));
    }
}
