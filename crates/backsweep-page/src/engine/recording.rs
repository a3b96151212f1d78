//! Learning without a clock: recorded runs, and the frame for a picture.
//!
//! A recording is frames as they are sent to a live page, and between them what is needed to look into a cell. It is data:
//! the page draws it with the same code as a live run.

use super::frame::{Frame, Optimum, flat, layout_json};
use super::report::CycleReport;
use super::watched_agent::WatchedAgent;
use crate::error::{Error, Result};
use crate::scene::{RaceResource, Scene};
use backsweep::explore::EpsilonGreedy;
use backsweep::{Action, Transition};
use backsweep_worlds::grid_world::{GridWorld, OptimumSearch};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A recorded run is abandoned if its episodes have not ended after this many steps: the file would be too large.
const MAX_STEPS_RECORDED: u64 = 200_000;
/// A run for a picture, after this many: its episodes never will.
const MAX_STEPS: u64 = 50_000_000;
/// A picture shows agents on their way: at most this many steps into the next episode.
const STEPS_INTO_EPISODE: u64 = 24;
/// Backups in the last of them are shown as flashes.
const STEPS_SHOWN: u64 = 2;

/// Agents that learn while they are recorded.
pub struct Recorder {
    scene: Arc<Scene>,
    world: Arc<GridWorld>,
    /// True if the world has changed since the last frame.
    has_changed: bool,
    optimum: Optimum,
    agents: Vec<WatchedAgent>,
    /// The observations of each agent since the last frame.
    seen: Vec<Vec<Transition>>,
    /// Q and the values relied on in the last frame.
    last: Vec<(Vec<f64>, Vec<f64>)>,
    reports: Vec<CycleReport>,
    frames: Vec<Value>,
}

impl Recorder {
    /// Agents that have seen nothing; the first frame shows them.
    ///
    /// # Errors
    /// If the scene is not valid.
    pub fn new(scene: Scene) -> Result<Self> {
        let scene = Scene { race: RaceResource::Steps, ..scene.check()? };
        let world = Arc::new(scene.grid_world()?);
        let optimum = optimum(&scene, &world)?;
        let agents: Vec<WatchedAgent> =
            scene.agent_specs().map(|spec| WatchedAgent::new(spec, &scene, &world)).collect::<Result<_>>()?;
        let mut recorder = Self {
            scene: Arc::new(Scene { maze: world.text(), ..scene }),
            world,
            has_changed: false,
            optimum,
            seen: vec![Vec::new(); agents.len()],
            last: vec![(Vec::new(), Vec::new()); agents.len()],
            agents,
            reports: Vec::new(),
            frames: Vec::new(),
        };
        recorder.take();
        Ok(recorder)
    }

    /// One step of every agent that has not finished this many episodes, with planning.
    ///
    /// # Errors
    /// If a model refuses what was observed.
    pub fn step(&mut self, episodes: u64) -> Result<()> {
        self.reports.clear();
        let steps = self.agents.iter().map(WatchedAgent::steps).max().unwrap_or(0);
        if let Some(world) = self.world.at(steps)? {
            self.world = Arc::new(world);
            self.optimum = optimum(&self.scene, &self.world)?;
            self.agents.iter_mut().for_each(|agent| agent.look_around(&self.world));
            self.has_changed = true;
        }
        for (agent, seen) in self.agents.iter_mut().zip(&mut self.seen) {
            if agent.episodes() < episodes {
                agent.step(&self.world, self.scene.cycles)?;
                seen.push(agent.last_step());
            }
        }
        Ok(())
    }

    /// Steps until every agent has finished this many episodes, without keeping what it saw. Returns the number of steps.
    fn run(&mut self, episodes: u64, max_steps: u64) -> Result<u64> {
        let mut n_steps = 0;
        while !self.has_finished(episodes) {
            if n_steps == max_steps {
                return Err(Error::new(format!(
                    "the run has not finished {episodes} episodes after {max_steps} steps; check that a path leads to the goal, \
                     choose fewer with --after, or use more cycles per step"
                )));
            }
            self.step(episodes)?;
            self.seen.iter_mut().for_each(Vec::clear);
            n_steps += 1;
        }
        Ok(n_steps)
    }

    /// One given step, without planning.
    ///
    /// # Errors
    /// If a model refuses what was observed.
    pub fn walk(&mut self, action: Action) -> Result<()> {
        self.reports.clear();
        for (agent, seen) in self.agents.iter_mut().zip(&mut self.seen) {
            agent.walk(&self.world, action)?;
            seen.push(agent.last_step());
        }
        Ok(())
    }

    /// One update cycle of every agent.
    pub fn cycle(&mut self) -> &[CycleReport] {
        self.reports = self.agents.iter_mut().map(WatchedAgent::cycle).collect();
        &self.reports
    }

    /// Returns whether every agent has finished this many episodes.
    pub fn has_finished(&self, episodes: u64) -> bool {
        self.agents.iter().all(|agent| agent.episodes() >= episodes)
    }

    /// Returns a frame of the current state.
    pub fn frame(&mut self) -> Frame {
        Frame {
            number: self.frames.len() as u64 + 1,
            revision: 1,
            life: 1,
            scene: self.scene.clone(),
            world: self.world.clone(),
            running: false,
            busy: false,
            touched: false,
            is_undisturbed: false,
            problem: None,
            optimum: Some(self.optimum),
            is_closed: self.world.is_closed(),
            can_undo: false,
            to_optimum: Vec::new(),
            results: Arc::default(),
            agents: self.agents.iter_mut().map(|agent| agent.sample(Duration::ZERO)).collect(),
            cycles: self.reports.clone(),
            text: OnceLock::new(),
        }
    }

    /// Adds a frame of what is seen now.
    pub fn take(&mut self) {
        let frame = self.frame();
        let mut json = frame.json();
        if std::mem::take(&mut self.has_changed) {
            json["maze"] = json!(self.world.text());
        }
        for (k, agent) in self.agents.iter().enumerate() {
            let (q, u) = (&frame.agents[k].q, agent.relied_on());
            let seen: Vec<Value> = self.seen[k].drain(..).flat_map(|step| flat(&step)).collect();
            json["agents"][k]["since"] =
                json!({ "q": changed(&self.last[k].0, q), "u": changed(&self.last[k].1, &u), "seen": seen });
            self.last[k] = (q.clone(), u);
        }
        self.frames.push(json);
    }

    /// The recording.
    pub fn json(self) -> Value {
        json!({ "scene": &*self.scene, "layout": layout_json(&self.world), "frames": self.frames })
    }
}

/// The numbers that changed, as alternating index and number, in 32-bit precision.
fn changed(old: &[f64], new: &[f64]) -> Vec<Value> {
    let was = |i: usize| old.get(i).map_or(0.0, |&old| old as f32);
    let pairs = new.iter().enumerate().filter(|&(i, &new)| was(i) != new as f32);
    pairs.flat_map(|(i, &new)| [json!(i), json!(new as f32)]).collect()
}

/// Records a run until every agent has finished this many episodes, in about this many frames, closer together at the
/// beginning, where most is learned.
///
/// # Errors
/// If the scene is not valid, or episodes do not end.
pub fn record_run(scene: &Scene, episodes: u64, n_frames: u64) -> Result<Recorder> {
    let n_steps = Recorder::new(scene.clone())?.run(episodes, MAX_STEPS_RECORDED)?;
    let mut recorder = Recorder::new(scene.clone())?;
    let mut step = 0;
    for frame in 1..=n_frames {
        let share = frame as f64 / n_frames as f64;
        let until = ((n_steps as f64 * share * share).ceil() as u64).max(step + 1).min(n_steps);
        if until == step {
            break;
        }
        while step < until {
            recorder.step(episodes)?;
            step += 1;
        }
        recorder.take();
    }
    Ok(recorder)
}

/// The frame that a scene shows after every agent has finished this many episodes and is on its way in the next one.
///
/// # Errors
/// If the scene is not valid, or episodes do not end.
pub fn frame_after(scene: Scene, episodes: u64) -> Result<Frame> {
    let mut recorder = Recorder::new(scene)?;
    recorder.run(episodes, MAX_STEPS)?;
    for left in (0..STEPS_INTO_EPISODE).rev() {
        if left < STEPS_SHOWN {
            recorder.frame();
        }
        recorder.step(episodes + 1)?;
    }
    let scene = Scene { maze: recorder.world.text(), ..(*recorder.scene).clone() };
    Ok(Frame { scene: Arc::new(scene), ..recorder.frame() })
}

/// The value of the best policy, without and with the scene's random exploration.
fn optimum(scene: &Scene, world: &GridWorld) -> Result<Optimum> {
    let epsilon = scene.agent_specs().next().map_or(0.0, |spec| spec.epsilon(scene));
    let truth = world.rules().truth()?;
    let search = OptimumSearch::new(&truth, scene.discount, EpsilonGreedy::new(epsilon)?)?;
    let (exploring, best) = search.finish(&truth);
    Ok(Optimum { best, exploring })
}
