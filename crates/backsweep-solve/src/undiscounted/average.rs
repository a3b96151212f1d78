//! The largest and the smallest reward per step in the long run.
//!
//! Every run ends up in an end component forever, or ends (0 per step from then on). Each maximal end component is worth its
//! best mean reward, between bounds; it counts as one state that may stay for that, or leave.

use super::gain::RecurrentClass;
use super::mec::EndComponents;
use super::objective::{Draft, ReducedProblem, SolveTask, signed};
use super::view::View;
use backsweep_mdp::Direction;

pub(crate) fn average(view: &View, rewards: &[[f64; 2]], direction: Direction, task: &SolveTask) -> Draft {
    let rewards: Vec<[f64; 2]> = rewards.iter().map(|&r| signed(r, direction.sign())).collect();
    let least = rewards.iter().fold(0.0_f64, |m, r| m.min(r[0]));
    let most = rewards.iter().fold(0.0_f64, |m, r| m.max(r[1]));
    let mut draft = largest(view, &rewards, [least, most], task)
        .unwrap_or_else(|| Draft::stopped(view, [least, most], task));
    if direction == Direction::Minimize {
        draft.negate();
    }
    draft
}

fn largest(view: &View, rewards: &[[f64; 2]], bounds: [f64; 2], task: &SolveTask) -> Option<Draft> {
    let n = view.n();
    let groups = EndComponents::find(view, |_| true, task.stop)?;
    let mut draft = Draft::unknown(n, [0.0, 0.0]);
    let mut v = vec![0.0; n];
    let mut worth = Vec::with_capacity(groups.members.len());
    for members in &groups.members {
        let part = RecurrentClass {
            view,
            members,
            inside: &|c| groups.inside[c],
            reward: &|c| rewards[c],
            head: &|s| s,
        };
        let gain = part.gain(&mut v, task.tolerance, |_, _| false, task);
        worth.push([gain.low.max(bounds[0]), gain.high.min(bounds[1])]);
        members.iter().zip(&gain.policy).for_each(|(&s, &c)| draft.policy[s as usize] = c);
        draft.iterations += gain.iterations;
    }
    draft
        .explanation
        .push(format!("{} maximal end components, each by relative value iteration", worth.len()));
    let undecided: Vec<bool> = (0..n).map(|s| !view.choices(s).is_empty()).collect();
    ReducedProblem {
        groups: Some(&groups),
        stay: Some(&|g| worth[g]),
        ..ReducedProblem::new(view, &undecided, bounds)
    }
    .answer(&mut draft, task);
    Some(draft)
}
