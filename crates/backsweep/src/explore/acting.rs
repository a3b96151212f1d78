//! The acting side of an exploring agent: all that it keeps besides its model and its recommending planner.

use super::achievable_bonus;
use super::pending::Pending;
use super::posterior::Posterior;
use super::statistics::Statistics;
use super::{Exploration, Explore};
use crate::explore::{Forgetting, Optimism};
use crate::forget::window::Window;
use crate::planner::{Change, Model, MovedPairs, Outcome, Pair, Planned, Planner, plan};
use crate::{Action, Budget, Error, Next, PlannerKind, Result, Settings, State, Transition};

/// Everything that an exploring agent keeps besides its model and its recommending planner.
///
/// The agent's own planner *recommends*. There may be other values to *act* by, and the recommending planner then costs nothing
/// until it has to [absorb](Self::absorb) what was observed. The agent passes everything it learns here, to be recorded in the
/// model.
#[derive(Clone, Debug)]
pub(crate) struct Acting {
    pub(super) settings: Exploration,
    pub(super) values: ActingValues,
    /// The changes that the recommending planner has yet to absorb.
    pub(super) pending: Pending,
    pub(super) window: Option<Window>,
    pub(super) statistics: Statistics,
}

/// The values to act by.
#[derive(Clone, Debug)]
pub(super) enum ActingValues {
    /// Those of the recommending planner.
    Recommending,
    /// Those of a planner with optimism and bonuses, on the same model.
    Optimistic(Box<dyn Planner>),
    /// Those of a world drawn from the posterior.
    Drawn(Posterior),
}

impl Acting {
    /// The model and the planner to act by, unless they are the agent's own.
    pub fn acting<'a>(&'a self, model: &'a Model) -> Option<(&'a Model, &'a dyn Planner)> {
        match &self.values {
            ActingValues::Recommending => None,
            ActingValues::Optimistic(planner) => Some((model, &**planner)),
            ActingValues::Drawn(drawn) => Some((&drawn.active().model, &*drawn.active().planner)),
        }
    }

    /// Handles a state that was added to the model.
    pub fn state_added(&mut self, model: &Model, state: State) -> Result<()> {
        self.statistics.grow(model);
        match &mut self.values {
            ActingValues::Recommending => {}
            ActingValues::Optimistic(planner) => planner.grow(model),
            ActingValues::Drawn(drawn) => drawn.add_state(model.n_actions(state))?,
        }
        Ok(())
    }

    /// Handles an action that was added to a state of the model.
    pub fn action_added(&mut self, model: &Model, state: State, moved: Option<&MovedPairs>) -> Result<()> {
        self.statistics.grow(model);
        if let Some(moved) = moved {
            self.statistics.pairs_moved(moved);
        }
        match (&mut self.values, moved) {
            (ActingValues::Recommending, _) => {}
            (ActingValues::Optimistic(planner), Some(moved)) => planner.pairs_moved(model, moved),
            (ActingValues::Optimistic(planner), None) => planner.grow(model),
            (ActingValues::Drawn(drawn), _) => drawn.add_action(state)?,
        }
        Ok(())
    }

    /// Learns from a transition that counts as `weight` observations, or undoes it if the weight is negative.
    pub fn observe(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        weight: f64,
    ) -> Result<bool> {
        if weight == 1.0 {
            return self.observe_once(model, planner, transition);
        }
        if self.statistics.fading.is_some() {
            let by = "observations fade, so none can be undone or count more than another";
            return Err(Error::RuledOut { by, expected: "a weight of 1, or forgetting by a window" });
        }
        if weight > 0.0 {
            self.check_oldest(model)?;
        }
        // A window holds whole observations, and only those can be undone.
        let taken = match &self.window {
            Some(window) if weight < 0.0 => match window.find(transition, -weight) {
                Some(place) => Some(place),
                None => {
                    let (state, action) = (transition.state, transition.action);
                    return Err(Error::NotRecorded { state, action, taken: -weight, recorded: 0.0 });
                }
            },
            _ => None,
        };
        let Some(change) = model.record_weighted(transition, weight)? else { return Ok(false) };
        if let (Some(window), Some(place)) = (&mut self.window, taken) {
            window.remove(place);
        }
        self.pass_on(model, planner, transition, &change, false);
        if weight > 0.0 {
            self.forget_oldest(model, planner, transition, weight)?;
        }
        Ok(true)
    }

    /// Learns from `n` transitions at once; see [`Model::add_counts`].
    pub fn add_counts(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        (state, action): (State, Action),
        next: Next,
        (n, reward_sum): (i64, f64),
    ) -> Result<bool> {
        if self.settings.forgetting != Forgetting::Never {
            let by = "an agent that forgets cannot learn from counts, which have no order in time";
            return Err(Error::RuledOut { by, expected: "observations" });
        }
        let Some(change) = model.add_counts(state, action, next, n, reward_sum)? else { return Ok(false) };
        let transition = Transition { state, action, reward: reward_sum / n as f64, next };
        self.pass_on(model, planner, &transition, &change, false);
        Ok(true)
    }

    /// Handles outcomes of a pair that were set in the model.
    pub fn outcomes_set(
        &mut self,
        model: &Model,
        planner: &mut dyn Planner,
        pair: Pair,
        outcomes: &[Outcome],
    ) -> Result<()> {
        let (state, action) = (model.state_of(pair), model.action_of(pair));
        if let Some(window) = &mut self.window {
            window.clear_pair(state, action);
        }
        self.statistics.row_set(model, pair);
        match &mut self.values {
            ActingValues::Recommending => planner.refresh(model, pair),
            ActingValues::Optimistic(acting) => {
                if let Some(bonuses) = acting.bonuses() {
                    bonuses.set_bonus(model, pair, 0.0);
                }
                acting.refresh(model, pair);
            }
            ActingValues::Drawn(drawn) => drawn.set_outcomes(state, action, outcomes)?,
        }
        self.mark(model, planner, pair);
        Ok(())
    }

    /// Plans the values to act by.
    pub fn plan(&mut self, model: &Model, planner: &mut dyn Planner, budget: Budget<'_>) -> Planned {
        if self.settings.uses_recommended_values() {
            plan(planner, model, recommending_share(budget));
        }
        match &mut self.values {
            ActingValues::Recommending => plan(planner, model, budget),
            ActingValues::Optimistic(planner) => plan(&mut **planner, model, budget),
            ActingValues::Drawn(drawn) => drawn.plan(budget),
        }
    }

    /// Lets the recommending planner absorb what was observed.
    pub fn absorb(&mut self, model: &Model, planner: &mut dyn Planner) {
        self.pending.flush(model, planner);
    }

    /// A copy of the recommending planner that has absorbed everything; `None` if the planner itself has.
    pub fn absorbed(&self, model: &Model, planner: &dyn Planner) -> Option<Box<dyn Planner>> {
        let mut copy = (!self.has_absorbed()).then(|| planner.boxed_clone())?;
        self.pending.clone().flush(model, &mut *copy);
        Some(copy)
    }

    /// The number of times that a pair's history was dropped because the environment contradicted it.
    pub fn n_changes(&self) -> u64 {
        self.statistics.achievable.as_ref().map_or(0, |achievable| achievable.n_changes)
    }

    /// Returns whether the recommending planner has absorbed everything.
    pub fn has_absorbed(&self) -> bool {
        self.pending.is_empty()
    }

    /// Bytes in use, not merely reserved.
    pub fn bytes(&self) -> usize {
        let acting = match &self.values {
            ActingValues::Recommending => 0,
            ActingValues::Optimistic(planner) => planner_bytes(&**planner),
            ActingValues::Drawn(drawn) => drawn.bytes(),
        };
        acting
            + self.pending.bytes()
            + self.window.as_ref().map_or(0, Window::bytes)
            + self.statistics.bytes()
    }
}

impl Acting {
    /// The acting part of an agent that explores, around a model and a recommending planner.
    pub fn new(
        model: &Model,
        kind: PlannerKind,
        settings: Settings,
        exploration: Exploration,
    ) -> Result<(Self, Box<dyn Planner>)> {
        let constants = exploration.check(model, kind, &settings)?;
        let believing = |value| Settings { optimism: Optimism { value, min_visits: 0 }, ..settings };
        let optimistic = match exploration.explore {
            Explore::Optimism(Optimism { min_visits: min_visits @ 2.., .. }) => {
                Settings { optimism: Optimism { value: constants.start, min_visits }, ..settings }
            }
            _ => believing(constants.start),
        };
        let (values, value) = match exploration.explore {
            _ if exploration.has_one_planner() => (ActingValues::Recommending, constants.start),
            Explore::PosteriorSampling { worlds, prior } => {
                let drawn = Posterior::new(worlds, prior, kind, optimistic, &exploration)?;
                (ActingValues::Drawn(drawn), constants.floor)
            }
            _ => (ActingValues::Optimistic(kind.build(optimistic)?), constants.floor),
        };
        let mut acting = Self {
            settings: exploration,
            values,
            pending: Pending::default(),
            window: match exploration.forgetting {
                Forgetting::Window(length) => Some(Window::new(length)),
                _ => None,
            },
            statistics: Statistics::new(&exploration, constants),
        };
        let mut planner = kind.build(believing(value))?;
        planner.grow(model);
        for state in model.states() {
            acting.state_added(model, state)?;
        }
        Ok((acting, planner))
    }

    pub fn settings(&self) -> &Exploration {
        &self.settings
    }

    /// Learns from one transition that counts as one observation.
    fn observe_once(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        transition: &Transition,
    ) -> Result<bool> {
        self.check_oldest(model)?;
        let mut weight = 1.0;
        if self.statistics.fading.is_some() {
            // Checked first: a transition that is refused must not have scaled a row.
            weight = self.fade(model, planner, model.check(transition)?)?;
        }
        let Some(change) = model.record_weighted(transition, weight)? else { return Ok(false) };
        self.statistics.stepped(change.pair, weight);
        self.pass_on(model, planner, transition, &change, true);
        if let ActingValues::Drawn(_) = self.values {
            self.follow(model, transition, &change);
        }
        self.forget_oldest(model, planner, transition, 1.0)?;
        let Statistics { steps, .. } = self.statistics;
        while let Some(pair) = self.statistics.ages.as_mut().and_then(|ages| ages.next_due(steps)) {
            self.renew_bonus(model, planner, pair, 0.0);
        }
        if self.settings.uses_recommended_values() {
            self.follow_recommended(model, planner, &change)?;
        }
        Ok(true)
    }

    /// The weight of the next observation of a pair; its row is scaled down if that is large.
    fn fade(&mut self, model: &mut Model, planner: &mut dyn Planner, pair: Pair) -> Result<f64> {
        let Some(fading) = &self.statistics.fading else { return Ok(1.0) };
        let (weight, factor) = fading.next_weight(model, pair);
        if let Some(factor) = factor {
            model.scale_weights(pair, factor)?;
            self.statistics.row_scaled(model, pair, factor);
            match &mut self.values {
                ActingValues::Recommending => planner.refresh(model, pair),
                ActingValues::Optimistic(acting) => acting.refresh(model, pair),
                ActingValues::Drawn(drawn) => drawn.redraw_pair(model, pair, &self.statistics),
            }
            self.mark(model, planner, pair);
        }
        Ok(weight)
    }

    /// The recommending planner has to recompute a pair: now, if bonuses depend on it, or when it next absorbs what was observed.
    fn mark(&mut self, model: &Model, planner: &mut dyn Planner, pair: Pair) {
        match &self.values {
            ActingValues::Recommending => {}
            _ if self.settings.uses_recommended_values() => planner.refresh(model, pair),
            _ => self.pending.push(model, planner, pair),
        }
    }

    /// Passes a change in the model on to all acting values, and whether it was one new observation.
    fn pass_on(
        &mut self,
        model: &Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        change: &Change,
        is_new: bool,
    ) {
        let pair = change.pair;
        self.statistics.record(model, transition, change, is_new);
        if let ActingValues::Recommending = self.values {
            return planner.observe(model, change);
        }
        if self.settings.uses_recommended_values() {
            planner.observe(model, change);
        } else {
            self.pending.push(model, planner, pair);
        }
        let bonus = self.settings.has_bonus().then(|| self.bonus(model, planner, pair));
        match (&mut self.values, bonus) {
            (ActingValues::Recommending, _) => {}
            (ActingValues::Optimistic(acting), bonus) => match (bonus, acting.bonuses()) {
                (Some(bonus), Some(bonuses)) => bonuses.observe_with_bonus(model, change, bonus),
                _ => acting.observe(model, change),
            },
            (ActingValues::Drawn(drawn), bonus) if is_new => drawn.observe(transition, change.weight, bonus),
            (ActingValues::Drawn(drawn), bonus) => {
                drawn.redraw_pair(model, pair, &self.statistics);
                if let Some(bonus) = bonus {
                    drawn.set_bonus(pair, bonus);
                }
            }
        }
    }

    /// Changes the world to act by when it is time.
    fn follow(&mut self, model: &Model, transition: &Transition, change: &Change) {
        if let ActingValues::Drawn(drawn) = &mut self.values {
            let is_boundary = !matches!(transition.next, Next::Continue(_));
            drawn.follow(model, change, is_boundary, &self.statistics);
        }
    }

    /// Checks that the observation that leaves the window next can be undone, before another is recorded.
    fn check_oldest(&self, model: &Model) -> Result<()> {
        match self.window.as_ref().and_then(Window::leaving) {
            Some((oldest, weight)) => model.check_weighted(oldest, -weight),
            None => Ok(()),
        }
    }

    /// Undoes the observation that leaves the window.
    fn forget_oldest(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        weight: f64,
    ) -> Result<()> {
        let Some(window) = &mut self.window else { return Ok(()) };
        if let Some((oldest, weight)) = window.push(*transition, weight)
            && let Some(change) = model.record_weighted(&oldest, -weight)?
        {
            self.pass_on(model, planner, &oldest, &change, false);
        }
        Ok(())
    }

    /// Updates the start and some bonuses, in turn, to the recommended values; and drops what the world has contradicted.
    fn follow_recommended(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        change: &Change,
    ) -> Result<()> {
        if self.settings.forgetting == Forgetting::Never
            && model.freeze_at().is_none()
            && let Some(achievable) = &self.statistics.achievable
            && let Some((next, rewards)) = achievable.contradiction(model, change)
        {
            let next: Vec<(State, f64)> = next.map(|state| (state, 2.0)).into_iter().collect();
            model.set_weights(change.pair, &next, if next.is_empty() { 2.0 } else { 0.0 }, rewards)?;
            self.statistics.row_dropped(model, change, [rewards - change.reward, change.reward]);
            planner.refresh(model, change.pair);
            if let ActingValues::Optimistic(acting) = &mut self.values {
                acting.refresh(model, change.pair);
            }
            self.renew_bonus(model, planner, change.pair, 0.0);
        }
        let Statistics { achievable: Some(achievable), constants, .. } = &mut self.statistics else {
            return Ok(());
        };
        let ActingValues::Optimistic(acting) = &mut self.values else { return Ok(()) };
        achievable.note_value(planner.values().value(change.state));
        if !constants.is_start_stated
            && let Some(start) = achievable.new_start(constants)
            && let (Some(kind), Some(settings)) = (acting.kind(), acting.settings())
        {
            // From scratch, at values no higher than the new start: lowered, those built on the old one would take as many
            // sweeps as a reward that lasts forever is worth.
            let optimism = Optimism { value: start, ..settings.optimism };
            let mut fresh = kind.build(Settings { optimism, ..settings })?;
            fresh.grow(model);
            if let Some(bonuses) = fresh.bonuses() {
                for pair in model.states().flat_map(|state| model.pairs(state)) {
                    bonuses.set_bonus(model, pair, acting.values().bonus(pair));
                }
            }
            plan(&mut *fresh, model, Budget::Cycles(4 * model.n_states() as u64));
            *acting = fresh;
        }
        for _ in 0..achievable_bonus::RENEWED {
            let achievable = self.statistics.achievable.as_mut();
            if let Some(pair) = achievable.and_then(|achievable| achievable.next_in_turn(model, planner)) {
                self.renew_bonus(model, planner, pair, achievable_bonus::TOLERANCE);
            }
        }
        Ok(())
    }

    /// The current bonus of a pair.
    fn bonus(&mut self, model: &Model, planner: &dyn Planner, pair: Pair) -> f64 {
        let acting = match &self.values {
            ActingValues::Recommending => return 0.0,
            ActingValues::Optimistic(acting) => &**acting,
            ActingValues::Drawn(drawn) => &*drawn.active().planner,
        };
        self.statistics.bonus(&self.settings, model, [acting, planner], pair)
    }

    /// Updates the bonus of a pair, if it is off by more than this fraction.
    fn renew_bonus(&mut self, model: &Model, planner: &dyn Planner, pair: Pair, tolerance: f64) {
        let bonus = self.bonus(model, planner, pair);
        match &mut self.values {
            ActingValues::Optimistic(acting)
                if (acting.values().bonus(pair) - bonus).abs() > tolerance * bonus =>
            {
                if let Some(bonuses) = acting.bonuses() {
                    bonuses.set_bonus(model, pair, bonus);
                }
            }
            ActingValues::Recommending | ActingValues::Optimistic(_) => {}
            ActingValues::Drawn(drawn) => drawn.set_bonus(pair, bonus),
        }
    }
}

/// The share of a budget that the recommending planner gets where bonuses depend on it: the values change slowly, and planning must
/// end in time.
fn recommending_share(budget: Budget<'_>) -> Budget<'_> {
    const MAX_CYCLES: u64 = 20;
    match budget {
        Budget::Cycles(n) => Budget::Cycles(n.min(MAX_CYCLES)),
        Budget::Until { max_cycles, .. } => Budget::Cycles(max_cycles.min(MAX_CYCLES)),
        Budget::UntilStopped(_) => Budget::Cycles(MAX_CYCLES),
    }
}

/// Bytes in use; only for the values of a planner that does not know.
pub(super) fn planner_bytes(planner: &dyn Planner) -> usize {
    planner.bytes().unwrap_or_else(|| planner.values().bytes())
}
