//! The verdict as a table for a terminal, or as plain lines for a pipe.

use super::{Finding, Verdict, count};
use comfy_table::{Attribute, Cell, Color, ColumnConstraint, ContentArrangement, Table, Width, presets};
use std::io::IsTerminal;

/// How to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// A table of this many columns of text, or plain lines.
    pub table: Option<u16>,
    /// Whether to use colour.
    pub color: bool,
}

impl Style {
    /// Plain lines without colour.
    pub const PLAIN: Style = Style { table: None, color: false };

    /// A table with colour on a terminal, without where `NO_COLOR` is set; plain lines anywhere else.
    pub fn of_stdout() -> Self {
        if !std::io::stdout().is_terminal() {
            return Style::PLAIN;
        }
        let width = Table::new().width().unwrap_or(100);
        let color = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Style { table: Some(width), color }
    }
}

/// The verdict, as text that ends with a line of counts.
pub fn terminal(verdicts: &[Verdict], style: Style) -> String {
    let [holds, fails, open] = count(verdicts);
    let counts =
        format!("{} claims: {holds} hold, {fails} do not hold, {open} not measured\n", verdicts.len());
    match style.table {
        Some(width) => format!("{}\n{counts}", table(verdicts, width.clamp(60, 220), style.color)),
        None => {
            let lines = verdicts.iter().map(|verdict| {
                let Verdict { id, claim, place, finding, numbers, .. } = verdict;
                format!("{:<13}  {id}: {claim} [{place}]: {numbers}\n", finding.words())
            });
            lines.collect::<String>() + &counts
        }
    }
}

fn table(verdicts: &[Verdict], width: u16, color: bool) -> String {
    let mut table = Table::new();
    table
        .load_style(presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(width);
    if color {
        table.enforce_styling();
    } else {
        table.force_no_tty();
    }
    table.set_header(
        ["verdict", "claim", "numbers"].map(|head| Cell::new(head).add_attribute(Attribute::Bold)),
    );
    table.set_constraints([
        ColumnConstraint::Absolute(Width::Fixed(15)),
        ColumnConstraint::LowerBoundary(Width::Fixed(20)),
        ColumnConstraint::LowerBoundary(Width::Fixed(20)),
    ]);
    for verdict in verdicts {
        let paint = match verdict.finding {
            Finding::Holds => Color::Green,
            Finding::DoesNotHold => Color::Red,
            Finding::NotMeasured => Color::DarkGrey,
        };
        let claim = format!("{} [{}]", verdict.claim, verdict.place);
        let finding = Cell::new(verdict.finding.words()).fg(paint);
        table.add_row([finding, Cell::new(claim), Cell::new(&verdict.numbers)]);
    }
    table.to_string()
}
