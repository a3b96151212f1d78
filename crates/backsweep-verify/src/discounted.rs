//! Enclosures of discounted values: any guess, one sweep with rounding accounted for, and the contraction.

use crate::enclosure::{Enclosure, Guess};
use crate::rows::{Interval, RowSum};
use backsweep_mdp::Direction;
use backsweep_mdp::Mdp;

/// A discounted problem. Probabilities are used as stored.
pub struct Discounted<'a> {
    pub mdp: &'a Mdp,
    pub rewards: &'a [Interval],
    pub discount: f64,
    pub direction: Direction,
}

impl Discounted<'_> {
    /// Sweeps until the enclosure is narrow enough, no longer gets narrower, or the budget is spent.
    pub fn enclose(&self, guess: &Guess) -> Enclosure {
        let n = self.mdp.n_states();
        let Some(modulus) = self.modulus() else {
            let mut unknown = Enclosure::unknown(n);
            unknown.remark =
                Some("the discount times the largest sum of probabilities is not below 1".to_owned());
            return unknown;
        };
        let mut w: Vec<f64> = guess.values.iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
        let cost = (self.mdp.n_arcs() + self.mdp.n_choices() + n) as u64;
        let (mut spent, mut best) = (0, None::<(Enclosure, f64)>);
        let mut pause = 1;
        let mut stalled = 0;
        loop {
            let (enclosure, width) = self.around(&w, modulus);
            spent += cost;
            let narrower = best.as_ref().is_none_or(|(_, known)| width < *known);
            // Close to a discount of 1 a quarter of what the contraction promises is enough.
            let enough = (1.0 - 0.25 * (1.0 - modulus.powi(pause))).max(0.9);
            let is_stalled = best.as_ref().is_some_and(|(_, known)| width >= enough * known);
            stalled = if is_stalled { stalled + 1 } else { 0 };
            if narrower {
                best = Some((enclosure, width));
            }
            if width <= guess.width || stalled > 8 || spent >= guess.budget {
                break;
            }
            for _ in 0..pause {
                self.sweep(&mut w);
                spent += cost;
            }
            pause = (pause * 2).min(64);
        }
        best.map_or_else(|| Enclosure::unknown(n), |(enclosure, _)| enclosure)
    }

    /// The discount times the largest sum of probabilities, rounded up; `None` if that is not a contraction.
    fn modulus(&self) -> Option<f64> {
        let mut most: f64 = 0.0;
        for choice in 0..self.mdp.n_choices() {
            let mut sum = RowSum::default();
            self.mdp.arcs_of(choice).for_each(|arc| sum.add(self.mdp.probabilities()[arc], 1.0));
            most = most.max(sum.interval().hi);
        }
        let modulus = (self.discount * most).next_up();
        (self.discount >= 0.0 && modulus < 1.0).then_some(modulus)
    }

    /// The value of a choice of a state under `w`, minus the value of the state.
    fn gain(&self, state: usize, choice: usize, w: &[f64]) -> Interval {
        let mut mean = RowSum::default();
        for arc in self.mdp.arcs_of(choice) {
            mean.add(self.mdp.probabilities()[arc], w[self.mdp.targets()[arc] as usize]);
        }
        let mut gain = RowSum::default();
        gain.add_wide(self.discount.into(), mean.wide());
        gain.blur(mean.size());
        gain.add(-1.0, w[state]);
        let mut most = gain;
        gain.add(1.0, self.rewards[choice].lo);
        most.add(1.0, self.rewards[choice].hi);
        Interval { lo: gain.interval().lo, hi: most.interval().hi }
    }

    /// The best of these; exact without choices.
    fn best(&self, state: usize, w: &[f64]) -> Interval {
        let values = self.mdp.choices_of(state).map(|choice| self.gain(state, choice, w));
        let best = match self.direction {
            Direction::Maximize => values.reduce(|a, b| Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }),
            Direction::Minimize => values.reduce(|a, b| Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }),
        };
        best.unwrap_or(Interval::point(-w[state]))
    }

    /// The enclosure that one sweep proves, and its width.
    fn around(&self, w: &[f64], modulus: f64) -> (Enclosure, f64) {
        let (mut down, mut up): (f64, f64) = (0.0, 0.0);
        for state in 0..w.len() {
            let gain = self.best(state, w);
            down = down.max(-gain.lo);
            up = up.max(gain.hi);
        }
        // T w ≥ w − down, so V ≥ w − down / (1 − modulus); and likewise from above.
        let left = (1.0 - modulus).next_down();
        let (down, up) = ((down / left).next_up(), (up / left).next_up());
        let lo = w.iter().map(|value| (value - down).next_down()).collect();
        let hi = w.iter().map(|value| (value + up).next_up()).collect();
        let mut enclosure = Enclosure { lo, hi, remark: None };
        let terminal = (0..w.len()).filter(|&state| self.mdp.choices_of(state).is_empty());
        terminal.for_each(|state| enclosure.fix(state, 0.0));
        (enclosure, down + up)
    }

    /// One sweep in place, in ordinary arithmetic, last state first and then first state first.
    fn sweep(&self, w: &mut [f64]) {
        for state in (0..w.len()).rev().chain(0..w.len()) {
            w[state] += self.best(state, w).middle();
        }
    }
}
