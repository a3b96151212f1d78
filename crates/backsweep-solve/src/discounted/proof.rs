//! The bound that every method ends with: from how much one sweep changed values to where the true values lie.
//!
//! Let T be the Bellman operator, f and F the smallest and the largest factor (discount times mass of a choice), and
//! `l <= TV - V <= u` everywhere. If `u >= 0` and `d = u / (1 - F)`, then `T(V + d) <= TV + F d <= V + u + F d = V + d`, so
//! V + d is above its own image and hence above the true values. If `u < 0`, the same holds with f in place of F. The lower
//! bound mirrors it (MacQueen 1966, with rows that may lose mass). `docs/explanation/intervals.md` has the argument in full.

use super::model::FlatModel;

/// The smallest and the largest change of a value in a sweep over all states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ValueChange {
    pub least: f64,
    pub most: f64,
}

impl ValueChange {
    /// No state seen yet.
    pub const NONE: Self = Self { least: f64::INFINITY, most: f64::NEG_INFINITY };

    /// Takes one state's change into account.
    #[inline(always)]
    pub fn add(&mut self, change: f64) {
        self.least = if change < self.least { change } else { self.least };
        self.most = if change > self.most { change } else { self.most };
    }

    /// The changes of two sets of states.
    pub fn join(self, other: Self) -> Self {
        Self { least: self.least.min(other.least), most: self.most.max(other.most) }
    }

    /// The largest absolute change; 0 without states.
    pub fn largest(&self) -> f64 {
        if self.least > self.most { 0.0 } else { self.least.abs().max(self.most.abs()) }
    }
}

/// The true values lie between `values + down` and `values + up`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Shift {
    pub down: f64,
    pub up: f64,
}

impl Shift {
    pub fn width(&self) -> f64 {
        self.up - self.down
    }

    /// The largest distance of a value from its backup, once all values were moved by `middle`: the reverse of
    /// [`from_residual`](Self::from_residual). Rounding of the moved values comes on top.
    pub fn residual(&self, model: &FlatModel, middle: f64) -> f64 {
        let (least, most) = factors(model);
        let (all, some) = ((1.0 - least).next_up(), (1.0 - most).next_up());
        let up = self.up * if self.up >= 0.0 { some } else { all };
        let down = self.down * if self.down <= 0.0 { some } else { all };
        // A value that moves by 1 moves away from its backup by what a step loses, `some` to `all`.
        let (least, most) = if middle >= 0.0 { (some, all) } else { (all, some) };
        (up - middle * least).max(middle * most - down).max(0.0) * (1.0 + 8.0 * f64::EPSILON)
    }

    /// The shift after a sweep that computed every state from the values before the sweep. `values` are those after it.
    pub fn after_sweep(model: &FlatModel, values: &[f64], change: ValueChange) -> Self {
        if values.is_empty() {
            return Self { down: 0.0, up: 0.0 };
        }
        let (least, most) = factors(model);
        let rounding = model.rounding(largest(values) + change.largest());
        let most_change =
            if model.facts.has_terminal { change.most.max(0.0) } else { change.most } + rounding;
        let least_change =
            if model.facts.has_terminal { change.least.min(0.0) } else { change.least } - rounding;
        let up = most_change * if most_change >= 0.0 { most } else { least } + rounding;
        let down = least_change * if least_change <= 0.0 { most } else { least } - rounding;
        Self::from_residual(model, down, up)
    }

    /// The shift after a sweep in place: each state was computed from a mixture of values before and after.
    pub fn after_sweep_in_place(model: &FlatModel, values: &[f64], change: ValueChange) -> Self {
        // A row sees the changes of those successors that came later in the sweep: any part of its mass, possibly none.
        Self::after_sweep(
            model,
            values,
            ValueChange { least: change.least.min(0.0), most: change.most.max(0.0) },
        )
    }

    /// The shift of values whose backups differ from them by `down` to `up`, all rounding already accounted for.
    pub fn from_residual(model: &FlatModel, down: f64, up: f64) -> Self {
        let (least, most) = factors(model);
        // Dividing by the smallest possible denominator moves away from 0, by the largest towards it.
        let away = |x: f64| x / (1.0 - most).next_down() * (1.0 + f64::EPSILON * 4.0);
        let towards = |x: f64| x / (1.0 - least).next_up() * (1.0 - f64::EPSILON * 4.0);
        Self {
            down: if down <= 0.0 { away(down) } else { towards(down) },
            up: if up >= 0.0 { away(up) } else { towards(up) },
        }
    }
}

fn factors(model: &FlatModel) -> (f64, f64) {
    (model.facts.least_factor(model.discount), model.facts.most_factor(model.discount))
}

/// The largest absolute value.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, v| v.abs().max(most))
}
