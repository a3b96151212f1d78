//! Models that grow as vectorized functions find their states: the numbers of states, and rows in memory or on disk.

use crate::errors;
use crate::exclusive::Exclusive;
use crate::known::KnownModel;
use crate::known::arrays::action_names;
use crate::known::asking::checked_discount;
use crate::known::build::{RowBuilder, Sums};
use backsweep_mdp::DiskWriter;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use numpy::{
    IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use rustc_hash::FxBuildHasher;
use std::hash::BuildHasher;
use std::path::PathBuf;

/// Rows of whole numbers, numbered in the order in which they were met.
struct Rows {
    width: usize,
    /// Row after row.
    items: Vec<i64>,
    /// The numbers of the rows, found by what the rows are.
    numbers: HashTable<u32>,
}

fn row_of(items: &[i64], width: usize, number: u32) -> &[i64] {
    &items[number as usize * width..][..width]
}

fn hash(row: &[i64]) -> u64 {
    FxBuildHasher.hash_one(row)
}

impl Rows {
    fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The number of a row; a new row gets the next one.
    fn number(&mut self, row: &[i64]) -> Result<u32, String> {
        let Self { width, items, numbers } = self;
        let n = numbers.len();
        let is_same = |&number: &u32| row_of(items, *width, number) == row;
        let rehash = |&number: &u32| hash(row_of(items, *width, number));
        match numbers.entry(hash(row), is_same, rehash) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(_) if n >= u32::MAX as usize => {
                Err(format!("found more than {n} states; expected fewer than 2³²"))
            }
            Entry::Vacant(place) => {
                place.insert(n as u32);
                items.extend_from_slice(row);
                Ok(n as u32)
            }
        }
    }
}

/// The states of a vectorized function: rows of whole numbers.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct StateRows(Exclusive<Rows>);

#[pymethods]
impl StateRows {
    #[new]
    fn new(width: usize) -> PyResult<Self> {
        if width == 0 {
            return Err(errors::value("start has no columns; expected states of at least one whole number"));
        }
        Ok(Self(Exclusive::new(Rows { width, items: Vec::new(), numbers: HashTable::new() })))
    }

    fn __len__(&self) -> PyResult<usize> {
        Ok(self.0.lock()?.len())
    }

    /// The numbers of rows; new ones get the next numbers.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        rows: PyReadonlyArray2<'py, i64>,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let mut known = self.0.lock()?;
        let (items, width) = (rows.as_slice()?, known.width);
        if rows.shape()[1] != width {
            let found = rows.shape()[1];
            return Err(errors::value(format!("found rows of {found} columns; expected {width}")));
        }
        let known = &mut *known;
        let numbers = py.detach(|| {
            items
                .chunks_exact(width)
                .map(|row| known.number(row).map(i64::from))
                .collect::<Result<Vec<_>, _>>()
        });
        Ok(numbers.map_err(errors::value)?.into_pyarray(py))
    }

    /// The rows from one number to before another.
    fn rows<'py>(&self, py: Python<'py>, first: usize, to: usize) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let known = self.0.lock()?;
        let items = known.items.get(first * known.width..to * known.width);
        let Some(items) = items else { return Err(errors::value("the rows are out of range")) };
        PyArray1::from_slice(py, items).reshape([to - first, known.width])
    }

    /// All rows, as tuples.
    fn tuples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let known = self.0.lock()?;
        let rows = known.items.chunks_exact(known.width).map(|row| PyTuple::new(py, row));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)
    }
}

/// The destination of rows.
enum Sink {
    Memory(Box<RowBuilder>),
    Disk(Box<DiskWriter>),
}

impl Sink {
    /// Adds an action of the current state, from as many targets, probabilities and rewards.
    fn add_choice(&mut self, action: u32, arcs: &Columns<'_>, from: usize, to: usize) -> PyResult<()> {
        let outcomes = (from..to).map(|i| (arcs.targets[i], arcs.probabilities[i], arcs.rewards[i]));
        match self {
            Self::Memory(builder) => {
                for (target, p, reward) in outcomes {
                    builder.outcome(target, p, reward)?;
                }
                builder.end_row(action)
            }
            Self::Disk(writer) => {
                let reward = outcomes.clone().map(|(_, p, reward)| p * reward).sum();
                let live: Vec<_> = outcomes.filter(|(target, ..)| *target != -1).collect();
                let targets = live.iter().map(|(target, ..)| u32::try_from(*target));
                let targets = targets.collect::<Result<Vec<_>, _>>().map_err(errors::refused)?;
                let probabilities: Vec<f64> = live.iter().map(|(_, p, _)| *p).collect();
                writer.add_choice(action, reward, &targets, &probabilities).map_err(errors::refused)
            }
        }
    }

    fn end_state(&mut self) -> PyResult<()> {
        match self {
            Self::Memory(builder) => builder.end_state(),
            Self::Disk(writer) => writer.end_state().map_err(errors::refused)?,
        }
        Ok(())
    }
}

/// The columns of [`ModelWriter::add`].
struct Columns<'a> {
    targets: &'a [i64],
    probabilities: &'a [f64],
    rewards: &'a [f64],
}

/// Builds a model state by state, in memory or in a file.
#[pyclass(module = "backsweep._backsweep", frozen)]
pub struct ModelWriter(Exclusive<Option<Sink>>);

impl ModelWriter {
    fn take(&self) -> PyResult<Sink> {
        self.0.lock()?.take().ok_or_else(|| errors::value("the model is finished or was refused"))
    }
}

#[pymethods]
impl ModelWriter {
    #[new]
    #[pyo3(signature = (path=None))]
    fn new(path: Option<PathBuf>) -> PyResult<Self> {
        let sink = match path {
            Some(path) => Sink::Disk(Box::new(DiskWriter::create(path).map_err(errors::refused)?)),
            None => Sink::Memory(Box::new(RowBuilder::growing(Sums { eps: 0.0, normalize: false }))),
        };
        Ok(Self(Exclusive::new(Some(sink))))
    }

    /// Adds states: how many actions each has; of each action its number and how many outcomes it has; of each outcome the
    /// state (-1 ends the episode), the probability and the reward. Nothing can be added after a refusal.
    #[allow(clippy::too_many_arguments, reason = "one for each column")]
    fn add(
        &self,
        n_choices: PyReadonlyArray1<'_, i64>,
        actions: PyReadonlyArray1<'_, i64>,
        n_outcomes: PyReadonlyArray1<'_, i64>,
        targets: PyReadonlyArray1<'_, i64>,
        probabilities: PyReadonlyArray1<'_, f64>,
        rewards: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<()> {
        let (n_choices, actions, n_outcomes) =
            (n_choices.as_slice()?, actions.as_slice()?, n_outcomes.as_slice()?);
        let arcs = Columns {
            targets: targets.as_slice()?,
            probabilities: probabilities.as_slice()?,
            rewards: rewards.as_slice()?,
        };
        let sum = |counts: &[i64]| {
            counts.iter().try_fold(0_usize, |sum, &n| sum.checked_add(usize::try_from(n).ok()?))
        };
        let n = arcs.targets.len();
        if sum(n_choices) != Some(actions.len())
            || actions.len() != n_outcomes.len()
            || [sum(n_outcomes), Some(arcs.probabilities.len()), Some(arcs.rewards.len())] != [Some(n); 3]
        {
            return Err(errors::value(format!(
                "found {} actions, {} counts of outcomes, {n} next states, {} probabilities and {} rewards; expected as many as the \
                 counts add up to",
                actions.len(),
                n_outcomes.len(),
                arcs.probabilities.len(),
                arcs.rewards.len()
            )));
        }
        let mut sink = self.take()?;
        let (mut choice, mut from) = (0, 0);
        for &n in n_choices {
            for _ in 0..n {
                let action = u32::try_from(actions[choice]).map_err(errors::refused)?;
                let to = from + n_outcomes[choice] as usize;
                sink.add_choice(action, &arcs, from, to)?;
                (choice, from) = (choice + 1, to);
            }
            sink.end_state()?;
        }
        if let Sink::Memory(builder) = &sink {
            builder.check_memory()?;
        }
        *self.0.lock()? = Some(sink);
        Ok(())
    }

    /// Finishes a model with names of actions and initial states: `None` if it is in a file.
    fn finish(
        &self,
        discount: f64,
        states: &StateRows,
        initial: Vec<u32>,
        actions: &Bound<'_, PyAny>,
    ) -> PyResult<Option<KnownModel>> {
        let py = actions.py();
        let discount = checked_discount(discount)?;
        match self.take()? {
            Sink::Disk(writer) => {
                let names = actions.try_iter()?.map(|name| Ok(name?.str()?.to_string()));
                let names = names.collect::<PyResult<Vec<String>>>()?;
                py.detach(|| writer.finish(&initial, &names)).map_err(errors::refused)?;
                Ok(None)
            }
            Sink::Memory(builder) => {
                let mut model = builder.finish(action_names(actions)?)?;
                model.rename_states(states.tuples(py)?.as_any())?;
                model.session.set_label("init".to_owned(), initial);
                Ok(Some(KnownModel::of(model.with_discount(discount))))
            }
        }
    }
}
