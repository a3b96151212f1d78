//! The largest and the smallest probability of reaching a set of states while avoiding another.
//!
//! The graph decides where it is 0 and where it is 1. Largest: end components of the rest count as one state, because every
//! exit can be reached from each of their states, and staying is worth nothing; then every policy leaves. Smallest: the rest
//! has no end component, because there a policy could stay forever and the value would be 0.

use super::graph::{can_reach, certain, inevitable, must_reach};
use super::mec::EndComponents;
use super::objective::{Draft, ReducedProblem, SolveTask};
use super::view::View;
use backsweep_mdp::{Direction, NO_CHOICE};

pub(crate) fn reach(
    view: &View,
    goal: &[bool],
    avoid: &[bool],
    direction: Direction,
    task: &SolveTask,
) -> Draft {
    let through = |s: usize| !goal[s] && !avoid[s];
    match direction {
        Direction::Maximize => largest(view, goal, through, task),
        Direction::Minimize => smallest(view, goal, through, task),
    }
    .unwrap_or_else(|| Draft::stopped(view, [0.0, 1.0], task))
}

fn largest(view: &View, goal: &[bool], through: impl Fn(usize) -> bool, task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let stop: &dyn Fn() -> bool = task.stop;
    let possible = can_reach(view, goal, &through, |_| true, stop)?;
    let sure = certain(view, goal, &through, |_| true, false, stop)?;
    let undecided: Vec<bool> = (0..n).map(|s| possible[s] && !sure.states[s]).collect();
    let groups = EndComponents::find(view, |c| undecided[view.owner[c] as usize], stop)?;
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    for s in (0..n).filter(|&s| sure.states[s]) {
        draft.set(s, 1.0);
        draft.policy[s] = sure.policy[s];
    }
    describe(&mut draft, &possible, &sure.states, Some(groups.members.len()));
    ReducedProblem { groups: Some(&groups), ..ReducedProblem::new(view, &undecided, [0.0, 1.0]) }
        .answer(&mut draft, task);
    Some(draft)
}

fn smallest(view: &View, goal: &[bool], through: impl Fn(usize) -> bool, task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let stop: &dyn Fn() -> bool = task.stop;
    let positive = must_reach(view, goal, &through, stop)?;
    let sure = inevitable(view, goal, &through, stop)?;
    if stop() {
        return None;
    }
    let undecided: Vec<bool> = (0..n).map(|s| positive[s] && !sure[s]).collect();
    // Signs are changed: the largest of minus the probability.
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    for s in 0..n {
        if sure[s] {
            draft.set(s, -1.0);
        }
        if through(s) && !undecided[s] {
            // Either nothing matters (1), or the choice has to stay where the goal is avoided forever (0).
            let stays = |c: &usize| sure[s] || view.targets(*c).iter().all(|&t| !positive[t as usize]);
            draft.policy[s] = view.choices(s).find(stays).map_or(NO_CHOICE, |c| c as u32);
        }
    }
    describe(&mut draft, &positive, &sure, None);
    ReducedProblem::new(view, &undecided, [-1.0, 0.0]).answer(&mut draft, task);
    draft.negate();
    Some(draft)
}

fn describe(draft: &mut Draft, positive: &[bool], sure: &[bool], groups: Option<usize>) {
    let states = |n: usize| format!("{n} state{}", if n == 1 { "" } else { "s" });
    let count = |set: &[bool]| set.iter().filter(|&&x| x).count();
    let merged = match groups.unwrap_or(0) {
        0 => String::new(),
        n => format!("; end components that count as one state each: {n}"),
    };
    draft.explanation.push(format!(
        "graph analysis: probability 0 in {}, 1 in {}{merged}",
        states(positive.len() - count(positive)),
        states(count(sure)),
    ));
}
