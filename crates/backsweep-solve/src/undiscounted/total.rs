//! The largest and the smallest expected total reward: until a set of states is reached, or until the episode ends.
//!
//! *Until a goal*, a run that never reaches it is worth +∞, as in Storm and PRISM: the largest value is infinite wherever some
//! policy may miss the goal, the smallest wherever every policy may. *Without a goal* a run is worth what it collects.
//!
//! Signs are changed for smallest values, so that everything below maximises. Then an end component is one of these: some loop
//! in it earns on average (infinite); all its loops lose on average (never worth staying); its loops cost nothing (one
//! state, since moving about in it is free). Where rewards of both signs meet and the average of the best loop cannot be
//! distinguished from 0, rewards are moved until the loop is free ([`super::level`]) or, if that fails, values stay
//! unknown.

use super::gain::RecurrentClass;
use super::graph::{Search, can_reach, certain, inevitable, must_reach};
use super::level;
use super::mec::EndComponents;
use super::objective::{Draft, ReducedProblem, SolveTask, lead_to, signed};
use super::reduced::{down, up};
use super::view::View;
use crate::scc::NONE;
use backsweep_mdp::{Direction, NO_CHOICE};

/// Expected reward until `goal`.
pub(crate) fn until(
    view: &View,
    goal: &[bool],
    rewards: &[[f64; 2]],
    direction: Direction,
    task: &SolveTask,
) -> Draft {
    let least = least_total(rewards);
    match direction {
        Direction::Maximize => largest_until(view, goal, rewards, task),
        Direction::Minimize => smallest_until(view, goal, rewards, task),
    }
    .unwrap_or_else(|| Draft::stopped(view, [least, f64::INFINITY], task))
}

/// 0 if no reward is negative: then no total is.
fn least_total(rewards: &[[f64; 2]]) -> f64 {
    if rewards.iter().all(|r| r[0] >= 0.0) { 0.0 } else { f64::NEG_INFINITY }
}

/// The counterpart from above.
fn most_total(rewards: &[[f64; 2]]) -> f64 {
    if rewards.iter().all(|r| r[1] <= 0.0) { 0.0 } else { f64::INFINITY }
}

fn largest_until(view: &View, goal: &[bool], rewards: &[[f64; 2]], task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let stop: &dyn Fn() -> bool = task.stop;
    let through = |s: usize| !goal[s];
    let sure = inevitable(view, goal, through, stop)?;
    if stop() {
        return None;
    }
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    let positive = must_reach(view, goal, through, stop)?;
    let missing: Vec<bool> = (0..n).map(|s| !sure[s] && !positive[s]).collect();
    let ends = |s: usize| view.choices(s).find(|&c| view.ends[c] > 0.0);
    // Every infinite state heads for a state from which the goal is missed.
    let missed: Vec<bool> = (0..n).map(|s| !goal[s] && (missing[s] || ends(s).is_some())).collect();
    draft.policy = Search::back(view, &missed, |s, _| through(s), stop)?.policy;
    for s in (0..n).filter(|&s| !sure[s]) {
        draft.set(s, f64::INFINITY);
        if missed[s] {
            let stays = |c: &usize| view.targets(*c).iter().all(|&t| missing[t as usize]);
            let choice = if missing[s] { view.choices(s).find(stays) } else { ends(s) };
            draft.policy[s] = choice.map_or(NO_CHOICE, |c| c as u32);
        }
    }
    let infinite = sure.iter().filter(|&&s| !s).count();
    draft
        .explanation
        .push(format!("graph analysis: {infinite} states from which a policy may miss the goal: infinite"));
    let undecided: Vec<bool> = (0..n).map(|s| sure[s] && !goal[s]).collect();
    let bounds = [least_total(rewards), most_total(rewards)];
    ReducedProblem { reward: &|c| rewards[c], ..ReducedProblem::new(view, &undecided, bounds) }
        .answer(&mut draft, task);
    Some(draft)
}

fn smallest_until(view: &View, goal: &[bool], rewards: &[[f64; 2]], task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let stop: &dyn Fn() -> bool = task.stop;
    let sure = certain(view, goal, |s| !goal[s], |_| true, false, stop)?;
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    for s in (0..n).filter(|&s| !sure.states[s]) {
        draft.set(s, f64::NEG_INFINITY);
        draft.policy[s] = view.choices(s).next().map_or(NO_CHOICE, |c| c as u32);
    }
    let infinite = sure.states.iter().filter(|&&s| !s).count();
    draft.explanation.push(format!(
        "graph analysis: {infinite} states from which every policy may miss the goal: infinite"
    ));
    let negated: Vec<[f64; 2]> = rewards.iter().map(|&r| signed(r, -1.0)).collect();
    let mut undecided: Vec<bool> = (0..n).map(|s| sure.states[s] && !goal[s]).collect();
    let stays = |c: usize| {
        let s = view.owner[c] as usize;
        sure.states[s]
            && !goal[s]
            && view.ends[c] == 0.0
            && view.targets(c).iter().all(|&t| sure.states[t as usize])
    };
    let mut loops = Loops::find(view, &stays, &negated, task)?;
    let level = std::mem::take(&mut loops.level);
    let mut moved = negated;
    if let Some(v) = &level {
        draft.explanation.push("loops whose rewards cancel exactly were made free of rewards".to_owned());
        moved = (0..moved.len()).map(|c| level::moved(view, c, moved[c], v)).collect();
        loops = Loops::find(view, &stays, &moved, task)?;
    }
    loops.mark(view, &stays, &mut undecided, &mut draft, stop)?;
    let bounds = [least_total(&moved), most_total(&moved)];
    ReducedProblem {
        groups: Some(&loops.free),
        allowed: &|c| stays(c) && view.targets(c).iter().all(|&t| goal[t as usize] || undecided[t as usize]),
        reward: &|c| moved[c],
        ..ReducedProblem::new(view, &undecided, bounds)
    }
    .answer(&mut draft, task);
    if loops.examined || level.is_some() {
        draft.kept = None;
    }
    if let Some(v) = level {
        for s in (0..n).filter(|&s| undecided[s] && v[s] != 0.0) {
            draft.lower[s] = down(draft.lower[s] + v[s]);
            draft.upper[s] = up(draft.upper[s] + v[s]);
        }
    }
    draft.negate();
    Some(draft)
}

/// Expected reward until the episode ends.
pub(crate) fn total(view: &View, rewards: &[[f64; 2]], direction: Direction, task: &SolveTask) -> Draft {
    let signed: Vec<[f64; 2]> = rewards.iter().map(|&r| signed(r, direction.sign())).collect();
    let bounds = [least_total(&signed), most_total(&signed)];
    let mut draft =
        largest_total(view, &signed, bounds, task).unwrap_or_else(|| Draft::stopped(view, bounds, task));
    if direction == Direction::Minimize {
        draft.negate();
    }
    draft
}

fn largest_total(view: &View, rewards: &[[f64; 2]], bounds: [f64; 2], task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let stop: &dyn Fn() -> bool = task.stop;
    let loops = Loops::find(view, &|_| true, rewards, task)?;
    let mut undecided = vec![true; n];
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    loops.mark(view, &|_| true, &mut undecided, &mut draft, stop)?;
    // An end is a terminal state, the end of the episode, or a loop that costs nothing.
    let ends: Vec<bool> =
        (0..n).map(|s| undecided[s] && (view.choices(s).is_empty() || loops.free.of[s] != NONE)).collect();
    let finite = certain(view, &ends, |s| undecided[s], |_| true, true, stop)?;
    let mut losing = 0;
    for s in (0..n).filter(|&s| undecided[s]) {
        if !finite.states[s] {
            losing += 1;
            draft.set(s, f64::NEG_INFINITY);
            draft.policy[s] = view.choices(s).next().map_or(NO_CHOICE, |c| c as u32);
        } else if loops.free.of[s] != NONE {
            draft.policy[s] = view.choices(s).find(|&c| loops.free.inside[c]).map_or(NO_CHOICE, |c| c as u32);
        }
    }
    let undecided: Vec<bool> =
        (0..n).map(|s| undecided[s] && finite.states[s] && !view.choices(s).is_empty()).collect();
    draft
        .explanation
        .push(format!("graph analysis: {losing} states where no policy ends with certainty: infinite"));
    ReducedProblem {
        groups: Some(&loops.free),
        allowed: &|c| {
            view.targets(c).iter().all(|&t| undecided[t as usize] || view.choices(t as usize).is_empty())
        },
        reward: &|c| rewards[c],
        stay: Some(&|_| [0.0; 2]),
        ..ReducedProblem::new(view, &undecided, bounds)
    }
    .answer(&mut draft, task);
    if loops.examined {
        draft.kept = None;
    }
    Some(draft)
}

/// End components by what their loops earn.
struct Loops {
    /// End components whose choices all have reward 0.
    free: EndComponents,
    /// States of end components where some loop earns on average.
    earning: Vec<bool>,
    /// States of end components whose best loop cannot be distinguished from 0.
    doubtful: Vec<bool>,
    /// True if anything was decided by numbers beyond their signs.
    examined: bool,
    /// A policy that earns on average, where there is one.
    policy: Vec<u32>,
    /// Numbers that make the doubtful loops free of rewards, if there are such loops and numbers; see [`super::level`].
    level: Option<Vec<f64>>,
}

impl Loops {
    fn find(
        view: &View,
        allowed: &dyn Fn(usize) -> bool,
        rewards: &[[f64; 2]],
        task: &SolveTask,
    ) -> Option<Self> {
        let n = view.n();
        let stop: &dyn Fn() -> bool = task.stop;
        let free = EndComponents::find(view, |c| allowed(c) && rewards[c] == [0.0; 2], stop)?;
        let mut found = Self {
            free,
            earning: vec![false; n],
            doubtful: vec![false; n],
            examined: false,
            policy: vec![NO_CHOICE; n],
            level: None,
        };
        if rewards.iter().all(|r| r[1] <= 0.0) {
            return Some(found);
        }
        let all = EndComponents::find(view, allowed, stop)?;
        let heads: Vec<u32> = found.free.members.iter().map(|m| m[0]).collect();
        let head = |s: usize| match found.free.of[s] {
            NONE => s,
            group => heads[group as usize] as usize,
        };
        let mut v = vec![0.0; n];
        for members in &all.members {
            let inside = |c: usize| all.inside[c] && !found.free.inside[c];
            let choices = || members.iter().flat_map(|&s| view.choices(s as usize)).filter(|&c| inside(c));
            if choices().all(|c| rewards[c][1] <= 0.0) {
                continue;
            }
            found.examined = true;
            let part =
                RecurrentClass { view, members, inside: &inside, reward: &|c| rewards[c], head: &head };
            let gain = part.gain(&mut v, 0.0, |low, high| low > 0.0 || high < 0.0, task);
            // Where no reward is negative and one is positive, a loop collects it again and again.
            let earns = gain.low > 0.0 || choices().all(|c| rewards[c][0] >= 0.0);
            if !earns && gain.high >= 0.0 {
                let v = found.level.get_or_insert_with(|| vec![0.0; n]);
                let numbers = level::on_grid(&gain.relative);
                members.iter().zip(&numbers).for_each(|(&s, &number)| v[s as usize] = number);
                let within =
                    members.iter().flat_map(|&s| view.choices(s as usize)).filter(|&c| all.inside[c]);
                let fits = within.into_iter().all(|c| level::moved(view, c, rewards[c], v)[1] <= 0.0);
                if !fits {
                    members.iter().for_each(|&s| v[s as usize] = 0.0);
                }
            }
            for (i, &s) in members.iter().enumerate() {
                found.earning[s as usize] = earns;
                found.doubtful[s as usize] = !earns && gain.high >= 0.0;
                let c = gain.policy[i];
                if c != NO_CHOICE {
                    let owner = view.owner[c as usize];
                    found.policy[owner as usize] = c;
                    if found.free.of[owner as usize] != NONE {
                        lead_to(view, owner as usize, |c| found.free.inside[c], &mut found.policy);
                    }
                }
            }
        }
        found.level = found.level.filter(|v| v.iter().any(|number| *number != 0.0));
        Some(found)
    }

    /// Decides the states from which an earning loop can be reached, and leaves those undecided from which only a doubtful
    /// one can. `None` if `stop` says so on the way.
    fn mark(
        &self,
        view: &View,
        allowed: &dyn Fn(usize) -> bool,
        undecided: &mut [bool],
        draft: &mut Draft,
        stop: &dyn Fn() -> bool,
    ) -> Option<()> {
        if !self.earning.contains(&true) && !self.doubtful.contains(&true) {
            return Some(());
        }
        let before = undecided.to_vec();
        let rich = Search::back(view, &self.earning, |s, c| before[s] && allowed(c), stop)?;
        let unsure = can_reach(view, &self.doubtful, |s| before[s], allowed, stop)?;
        let (mut n_rich, mut n_unsure) = (0, 0);
        for s in (0..view.n()).filter(|&s| before[s]) {
            if rich.states[s] {
                n_rich += 1;
                draft.set(s, f64::INFINITY);
                draft.policy[s] = if self.earning[s] { self.policy[s] } else { rich.policy[s] };
                undecided[s] = false;
            } else if unsure[s] {
                n_unsure += 1;
                (draft.lower[s], draft.upper[s]) = (f64::NEG_INFINITY, f64::INFINITY);
                undecided[s] = false;
            }
        }
        draft.explanation.push(format!("{n_rich} states can reach a loop that pays forever: infinite"));
        if n_unsure > 0 {
            draft.unknown = Some(format!(
                "{n_unsure} states can reach a loop with rewards of both signs whose mean cannot be distinguished from 0: unknown"
            ));
        }
        Some(())
    }
}
