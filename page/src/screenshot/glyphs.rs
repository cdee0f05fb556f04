//! The letters of refs, as bitmaps.

/// Pixels of a letter, across and down.
pub(super) const SIZE: (u32, u32) = (5, 7);

type Glyph = [u8; 7];

/// The rows of a letter, the leftmost pixel in the highest of five bits. What is neither `0` to `9`
/// nor `a` to `z` is a block.
fn glyph(letter: char) -> Glyph {
    let index = |from: char| usize::from(u8::try_from(letter).unwrap_or(0)) - usize::from(from as u8);
    match letter {
        '0'..='9' => DIGITS[index('0')],
        'a'..='z' => LETTERS[index('a')],
        _ => [0b11111; 7],
    }
}

/// The pixels that are set in a text, one pixel apart from letter to letter.
pub(super) fn pixels(text: &str) -> impl Iterator<Item = (u32, u32)> + '_ {
    (0u32..).zip(text.chars()).flat_map(|(at, letter)| {
        (0u32..).zip(glyph(letter)).flat_map(move |(y, row)| {
            (0..SIZE.0)
                .filter(move |x| row >> (SIZE.0 - 1 - x) & 1 == 1)
                .map(move |x| (at * (SIZE.0 + 1) + x, y))
        })
    })
}

/// How many pixels a text is wide.
pub(super) fn width(text: &str) -> u32 {
    let letters = u32::try_from(text.chars().count()).unwrap_or(u32::MAX);
    letters.saturating_mul(SIZE.0 + 1).saturating_sub(1)
}

#[rustfmt::skip]
const DIGITS: [Glyph; 10] = [
    [0b01110, 0b10001, 0b10011, 0b10101, 0b11001, 0b10001, 0b01110],
    [0b00100, 0b01100, 0b10100, 0b00100, 0b00100, 0b00100, 0b11111],
    [0b01110, 0b10001, 0b00001, 0b00110, 0b01000, 0b10000, 0b11111],
    [0b11110, 0b00001, 0b00001, 0b01110, 0b00001, 0b00001, 0b11110],
    [0b00010, 0b00110, 0b01010, 0b10010, 0b11111, 0b00010, 0b00010],
    [0b11111, 0b10000, 0b11110, 0b00001, 0b00001, 0b10001, 0b01110],
    [0b00110, 0b01000, 0b10000, 0b11110, 0b10001, 0b10001, 0b01110],
    [0b11111, 0b00001, 0b00010, 0b00100, 0b01000, 0b01000, 0b01000],
    [0b01110, 0b10001, 0b10001, 0b01110, 0b10001, 0b10001, 0b01110],
    [0b01110, 0b10001, 0b10001, 0b01111, 0b00001, 0b00010, 0b01100],
];

#[rustfmt::skip]
const LETTERS: [Glyph; 26] = [
    [0b00000, 0b00000, 0b01110, 0b00001, 0b01111, 0b10001, 0b01111], // a
    [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b11110], // b
    [0b00000, 0b00000, 0b01111, 0b10000, 0b10000, 0b10000, 0b01111], // c
    [0b00001, 0b00001, 0b01111, 0b10001, 0b10001, 0b10001, 0b01111], // d
    [0b00000, 0b00000, 0b01110, 0b10001, 0b11111, 0b10000, 0b01110], // e
    [0b00111, 0b01000, 0b11110, 0b01000, 0b01000, 0b01000, 0b01000], // f
    [0b00000, 0b01111, 0b10001, 0b10001, 0b01111, 0b00001, 0b11110], // g
    [0b10000, 0b10000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001], // h
    [0b00100, 0b00000, 0b01100, 0b00100, 0b00100, 0b00100, 0b01110], // i
    [0b00010, 0b00000, 0b00110, 0b00010, 0b00010, 0b10010, 0b01100], // j
    [0b10000, 0b10000, 0b10010, 0b10100, 0b11000, 0b10100, 0b10010], // k
    [0b01100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b01110], // l
    [0b00000, 0b00000, 0b11010, 0b10101, 0b10101, 0b10101, 0b10101], // m
    [0b00000, 0b00000, 0b11110, 0b10001, 0b10001, 0b10001, 0b10001], // n
    [0b00000, 0b00000, 0b01110, 0b10001, 0b10001, 0b10001, 0b01110], // o
    [0b00000, 0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000], // p
    [0b00000, 0b01111, 0b10001, 0b10001, 0b01111, 0b00001, 0b00001], // q
    [0b00000, 0b00000, 0b10110, 0b11001, 0b10000, 0b10000, 0b10000], // r
    [0b00000, 0b00000, 0b01111, 0b10000, 0b01110, 0b00001, 0b11110], // s
    [0b01000, 0b01000, 0b11110, 0b01000, 0b01000, 0b01001, 0b00110], // t
    [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b10001, 0b01111], // u
    [0b00000, 0b00000, 0b10001, 0b10001, 0b10001, 0b01010, 0b00100], // v
    [0b00000, 0b00000, 0b10101, 0b10101, 0b10101, 0b10101, 0b01010], // w
    [0b00000, 0b00000, 0b10001, 0b01010, 0b00100, 0b01010, 0b10001], // x
    [0b00000, 0b10001, 0b10001, 0b10001, 0b01111, 0b00001, 0b11110], // y
    [0b00000, 0b00000, 0b11111, 0b00010, 0b00100, 0b01000, 0b11111], // z
];

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(text: &str) -> Vec<String> {
        let mut rows = vec![vec![' '; width(text) as usize]; SIZE.1 as usize];
        for (x, y) in pixels(text) {
            rows[y as usize][x as usize] = '#';
        }
        rows.into_iter().map(|row| row.into_iter().collect::<String>().trim_end().to_owned()).collect()
    }

    #[test]
    fn a_ref_can_be_read() {
        let wanted = [
            "        #    ###",
            "       ##   #   #",
            " ###  # #       #",
            "#   #   #     ##",
            "#####   #    #",
            "#       #   #",
            " ###  ##### #####",
        ];
        assert_eq!(picture("e12"), wanted);
    }

    #[test]
    fn no_two_letters_are_the_same() {
        let all: Vec<_> = ('0'..='9').chain('a'..='z').chain(['?']).map(glyph).collect();
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }
}
