//! Values for the processor to prove.

use crate::card::{Card, CardEngine};
use crate::iterate::{Engine, Goal, Work, iterate};
use crate::layout::{Layout, LayoutOptions};
use crate::{Error, Result};
use backsweep_mdp::{Direction, Mdp};
use std::borrow::Cow;

/// Models with fewer arcs than this are solved by the processor before a card is ready: opening one takes about half a second.
pub const MIN_ARCS: usize = 20_000_000;

/// What to compute.
pub struct Task<'a> {
    /// The model.
    pub mdp: &'a Mdp,
    /// The expected reward of each choice.
    pub rewards: &'a [f64],
    /// From 0 to below 1.
    pub discount: f64,
    /// Whether to maximize or to minimize.
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
    /// How much was done.
    pub work: Work,
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
    pub goal: Goal<'a>,
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
        let goal = Goal {
            factors: (task.discount * layout.mass.start, task.discount * layout.mass.end),
            has_terminal: layout.has_terminal,
            n_states: layout.n_states(),
            // Less than the processor accepts, so that its own sweep is the last one.
            width: 0.95 * 2.0 * task.tolerance,
            stop: task.stop,
        };
        let rewards = match task.direction {
            Direction::Maximize => Cow::from(task.rewards),
            Direction::Minimize => task.rewards.iter().map(|reward| -reward).collect(),
        };
        Ok(Self { layout, rewards, goal })
    }

    /// Computes values with an engine that has the layout.
    ///
    /// # Errors
    /// If the engine fails.
    pub fn run(&self, engine: &mut dyn Engine) -> Result<Proposal> {
        let work = iterate(engine, &self.goal)?;
        let values = engine.values()?;
        if values.iter().any(|value| !value.is_finite()) {
            return Err(Error::Model("the card returned a value that is not finite"));
        }
        Ok(Proposal { values, work })
    }
}
