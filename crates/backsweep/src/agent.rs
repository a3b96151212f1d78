//! The agent: model, planner and policy in one.

mod snapshot;

use crate::explore::Explorer;
use crate::planner::Planned;
use crate::{
    Action, Audit, Budget, Change, Environment, EpsilonGreedy, Exploration, Explore, Model, MovedRow, Next,
    Outcome, Pair, Planner, PlannerKind, Random, Result, Settings, State, Step, Transition, Values, audit,
    plan,
};

/// A learner: a model of what it saw, a planner that keeps its values, a policy that acts on them.
///
/// An agent made by [`Agent::new`] or [`Agent::from_parts`] has one planner, by which it acts and recommends. One made by
/// [`Agent::exploring`] acts by separate values, with optimism and bonuses: [`act`](Self::act) and [`plan`](Self::plan) use
/// those, and everything that is read from the agent ([`best_action`](Self::best_action), [`value`](Self::value),
/// [`planner`](Self::planner), [`audit`](Self::audit), [`bound`](Self::bound)) comes from the recommending planner, which
/// has no optimism and costs nothing until [`recommend`](Self::recommend) brings it up to date.
///
/// ```
/// use backsweep::{Agent, PlannerKind, Random, Settings};
/// let mut agent = Agent::new(PlannerKind::SmallBackups, Settings::default())?;
/// let hall = agent.add_state(4)?;
/// let action = agent.act(hall, &mut Random::from_seed(0))?;
/// assert!(action.0 < 4);
/// # Ok::<(), backsweep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Agent {
    model: Model,
    /// The planner that recommends; also the one to act by, unless the explorer has another.
    planner: Box<dyn Planner>,
    policy: EpsilonGreedy,
    explorer: Option<Box<Explorer>>,
}

impl Agent {
    /// An agent without states that acts greedily.
    pub fn new(planner: PlannerKind, settings: Settings) -> Result<Self> {
        Ok(Self::from_parts(Model::new(), planner.build(settings)?, EpsilonGreedy::GREEDY))
    }

    /// An agent made of these parts. The planner learns what the model contains.
    pub fn from_parts(model: Model, mut planner: Box<dyn Planner>, policy: EpsilonGreedy) -> Self {
        planner.grow(&model);
        Self { model, planner, policy, explorer: None }
    }

    /// An agent that explores and forgets as [`Exploration`] says, on a model without observations.
    ///
    /// # Errors
    /// If a setting is out of range, or settings are incompatible.
    pub fn exploring(
        model: Model,
        planner: PlannerKind,
        settings: Settings,
        exploration: Exploration,
    ) -> Result<Self> {
        let policy = match exploration.explore {
            Explore::EpsilonGreedy { epsilon } => EpsilonGreedy::new(epsilon)?,
            _ => EpsilonGreedy::GREEDY,
        };
        let (explorer, planner) = Explorer::new(&model, planner, settings, exploration)?;
        Ok(Self { model, planner, policy, explorer: Some(Box::new(explorer)) })
    }

    /// How the agent explores, if it was built by [`exploring`](Self::exploring).
    pub fn exploration(&self) -> Option<&Exploration> {
        self.explorer.as_deref().map(Explorer::settings)
    }

    /// Whether the agent acts by other values than it recommends by.
    pub fn has_two_planners(&self) -> bool {
        self.explorer.as_deref().is_some_and(|explorer| explorer.acting_planner().is_some())
    }

    /// The planner of the values that [`act`](Self::act) uses. When the agent samples from the posterior, that planner
    /// has its own model, a sampled world with the same states and actions.
    pub fn acting_planner(&self) -> &dyn Planner {
        let own = self.explorer.as_deref().and_then(Explorer::acting_planner);
        own.unwrap_or(&*self.planner)
    }

    /// The values that [`act`](Self::act) uses.
    pub fn acting_values(&self) -> &Values {
        self.acting_planner().values()
    }

    /// The same agent with another policy.
    pub fn with_policy(mut self, policy: EpsilonGreedy) -> Self {
        self.policy = policy;
        self
    }

    /// What was seen.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// The planner; for an exploring agent, the one that recommends.
    pub fn planner(&self) -> &dyn Planner {
        &*self.planner
    }

    /// The policy.
    pub fn policy(&self) -> EpsilonGreedy {
        self.policy
    }

    /// Sets the policy.
    pub fn set_policy(&mut self, policy: EpsilonGreedy) {
        self.policy = policy;
    }

    /// Adds a state with this many actions.
    pub fn add_state(&mut self, n_actions: usize) -> Result<State> {
        let state = self.model.add_state(n_actions)?;
        self.planner.grow(&self.model);
        if let Some(explorer) = &mut self.explorer {
            explorer.state_added(&self.model, n_actions)?;
        }
        Ok(state)
    }

    /// Adds an action to a state.
    pub fn add_action(&mut self, state: State) -> Result<Option<MovedRow>> {
        let moved = self.model.add_action(state)?;
        match &moved {
            Some(moved) => self.planner.row_moved(&self.model, moved),
            None => self.planner.grow(&self.model),
        }
        if let Some(explorer) = &mut self.explorer {
            explorer.action_added(&self.model, state, moved.as_ref())?;
        }
        Ok(moved)
    }

    /// Learns from one transition: updates the model and restores the values. `None` if the pair is frozen.
    ///
    /// # Complexity
    /// O(1) amortised for planners on small backups.
    pub fn observe(&mut self, transition: &Transition) -> Result<Option<Change>> {
        if let Some(explorer) = &mut self.explorer {
            return explorer.observe(&mut self.model, &mut *self.planner, transition);
        }
        let change = self.model.record(transition)?;
        Ok(self.update_planner(change))
    }

    /// Learns from a transition that counts as `weight` observations, or takes it back if the weight is negative.
    ///
    /// # Errors
    /// As for [`Model::record_weighted`], and if observations fade: then none has its original weight.
    pub fn observe_weighted(&mut self, transition: &Transition, weight: f64) -> Result<Option<Change>> {
        if let Some(explorer) = &mut self.explorer {
            return explorer.observe_weighted(&mut self.model, &mut *self.planner, transition, weight);
        }
        let change = self.model.record_weighted(transition, weight)?;
        Ok(self.update_planner(change))
    }

    /// Learns from `n` transitions to one next state at once, or takes them back; see [`Model::add_counts`].
    ///
    /// # Errors
    /// As for [`Model::add_counts`], and if the agent forgets, since counts have no order in time.
    pub fn add_counts(
        &mut self,
        state: State,
        action: Action,
        next: Next,
        n: i64,
        reward_sum: f64,
    ) -> Result<Option<Change>> {
        if let Some(explorer) = &self.explorer {
            explorer.expect_plain_counts()?;
        }
        let change = self.model.add_counts(state, action, next, n, reward_sum)?;
        let (Some(explorer), Some(changed)) = (&mut self.explorer, &change) else {
            return Ok(self.update_planner(change));
        };
        let transition = Transition { state, action, reward: reward_sum / n as f64, next };
        explorer.take_in(&self.model, &mut *self.planner, &transition, changed, false);
        Ok(change)
    }

    /// Takes back one observed transition, as if it had never happened. O(1) amortised, but O(window) for an agent with
    /// a [window](crate::Forgetting::Window).
    ///
    /// # Errors
    /// As for [`Model::forget`], and if observations fade: then none has its original weight.
    pub fn forget(&mut self, transition: &Transition) -> Result<Option<Change>> {
        self.observe_weighted(transition, -1.0)
    }

    /// Tells the planner what changed in the model, if anything did.
    #[inline]
    fn update_planner(&mut self, change: Option<Change>) -> Option<Change> {
        if let Some(change) = &change {
            self.planner.observe(&self.model, change);
        }
        change
    }

    /// Sets the outcomes of a pair from known probabilities.
    pub fn set_outcomes(&mut self, state: State, action: Action, outcomes: &[Outcome]) -> Result<Pair> {
        let pair = self.model.set_outcomes(state, action, outcomes)?;
        match &mut self.explorer {
            None => self.planner.refresh(&self.model, pair),
            Some(explorer) => {
                explorer.outcomes_set(&self.model, &mut *self.planner, (state, action, pair), outcomes)?;
            }
        }
        Ok(pair)
    }

    /// Plans within a budget: the values to act by.
    pub fn plan(&mut self, budget: Budget<'_>) -> Planned {
        match &mut self.explorer {
            None => plan(&mut *self.planner, &self.model, budget),
            Some(explorer) => explorer.plan(&self.model, &mut *self.planner, budget),
        }
    }

    /// Brings the recommending planner up to date: it absorbs what was observed since, O(successors) per visited pair,
    /// and plans within a budget. For an agent with one planner this is [`plan`](Self::plan).
    pub fn recommend(&mut self, budget: Budget<'_>) -> Planned {
        self.flush();
        plan(&mut *self.planner, &self.model, budget)
    }

    /// Whether something was observed that the recommending planner has not absorbed.
    pub fn is_recommendation_due(&self) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| !explorer.is_flushed())
    }

    /// Lets the recommending planner absorb what was observed.
    fn flush(&mut self) {
        if let Some(explorer) = &mut self.explorer {
            explorer.flush(&self.model, &mut *self.planner);
        }
    }

    /// The most that the recommended policy can lose in the learned model, compared with the best one there; see
    /// [`Planner::loss_bound`]. `None` without discount, and for the baselines.
    ///
    /// # Complexity
    /// O(1), apart from what [`recommend`](Self::recommend) has not absorbed yet.
    pub fn bound(&mut self) -> Option<f64> {
        self.flush();
        self.planner.loss_bound()
    }

    /// For each state an interval that contains the optimal value of the *world*, not of the learned model: all of them at
    /// once with this probability, if every reward lies in the stated range and the world does not change. The
    /// bonuses come from Hoeffding's inequality, so intervals are wide until there are many observations.
    ///
    /// # Complexity
    /// Same as solving the model twice.
    ///
    /// # Errors
    /// If the agent was not built by [`exploring`](Self::exploring) with a range of rewards, forgets, or has discount 1.
    pub fn intervals(&self, confidence: f64) -> Result<Vec<(f64, f64)>> {
        let exploration = self.exploration().copied().unwrap_or_default();
        exploration.intervals(&self.model, self.planner.settings().discount, confidence)
    }

    /// Plans until every value is within `tolerance` of the optimum; see [`crate::solve`].
    pub fn solve(&mut self, tolerance: f64) -> Result<crate::Solution> {
        self.flush();
        crate::solve(&mut *self.planner, &self.model, tolerance)
    }

    /// As [`solve`](Self::solve), but ends when `stop` returns true; see [`crate::solve_unless`].
    pub fn solve_unless(
        &mut self,
        tolerance: f64,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<crate::Solution>> {
        self.flush();
        crate::solve_unless(&mut *self.planner, &self.model, tolerance, stop)
    }

    /// Chooses an action by the policy.
    pub fn act(&self, state: State, random: &mut Random) -> Result<Action> {
        self.policy.choose(&self.model, self.acting_values(), state, random)
    }

    /// Chooses by the policy among some of a state's actions: at least one, each once.
    pub fn act_among(&self, state: State, actions: &[Action], random: &mut Random) -> Result<Action> {
        self.policy.choose_among(&self.model, self.acting_values(), state, actions, random)
    }

    /// The best action by the current values, the first of equally good ones; `None` if the state has no actions.
    pub fn best_action(&self, state: State) -> Option<Action> {
        let mut best: Option<(usize, f64)> = None;
        for (i, pair) in self.planner.values().row(&self.model, state).iter().enumerate() {
            if best.is_none_or(|(_, highest)| pair.value() > highest) {
                best = Some((i, pair.value()));
            }
        }
        best.map(|(i, _)| Action(i as u32))
    }

    /// V(s).
    pub fn value(&self, state: State) -> f64 {
        self.planner.values().value(state)
    }

    /// Q(s,a).
    pub fn action_value(&self, state: State, action: Action) -> Result<f64> {
        Ok(self.planner.values().action_value(self.model.pair(state, action)?))
    }

    /// How exact the values are, and a bound on their distance from the optimum.
    pub fn audit(&self) -> Audit {
        match &self.explorer {
            Some(explorer) if !explorer.is_flushed() => {
                audit(&self.model, &*explorer.flushed(&self.model, &*self.planner))
            }
            _ => audit(&self.model, &*self.planner),
        }
    }

    /// How exact the values are that [`act`](Self::act) uses; for an agent that samples from the posterior, in the
    /// world that it currently acts by.
    pub fn audit_acting(&self) -> Audit {
        let own = self.explorer.as_deref().and_then(|explorer| explorer.audit_acting(&self.model));
        own.unwrap_or_else(|| audit(&self.model, &*self.planner))
    }

    /// How much memory the agent takes.
    pub fn memory(&self) -> Memory {
        let explorer = self.explorer.as_ref().map_or(0, |explorer| explorer.bytes());
        let planner = self.planner.bytes() + explorer;
        Memory { arcs: self.model.arc_bytes(), rows: self.model.row_bytes(), planner }
    }

    /// One interaction with the world: acts in a state, learns from what follows and plans. States are added as they are
    /// visited.
    ///
    /// # Errors
    /// If the environment returns a state, reward or number of actions that the model refuses.
    #[inline]
    pub fn step(
        &mut self,
        environment: &dyn Environment,
        state: State,
        budget: Budget<'_>,
        random: &mut Random,
    ) -> Result<Transition> {
        self.meet(environment, state)?;
        let action = self.act(state, random)?; // l.7
        let Step { reward, next } = environment.step(state, action, random); // l.8
        if let Some(next) = next.state() {
            self.meet(environment, next)?;
        }
        let transition = Transition { state, action, reward, next };
        self.observe(&transition)?;
        self.plan(budget);
        Ok(transition)
    }

    /// Makes sure that a state of an environment, and all with smaller ids, are in the model.
    fn meet(&mut self, environment: &dyn Environment, state: State) -> Result<()> {
        while self.model.n_states() <= state.index() {
            let next = State(self.model.n_states() as u32);
            self.add_state(environment.n_actions(next))?;
        }
        Ok(())
    }
}

/// Bytes in use, not merely reserved; the unfilled part of lists of arcs counts as used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// The model's lists of arcs, in both directions.
    pub arcs: usize,
    /// The model's states and pairs.
    pub rows: usize,
    /// Values and queues; for an exploring agent, also everything it explores with.
    pub planner: usize,
}

impl Memory {
    /// Everything except the arcs.
    pub fn others(&self) -> usize {
        self.rows + self.planner
    }

    /// Everything.
    pub fn total(&self) -> usize {
        self.arcs + self.others()
    }
}
