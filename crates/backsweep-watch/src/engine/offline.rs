//! Learning without a clock: for pictures and for output that is not a terminal.

use super::frame::{AgentFrame, Frame};
use super::watched_agent::WatchedAgent;
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep::explore::EpsilonGreedy;
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
    for spec in scene.agent_specs() {
        world = first.clone();
        let mut agent = WatchedAgent::new(spec, &scene, &world)?;
        let step = |agent: &mut WatchedAgent, world: &mut Arc<GridWorld>| -> Result<()> {
            if let Some(changed) = world.at(agent.steps())? {
                *world = Arc::new(changed);
                agent.look_around(world);
            }
            agent.step(world, scene.cycles)
        };
        while agent.episodes() < episodes {
            if agent.steps() >= MAX_STEPS {
                return Err(Error::new(format!(
                    "{} finished {} of {episodes} episodes in {MAX_STEPS} steps; check that a path leads to the goal",
                    spec.planner,
                    agent.episodes()
                )));
            }
            step(&mut agent, &mut world)?;
        }
        for left in (0..STEPS_INTO_EPISODE).rev() {
            if left < STEPS_SHOWN {
                agent.sample();
            }
            step(&mut agent, &mut world)?;
            if agent.is_at_beginning() {
                break;
            }
        }
        agents.push(agent.sample());
    }
    let optimum = optimum(&scene, &world)?;
    Ok(still(&Arc::new(Scene { maze: world.text(), ..scene }), &world, optimum, agents))
}

/// The value of the best policy with the scene's random exploration.
pub(super) fn optimum(scene: &Scene, world: &GridWorld) -> Result<f64> {
    let epsilon = scene.agent_specs().next().map_or(0.0, |spec| spec.epsilon(scene));
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
        to_optimum: Vec::new(),
        results: Arc::default(),
        agents,
        cycles: Vec::new(),
        event: OnceLock::new(),
    }
}
