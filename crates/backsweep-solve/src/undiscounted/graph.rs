//! The decisions of the graph alone: where a goal is certain, impossible or avoidable forever.
//!
//! Probabilities do not matter here, only which are above 0. All sets are exact; none depends on rounding.

use super::view::View;
use crate::scc::{NONE, is_time};

/// A search against the arcs: what was reached, and how.
pub(crate) struct Search {
    /// True if each state was reached, those it began with included.
    pub states: Vec<bool>,
    /// For each of the others, a choice on a shortest way to where the search began; [`NONE`] elsewhere.
    pub policy: Vec<u32>,
}

impl Search {
    /// Begins with `seeds`, and goes to states from which a choice leads to one that was reached, where `joins` holds. `None` if
    /// `stop` says so on the way.
    pub fn back(
        view: &View,
        seeds: &[bool],
        joins: impl Fn(usize, usize) -> bool,
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let queue = (0..view.n() as u32).filter(|&s| seeds[s as usize]).collect();
        let begun = Self { states: seeds.to_vec(), policy: vec![NONE; view.n()] };
        begun.go_on(view, queue, joins, stop)
    }

    /// Goes on from the states in `queue`: first in, first out, so that the policy takes a shortest way.
    fn go_on(
        mut self,
        view: &View,
        mut queue: Vec<u32>,
        joins: impl Fn(usize, usize) -> bool,
        stop: &dyn Fn() -> bool,
    ) -> Option<Self> {
        let mut next = 0;
        while next < queue.len() {
            if is_time(next) && stop() {
                return None;
            }
            for &c in view.predecessors(queue[next] as usize) {
                let s = view.owner[c as usize] as usize;
                if !self.states[s] && joins(s, c as usize) {
                    self.states[s] = true;
                    self.policy[s] = c;
                    queue.push(s as u32);
                }
            }
            next += 1;
        }
        Some(self)
    }
}

/// States from which some path leads to `goal`, through states where `through` holds, by choices where `allowed` holds.
/// Goal states are included. With `through` false on a set, that set is avoided. `None` if `stop` says so on the way, here and
/// below.
pub(crate) fn can_reach(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    allowed: impl Fn(usize) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<bool>> {
    Some(Search::back(view, goal, |s, c| through(s) && allowed(c), stop)?.states)
}

/// States from which every policy reaches `goal` with positive probability: those whose every choice has an arc into the set.
/// States where `through` is false never join.
pub(crate) fn must_reach(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<bool>> {
    let mut reached = goal.to_vec();
    let mut missing: Vec<u32> = (0..view.n()).map(|s| view.choices(s).len() as u32).collect();
    let mut seen = vec![false; view.owner.len()];
    let mut queue: Vec<u32> = (0..view.n() as u32).filter(|&s| goal[s as usize]).collect();
    let mut n_popped = 0;
    while let Some(t) = queue.pop() {
        n_popped += 1;
        if is_time(n_popped) && stop() {
            return None;
        }
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
    Some(reached)
}

/// States from which some policy reaches `goal` with probability 1, by choices where `allowed` holds through states where
/// `through` holds. `ends_count` says whether the end of the episode counts as the goal.
///
/// Taking the choices of the returned policy reaches the goal with probability 1.
///
/// A greatest fixed point around a least one: keep the states that can reach the goal by choices that never leave the kept
/// states, until nothing changes. Each round is linear.
pub(crate) fn certain(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    allowed: impl Fn(usize) -> bool,
    ends_count: bool,
    stop: &dyn Fn() -> bool,
) -> Option<Search> {
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
        let mut found = Search { states: goal.to_vec(), policy: vec![NONE; n] };
        let mut queue: Vec<u32> = (0..n as u32).filter(|&s| goal[s as usize]).collect();
        if ends_count {
            for (c, &s) in view.owner.iter().enumerate() {
                let at = s as usize;
                if view.ends[c] > 0.0 && safe[c] && kept[at] && !found.states[at] {
                    (found.states[at], found.policy[at]) = (true, c as u32);
                    queue.push(s);
                }
            }
        }
        let found = found.go_on(view, queue, |s, c| kept[s] && safe[c], stop)?;
        let mut gone: Vec<u32> =
            (0..n as u32).filter(|&s| kept[s as usize] && !found.states[s as usize]).collect();
        if gone.is_empty() {
            return Some(found);
        }
        kept = found.states;
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
pub(crate) fn inevitable(
    view: &View,
    goal: &[bool],
    through: impl Fn(usize) -> bool,
    stop: &dyn Fn() -> bool,
) -> Option<Vec<bool>> {
    let positive = must_reach(view, goal, &through, stop)?;
    let doubtful: Vec<bool> = (0..view.n())
        .map(|s| !goal[s] && (!positive[s] || view.choices(s).any(|c| view.ends[c] > 0.0)))
        .collect();
    let mut sure = can_reach(view, &doubtful, |s| !goal[s], |_| true, stop)?;
    sure.iter_mut().for_each(|s| *s = !*s);
    Some(sure)
}
