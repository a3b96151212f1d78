//! The agent: model, planner and policy in one.

mod snapshot;

use crate::episode::{Environment, Step};
use crate::explore::acting::Acting;
use crate::explore::{ConfidenceBonuses, EpsilonGreedy, Exploration, Explore};
use crate::planner::{Audit, Change, Model, Outcome, Pair, Planned, Planner, Values, audit, plan};
use crate::{Action, Budget, Error, Next, PlannerKind, Random, Result, Settings, State, Transition};

/// A learner: a model of what it saw, a planner that keeps its values, a policy that acts on them.
///
/// An agent made by [`Agent::new`] has one planner, by which it acts and recommends. One that explores
/// ([`with_exploration`](Self::with_exploration)) may act by separate values, with optimism and bonuses:
/// [`act`](Self::act) and [`plan`](Self::plan) use those, and everything that is read from the agent
/// ([`best_action`](Self::best_action), [`value`](Self::value), [`planner`](Self::planner), [`audit`](Self::audit),
/// [`bound`](Self::bound)) comes from the recommending planner, which has no optimism and costs nothing until
/// [`recommend`](Self::recommend) brings it up to date.
///
/// ```
/// use backsweep::{Agent, Random, Settings};
/// let mut agent = Agent::new(Settings::default())?;
/// let hall = agent.add_state(4)?;
/// let action = agent.act(hall, &mut Random::from_seed(0))?;
/// assert!(action.0 < 4);
/// # Ok::<(), backsweep::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Agent {
    model: Model,
    /// The planner that recommends; also the one to act by, unless `acting` has another.
    planner: Box<dyn Planner>,
    policy: EpsilonGreedy,
    /// The acting side of an agent that explores.
    acting: Option<Box<Acting>>,
}

impl Agent {
    /// An agent without states that plans with reversed full backups and acts greedily.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn new(settings: Settings) -> Result<Self> {
        Self::with_planner(PlannerKind::default(), settings)
    }

    /// An agent without states that plans with this planner and acts greedily.
    ///
    /// # Errors
    /// If a setting is out of range.
    pub fn with_planner(planner: PlannerKind, settings: Settings) -> Result<Self> {
        Ok(Self::from_parts(Model::new(), planner.build(settings)?, EpsilonGreedy::GREEDY))
    }

    /// An agent made of these parts. The planner learns what the model contains.
    pub fn from_parts(model: Model, mut planner: Box<dyn Planner>, policy: EpsilonGreedy) -> Self {
        planner.grow(&model);
        Self { model, planner, policy, acting: None }
    }

    /// The same agent, before its first observation, exploring and forgetting as [`Exploration`] says.
    ///
    /// # Errors
    /// If a setting is out of range, settings are incompatible, or the planner cannot be rebuilt.
    pub fn with_exploration(self, exploration: Exploration) -> Result<Self> {
        let policy = match exploration.explore {
            Explore::EpsilonGreedy { epsilon } => EpsilonGreedy::new(epsilon)?,
            _ => EpsilonGreedy::GREEDY,
        };
        let planner = self.planner.storable().ok_or(Error::Planner {
            name: "of your own",
            lacks: "has no kind to build it from",
            expected: "one that offers Planner::storable",
        })?;
        let (acting, mut planner) =
            Acting::new(&self.model, planner.kind(), planner.settings(), exploration)?;
        planner.grow(&self.model);
        Ok(Self { model: self.model, planner, policy, acting: Some(Box::new(acting)) })
    }

    /// The way the agent explores, if it was made by [`with_exploration`](Self::with_exploration).
    pub fn exploration(&self) -> Option<&Exploration> {
        self.acting.as_ref().map(|acting| acting.settings())
    }

    /// For each state an interval that contains the optimal value of the *world*, not of the learned model: all of them at
    /// once with this probability, if every reward lies in the stated range and the world does not change. The
    /// bonuses come from Hoeffding's inequality, so intervals are wide until there are many observations.
    ///
    /// # Complexity
    /// Same as planning from scratch twice.
    ///
    /// # Errors
    /// If the agent does not explore with a range of rewards, forgets, has seen its world change, or has discount 1.
    pub fn intervals(&self, confidence: f64) -> Result<Vec<(f64, f64)>> {
        self.confidence_bonuses(confidence)?.intervals(&self.model, self.planner.values().discount())
    }

    /// The problem that [`intervals`](Self::intervals) solves, for another solver.
    ///
    /// # Errors
    /// As [`intervals`](Self::intervals).
    pub fn confidence_bonuses(&self, confidence: f64) -> Result<ConfidenceBonuses> {
        if self.acting.as_ref().is_some_and(|acting| acting.n_changes() > 0) {
            let by = "the world has contradicted what was observed, and that was dropped";
            return Err(Error::RuledOut { by, expected: "a world that does not change" });
        }
        let exploration = self.exploration().copied().unwrap_or_default();
        exploration.confidence_bonuses(&self.model, self.planner.values().discount(), confidence)
    }

    /// Returns whether acting and recommending use separate planners.
    pub fn has_two_planners(&self) -> bool {
        self.acting().is_some()
    }

    /// The planner of the values that [`act`](Self::act) uses. When the agent samples from the posterior, that planner
    /// has its own model, a sampled world with the same states and actions.
    pub fn acting_planner(&self) -> &dyn Planner {
        self.acting().map_or(&*self.planner, |(_, planner)| planner)
    }

    /// The model and the planner to act by, unless they are the agent's own.
    fn acting(&self) -> Option<(&Model, &dyn Planner)> {
        self.acting.as_ref()?.acting(&self.model)
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

    /// The model of all observations.
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
        if let Some(acting) = &mut self.acting {
            acting.state_added(&self.model, state)?;
        }
        Ok(state)
    }

    /// Adds states with these numbers of actions.
    ///
    /// # Errors
    /// If there are too many; none is added then.
    pub fn add_states(&mut self, n_actions: impl IntoIterator<Item = usize>) -> Result<()> {
        let n_actions: Vec<usize> = n_actions.into_iter().collect();
        self.model.check_room(n_actions.len(), n_actions.iter().fold(0, |sum, &n| n.saturating_add(sum)))?;
        n_actions.into_iter().try_for_each(|n| self.add_state(n).map(drop))
    }

    /// Adds an action to a state, and returns it.
    pub fn add_action(&mut self, state: State) -> Result<Action> {
        // No planner follows pairs to new ids whose outcomes it has yet to absorb.
        self.absorb();
        let moved = self.model.add_action(state)?;
        match &moved {
            Some(moved) => self.planner.pairs_moved(&self.model, moved),
            None => self.planner.grow(&self.model),
        }
        if let Some(acting) = &mut self.acting {
            acting.action_added(&self.model, state, moved.as_ref())?;
        }
        Ok(Action(self.model.n_actions(state) as u32 - 1))
    }

    /// Learns from one step: updates the model and restores the values. Returns whether something was recorded: nothing is if
    /// the pair is [frozen](Model::with_freeze_at). `next` is a state, or [`Next::Terminated`] or [`Next::Truncated`].
    ///
    /// # Complexity
    /// O(1) amortized for planners on small backups.
    ///
    /// # Errors
    /// If the state or action does not exist, or the reward is not a finite number of at most 1e150 in magnitude.
    #[inline]
    pub fn observe(
        &mut self,
        state: State,
        action: Action,
        reward: f64,
        next: impl Into<Next>,
    ) -> Result<bool> {
        self.observe_transition(&Transition { state, action, reward, next: next.into() })
    }

    /// As [`observe`](Self::observe), for a step that is already a [`Transition`].
    ///
    /// # Errors
    /// As for `observe`.
    pub fn observe_transition(&mut self, transition: &Transition) -> Result<bool> {
        if let Some(acting) = &mut self.acting {
            return acting.observe(&mut self.model, &mut *self.planner, transition, 1.0);
        }
        let change = self.model.record(transition)?;
        Ok(self.update_planner(change))
    }

    /// Learns from a transition that counts as `weight` observations, or undoes it if the weight is negative. Returns
    /// whether something was recorded.
    ///
    /// # Errors
    /// As for [`Model::record_weighted`], and if observations fade: then none has its original weight.
    pub fn observe_weighted(&mut self, transition: &Transition, weight: f64) -> Result<bool> {
        if let Some(acting) = &mut self.acting {
            return acting.observe(&mut self.model, &mut *self.planner, transition, weight);
        }
        let change = self.model.record_weighted(transition, weight)?;
        Ok(self.update_planner(change))
    }

    /// Learns from `n` transitions to one next state at once, or undoes them; see [`Model::add_counts`]. Returns whether
    /// something was recorded.
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
    ) -> Result<bool> {
        if let Some(acting) = &mut self.acting {
            let (model, planner) = (&mut self.model, &mut *self.planner);
            return acting.add_counts(model, planner, (state, action), next, (n, reward_sum));
        }
        let change = self.model.add_counts(state, action, next, n, reward_sum)?;
        Ok(self.update_planner(change))
    }

    /// Undoes one observed transition, as if it had never happened. O(1) amortized, but O(window) for an agent that
    /// remembers a window.
    ///
    /// Checks: a window knows every observation with its reward, so only one of those can be undone. Otherwise the
    /// pair must have led to this next state often enough; of its rewards only the sum is known (see [`Model::forget`]).
    ///
    /// # Errors
    /// As for [`Model::forget`], and if observations fade: then none has its original weight.
    pub fn forget(&mut self, transition: &Transition) -> Result<bool> {
        self.observe_weighted(transition, -1.0)
    }

    /// Tells the planner what changed in the model, if anything did.
    #[inline]
    fn update_planner(&mut self, change: Option<Change>) -> bool {
        if let Some(change) = &change {
            self.planner.observe(&self.model, change);
        }
        change.is_some()
    }

    /// Sets the outcomes of a pair from known probabilities.
    pub fn set_outcomes(&mut self, state: State, action: Action, outcomes: &[Outcome]) -> Result<Pair> {
        let pair = self.model.set_outcomes(state, action, outcomes)?;
        match &mut self.acting {
            None => self.planner.refresh(&self.model, pair),
            Some(acting) => acting.outcomes_set(&self.model, &mut *self.planner, pair, outcomes)?,
        }
        Ok(pair)
    }

    /// Plans within a budget: the values to act by.
    pub fn plan(&mut self, budget: Budget<'_>) -> Planned {
        match &mut self.acting {
            None => plan(&mut *self.planner, &self.model, budget),
            Some(acting) => acting.plan(&self.model, &mut *self.planner, budget),
        }
    }

    /// Brings the recommending planner up to date: it absorbs what was observed since, O(successors) per visited pair,
    /// and plans within a budget. For an agent with one planner this is [`plan`](Self::plan).
    pub fn recommend(&mut self, budget: Budget<'_>) -> Planned {
        self.absorb();
        plan(&mut *self.planner, &self.model, budget)
    }

    /// Returns whether something was observed that the recommending planner has not absorbed.
    pub fn is_recommendation_due(&self) -> bool {
        self.acting.as_ref().is_some_and(|acting| !acting.has_absorbed())
    }

    /// Lets the recommending planner absorb what was observed.
    fn absorb(&mut self) {
        if let Some(acting) = &mut self.acting {
            acting.absorb(&self.model, &mut *self.planner);
        }
    }

    /// The most that the recommended policy can lose in the learned model, compared with the best one there; see
    /// [`Planner::loss_bound`]. `None` without discount, and for the baselines.
    ///
    /// # Complexity
    /// O(1), apart from what [`recommend`](Self::recommend) has not absorbed yet.
    pub fn bound(&mut self) -> Option<f64> {
        self.absorb();
        self.planner.loss_bound()
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
        for (i, pair) in self.planner.values().pair_values(&self.model, state).iter().enumerate() {
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

    /// The accuracy of the values, and a bound on their distance from the optimum.
    pub fn audit(&self) -> Audit {
        let absorbed = self.acting.as_ref().and_then(|acting| acting.absorbed(&self.model, &*self.planner));
        audit(&self.model, absorbed.as_deref().unwrap_or(&*self.planner))
    }

    /// The accuracy of the values that [`act`](Self::act) uses; for an agent that samples from the posterior, in the
    /// world that it currently acts by.
    pub fn audit_acting(&self) -> Audit {
        let (model, planner) = self.acting().unwrap_or((&self.model, &*self.planner));
        audit(model, planner)
    }

    /// The memory that the agent takes.
    pub fn memory(&self) -> MemoryUse {
        let acting = self.acting.as_ref().map_or(0, |acting| acting.bytes());
        let planner = self.planner.bytes().unwrap_or_else(|| self.planner.values().bytes()) + acting;
        MemoryUse { arcs: self.model.arc_bytes(), rows: self.model.row_bytes(), planner }
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
        self.ensure_state(environment, state)?;
        let action = self.act(state, random)?; // l.7
        let Step { reward, next } = environment.step(state, action, random); // l.8
        if let Some(next) = next.state() {
            self.ensure_state(environment, next)?;
        }
        let transition = Transition { state, action, reward, next };
        self.observe_transition(&transition)?;
        self.plan(budget);
        Ok(transition)
    }

    /// Makes sure that a state of an environment, and all with smaller ids, are in the model.
    fn ensure_state(&mut self, environment: &dyn Environment, state: State) -> Result<()> {
        while self.model.n_states() <= state.index() {
            let next = State(self.model.n_states() as u32);
            self.add_state(environment.n_actions(next))?;
        }
        Ok(())
    }
}

/// Bytes in use, not merely reserved; the unfilled part of lists of arcs counts as used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUse {
    /// The model's lists of arcs, in both directions.
    pub arcs: usize,
    /// The model's states and pairs.
    pub rows: usize,
    /// Values and queues, of a planner that does not know its bytes only the values; for an exploring agent, also everything it explores with.
    pub planner: usize,
}

impl MemoryUse {
    /// Everything except the arcs.
    pub fn others(&self) -> usize {
        self.rows + self.planner
    }

    /// Everything.
    pub fn total(&self) -> usize {
        self.arcs + self.others()
    }
}
