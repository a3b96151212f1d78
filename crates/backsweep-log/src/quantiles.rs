//! Quantiles of a log, which become edges: a separate pass over the log.

use crate::bins::{BinnedColumn, NumberCounts};
use crate::derived::{DerivedColumns, SlotNames};
use crate::error::{Result, RowProblem};
use crate::read::blocks::BlockReader;
use crate::read::cells::{RowCells, RowSink};
use crate::read::input::Input;
use crate::read::parallel::{ReadObserver, read_blocks};
use crate::rows::selection::{RowConditions, Selected};
use crate::spec::Spec;
use rustc_hash::FxHashMap;

/// The counts of numbers per column, each with its slot.
struct Collector(Vec<(usize, FxHashMap<u64, u64>)>);

impl RowSink for Collector {
    fn row(&mut self, cells: &mut impl RowCells, _block: u32, _line: u32) {
        for (slot, counts) in &mut self.0 {
            if let Some(number) = cells.number(*slot) {
                *counts.entry(number.to_bits()).or_default() += 1;
            }
        }
    }

    fn bad_row(&mut self, _block: u32, _line: u32, _problem: Box<RowProblem>) {}

    fn end_block(&mut self, _block: u32, _n_lines: u32) {}
}

/// The same settings with edges in place of quantiles; reads the log once.
pub(crate) fn with_edges(
    spec: &Spec,
    inputs: &[Input],
    derived: &DerivedColumns,
    observer: &dyn ReadObserver,
) -> Result<Spec> {
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
    let mut columns = SlotNames::default();
    let mut slot = |name: &String| derived.slot(name).unwrap_or_else(|| columns.slot(name));
    let slots: Vec<usize> = names.iter().map(&mut slot).collect();
    let selection = RowConditions::new(&spec, &mut |column| columns.slot(column));
    let blocks = BlockReader::new(inputs, &columns.0, spec.unterminated);
    let collector = || Collector(slots.iter().map(|&slot| (slot, FxHashMap::default())).collect());
    let new = || Selected::new(&selection, derived, collector());
    let (collectors, ..) = read_blocks(blocks, inputs, spec.n_threads(), &new, &|_| false, observer)?;
    let mut values = vec![NumberCounts::default(); names.len()];
    for Collector(columns) in collectors.into_iter().map(|selected| selected.sink) {
        for (values, (_, counts)) in values.iter_mut().zip(columns) {
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
