//! Answers by card and processor together.

use crate::card::Card;
use crate::propose::{MIN_ARCS, Proposal, Task, propose};
use crate::{Error, Result};
use backsweep_mdp::{Mdp, Objective, Question};
use backsweep_solve::{Limits, Solution, Start, solve_for_repair, solve_from};
use std::time::Instant;

/// The device that computes values. Intervals are the processor's in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// The processor.
    #[default]
    Processor,
    /// The first NVIDIA card.
    Card,
    /// The card where it is there, has the memory and is worth it, otherwise the processor.
    Automatic,
}

impl Device {
    /// Every device with its name.
    pub const NAMES: [(&str, Self); 3] =
        [("cpu", Self::Processor), ("cuda", Self::Card), ("auto", Self::Automatic)];

    /// The device with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.into_iter().find(|device| device.0 == name).map(|device| device.1)
    }
}

/// Answers a question with values that a device computes and the processor proves; also returns what a repair starts from, as
/// [`solve_for_repair`] does.
///
/// # Errors
/// As [`solve_for_repair`]. With [`Device::Card`], also if the question has no discount, or the card cannot be used.
pub fn solve(
    mdp: &Mdp,
    question: &Question,
    device: Device,
    limits: &Limits,
) -> Result<(Solution, Option<Start>)> {
    let refused = match device {
        Device::Processor => return Ok(solve_for_repair(mdp, question, None, limits)?),
        Device::Card => None,
        Device::Automatic if mdp.n_arcs() < MIN_ARCS => Some("the model is small".to_owned()),
        Device::Automatic => None,
    };
    let proposed = match refused {
        Some(reason) => Err(reason),
        None => match proposal(mdp, question, limits) {
            Ok(proposed) => Ok(proposed),
            Err(error @ Error::Solve(_)) => return Err(error),
            Err(error) if device == Device::Card => return Err(error),
            Err(error) => Err(error.to_string()),
        },
    };
    match proposed {
        Ok((proposal, line)) => {
            let start = Start { values: proposal.values };
            let (mut solution, start) = solve_from(mdp, question, &start, limits)?;
            solution.explanation.insert(0, line);
            Ok((solution, Some(start)))
        }
        Err(reason) => {
            let (mut solution, start) = solve_for_repair(mdp, question, None, limits)?;
            solution.explanation.insert(0, format!("cpu: {reason}"));
            Ok((solution, start))
        }
    }
}

/// Values by the card, and a line that says how.
fn proposal(mdp: &Mdp, question: &Question, limits: &Limits) -> Result<(Proposal, String)> {
    let Objective::Discounted { reward, discount } = &question.objective else {
        return Err(Error::NoDiscount);
    };
    let began = Instant::now();
    let card = Card::open()?;
    let rewards = mdp.expected_rewards(reward.as_deref()).map_err(backsweep_solve::Error::from)?;
    let task = Task {
        mdp,
        rewards: &rewards,
        discount: *discount,
        direction: question.direction,
        tolerance: if limits.tolerance > 0.0 { limits.tolerance } else { ROUGHLY },
        stop: limits.stop,
        threads: limits.threads,
    };
    let proposal = propose(&card, &task)?;
    let work = proposal.work;
    let line = format!(
        "cuda: {}, {} sweeps over all rows and {} over the policy's in {:.2} s; the processor proves the values",
        card.name()?,
        work.sweeps,
        work.policy_sweeps,
        began.elapsed().as_secs_f64()
    );
    Ok((proposal, line))
}

/// The tolerance to aim at where only a relative one is given, as the processor's first round does.
const ROUGHLY: f64 = 1e-6;
