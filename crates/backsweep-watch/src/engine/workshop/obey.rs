//! Commands: each is checked, carried out and answered.

use super::{Cause, Counted, MAX_COUNT, PROMPT, Unit, Workshop, courses, learners};
use crate::engine::frame::Frame;
use crate::engine::learner::Learner;
use crate::engine::pace::Pace;
use crate::engine::{Answer, Break, Order};
use crate::error::{Error, Result};
use crate::scene::Scene;
use backsweep::State;
use backsweep_worlds::grid_world::GridWorld;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How many changes to the world can be undone.
const MAX_UNDO: usize = 200;

impl Workshop {
    pub(super) fn carry_out(&mut self, order: Order, answer: Answer, publish: &watch::Sender<Arc<Frame>>) {
        // A new command ends the steps or cycles of an earlier one.
        let earlier = self.counted.take().and_then(|counted| counted.answer);
        let outcome = self.obey(order);
        if outcome.is_ok() {
            self.touched = true;
            self.problem = None;
        }
        if self.counted.is_none() || earlier.is_some() {
            publish.send_replace(self.frame());
        }
        self.answer(earlier, Ok(()));
        match &mut self.counted {
            Some(counted) => counted.answer = Some(answer),
            None => self.answer(Some(answer), outcome),
        }
    }

    fn obey(&mut self, order: Order) -> Result<()> {
        match order {
            Order::Run {} => self.set_running(true),
            Order::Pause {} => {
                self.finish_step();
                self.set_running(false);
            }
            Order::Step { count } => self.count(Unit::Step, count),
            Order::Cycle { count } => self.count(Unit::Cycle, count),
            Order::Reset {} => self.restart()?,
            Order::Scene { scene, restart } => self.show(*scene, restart)?,
            Order::Change { settings } => self.show(self.scene.with(&settings)?, false)?,
            Order::Paint { cell, brush, stroke } => {
                let world = self.world.painted(State(cell), brush)?;
                let is_continued = stroke != 0 && stroke == self.stroke;
                if self.change_world(world, Cause::Paint, !is_continued) {
                    self.stroke = stroke;
                }
            }
            Order::Break { what } => {
                let policy = self.learners[0].directions();
                let (world, cause) = match what {
                    Break::Wall => (self.world.with_wall_on_path(|cell| policy[cell])?, Cause::Wall),
                    Break::Shortcut => (self.world.with_shortcut()?, Cause::Shortcut),
                };
                self.change_world(world, cause, true);
            }
            Order::Undo {} => {
                let nothing = || Error::new("nothing to undo; paint or break the world first");
                let world = self.world.restored(self.earlier.last().ok_or_else(nothing)?)?;
                self.earlier.pop();
                self.change_world(world, Cause::Paint, false);
            }
        }
        Ok(())
    }

    fn count(&mut self, unit: Unit, count: u64) {
        self.set_running(false);
        self.counted = Some(Counted {
            unit,
            left: count.min(MAX_COUNT),
            waits: count == 1,
            waited: 0,
            since: Instant::now(),
            answer: None,
        });
    }

    /// Does the remaining cycles of the current step, if that does not take long, so that agents in a race stop after the
    /// same step.
    fn finish_step(&mut self) {
        let began = Instant::now();
        while self.learners.iter().any(Learner::is_planning) && began.elapsed() < PROMPT {
            self.learners.iter_mut().filter(|learner| learner.is_planning()).for_each(|learner| {
                learner.plan_slice();
            });
        }
    }

    pub(super) fn set_running(&mut self, running: bool) {
        if running && !self.running {
            self.pace = Pace::from(Instant::now());
        } else if !running {
            self.learners.iter_mut().for_each(Learner::rest);
        }
        self.running = running;
    }

    fn restart(&mut self) -> Result<()> {
        // A world that changes by itself restarts too.
        if let Some(world) = self.world.at(0)? {
            self.change_world(world, Cause::Change, false);
        }
        let learners = learners(&self.scene, &self.world)?;
        self.begin(learners);
        self.reports.clear();
        self.pace = Pace::from(Instant::now());
        Ok(())
    }

    /// Restarts the agents from scratch.
    fn begin(&mut self, learners: Vec<Learner>) {
        self.courses = courses(&learners, Cause::Start);
        self.spent = vec![Duration::ZERO; learners.len()];
        self.learners = learners;
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
            let learners = learners(&scene, &world)?;
            self.begin(learners);
            if !is_same_world(&scene, &self.scene) {
                self.earlier.clear();
            }
            self.is_closed = world.is_closed();
            self.world = world;
        } else {
            for learner in &mut self.learners {
                learner.adopt(&scene, &world)?;
            }
            self.is_undisturbed &= is_shown_only;
        }
        let problem_of =
            |scene: &Scene| (scene.discount, scene.racers().next().map(|racer| racer.epsilon(scene)));
        let is_same_problem =
            problem_of(&scene) == problem_of(&self.scene) && is_same_world(&scene, &self.scene);
        if !is_same_problem || scene.min_visits != self.scene.min_visits {
            Arc::make_mut(&mut self.results).clear_runs();
        }
        self.scene = Arc::new(scene);
        self.revision += 1;
        self.reports.clear();
        self.pace = Pace::from(Instant::now());
        if !is_same_problem {
            self.set_problem();
            self.courses.iter_mut().for_each(super::Course::look_again);
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
        for learner in &mut self.learners {
            learner.look_around(&self.world);
        }
        for (course, learner) in self.courses.iter_mut().zip(&self.learners) {
            // A break without recovery gets a line too.
            let is_counted = matches!(course.cause, Cause::Wall | Cause::Shortcut | Cause::Change);
            if course.reached.is_none() && is_counted {
                let trial = learner.trial(course, self.scene.cycles);
                Arc::make_mut(&mut self.results).add_trial(trial);
            }
            *course = super::Course::begin(cause, learner.stamp());
        }
        Arc::make_mut(&mut self.results).clear_runs();
        self.set_problem();
        true
    }
}
