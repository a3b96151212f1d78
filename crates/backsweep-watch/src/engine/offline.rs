//! Learning without a clock: for pictures and for output that is not a terminal.

use super::frame::{AgentFrame, Frame};
use super::learner::Learner;
use crate::scene::Scene;
use crate::world::World;
use backsweep::EpsilonGreedy;
use backsweep_lab::{Error, Result};
use std::sync::{Arc, OnceLock};

/// An agent that has not finished its episodes after this many steps never will.
const MAX_STEPS: u64 = 50_000_000;
/// A picture shows agents on their way: at most this many steps into the next episode.
const STEPS_INTO_EPISODE: u64 = 24;
/// Backups in the last of them are shown as flashes.
const STEPS_SHOWN: u64 = 2;

/// The frame that a scene shows after every agent has finished this many episodes and is on its way in the next one.
///
/// # Errors
/// If the scene is not valid, or episodes do not end.
pub fn frame_after(scene: Scene, episodes: u64) -> Result<Frame> {
    let scene = scene.check()?;
    let world = World::new(&scene)?;
    let optimum =
        world.optimum(&world.true_model()?, &scene.settings(), EpsilonGreedy::new(scene.epsilon)?)?;
    let mut agents = Vec::new();
    for planner in scene.planners() {
        let mut learner = Learner::new(planner, &scene, &world)?;
        while learner.episodes() < episodes {
            if learner.steps() >= MAX_STEPS {
                return Err(Error::new(format!(
                    "{planner} finished {} of {episodes} episodes in {MAX_STEPS} steps; is there a way to the goal?",
                    learner.episodes()
                )));
            }
            learner.step(&world, scene.cycles)?;
        }
        for left in (0..STEPS_INTO_EPISODE).rev() {
            if left < STEPS_SHOWN {
                learner.sample();
            }
            learner.step(&world, scene.cycles)?;
            if learner.is_at_beginning() {
                break;
            }
        }
        agents.push(learner.sample());
    }
    Ok(still(&Arc::new(Scene { maze: world.text(), ..scene }), &world, optimum, agents))
}

/// A frame of agents that nobody runs.
pub(super) fn still(scene: &Arc<Scene>, world: &World, optimum: f64, agents: Vec<AgentFrame>) -> Frame {
    Frame {
        number: 1,
        revision: 1,
        life: 1,
        scene: scene.clone(),
        running: false,
        busy: false,
        touched: false,
        problem: None,
        optimum: Some(optimum),
        is_closed: world.is_closed(),
        can_undo: false,
        courses: Vec::new(),
        results: Arc::default(),
        agents,
        cycles: Vec::new(),
        event: OnceLock::new(),
    }
}
