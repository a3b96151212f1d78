//! The best mean reward per step inside an end component, between proven bounds.
//!
//! For any numbers v, one per state: if no choice gives `reward + mean v after − v before` above `high`, no policy earns more
//! than `high` per step; if in every state the policy's choice gives at least `low`, that policy earns at least `low` per
//! step, from every state (both by summing over a long run, where v telescopes). Relative value iteration makes the two meet;
//! half of every step is spent in place, so that periods do no harm.

use super::objective::Task;
use super::reduced::{down, up};
use super::view::{UNIT, View};

/// Bounds of the mean reward, and a policy that earns at least the lower one.
pub(crate) struct Gain {
    /// From below.
    pub low: f64,
    /// From above.
    pub high: f64,
    /// The choices of the members, in their order.
    pub policy: Vec<u32>,
    /// Sweeps.
    pub iterations: u64,
}

/// A connected part of a model: members with the choices that stay among them.
pub(crate) struct Part<'p> {
    /// The model.
    pub view: &'p View<'p>,
    /// The states.
    pub members: &'p [u32],
    /// The choices that count; all of them stay among the members, and every member (or the set it is merged with) has one.
    pub inside: &'p dyn Fn(usize) -> bool,
    /// The reward of each choice.
    pub reward: &'p dyn Fn(usize) -> [f64; 2],
    /// The state under which each state's number is kept: states merged into one have the same.
    pub head: &'p dyn Fn(usize) -> usize,
}

impl Part<'_> {
    /// Bounds at most `width` apart if rounding and time allow; `settled` may end the work earlier.
    ///
    /// `v` is scratch of the size of the model, left at 0 for the members.
    pub fn gain(&self, v: &mut [f64], width: f64, settled: impl Fn(f64, f64) -> bool, task: &Task) -> Gain {
        let mut best =
            Gain { low: f64::NEG_INFINITY, high: f64::INFINITY, policy: Vec::new(), iterations: 0 };
        let mut next = vec![(f64::NEG_INFINITY, 0_u32, f64::NEG_INFINITY); self.members.len()];
        let position = |s: usize| self.members.partition_point(|&m| (m as usize) < s);
        let mut progress = (f64::INFINITY, 0_u64);
        loop {
            next.fill((f64::NEG_INFINITY, u32::MAX, f64::NEG_INFINITY));
            let mut high = f64::NEG_INFINITY;
            for &s in self.members {
                let s = s as usize;
                let head = (self.head)(s);
                let place = &mut next[position(head)];
                for c in self.view.choices(s).filter(|&c| (self.inside)(c)) {
                    let [low, top, middle] = self.change(c, v, v[head]);
                    high = high.max(top);
                    if low > place.2 {
                        *place = (middle, c as u32, low);
                    }
                }
            }
            let low = next.iter().filter(|p| p.1 != u32::MAX).fold(f64::INFINITY, |m, p| m.min(p.2));
            best.iterations += 1;
            best.high = best.high.min(high);
            if low > best.low || best.policy.is_empty() {
                best.low = low;
                best.policy = next.iter().map(|p| p.1).collect();
            }
            let gap = best.high - best.low;
            if gap < 0.99 * progress.0 {
                progress = (gap, best.iterations);
            }
            // Ten thousand sweeps without one per cent of progress: rounding is all that is left, or more patience than anyone has.
            if gap <= width
                || settled(best.low, best.high)
                || best.iterations > progress.1 + 10_000
                || (best.iterations % 16 == 0 && (task.stop)())
            {
                break;
            }
            let reference = next.iter().find(|p| p.1 != u32::MAX).map_or(0.0, |p| p.0);
            for (i, &s) in self.members.iter().enumerate() {
                if next[i].1 != u32::MAX {
                    v[s as usize] += 0.5 * (next[i].0 - reference);
                }
            }
        }
        self.members.iter().for_each(|&s| v[s as usize] = 0.0);
        best
    }

    /// `reward + mean v after − v before` of a choice: lower bound, upper bound, middle.
    fn change(&self, c: usize, v: &[f64], before: f64) -> [f64; 3] {
        let [low, high] = (self.reward)(c);
        let (mut sum, mut size, mut terms) = (0.0, 0.0, 6.0);
        for a in self.view.arcs(c) {
            let term = self.view.mdp.probabilities[a] * v[(self.head)(self.view.mdp.targets[a] as usize)];
            sum += term;
            size += term.abs();
            terms += 1.0;
        }
        let error =
            (size + before.abs() + low.abs().max(high.abs())) * (terms * UNIT * 1.01 + self.view.slack);
        let middle = low + (high - low) / 2.0 + sum - before;
        if size == 0.0 && before == 0.0 {
            return [low, high, middle];
        }
        [down(low + (sum - before) - error), up(high + (sum - before) + error), middle]
    }
}
