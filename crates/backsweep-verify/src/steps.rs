//! Enclosures of values over a number of steps: backward induction on intervals.

use crate::enclosure::Enclosure;
use crate::rows::{Interval, RowSum, scale_and_missing};
use backsweep_mdp::Direction;
use backsweep_mdp::Mdp;

/// A number of steps to go.
pub struct Steps<'a> {
    pub mdp: &'a Mdp,
    /// The reward of each choice.
    pub rewards: Vec<Interval>,
    /// The value of a state where nothing more happens.
    pub fixed: Vec<Option<f64>>,
    pub n: u64,
    /// From 0 to 1.
    pub discount: f64,
    pub direction: Direction,
}

impl Steps<'_> {
    /// The best values or, with `first` choices, those of a run that starts with them and then continues optimally.
    pub fn enclose(&self, budget: u64, first: Option<&[Option<u32>]>) -> Enclosure {
        let n = self.mdp.n_states();
        let cost = (self.mdp.n_arcs() + self.mdp.n_choices() + n) as u64;
        let mut enclosure = Enclosure::unknown(n);
        if self.n.saturating_mul(cost) > budget {
            enclosure.remark = Some(format!("{} steps are too many for the budget", self.n));
            return enclosure;
        }
        let mut values: Vec<Interval> =
            self.fixed.iter().map(|fixed| Interval::point(fixed.unwrap_or(0.0))).collect();
        for step in 1..=self.n {
            let only = first.filter(|_| step == self.n);
            let next: Vec<Interval> = (0..n).map(|state| self.value(state, &values, only)).collect();
            if next == values && only.is_none() && first.is_none() {
                break;
            }
            values = next;
        }
        values.into_iter().enumerate().for_each(|(state, value)| enclosure.set(state, value));
        enclosure
    }

    fn value(&self, state: usize, values: &[Interval], only: Option<&[Option<u32>]>) -> Interval {
        if let Some(fixed) = self.fixed[state] {
            return Interval::point(fixed);
        }
        let taken = only.and_then(|policy| policy[state]);
        let all = self.mdp.choices_of(state).filter(|&choice| taken.is_none_or(|c| c as usize == choice));
        let all = all.map(|choice| self.backup(choice, values));
        let best = match self.direction {
            Direction::Maximize => all.reduce(|a, b| Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) }),
            Direction::Minimize => all.reduce(|a, b| Interval { lo: a.lo.min(b.lo), hi: a.hi.min(b.hi) }),
        };
        best.unwrap_or(Interval::point(0.0))
    }

    fn backup(&self, choice: usize, values: &[Interval]) -> Interval {
        let (mut low, mut high) = (RowSum::default(), RowSum::default());
        let arcs = self.mdp.arcs_of(choice);
        for arc in arcs.clone() {
            let (p, next) = (self.mdp.probabilities()[arc], values[self.mdp.targets()[arc] as usize]);
            low.add(p, next.lo);
            high.add(p, next.hi);
        }
        let (scale, _) = scale_and_missing(&self.mdp.probabilities()[arcs], self.mdp.can_end(choice));
        let end = |sum: &RowSum, reward: f64| {
            let mut discounted = RowSum::default();
            discounted.add_wide(self.discount.into(), sum.wide().over(scale));
            discounted.add(1.0, reward);
            discounted.blur(sum.size());
            discounted.interval()
        };
        let reward = self.rewards[choice];
        Interval { lo: end(&low, reward.lo).lo, hi: end(&high, reward.hi).hi }
    }
}
