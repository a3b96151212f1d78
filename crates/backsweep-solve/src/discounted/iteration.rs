//! Modified policy iteration: a sweep over all choices, then sweeps over the policy's rows alone.
//!
//! Each sweep over all choices proves an interval and gives a policy. What is left to be gained is then reduced under that
//! policy, whose rows are gathered into their own arrays, so that the sweeps in between read a fraction of the model.
//! Where nothing ends, the middle of the bound moves all values at once: what remains contracts as fast as the chain mixes,
//! not as slowly as the discount.
//!
//! In a simultaneous sweep every state depends only on the values before it, so any number of threads computes the same
//! bytes.

use super::model::FlatModel;
use super::proof::{Shift, ValueChange};
use super::sweeps::{
    Goal, PolicyRows, Reached, SweepProgress, full_sweep, partial_sweeps, policy_sweep, policy_sweep_in_place,
};
use backsweep_mdp::NO_CHOICE;

/// The way in which sweeps over a policy's rows read values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Reading {
    /// Those from before the sweep.
    Simultaneous,
    /// The newest ones, in either order in turn, self loops divided out.
    InPlace,
}

use Reading::{InPlace, Simultaneous};

impl Reading {
    /// The one that suits a model: values flow from where it ends, and self loops keep simultaneous sweeps where they are.
    pub fn of(model: &FlatModel) -> Self {
        if model.has_ends() || model.self_loops() > 0.5 { InPlace } else { Simultaneous }
    }

    pub fn name(self) -> &'static str {
        match self {
            Simultaneous => "simultaneous",
            InPlace => "in-place",
        }
    }
}

/// At most this many sweeps over the policy's rows per sweep over all choices.
const PARTIAL_SWEEPS: usize = 10;

/// Modified policy iteration that can be continued.
pub(crate) struct Iteration {
    reading: Reading,
    values: Vec<f64>,
    next: Vec<f64>,
    rows: PolicyRows,
    /// True if no state keeps to itself and all rows pass on about the same part of a value, so that a constant can be
    /// removed.
    shiftable: bool,
    ascending: bool,
}

impl Iteration {
    pub fn new(model: &FlatModel, values: Vec<f64>, reading: Reading) -> Self {
        let n = model.n_states();
        let facts = &model.facts;
        let (least, most) = (facts.least_factor(model.discount), facts.most_factor(model.discount));
        Self {
            reading,
            values,
            next: vec![0.0; n],
            rows: PolicyRows::default(),
            shiftable: 1.0 - most > 0.5 * (1.0 - least) && !model.has_ends(),
            ascending: true,
        }
    }

    pub fn reading(&self) -> Reading {
        self.reading
    }

    /// The values reached.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The share of the policy's probability that leads one way along the numbers.
    pub fn one_way_share(&self) -> f64 {
        self.rows.one_way_share()
    }

    /// Continues until `goal` is reached or its patience is at an end.
    pub fn run(&mut self, model: &FlatModel, goal: &Goal) -> Reached {
        let mut policy = vec![NO_CHOICE; model.n_states()];
        let mut progress = SweepProgress::default();
        let (mut spent, mut iterations) = (0.0, 0);
        loop {
            let change = full_sweep(model, &self.values, &mut self.next, &mut policy, goal.threads);
            std::mem::swap(&mut self.values, &mut self.next);
            iterations += 1;
            spent += 1.0;
            let shift = Shift::after_sweep(model, &self.values, change);
            if let Some(end) = progress.end(model, &self.values, change, shift, goal, spent) {
                let (rate, values) = (progress.rate(), self.values.clone());
                return Reached { values, policy, shift, iterations, spent, rate, end };
            }
            self.remove_constant(shift);
            self.rows.gather(model, &policy);
            if self.reading == InPlace {
                self.rows.divide_loops(model.discount, 0);
            }
            let share = self.rows.n_arcs() as f64 / model.targets.len().max(1) as f64;
            // Each round reduces changes to a part, with at most a few cheap sweeps, since the policy is still changing.
            let (most, part) = partial_sweeps(PARTIAL_SWEEPS, share);
            let enough = part * self.size(change);
            for _ in 0..most {
                let change = self.policy_sweep(model, goal);
                iterations += 1;
                spent += share;
                if self.size(change) <= enough || spent > goal.patience || (goal.stop)() {
                    break;
                }
            }
        }
    }

    fn policy_sweep(&mut self, model: &FlatModel, goal: &Goal) -> ValueChange {
        let (rows, discount) = (&self.rows, model.discount);
        if self.reading == InPlace {
            self.ascending = !self.ascending;
            return policy_sweep_in_place(rows, discount, &mut self.values, self.ascending);
        }
        let change = policy_sweep(rows, discount, &self.values, &mut self.next, goal.threads);
        std::mem::swap(&mut self.values, &mut self.next);
        change
    }

    /// Moves all values by what the latest sweep changed everywhere is worth in the long run.
    fn remove_constant(&mut self, shift: Shift) {
        if !self.shiftable {
            return;
        }
        // What sweeps in place leave may be one state's change, whose middle says nothing about the others: values then move
        // to the nearer end of the bound alone.
        let by = match self.reading {
            Simultaneous => shift.down + shift.width() / 2.0,
            InPlace => shift.down.max(0.0) + shift.up.min(0.0),
        };
        if by != 0.0 {
            self.values.iter_mut().for_each(|v| *v += by);
        }
    }

    /// The size of changes, apart from what is the same everywhere.
    fn size(&self, change: ValueChange) -> f64 {
        if self.shiftable { change.most - change.least } else { change.largest() }
    }
}
