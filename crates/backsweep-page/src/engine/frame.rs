//! The visible state at one moment, and its form when sent.

use super::history::History;
use super::report::{CycleReport, Queued, most_urgent};
use super::time_to_optimum::{Figure3Run, Trial};
use crate::scene::Scene;
use backsweep::planner::Counters;
use backsweep::{PlannerKind, Transition};
use backsweep_worlds::grid_world::{GridWorld, MAX_ACTIONS};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};

/// The visible state of one agent. Lists are indexed by cell, or by pair: [`MAX_ACTIONS`] places per cell, with 0 beyond the
/// cell's own actions.
#[derive(Clone, Debug)]
pub struct AgentFrame {
    /// The planner.
    pub planner: PlannerKind,
    /// The way it explores, for a reader.
    pub exploration: String,
    /// V of each cell.
    pub values: Vec<f64>,
    /// Q of each pair.
    pub q: Vec<f64>,
    /// The number of times each pair was tried.
    pub visits: Vec<u64>,
    /// The directions of the actions of each cell that seem best, as bits of [`EIGHT_DIRECTIONS`](backsweep_worlds::grid_world::EIGHT_DIRECTIONS); 0 if all seem
    /// equally good.
    pub best: Vec<u8>,
    /// For each cell, whether all of its actions have been tried often enough to be trusted.
    pub known: Vec<bool>,
    /// The priority of each cell on the queue, 0 if it is not queued.
    pub priorities: Vec<f64>,
    /// The largest change of a Q of each cell since the last frame.
    pub changes: Vec<f64>,
    /// The cell in which the agent stands.
    pub position: u32,
    /// The last cells, oldest first.
    pub trail: Vec<u32>,
    /// The last step, if one was taken.
    pub last_step: Option<Transition>,
    /// Steps taken.
    pub steps: u64,
    /// Episodes that ended.
    pub episodes: u64,
    /// The discounted return of the last one.
    pub last_return: Option<f64>,
    /// The mean of all of them.
    pub mean_return: Option<f64>,
    /// The counters of the planner.
    pub counters: Counters,
    /// The number of queued elements.
    pub queue_length: usize,
    /// Its current speed.
    pub steps_per_second: f64,
    /// The return of every episode.
    pub returns: History,
    /// Additions of the planner in every step.
    pub work: History,
}

impl AgentFrame {
    /// The lowest and highest value of a known cell; 0 counts as known. The others still have their optimistic value.
    pub fn span(&self) -> (f64, f64) {
        let known = || self.values.iter().zip(&self.known).filter(|(_, known)| **known).map(|(v, _)| *v);
        let low = known().fold(0.0, f64::min);
        (low, known().fold(f64::NEG_INFINITY, f64::max).max(low))
    }

    /// Returns where the value of a cell lies in the [span](Self::span), from 0 to 1.
    pub fn share(&self, cell: usize, (low, high): (f64, f64)) -> f64 {
        ((self.values[cell] - low) / if high > low { high - low } else { 1.0 }).clamp(0.0, 1.0)
    }
}

/// The actions that seem best by their Q, as bits; 0 if all seem equally good.
pub fn best_of(q: &[f64]) -> u8 {
    let highest = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let bits = q.iter().enumerate().filter(|(_, q)| **q == highest).fold(0, |bits, (i, _)| bits | 1 << i);
    if u32::from(bits).count_ones() as usize == q.len() { 0 } else { bits }
}

/// Results of runs: sent with the scene, since they change as rarely.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunResults {
    trials: Vec<Trial>,
    runs: Vec<Figure3Run>,
}

/// The number of results of a kind that are kept.
const KEPT: usize = 60;

impl RunResults {
    /// Adds a finished measurement.
    pub fn add_trial(&mut self, trial: Trial) {
        self.trials.push(trial);
        self.trials.drain(..self.trials.len().saturating_sub(KEPT));
    }

    /// Adds a run of Figure 3.
    pub fn add_run(&mut self, run: Figure3Run) {
        self.runs.push(run);
        self.runs.drain(..self.runs.len().saturating_sub(KEPT));
    }

    /// Forgets the runs: a different problem has a different figure.
    pub fn clear_runs(&mut self) {
        self.runs.clear();
    }
}

/// The returns that can be earned in a world, from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// By the best policy.
    pub best: f64,
    /// By the best policy with the scene's random actions: the line that learning can reach but, on average, not cross.
    pub exploring: f64,
}

/// The visible state at one moment.
#[derive(Debug)]
pub struct Frame {
    /// Counts frames.
    pub number: u64,
    /// Counts changes of the scene and new results, which are sent together.
    pub revision: u64,
    /// Counts restarts from scratch.
    pub life: u64,
    /// The scene; its maze is as painted.
    pub scene: Arc<Scene>,
    /// The world, as it is now.
    pub world: Arc<GridWorld>,
    /// True if it runs continuously.
    pub running: bool,
    /// True if requested steps or cycles are still in progress.
    pub busy: bool,
    /// True if any command has been carried out since the engine started.
    pub touched: bool,
    /// True if the agents have only taken steps since they started: their number then tells all.
    pub is_undisturbed: bool,
    /// The reason why it stopped, if it could not continue.
    pub problem: Option<String>,
    /// The value of the best policy in this world, and its value with the random actions with the scene's ε;
    /// `None` while it is being computed.
    pub optimum: Option<Optimum>,
    /// True if there is no path from the start to the goal.
    pub is_closed: bool,
    /// True if a change to the world can be undone.
    pub can_undo: bool,
    /// The way of each agent to the finish line, as it is sent.
    pub to_optimum: Vec<serde_json::Value>,
    /// Results of runs.
    pub results: Arc<RunResults>,
    /// One agent, or two in a race.
    pub agents: Vec<AgentFrame>,
    /// The effect of the last single cycle, one for each agent, until something else happens.
    pub cycles: Vec<CycleReport>,
    /// The frame as it is sent, encoded at the first request.
    pub text: OnceLock<String>,
}

/// The bytes of one cell in a frame: V in two, flags, best directions, change. All cells' first bytes come first, then
/// all second ones and so on: alike bytes side by side compress to two thirds.
const CELL_BYTES: usize = 5;
/// A world with more cells is large: it has fewer frames per second, and fewer levels of V and change.
pub(super) const MAX_CELLS_IN_FULL: usize = 2500;
/// The bits of a change that are kept in a large world. Of V the upper byte is: there are 256 colors.
const KEPT_BITS: u8 = 0xf0;
/// The range over which levels of change are distinguished.
const CHANGES: (f64, f64) = (1e-2, 1.0);
const KNOWN: u8 = 1;
const VISITED: u8 = 2;
const QUEUED: u8 = 4;

impl Frame {
    /// The frame as it is sent. It is encoded once, at the first request, for any number of viewers.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.json().to_string())
    }

    /// The frame as it is sent and recorded.
    pub fn json(&self) -> Value {
        // One scale of colors for all, so that they can be compared.
        let spans = self.agents.iter().map(AgentFrame::span);
        let span = spans.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        let agents: Vec<_> = self.agents.iter().map(|agent| agent_json(agent, span)).collect();
        json!({
            "number": self.number, "revision": self.revision, "life": self.life, "running": self.running,
            "busy": self.busy, "touched": self.touched, "undisturbed": self.is_undisturbed, "problem": self.problem, "closed": self.is_closed,
            "undo": self.can_undo, "optimum": self.optimum.map(|found| found.best),
            "exploring": self.optimum.map(|found| found.exploring), "agents": agents, "courses": self.to_optimum,
            "cycles": self.cycles.iter().map(CycleReport::json).collect::<Vec<_>>(),
        })
    }

    /// The scene as it is sent, with the name of the run that shows it.
    pub fn scene_json(&self, session: &str) -> Value {
        json!({ "session": session, "revision": self.revision, "scene": &*self.scene, "layout": layout_json(&self.world), "results": &*self.results })
    }

    /// Q of every pair of every agent, exactly.
    pub fn values_json(&self) -> Value {
        let agents = self.agents.iter().map(|agent| json!({ "values": agent.values, "q": agent.q }));
        json!({ "number": self.number, "life": self.life, "agents": agents.collect::<Vec<_>>() })
    }
}

/// Returns where a positive number lies between `low` and `high` on a logarithmic scale, as 1 to 255; 0 for 0.
fn level(number: f64, low: f64, high: f64) -> u8 {
    if number <= 0.0 {
        return 0;
    }
    let place = ((number / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
    1 + (254.0 * place) as u8
}

fn agent_json(agent: &AgentFrame, (low, high): (f64, f64)) -> Value {
    let n_cells = agent.values.len();
    let is_large = n_cells > MAX_CELLS_IN_FULL;
    let kept = if is_large { KEPT_BITS } else { u8::MAX };
    let mut cells = vec![0; CELL_BYTES * n_cells];
    for i in 0..n_cells {
        let row = MAX_ACTIONS * i..MAX_ACTIONS * (i + 1);
        let v = (65535.0 * agent.share(i, (low, high))) as u16;
        let mut flags = 0;
        if agent.known[i] {
            flags |= KNOWN;
        }
        if agent.visits[row].iter().any(|&visits| visits > 0) {
            flags |= VISITED;
        }
        if agent.priorities[i] > 0.0 {
            flags |= QUEUED;
        }
        let [upper, lower] = v.to_be_bytes();
        // What has changed stays so.
        let change = match level(agent.changes[i], CHANGES.0, CHANGES.1) {
            0 => 0,
            level => level & kept | 1 & !kept,
        };
        let lower = if is_large { 0 } else { lower };
        let bytes = [upper, lower, flags, agent.best[i], change];
        bytes.into_iter().enumerate().for_each(|(k, byte)| cells[k * n_cells + i] = byte);
    }
    let urgent = most_urgent(agent.priorities.iter().copied());
    json!({
        "planner": agent.planner.name(), "explores": agent.exploration, "cells": STANDARD.encode(cells), "low": low, "high": high,
        "position": agent.position, "trail": agent.trail, "step": agent.last_step.map(|step| flat(&step)),
        "steps": agent.steps, "episodes": agent.episodes, "last": agent.last_return, "mean": agent.mean_return,
        "cycles": agent.counters.cycles, "additions": agent.counters.additions, "idle": agent.counters.idle_pops,
        "queue": agent.queue_length, "urgent": urgent.iter().map(Queued::json).collect::<Vec<_>>(), "speed": agent.steps_per_second.round(),
        "returns": curve(&agent.returns), "work": curve(&agent.work),
    })
}

/// A step as cell, action, next cell (−1 at the end of an episode) and reward.
pub(super) fn flat(step: &Transition) -> [Value; 4] {
    let next = step.next.state().map_or(-1, |state| i64::from(state.0));
    [json!(step.state.0), json!(step.action.0), json!(next), json!(step.reward)]
}

/// A curve as numbers of 32 bits, low byte first.
fn curve(history: &History) -> Value {
    let bytes: Vec<u8> = history.means().iter().flat_map(|mean| mean.to_le_bytes()).collect();
    json!({ "stride": history.stride(), "means": STANDARD.encode(bytes) })
}

/// Everything about a world that its text does not say: where actions point, its unpainted text, and whether it has
/// episodes.
pub(super) fn layout_json(world: &GridWorld) -> Value {
    let pointers = world.pointers();
    let rows = match &pointers[..] {
        [first, rest @ ..] if rest.iter().all(|row| row == first) => std::slice::from_ref(first),
        rows => rows,
    };
    json!({ "pointers": rows, "texts": world.rules().texts(), "episodes": world.rules().has_episodes() })
}
