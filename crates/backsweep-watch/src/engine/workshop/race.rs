//! Steps of one agent or two, whose turn it is, and how far each is from the finish line.

use super::{Cause, Workshop};
use crate::engine::course::Run;
use crate::engine::frame::Results;
use crate::engine::judge::{Entry, Problem, Verdict};
use crate::engine::learner::Learner;
use crate::error::Result;
use crate::scene::Race;
use std::sync::Arc;
use std::time::{Duration, Instant};

impl Workshop {
    /// The agent that is next in a race on equal backups or time; `None` if all take their steps together.
    pub(super) fn whose_turn(&self) -> Option<usize> {
        if self.learners.len() < 2 || self.scene.race == Race::Steps {
            return None;
        }
        let last = self.last_episode.unwrap_or(u64::MAX);
        let measure = |&k: &usize| match self.scene.race {
            Race::Time => (self.spent[k].as_nanos() as u64, self.learners[k].steps()),
            _ => (self.learners[k].stamp().backups, self.learners[k].steps()),
        };
        (0..self.learners.len()).filter(|&k| self.learners[k].episodes() < last).min_by_key(measure)
    }

    /// Lets every agent act that has its turn and has not finished its last episode.
    pub(super) fn begin_step(&mut self, cycles: u64) -> Result<u64> {
        self.reports.clear();
        self.follow_rules()?;
        if let Some(next) = self.whose_turn() {
            self.look_at_policy(next);
            let learner = &mut self.learners[next];
            let work = timed(&mut self.spent[next], || learner.act(&self.world, cycles))?;
            self.note_run(next);
            return Ok(1 + work);
        }
        let last = self.last_episode.unwrap_or(u64::MAX);
        let mut work = 1;
        for k in 0..self.learners.len() {
            if self.learners[k].episodes() < last {
                self.look_at_policy(k);
                work += self.learners[k].act(&self.world, cycles)?;
                self.note_run(k);
            }
        }
        Ok(work)
    }

    /// Submits the policy of an agent to the judge, if it is due.
    #[inline]
    fn look_at_policy(&mut self, k: usize) {
        let steps = self.learners[k].steps();
        if self.courses[k].is_due(steps) {
            self.courses[k].look(steps);
            let (stamp, policy) = (self.learners[k].stamp(), self.learners[k].recommended());
            self.judge.hand_in(Entry {
                problem: self.problem_number,
                life: self.life,
                agent: k,
                stamp,
                policy,
            });
        }
    }

    /// Notes an agent that has just finished as many episodes as a run of Figure 3 has.
    #[inline]
    fn note_run(&mut self, k: usize) {
        let learner = &self.learners[k];
        if self.is_undisturbed
            && learner.is_paper()
            && learner.episodes() == Run::EPISODES
            && learner.is_at_beginning()
        {
            let run = Run {
                planner: learner.planner().name(),
                cycles: self.scene.cycles,
                score: learner.mean_return().unwrap_or_default(),
                backups: learner.stamp().backups as f64 / learner.steps().max(1) as f64,
            };
            self.add_results(|results| results.add_run(run));
        }
    }

    fn add_results(&mut self, add: impl FnOnce(&mut Results)) {
        add(Arc::make_mut(&mut self.results));
        self.revision += 1; // Results are sent with the scene.
    }

    pub(super) fn take_verdict(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Optimum { problem, optimum } if problem == self.problem_number => self.optimum = optimum,
            Verdict::Reached { problem, life, agent, stamp }
                if (problem, life) == (self.problem_number, self.life) =>
            {
                if let (Some(course), Some(learner)) = (self.courses.get_mut(agent), self.learners.get(agent))
                {
                    course.reach(stamp);
                    let trial = learner.trial(course, self.scene.cycles);
                    self.add_results(|results| results.add_trial(trial));
                }
            }
            _ => {} // The world has changed since.
        }
    }

    /// Gives the judge the current world.
    pub(super) fn set_problem(&mut self) {
        self.optimum = None;
        self.problem_number += 1;
        self.judge.set_problem(Problem {
            number: self.problem_number,
            world: self.world.clone(),
            settings: self.scene.settings(),
            epsilon: self.scene.racers().next().map_or(0.0, |racer| racer.epsilon(&self.scene)),
        });
    }

    /// Changes a world that changes by itself: for all agents, when the first of them has taken the number of steps in its
    /// rules.
    fn follow_rules(&mut self) -> Result<()> {
        let steps = self.learners.iter().map(Learner::steps).max().unwrap_or(0);
        if let Some(world) = self.world.at(steps)? {
            self.earlier.clear();
            // It may have been painted to look like that already.
            if !self.change_world(world.clone(), Cause::Change, false) {
                self.world = Arc::new(world);
            }
        }
        Ok(())
    }
}

/// Calls a function and adds the time it took.
pub(super) fn timed<T>(spent: &mut Duration, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let result = work();
    *spent += began.elapsed();
    result
}
