//! Errors of logs: where, what was found, what was expected, how to fix it.
//!
//! Many are fixed by a setting of [`Spec`](crate::Spec). The command calls it `--skip-bad`, Python `skip_bad=`, Rust
//! `Spec::skip_bad`. Errors therefore say which [`SpecField`] they mean, and whoever shows them passes its own names to
//! [`Error::message`].

use crate::decimal::Decimal;
use std::fmt::{self, Write};
use std::io;

/// A result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// A setting that an error mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecField {
    /// [`Spec::state`](crate::Spec::state).
    State,
    /// [`Spec::action`](crate::Spec::action).
    Action,
    /// [`Spec::case`](crate::Spec::case).
    Case,
    /// [`Spec::reward`](crate::Spec::reward).
    Reward,
    /// [`Spec::end`](crate::Spec::end): a column that says which row ended its case.
    EndColumn,
    /// [`Spec::end`](crate::Spec::end): the value of a column that says so.
    EndValue,
    /// [`Spec::end`](crate::Spec::end): no case ended.
    Cut,
    /// [`Spec::final_rewards`](crate::Spec::final_rewards).
    FinalRewards,
    /// [`Spec::missing`](crate::Spec::missing).
    Missing,
    /// [`Spec::skip_bad`](crate::Spec::skip_bad).
    SkipBad,
    /// [`Spec::skip_bad`](crate::Spec::skip_bad), at least this many percent.
    SkipPercent(u64),
    /// [`Spec::unterminated`](crate::Spec::unterminated).
    Unterminated,
    /// [`Spec::reward_unit`](crate::Spec::reward_unit).
    RewardUnit,
    /// [`Spec::round_rewards`](crate::Spec::round_rewards).
    RoundRewards,
    /// Both, so that rewards are rounded to hundredths.
    RoundToCents,
    /// The settings of an earlier log: [`Spec::reuse`](crate::Spec::reuse).
    Reuse,
}

/// How a front end calls a setting; `None` if it has no such setting, and a message must not offer it.
pub type SpecNames = fn(SpecField) -> Option<String>;

/// The fields of [`Spec`](crate::Spec).
pub(crate) fn fields(setting: SpecField) -> Option<String> {
    let name = match setting {
        SpecField::State => "`state`",
        SpecField::Action => "`action`",
        SpecField::Case => "`case`",
        SpecField::Reward => "`reward`",
        SpecField::EndColumn => "`end: EndRule::Column`",
        SpecField::EndValue => "`end: EndRule::Column` with a value",
        SpecField::Cut => "`end: EndRule::Cut`",
        SpecField::FinalRewards => "`final_rewards`",
        SpecField::Missing => "`missing`",
        SpecField::SkipBad => "`skip_bad`",
        SpecField::SkipPercent(percent) => return Some(format!("`skip_bad: {}`", percent as f64 / 100.0)),
        SpecField::Unterminated => "`unterminated`",
        SpecField::RewardUnit => "`reward_unit`",
        SpecField::RoundRewards => "`round_rewards`",
        SpecField::RoundToCents => "`reward_unit` 0.01 with `round_rewards`",
        SpecField::Reuse => "`reuse`",
    };
    Some(name.to_owned())
}

/// Why a log or a file of counts was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// No file was named.
    NoInput,
    /// A name does not stand for files that can be read.
    Path {
        /// The file or pattern.
        path: String,
        /// What is wrong.
        problem: PathProblem,
    },
    /// The operating system refused to read or write.
    Io {
        /// The file.
        place: String,
        /// Whether the file was being written.
        writing: bool,
        /// The kind of failure.
        kind: io::ErrorKind,
        /// The system's words.
        message: String,
    },
    /// A file cannot be understood.
    File {
        /// The file.
        place: String,
        /// What is wrong.
        problem: FileProblem,
    },
    /// A column does not exist.
    NoColumn {
        /// The file.
        place: String,
        /// The column.
        column: String,
        /// The columns that exist.
        known: Vec<String>,
    },
    /// Two columns have one name.
    TwoColumns {
        /// The file.
        place: String,
        /// The name.
        column: String,
    },
    /// A column of a table in memory or of a Parquet file cannot be used.
    ColumnData {
        /// The file or table.
        place: String,
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
    },
    /// A row of a file of counts is wrong.
    Row(BadRow),
    /// There are no rows.
    NoRows,
    /// More rows are bad than [`Spec::skip_bad`](crate::Spec::skip_bad) allows.
    BadRows {
        /// The first of them.
        first: Option<BadRow>,
        /// How many are bad.
        n_bad: u64,
        /// How many rows there are.
        n_rows: u64,
    },
    /// The order has both numbers and dates.
    MixedOrder {
        /// The column.
        column: String,
    },
    /// Sums of rewards may not fit in 64 bits.
    LargeRewards {
        /// Rewards have this many decimals.
        decimals: u8,
        /// The largest one, in units of the last decimal.
        largest: u64,
        /// How many rows there are.
        n_rows: u64,
    },
    /// A sum of rewards does not fit in 64 bits.
    LargeSum,
    /// A role has no column, and none was guessed.
    NoRole {
        /// The setting that names the column.
        setting: SpecField,
        /// The columns that exist.
        known: Vec<String>,
    },
    /// A setting cannot be used.
    Spec(SpecProblem),
    /// The bins of a column cannot be made from its values.
    Bins {
        /// The column.
        column: String,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// A text is not in the form of a setting.
    Syntax {
        /// The text.
        text: String,
        /// What was found or expected.
        problem: String,
    },
    /// Two counts were read differently.
    Incompatible {
        /// What differs.
        key: String,
        /// Its value in one.
        left: String,
        /// Its value in the other.
        right: String,
    },
    /// Counts that are subtracted are not part of the others.
    NotPart {
        /// The state.
        state: String,
        /// The action; `None` for starts.
        action: Option<String>,
        /// The count that would remain.
        n: i64,
        /// The sum of rewards that would remain, in units of the last decimal.
        sum: i128,
    },
    /// Another error, found in a file of counts as a whole.
    InFile {
        /// The file.
        place: String,
        /// The error.
        error: Box<Error>,
    },
    /// Reading was stopped.
    Interrupted,
    /// A thread failed: a bug of this crate.
    Thread,
}

/// What is wrong with a name of files.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathProblem {
    /// There is no such file.
    Missing,
    /// It is a folder.
    Folder,
    /// It is named twice.
    Twice,
    /// No file matches the pattern.
    NoMatch,
    /// It is not a valid pattern.
    Pattern(String),
}

/// What is wrong with a file as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileProblem {
    /// It has no line with the names of the columns.
    Empty,
    /// Compressed data ends too early.
    Truncated,
    /// The header has no line break.
    OpenHeader,
    /// The header is not UTF-8.
    HeaderText,
    /// The last line has no line break.
    OpenLine(String),
    /// A record ends within quotes at the end of the file.
    OpenQuote(String),
    /// A record is larger than 64 MB.
    LongRecord(String),
    /// It is in UTF-16.
    Utf16,
    /// It is a zip archive or a spreadsheet.
    Archive,
    /// It is not text.
    Binary,
    /// It is one JSON array.
    JsonArray,
    /// Its first line is not a JSON object.
    JsonHeader,
    /// This build cannot read Parquet.
    NoParquet,
    /// Its Parquet structure is damaged.
    Parquet(String),
    /// It has more than 2³² blocks.
    TooManyBlocks,
    /// A table in memory returned another number of columns than it should.
    WrongColumns {
        /// How many it returned.
        found: usize,
        /// How many were requested.
        expected: usize,
    },
    /// Reading a table in memory failed.
    Frame(String),
    /// It has no line with the columns of a table of counts.
    NoCountsHeader(String),
    /// It is a table of counts without counts.
    NoCounts,
    /// Its unit of rewards is not a number above 0.
    BadUnit(String),
    /// It does not say what a sum of 1 is worth.
    NoUnit,
    /// Its unit of rewards is not the one that was given.
    OtherUnit {
        /// The file's.
        stated: Decimal,
        /// The one given.
        given: Decimal,
    },
}

/// A row that cannot be used, and where it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRow {
    /// The file and the line or row.
    pub place: String,
    /// What is wrong.
    pub problem: RowProblem,
}

/// What is wrong with a row.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowProblem {
    /// A value is not what its column needs.
    Value {
        /// The column.
        column: String,
        /// The value.
        found: Vec<u8>,
        /// What the column needs.
        expected: Expected,
    },
    /// The row has too few or too many columns.
    Width {
        /// How many it has.
        found: usize,
        /// How many the header has.
        expected: usize,
    },
    /// A closing quote is followed by text.
    StrayQuote,
    /// A quote is not closed.
    OpenQuote,
    /// The line is not an object of plain values.
    Json(String),
    /// Two rows of a case have the same order.
    SameOrder,
    /// A case continues after its end.
    AfterEnd,
    /// A row of a table of counts does not end, or has too few or too many columns.
    Incomplete {
        /// How many columns the header has.
        expected: usize,
    },
    /// A start, a row of counts without an action, has a next state.
    StartWithNext,
}

/// What a value should have been.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Expected {
    /// The name of a case.
    Case,
    /// A number or a date.
    Order,
    /// A number, as the reward.
    Reward,
    /// A reward of up to 18 digits.
    ShortReward,
    /// A multiple of the unit of rewards.
    Multiple(Decimal),
    /// A number, to be cut into bins.
    BinNumber,
    /// Yes or no.
    Flag,
    /// A value that is not empty.
    Name,
    /// A value without the character that joins columns.
    NoBar,
    /// Text.
    Utf8,
    /// One of the values that have a final reward.
    Outcome(Vec<String>),
    /// The name of a state, in a table of counts.
    CountedState,
    /// A fold.
    Fold,
    /// A whole number.
    Whole,
    /// A whole number of at least 0.
    Count,
}

/// What is wrong with settings, whatever the log.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpecProblem {
    /// The share of bad rows is not from 0 to 1.
    SkipBad(f64),
    /// The unit of rewards is not above 0.
    RewardUnit,
    /// Rewards are rounded, and there is no unit to round to.
    RoundRewards,
    /// State and next state have different numbers of columns.
    NextState {
        /// Columns of the state.
        state: usize,
        /// Columns of the next state.
        next: usize,
    },
    /// Rows have no case and do not say whether it ended.
    NoEnd,
    /// The name for empty values is empty.
    Missing,
}

/// A NaN equals itself here, so that errors can be compared.
impl Eq for SpecProblem {}

impl Error {
    /// An error of the operating system while reading.
    pub(crate) fn io(place: impl fmt::Display, error: &io::Error) -> Self {
        Self::Io { place: place.to_string(), writing: false, kind: error.kind(), message: error.to_string() }
    }

    /// An error in one file.
    pub(crate) fn file(place: impl fmt::Display, problem: FileProblem) -> Self {
        Self::File { place: place.to_string(), problem }
    }

    /// An error in one row.
    pub(crate) fn row(place: impl fmt::Display, problem: RowProblem) -> Self {
        Self::Row(BadRow { place: place.to_string(), problem })
    }

    /// A text that is not in the form of a setting.
    pub(crate) fn syntax(text: &str, problem: impl Into<String>) -> Self {
        Self::Syntax { text: text.to_owned(), problem: problem.into() }
    }

    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        match self {
            Self::NoInput => "no log was named; expected files, patterns, or - for standard input".to_owned(),
            Self::Path { path, problem } => match problem {
                PathProblem::Missing => format!("{path}: there is no such file"),
                PathProblem::Folder => {
                    format!("{path}: is a folder; expected a file or a pattern such as '{path}/*.csv'")
                }
                PathProblem::Twice => format!("{path}: is named twice; its rows would be counted twice"),
                PathProblem::NoMatch => format!("{path}: no file matches this pattern"),
                PathProblem::Pattern(problem) => format!("{path}: is not a valid pattern ({problem})"),
            },
            Self::Io { place, writing: true, message, .. } => {
                format!("{place}: cannot write the file ({message})")
            }
            Self::Io { place, message, .. } => format!("{place}: cannot read the data ({message})"),
            Self::File { place, problem } => format!("{place}: {}", problem.message(names)),
            Self::NoColumn { place, column, known } => {
                let more =
                    if known.len() > 20 { format!(" and {} more", known.len() - 20) } else { String::new() };
                let known: Vec<String> = known.iter().take(20).map(|name| shown(name.as_bytes())).collect();
                format!("{place}: there is no column '{column}'; it has {}{more}", known.join(", "))
            }
            Self::TwoColumns { place, column } => {
                format!("{place}: there are two columns '{column}'; expected each name once")
            }
            Self::ColumnData { place, column, problem } => format!("{place}: column '{column}' {problem}"),
            Self::Row(row) => row.message(names),
            Self::NoRows => {
                "the log has no rows; expected at least one below the names of the columns".to_owned()
            }
            Self::BadRows { first, n_bad, n_rows } => {
                let share = 100.0 * *n_bad as f64 / *n_rows as f64;
                let percent = (share.ceil() as u64).max(1);
                let mut text = first.as_ref().map_or_else(String::new, |row| row.message(names));
                let is_are = if *n_bad == 1 { "is" } else { "are" };
                let _ = write!(text, ". {n_bad} of {n_rows} rows {is_are} bad ({share:.2} %); fix the log");
                if let Some(skip) = names(SpecField::SkipPercent(percent)) {
                    let _ = write!(text, ", or pass {skip} to skip bad rows and their cases");
                }
                text
            }
            Self::MixedOrder { column } => {
                format!("column '{column}' (the order) has both numbers and dates; expected one kind")
            }
            Self::LargeRewards { decimals, largest, n_rows } => {
                let remedy = offer(names(SpecField::RoundToCents), "; ", " rounds to cents");
                format!(
                    "rewards have {decimals} decimals and are up to {largest} units of the last one; {n_rows} of them may not fit \
                     in 64 bits{remedy}"
                )
            }
            Self::LargeSum => {
                "a sum of rewards does not fit in 64 bits; use a coarser reward unit".to_owned()
            }
            Self::NoRole { setting, known } => {
                let role = match setting {
                    SpecField::State => "state",
                    SpecField::Action => "action",
                    _ => "case",
                };
                let remedy = offer(names(*setting), "; name it with ", "");
                format!("no column for the {role} was given or found{remedy} (columns: {})", known.join(", "))
            }
            Self::Spec(problem) => problem.message(names),
            Self::Bins { column, problem } => format!("column '{column}' {problem}"),
            Self::Syntax { text, problem } => format!("{text}: {problem}"),
            Self::Incompatible { key, left, right } => {
                let remedy = offer(names(SpecField::Reuse), " (", " reuses bins)");
                format!(
                    "the counts are incompatible: {key} is '{left}' in one and '{right}' in the other; count both with the same \
                     settings{remedy}"
                )
            }
            Self::NotPart { state, action, n, sum } => {
                let action =
                    action.as_ref().map_or("starts".to_owned(), |action| format!("action '{action}'"));
                format!(
                    "state '{state}', {action}: {n} steps with a reward sum of {sum} units would remain; the subtracted counts are \
                     not part of these"
                )
            }
            Self::InFile { place, error } => format!("{place}: {}", error.message(names)),
            Self::Interrupted => "stopped before all rows were read; nothing was written".to_owned(),
            Self::Thread => "a thread that was reading the log failed".to_owned(),
        }
    }
}

impl FileProblem {
    fn message(&self, names: SpecNames) -> String {
        let text = match self {
            Self::Empty => "the file is empty; expected a line with the names of the columns",
            Self::Truncated => {
                "the compressed data ends too early: the file was truncated, so none of it is used"
            }
            Self::OpenHeader => {
                "the line with the names of the columns has no line break; the file was truncated"
            }
            Self::HeaderText => "the names of the columns are not UTF-8; save the file as UTF-8",
            Self::OpenLine(line) => {
                let remedy = offer(names(SpecField::Unterminated), ". If it is complete, pass ", "");
                return format!(
                    "the last line, {line}, does not end with a line break: the file may have been truncated{remedy}"
                );
            }
            Self::OpenQuote(start) => {
                return format!(
                    "the file ends within quotes, in the record that begins with {start}; it was truncated, or a quote is not \
                     closed"
                );
            }
            Self::LongRecord(start) => {
                return format!(
                    "the record that begins with {start} does not end within 64 MB; it may contain an unclosed quote"
                );
            }
            Self::Utf16 => "the file is UTF-16; save it as UTF-8",
            Self::Archive => "the file is a zip archive or a spreadsheet; export it as CSV",
            Self::Binary => {
                "the file is not text; expected CSV, TSV, lines of JSON (each may be compressed by gzip or zstd) or Parquet"
            }
            Self::JsonArray => {
                "the file is a JSON array; expected one object per line (jq -c '.[]' makes such lines)"
            }
            Self::JsonHeader => "the first line is not a complete JSON object; expected one object per line",
            Self::NoParquet => {
                "this is a Parquet file, which this build does not support; build with: cargo build --release -p backsweep-cli \
                 --features parquet"
            }
            Self::Parquet(problem) => {
                return format!(
                    "the Parquet file cannot be read ({problem}); it may have been truncated, so none of it is used"
                );
            }
            Self::TooManyBlocks => "the log has more than 2³² blocks",
            Self::WrongColumns { found, expected } => {
                return format!("returned {found} columns; expected {expected}");
            }
            Self::Frame(problem) => return problem.clone(),
            Self::NoCountsHeader(columns) => return format!("it has no line with the columns {columns}"),
            Self::NoCounts => "it has no counts",
            Self::BadUnit(unit) => {
                return format!("reward_unit is {unit}; expected a number above 0 such as 0.01");
            }
            Self::NoUnit => {
                let remedy = offer(names(SpecField::RewardUnit), ", or pass ", "");
                return format!(
                    "it does not say what a reward_sum of 1 is worth; add a first line such as '# reward_unit: 0.01'{remedy}"
                );
            }
            Self::OtherUnit { stated, given } => {
                let name = names(SpecField::RewardUnit).unwrap_or_else(|| "the given unit".to_owned());
                return format!("reward_unit is {stated}, and {name} says {given}; omit {name}");
            }
        };
        text.to_owned()
    }
}

impl BadRow {
    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        format!("{}: {}", self.place, self.problem.message(names))
    }
}

impl RowProblem {
    /// A value that is not what its column needs.
    #[cold]
    pub(crate) fn value(column: &str, found: &[u8], expected: Expected) -> Box<Self> {
        // Messages show 40 characters.
        let found = found[..found.len().min(200)].to_vec();
        Box::new(Self::Value { column: column.to_owned(), found, expected })
    }

    /// The message in one line, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        let text = match self {
            Self::Value { column, found, expected } => return expected.message(column, found, names),
            Self::Width { found, expected } => {
                let columns = if *found == 1 { "column" } else { "columns" };
                return format!("the row has {found} {columns}; expected {expected}");
            }
            Self::Json(problem) => return format!("{problem}; expected one JSON object per line"),
            Self::Incomplete { expected } => {
                return format!("the row is incomplete; expected {expected} columns and a line break");
            }
            Self::StrayQuote => {
                "a closing quote is followed by text; expected quotes within a quoted field to be doubled"
            }
            Self::OpenQuote => "a quote is not closed",
            Self::SameOrder => {
                "two rows of this case have the same order; expected each order once per case (remove duplicates)"
            }
            Self::AfterEnd => "the case continues after this row, which says that it ended or was cut",
            Self::StartWithNext => "a row without an action is a start, and has no next state",
        };
        text.to_owned()
    }
}

impl Expected {
    fn message(&self, column: &str, found: &[u8], names: SpecNames) -> String {
        let text = match self {
            Self::Case => {
                return format!("column '{column}' (the case) is empty; expected the name of a case");
            }
            Self::Outcome(known) => {
                let remedy = offer(names(SpecField::FinalRewards), " (see ", ")");
                return format!(
                    "column '{column}' of a last row is not one of: {}{remedy}",
                    known.join(", ")
                );
            }
            Self::Order => "a number of up to 18 digits, or a date such as 2024-05-01 13:45:00".to_owned(),
            Self::Reward => "a number, since it is the reward".to_owned(),
            Self::ShortReward => {
                let remedy = offer(names(SpecField::RoundToCents), " (", " rounds to cents)");
                format!("a reward of up to 18 digits{remedy}")
            }
            Self::Multiple(unit) => {
                let remedy = offer(names(SpecField::RoundRewards), " (", " rounds to it)");
                format!("a multiple of the reward unit {unit}{remedy}")
            }
            Self::BinNumber => "a number, since the column is cut into bins".to_owned(),
            Self::Flag => {
                let remedy = offer(names(SpecField::EndValue), " (", " names another value)");
                format!("1 or 0, true or false, yes or no{remedy}")
            }
            Self::Name => {
                let remedy = offer(names(SpecField::Missing), " (", " gives a name to empty values)");
                format!("a value{remedy}")
            }
            Self::NoBar => "a value without '|', which joins the columns of a state".to_owned(),
            Self::Utf8 => "text in UTF-8".to_owned(),
            Self::CountedState => "the name of a state".to_owned(),
            Self::Fold => format!("0 to {} (or a hexadecimal digit)", crate::fold::FOLDS - 1),
            Self::Whole => "a whole number".to_owned(),
            Self::Count => "a count".to_owned(),
        };
        let found = if found.is_empty() { "empty".to_owned() } else { shown(found) };
        format!("column '{column}' is {found}; expected {text}")
    }
}

impl SpecProblem {
    fn message(self, names: SpecNames) -> String {
        let name = |setting: SpecField| names(setting).or_else(|| fields(setting)).unwrap_or_default();
        match self {
            Self::SkipBad(share) => {
                format!("{} is {share}; expected a share from 0 to 1", name(SpecField::SkipBad))
            }
            Self::RewardUnit => "the reward unit is not above 0; expected a number such as 0.01".to_owned(),
            Self::RoundRewards => {
                let (round, unit) = (name(SpecField::RoundRewards), name(SpecField::RewardUnit));
                format!("{round} needs {unit}, such as 0.01, to round to")
            }
            Self::NextState { state, next } => {
                format!("the state has {state} columns and the next state {next}; expected the same number")
            }
            Self::NoEnd => {
                let (column, cut) = (name(SpecField::EndColumn), name(SpecField::Cut));
                format!(
                    "rows without a case do not say which of them ended; name the column that does with {column}, or pass {cut} if \
                     none did"
                )
            }
            Self::Missing => {
                format!("{} is empty; expected a name such as unknown", name(SpecField::Missing))
            }
        }
    }
}

/// What a setting could do, if the front end has it.
fn offer(name: Option<String>, before: &str, after: &str) -> String {
    name.map_or_else(String::new, |name| format!("{before}{name}{after}"))
}

/// A message with the names of fields.
macro_rules! display {
    ($($type:ty),*) => {$(
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.message(fields))
            }
        }
    )*};
}

display!(Error, BadRow, RowProblem);

impl std::error::Error for Error {}

/// A value of a log for a message: shortened, and without characters that would garble a terminal.
pub(crate) fn shown(value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    let mut short: String =
        text.chars().take(40).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(40).is_some() {
        short.push('…');
    }
    format!("'{short}'")
}
