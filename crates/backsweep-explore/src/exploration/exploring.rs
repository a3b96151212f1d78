//! What an exploring agent keeps besides its model and its recommending planner.

use super::pending::Pending;
use super::posterior::Posterior;
use super::statistics::Statistics;
use super::surprise_bonus;
use super::window::Window;
use super::{Exploration, Explore, Forgetting};
use backsweep::{
    Action, Budget, Change, Error, Explorer, Model, MovedPairs, Next, Optimism, Outcome, Pair, Planned,
    Planner, PlannerKind, Result, Settings, Snapshot, State, Transition, plan,
};
use std::any::Any;

#[derive(Clone, Debug)]
pub(super) struct Exploring {
    pub(super) settings: Exploration,
    pub(super) acting: Acting,
    /// What the recommending planner has yet to absorb.
    pub(super) pending: Pending,
    pub(super) window: Option<Window>,
    pub(super) statistics: Statistics,
}

/// The values to act by.
#[derive(Clone, Debug)]
pub(super) enum Acting {
    /// Those of the recommending planner.
    Recommending,
    /// Those of a planner with optimism and bonuses, on the same model.
    Optimistic(Box<dyn Planner>),
    /// Those of a world drawn from the posterior.
    Drawn(Posterior),
}

impl Explorer for Exploring {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed_clone(&self) -> Box<dyn Explorer> {
        Box::new(self.clone())
    }

    fn acting<'a>(&'a self, model: &'a Model) -> Option<(&'a Model, &'a dyn Planner)> {
        match &self.acting {
            Acting::Recommending => None,
            Acting::Optimistic(planner) => Some((model, &**planner)),
            Acting::Drawn(drawn) => Some((&drawn.active().model, &*drawn.active().planner)),
        }
    }

    fn state_added(&mut self, model: &Model, state: State) -> Result<()> {
        self.statistics.grow(model);
        match &mut self.acting {
            Acting::Recommending => {}
            Acting::Optimistic(planner) => planner.grow(model),
            Acting::Drawn(drawn) => drawn.add_state(model.n_actions(state))?,
        }
        Ok(())
    }

    fn action_added(&mut self, model: &Model, state: State, moved: Option<&MovedPairs>) -> Result<()> {
        self.statistics.grow(model);
        if let Some(moved) = moved {
            self.pending.pairs_moved(moved);
            self.statistics.pairs_moved(moved);
        }
        match (&mut self.acting, moved) {
            (Acting::Recommending, _) => {}
            (Acting::Optimistic(planner), Some(moved)) => planner.pairs_moved(model, moved),
            (Acting::Optimistic(planner), None) => planner.grow(model),
            (Acting::Drawn(drawn), _) => drawn.add_action(state)?,
        }
        Ok(())
    }

    fn observe(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        weight: f64,
    ) -> Result<Option<Change>> {
        if weight == 1.0 {
            return self.observe_once(model, planner, transition);
        }
        if self.statistics.fading.is_some() {
            return Err(Error::Exploration {
                problem: "observations fade, so none can be taken back or count more than another; expected a weight of 1, \
                          or Forgetting by a window"
                    .into(),
            });
        }
        // A window holds whole observations, and only those can be taken back.
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
        let Some(change) = model.record_weighted(transition, weight)? else { return Ok(None) };
        if let (Some(window), Some(place)) = (&mut self.window, taken) {
            window.remove(place);
        }
        self.take_in(model, planner, transition, &change, false);
        if weight > 0.0 {
            self.forget_oldest(model, planner, transition, weight)?;
        }
        Ok(Some(change))
    }

    fn add_counts(
        &mut self,
        model: &mut Model,
        planner: &mut dyn Planner,
        (state, action): (State, Action),
        next: Next,
        (n, reward_sum): (i64, f64),
    ) -> Result<Option<Change>> {
        if self.settings.forgetting != Forgetting::Never {
            let problem = "an agent that forgets cannot take in counts, which have no order in time; expected observations";
            return Err(Error::Exploration { problem: problem.into() });
        }
        let Some(change) = model.add_counts(state, action, next, n, reward_sum)? else { return Ok(None) };
        let transition = Transition { state, action, reward: reward_sum / n as f64, next };
        self.take_in(model, planner, &transition, &change, false);
        Ok(Some(change))
    }

    fn outcomes_set(
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
        self.statistics.row_set(pair);
        match &mut self.acting {
            Acting::Recommending => planner.refresh(model, pair),
            Acting::Optimistic(acting) => {
                acting.set_bonus(model, pair, 0.0);
                acting.refresh(model, pair);
            }
            Acting::Drawn(drawn) => drawn.set_outcomes(state, action, outcomes)?,
        }
        self.pending.push(pair);
        Ok(())
    }

    fn plan(&mut self, model: &Model, planner: &mut dyn Planner, budget: Budget<'_>) -> Planned {
        match &mut self.acting {
            Acting::Recommending => plan(planner, model, budget),
            Acting::Optimistic(planner) => plan(&mut **planner, model, budget),
            Acting::Drawn(drawn) => drawn.plan(budget),
        }
    }

    fn absorb(&mut self, model: &Model, planner: &mut dyn Planner) {
        self.pending.flush(model, planner);
    }

    fn absorbed(&self, model: &Model, planner: &dyn Planner) -> Option<Box<dyn Planner>> {
        let mut copy = (!self.has_absorbed()).then(|| planner.boxed_clone())?;
        self.pending.clone().flush(model, &mut *copy);
        Some(copy)
    }

    fn has_absorbed(&self) -> bool {
        self.pending.is_empty()
    }

    fn bytes(&self) -> usize {
        let acting = match &self.acting {
            Acting::Recommending => 0,
            Acting::Optimistic(planner) => planner.bytes(),
            Acting::Drawn(drawn) => drawn.bytes(),
        };
        acting
            + self.pending.bytes()
            + self.window.as_ref().map_or(0, Window::bytes)
            + self.statistics.bytes()
    }

    fn store(&self, model: &Model, planner: &dyn Planner, snapshot: &mut Snapshot) {
        self.put(model, planner, snapshot);
    }
}

impl Exploring {
    /// The exploring part of an agent, around a model and a recommending planner.
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
        let (acting, value) = match exploration.explore {
            _ if exploration.has_one_planner() => (Acting::Recommending, constants.start),
            Explore::PosteriorSampling { worlds, prior } => {
                let drawn = Posterior::new(worlds, prior, kind, optimistic, &exploration)?;
                (Acting::Drawn(drawn), constants.floor)
            }
            _ => (Acting::Optimistic(kind.build(optimistic)?), constants.floor),
        };
        let mut explorer = Self {
            settings: exploration,
            acting,
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
            explorer.state_added(model, state)?;
        }
        Ok((explorer, planner))
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
    ) -> Result<Option<Change>> {
        let mut weight = 1.0;
        if self.statistics.fading.is_some() {
            // Checked first: a transition that is refused must not have scaled a row.
            weight = self.fade(model, planner, model.check(transition)?)?;
        }
        let Some(change) = model.record_weighted(transition, weight)? else { return Ok(None) };
        self.statistics.stepped(change.pair, weight);
        self.take_in(model, planner, transition, &change, true);
        if let Acting::Drawn(_) = self.acting {
            self.follow(model, transition, &change);
        }
        self.forget_oldest(model, planner, transition, 1.0)?;
        let Statistics { steps, .. } = self.statistics;
        while let Some(pair) = self.statistics.ages.as_mut().and_then(|ages| ages.next_due(steps)) {
            self.renew_bonus(model, pair, 0.0);
        }
        if self.statistics.surprise.is_some() {
            for _ in 0..surprise_bonus::RENEWED {
                let surprise = self.statistics.surprise.as_mut();
                if let Some(pair) = surprise.and_then(|surprise| surprise.next_in_turn(model)) {
                    self.renew_bonus(model, pair, surprise_bonus::TOLERANCE);
                }
            }
        }
        Ok(Some(change))
    }

    /// The weight of the next observation of a pair; its row is scaled down if that is large.
    fn fade(&mut self, model: &mut Model, planner: &mut dyn Planner, pair: Pair) -> Result<f64> {
        let Some(fading) = &self.statistics.fading else { return Ok(1.0) };
        let (weight, factor) = fading.next_weight(model, pair);
        if let Some(factor) = factor {
            model.scale_weights(pair, factor)?;
            self.statistics.row_scaled(pair, factor);
            match &mut self.acting {
                Acting::Recommending => planner.refresh(model, pair),
                Acting::Optimistic(acting) => acting.refresh(model, pair),
                Acting::Drawn(drawn) => drawn.redraw_pair(model, pair, &self.statistics),
            }
            self.pending.push(pair);
        }
        Ok(weight)
    }

    /// Passes a change in the model on to all acting values, and whether it was one new observation.
    fn take_in(
        &mut self,
        model: &Model,
        planner: &mut dyn Planner,
        transition: &Transition,
        change: &Change,
        is_new: bool,
    ) {
        let pair = change.pair;
        self.statistics.take_in(model, transition, change, is_new);
        if let Acting::Recommending = self.acting {
            return planner.observe(model, change);
        }
        self.pending.push(pair);
        let bonus = self.settings.has_bonus().then(|| self.bonus(model, pair));
        match (&mut self.acting, bonus) {
            (Acting::Recommending, _) => {}
            (Acting::Optimistic(acting), Some(bonus)) => acting.observe_with_bonus(model, change, bonus),
            (Acting::Optimistic(acting), None) => acting.observe(model, change),
            (Acting::Drawn(drawn), bonus) if is_new => drawn.observe(transition, change.weight, bonus),
            (Acting::Drawn(drawn), bonus) => {
                drawn.redraw_pair(model, pair, &self.statistics);
                if let Some(bonus) = bonus {
                    drawn.set_bonus(pair, bonus);
                }
            }
        }
    }

    /// Changes the world to act by when it is time.
    fn follow(&mut self, model: &Model, transition: &Transition, change: &Change) {
        if let Acting::Drawn(drawn) = &mut self.acting {
            let is_boundary = !matches!(transition.next, Next::Continue(_));
            drawn.follow(model, change, is_boundary, &self.statistics);
        }
    }

    /// Takes back the observation that leaves the window.
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
            self.take_in(model, planner, &oldest, &change, false);
        }
        Ok(())
    }

    /// The current bonus of a pair.
    fn bonus(&self, model: &Model, pair: Pair) -> f64 {
        let acting = self.acting(model);
        acting.map_or(0.0, |(_, acting)| self.statistics.bonus(&self.settings, model, acting, pair))
    }

    /// Updates the bonus of a pair, if it is off by more than this fraction.
    fn renew_bonus(&mut self, model: &Model, pair: Pair, tolerance: f64) {
        let bonus = self.bonus(model, pair);
        match &mut self.acting {
            Acting::Optimistic(acting) if (acting.values().bonus(pair) - bonus).abs() > tolerance * bonus => {
                acting.set_bonus(model, pair, bonus);
            }
            Acting::Recommending | Acting::Optimistic(_) => {}
            Acting::Drawn(drawn) => drawn.set_bonus(pair, bonus),
        }
    }
}
