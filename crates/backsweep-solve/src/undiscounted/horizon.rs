//! A number of steps, then the end: backward induction with rounding accounted for.
//!
//! Exact except for rounding, and a bound at every moment: after k of N steps the rest is worth at most N − k times the
//! largest reward. The policy is the first step's; later ones may differ.

use super::objective::{Draft, SolveTask, signed};
use super::reduced::{down, up};
use super::view::{UNIT, View};
use backsweep_mdp::{Direction, NO_CHOICE};

/// Total reward of `steps` steps, each worth `discount` times the one before. A run stops at states where `absorbing` holds,
/// which are worth `value` of them.
pub(crate) fn horizon(
    view: &View,
    rewards: &[[f64; 2]],
    absorbing: &dyn Fn(usize) -> Option<f64>,
    steps: u64,
    discount: f64,
    direction: Direction,
    task: &SolveTask,
) -> Draft {
    let n = view.n();
    let sign = direction.sign();
    let start = |s: usize| absorbing(s).map_or(0.0, |value| sign * value);
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    draft.lower = (0..n).map(start).collect();
    draft.upper = draft.lower.clone();
    let mut next = [draft.lower.clone(), draft.upper.clone()];
    let (mut done, mut n_visited) = (0, 0_u64);
    'steps: while done < steps {
        for s in (0..n).filter(|&s| absorbing(s).is_none() && !view.choices(s).is_empty()) {
            n_visited += 1;
            if n_visited.is_multiple_of(1 << 16) && (task.stop)() {
                break 'steps;
            }
            let mut best = [f64::NEG_INFINITY; 2];
            for c in view.choices(s) {
                let reward = signed(rewards[c], sign);
                let low = backup(view, c, reward[0], discount, &draft.lower, -1.0);
                let high = backup(view, c, reward[1], discount, &draft.upper, 1.0);
                if low > best[0] {
                    best[0] = low;
                    draft.policy[s] = c as u32;
                }
                best[1] = best[1].max(high);
            }
            (next[0][s], next[1][s]) = (best[0], best[1]);
        }
        done += 1;
        let settled = next[0] == draft.lower && next[1] == draft.upper;
        std::mem::swap(&mut draft.lower, &mut next[0]);
        std::mem::swap(&mut draft.upper, &mut next[1]);
        if settled {
            draft.explanation.push(format!("nothing changes after {done} steps"));
            break;
        }
        if done == steps {
            draft.explanation.push(format!("backward induction over {steps} steps"));
        }
    }
    draft.iterations = done;
    if done < steps && draft.explanation.is_empty() {
        unfinished(view, rewards, absorbing, steps, done, discount, sign, &mut draft);
    }
    if direction == Direction::Minimize {
        draft.negate();
    }
    draft
}

/// A choice's reward plus the discounted mean over its arcs, as a bound from above (`side` 1) or below (−1).
fn backup(view: &View, c: usize, reward: f64, discount: f64, x: &[f64], side: f64) -> f64 {
    let (mut sum, mut size, mut terms) = (0.0, 0.0, 6.0);
    for a in view.arcs(c) {
        let term = view.mdp.probabilities()[a] * x[view.mdp.targets()[a] as usize];
        sum += term;
        size += term.abs();
        terms += 1.0;
    }
    if size == 0.0 {
        return reward;
    }
    let size = discount * size + reward.abs();
    let bound = reward + discount * sum + side * size * (terms * UNIT * 1.01 + view.slack);
    if side > 0.0 { up(bound) } else { down(bound) }
}

/// Bounds for a computation that was stopped: the value of N steps is that of k steps from some state on, plus N − k rewards
/// between the smallest and the largest.
#[allow(clippy::too_many_arguments)]
fn unfinished(
    view: &View,
    rewards: &[[f64; 2]],
    absorbing: &dyn Fn(usize) -> Option<f64>,
    steps: u64,
    done: u64,
    discount: f64,
    sign: f64,
    draft: &mut Draft,
) {
    let (mut least, mut most) = (0.0_f64, 0.0_f64);
    for &r in rewards {
        let [low, high] = signed(r, sign);
        (least, most) = (least.min(low), most.max(high));
    }
    let all: Vec<f64> = (0..view.n()).filter_map(absorbing).map(|v| sign * v).collect();
    let ends = all.iter().fold((0.0_f64, 0.0_f64), |(l, m), &v| (l.min(v), m.max(v)));
    // At most `steps` rewards in all, and what a state at the end is worth at best.
    let count = if discount < 1.0 { (steps as f64).min(1.001 / (1.0 - discount)) } else { steps as f64 };
    for s in (0..view.n()).filter(|&s| absorbing(s).is_none() && !view.choices(s).is_empty()) {
        draft.lower[s] = (count * least + ends.0) * if least < 0.0 { 1.0 + 1e-12 } else { 1.0 };
        draft.upper[s] = (count * most + ends.1) * if most > 0.0 { 1.0 + 1e-12 } else { 1.0 };
        if draft.policy[s] == NO_CHOICE {
            draft.policy[s] = view.choices(s).next().map_or(NO_CHOICE, |c| c as u32);
        }
    }
    draft.explanation.push(format!(
        "stopped after {done} of {steps} steps; the bounds count every step at its best or worst"
    ));
}
