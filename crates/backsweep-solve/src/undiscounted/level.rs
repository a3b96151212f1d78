//! Loops along which rewards of both signs cancel exactly: rewards are moved between steps until the loops are free.
//!
//! For any numbers v, `reward + mean v after - v before` in place of the rewards changes the total of a run that ends outside
//! by v of its first state, and by nothing else, since v telescopes. If v makes the rewards of all choices of an end component 0
//! or less, none of its loops earns, and those that cancelled are free, exactly. The numbers v of the best mean, rounded to
//! a grid, do that where rewards are on the grid and the choices of such loops lead to states of equal v (to one state, for
//! instance); elsewhere, rounded probabilities never let rewards cancel exactly.

use super::reduced::{down, up};
use super::view::{UNIT, View};

/// Numbers are rounded to multiples of one over this.
const GRID: f64 = (1 << 20) as f64;

/// Returns whether a number is on the grid, and not so large that sums of a few leave it.
pub(crate) fn is_short(x: f64) -> bool {
    x.abs() < GRID && (x * GRID).fract() == 0.0
}

/// The numbers of a component, relative to the first, on the grid.
pub(crate) fn on_grid(relative: &[f64]) -> Vec<f64> {
    let first = relative.first().copied().unwrap_or(0.0);
    relative.iter().map(|v| ((v - first) * GRID).round() / GRID).collect()
}

/// The reward of a choice after the move, between bounds; exact if nothing is rounded whatever the probabilities are.
pub(crate) fn moved(view: &View, c: usize, [low, high]: [f64; 2], v: &[f64]) -> [f64; 2] {
    let before = v[view.owner[c] as usize];
    let targets = view.targets(c);
    if before == 0.0 && targets.iter().all(|&t| v[t as usize] == 0.0) {
        return [low, high];
    }
    if let Some(&first) = targets.first()
        && view.ends[c] == 0.0
        && low == high
        && targets.iter().all(|&t| v[t as usize] == v[first as usize])
        && let Some(change) = exact_sum(v[first as usize], -before)
        && let Some(moved) = exact_sum(low, change)
    {
        return [moved, moved];
    }
    let (mut sum, mut size, mut terms) = (-before, before.abs(), 4.0);
    for a in view.arcs(c) {
        let term = view.mdp.probabilities()[a] * v[view.mdp.targets()[a] as usize];
        sum += term;
        size += term.abs();
        terms += 1.0;
    }
    let error = size * ((terms + 4.0) * UNIT + view.slack);
    [down(low + down(sum - error)), up(high + up(sum + error))]
}

/// The sum of two numbers if it is exact.
fn exact_sum(a: f64, b: f64) -> Option<f64> {
    let sum = a + b;
    let part = sum - a;
    let lost = (a - (sum - part)) + (b - part);
    (lost == 0.0).then_some(sum)
}
