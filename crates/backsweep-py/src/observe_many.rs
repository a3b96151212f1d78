//! Learning from columns, all or nothing.
//!
//! ```text
//! columns ──check──▶ Batch: ids of every row, new names in the order in which they will be added ──learn──▶ agent
//! ```
//!
//! The first pass checks everything that can be wrong (names, flags, rewards) and changes nothing. It numbers new names as the
//! second pass will. The second pass then does what a loop of `observe` and `plan` would, bit for bit.

use crate::columns::{self, NameColumn, ROWS_PER_CHECK, listen};
use crate::errors;
use crate::flags;
use crate::named_agent::{NamedAgent, to_state};
use crate::names::{Key, Names, Role};
use crate::planning::{self, Amount};
use backsweep::{Budget, Next, State, Transition};
use pyo3::prelude::*;

/// Update cycles between two checks.
const MAX_CYCLES: u64 = 16_384;

type Column<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Learns from the columns states, actions, rewards, next_states, terminated and truncated, and plans after each row.
pub fn observe_many(
    py: Python<'_>,
    learner: &mut NamedAgent,
    columns: [Column<'_, '_>; 6],
    cycles: u64,
    heavy: bool,
) -> PyResult<usize> {
    let batch = Batch::check(py, learner, columns)
        .map_err(|error| errors::with_context(py, error, "", "; nothing was learned"))?;
    let n_rows = batch.states.len();
    let mut learned = 0;
    learn(py, learner, batch, cycles, heavy, &mut learned).map_err(|error| {
        let note = match learned {
            0 => "nothing was learned".to_owned(),
            1 => format!("row 0 of {n_rows} was learned, the rest were not"),
            _ => format!("rows 0 to {} of {n_rows} were learned, the rest were not", learned - 1),
        };
        errors::with_context(py, error, "", &format!("; {note}"))
    })?;
    Ok(n_rows)
}

/// Rows whose names, flags and rewards have all been checked.
struct Batch {
    states: Vec<u32>,
    /// Ids of actions, not places in rows.
    actions: Vec<u32>,
    rewards: Vec<f64>,
    /// Ids of states, or of ends where `terminated`.
    next_states: Vec<u32>,
    terminated: Option<Vec<bool>>,
    truncated: Option<Vec<bool>>,
    new_states: Names,
    new_actions: Names,
    new_ends: Names,
}

/// The id of a name, known or new; the `i`-th new name gets the id that it will have once those before it were added.
#[cold]
fn id_of(py: Python<'_>, known: &mut Names, new: &mut Names, key: Key<'_>, role: Role) -> PyResult<u32> {
    match known.id(py, &key, role)? {
        Some(id) => Ok(id),
        None => Ok(known.len() as u32 + new.id_or_insert(py, key, role)?.0),
    }
}

/// The ids of a column's names in one table, remembered for names that are shared by many rows.
struct Ids<'a, 'py> {
    column: &'a NameColumn<'py>,
    /// The numbers of a column of whole numbers, otherwise empty.
    numbers: &'a [i64],
    role: Role,
    /// Of a coded column: `by_code[c]` is the id of name `c`, once it was needed.
    by_code: Vec<Option<u32>>,
}

impl<'a, 'py> Ids<'a, 'py> {
    fn new(column: &'a NameColumn<'py>, role: Role) -> Self {
        let (numbers, n_codes) = match column {
            NameColumn::Ints(numbers) => (numbers.as_slice().unwrap_or_default(), 0),
            NameColumn::Coded { names, .. } => (&[][..], names.len()),
            NameColumn::Objects(_) => (&[][..], 0),
        };
        Self { column, numbers, role, by_code: vec![None; n_codes] }
    }

    #[inline(always)]
    fn get(&mut self, py: Python<'py>, row: usize, known: &mut Names, new: &mut Names) -> PyResult<u32> {
        match self.column {
            NameColumn::Ints(_) => {
                let number = self.numbers[row];
                let new_id = || Some(known.len() as u32 + new.dense_id(number)?);
                match known.dense_id(number).or_else(new_id) {
                    Some(id) => Ok(id),
                    None => id_of(py, known, new, Key::Int(number, None), self.role),
                }
            }
            NameColumn::Coded { codes, .. } => {
                let code = codes[row] as usize;
                if let Some(id) = self.by_code[code] {
                    return Ok(id);
                }
                let id = id_of(py, known, new, self.column.key(row, self.role)?, self.role)?;
                self.by_code[code] = Some(id);
                Ok(id)
            }
            NameColumn::Objects(_) => id_of(py, known, new, self.column.key(row, self.role)?, self.role),
        }
    }
}

impl Batch {
    fn check(py: Python<'_>, learner: &mut NamedAgent, columns: [Column<'_, '_>; 6]) -> PyResult<Self> {
        const NAMES: [&str; 6] = ["states", "actions", "rewards", "next_states", "terminated", "truncated"];
        let mut plain = [const { None }; 6];
        let mut n_rows = None;
        for (i, name) in NAMES.into_iter().enumerate() {
            let Some(column) = columns[i] else { continue };
            let column = columns::plain(column, name)?;
            let found = columns::length(&column, name)?;
            if *n_rows.get_or_insert(found) != found {
                return Err(errors::value(format!(
                    "{name} has {found} rows and states has {}; expected columns of the same length",
                    n_rows.unwrap_or(0)
                )));
            }
            plain[i] = Some(column);
        }
        let [Some(states), Some(actions), Some(rewards), Some(next_states), terminated, truncated] = &plain
        else {
            return Err(errors::wrong_type("a column is missing"));
        };
        let n_rows = n_rows.unwrap_or(0);
        let rewards = columns::rewards(rewards)?;
        let terminated = flags::column(terminated.as_ref(), "terminated")?;
        let truncated = flags::column(truncated.as_ref(), "truncated")?;
        let states = NameColumn::read(states, "states")?;
        let actions = NameColumn::read(actions, "actions")?;
        let next_states = NameColumn::read(next_states, "next_states")?;
        let lengths = [states.len(), actions.len(), next_states.len(), rewards.len()];
        let flag_lengths = [&terminated, &truncated].map(|flags| flags.as_ref().map_or(n_rows, Vec::len));
        if lengths.into_iter().chain(flag_lengths).any(|length| length != n_rows) {
            return Err(errors::value("a column yields a different number of rows than its length"));
        }
        let mut batch = Self {
            states: Vec::with_capacity(n_rows),
            actions: Vec::with_capacity(n_rows),
            rewards,
            next_states: Vec::with_capacity(n_rows),
            terminated,
            truncated,
            new_states: Names::default(),
            new_actions: Names::default(),
            new_ends: Names::default(),
        };
        let mut state_ids = Ids::new(&states, "state");
        let mut action_ids = Ids::new(&actions, "action");
        let mut next_ids = Ids::new(&next_states, "next_state");
        let mut end_ids = Ids::new(&next_states, "next_state");
        for row in 0..n_rows {
            let mut check_row = || {
                learner.check_range(batch.rewards[row])?;
                let action = action_ids.get(py, row, &mut learner.actions, &mut batch.new_actions)?;
                let state = state_ids.get(py, row, &mut learner.states, &mut batch.new_states)?;
                if !learner.may_take(state, action) {
                    return Err(learner.not_declared(py, &actions.key(row, "action")?.show()));
                }
                let next = match is_set(&batch.terminated, row) {
                    true => end_ids.get(py, row, &mut learner.ends, &mut batch.new_ends)?,
                    false => next_ids.get(py, row, &mut learner.states, &mut batch.new_states)?,
                };
                Ok((state, action, next))
            };
            let (state, action, next) =
                check_row().map_err(|error| errors::with_context(py, error, &format!("row {row}: "), ""))?;
            batch.states.push(state);
            batch.actions.push(action);
            batch.next_states.push(next);
            listen(py, row)?;
        }
        Ok(batch)
    }
}

#[inline]
fn is_set(flags: &Option<Vec<bool>>, row: usize) -> bool {
    flags.as_ref().is_some_and(|flags| flags[row])
}

/// Learns from a batch in order, planning after each row; counts the rows.
fn learn(
    py: Python<'_>,
    learner: &mut NamedAgent,
    batch: Batch,
    cycles: u64,
    heavy: bool,
    learned: &mut usize,
) -> PyResult<()> {
    let (n_states, n_actions) = (learner.states.len(), learner.actions.len());
    let n_ends = learner.ends.len();
    // Deferred steps, so that the interpreter can be released for many of them at once.
    let mut steps = Vec::new();
    for row in 0..batch.states.len() {
        let (state, action, next) = (batch.states[row], batch.actions[row], batch.next_states[row]);
        let terminated = is_set(&batch.terminated, row);
        let is_new = action as usize >= learner.actions.len()
            || state as usize >= learner.states.len()
            || next as usize >= if terminated { learner.ends.len() } else { learner.states.len() };
        let place = if is_new { None } else { learner.find_place(state, action) };
        let place = match place {
            Some(place) => place,
            None => {
                // New names change the model: deferred steps come first, as they would have row by row.
                run(py, learner, &mut steps, cycles, heavy, learned)?;
                if action as usize >= learner.actions.len() {
                    let key = batch.new_actions.key(py, action as usize - n_actions, "action")?;
                    learner.actions.insert(py, key)?;
                }
                if state as usize >= learner.states.len() {
                    learner.add(py, batch.new_states.key(py, state as usize - n_states, "state")?, None)?;
                }
                let place = learner.place(py, state, action)?;
                if terminated && next as usize >= learner.ends.len() {
                    let key = batch.new_ends.key(py, next as usize - n_ends, "next_state")?;
                    learner.ends.insert(py, key)?;
                } else if !terminated && next as usize >= learner.states.len() {
                    let key = batch.new_states.key(py, next as usize - n_states, "next_state")?;
                    learner.add(py, key, None)?;
                }
                place
            }
        };
        let next = match terminated {
            true => Next::Terminated,
            false => to_state(next, is_set(&batch.truncated, row)),
        };
        let step = Transition { state: State(state), action: place, reward: batch.rewards[row], next };
        if cycles > 0 {
            steps.push(step);
        } else {
            learner.agent.observe_transition(&step).map_err(|error| learner.explain(py, error))?;
            *learned += 1;
        }
        if row % ROWS_PER_CHECK == ROWS_PER_CHECK - 1 {
            run(py, learner, &mut steps, cycles, heavy, learned)?;
            py.check_signals()?;
        }
    }
    run(py, learner, &mut steps, cycles, heavy, learned)
}

/// Learns from deferred steps, planning after each, without holding the interpreter for long.
fn run(
    py: Python<'_>,
    learner: &mut NamedAgent,
    steps: &mut Vec<Transition>,
    cycles: u64,
    heavy: bool,
    learned: &mut usize,
) -> PyResult<()> {
    // Few enough steps at a time that Ctrl-C does not wait for long.
    let n_steps = if heavy { 1 } else { (MAX_CYCLES / cycles.max(1)).clamp(1, 64) as usize };
    for part in steps.chunks(n_steps) {
        let agent = &mut learner.agent;
        let mut done = 0;
        let result = if n_steps > 1 {
            let mut learn_part = || {
                for step in part {
                    agent.observe_transition(step)?;
                    agent.plan(Budget::Cycles(cycles));
                    done += 1;
                }
                Ok(())
            };
            // For a few short steps, releasing the interpreter does not pay.
            if part.len() as u64 * cycles < 64 { learn_part() } else { py.detach(learn_part) }
        } else {
            agent.observe_transition(&part[0]).map(|_| done = 1)
        };
        *learned += done;
        result.map_err(|error| learner.explain(py, error))?;
        if n_steps == 1 {
            planning::run(py, &mut learner.agent, backsweep::Agent::plan, Amount::Cycles(cycles), heavy)?;
        }
        py.check_signals()?;
    }
    steps.clear();
    Ok(())
}
