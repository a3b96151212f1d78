//! One agent in the world: its position, its history, and what is visible of it.

use super::frame::{AgentFrame, best_of};
use super::history::History;
use super::report::{CycleReport, action_values, by_pair, cell_json, observed_cycle, priority, relied_on};
use super::time_to_optimum::{TimeToOptimum, Trial, WorkDone};
use crate::agent_spec::AgentSpec;
use crate::error::Result;
use crate::scene::Scene;
use backsweep::episode::{Environment, Step};
use backsweep::explore::EpsilonGreedy;
use backsweep::planner::{Counters, QueueView, Values};
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, State, Transition};
use backsweep_worlds::grid_world::{GridWorld, MAX_ACTIONS};
use std::sync::Arc;
use std::time::Duration;

/// The number of cells in a trail.
const TRAIL: usize = 24;
/// Steps per point of the curve of work, at first.
const STEPS_PER_POINT: u64 = 64;
/// The most update cycles, per state, spent on the recommended values before a policy is judged.
const CYCLES_TO_RECOMMEND: u64 = 4;
/// Update cycles between two chances to stop. A sweep of value iteration is a lot of work, so it is a slice on its own.
const SLICE: u64 = 16;

/// An agent at work. It takes single steps where [`backsweep::episode::run_episode`] would run whole episodes, because it can be
/// watched, paused and disturbed at any time, even during the planning that follows a step. It draws the same random
/// numbers in the same order.
#[derive(Debug)]
pub struct WatchedAgent {
    spec: AgentSpec,
    exploration: String,
    agent: Agent,
    /// The bits of the directions of each cell's actions.
    pointers: Arc<[Vec<u8>]>,
    episode_limit: u64,
    random: Random,
    state: State,
    /// Update cycles still to do for the current step.
    cycles_left: u64,
    episode: EpisodeSoFar,
    steps: u64,
    last_step: Transition,
    episodes: u64,
    returns: History,
    last_return: Option<f64>,
    /// The sum of all returns, for the mean.
    sum_of_returns: f64,
    work: History,
    additions_before: u64,
    /// The last cells, oldest first from `trail_end`.
    trail: [u32; TRAIL],
    trail_end: usize,
    /// Q at the last sample, to detect what was backed up since.
    q_sampled: Vec<f64>,
    /// When the speed was measured last, and the steps until then.
    sampled: Option<(Duration, u64)>,
    steps_per_second: f64,
}

/// The course of the episode under way.
#[derive(Clone, Copy, Debug)]
struct EpisodeSoFar {
    discounted_return: f64,
    factor: f64,
    steps: u64,
}

const BEGINNING: EpisodeSoFar = EpisodeSoFar { discounted_return: 0.0, factor: 1.0, steps: 0 };

impl WatchedAgent {
    /// An agent that has seen nothing, at the start.
    ///
    /// # Errors
    /// If the scene's settings are out of range.
    pub fn new(spec: AgentSpec, scene: &Scene, world: &GridWorld) -> Result<Self> {
        let agent = spec.build(scene, world)?;
        let mut random = Random::from_seed(scene.seed);
        let state = world.start(&mut random);
        let q_sampled = action_values(&agent);
        Ok(Self {
            spec,
            exploration: spec.exploration(scene),
            agent,
            pointers: world.pointers(),
            episode_limit: world.rules().episode_limit().unwrap_or(u64::MAX),
            random,
            state,
            cycles_left: 0,
            episode: BEGINNING,
            steps: 0,
            last_step: Transition { state, action: Action(0), reward: 0.0, next: Next::Terminated },
            episodes: 0,
            returns: History::new(1),
            last_return: None,
            sum_of_returns: 0.0,
            work: History::new(STEPS_PER_POINT),
            additions_before: 0,
            trail: [state.0; TRAIL],
            trail_end: 0,
            q_sampled,
            sampled: None,
            steps_per_second: 0.0,
        })
    }

    /// Applies settings that need no restart. With a new discount or M it plans again from what was seen.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn adopt(&mut self, scene: &Scene, world: &GridWorld) -> Result<()> {
        let policy = EpsilonGreedy::new(scene.epsilon)?;
        self.cycles_left = self.cycles_left.min(scene.cycles);
        if !self.spec.is_paper() {
            return Ok(()); // It restarts for anything else that matters to it.
        }
        let settings = world.optimistic(scene.settings());
        self.exploration = self.spec.exploration(scene);
        if self.agent.planner().settings() == Some(settings) {
            self.agent.set_policy(policy);
        } else {
            let planner = self.spec.planner.build(settings)?;
            self.agent = Agent::from_parts(self.agent.model().clone(), planner, policy);
            self.additions_before = self.counters().additions;
        }
        Ok(())
    }

    /// One whole step: act, learn, plan.
    ///
    /// # Errors
    /// As [`act`](Self::act).
    pub fn step(&mut self, world: &GridWorld, cycles: u64) -> Result<()> {
        self.act(world, cycles)?;
        while self.is_planning() {
            self.plan_slice();
        }
        Ok(())
    }

    /// Begins a step: acts, learns and does the first update cycles. The rest is [still to do](Self::is_planning). Returns
    /// the amount of work: the step and its additions.
    ///
    /// # Errors
    /// If the model refuses what was observed.
    #[inline]
    pub fn act(&mut self, world: &GridWorld, cycles: u64) -> Result<u64> {
        let slice = self.slice(cycles);
        let before = self.counters();
        let step = self.agent.step(world, self.state, Budget::Cycles(slice), &mut self.random)?;
        self.cycles_left = cycles;
        let work = self.account(before, slice);
        self.follow(step, world);
        Ok(1 + work)
    }

    /// Takes a step chosen by the caller, learns from it and does not plan.
    ///
    /// # Errors
    /// If the model refuses what was observed.
    pub fn walk(&mut self, world: &GridWorld, action: Action) -> Result<()> {
        let Step { reward, next } = world.step(self.state, action, &mut self.random);
        let step = Transition { state: self.state, action, reward, next };
        self.agent.observe_transition(&step)?;
        self.follow(step, world);
        Ok(())
    }

    #[inline]
    fn follow(&mut self, step: Transition, world: &GridWorld) {
        let discount = self.agent.planner().values().discount();
        self.episode.discounted_return += self.episode.factor * step.reward;
        self.episode.factor *= discount;
        self.episode.steps += 1;
        self.steps += 1;
        self.last_step = step;
        match step.next {
            Next::Continue(next) | Next::Truncated(next) if self.episode.steps < self.episode_limit => {
                self.state = next;
            }
            // A limit of steps truncates the episode; the model has recorded an ordinary step.
            _ => self.end_episode(world),
        }
        self.trail[self.trail_end] = self.state.0;
        self.trail_end = (self.trail_end + 1) % TRAIL;
    }

    /// The last step that was taken.
    pub fn last_step(&self) -> Transition {
        self.last_step
    }

    /// For each cell, the value that its predecessors rely on.
    pub fn relied_on(&self) -> Vec<f64> {
        self.agent.model().states().map(|state| relied_on(&self.agent, Some(state))).collect()
    }

    /// Returns whether update cycles of the current step are still to do.
    #[inline]
    pub fn is_planning(&self) -> bool {
        self.cycles_left > 0
    }

    /// Does a few of the remaining update cycles. Returns the amount of work, in additions and cycles.
    pub fn plan_slice(&mut self) -> u64 {
        let slice = self.slice(self.cycles_left);
        let before = self.counters();
        self.agent.plan(Budget::Cycles(slice));
        slice + self.account(before, slice)
    }

    fn slice(&self, cycles: u64) -> u64 {
        cycles.min(if self.spec.planner == backsweep_baselines::VALUE_ITERATION { 1 } else { SLICE })
    }

    /// Subtracts the cycles just done from the remaining ones, and closes the step when none remain. A planner that did
    /// fewer than requested has nothing left to do. Returns the additions.
    #[inline]
    fn account(&mut self, before: Counters, slice: u64) -> u64 {
        let after = self.counters();
        let is_idle = after.cycles - before.cycles < slice;
        self.cycles_left = if is_idle { 0 } else { self.cycles_left - slice };
        if self.cycles_left == 0 {
            self.work.push((after.additions - self.additions_before) as f64);
            self.additions_before = after.additions;
        }
        after.additions - before.additions
    }

    fn end_episode(&mut self, world: &GridWorld) {
        self.episodes += 1;
        self.last_return = Some(self.episode.discounted_return);
        self.sum_of_returns += self.episode.discounted_return;
        self.returns.push(self.episode.discounted_return);
        self.episode = BEGINNING;
        self.state = world.start(&mut self.random);
    }

    /// Returns whether an episode has just ended: the next step is the first of a new one.
    pub fn is_at_beginning(&self) -> bool {
        self.episode.steps == 0
    }

    /// Returns the number of episodes that have ended.
    pub fn episodes(&self) -> u64 {
        self.episodes
    }

    /// Returns the number of steps that were taken.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Its planner.
    pub fn planner(&self) -> PlannerKind {
        self.spec.planner
    }

    /// Returns whether it is the paper's agent.
    pub fn is_paper(&self) -> bool {
        self.spec.is_paper()
    }

    /// The work done so far.
    pub fn stamp(&self) -> WorkDone {
        WorkDone { steps: self.steps, additions: self.counters().additions }
    }

    /// Its way to the finish line, which ends now.
    pub fn trial(&self, to_optimum: &TimeToOptimum, cycles: u64) -> Trial {
        Trial {
            cause: to_optimum.cause,
            planner: self.planner().name(),
            exploration: self.exploration.clone(),
            cycles,
            done: to_optimum.done(self.stamp()),
            has_reached: to_optimum.reached.is_some(),
        }
    }

    fn counters(&self) -> Counters {
        self.agent.acting_planner().counters().unwrap_or_default()
    }

    /// The mean return of all episodes.
    pub fn mean_return(&self) -> Option<f64> {
        (self.episodes > 0).then(|| self.sum_of_returns / self.episodes as f64)
    }

    /// The actions of each cell that the agent recommends, as bits; 0 for all of them. An exploring agent recommends by
    /// separate values, which are brought up to date first.
    pub fn recommended(&mut self) -> Vec<u8> {
        if self.agent.has_two_planners() {
            let cycles = CYCLES_TO_RECOMMEND * self.agent.model().n_states() as u64;
            self.agent.recommend(Budget::Cycles(cycles));
        }
        let values = self.agent.planner().values();
        self.agent.model().states().map(|state| self.best_actions(values, state)).collect()
    }

    fn best_actions(&self, values: &Values, state: State) -> u8 {
        let mut q = [0.0; MAX_ACTIONS];
        let row = values.pair_values(self.agent.model(), state);
        row.iter().zip(&mut q).for_each(|(pair, q)| *q = pair.value());
        best_of(&q[..row.len().min(MAX_ACTIONS)])
    }

    /// The directions in which the agent acts in each cell, as bits of [`EIGHT_DIRECTIONS`](backsweep_worlds::grid_world::EIGHT_DIRECTIONS); 0 if all seem
    /// equally good.
    pub fn directions(&self) -> Vec<u8> {
        let values = self.agent.acting_values();
        let directions = |state: State| {
            let best = self.best_actions(values, state);
            let pointers = self.pointers[state.index()].iter().enumerate();
            pointers.filter(|(action, _)| best & 1 << action > 0).fold(0, |bits, (_, bit)| bits | bit)
        };
        self.agent.model().states().map(directions).collect()
    }

    /// Reacts to a change in the world: an agent in a cell that became a wall returns to the start, and its episode does
    /// not count.
    pub fn look_around(&mut self, world: &GridWorld) {
        if !world.is_open(self.state) {
            self.episode = BEGINNING;
            self.state = world.start(&mut self.random);
        }
    }

    /// One update cycle, and what it did.
    pub fn cycle(&mut self) -> CycleReport {
        let report = observed_cycle(&mut self.agent);
        self.additions_before = self.counters().additions;
        report
    }

    /// Everything about one cell; `None` if there is no such cell.
    pub fn cell(&self, cell: u32) -> Option<serde_json::Value> {
        cell_json(&self.agent, cell)
    }

    /// Returns its visible state.
    pub fn sample(&mut self, now: Duration) -> AgentFrame {
        let (since, steps) = *self.sampled.get_or_insert((now, self.steps));
        let seconds = now.saturating_sub(since).as_secs_f64();
        if seconds > 0.25 {
            self.steps_per_second = (self.steps - steps) as f64 / seconds;
            self.sampled = Some((now, self.steps));
        }
        let q = action_values(&self.agent);
        let rows = self.q_sampled.chunks_exact(MAX_ACTIONS).zip(q.chunks_exact(MAX_ACTIONS));
        let largest = |(old, new): (&[f64], &[f64])| {
            old.iter().zip(new).map(|(old, new)| (new - old).abs()).fold(0.0, f64::max)
        };
        let changes = rows.map(largest).collect();
        self.q_sampled.clone_from(&q);
        let (model, planner) = (self.agent.model(), self.agent.acting_planner());
        let is_known = |pair| planner.values().is_known(model, pair);
        AgentFrame {
            planner: self.spec.planner,
            exploration: self.exploration.clone(),
            best: self.directions(),
            values: model.states().map(|state| planner.values().value(state)).collect(),
            visits: by_pair(&self.agent, |pair| model.weight(pair).ceil() as u64),
            // A cell without actions, where episodes end, has nothing to learn.
            known: model
                .states()
                .map(|state| model.pairs(state).next().is_some() && model.pairs(state).all(is_known))
                .collect(),
            priorities: model.states().map(|state| priority(planner, model, state)).collect(),
            q,
            changes,
            position: self.state.0,
            trail: (0..TRAIL).map(|i| self.trail[(self.trail_end + i) % TRAIL]).collect(),
            last_step: (self.steps > 0).then_some(self.last_step),
            steps: self.steps,
            episodes: self.episodes,
            last_return: self.last_return,
            mean_return: self.mean_return(),
            counters: planner.counters().unwrap_or_default(),
            queue_length: planner.queue().map_or(0, QueueView::n_queued),
            steps_per_second: self.steps_per_second,
            returns: self.returns.clone(),
            work: self.work.clone(),
        }
    }

    /// Resets the measured speed, as after a pause.
    pub fn rest(&mut self) {
        self.sampled = None;
        self.steps_per_second = 0.0;
    }
}
