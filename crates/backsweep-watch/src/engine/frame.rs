//! What is seen at one moment, and how it is sent.

use super::history::History;
use crate::scene::Scene;
use backsweep::PlannerKind;
use backsweep::planner::Counters;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;
use std::sync::{Arc, OnceLock};

/// What one update cycle did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CycleReport {
    /// The state that was taken off the queue; `None` if there was none, or the planner has no queue.
    pub popped: Option<u32>,
    /// The cells from which some action was seen to lead to it, as far as the model is believed.
    pub predecessors: Vec<u32>,
    /// The cells of which some Q changed.
    pub changed: Vec<u32>,
}

/// What is seen of one agent. Lists are indexed by cell, or by pair: four per cell.
#[derive(Clone, Debug)]
pub struct AgentFrame {
    /// The planner.
    pub planner: PlannerKind,
    /// V of each cell.
    pub values: Vec<f64>,
    /// Q of each pair.
    pub q: Vec<f64>,
    /// How often each pair was tried.
    pub visits: Vec<u64>,
    /// Whether all actions of a cell have been tried often enough to be believed.
    pub known: Vec<bool>,
    /// The priority of each cell on the queue, 0 if it is not queued.
    pub priorities: Vec<f64>,
    /// The largest change of a Q of each cell since the last frame.
    pub changes: Vec<f64>,
    /// The cell in which the agent stands.
    pub position: u32,
    /// The last cells, oldest first.
    pub trail: Vec<u32>,
    /// Steps taken.
    pub steps: u64,
    /// Episodes that ended.
    pub episodes: u64,
    /// The discounted return of the last one.
    pub last_return: Option<f64>,
    /// The mean of all of them.
    pub mean_return: Option<f64>,
    /// What the planner did.
    pub counters: Counters,
    /// How many elements are queued.
    pub queue_length: usize,
    /// Its current speed.
    pub steps_per_second: f64,
    /// The return of every episode.
    pub returns: History,
    /// Backups in every step.
    pub backups: History,
}

impl AgentFrame {
    /// The lowest and highest value of a known cell; 0 counts as known. The others are still worth what optimism says.
    pub fn span(&self) -> (f64, f64) {
        let known = || self.values.iter().zip(&self.known).filter(|(_, known)| **known).map(|(v, _)| *v);
        let low = known().fold(0.0, f64::min);
        (low, known().fold(f64::NEG_INFINITY, f64::max).max(low))
    }

    /// Where the value of a cell lies in the [span](Self::span), from 0 to 1.
    pub fn share(&self, cell: usize, (low, high): (f64, f64)) -> f64 {
        ((self.values[cell] - low) / if high > low { high - low } else { 1.0 }).clamp(0.0, 1.0)
    }

    /// The actions of a cell that seem best, as bits; 0 if all seem equally good.
    pub fn best_actions(&self, cell: usize) -> u8 {
        let q = &self.q[4 * cell..4 * cell + 4];
        let highest = q.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let bits = q.iter().enumerate().filter(|(_, q)| **q == highest).fold(0, |bits, (i, _)| bits | 1 << i);
        if bits == 15 { 0 } else { bits }
    }
}

/// What is seen at one moment.
#[derive(Debug)]
pub struct Frame {
    /// Counts frames.
    pub number: u64,
    /// Counts changes of the scene.
    pub revision: u64,
    /// Counts beginnings from nothing.
    pub life: u64,
    /// The scene; its maze is as painted.
    pub scene: Arc<Scene>,
    /// Whether it runs without being asked for each step.
    pub running: bool,
    /// Whether steps or cycles that were asked for are still being done.
    pub busy: bool,
    /// Whether any order has been carried out since the engine started.
    pub touched: bool,
    /// Why it stopped, if it could not continue.
    pub problem: Option<String>,
    /// What the best policy is worth in this world; `None` while it is being computed.
    pub optimum: Option<f64>,
    /// One agent, or two in a race.
    pub agents: Vec<AgentFrame>,
    /// What the last single cycle did, one for each agent, until something else happens.
    pub cycles: Vec<CycleReport>,
    /// The event that is sent, once somebody has asked for it.
    pub event: OnceLock<axum::body::Bytes>,
}

/// The bytes of one cell in a frame: V in two, flags, priority, change.
const CELL_BYTES: usize = 5;
/// Between which priorities and changes levels are told apart: four and two orders of magnitude.
const PRIORITIES: (f64, f64) = (1e-4, 1.0);
const CHANGES: (f64, f64) = (1e-2, 1.0);
const KNOWN: u8 = 16;
const VISITED: u8 = 32;

impl Frame {
    /// The frame as a server-sent event. It is encoded once, by whoever asks first, however many viewers there are.
    pub fn event(&self) -> axum::body::Bytes {
        let encode = || {
            let agents: Vec<_> = self.agents.iter().map(agent_json).collect();
            let frame = json!({
                "number": self.number, "revision": self.revision, "life": self.life, "running": self.running,
                "busy": self.busy, "touched": self.touched, "problem": self.problem,
                "optimum": self.optimum, "agents": agents,
                "cycles": self.cycles.iter().map(|report| json!({
                    "popped": report.popped, "predecessors": report.predecessors, "changed": report.changed,
                })).collect::<Vec<_>>(),
            });
            axum::body::Bytes::from(format!("event: frame\ndata: {frame}\n\n"))
        };
        self.event.get_or_init(encode).clone()
    }

    /// The scene as a server-sent event, with the name of the server's run.
    pub fn scene_event(&self, session: &str) -> String {
        let scene = json!({ "session": session, "revision": self.revision, "scene": &*self.scene });
        format!("event: scene\ndata: {scene}\n\n")
    }

    /// Everything about one cell, exactly: for the label of the cell under the pointer.
    pub fn cell_json(&self, cell: usize) -> Option<serde_json::Value> {
        let first = cell.checked_mul(4)?;
        let row = first..first.checked_add(4)?;
        let agents: Option<Vec<_>> = self
            .agents
            .iter()
            .map(|agent| {
                let priority = *agent.priorities.get(cell)?;
                Some(json!({
                    "value": agent.values.get(cell)?, "q": agent.q.get(row.clone())?,
                    "visits": agent.visits.get(row.clone())?, "known": agent.known.get(cell)?,
                    // JSON has no infinity: the state that was just observed comes before all others.
                    "priority": if priority.is_finite() { json!(priority) } else { json!("first") },
                }))
            })
            .collect();
        Some(json!({ "number": self.number, "life": self.life, "cell": cell, "agents": agents? }))
    }

    /// Q of every pair of every agent, exactly.
    pub fn values_json(&self) -> serde_json::Value {
        let agents = self.agents.iter().map(|agent| json!({ "values": agent.values, "q": agent.q }));
        json!({ "number": self.number, "life": self.life, "agents": agents.collect::<Vec<_>>() })
    }
}

/// Where a positive number lies between `low` and `high` on a logarithmic scale, as 1 to 255; 0 for 0.
fn level(number: f64, low: f64, high: f64) -> u8 {
    if number <= 0.0 {
        return 0;
    }
    let place = ((number / low).ln() / (high / low).ln()).clamp(0.0, 1.0);
    1 + (254.0 * place) as u8
}

fn agent_json(agent: &AgentFrame) -> serde_json::Value {
    let (low, high) = agent.span();
    let mut cells = Vec::with_capacity(CELL_BYTES * agent.values.len());
    for i in 0..agent.values.len() {
        let row = 4 * i..4 * i + 4;
        let v = (65535.0 * agent.share(i, (low, high))) as u16;
        let mut flags = agent.best_actions(i);
        if agent.known[i] {
            flags |= KNOWN;
        }
        if agent.visits[row].iter().any(|&visits| visits > 0) {
            flags |= VISITED;
        }
        let [upper, lower] = v.to_be_bytes();
        let priority = level(agent.priorities[i], PRIORITIES.0, PRIORITIES.1);
        cells.extend([upper, lower, flags, priority, level(agent.changes[i], CHANGES.0, CHANGES.1)]);
    }
    json!({
        "planner": agent.planner.name(), "cells": STANDARD.encode(cells), "low": low, "high": high,
        "position": agent.position, "trail": agent.trail,
        "steps": agent.steps, "episodes": agent.episodes, "last": agent.last_return, "mean": agent.mean_return,
        "cycles": agent.counters.cycles, "backups": agent.counters.backups(), "idle": agent.counters.idle_pops,
        "queue": agent.queue_length, "speed": agent.steps_per_second.round(),
        "returns": curve(&agent.returns), "work": curve(&agent.backups),
    })
}

/// A curve as numbers of 32 bits, low byte first.
fn curve(history: &History) -> serde_json::Value {
    let bytes: Vec<u8> = history.means().iter().flat_map(|mean| mean.to_le_bytes()).collect();
    json!({ "stride": history.stride(), "means": STANDARD.encode(bytes) })
}
