//! The agent: model, planner and policy in one.

mod snapshot;

use crate::planner::Planned;
use crate::{
    Action, Audit, Budget, Change, Environment, EpsilonGreedy, Explorer, Model, MovedPairs, Next, Outcome,
    Pair, Planner, PlannerKind, Random, Result, Settings, State, Step, Transition, Values, audit, plan,
};

/// A learner: a model of what it saw, a planner that keeps its values, a policy that acts on them.
///
/// An agent made by [`Agent::new`] or [`Agent::from_parts`] has one planner, by which it acts and recommends. One with an
/// [`Explorer`] may act by separate values, with optimism and bonuses: [`act`](Self::act) and [`plan`](Self::plan) use
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
    explorer: Option<Box<dyn Explorer>>,
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

    /// The same agent with an explorer made for its model and planner. `backsweep-explore` builds whole agents.
    pub fn with_explorer(mut self, explorer: Box<dyn Explorer>) -> Self {
        self.explorer = Some(explorer);
        self
    }

    /// What the agent explores with, if it does.
    pub fn explorer(&self) -> Option<&dyn Explorer> {
        self.explorer.as_deref()
    }

    /// Whether the agent acts by other values than it recommends by.
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
        self.explorer.as_ref()?.acting(&self.model)
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
            explorer.state_added(&self.model, state)?;
        }
        Ok(state)
    }

    /// Adds an action to a state.
    pub fn add_action(&mut self, state: State) -> Result<Option<MovedPairs>> {
        let moved = self.model.add_action(state)?;
        match &moved {
            Some(moved) => self.planner.pairs_moved(&self.model, moved),
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
    /// O(1) amortized for planners on small backups.
    pub fn observe(&mut self, transition: &Transition) -> Result<Option<Change>> {
        if let Some(explorer) = &mut self.explorer {
            return explorer.observe(&mut self.model, &mut *self.planner, transition, 1.0);
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
            return explorer.observe(&mut self.model, &mut *self.planner, transition, weight);
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
        if let Some(explorer) = &mut self.explorer {
            let (model, planner) = (&mut self.model, &mut *self.planner);
            return explorer.add_counts(model, planner, (state, action), next, (n, reward_sum));
        }
        let change = self.model.add_counts(state, action, next, n, reward_sum)?;
        Ok(self.update_planner(change))
    }

    /// Takes back one observed transition, as if it had never happened. O(1) amortized, but O(window) for an agent that
    /// remembers a window.
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
            Some(explorer) => explorer.outcomes_set(&self.model, &mut *self.planner, pair, outcomes)?,
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
        self.absorb();
        plan(&mut *self.planner, &self.model, budget)
    }

    /// Whether something was observed that the recommending planner has not absorbed.
    pub fn is_recommendation_due(&self) -> bool {
        self.explorer.as_ref().is_some_and(|explorer| !explorer.has_absorbed())
    }

    /// Lets the recommending planner absorb what was observed.
    fn absorb(&mut self) {
        if let Some(explorer) = &mut self.explorer {
            explorer.absorb(&self.model, &mut *self.planner);
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

    /// How exact the values are, and a bound on their distance from the optimum.
    pub fn audit(&self) -> Audit {
        let absorbed = self.explorer.as_ref().and_then(|own| own.absorbed(&self.model, &*self.planner));
        audit(&self.model, absorbed.as_deref().unwrap_or(&*self.planner))
    }

    /// How exact the values are that [`act`](Self::act) uses; for an agent that samples from the posterior, in the
    /// world that it currently acts by.
    pub fn audit_acting(&self) -> Audit {
        let (model, planner) = self.acting().unwrap_or((&self.model, &*self.planner));
        audit(model, planner)
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
