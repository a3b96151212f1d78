//! The recordings of the guided tour: the real planner on a corridor of five cells.

use crate::engine::recording::Recorder;
use crate::error::Result;
use crate::scene::Scene;
use backsweep::{Action, PlannerKind};
use serde_json::{Value, json};

/// Five cells; the last one is the goal.
const CORRIDOR: &str = "S...G\nG = 10\n";
const EAST: Action = Action(1);
/// Steps before the second part begins: every action has then been seen to lead to all its outcomes.
const WARM_UP: u64 = 3000;
/// Steps with one cycle each, after which little is left on the queue.
const CATCH_UP: u64 = 30;

fn corridor(intended: f64) -> Scene {
    Scene {
        planner: PlannerKind::REVERSED_FULL_BACKUPS,
        maze: CORRIDOR.into(),
        law: "four".into(),
        intended,
        min_visits: 1,
        discount: 0.9,
        epsilon: 0.0,
        cycles: 0,
        ..Scene::default()
    }
}

/// The agent walks to the goal, and the planner does one cycle. In the second episode it does one after each step, until nothing
/// is queued. One frame for each step of the first episode, and for each cycle.
///
/// # Errors
/// Never, unless the corridor is no longer a valid maze.
fn walk() -> Result<Recorder> {
    let mut recorder = Recorder::new(corridor(1.0))?;
    for _ in 0..4 {
        recorder.walk(EAST)?;
        recorder.take();
    }
    recorder.cycle();
    recorder.take();
    for _ in 0..3 {
        recorder.walk(EAST)?;
        recorder.cycle();
        recorder.take();
    }
    Ok(recorder)
}

/// On a slippery floor, where every action has several outcomes: the agent has been everywhere without planning; one cycle; then
/// steps with one cycle each; then cycles until nothing is queued.
fn slip() -> Result<Recorder> {
    let mut recorder = Recorder::new(Scene { epsilon: 1.0, ..corridor(0.6) })?;
    for _ in 0..WARM_UP {
        recorder.step(u64::MAX)?;
    }
    recorder.take();
    recorder.cycle();
    recorder.take();
    for _ in 0..CATCH_UP {
        recorder.step(u64::MAX)?;
        recorder.cycle();
    }
    recorder.take();
    while recorder.cycle().iter().any(|report| report.popped.is_some()) {}
    recorder.take();
    Ok(recorder)
}

/// Both recordings.
///
/// # Errors
/// As the functions above.
pub fn recordings() -> Result<Value> {
    Ok(json!({ "walk": walk()?.json(), "slip": slip()?.json() }))
}
