//! Commands: each is checked, carried out and answered.

use super::{ANSWER_WITHIN, Cause, CountedCommand, CountedUnit, EngineState, MAX_COUNT, agents, begin_all};
use crate::engine::command::{Break, ViewerCommand};
use crate::engine::pace::Pace;
use crate::engine::watched_agent::WatchedAgent;
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep::State;
use backsweep_worlds::grid_world::GridWorld;
use std::sync::Arc;
use std::time::Duration;

/// The number of changes to the world that can be undone.
const MAX_UNDO: usize = 200;

impl<A> EngineState<A> {
    /// Carries out a command. Its result is among the next [answers](super::Shown::answers).
    pub fn carry_out(&mut self, command: ViewerCommand, sender: A) {
        // A new command ends the steps or cycles of an earlier one.
        let earlier = self.counted.take().and_then(|counted| counted.sender);
        let outcome = self.execute(command);
        if outcome.is_ok() {
            self.touched = true;
            self.problem = None;
        }
        self.is_frame_due |= self.counted.is_none() || earlier.is_some();
        self.answers.extend(earlier.map(|earlier| (earlier, Ok(()))));
        match &mut self.counted {
            Some(counted) => counted.sender = Some(sender),
            None => self.answers.push((sender, outcome)),
        }
    }

    fn execute(&mut self, command: ViewerCommand) -> Result<()> {
        match command {
            ViewerCommand::Run {} => self.set_running(true),
            ViewerCommand::Pause {} => {
                self.finish_step();
                self.set_running(false);
            }
            ViewerCommand::Step { count } => self.count(CountedUnit::Step, count),
            ViewerCommand::Cycle { count } => self.count(CountedUnit::Cycle, count),
            ViewerCommand::Reset {} => self.restart()?,
            ViewerCommand::Scene { scene, restart } => self.show(*scene, restart)?,
            ViewerCommand::Change { settings } => self.show(self.scene.with(&settings)?, false)?,
            ViewerCommand::Paint { cell, brush, stroke } => {
                let world = self.world.painted(State(cell), brush)?;
                let is_continued = stroke != 0 && stroke == self.stroke;
                if self.change_world(world, Cause::Paint, !is_continued) {
                    self.stroke = stroke;
                }
            }
            ViewerCommand::Break { what } => {
                let policy = self.agents[0].directions();
                let (world, cause) = match what {
                    Break::Wall => (self.world.with_wall_on_path(|cell| policy[cell])?, Cause::Wall),
                    Break::Shortcut => (self.world.with_shortcut()?, Cause::Shortcut),
                };
                self.change_world(world, cause, true);
            }
            ViewerCommand::Undo {} => {
                let nothing = || Error::new("nothing to undo; paint or break the world first");
                let world = self.world.restored(self.earlier.last().ok_or_else(nothing)?)?;
                self.earlier.pop();
                self.change_world(world, Cause::Paint, false);
            }
        }
        Ok(())
    }

    fn count(&mut self, unit: CountedUnit, count: u64) {
        self.set_running(false);
        self.is_undisturbed &= unit == CountedUnit::Step;
        self.counted = Some(CountedCommand {
            unit,
            left: count.min(MAX_COUNT),
            waits: count == 1,
            waited: 0,
            since: (self.clock)(),
            sender: None,
        });
    }

    /// Does the remaining cycles of the current step, if that does not take long, so that agents in a race stop after the
    /// same step.
    fn finish_step(&mut self) {
        let began = (self.clock)();
        while self.agents.iter().any(WatchedAgent::is_planning)
            && (self.clock)().saturating_sub(began) < ANSWER_WITHIN
        {
            self.agents.iter_mut().filter(|agent| agent.is_planning()).for_each(|agent| {
                agent.plan_slice();
            });
        }
    }

    pub(super) fn set_running(&mut self, running: bool) {
        if running && !self.running {
            self.pace = Pace::from((self.clock)());
        } else if !running {
            self.agents.iter_mut().for_each(WatchedAgent::rest);
        }
        self.running = running;
    }

    fn restart(&mut self) -> Result<()> {
        // A world that changes by itself restarts too.
        if let Some(world) = self.world.at(0)? {
            self.change_world(world, Cause::Change, false);
        }
        let agents = agents(&self.scene, &self.world)?;
        self.begin(agents);
        self.reports.clear();
        self.pace = Pace::from((self.clock)());
        Ok(())
    }

    /// Restarts the agents from scratch.
    fn begin(&mut self, agents: Vec<WatchedAgent>) {
        self.to_optimum = begin_all(&agents, Cause::Start);
        self.spent = vec![Duration::ZERO; agents.len()];
        self.agents = agents;
        self.is_undisturbed = true;
        self.life += 1;
    }

    fn show(&mut self, scene: Scene, restart: bool) -> Result<()> {
        let scene = scene.check()?;
        let is_same_world = |a: &Scene, b: &Scene| a.maze == b.maze && a.has_same_world(b);
        let is_world_kept = is_same_world(&scene, &self.scene);
        let mut world = if is_world_kept { self.world.clone() } else { Arc::new(scene.grid_world()?) };
        let mut scene = Scene { maze: world.text(), ..scene };
        if scene == *self.scene {
            return Ok(());
        }
        let must_restart = restart || self.scene.must_restart_for(&scene);
        // A world that has changed by itself restarts with the agents.
        if let (true, Some(first)) = (must_restart, world.at(0)?) {
            scene.maze = first.text();
            world = Arc::new(first);
        }
        let is_shown_only = scene
            == Scene { speed: scene.speed, race: scene.race, rival: scene.rival, ..(*self.scene).clone() };
        if must_restart {
            let agents = agents(&scene, &world)?;
            self.begin(agents);
            if !is_same_world(&scene, &self.scene) {
                self.earlier.clear();
            }
            self.is_closed = world.is_closed();
            self.world = world;
        } else {
            for agent in &mut self.agents {
                agent.adopt(&scene, &world)?;
            }
            self.is_undisturbed &= is_shown_only;
        }
        let problem_of =
            |scene: &Scene| (scene.discount, scene.agent_specs().next().map(|spec| spec.epsilon(scene)));
        let is_same_problem =
            problem_of(&scene) == problem_of(&self.scene) && is_same_world(&scene, &self.scene);
        if !is_same_problem || scene.min_visits != self.scene.min_visits {
            Arc::make_mut(&mut self.results).clear_runs();
        }
        self.scene = Arc::new(scene);
        self.revision += 1;
        self.reports.clear();
        self.pace = Pace::from((self.clock)());
        if !is_same_problem {
            self.set_problem();
            self.to_optimum.iter_mut().for_each(super::TimeToOptimum::check_again);
        }
        Ok(())
    }

    /// Puts the agents into another world of the same size, without telling them. Returns whether it differs.
    pub(super) fn change_world(&mut self, world: GridWorld, cause: Cause, is_undoable: bool) -> bool {
        if world.text() == self.world.text() {
            return false;
        }
        if is_undoable {
            self.earlier.push(self.world.text());
            let excess = self.earlier.len().saturating_sub(MAX_UNDO);
            self.earlier.drain(..excess);
        }
        self.stroke = 0;
        self.world = Arc::new(world);
        self.is_closed = self.world.is_closed();
        self.scene = Arc::new(Scene { maze: self.world.text(), ..(*self.scene).clone() });
        self.revision += 1;
        self.reports.clear();
        self.is_undisturbed = false;
        for agent in &mut self.agents {
            agent.look_around(&self.world);
        }
        for (to_optimum, agent) in self.to_optimum.iter_mut().zip(&self.agents) {
            // A break without recovery gets a line too.
            let is_counted = matches!(to_optimum.cause, Cause::Wall | Cause::Shortcut | Cause::Change);
            if to_optimum.reached.is_none() && is_counted {
                let trial = agent.trial(to_optimum, self.scene.cycles);
                Arc::make_mut(&mut self.results).add_trial(trial);
            }
            *to_optimum = super::TimeToOptimum::begin(cause, agent.stamp());
        }
        Arc::make_mut(&mut self.results).clear_runs();
        self.set_problem();
        true
    }
}
