//! The verdict as text: in brief, or with every claim and its numbers.

use super::{ClaimList, Finding, Verdict, counts};

/// The column in which claims begin: the longest finding between blanks.
const INDENT: usize = 17;
/// The most claims that the brief verdict lists under one finding.
const MOST_LISTED: usize = 8;
/// The most characters in a line.
const WIDTH: usize = 80;

/// The three lists with their counts, and the names of what does not hold or is undecided: less
/// than a screen.
pub fn brief(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for list in ClaimList::ALL {
        text += &format!("{}: {}\n", list.title(), counts(verdicts, list));
        for finding in [Finding::DoesNotHold, Finding::Undecided] {
            let ids = verdicts.iter().filter(|v| v.list == list && v.finding == finding).map(|v| v.id);
            let ids: Vec<&str> = ids.collect();
            if !ids.is_empty() {
                let more = ids.len().saturating_sub(MOST_LISTED);
                let more = if more > 0 { format!(", and {more} more") } else { String::new() };
                let listed = ids[..ids.len().min(MOST_LISTED)].join(", ");
                fold(&mut text, finding.words(), &(listed + &more));
            }
        }
    }
    text
}

/// Every claim: the finding first, then the claim, its numbers and the explanation.
pub fn verbose(verdicts: &[Verdict]) -> String {
    let mut text = String::new();
    for list in ClaimList::ALL {
        text += &format!("{}: {}\n", list.title(), counts(verdicts, list));
        for Verdict { id, claim, place, finding, numbers, explanation, .. } in
            verdicts.iter().filter(|verdict| verdict.list == list)
        {
            fold(&mut text, finding.words(), &format!("{id}: {claim} [{place}]"));
            for words in [numbers.as_str(), explanation].into_iter().filter(|words| !words.is_empty()) {
                fold(&mut text, "", words);
            }
        }
    }
    text
}

/// Appends words in indented lines; the first begins with a finding.
fn fold(text: &mut String, finding: &str, words: &str) {
    *text += &format!("{:<INDENT$}", format!("  {finding}"));
    let mut column = INDENT;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if column > INDENT && column + 1 + length > WIDTH {
            *text += &format!("\n{:INDENT$}", "");
            column = INDENT;
        } else if column > INDENT {
            text.push(' ');
            column += 1;
        }
        text.push_str(word);
        column += length;
    }
    text.push('\n');
}
