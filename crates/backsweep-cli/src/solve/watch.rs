//! `backsweep solve --watch`: follows changes from standard input or from a file that grows or is rewritten.

use super::changes::{Parser, TableEdit};
use super::live::{Done, LiveAnswer};
use crate::error::{Error, Result};
use crate::interrupt::Deadline;
use crate::output;
use backsweep_solve::Limits;
use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// The interval at which the file and Ctrl-C are checked.
const LOOK: Duration = Duration::from_millis(100);

/// Follows changes until the end of standard input or Ctrl-C. `done` is called after each batch that was applied.
pub fn watch(
    from: &Path,
    live: &mut LiveAnswer,
    limits: &Limits,
    deadline: &Deadline,
    mut done: impl FnMut(&LiveAnswer, &Done) -> Result<()>,
) -> Result<()> {
    let mut source = if from == Path::new("-") { ChangeSource::lines() } else { ChangeSource::file(from) };
    let mut n_refused = 0;
    let mut refuse = |problem: String| {
        n_refused += 1;
        output::note(format_args!("backsweep: {problem}"));
    };
    while !deadline.is_interrupted() {
        let Some(edits) = source.next(live, &mut refuse) else { break };
        // The time limit applies to each repair.
        deadline.restart();
        if let Some(made) = live.change(&edits, limits, &mut refuse)? {
            done(live, &made)?;
        }
    }
    match n_refused {
        0 => Ok(()),
        1 => Err(Error::new("1 change was refused; the others were applied")),
        n => Err(Error::new(format!("{n} changes were refused; the others were applied"))),
    }
}

/// Where changes come from.
enum ChangeSource {
    /// Standard input: each change is applied when its last row has arrived.
    Lines(Parser, Receiver<std::result::Result<String, String>>),
    /// A file: everything added since the last check is applied together.
    File(Followed),
}

impl ChangeSource {
    fn lines() -> Self {
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines() {
                let line = line.map_err(|error| format!("cannot read standard input ({error})"));
                let last = line.is_err();
                if send.send(line).is_err() || last {
                    return;
                }
            }
        });
        Self::Lines(Parser::new("standard input".to_owned()), lines)
    }

    fn file(path: &Path) -> Self {
        let parser = Parser::new(path.display().to_string());
        Self::File(Followed { path: path.to_owned(), read: String::new(), seen: None, parser })
    }

    /// The next changes, possibly none yet; `None` at the end.
    fn next(&mut self, live: &LiveAnswer, refuse: &mut impl FnMut(String)) -> Option<Vec<TableEdit>> {
        match self {
            Self::Lines(parser, lines) => match lines.recv_timeout(LOOK) {
                Ok(Ok(line)) => Some(
                    parser.line(&line, &live.states).map_err(refuse).ok().flatten().into_iter().collect(),
                ),
                Ok(Err(problem)) => {
                    refuse(problem);
                    None
                }
                Err(RecvTimeoutError::Timeout) => Some(Vec::new()),
                Err(RecvTimeoutError::Disconnected) => {
                    let _ = parser.finish().map_err(refuse);
                    None
                }
            },
            Self::File(followed) => {
                std::thread::sleep(LOOK);
                Some(followed.look(live, refuse))
            }
        }
    }
}

/// A file that is appended to or rewritten.
struct Followed {
    path: PathBuf,
    /// The text that was read.
    read: String,
    /// The whole text at the last check at which it differed from `read`.
    seen: Option<String>,
    parser: Parser,
}

impl Followed {
    /// The changes since the last check. A last line without a line break waits until it has one or stops changing.
    fn look(&mut self, live: &LiveAnswer, refuse: &mut impl FnMut(String)) -> Vec<TableEdit> {
        // A file that is missing or being replaced is tried again later.
        let Ok(bytes) = std::fs::read(&self.path) else { return Vec::new() };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if text == self.read {
            return Vec::new();
        }
        let rewritten = !text.starts_with(&self.read);
        let settled = self.seen.as_ref() == Some(&text);
        self.seen = Some(text.clone());
        let end = if settled { text.len() } else { text.rfind('\n').map_or(0, |at| at + 1) };
        // A rewritten file may be incomplete: it is read once it has stopped changing.
        if rewritten && !settled {
            return Vec::new();
        }
        if rewritten {
            let _ = self.parser.finish().map_err(&mut *refuse);
            self.parser = Parser::new(self.path.display().to_string());
            self.read.clear();
        }
        let mut edits = Vec::new();
        for line in text[self.read.len()..end].lines() {
            match self.parser.line(line, &live.states) {
                Ok(edit) => edits.extend(edit),
                Err(problem) => refuse(problem),
            }
        }
        self.read = text[..end].to_owned();
        edits
    }
}
