//! Worlds drawn from the posterior, in O(1) per observation.
//!
//! Each observation is recorded in every world with a weight drawn from the exponential distribution. The weights of a
//! pair's successors, divided by their sum, are then a draw from the Dirichlet distribution of the counts, which is the
//! posterior of the probabilities; and the mean reward is weighted in the same way (Rubin's Bayesian bootstrap). What the
//! agent does depends on the world it acts by, so a used world is redrawn from the counts as a whole: after that it is
//! independent of its own past.
//!
//! A world lasts for an episode. In a world without ends, it lasts one step longer than the last, or until a pair has been
//! visited twice as often (Ouyang, Gagrani, Nayyar & Jain, *Learning unknown Markov decision processes: a Thompson sampling
//! approach*, 2017).
//!
//! The prior is an imaginary outcome of every pair: it stays in its state and receives the reward that, received forever,
//! gives the value of an untried pair. Its weight is drawn from the gamma distribution of the prior's. An untried pair thus
//! has that value, and one seen n times gets about `prior / (prior + n)` of the highest reward in addition to what was
//! observed. Without a prior, a single observation leaves no doubt. A Dirichlet prior over all states would need as many
//! arcs per pair as there are states, and an outcome that *is* the highest value forever explores ten times too long
//! (RiverSwim: regret 1,550 instead of 65).

use super::Exploration;
use super::acting::planner_bytes;
use super::draws::{exponential, gamma, normal};
use super::statistics::{MAX_STEPS, Statistics};
use crate::forget::fading::LARGE;
use crate::planner::{Change, Model, Outcome, Pair, Planner, Snapshot, plan};
use crate::{Action, Budget, PlannerKind, Random, Result, Settings, State, Transition};

/// Update cycles that an observation pays for when the world changes.
const CYCLES_PER_OBSERVATION: u64 = 16;
/// The credit per observation towards redrawing a world, in arcs and pairs.
const CREDIT: u64 = 4;

#[derive(Clone, Debug)]
pub(super) struct DrawnWorld {
    pub model: Model,
    pub planner: Box<dyn Planner>,
}

/// The posterior of a pair's rewards: their mean, and the standard deviation of its posterior.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeanReward {
    pub mean: f64,
    pub deviation: f64,
}

#[derive(Clone, Debug)]
pub(super) struct Posterior {
    worlds: Vec<DrawnWorld>,
    /// The world to act by.
    active: usize,
    random: Random,
    prior: f64,
    /// The value of an untried pair.
    start: f64,
    /// Observations since the world was changed, and before that.
    steps: u64,
    last_steps: u64,
    /// True if an episode has terminated or was truncated.
    is_episodic: bool,
    credit: u64,
}

impl Posterior {
    pub fn new(
        n_worlds: u32,
        prior: f64,
        kind: PlannerKind,
        settings: Settings,
        exploration: &Exploration,
    ) -> Result<Self> {
        let world = || Ok(DrawnWorld { model: Model::new(), planner: kind.build(settings)? });
        Ok(Self {
            worlds: (0..n_worlds).map(|_| world()).collect::<Result<_>>()?,
            active: 0,
            random: Random::stream(exploration.seed, &[0xD1CE]),
            prior,
            start: settings.optimism.value,
            steps: 0,
            last_steps: 0,
            is_episodic: false,
            credit: 0,
        })
    }

    pub fn active(&self) -> &DrawnWorld {
        &self.worlds[self.active]
    }

    pub fn plan(&mut self, budget: Budget<'_>) -> crate::planner::Planned {
        let DrawnWorld { model, planner } = &mut self.worlds[self.active];
        plan(&mut **planner, model, budget)
    }

    /// Adds a state that the model has and the worlds lack.
    pub fn add_state(&mut self, n_actions: usize) -> Result<()> {
        for i in 0..self.worlds.len() {
            let DrawnWorld { model, planner } = &mut self.worlds[i];
            let state = model.add_state(n_actions)?;
            planner.grow(model);
            for pair in model.pairs(state) {
                self.imagine(i, pair);
            }
        }
        Ok(())
    }

    /// Adds an action that the model has and the worlds lack.
    pub fn add_action(&mut self, state: State) -> Result<()> {
        for i in 0..self.worlds.len() {
            let DrawnWorld { model, planner } = &mut self.worlds[i];
            match model.add_action(state)? {
                Some(moved) => planner.pairs_moved(model, &moved),
                None => planner.grow(model),
            }
            if let Some(pair) = model.pairs(state).last() {
                self.imagine(i, pair);
            }
        }
        Ok(())
    }

    /// Gives a pair without observations its prior.
    fn imagine(&mut self, world: usize, pair: Pair) {
        if self.prior > 0.0 {
            self.set_weights(world, pair, Vec::new(), 0.0, 0.0, 1.0);
        }
    }

    pub fn set_outcomes(&mut self, state: State, action: Action, outcomes: &[Outcome]) -> Result<()> {
        for DrawnWorld { model, planner } in &mut self.worlds {
            let pair = model.set_outcomes(state, action, outcomes)?;
            if let Some(bonuses) = planner.bonuses() {
                bonuses.set_bonus(model, pair, 0.0);
            }
            planner.refresh(model, pair);
        }
        Ok(())
    }

    pub fn set_bonus(&mut self, pair: Pair, bonus: f64) {
        for DrawnWorld { model, planner } in &mut self.worlds {
            if let Some(bonuses) = planner.bonuses() {
                bonuses.set_bonus(model, pair, bonus);
            }
        }
    }

    /// Records one observation; `unit` is its weight in the model.
    pub fn observe(&mut self, transition: &Transition, unit: f64, bonus: Option<f64>) {
        for DrawnWorld { model, planner } in &mut self.worlds {
            let weight = unit * exponential(&mut self.random);
            // What the model has accepted fits the worlds too.
            let Ok(Some(change)) = model.record_weighted(transition, weight) else { continue };
            match (bonus, planner.bonuses()) {
                (Some(bonus), Some(bonuses)) => bonuses.observe_with_bonus(model, &change, bonus),
                _ => planner.observe(model, &change),
            }
        }
    }

    /// Redraws a pair of every world, after something other than an observation changed its counts.
    pub fn redraw_pair(&mut self, main: &Model, pair: Pair, statistics: &Statistics) {
        for world in 0..self.worlds.len() {
            self.redraw(world, main, pair, statistics);
        }
    }

    fn redraw(&mut self, world: usize, main: &Model, pair: Pair, statistics: &Statistics) {
        if main.is_given(pair) {
            return; // what is known is not drawn
        }
        // Completely faded observations need no exact count.
        let (unit, reward) = (statistics.unit(pair).min(LARGE), statistics.mean_reward(main, pair));
        let mut draw = |weight: f64| unit * gamma(&mut self.random, weight / unit);
        let arcs: Vec<(State, f64)> =
            main.successors(pair).map(|next| (next.state, draw(next.weight))).collect();
        let ended = draw(main.ended_weight(pair));
        let weight = ended + arcs.iter().map(|(_, weight)| weight).sum::<f64>();
        let mean = reward.mean + reward.deviation * normal(&mut self.random);
        self.set_weights(world, pair, arcs, ended, weight * mean, unit);
    }

    /// Sets the weights of a pair in a world, including the imagined outcome.
    fn set_weights(
        &mut self,
        world: usize,
        pair: Pair,
        mut arcs: Vec<(State, f64)>,
        mut ended: f64,
        mut reward_sum: f64,
        unit: f64,
    ) {
        let DrawnWorld { model, planner } = &mut self.worlds[world];
        let (imagined, discount) = (unit * gamma(&mut self.random, self.prior), planner.values().discount());
        let state = model.state_of(pair);
        if discount == 1.0 {
            // Without discount a reward forever has no value: the value is received at once, and the episode ends.
            ended += imagined;
            reward_sum += imagined * self.start;
        } else {
            match arcs.iter_mut().find(|(next, _)| *next == state) {
                Some((_, weight)) => *weight += imagined,
                None => arcs.push((state, imagined)),
            }
            reward_sum += imagined * self.start * (1.0 - discount);
        }
        // A draw may exceed the range of weights or rewards, if the counts are close to it: the world then keeps the last one.
        if model.set_weights(pair, &arcs, ended, reward_sum).is_ok() {
            planner.refresh(model, pair);
        }
    }

    /// Changes the world if it has lasted long enough. O(1) amortized: the observations since have paid for planning in the
    /// next one, and for redrawing the previous one.
    pub fn follow(&mut self, main: &Model, change: &Change, is_boundary: bool, statistics: &Statistics) {
        let cost = (main.n_arcs() + main.n_pairs()) as u64;
        self.credit = (self.credit + CREDIT).min(cost);
        self.steps = (self.steps + 1).min(MAX_STEPS);
        self.is_episodic |= is_boundary;
        let exponent = |weight: f64| weight.to_bits() >> 52;
        let doubles = exponent(change.weight_after) > exponent(change.weight_before);
        let is_over = if self.is_episodic { is_boundary } else { doubles || self.steps > self.last_steps };
        if !is_over {
            return;
        }
        let max_cycles = (CYCLES_PER_OBSERVATION * self.steps).min(16 + 4 * main.n_states() as u64);
        (self.last_steps, self.steps) = (self.steps, 0);
        let left = self.active;
        self.active = (self.active + 1) % self.worlds.len();
        if self.credit >= cost {
            self.credit = 0;
            for pair in (0..main.n_pairs() as u32).map(Pair).filter(|&pair| main.is_in_use(pair)) {
                self.redraw(left, main, pair, statistics);
            }
        }
        self.plan(Budget::Until { tolerance: 0.0, max_cycles });
    }

    pub fn bytes(&self) -> usize {
        self.worlds.iter().map(|world| world.model.bytes() + planner_bytes(&*world.planner)).sum()
    }

    pub fn store(&self, snapshot: &mut Snapshot) {
        snapshot.put("explore.random", self.random.state().to_vec());
        let flags = [self.active as u64, self.steps, self.last_steps, self.is_episodic.into(), self.credit];
        snapshot.put("explore.epoch", flags.to_vec());
        for (i, DrawnWorld { model, planner }) in self.worlds.iter().enumerate() {
            let mut world = Snapshot::new();
            model.store(&mut world);
            if let Some(planner) = planner.storable() {
                planner.store(&mut world);
            }
            snapshot.put_part(&format!("world{i}."), &world);
        }
    }

    pub fn restore(
        mut self,
        main: &Model,
        kind: PlannerKind,
        settings: Settings,
        snapshot: &Snapshot,
    ) -> Result<Self> {
        self.random = snapshot.random("explore.random")?;
        let [active, steps, last_steps, is_episodic, credit] = snapshot.counts("explore.epoch")?;
        let is_too_many = |n: u64| n > MAX_STEPS;
        if active >= self.worlds.len() as u64 || [steps, last_steps, credit].into_iter().any(is_too_many) {
            return Err(Snapshot::problem("explore.epoch", "a number is out of range"));
        }
        (self.active, self.steps, self.last_steps) = (active as usize, steps, last_steps);
        (self.is_episodic, self.credit) = (is_episodic != 0, credit);
        for (i, world) in self.worlds.iter_mut().enumerate() {
            let part = snapshot.part(&format!("world{i}."));
            world.model = Model::restore(&part)?;
            world.planner = kind.restore(settings, &world.model, &part)?;
            let has_same_rows = world.model.n_states() == main.n_states()
                && main.states().all(|state| main.pairs(state).eq(world.model.pairs(state)));
            if !has_same_rows {
                let problem = format!("world {i} does not have the states and actions of the model");
                return Err(Snapshot::problem("explore", &problem));
            }
        }
        Ok(self)
    }
}
