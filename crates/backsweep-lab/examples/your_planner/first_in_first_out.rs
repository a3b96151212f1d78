//! Sweeping without priorities: states whose successors changed wait in line. Cost of a cycle: O(actions × successors).
use backsweep::planner::{Change, Counters, Cycle, Model, Pair, Planner, Values};
use backsweep::{PlannerKind, Result, Settings, State};
use std::collections::VecDeque;

#[derive(Clone, Debug)]
pub struct FirstInFirstOut {
    threshold: f64,
    values: Values,
    line: VecDeque<State>,
    /// True if a state is in the line: each at most once.
    waits: Vec<bool>,
    counters: Counters,
}

impl FirstInFirstOut {
    /// Its name in files and commands, its title in figures, and how it is built.
    pub const KIND: PlannerKind = PlannerKind::new("first_in_first_out", "first in, first out", |settings| {
        Ok(Box::new(Self::new(settings)?))
    });

    pub fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        Ok(Self {
            threshold: settings.threshold,
            values: Values::new(&settings),
            line: VecDeque::new(),
            waits: Vec::new(),
            counters: Counters::default(),
        })
    }

    fn push(&mut self, state: State) {
        if !std::mem::replace(&mut self.waits[state.index()], true) {
            self.line.push_back(state);
        }
    }
}

#[rustfmt::skip] // one line for what takes one line
impl Planner for FirstInFirstOut {
    fn values(&self) -> &Values { &self.values }
    fn counters(&self) -> Option<Counters> { Some(self.counters) }
    fn top_priority(&self) -> Option<f64> { (!self.line.is_empty()).then_some(f64::INFINITY) }
    fn grow(&mut self, model: &Model) {
        if self.values.extend(model) {
            self.waits.resize(model.n_states(), false);
            model.states().filter(|&s| model.pairs(s).any(|p| model.weight(p) > 0.0)).for_each(|s| self.push(s));
        }
    }
    fn observe(&mut self, model: &Model, change: &Change) { self.grow(model); self.push(change.state) }
    fn refresh(&mut self, model: &Model, pair: Pair) { self.grow(model); self.push(model.state_of(pair)) }
    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(state) = self.line.pop_front() else { return Cycle::Idle };
        self.waits[state.index()] = false;
        let (change, n_backups) = self.values.full_value_backup(model, state);
        self.counters.cycles += 1;
        self.counters.full_backups += n_backups;
        if change.abs() > self.threshold {
            model.predecessors(state).for_each(|p| self.push(model.state_of(p.pair)));
        }
        Cycle::Done
    }
}
