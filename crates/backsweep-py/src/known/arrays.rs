//! NumPy and SciPy data, read in place: sparse rows, dense arrays and columns of outcomes.

use crate::errors;
use crate::known::build::{RowBuilder, Sums};
use crate::known::named_mdp::NamedMdp;
use crate::names::{self, Names};
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;

/// A matrix in compressed rows: where rows begin, columns, data.
type Sparse<'py> = (PyReadonlyArray1<'py, i64>, Bound<'py, PyAny>, PyReadonlyArray1<'py, f64>);

/// Rewards: one per state and action, or like the transitions.
pub enum RewardArray<'py, T> {
    Rows(PyReadonlyArray1<'py, f64>),
    Outcomes(T),
}

/// The common interface of sparse and dense rows.
pub struct ArrayRows<'py> {
    pub n_states: usize,
    pub n_actions: usize,
    /// The probability of ending, by row; 0 if not given.
    pub end: Option<PyReadonlyArray1<'py, f64>>,
    /// Which rows exist; all if not given.
    pub available: Option<PyReadonlyArray1<'py, bool>>,
    pub sums: Sums,
}

fn slice<'a, T: Element>(array: &'a PyReadonlyArray1<'_, T>) -> PyResult<&'a [T]> {
    array.as_slice().map_err(|_| errors::value("an array is not contiguous"))
}

fn optional<'a, T: Element>(array: &'a Option<PyReadonlyArray1<'_, T>>, n: usize) -> PyResult<&'a [T]> {
    let found = array.as_ref().map_or(Ok(&[][..]), slice)?;
    sized(found, if array.is_some() { n } else { 0 })
}

fn sized<T>(items: &[T], n: usize) -> PyResult<&[T]> {
    if items.len() == n {
        Ok(items)
    } else {
        Err(errors::value(format!("an array has {} items; expected {n}", items.len())))
    }
}

impl ArrayRows<'_> {
    /// Builds a model row by row: `fill` adds the outcomes of a row, by its state and action.
    fn build(
        &self,
        n_arcs: usize,
        rewards: Option<&[f64]>,
        mut fill: impl FnMut(&mut RowBuilder, usize, usize, f64) -> PyResult<()>,
    ) -> PyResult<NamedMdp> {
        let n_rows = self.n_states * self.n_actions;
        let end = optional(&self.end, n_rows)?;
        let available = optional(&self.available, n_rows)?;
        let rewards = rewards.map(|rewards| sized(rewards, n_rows)).transpose()?;
        let mut builder = RowBuilder::new(self.n_states, n_rows, n_arcs, self.sums)?;
        for state in 0..self.n_states {
            for action in 0..self.n_actions {
                let row = state * self.n_actions + action;
                if available.get(row) == Some(&false) {
                    continue;
                }
                let reward = rewards.map_or(0.0, |rewards| rewards[row]);
                fill(&mut builder, state, action, reward)?;
                if let Some(&end) = end.get(row).filter(|&&end| end != 0.0) {
                    builder.outcome(-1, end, reward)?;
                }
                builder.end_row(action as u32)?;
            }
            builder.end_state();
        }
        builder.finish(Names::numbers(self.n_actions))
    }

    /// Dense rows, concatenated.
    pub fn dense(
        &self,
        transitions: &PyReadonlyArray1<'_, f64>,
        rewards: RewardArray<'_, PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<NamedMdp> {
        let (n, n_actions) = (self.n_states, self.n_actions);
        let n_items = n.checked_mul(n_actions).and_then(|n_rows| n_rows.checked_mul(n));
        let p = sized(slice(transitions)?, n_items.unwrap_or(usize::MAX))?;
        let (by_row, by_outcome) = match &rewards {
            RewardArray::Rows(rewards) => (Some(slice(rewards)?), None),
            RewardArray::Outcomes(rewards) => (None, Some(sized(slice(rewards)?, p.len())?)),
        };
        let n_arcs = p.iter().filter(|&&p| p != 0.0).count();
        self.build(n_arcs, by_row, |builder, state, action, reward| {
            let first = (state * n_actions + action) * n;
            for (next, &p) in p[first..first + n].iter().enumerate().filter(|(_, p)| **p != 0.0) {
                builder.outcome(
                    next as i64,
                    p,
                    by_outcome.map_or(reward, |rewards| rewards[first + next]),
                )?;
            }
            Ok(())
        })
    }

    /// Sparse rows: one matrix with a row per state and action, or one matrix per action.
    pub fn sparse(
        &self,
        transitions: &[Sparse<'_>],
        rewards: RewardArray<'_, Vec<Sparse<'_>>>,
    ) -> PyResult<NamedMdp> {
        let parts = Parts::new(transitions, self, "transitions")?;
        let mut entries = Vec::new();
        match &rewards {
            RewardArray::Rows(rewards) => {
                self.build(parts.n_arcs(), Some(slice(rewards)?), |builder, s, a, reward| {
                    parts.each(s, a, |next, p| builder.outcome(next, p, reward))
                })
            }
            RewardArray::Outcomes(rewards) => {
                let rewards = Parts::new(rewards, self, "rewards")?;
                self.build(parts.n_arcs(), None, |builder, s, a, _| {
                    entries.clear();
                    rewards.each(s, a, |next, reward| {
                        entries.push((next, reward));
                        Ok(())
                    })?;
                    entries.sort_by_key(|entry| entry.0);
                    parts.each(s, a, |next, p| {
                        let first = entries.partition_point(|entry| entry.0 < next);
                        let same = entries[first..].iter().take_while(|entry| entry.0 == next);
                        builder.outcome(next, p, same.map(|entry| entry.1).sum())
                    })
                })
            }
        }
    }
}

/// Matrices with their rows in the order of states and actions.
struct Parts<'a, 'py> {
    parts: Vec<(&'a [i64], TransitionColumns<'py>, &'a [f64])>,
    n_actions: usize,
}

/// Column indices as SciPy keeps them: 32 bits where these are enough.
enum TransitionColumns<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl<'a, 'py> Parts<'a, 'py> {
    fn new(matrices: &'a [Sparse<'py>], rows: &ArrayRows<'_>, name: &str) -> PyResult<Self> {
        let n_rows = if matrices.len() == 1 { rows.n_states * rows.n_actions } else { rows.n_states };
        if matrices.len() != 1 && matrices.len() != rows.n_actions {
            return Err(errors::value(format!(
                "{name} has {} matrices; expected one, or {}",
                matrices.len(),
                rows.n_actions
            )));
        }
        let part = |(starts, columns, data): &'a Sparse<'py>| {
            let (starts, data) = (sized(slice(starts)?, n_rows + 1)?, slice(data)?);
            let ascending = starts.windows(2).all(|pair| pair[0] <= pair[1]);
            if !ascending || starts[0] < 0 || starts[n_rows] > data.len() as i64 {
                return Err(errors::value(format!(
                    "{name} has row starts that are not increasing, or beyond its {} entries",
                    data.len()
                )));
            }
            let columns = match columns.extract() {
                Ok(short) => TransitionColumns::Short(short),
                Err(_) => TransitionColumns::Long(columns.extract()?),
            };
            let last = rows.n_states as i64 - 1;
            columns.check(data.len(), last).map(|()| (starts, columns, data)).map_err(|found| {
                errors::value(format!("{name} has the column index {found}; expected 0 to {last}"))
            })
        };
        let parts = matrices.iter().map(part).collect::<PyResult<Vec<_>>>()?;
        Ok(Self { parts, n_actions: rows.n_actions })
    }

    fn n_arcs(&self) -> usize {
        self.parts.iter().map(|(_, _, data)| data.len()).sum()
    }

    /// Visits the entries of a row.
    #[inline]
    fn each(
        &self,
        state: usize,
        action: usize,
        mut visit: impl FnMut(i64, f64) -> PyResult<()>,
    ) -> PyResult<()> {
        let ((starts, columns, data), row) = match &self.parts[..] {
            [only] => (only, state * self.n_actions + action),
            parts => (&parts[action], state),
        };
        let entries = starts[row] as usize..starts[row + 1] as usize;
        match columns {
            TransitionColumns::Short(columns) => {
                let columns = &slice(columns)?[entries.clone()];
                columns.iter().zip(&data[entries]).try_for_each(|(&next, &x)| visit(i64::from(next), x))
            }
            TransitionColumns::Long(columns) => {
                let columns = &slice(columns)?[entries.clone()];
                columns.iter().zip(&data[entries]).try_for_each(|(&next, &x)| visit(next, x))
            }
        }
    }
}

impl TransitionColumns<'_> {
    /// All entries are from 0 to `last`; otherwise the first that is not. A missing column counts as -1.
    fn check(&self, n: usize, last: i64) -> Result<(), i64> {
        let wrong = |column: &i64| !(0..=last).contains(column);
        let found = match self {
            Self::Short(columns) => {
                let columns = columns.as_slice().map_err(|_| -1)?;
                if columns.len() < n { Some(-1) } else { columns.iter().map(|&c| i64::from(c)).find(wrong) }
            }
            Self::Long(columns) => {
                let columns = columns.as_slice().map_err(|_| -1)?;
                if columns.len() < n { Some(-1) } else { columns.iter().copied().find(wrong) }
            }
        };
        found.map_or(Ok(()), Err)
    }
}

/// Columns of outcomes: row i is action `actions[i]` (an index into `action_names`) of state `states[i]`, with the outcomes from
/// `starts[i]` to `starts[i + 1]`; a next state of -1 is the end.
#[allow(clippy::too_many_arguments, reason = "one for each column")]
pub fn columns(
    n_states: usize,
    states: &PyReadonlyArray1<'_, i64>,
    actions: &PyReadonlyArray1<'_, i64>,
    action_names: &Bound<'_, PyAny>,
    starts: &PyReadonlyArray1<'_, i64>,
    next_states: &PyReadonlyArray1<'_, i64>,
    probabilities: &PyReadonlyArray1<'_, f64>,
    rewards: &PyReadonlyArray1<'_, f64>,
    sums: Sums,
) -> PyResult<NamedMdp> {
    let py = action_names.py();
    let mut names = Names::default();
    for name in action_names.try_iter()? {
        names.id_or_insert(py, names::key(&name?, "action")?, "action")?;
    }
    let states = slice(states)?;
    let n_rows = states.len();
    let (actions, starts) = (sized(slice(actions)?, n_rows)?, sized(slice(starts)?, n_rows + 1)?);
    let next_states = slice(next_states)?;
    let n = next_states.len();
    let (probabilities, rewards) = (sized(slice(probabilities)?, n)?, sized(slice(rewards)?, n)?);
    let mut builder = RowBuilder::new(n_states, n_rows, n, sums)?;
    let mut row = 0;
    for state in 0..n_states as i64 {
        while row < n_rows && states[row] == state {
            let range = usize::try_from(starts[row]).ok().zip(usize::try_from(starts[row + 1]).ok());
            let range = range.filter(|(start, end)| start <= end && *end <= n);
            let action = u32::try_from(actions[row]).ok().filter(|&action| (action as usize) < names.len());
            let (Some((start, end)), Some(action)) = (range, action) else {
                return Err(errors::value(format!("row {row} is out of range of the columns")));
            };
            for i in start..end {
                builder.outcome(next_states[i], probabilities[i], rewards[i])?;
            }
            builder.end_row(action)?;
            row += 1;
        }
        builder.end_state();
    }
    if row < n_rows {
        return Err(errors::value(format!("state {} is out of order or out of range", states[row])));
    }
    builder.finish(names)
}
