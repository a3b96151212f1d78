//! Quantiles of a log, which become edges: a separate pass over the log.

use crate::bins::{BinnedColumn, NumberCounts};
use crate::error::{Result, RowProblem};
use crate::read::blocks::BlockReader;
use crate::read::cells::{RowCells, RowSink};
use crate::read::input::Input;
use crate::read::parallel::{ReadObserver, read_blocks};
use crate::spec::Spec;
use rustc_hash::FxHashMap;

/// How often each number occurs, per column.
struct Collector(Vec<FxHashMap<u64, u64>>);

impl RowSink for Collector {
    fn row(&mut self, cells: &mut impl RowCells, _block: u32, _line: u32) {
        for (slot, counts) in self.0.iter_mut().enumerate() {
            if let Some(number) = cells.number(slot) {
                *counts.entry(number.to_bits()).or_default() += 1;
            }
        }
    }

    fn bad_row(&mut self, _block: u32, _line: u32, _problem: Box<RowProblem>) {}

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
}

/// The same settings with edges in place of quantiles; reads the log once.
pub(crate) fn with_edges(spec: &Spec, inputs: &[Input], observer: &dyn ReadObserver) -> Result<Spec> {
    let mut spec = spec.clone();
    let open = |column: &&mut BinnedColumn| column.is_open();
    let mut names: Vec<String> = Vec::new();
    for column in spec.state.iter_mut().chain(&mut spec.action).filter(open) {
        if !names.contains(&column.name) {
            names.push(column.name.clone());
        }
    }
    if names.is_empty() {
        return Ok(spec);
    }
    let blocks = BlockReader::new(inputs, &names, spec.unterminated);
    let new = || Collector(vec![FxHashMap::default(); names.len()]);
    let (collectors, ..) = read_blocks(blocks, inputs, spec.n_threads(), &new, &|_| false, observer)?;
    let mut values = vec![NumberCounts::default(); names.len()];
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
