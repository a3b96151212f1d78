//! The verdict for a terminal or a pipe: the finding first, then the claim, its numbers below, wrapped to the width.

use super::{Finding, Verdict, count};
use std::io::IsTerminal;

/// The column in which claims begin: the longest word and two blanks.
const INDENT: usize = 15;
/// The width if the output does not have one.
const DEFAULT_WIDTH: usize = 80;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The most characters in a line.
    pub width: usize,
    /// Whether to use colour.
    pub color: bool,
}

impl Style {
    /// Lines of 80 characters without colour.
    pub const PLAIN: Style = Style { width: DEFAULT_WIDTH, color: false };

    /// As wide as the terminal, with colour unless `NO_COLOR` is set or the terminal is dumb; plain lines in a pipe.
    pub fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Style::PLAIN;
        }
        let width = terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Style { width, color: !is_set("NO_COLOR") && !is_dumb }
    }
}

/// The verdict, as text that ends with a line of counts.
pub fn terminal(verdicts: &[Verdict], style: Style) -> String {
    let [holds, fails, open] = count(verdicts);
    let mut text = String::new();
    // Very long lines are hard to read, and very short ones cannot hold a word.
    let width = style.width.clamp(INDENT + 25, 120);
    for Verdict { id, claim, place, finding, numbers, .. } in verdicts {
        let word = format!("{:<INDENT$}", finding.words());
        if style.color {
            text.push_str(&format!("\u{1b}[{}m{word}\u{1b}[0m", color(*finding)));
        } else {
            text.push_str(&word);
        }
        fold(&mut text, &format!("{id}: {claim} [{place}]"), width, INDENT);
        text.push_str(&" ".repeat(INDENT));
        fold(&mut text, numbers, width, INDENT);
    }
    text + &format!("{} claims: {holds} hold, {fails} do not hold, {open} not measured\n", verdicts.len())
}

/// Green, red or grey, as terminals number them.
fn color(finding: Finding) -> u8 {
    match finding {
        Finding::Holds => 32,
        Finding::DoesNotHold => 31,
        Finding::NotMeasured => 90,
    }
}

/// Appends words in lines of at most `width` characters; the first line begins at column `indent`, and so do the others.
fn fold(text: &mut String, words: &str, width: usize, indent: usize) {
    let mut column = indent;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > indent && column + 1 + length > width {
            text.push('\n');
            text.push_str(&" ".repeat(indent));
            column = indent;
        } else if column > indent {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}
