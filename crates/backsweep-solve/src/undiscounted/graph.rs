//! What the graph alone decides: where a goal is certain, impossible or avoidable for ever.
//!
//! Probabilities do not matter here, only which are above 0. All sets are exact; none depends on rounding.

use super::view::View;
use crate::scc::NONE;

/// States from which some path leads to `goal`, through states where `through` holds, by choices where `allowed` holds.
/// Goal states are included. With `through` false on a set, that set is avoided.
pub(crate) fn can_reach(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    allowed: impl Fn(usize) -> bool,
) -> Vec<bool> {
    let mut reached = goal.to_vec();
    let mut queue: Vec<u32> = (0..view.n() as u32).filter(|&s| goal[s as usize]).collect();
    while let Some(t) = queue.pop() {
        for &c in view.predecessors(t as usize) {
            let s = view.owner[c as usize];
            if !reached[s as usize] && through(s as usize) && allowed(c as usize) {
                reached[s as usize] = true;
                queue.push(s);
            }
        }
    }
    reached
}

/// States from which every policy reaches `goal` with positive probability: those whose every choice has an arc into the set.
/// States where `through` is false never join.
pub(crate) fn must_reach(view: &View, goal: &[bool], through: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut reached = goal.to_vec();
    let mut missing: Vec<u32> = (0..view.n()).map(|s| view.choices(s).len() as u32).collect();
    let mut seen = vec![false; view.owner.len()];
    let mut queue: Vec<u32> = (0..view.n() as u32).filter(|&s| goal[s as usize]).collect();
    while let Some(t) = queue.pop() {
        for &c in view.predecessors(t as usize) {
            if std::mem::replace(&mut seen[c as usize], true) {
                continue;
            }
            let s = view.owner[c as usize] as usize;
            missing[s] -= 1;
            if missing[s] == 0 && !reached[s] && through(s) {
                reached[s] = true;
                queue.push(s as u32);
            }
        }
    }
    reached
}

/// Where some policy reaches a goal with probability 1, and how.
pub(crate) struct Certain {
    /// The states.
    pub states: Vec<bool>,
    /// For each of them that is not a goal, a choice that stays among them and may come closer to the goal: taking these
    /// choices reaches the goal with probability 1.
    pub policy: Vec<u32>,
}

/// States from which some policy reaches `goal` with probability 1, by choices where `allowed` holds through states where
/// `through` holds. `ends_count` says whether the end of the episode counts as the goal.
///
/// A greatest fixed point around a least one: keep the states that can reach the goal by choices that never leave the kept
/// states, until nothing changes. Each round is linear. `None` if `stop` says so between rounds.
pub(crate) fn certain(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    allowed: impl Fn(usize) -> bool,
    ends_count: bool,
    stop: &dyn Fn() -> bool,
) -> Option<Certain> {
    let n = view.n();
    let mut kept: Vec<bool> = (0..n).map(|s| goal[s] || through(s)).collect();
    let mut safe: Vec<bool> = (0..view.owner.len())
        .map(|c| {
            allowed(c)
                && (ends_count || view.ends[c] == 0.0)
                && view.targets(c).iter().all(|&t| kept[t as usize])
        })
        .collect();
    loop {
        if stop() {
            return None;
        }
        let mut states = goal.to_vec();
        let mut policy = vec![NONE; n];
        let mut queue: Vec<u32> = (0..n as u32).filter(|&s| goal[s as usize]).collect();
        if ends_count {
            for (c, &s) in view.owner.iter().enumerate() {
                let s = s as usize;
                if view.ends[c] > 0.0 && safe[c] && kept[s] && !states[s] {
                    states[s] = true;
                    policy[s] = c as u32;
                    queue.push(s as u32);
                }
            }
        }
        // First in, first out: the policy takes a shortest way.
        let mut next = 0;
        while next < queue.len() {
            let t = queue[next] as usize;
            next += 1;
            for &c in view.predecessors(t) {
                let s = view.owner[c as usize] as usize;
                if !states[s] && kept[s] && safe[c as usize] {
                    states[s] = true;
                    policy[s] = c;
                    queue.push(s as u32);
                }
            }
        }
        let mut gone: Vec<u32> = (0..n as u32).filter(|&s| kept[s as usize] && !states[s as usize]).collect();
        if gone.is_empty() {
            return Some(Certain { states, policy });
        }
        kept = states;
        // States that are certain to lead there are removed in the same round; otherwise a long chain
        // would take one round per state.
        while let Some(t) = gone.pop() {
            for &c in view.predecessors(t as usize) {
                let s = view.owner[c as usize] as usize;
                if std::mem::replace(&mut safe[c as usize], false)
                    && kept[s]
                    && !goal[s]
                    && view.choices(s).all(|c| !safe[c])
                {
                    kept[s] = false;
                    gone.push(s as u32);
                }
            }
        }
    }
}

/// States from which every policy reaches `goal` with probability 1: no path that avoids the goal leads to a state where some
/// policy never reaches it, nor to a choice that may end the episode.
pub(crate) fn inevitable(view: &View, goal: &[bool], through: impl Fn(usize) -> bool) -> Vec<bool> {
    let positive = must_reach(view, goal, &through);
    let doubtful: Vec<bool> = (0..view.n())
        .map(|s| !goal[s] && (!positive[s] || view.choices(s).any(|c| view.ends[c] > 0.0)))
        .collect();
    let mut sure = can_reach(view, &doubtful, |s| !goal[s], |_| true);
    sure.iter_mut().for_each(|s| *s = !*s);
    sure
}
