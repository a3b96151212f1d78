//! Steps of one agent or two, whose turn it is, and how far each is from the finish line.

use super::{Cause, EngineState};
use crate::engine::evaluator::{EvaluationProblem, EvaluatorReport, EvaluatorTask, SubmittedPolicy};
use crate::engine::frame::RunResults;
use crate::engine::time_to_optimum::Figure3Run;
use crate::engine::watched_agent::WatchedAgent;
use crate::error::Result;
use crate::scene::RaceResource;
use std::sync::Arc;

impl<A> EngineState<A> {
    /// The agent that is next in a race on equal work or time; `None` if all take their steps together.
    pub(super) fn whose_turn(&self) -> Option<usize> {
        if self.agents.len() < 2 || self.scene.race == RaceResource::Steps {
            return None;
        }
        let last = self.last_episode.unwrap_or(u64::MAX);
        let measure = |&k: &usize| match self.scene.race {
            RaceResource::Time => (self.spent[k].as_nanos() as u64, self.agents[k].steps()),
            _ => (self.agents[k].stamp().additions, self.agents[k].steps()),
        };
        (0..self.agents.len()).filter(|&k| self.agents[k].episodes() < last).min_by_key(measure)
    }

    /// Lets every agent act that has its turn and has not finished its last episode.
    pub(super) fn begin_step(&mut self, cycles: u64) -> Result<u64> {
        self.reports.clear();
        self.follow_rules()?;
        if let Some(next) = self.whose_turn() {
            self.look_at_policy(next);
            let began = (self.clock)();
            let work = self.agents[next].act(&self.world, cycles)?;
            self.spent[next] += (self.clock)().saturating_sub(began);
            self.note_run(next);
            return Ok(1 + work);
        }
        let last = self.last_episode.unwrap_or(u64::MAX);
        let mut work = 1;
        for k in 0..self.agents.len() {
            if self.agents[k].episodes() < last {
                self.look_at_policy(k);
                work += self.agents[k].act(&self.world, cycles)?;
                self.note_run(k);
            }
        }
        Ok(work)
    }

    /// Submits the policy of an agent to the evaluator, if it is due.
    #[inline]
    fn look_at_policy(&mut self, k: usize) {
        let steps = self.agents[k].steps();
        if self.to_optimum[k].is_due(steps) {
            self.to_optimum[k].look(steps);
            let (stamp, policy) = (self.agents[k].stamp(), self.agents[k].recommended());
            self.to_judge.push(EvaluatorTask::Policy(SubmittedPolicy {
                problem: self.problem_number,
                life: self.life,
                agent: k,
                stamp,
                policy,
            }));
        }
    }

    /// Notes an agent that has just finished as many episodes as a run of Figure 3 has.
    #[inline]
    fn note_run(&mut self, k: usize) {
        let agent = &self.agents[k];
        if self.is_undisturbed
            && agent.is_paper()
            && agent.episodes() == Figure3Run::EPISODES
            && agent.is_at_beginning()
        {
            let run = Figure3Run {
                planner: agent.planner().name(),
                cycles: self.scene.cycles,
                score: agent.mean_return().unwrap_or_default(),
                additions: agent.stamp().additions as f64 / agent.steps().max(1) as f64,
            };
            self.add_results(|results| results.add_run(run));
        }
    }

    fn add_results(&mut self, add: impl FnOnce(&mut RunResults)) {
        add(Arc::make_mut(&mut self.results));
        self.revision += 1; // RunResults are sent with the scene.
    }

    /// Takes what the evaluator found.
    pub fn take_evaluation(&mut self, evaluation: EvaluatorReport) {
        self.is_frame_due = true;
        match evaluation {
            EvaluatorReport::Optimum { problem, optimum } if problem == self.problem_number => {
                self.optimum = optimum
            }
            EvaluatorReport::Reached { problem, life, agent, stamp, is_finish }
                if (problem, life) == (self.problem_number, self.life) =>
            {
                if let (Some(to_optimum), Some(agent)) =
                    (self.to_optimum.get_mut(agent), self.agents.get(agent))
                {
                    to_optimum.reach(stamp, is_finish);
                    if is_finish {
                        let trial = agent.trial(to_optimum, self.scene.cycles);
                        self.add_results(|results| results.add_trial(trial));
                    }
                }
            }
            _ => {} // The world has changed since.
        }
    }

    /// Gives the evaluator the current world.
    pub(super) fn set_problem(&mut self) {
        self.optimum = None;
        self.problem_number += 1;
        self.to_judge.push(EvaluatorTask::Problem(EvaluationProblem {
            number: self.problem_number,
            world: self.world.clone(),
            settings: self.scene.settings(),
            epsilon: self.scene.agent_specs().next().map_or(0.0, |spec| spec.epsilon(&self.scene)),
        }));
    }

    /// Changes a world that changes by itself: for all agents, when the first of them has taken the number of steps in its
    /// rules.
    fn follow_rules(&mut self) -> Result<()> {
        let steps = self.agents.iter().map(WatchedAgent::steps).max().unwrap_or(0);
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
