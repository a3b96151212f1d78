//! An objective as arrays: sets by state and rewards by choice. What a repair keeps and changes between two answers.

use super::kept::KeptSolver;
use super::objective::{SolveTask, WarmStart};
use super::sweeps::widest;
use super::view::View;
use super::{average, horizon, reach, total};
use crate::{Error, Result, Solution};
use backsweep_mdp::{Direction, Objective};

/// Which objective; see [`backsweep_mdp::Objective`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ObjectiveKind {
    Reach,
    ReachWithin(u64),
    Until,
    Total,
    Horizon { steps: u64, discount: f64 },
    Average,
}

impl ObjectiveKind {
    /// Returns whether the objective is about rewards.
    pub fn has_rewards(self) -> bool {
        !matches!(self, Self::Reach | Self::ReachWithin(_))
    }
}

/// An objective of a checked model.
#[derive(Clone)]
pub(crate) struct Resolved {
    pub kind: ObjectiveKind,
    /// True if each state is in the goal; empty if there is none.
    pub goal: Vec<bool>,
    /// True if each state is to be avoided and not in the goal; empty if there is none.
    pub avoid: Vec<bool>,
    /// The reward of each choice, between bounds; empty if there are none.
    pub rewards: Vec<[f64; 2]>,
}

impl Resolved {
    /// Looks labels and rewards up, and checks them.
    pub fn new(view: &View, objective: &Objective) -> Result<Self> {
        let mdp = view.mdp;
        let empty = |kind| Self { kind, goal: Vec::new(), avoid: Vec::new(), rewards: Vec::new() };
        let set = |label: &str| mdp.label(label).map(|states| view.set(&states));
        let rewards = |name: &Option<String>| -> Result<_> { view.rewards(mdp.rewards(name.as_deref())?) };
        Ok(match objective {
            Objective::Discounted { discount, .. } => {
                return Err(Error::Discount { found: *discount, expected: "a question without one" });
            }
            Objective::Reach { goal, avoid, steps } => {
                let goal = set(goal)?;
                let mut avoid = avoid.as_ref().map_or(Ok(view.set(&[])), |avoid| set(avoid))?;
                avoid.iter_mut().zip(&goal).for_each(|(a, &g)| *a &= !g);
                Self { goal, avoid, ..empty(steps.map_or(ObjectiveKind::Reach, ObjectiveKind::ReachWithin)) }
            }
            Objective::Total { reward, until: Some(until) } => {
                Self { rewards: rewards(reward)?, goal: set(until)?, ..empty(ObjectiveKind::Until) }
            }
            Objective::Total { reward, until: None } => {
                Self { rewards: rewards(reward)?, ..empty(ObjectiveKind::Total) }
            }
            Objective::Horizon { reward, steps, discount } => {
                if !(0.0..=1.0).contains(discount) {
                    return Err(Error::Discount { found: *discount, expected: "a number from 0 to 1" });
                }
                let kind = ObjectiveKind::Horizon { steps: *steps, discount: *discount };
                Self { rewards: rewards(reward)?, ..empty(kind) }
            }
            Objective::Average { reward } => {
                Self { rewards: rewards(reward)?, ..empty(ObjectiveKind::Average) }
            }
        })
    }

    /// Solves the model, with the rewards of its choices. If `task` requests it, also returns what helps the next answer after
    /// a change, if there is anything.
    pub fn answer(
        &self,
        view: &View,
        rewards: &[[f64; 2]],
        direction: Direction,
        task: &SolveTask,
    ) -> (Solution, Option<KeptSolver>, WarmStart) {
        let Self { kind, goal, avoid, .. } = self;
        let draft = match *kind {
            ObjectiveKind::Reach => reach::reach(view, goal, avoid, direction, task),
            ObjectiveKind::ReachWithin(steps) => {
                let nothing = vec![[0.0; 2]; view.mdp.n_choices()];
                let worth = |s: usize| if goal[s] { Some(1.0) } else { avoid[s].then_some(0.0) };
                let mut draft = horizon::horizon(view, &nothing, &worth, steps, 1.0, direction, task);
                draft.lower.iter_mut().chain(&mut draft.upper).for_each(|x| *x = x.clamp(0.0, 1.0));
                draft
            }
            ObjectiveKind::Until => total::until(view, goal, rewards, direction, task),
            ObjectiveKind::Total => total::total(view, rewards, direction, task),
            ObjectiveKind::Horizon { steps, discount } => {
                horizon::horizon(view, rewards, &|_| None, steps, discount, direction, task)
            }
            ObjectiveKind::Average => average::average(view, rewards, direction, task),
        };
        let narrow = |(l, u): (&f64, &f64)| l == u || u - l <= 2.0 * task.tolerance;
        let converged = draft.lower.iter().zip(&draft.upper).all(narrow);
        let mut explanation = draft.explanation;
        if let Some(why) = draft.unknown {
            explanation.push(why);
        } else if !converged && !(task.stop)() {
            explanation.push(match widest(&draft.lower, &draft.upper) {
                f64::INFINITY => {
                    "the method proved no finite bound for some states; another one may".to_owned()
                }
                width => format!("rounding keeps intervals from getting narrower than {width:e}"),
            });
        }
        let solution = Solution {
            lower: draft.lower,
            upper: draft.upper,
            policy: draft.policy,
            converged,
            iterations: draft.iterations,
            explanation,
        };
        (solution, draft.kept, draft.warm)
    }
}
