//! Copies of a model that suit a method better: states numbered outward from the ends for sweeps or breadth first for
//! elimination, rows padded to multiples of four arcs.

use super::model::{FlatArrays, FlatModel, LANES};
use crate::incidence::Incidence;
use backsweep_mdp::NO_CHOICE;

const UNSEEN: u32 = u32::MAX;

/// A copy of a model with its states in another order, perhaps with rows padded, and the mapping back.
pub(crate) struct Renumbered<'a> {
    old: FlatModel<'a>,
    /// The old number of each new state.
    order: Vec<u32>,
    new: FlatArrays,
    filled: bool,
}

impl<'a> Renumbered<'a> {
    /// Copies the model for sweeps in place: rows are padded if that pays.
    pub fn for_sweeps(old: &FlatModel<'a>, order: Vec<u32>) -> Self {
        Self::copy(old, order, filled_length(old))
    }

    /// Copies the model; `order` lists every state once.
    pub fn new(old: &FlatModel<'a>, order: Vec<u32>) -> Self {
        Self::copy(old, order, None)
    }

    /// If a number of arcs is given, rows are padded, and that is the resulting number.
    fn copy(old: &FlatModel<'a>, order: Vec<u32>, filled: Option<usize>) -> Self {
        let place = places(&order);
        let n_arcs = filled.unwrap_or(old.targets.len());
        let mut copy = FlatArrays {
            choices: Vec::with_capacity(old.choices.len()),
            arcs: Vec::with_capacity(old.arcs.len()),
            targets: Vec::with_capacity(n_arcs),
            probabilities: Vec::with_capacity(n_arcs),
            rewards: Vec::with_capacity(old.rewards.len()),
        };
        copy.choices.push(0);
        copy.arcs.push(0);
        for &state in &order {
            let choices = old.choices_of(state as usize);
            copy.rewards.extend_from_slice(&old.rewards[choices.clone()]);
            for choice in choices {
                let arcs = old.arcs_of(choice);
                copy.probabilities.extend_from_slice(&old.probabilities[arcs.clone()]);
                copy.targets.extend(old.targets[arcs].iter().map(|&t| place[t as usize]));
                if filled.is_some() {
                    // The last target again, whose value is in the cache.
                    let (end, last) = (copy.targets.len(), copy.targets.last().copied().unwrap_or(0));
                    copy.targets.resize(end.next_multiple_of(LANES), last);
                    copy.probabilities.resize(end.next_multiple_of(LANES), 0.0);
                }
                copy.arcs.push(copy.targets.len() as u32);
            }
            copy.choices.push(copy.rewards.len() as u32);
        }
        Self { old: *old, order, new: copy, filled: filled.is_some() }
    }

    /// The copy as a model.
    pub fn model(&self) -> FlatModel<'_> {
        FlatModel { filled: self.filled, ..self.new.model(&self.old) }
    }

    /// Values and policy of the copy in the old numbering.
    pub fn back(&self, values: &[f64], policy: &[u32]) -> (Vec<f64>, Vec<u32>) {
        let n = self.order.len();
        let (mut old_values, mut old_policy) = (vec![0.0; n], vec![NO_CHOICE; n]);
        for (new, &state) in self.order.iter().enumerate() {
            let state = state as usize;
            old_values[state] = values[new];
            if policy[new] != NO_CHOICE {
                old_policy[state] = policy[new] - self.new.choices[new] + self.old.choices[state];
            }
        }
        (old_values, old_policy)
    }
}

/// The new number of each state.
fn places(order: &[u32]) -> Vec<u32> {
    let mut place = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, &state)| place[state as usize] = new as u32);
    place
}

/// The mean distance between the new numbers of a state and of its successor, of some arcs of about a thousand states.
pub(crate) fn mean_distance(model: &FlatModel, order: &[u32]) -> f64 {
    let place = places(order);
    let (mut distance, mut n_arcs) = (0_u64, 0_u64);
    for state in (0..order.len()).step_by((order.len() / 1000).max(1)) {
        for &target in &model.targets[model.arcs_of_state(state)] {
            distance += u64::from(place[state].abs_diff(place[target as usize]));
            n_arcs += 1;
        }
    }
    distance as f64 / n_arcs.max(1) as f64
}

/// The number of arcs with all rows padded, if that makes sweeps faster: where lengths vary, and little padding is
/// needed.
fn filled_length(model: &FlatModel) -> Option<usize> {
    if model.filled {
        return None;
    }
    let (mut length, mut n_varied, mut before) = (0, 0_usize, 0);
    for row in model.arcs.windows(2) {
        let arcs = (row[1] - row[0]) as usize;
        length += arcs.next_multiple_of(LANES);
        n_varied += usize::from(arcs != before);
        before = arcs;
    }
    let n_arcs = model.targets.len();
    let pays = 2 * n_varied > model.rewards.len() && length <= n_arcs + n_arcs / 4;
    (pays && length <= u32::MAX as usize).then_some(length)
}

/// The states by their expected number of steps to an end, nearest first, as one wave outward from the ends finds it; those
/// that cannot reach an end come last. `None` if no state ends, or if so many do that there is no outward direction.
pub(crate) fn outward(model: &FlatModel) -> Option<Vec<u32>> {
    let n = model.n_states();
    let mut steps = vec![f64::INFINITY; n];
    let mut wave: Vec<u32> = Vec::new();
    for (state, steps) in steps.iter_mut().enumerate() {
        if model.is_end(state) {
            *steps = 0.0;
            wave.push(state as u32);
        } else if model.choices_of(state).any(|c| loses_mass(model, c)) {
            *steps = 1.0;
            wave.push(state as u32);
        }
    }
    if wave.is_empty() || wave.len() * 8 > n {
        return None;
    }
    let rows = (0..n).map(|state| model.arcs_of_state(state));
    let predecessors = Incidence::new(n, model.targets, rows, |state, _| state as u32);
    let mut seen = vec![false; n];
    wave.iter().for_each(|&s| seen[s as usize] = true);
    let mut next = 0;
    while let Some(&state) = wave.get(next) {
        next += 1;
        if steps[state as usize].is_infinite() {
            steps[state as usize] = expected_steps(model, state as usize, &steps);
        }
        for &before in predecessors.of(state as usize) {
            if !seen[before as usize] {
                seen[before as usize] = true;
                wave.push(before);
            }
        }
    }
    // A stable sort by value: equal states stay in the order of the wave.
    wave.sort_by(|&a, &b| steps[a as usize].total_cmp(&steps[b as usize]));
    wave.extend((0..n as u32).filter(|&s| !seen[s as usize]));
    Some(wave)
}

/// Returns whether a choice ends with a probability that is not rounding.
fn loses_mass(model: &FlatModel, choice: usize) -> bool {
    model.probabilities[model.arcs_of(choice)].iter().sum::<f64>() < 1.0 - 1e-6
}

/// Steps to an end by the best choice, assuming that successors not yet reached are like those that are.
fn expected_steps(model: &FlatModel, state: usize, steps: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for choice in model.choices_of(state) {
        let (mut sum, mut mass) = (0.0, 0.0);
        for arc in model.arcs_of(choice) {
            let steps = steps[model.targets[arc] as usize];
            if steps.is_finite() {
                sum += model.probabilities[arc] * steps;
                mass += model.probabilities[arc];
            }
        }
        if mass > 0.0 {
            least = least.min(1.0 + sum / mass);
        }
    }
    least
}

/// The states breadth first along the arcs, from the first state on; `None` once the front is wider than `width` on
/// average, which on a wide graph is early.
pub(crate) fn breadth_first(model: &FlatModel, width: f64) -> Option<Vec<u32>> {
    if model.n_states() == 0 {
        return None;
    }
    // Twice: the second search starts where the first ended, at the edge of the graph, where fronts are narrowest.
    let first = search(model, 0, width)?;
    let rim = first.iter().rev().find(|&&s| !model.is_end(s as usize))?;
    search(model, *rim as usize, width)
}

fn search(model: &FlatModel, root: usize, width: f64) -> Option<Vec<u32>> {
    let n = model.n_states();
    // An envelope is about as wide at each state as the front is there.
    let (mut squares, most) = (0.0, width * width * n as f64);
    let mut depth = vec![UNSEEN; n];
    let mut order: Vec<u32> = Vec::with_capacity(n);
    for start in std::iter::once(root).chain(0..n) {
        if depth[start] != UNSEEN {
            continue;
        }
        let first = order.len();
        let mut next = first;
        depth[start] = 0;
        order.push(start as u32);
        while next < order.len() {
            let state = order[next] as usize;
            next += 1;
            for &target in &model.targets[model.arcs_of_state(state)] {
                if depth[target as usize] == UNSEEN {
                    depth[target as usize] = depth[state] + 1;
                    order.push(target);
                }
            }
            squares += ((order.len() - next) as f64).powi(2);
            let levels = f64::from(depth[state] + 1);
            if squares > most || next - first > 256 && (next - first) as f64 > width * levels {
                return None;
            }
        }
    }
    Some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use backsweep_bench::families::{self, Family, MazeModel};
    use backsweep_mdp::Direction;

    fn filled(family: &Family, check: impl Fn(&FlatModel, Option<&FlatModel>)) {
        let Family { mdp, discount } = family;
        let rewards = mdp.expected_rewards(None).unwrap();
        let model = FlatModel::new(mdp, &rewards, *discount, Direction::Minimize, 1).unwrap();
        let copy = Renumbered::for_sweeps(&model, (0..model.n_states() as u32).collect());
        check(&model, copy.filled.then(|| copy.model()).as_ref());
    }

    #[test]
    fn rows_that_are_filled_up_have_the_same_values() {
        filled(&MazeModel::new(20, 1).family(), |model, copy| {
            let copy = copy.unwrap();
            assert!(copy.arcs.iter().all(|&end| (end as usize).is_multiple_of(LANES)));
            let values: Vec<f64> = (0..model.n_states()).map(|s| (s as f64 * 0.7).sin() * 100.0).collect();
            for choice in 0..model.rewards.len() {
                let (plain, filled) =
                    (model.choice_value(choice, &values), copy.choice_value(choice, &values));
                assert!((plain - filled).abs() <= 2.0 * model.rounding(100.0), "choice {choice}");
            }
        });
    }

    #[test]
    fn rows_of_one_length_stay_as_they_are() {
        for family in [families::garnet(50, 3, 10, 1), families::corridor(50, None)] {
            filled(&family, |_, copy| assert!(copy.is_none()));
        }
    }
}
