//! Quantiles of a log, which become edges: a separate pass over the log.

use crate::bins::{Column, Values};
use crate::error::Result;
use crate::feed::Feed;
use crate::input::Input;
use crate::read::Observer;
use crate::rows::Cells;
use crate::spec::Spec;
use crate::work::{Sink, n_threads, work};
use rustc_hash::FxHashMap;

/// How often each number occurs, per column.
struct Collector(Vec<FxHashMap<u64, u64>>);

impl Sink for Collector {
    fn row(&mut self, cells: &mut impl Cells, _block: u32, _line: u32) {
        for (slot, counts) in self.0.iter_mut().enumerate() {
            if let Some(number) = cells.number(slot) {
                *counts.entry(number.to_bits()).or_default() += 1;
            }
        }
    }

    fn bad_row(&mut self, _block: u32, _line: u32, _problem: String) {}

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
}

/// The same settings with edges in place of quantiles; reads the log once.
pub(crate) fn closed(spec: &Spec, inputs: &[Input], observer: &dyn Observer) -> Result<Spec> {
    let mut spec = spec.clone();
    let open = |column: &&mut Column| column.is_open();
    let mut names: Vec<String> = Vec::new();
    for column in spec.state.iter_mut().chain(&mut spec.action).filter(open) {
        if !names.contains(&column.name) {
            names.push(column.name.clone());
        }
    }
    if names.is_empty() {
        return Ok(spec);
    }
    let feed = Feed::new(inputs, &names, spec.unterminated);
    let new = || Collector(vec![FxHashMap::default(); names.len()]);
    let (collectors, ..) = work(feed, inputs, n_threads(&spec), &new, &|_| false, observer)?;
    let mut values = vec![Values::default(); names.len()];
    for Collector(columns) in collectors {
        for (values, counts) in values.iter_mut().zip(columns) {
            values.add(counts);
        }
    }
    for column in spec.state.iter_mut().chain(&mut spec.action).filter(open) {
        if let Some(i) = names.iter().position(|name| *name == column.name) {
            column.close(&values[i])?;
        }
    }
    Ok(spec)
}
