//! The verdict for a terminal or a pipe: in brief, or with every claim and its numbers.

use super::{Finding, List, Verdict, counts};
use std::io::IsTerminal;

/// The column in which claims begin: the longest finding between blanks.
const INDENT: usize = 17;
/// The most claims that the brief verdict lists under one finding.
const MOST_LISTED: usize = 8;
/// The width if the output does not have one.
const DEFAULT_WIDTH: usize = 80;

/// Settings for printing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The most characters in a line.
    pub width: usize,
    /// True if to use color.
    pub color: bool,
}

impl Style {
    /// Lines of 80 characters without color.
    pub const PLAIN: Style = Style { width: DEFAULT_WIDTH, color: false };

    /// As wide as the terminal, with color unless `NO_COLOR` is set or the terminal is dumb; plain
    /// lines in a pipe.
    pub fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Style::PLAIN;
        }
        let width = terminal_size::terminal_size().map_or(DEFAULT_WIDTH, |(width, _)| usize::from(width.0));
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        Style { width, color: !is_set("NO_COLOR") && !is_dumb }
    }

    /// Very long lines are hard to read, and very short ones cannot hold a word.
    fn readable(self) -> usize {
        self.width.clamp(INDENT + 25, 120)
    }

    /// Appends a finding, indented and in its color.
    fn word(self, text: &mut String, finding: Finding) {
        let word = format!("{:<INDENT$}", format!("  {}", finding.words()));
        if self.color {
            text.push_str(&format!("\u{1b}[{}m{word}\u{1b}[0m", color(finding)));
        } else {
            text.push_str(&word);
        }
    }
}

/// The three lists with their counts, and the names of what does not hold or is undecided: less
/// than a screen.
pub fn brief(verdicts: &[Verdict], style: Style) -> String {
    let width = style.readable();
    let mut text = String::new();
    for list in List::ALL {
        text += &format!("{}: {}\n", list.title(), counts(verdicts, list));
        for finding in [Finding::DoesNotHold, Finding::Undecided] {
            let ids = verdicts.iter().filter(|v| v.list == list && v.finding == finding).map(|v| v.id);
            let ids: Vec<&str> = ids.collect();
            if !ids.is_empty() {
                let more = ids.len().saturating_sub(MOST_LISTED);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                let listed = ids[..ids.len().min(MOST_LISTED)].join(", ");
                style.word(&mut text, finding);
                fold(&mut text, &(listed + &more), width, INDENT);
            }
        }
    }
    text
}

/// Every claim: the finding first, then the claim, its numbers and the explanation, wrapped to the
/// width.
pub fn verbose(verdicts: &[Verdict], style: Style) -> String {
    let width = style.readable();
    let mut text = String::new();
    for list in List::ALL {
        text += &format!("{}: {}\n", list.title(), counts(verdicts, list));
        for Verdict { id, claim, place, finding, numbers, explanation, .. } in
            verdicts.iter().filter(|verdict| verdict.list == list)
        {
            style.word(&mut text, *finding);
            fold(&mut text, &format!("{id}: {claim} [{place}]"), width, INDENT);
            for words in [numbers.as_str(), explanation].into_iter().filter(|words| !words.is_empty()) {
                text.push_str(&" ".repeat(INDENT));
                fold(&mut text, words, width, INDENT);
            }
        }
    }
    text
}

/// Green, red or gray, as terminals number them.
fn color(finding: Finding) -> u8 {
    match finding {
        Finding::Holds => 32,
        Finding::DoesNotHold => 31,
        Finding::Undecided => 90,
    }
}

/// Appends words in lines of at most `width` characters; the first line begins at column `indent`,
/// and so do the others.
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
