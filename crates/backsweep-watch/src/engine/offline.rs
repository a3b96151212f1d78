//! Learning without a clock: for pictures and for output that is not a terminal.

use super::frame::{AgentFrame, Frame};
use super::learner::Learner;
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep::EpsilonGreedy;
use backsweep_worlds::grid_world::GridWorld;
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
    let first = Arc::new(scene.grid_world()?);
    let mut world = first.clone();
    let mut agents = Vec::new();
    for racer in scene.racers() {
        world = first.clone();
        let mut learner = Learner::new(racer, &scene, &world)?;
        let step = |learner: &mut Learner, world: &mut Arc<GridWorld>| -> Result<()> {
            if let Some(changed) = world.at(learner.steps())? {
                *world = Arc::new(changed);
                learner.look_around(world);
            }
            learner.step(world, scene.cycles)
        };
        while learner.episodes() < episodes {
            if learner.steps() >= MAX_STEPS {
                return Err(Error::new(format!(
                    "{} finished {} of {episodes} episodes in {MAX_STEPS} steps; check that a path leads to the goal",
                    racer.planner,
                    learner.episodes()
                )));
            }
            step(&mut learner, &mut world)?;
        }
        for left in (0..STEPS_INTO_EPISODE).rev() {
            if left < STEPS_SHOWN {
                learner.sample();
            }
            step(&mut learner, &mut world)?;
            if learner.is_at_beginning() {
                break;
            }
        }
        agents.push(learner.sample());
    }
    let optimum = optimum(&scene, &world)?;
    Ok(still(&Arc::new(Scene { maze: world.text(), ..scene }), &world, optimum, agents))
}

/// The value of the best policy with the scene's random exploration.
pub(super) fn optimum(scene: &Scene, world: &GridWorld) -> Result<f64> {
    let epsilon = scene.racers().next().map_or(0.0, |racer| racer.epsilon(scene));
    Ok(world.optimum(&world.rules().truth()?, &scene.settings(), EpsilonGreedy::new(epsilon)?)?.0)
}

/// A frame of agents outside the engine.
pub(super) fn still(
    scene: &Arc<Scene>,
    world: &Arc<GridWorld>,
    optimum: f64,
    agents: Vec<AgentFrame>,
) -> Frame {
    Frame {
        number: 1,
        revision: 1,
        life: 1,
        scene: scene.clone(),
        world: world.clone(),
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
