//! A guess at the solution of x = b + P x for one policy: components in order, small ones by elimination, large ones by sweeps.
//! Nothing here has to be right: the result is checked.

use crate::graph::components;
use crate::problem::Remainder;

/// Components up to this size are solved densely: a million entries, and some 10⁸ operations.
const DENSE: usize = 400;

/// Solves for a policy (one choice per group) and constants (one per group), starting from `x`, whose last two entries are the
/// known values. Large components are swept until no value changes by more than `precision` or by more than rounding. `budget`
/// counts arcs down.
pub fn solve(
    problem: &Remainder,
    policy: &[u32],
    constants: &[f64],
    x: &mut [f64],
    precision: f64,
    budget: &mut u64,
) {
    let (starts, members) = in_order(problem, policy);
    let mut rank = vec![usize::MAX; x.len()];
    for range in starts.windows(2) {
        let states = &members[range[0]..range[1]];
        states.iter().enumerate().for_each(|(i, &group)| rank[group] = i);
        if states.len() <= DENSE {
            dense(problem, policy, constants, x, states, &rank);
        } else {
            let system = System { problem, policy, constants };
            sweeps(&system, x, states, precision, budget);
        }
        states.iter().for_each(|&group| rank[group] = usize::MAX);
    }
}

/// The components of a policy's graph, successors first: where each begins, and the groups of all.
pub fn in_order(problem: &Remainder, policy: &[u32]) -> (Vec<usize>, Vec<usize>) {
    let arcs = |group: usize| problem.arcs_of(policy[group] as usize);
    let component = components(policy.len(), |group, visit| {
        let inside =
            arcs(group).map(|arc| problem.targets[arc] as usize).filter(|target| *target < policy.len());
        inside.for_each(visit);
    });
    let n_components = component.iter().max().map_or(0, |most| *most as usize + 1);
    let mut starts = vec![0; n_components + 1];
    component.iter().for_each(|&c| starts[c as usize + 1] += 1);
    (0..n_components).for_each(|c| starts[c + 1] += starts[c]);
    let mut members = vec![0; policy.len()];
    let mut at = starts.clone();
    for (group, &c) in component.iter().enumerate() {
        members[at[c as usize]] = group;
        at[c as usize] += 1;
    }
    (starts, members)
}

/// The equations of a policy.
struct System<'a> {
    problem: &'a Remainder,
    policy: &'a [u32],
    constants: &'a [f64],
}

/// Elimination without subtraction of probabilities (Grassmann, Taksar and Heyman): what leaves a state is a sum, and therefore
/// accurate however rarely it happens.
fn dense(
    problem: &Remainder,
    policy: &[u32],
    constants: &[f64],
    x: &mut [f64],
    states: &[usize],
    rank: &[usize],
) {
    let n = states.len();
    let mut p = vec![0.0; n * n];
    let (mut b, mut exit) = (vec![0.0; n], vec![0.0; n]);
    for (i, &group) in states.iter().enumerate() {
        b[i] = constants[group] * problem.scale[policy[group] as usize].hi;
        exit[i] = problem.missing[policy[group] as usize].hi;
        for arc in problem.arcs_of(policy[group] as usize) {
            let (target, probability) = (problem.targets[arc] as usize, problem.probabilities[arc]);
            if rank[target] == usize::MAX {
                b[i] += probability * x[target];
                exit[i] += probability;
            } else {
                p[i * n + rank[target]] += probability;
            }
        }
    }
    // From the last state to the first, each is replaced by where it leads.
    for k in (0..n).rev() {
        let leaves: f64 = exit[k] + p[k * n..k * n + k].iter().sum::<f64>();
        if leaves <= 0.0 {
            continue;
        }
        for i in 0..k {
            let into = p[i * n + k] / leaves;
            if into == 0.0 {
                continue;
            }
            for j in 0..k {
                p[i * n + j] += into * p[k * n + j];
            }
            exit[i] += into * exit[k];
            b[i] += into * b[k];
        }
    }
    for k in 0..n {
        let leaves: f64 = exit[k] + p[k * n..k * n + k].iter().sum::<f64>();
        let sum: f64 = b[k] + (0..k).map(|j| p[k * n + j] * x[states[j]]).sum::<f64>();
        x[states[k]] = if leaves > 0.0 { sum / leaves } else { f64::INFINITY };
    }
}

/// Sweeps in place until nothing changes by more than rounding, or the budget is spent.
fn sweeps(system: &System, x: &mut [f64], states: &[usize], precision: f64, budget: &mut u64) {
    let System { problem, policy, constants } = *system;
    let cost: u64 =
        states.iter().map(|&group| problem.arcs_of(policy[group] as usize).len() as u64 + 1).sum();
    let mut forward = false;
    loop {
        let mut change: f64 = 0.0;
        let mut back_up = |group: usize| {
            let scale = problem.scale[policy[group] as usize].hi;
            let (mut sum, mut own) = (constants[group] * scale, 0.0);
            for arc in problem.arcs_of(policy[group] as usize) {
                let target = problem.targets[arc] as usize;
                if target == group {
                    own += problem.probabilities[arc];
                } else {
                    sum += problem.probabilities[arc] * x[target];
                }
            }
            if own < scale {
                let next = sum / (scale - own);
                let moved = (next - x[group]).abs();
                change = change.max(if moved <= 4.0 * f64::EPSILON * next.abs() { 0.0 } else { moved });
                x[group] = next;
            }
        };
        if forward {
            states.iter().for_each(|&group| back_up(group));
        } else {
            states.iter().rev().for_each(|&group| back_up(group));
        }
        forward = !forward;
        *budget = budget.saturating_sub(cost);
        if change <= precision || *budget == 0 {
            return;
        }
    }
}
