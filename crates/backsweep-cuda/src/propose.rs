//! Values for the processor to prove.

use crate::card::{Card, CardEngine};
use crate::iterate::{SweepCounts, SweepEngine, SweepGoal, iterate};
use crate::layout::{Layout, LayoutOptions};
use crate::parallel::fill;
use crate::{Error, Result};
use backsweep_mdp::{Direction, Mdp};
use std::borrow::Cow;

/// Models with fewer arcs than this are solved by the processor before a card is ready: opening one takes about half a second.
pub const MIN_ARCS: usize = 20_000_000;

/// The task.
pub struct Task<'a> {
    /// The model.
    pub mdp: &'a Mdp,
    /// The expected reward of each choice.
    pub rewards: &'a [f64],
    /// From 0 to below 1.
    pub discount: f64,
    /// Maximize or minimize.
    pub direction: Direction,
    /// The largest distance of a value from the truth to aim at.
    pub tolerance: f64,
    /// `true` ends the work with the values so far.
    pub stop: &'a (dyn Fn() -> bool + Sync),
    /// The threads that prepare the model.
    pub threads: usize,
}

/// Values without any claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// One value per state, multiplied by -1 to minimize, as `backsweep_solve::Start` has them.
    pub values: Vec<f64>,
    /// The work done.
    pub work: SweepCounts,
}

/// Computes values on a card.
///
/// # Errors
/// If the model does not fit the card's memory, or the driver reports a problem.
pub fn propose(card: &Card, task: &Task) -> Result<Proposal> {
    let prepared = Prepared::new(task, &LayoutOptions::default())?;
    let (layout, rewards) = (&prepared.layout, &prepared.rewards);
    prepared.run(&mut CardEngine::new(card, layout, rewards, task.discount, task.threads)?)
}

/// A task laid out for an engine.
pub struct Prepared<'a> {
    /// The model.
    pub layout: Layout<'a>,
    /// One reward per row, with the sign by which every sweep maximizes.
    pub rewards: Cow<'a, [f64]>,
    /// When to end.
    pub goal: SweepGoal<'a>,
}

impl<'a> Prepared<'a> {
    /// Lays a task out.
    ///
    /// # Errors
    /// If a reward or the discount is out of range.
    pub fn new(task: &Task<'a>, options: &LayoutOptions) -> Result<Self> {
        if task.rewards.len() != task.mdp.n_choices() || !(0.0..1.0).contains(&task.discount) {
            return Err(Error::Model("expected one reward per choice, and a discount from 0 to below 1"));
        }
        let layout = Layout::new(task.mdp, &LayoutOptions { threads: task.threads, ..*options });
        let rewards = match task.direction {
            Direction::Maximize => Cow::from(task.rewards),
            Direction::Minimize => task.rewards.iter().map(|reward| -reward).collect(),
        };
        let factors = (task.discount * layout.mass.start, task.discount * layout.mass.end);
        if factors.1 >= 1.0 {
            return Err(Error::Model("the discount times the largest sum of probabilities is not below 1"));
        }
        let goal = SweepGoal {
            factors,
            start: layout.local.then(|| from_below(task, &rewards, factors.1)),
            has_terminal: layout.has_terminal,
            n_states: layout.n_states(),
            // Less than the processor accepts, so that its own sweep is the last one.
            width: 0.95 * 2.0 * task.tolerance,
            stop: task.stop,
        };
        Ok(Self { layout, rewards, goal })
    }

    /// Computes values with an engine that has the layout.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run(&self, engine: &mut dyn SweepEngine) -> Result<Proposal> {
        let work = iterate(engine, &self.goal)?;
        let values = engine.values()?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Model("the card returned a value that is not finite"));
        }
        Ok(Proposal { values, work })
    }
}

/// Values to begin with where arcs lead to states nearby. A lower bound stays as it is where nothing has arrived yet, states that
/// stay where they are have their values at once, and an engine omits what stays as it is.
fn from_below(task: &Task, rewards: &[f64], factor: f64) -> Vec<f64> {
    let least = rewards.iter().fold(0.0_f64, |least, &reward| least.min(reward)) / (1.0 - factor);
    let mut values = vec![least; task.mdp.n_states()];
    fill(&mut values, 1 << 16, task.threads, |first, values| {
        for (i, value) in values.iter_mut().enumerate() {
            let state = first + i;
            let choices = task.mdp.choices_of(state);
            let stays = |choice: usize| task.mdp.row(choice).0.iter().all(|&target| target as usize == state);
            if choices.clone().all(stays) {
                let kept = |choice: usize| task.discount * task.mdp.row(choice).1.iter().sum::<f64>();
                let own = choices.map(|choice| rewards[choice] / (1.0 - kept(choice)));
                *value = own.reduce(f64::max).unwrap_or(0.0);
            }
        }
    });
    values
}
