//! Enclosures of what never has to end: the reward per step in the long run, and totals until the episode ends.
//!
//! Everything is maximized; for a minimum rewards change their signs. For any numbers v, no policy within an end component
//! earns more per step than the largest `reward + mean v after - v before` of a choice in it, and the policy that takes the
//! best choice by that measure earns at least the smallest over its own: v telescopes over a long run. A few sweeps of value
//! iteration (averaged with the old values, against periodicity) bring the two together.
//!
//! **Average.** End components count as one state; staying in one is worth its gain, and every policy stays somewhere for
//! ever, or ends, which is worth 0. **Totals.** An end component whose loops can earn makes the total infinite wherever it can
//! be reached. Where all loops are free of rewards, the component is one state, and staying is worth 0. Elsewhere staying
//! costs an infinite amount, so that only policies that end, or come to a free component, matter; where there is none, the
//! total is -infinity.

use crate::enclosure::{Enclosure, Guess};
use crate::graph::Graph;
use crate::problem::{Remainder, RemainderParts, SplitValues};
use crate::rows::{Interval, Wide};
use crate::undiscounted::solve;
use backsweep_mdp::Direction;

/// Besides twice the number of states, so many sweeps without a narrower gain show that rounding keeps it as wide as it is.
const MAX_IDLE_SWEEPS: usize = 1000;

/// Why it is unknown whether a total is infinite.
pub const DOUBTFUL_LOOP: &str =
    "a loop with rewards of both signs has a mean that cannot be distinguished from 0";

/// The reward per step in the long run.
pub fn average(graph: &Graph, rewards: &[Interval], direction: Direction, guess: &Guess) -> Enclosure {
    let sign = direction.sign();
    let n = graph.mdp.n_states();
    let merged = graph.end_components(&vec![true; n], |_| true);
    let rewards = signs_changed(rewards, sign);
    let alone = vec![None; n];
    let narrow = |gain: &Interval| gain.hi - gain.lo <= guess.width / 4.0;
    let gains = gains(graph, &merged, &alone, &rewards, narrow, guess.budget);
    let stay: Vec<Option<Interval>> = gains.iter().map(|gain| Some(*gain)).collect();
    let open: Vec<bool> = (0..n).map(|state| !graph.mdp.choices_of(state).is_empty()).collect();
    let nothing = vec![Interval::point(0.0); graph.mdp.n_choices()];
    let one = vec![false; n];
    let parts =
        RemainderParts { graph, open: &open, merged: &merged, one: &one, rewards: &nothing, stay: &stay };
    let values: Vec<f64> = guess.values.iter().map(|value| sign * value).collect();
    let guess = Guess { values: &values, ..*guess };
    let mut enclosure = solve(&Remainder::new(&parts, |_| true), true, &guess);
    (0..n).filter(|&state| !open[state]).for_each(|state| enclosure.fix(state, 0.0));
    with_signs(enclosure, sign)
}

/// The total reward until the episode ends.
pub fn episode(graph: &Graph, rewards: &[Interval], direction: Direction, guess: &Guess) -> Enclosure {
    let sign = direction.sign();
    let mdp = graph.mdp;
    let n = mdp.n_states();
    let rewards = signs_changed(rewards, sign);
    let everywhere = vec![true; n];
    let free = graph.end_components(&everywhere, |choice| rewards[choice].is_zero());
    let all = graph.end_components(&everywhere, |_| true);
    let (earning, doubtful) = loops(graph, &all, &free, &rewards, guess.budget);
    let rich = graph.backward(&earning, |_| true);
    let unsure = graph.backward(&doubtful, |_| true);
    let poor: Vec<bool> = (0..n).map(|state| !rich[state] && !unsure[state]).collect();
    let ends_at: Vec<bool> =
        (0..n).map(|state| mdp.choices_of(state).is_empty() || free[state].is_some()).collect();
    let finite = graph.can_surely_end(&poor, &ends_at);
    let open: Vec<bool> = (0..n).map(|state| finite[state] && !mdp.choices_of(state).is_empty()).collect();
    let n_components = free.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let stay = vec![Some(Interval::point(0.0)); n_components];
    let one = vec![false; n];
    let parts =
        RemainderParts { graph, open: &open, merged: &free, one: &one, rewards: &rewards, stay: &stay };
    let stays = |choice: usize| graph.targets(choice).iter().all(|&target| finite[target as usize]);
    let values: Vec<f64> = guess.values.iter().map(|value| sign * value).collect();
    let guess = Guess { values: &values, ..*guess };
    let mut enclosure = solve(&Remainder::new(&parts, stays), true, &guess);
    for state in (0..n).filter(|&state| !open[state]) {
        match () {
            () if rich[state] => enclosure.fix(state, f64::INFINITY),
            () if unsure[state] => {
                enclosure.remark = Some(DOUBTFUL_LOOP.to_owned());
            }
            () if finite[state] => enclosure.fix(state, 0.0),
            () => enclosure.fix(state, f64::NEG_INFINITY),
        }
    }
    with_signs(enclosure, sign)
}

/// The states of end components where a loop earns on average, and of those where that is not known.
pub fn loops(
    graph: &Graph,
    all: &[Option<u32>],
    free: &[Option<u32>],
    rewards: &[Interval],
    budget: u64,
) -> (Vec<bool>, Vec<bool>) {
    let n_components = all.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    // Whether some choice inside may pay, and whether some may cost.
    let (mut pays, mut costs) = (vec![false; n_components], vec![false; n_components]);
    for (state, component) in all.iter().enumerate() {
        let Some(component) = component.map(|component| component as usize) else { continue };
        for choice in graph.mdp.choices_of(state).filter(|&choice| graph.stays_in(all, choice)) {
            pays[component] |= rewards[choice].hi > 0.0;
            costs[component] |= rewards[choice].lo < 0.0;
        }
    }
    let decided = |gain: &Interval| gain.lo > 0.0 || gain.hi < 0.0;
    let mixed: Vec<Option<u32>> =
        all.iter().map(|component| component.filter(|&c| pays[c as usize] && costs[c as usize])).collect();
    let gains = gains(graph, &mixed, free, rewards, decided, budget);
    let gain = |component: u32| gains.get(component as usize).copied();
    let earns = |component: &Option<u32>| {
        component.is_some_and(|c| match (pays[c as usize], costs[c as usize]) {
            (true, false) => true,
            (true, true) => gain(c).is_some_and(|gain| gain.lo > 0.0),
            _ => false,
        })
    };
    let in_doubt = |component: &Option<u32>| {
        component.is_some_and(|c| {
            pays[c as usize] && costs[c as usize] && !gain(c).is_some_and(|gain| decided(&gain))
        })
    };
    (all.iter().map(earns).collect(), all.iter().map(in_doubt).collect())
}

/// The reward per step of the best policy that stays in each component, by the component's number. States of one `merged`
/// component count as one, and what only stays in it does not count.
fn gains(
    graph: &Graph,
    component: &[Option<u32>],
    merged: &[Option<u32>],
    rewards: &[Interval],
    enough: impl Fn(&Interval) -> bool,
    mut budget: u64,
) -> Vec<Interval> {
    let n_components = component.iter().flatten().max().map_or(0, |most| *most as usize + 1);
    let mut found = vec![Interval { lo: f64::NEG_INFINITY, hi: f64::INFINITY }; n_components];
    let open: Vec<bool> = component.iter().map(Option::is_some).collect();
    let one = vec![false; component.len()];
    let parts = RemainderParts { graph, open: &open, merged, one: &one, rewards, stay: &[] };
    let problem = Remainder::new(&parts, |choice| graph.stays_in(component, choice));
    let n = problem.n_groups();
    let mut home = vec![0; n];
    for (state, group) in problem.group.iter().enumerate() {
        if let (Some(group), Some(component)) = (group, component[state]) {
            home[*group as usize] = component as usize;
        }
    }
    let mut x = SplitValues { large: vec![0.0; n + 2], small: vec![0.0; n + 2] };
    let (mut best, mut first) = (vec![0.0; n], vec![None; n_components]);
    let mut n_idle = 0;
    let cost = (problem.targets.len() + problem.original.len()) as u64 + 1;
    loop {
        let mut now = vec![Interval { lo: f64::INFINITY, hi: f64::NEG_INFINITY }; n_components];
        for (group, best) in best.iter_mut().enumerate() {
            let all = problem.choices_of(group).map(|choice| problem.gain(group, choice, &x));
            let most = all.reduce(|a, b| Interval { lo: a.lo.max(b.lo), hi: a.hi.max(b.hi) });
            let Some(most) = most else { continue };
            let bounds = &mut now[home[group]];
            *bounds = Interval { lo: bounds.lo.min(most.lo), hi: bounds.hi.max(most.hi) };
            *best = most.lo + (most.hi - most.lo) / 2.0;
        }
        n_idle += 1;
        for (found, now) in found.iter_mut().zip(&now) {
            let narrower = Interval { lo: found.lo.max(now.lo), hi: found.hi.min(now.hi) };
            if narrower != *found {
                n_idle = 0;
            }
            *found = narrower;
        }
        let left = budget.saturating_sub(cost);
        if left == 0 || n_idle > MAX_IDLE_SWEEPS + 2 * n || found.iter().all(&enough) {
            return found;
        }
        budget = left;
        first.fill(None);
        for group in 0..n {
            // In twice the digits: rewards that cancel out may be far larger than the gain.
            let moved = x.of(group).plus(Wide::from(0.5 * best[group]));
            // Only differences count; without this values would grow forever.
            let moved = moved.minus(*first[home[group]].get_or_insert(moved));
            (x.large[group], x.small[group]) = (moved.hi, moved.lo);
        }
    }
}

/// Rewards times `sign`.
pub fn signs_changed(rewards: &[Interval], sign: f64) -> Vec<Interval> {
    rewards.iter().map(|&reward| if sign > 0.0 || reward.is_zero() { reward } else { -reward }).collect()
}

fn with_signs(mut enclosure: Enclosure, sign: f64) -> Enclosure {
    if sign < 0.0 {
        std::mem::swap(&mut enclosure.lo, &mut enclosure.hi);
        enclosure.lo.iter_mut().chain(&mut enclosure.hi).for_each(|end| *end = 0.0 - *end);
    }
    enclosure
}
