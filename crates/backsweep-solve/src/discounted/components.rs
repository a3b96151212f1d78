//! Strongly connected components, successors first: each is a separate model once the values it leads to are known.

use super::backward::{self, TopologicalOrder};
use super::model::{FlatArrays, FlatModel};
use super::proof::Shift;
use super::sweeps::{Goal, Reached, SweepEnd, full_sweep};
use crate::scc::Components;
use backsweep_mdp::NO_CHOICE;

/// The components of all choices' arcs together.
pub(crate) fn find(model: &FlatModel) -> Components {
    Components::find(model.n_states(), |_| true, |s| model.arcs_of_state(s), |a| model.targets[a])
}

/// The share of the states that the largest component holds.
pub(crate) fn largest_share(components: &Components, n_states: usize) -> f64 {
    let sizes = components.starts.windows(2).map(|w| w[1] - w[0]);
    f64::from(sizes.max().unwrap_or(0)) / n_states.max(1) as f64
}

/// Solves component by component; `solve` is for those with more than one state. A last sweep over everything proves it.
pub(crate) fn iterate(
    model: &FlatModel,
    components: &Components,
    goal: &Goal,
    solve: &mut dyn FnMut(&FlatModel, &Goal) -> Reached,
) -> Reached {
    let n = model.n_states();
    let mut values = vec![0.0; n];
    let (mut iterations, mut spent) = (1, 1.0);
    let mut part = FlatArrays::default();
    let mut place = vec![u32::MAX; n];
    for component in 0..components.len() {
        let states = components.states_of(component);
        if let &[state] = states {
            let (value, _) =
                backward::backup_with_loops(model, state as usize, &values).unwrap_or((0.0, NO_CHOICE));
            values[state as usize] = value;
            continue;
        }
        if (goal.stop)() {
            break;
        }
        fill(&mut part, model, states, &mut place, &values);
        let goal = Goal { width: 0.9 * goal.width, ..*goal };
        let solved = solve(&part_model(&part, model), &goal);
        iterations += solved.iterations;
        spent += solved.spent * part.targets.len() as f64 / model.targets.len().max(1) as f64;
        for (&state, value) in states.iter().zip(solved.values) {
            values[state as usize] = value;
        }
    }
    let (mut next, mut policy) = (vec![0.0; n], vec![NO_CHOICE; n]);
    let change = full_sweep(model, &values, &mut next, &mut policy, goal.threads);
    let shift = Shift::after_sweep(model, &next, change);
    let end = match shift.width() <= goal.width {
        true => SweepEnd::Converged,
        false if (goal.stop)() => SweepEnd::Stopped,
        false => SweepEnd::Slow,
    };
    Reached { values: next, policy, shift, iterations, spent, rate: 0.0, end }
}

/// Fills in the rows of one component; what its choices earn outside becomes part of their rewards.
fn fill(part: &mut FlatArrays, model: &FlatModel, states: &[u32], place: &mut [u32], values: &[f64]) {
    part.clear();
    for (i, &state) in states.iter().enumerate() {
        place[state as usize] = i as u32;
    }
    for &state in states {
        for choice in model.choices_of(state as usize) {
            let mut outside = 0.0;
            for arc in model.arcs_of(choice) {
                let (target, p) = (model.targets[arc] as usize, model.probabilities[arc]);
                if place[target] == u32::MAX {
                    outside += p * values[target];
                } else {
                    part.targets.push(place[target]);
                    part.probabilities.push(p);
                }
            }
            part.rewards.push(model.sign * model.rewards[choice] + model.discount * outside);
            part.arcs.push(part.targets.len() as u32);
        }
        part.choices.push(part.rewards.len() as u32);
    }
    for &state in states {
        place[state as usize] = u32::MAX;
    }
}

fn part_model<'a>(part: &'a FlatArrays, whole: &FlatModel) -> FlatModel<'a> {
    let mut model = FlatModel { sign: 1.0, filled: false, ..part.model(whole) };
    model.facts.has_terminal = false;
    model.facts.largest_reward = part.rewards.iter().fold(0.0, |most, r| r.abs().max(most));
    // Mass that leaves the component is lost to it.
    model.facts.least_mass = 0.0;
    model
}

/// A model whose components are single states is solved by one pass in their order.
pub(crate) fn pass(model: &FlatModel, components: &Components, goal: &Goal) -> Option<Reached> {
    let pass = backward::pass(model, TopologicalOrder::Given(&components.states), goal.stop)?;
    let shift = pass.shift(model);
    let end = if shift.width() <= goal.width { SweepEnd::Converged } else { SweepEnd::Rounding };
    Some(Reached {
        values: pass.values,
        policy: pass.policy,
        shift,
        iterations: 1,
        spent: 1.0,
        rate: 0.0,
        end,
    })
}
