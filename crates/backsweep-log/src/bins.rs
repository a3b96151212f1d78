//! Numbers cut into bins: by given edges, or by quantiles of the log, which become edges.

use crate::decimal::Decimal;
use crate::derived::{START, is_previous};
use crate::error::{Error, Result, shown};
use std::collections::BTreeMap;
use std::fmt;

/// A column of a log, and how its values become names.
#[derive(Clone, Debug, PartialEq)]
pub struct BinnedColumn {
    /// The name of the column in the file.
    pub name: String,
    /// The bins of its values; values that are not cut are names as they are.
    pub bins: Bins,
}

/// The bins of a column's numbers.
#[derive(Clone, Debug, PartialEq, Default)]
pub enum Bins {
    /// They are not cut.
    #[default]
    None,
    /// At these edges, in increasing order.
    Edges(Vec<Edge>),
    /// Into this many parts with about the same number of rows each.
    Quantiles(u32),
    /// Zero is a separate part; the rest is cut into this many parts.
    ZeroQuantiles(u32),
}

/// Where one bin ends and the next begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The number.
    pub at: Decimal,
    /// `true` if the number itself still belongs below the edge.
    pub above: bool,
}

impl fmt::Display for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.above { ">" } else { "" }, self.at)
    }
}

/// The names of the bins between edges: `<0`, `0..5`, `5..10`, `>=10`; with an edge `>0`, `<=0` and `>0..5`.
pub fn labels(edges: &[Edge]) -> Vec<String> {
    let below = |edge: &Edge| format!("{}{}", if edge.above { "<=" } else { "<" }, edge.at);
    let above = |edge: &Edge| format!("{}{}", if edge.above { ">" } else { ">=" }, edge.at);
    let mut labels = Vec::with_capacity(edges.len() + 1);
    labels.extend(edges.first().map(below));
    labels.extend(edges.windows(2).map(|pair| format!("{}..{}", pair[0], pair[1].at)));
    labels.extend(edges.last().map(above));
    labels
}

impl BinnedColumn {
    /// A column whose values are names as they are.
    pub fn plain(name: impl Into<String>) -> Self {
        Self { name: name.into(), bins: Bins::None }
    }

    /// Reads `ward`, `sofa:0|5|10`, `dose:>0|2.5`, `age:q4` or `dose:0q4`. Anything else after a colon belongs to the name.
    ///
    /// # Errors
    /// An empty name; edges that are not increasing; fewer than 2 or more than 1000 quantiles.
    pub fn parse(text: &str) -> Result<Self> {
        let (name, bins) = match text.rsplit_once(':') {
            Some((name, bins)) => match parse_bins(bins).map_err(|problem| Error::syntax(text, problem))? {
                Some(bins) => (name, bins),
                None => (text, Bins::None),
            },
            None => (text, Bins::None),
        };
        if name.is_empty() {
            return Err(Error::syntax(&shown(text.as_bytes()), "expected the name of a column"));
        }
        Ok(Self { name: name.to_owned(), bins })
    }

    /// The name that a value has in this column: the value itself, or its bin; an empty one is called `missing`.
    ///
    /// # Errors
    /// If the value is empty and `missing` is `None`, or is not a number and the column is cut into bins.
    pub fn name_of(&self, value: &str, missing: Option<&str>) -> Result<String> {
        let wrong = |expected: &'static str| {
            Error::column("", &self.name, format!("is {}; expected {expected}", shown(value.as_bytes())))
        };
        match &self.bins {
            _ if value.is_empty() => missing.map(str::to_owned).ok_or_else(|| wrong("a value")),
            Bins::Edges(_) if is_previous(&self.name) && value == START => Ok(value.to_owned()),
            Bins::Edges(edges) => {
                let number: Option<f64> = value.trim_ascii().parse().ok().filter(|x: &f64| x.is_finite());
                let number = number.ok_or_else(|| wrong("a number, since the column is cut into bins"))?;
                let is_passed = |edge: &&Edge| {
                    let at = edge.at.to_f64();
                    if edge.above { number > at } else { number >= at }
                };
                Ok(labels(edges).swap_remove(edges.iter().filter(is_passed).count()))
            }
            _ => Ok(value.to_owned()),
        }
    }

    /// Returns `true` if the edges still have to be found from the log.
    pub fn is_open(&self) -> bool {
        matches!(self.bins, Bins::Quantiles(_) | Bins::ZeroQuantiles(_))
    }

    /// Replaces quantiles by the edges found in the log.
    ///
    /// An edge is a value of the log, the one at place ⌊n·i/k⌋ of the n sorted values, so no edge depends on how floating-point
    /// numbers are added. Equal edges are merged.
    pub fn close(&mut self, values: &NumberCounts) -> Result<()> {
        let (mut edges, n, skip_zero) = match self.bins {
            Bins::Quantiles(n) => (Vec::new(), n, false),
            Bins::ZeroQuantiles(n) => (vec![Edge { at: Decimal::ZERO, above: true }], n, true),
            _ => return Ok(()),
        };
        if skip_zero && values.counts.first_key_value().is_some_and(|(&key, _)| number(key) < 0.0) {
            let name = &self.name;
            return Err(self.problem(format!(
                "has numbers below 0, but '{name}:0q{n}' expects 0 to be the smallest; use '{name}:q{n}' or give edges"
            )));
        }
        let rest = || values.counts.iter().filter(|(key, _)| !skip_zero || number(**key) != 0.0);
        let total: u64 = rest().map(|(_, n)| n).sum();
        let (mut passed, mut next) = (0, 1);
        for (&key, &count) in rest() {
            passed += count;
            while next < u64::from(n) && total * next / u64::from(n) < passed {
                let x = number(key);
                let at = Decimal::shortest(x).ok_or_else(|| {
                    self.problem(format!("has the edge {x}, which has more than 18 digits; give edges"))
                })?;
                // The first of the rest is already the edge at zero; an edge at the smallest value has nothing below it.
                let is_new = edges.last().is_none_or(|last: &Edge| last.at != at);
                if is_new && passed > count {
                    edges.push(Edge { at, above: false });
                }
                next += 1;
            }
        }
        if edges.is_empty() {
            let text = "has the same value in nearly every row, so quantiles cannot cut it; give edges";
            return Err(self.problem(text.to_owned()));
        }
        self.bins = Bins::Edges(edges);
        Ok(())
    }

    fn problem(&self, problem: String) -> Error {
        Error::column("", &self.name, problem)
    }
}

impl fmt::Display for BinnedColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.bins {
            Bins::None => f.write_str(&self.name),
            Bins::Quantiles(n) => write!(f, "{}:q{n}", self.name),
            Bins::ZeroQuantiles(n) => write!(f, "{}:0q{n}", self.name),
            Bins::Edges(edges) => {
                let edges: Vec<String> = edges.iter().map(Edge::to_string).collect();
                write!(f, "{}:{}", self.name, edges.join("|"))
            }
        }
    }
}

fn parse_bins(text: &str) -> std::result::Result<Option<Bins>, String> {
    let (zero, rest) = match text.strip_prefix("0q") {
        Some(rest) => (true, Some(rest)),
        None => (false, text.strip_prefix('q')),
    };
    if let Some(n) = rest.and_then(|n| n.parse::<u32>().ok()) {
        let least = if zero { 1 } else { 2 };
        return match n {
            n if n < least || n > 1000 => Err(format!("expected {least} to 1000 quantiles, found {n}")),
            n if zero => Ok(Some(Bins::ZeroQuantiles(n))),
            n => Ok(Some(Bins::Quantiles(n))),
        };
    }
    let mut edges: Vec<Edge> = Vec::new();
    for part in text.split('|') {
        let (above, number) = match part.strip_prefix('>') {
            Some(number) => (true, number),
            None => (false, part),
        };
        let Ok(at) = Decimal::parse(number.as_bytes()) else { return Ok(None) };
        let rises = edges.last().is_none_or(|last| {
            let (before, now) = (last.at.to_f64(), at.to_f64());
            now > before || now == before && above && !last.above
        });
        if !rises {
            return Err(format!("expected increasing edges, found {part} after a larger or equal one"));
        }
        edges.push(Edge { at, above });
    }
    Ok(Some(Bins::Edges(edges)))
}

/// The number of times that each number occurs in a column. Quantiles from it do not depend on the order of rows.
#[derive(Clone, Debug, Default)]
pub struct NumberCounts {
    /// Keys sort as the numbers do.
    counts: BTreeMap<u64, u64>,
}

impl NumberCounts {
    /// Adds numbers with how often they occur.
    pub fn add(&mut self, values: impl IntoIterator<Item = (u64, u64)>) {
        for (bits, n) in values {
            *self.counts.entry(key(f64::from_bits(bits))).or_default() += n;
        }
    }
}

/// The bits of a number, changed so that they sort as the numbers do; −0 is 0.
fn key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    if bits >> 63 == 0 { bits | 1 << 63 } else { !bits }
}

fn number(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}
