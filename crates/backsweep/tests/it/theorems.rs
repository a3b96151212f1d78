//! The paper's theorems for control (3.3 and 3.4) as properties, checked after every step of random sequences; those for
//! prediction (3.1 and 3.2) are in the crate `backsweep-predict`.
//!
//! Worlds are random: self-loops, terminal states, ends, truncations, uneven action sets, states and actions added midway,
//! transitions undone, rows replaced, cycles cut at every possible place with observations in between. The relation
//!
//! > Q(s,a) = R̂ + b + γ Σ P̂ U(s')   (relation 11, with a bonus b in every second sequence)
//!
//! is recomputed from the test's own counts ([`Book`]), and U is followed by the test itself: a model update (Theorem 3.4)
//! leaves every U as it was; an update cycle (Theorem 3.3) moves the U of exactly one state, the one that the test finds to
//! be the most urgent, to its value, and of no other.

use crate::common;
use crate::common::Book;
use backsweep::explore::Optimism;
use backsweep::planner::{
    Cycle, Model, Outcome, Planner, QueueKind, ReversedFullBackups, SmallBackups, audit,
};
use backsweep::{Action, Agent, Next, Random, Settings, State, Transition};
use std::collections::BTreeMap;

/// U of each arc seen: (state, action, next state) → the value on which Q(state, action) is built.
type Seen = BTreeMap<(usize, usize, usize), f64>;

/// One random sequence: the planner under test and the test's own bookkeeping.
struct Sequence<P> {
    random: Random,
    planner: P,
    model: Model,
    book: Book,
    /// The transitions that were recorded and can be undone.
    recorded: Vec<Transition>,
    /// The test's own U by arc.
    seen: Seen,
    /// The test's own U by state: what a new predecessor of the state will use.
    u: Vec<f64>,
    /// The cycle under way: its state.
    under_way: Option<usize>,
    /// The bonuses of pairs, if the sequence has any.
    bonuses: Option<BTreeMap<(usize, usize), f64>>,
    place: String,
}

/// The two planners on small backups differ in when V moves.
trait Follow: Planner + Sized {
    fn build(settings: Settings) -> Self;
    /// The priorities that the definition gives, by state.
    fn priorities(sequence: &Sequence<Self>) -> Vec<f64>;
    /// V of a state when it is popped.
    fn popped_value(sequence: &Sequence<Self>, state: usize) -> f64;
    /// Checks what must hold for V at all times.
    fn check_values(sequence: &Sequence<Self>);
    /// The state was popped.
    fn popped(_sequence: &mut Sequence<Self>, _state: usize) {}
}

impl Follow for ReversedFullBackups {
    fn build(settings: Settings) -> Self {
        Self::new(settings).unwrap()
    }

    fn priorities(sequence: &Sequence<Self>) -> Vec<f64> {
        (0..sequence.u.len()).map(|s| (sequence.v(s) - sequence.u[s]).abs()).collect()
    }

    fn popped_value(sequence: &Sequence<Self>, state: usize) -> f64 {
        sequence.v(state)
    }

    fn check_values(sequence: &Sequence<Self>) {
        for s in 0..sequence.u.len() {
            assert_eq!(sequence.v(s), sequence.max_q(s), "{}: V({s}) is not max Q", sequence.place);
        }
        // Queued if and only if the priority is above the threshold, with that priority.
        let threshold = sequence.planner.storable().unwrap().settings().threshold;
        let priorities = Self::priorities(sequence);
        for (s, &priority) in priorities.iter().enumerate() {
            let found = sequence.planner.queue().unwrap().priority(&sequence.model, State(s as u32));
            if priority > threshold {
                sequence.check_priority(s, found, priority);
            } else {
                assert_eq!(found, 0.0, "{}: state {s} is queued", sequence.place);
            }
        }
        let n_queued = priorities.iter().filter(|&&priority| priority > threshold).count();
        assert_eq!(sequence.planner.queue().unwrap().n_queued(), n_queued, "{}", sequence.place);
    }
}

impl Follow for SmallBackups {
    fn build(settings: Settings) -> Self {
        Self::new(settings).unwrap()
    }

    /// Priorities are only promoted, so the definition gives a lower bound; the planner's own are used for the order.
    fn priorities(sequence: &Sequence<Self>) -> Vec<f64> {
        (0..sequence.u.len())
            .map(|s| sequence.planner.queue().unwrap().priority(&sequence.model, State(s as u32)))
            .collect()
    }

    fn popped_value(sequence: &Sequence<Self>, state: usize) -> f64 {
        sequence.max_q(state)
    }

    fn check_values(sequence: &Sequence<Self>) {
        let threshold = sequence.planner.storable().unwrap().settings().threshold;
        for s in 0..sequence.u.len() {
            let q_prev = |pair| sequence.planner.previous_action_value(pair);
            let pairs = || sequence.model.pairs(State(s as u32));
            if pairs().len() == 0 {
                assert_eq!(sequence.v(s), 0.0, "{}: V({s})", sequence.place);
                continue;
            }
            let highest = pairs().map(q_prev).fold(f64::NEG_INFINITY, f64::max);
            assert_eq!(sequence.v(s), highest, "{}: V({s}) is not max Q_prev", sequence.place);
            // V moves only when its state is popped, and all predecessors use V: U and V are the same.
            assert_eq!(sequence.v(s), sequence.u[s], "{}: V({s}) moved without a pop", sequence.place);
            // Everything that changed is queued, with at least that priority.
            let q = |pair| sequence.planner.values().action_value(pair);
            let change = pairs().map(|pair| (q(pair) - q_prev(pair)).abs()).fold(0.0, f64::max);
            let found = sequence.planner.queue().unwrap().priority(&sequence.model, State(s as u32));
            if change > threshold {
                assert!(found >= change / 1.0000001, "{}: state {s}, {found} < {change}", sequence.place);
            }
        }
    }

    fn popped(sequence: &mut Sequence<Self>, state: usize) {
        // Line 15: Q_prev is the Q of the pop; nothing but self-loops has moved Q since.
        let state = State(state as u32);
        for pair in sequence.model.pairs(state) {
            let has_loop = sequence.model.successors(pair).any(|s| s.state == state);
            if !has_loop {
                let q = sequence.planner.values().action_value(pair);
                assert_eq!(sequence.planner.previous_action_value(pair), q, "{}: Q_prev", sequence.place);
            }
        }
    }
}

impl<P: Follow> Sequence<P> {
    fn new(seed: u64) -> Self {
        let mut random = Random::stream(seed, &[1]);
        let pick = |random: &mut Random, from: &[f64]| from[random.below(from.len() as u32) as usize];
        let settings = Settings {
            discount: pick(&mut random, &[0.0, 0.5, 0.9, 0.99, 1.0]),
            optimism: Optimism {
                value: pick(&mut random, &[0.0, 0.0, 5.0, -3.0, 100.0]),
                min_visits: random.below(4),
            },
            threshold: pick(&mut random, &[0.0, 1e-9, 0.1]),
            queue: if random.chance(0.5) { QueueKind::Exact } else { QueueKind::Bucket },
        };
        let place = format!("seed {seed}, {settings:?}");
        let planner = P::build(settings);
        let (book, model) = (Book::default(), Model::new());
        let (recorded, seen, u, under_way) = (Vec::new(), Seen::new(), Vec::new(), None);
        let bonuses = (seed % 2 == 1).then(BTreeMap::new);
        Self { random, planner, model, book, recorded, seen, u, under_way, bonuses, place }
    }

    fn settings(&self) -> Settings {
        self.planner.storable().unwrap().settings()
    }

    fn v(&self, state: usize) -> f64 {
        self.planner.values().value(State(state as u32))
    }

    fn q(&self, state: usize, action: usize) -> f64 {
        let pair = self.model.pair(State(state as u32), Action(action as u32)).unwrap();
        self.planner.values().action_value(pair)
    }

    fn max_q(&self, state: usize) -> f64 {
        let n_actions = self.book.rows[state].len();
        (0..n_actions).map(|a| self.q(state, a)).reduce(f64::max).unwrap_or(0.0)
    }

    /// The exact queue knows priorities exactly; the bucket queue gives a bound within its factor.
    fn check_priority(&self, state: usize, found: f64, priority: f64) {
        match self.settings().queue {
            QueueKind::Exact => assert_eq!(found, priority, "{}: state {state}", self.place),
            QueueKind::Bucket => assert!(
                found >= priority && (found <= priority * 1.1250001 || priority < 2f64.powi(-64)),
                "{}: state {state} is queued with {found} for {priority}",
                self.place
            ),
        }
    }

    fn add_state(&mut self) {
        let n_actions = self.random.below(4) as usize;
        self.model.add_state(n_actions).unwrap();
        self.book.rows.push(vec![common::Row::default(); n_actions]);
        self.u.push(if n_actions == 0 { 0.0 } else { self.settings().optimism.value });
        self.planner.grow(&self.model);
    }

    fn add_action(&mut self) {
        let state = self.random.below(self.u.len() as u32);
        match self.model.add_action(State(state)).unwrap() {
            Some(moved) => self.planner.pairs_moved(&self.model, &moved),
            None => self.planner.grow(&self.model),
        }
        self.book.rows[state as usize].push(common::Row::default());
    }

    fn any_next(&mut self) -> Next {
        let next = State(self.random.below(self.u.len() as u32));
        match self.random.below(5) {
            0 => Next::Terminated,
            1 => Next::Truncated(next),
            _ => Next::Continue(next),
        }
    }

    fn any_pair(&mut self) -> Option<(usize, usize)> {
        let state = self.random.below(self.u.len() as u32) as usize;
        let n_actions = self.book.rows[state].len();
        (n_actions > 0).then(|| (state, self.random.below(n_actions as u32) as usize))
    }

    /// Theorem 3.4 with the sample's weight, negative when it is undone.
    fn record(&mut self, transition: Transition, weight: f64) {
        let change = self.model.record_weighted(&transition, weight).unwrap().unwrap();
        self.book.record(&transition, weight);
        if let Some(next) = common::after(transition.next) {
            let (s, a, t) = (transition.state.index(), transition.action.index(), next.index());
            self.see_new_arc(s, a, t);
        }
        if let Some(bonuses) = &mut self.bonuses {
            let bonus = any_bonus(&mut self.random);
            bonuses.insert((transition.state.index(), transition.action.index()), bonus);
            self.planner.bonuses().unwrap().observe_with_bonus(&self.model, &change, bonus);
        } else {
            self.planner.observe(&self.model, &change);
        }
    }

    /// A bonus that changes by itself, as with the age of a pair.
    fn set_bonus(&mut self) {
        let Some((s, a)) = self.any_pair() else { return };
        if let Some(bonuses) = &mut self.bonuses {
            let bonus = any_bonus(&mut self.random);
            bonuses.insert((s, a), bonus);
            let pair = self.model.pair(State(s as u32), Action(a as u32)).unwrap();
            self.planner.bonuses().unwrap().set_bonus(&self.model, pair, bonus);
        }
    }

    /// A new arc uses the state's U, but one that joins a block that a cut cycle has yet to reach may use the old one; the
    /// planner says which, and nothing else is accepted.
    fn see_new_arc(&mut self, s: usize, a: usize, t: usize) {
        if self.seen.contains_key(&(s, a, t)) {
            return;
        }
        let found = self.planner_sees(s, a, t);
        let olds = self.seen.iter().filter(|((_, _, next), _)| *next == t).map(|(_, &u)| u);
        let is_one = self.under_way == Some(t) && olds.into_iter().any(|u| u == found);
        assert!(found == self.u[t] || is_one, "{}: a new arc to {t} sees {found}", self.place);
        self.seen.insert((s, a, t), found);
    }

    fn planner_sees(&self, s: usize, a: usize, t: usize) -> f64 {
        let pair = self.model.pair(State(s as u32), Action(a as u32)).unwrap();
        let arc = self.model.successors(pair).find(|next| next.state.index() == t).unwrap().arc;
        self.planner.backed_up_value(State(t as u32), arc).unwrap()
    }

    fn observe(&mut self) {
        let Some((state, action)) = self.any_pair() else { return };
        let next = self.any_next();
        let reward = f64::from(self.random.below(21)) / 4.0 - 2.5;
        let weight = if self.random.chance(0.9) { 1.0 } else { f64::from(1 + self.random.below(5)) };
        let (state, action) = (State(state as u32), Action(action as u32));
        let transition = Transition { state, action, reward, next };
        self.record(transition, weight);
        for _ in 0..weight as u32 {
            self.recorded.push(transition);
        }
    }

    fn forget(&mut self) {
        if !self.recorded.is_empty() {
            let i = self.random.below(self.recorded.len() as u32) as usize;
            let transition = self.recorded.swap_remove(i);
            self.record(transition, -1.0);
        }
    }

    /// Sets the outcomes of a pair, in place of all that was recorded for it.
    fn set_outcomes(&mut self) {
        let Some((s, a)) = self.any_pair() else { return };
        let outcomes: Vec<Outcome> = (0..4)
            .map(|_| Outcome {
                probability: 0.25,
                reward: f64::from(self.random.below(9)) - 4.0,
                next: self.any_next(),
            })
            .collect();
        let (state, action) = (State(s as u32), Action(a as u32));
        let pair = self.model.set_outcomes(state, action, &outcomes).unwrap();
        self.book.set(s, a, &outcomes);
        self.recorded.retain(|t| (t.state, t.action) != (state, action));
        for next in outcomes.iter().filter_map(|outcome| common::after(outcome.next)) {
            self.see_new_arc(s, a, next.index());
        }
        self.planner.refresh(&self.model, pair);
    }

    /// Theorem 3.3, for all predecessors of the popped state or for a part of them.
    fn update_cycle(&mut self) {
        let limit = match self.random.below(4) {
            0 => usize::MAX,
            1 => 0,
            n => n as usize * 5 - 9, // one block or two
        };
        let before: Vec<f64> = P::priorities(self);
        let queued: Vec<f64> = (0..self.u.len())
            .map(|s| self.planner.queue().unwrap().priority(&self.model, State(s as u32)))
            .collect();
        let popped_values: Vec<f64> = (0..self.u.len()).map(|s| P::popped_value(self, s)).collect();
        let cycle = self.planner.update_cycle(&self.model, limit);
        if cycle == Cycle::Idle {
            assert!(queued.iter().all(|&priority| priority == 0.0) && self.under_way.is_none());
            return;
        }
        // Which arcs were backed up?
        let arcs: Vec<(usize, usize, usize)> = self.seen.keys().copied().collect();
        let changed: Vec<_> = arcs
            .iter()
            .copied()
            .filter(|&(s, a, t)| self.planner_sees(s, a, t) != self.seen[&(s, a, t)])
            .collect();
        let state = match self.under_way {
            Some(state) => state,
            None => {
                let popped = changed.first().map(|&(_, _, t)| t).or_else(|| {
                    let is_gone = |&s: &usize| {
                        queued[s] > 0.0
                            && self.planner.queue().unwrap().priority(&self.model, State(s as u32)) == 0.0
                    };
                    // After a pop that changed nothing there may be several states that could have been popped.
                    (0..self.u.len()).find(is_gone)
                });
                let Some(state) = popped else { panic!("{}: nothing was popped", self.place) };
                let highest = before.iter().copied().fold(0.0, f64::max);
                let is_top = before[state] * 1.1250001 >= highest || highest < 2f64.powi(-64);
                let exact = self.settings().queue == QueueKind::Bucket || before[state] == highest;
                assert!(is_top && exact, "{}: popped {state} of {before:?}", self.place);
                self.u[state] = popped_values[state];
                P::popped(self, state);
                state
            }
        };
        for (s, a, t) in changed {
            assert_eq!(t, state, "{}: the cycle of {state} told ({s},{a},{t})", self.place);
            let found = self.planner_sees(s, a, t);
            assert_eq!(found, self.u[state], "{}: ({s},{a},{t}) was told something else", self.place);
            self.seen.insert((s, a, t), found);
        }
        self.under_way = (cycle == Cycle::Cut).then_some(state);
        if cycle == Cycle::Done {
            for &(s, a, t) in arcs.iter().filter(|arc| arc.2 == state) {
                assert_eq!(
                    self.seen[&(s, a, t)],
                    self.u[state],
                    "{}: ({s},{a},{t}) was not backed up",
                    self.place
                );
            }
        }
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..=2 => self.add_state(),
            3..=4 => self.add_action(),
            5..=8 => self.forget(),
            9..=10 => self.set_outcomes(),
            11..=50 => self.observe(),
            51..=55 if self.bonuses.is_some() => self.set_bonus(),
            51..=55 => self.observe(),
            _ => self.update_cycle(),
        }
        self.check();
    }

    /// All that must hold after every step.
    fn check(&self) {
        let Settings { discount, optimism, .. } = self.settings();
        let mut scale = self.seen.values().fold(1.0f64, |a, u| a.max(u.abs()));
        for (s, rows) in self.book.rows.iter().enumerate() {
            for (a, row) in rows.iter().enumerate() {
                let q = self.q(s, a);
                scale = scale.max(q.abs());
                if row.is_known(optimism.min_visits) {
                    let bonus = self.bonuses.as_ref().and_then(|b| b.get(&(s, a))).copied().unwrap_or(0.0);
                    let expected = row.expectation(discount, |t| self.seen[&(s, a, t)]) + bonus;
                    scale = scale.max(bonus.abs());
                    let deviation = (q - expected).abs();
                    assert!(
                        deviation <= 1e-12 * scale,
                        "{}: Q({s},{a}) = {q}, relation {expected}",
                        self.place
                    );
                } else {
                    assert_eq!(q, optimism.value, "{}: Q({s},{a}) is hardly seen", self.place);
                }
                self.check_row(s, a, row);
            }
        }
        for (&(s, a, t), &u) in &self.seen {
            assert_eq!(self.planner_sees(s, a, t), u, "{}: U of ({s},{a},{t}) moved by itself", self.place);
        }
        P::check_values(self);
        let found = audit(&self.model, &self.planner);
        assert!(found.relative_relation <= 1e-12, "{}: {found:?}", self.place);
    }

    /// The model agrees with the book.
    fn check_row(&self, s: usize, a: usize, row: &common::Row) {
        let pair = self.model.pair(State(s as u32), Action(a as u32)).unwrap();
        assert_eq!(self.model.weight(pair), row.weight, "{}", self.place);
        assert!((self.model.reward_sum(pair) - row.reward_sum).abs() <= 1e-9, "{}", self.place);
        assert_eq!((self.model.state_of(pair).index(), self.model.action_of(pair).index()), (s, a));
        for next in self.model.successors(pair) {
            let expected = row.next.get(&next.state.index()).copied().unwrap_or(0.0);
            assert_eq!(next.weight, expected, "{}: ({s},{a}) to {}", self.place, next.state);
            let back = self.model.predecessors(next.state).find(|p| p.arc == next.arc).unwrap();
            assert_eq!((back.pair, back.weight), (pair, next.weight), "{}", self.place);
        }
    }
}

/// Bonuses of all sizes, so that removing one leaves rounding errors of its own size.
fn any_bonus(random: &mut Random) -> f64 {
    (random.unit() - 0.2) * 10f64.powi(random.below(6) as i32 - 3)
}

fn run<P: Follow>(seeds: std::ops::Range<u64>, n_states: usize, n_steps: usize) {
    for seed in seeds {
        let mut sequence = Sequence::<P>::new(seed);
        for _ in 0..1 + n_states {
            sequence.add_state();
        }
        for _ in 0..n_steps {
            sequence.step();
        }
    }
}

#[test]
fn theorems_hold_after_every_step_of_reversed_full_backups() {
    run::<ReversedFullBackups>(0..6000, 4, 60);
    run::<ReversedFullBackups>(6000..6500, 12, 400);
}

#[test]
fn theorems_hold_after_every_step_of_small_backups() {
    run::<SmallBackups>(0..6000, 4, 60);
    run::<SmallBackups>(6000..6500, 12, 400);
}

/// Every planner keeps V and Q consistent when rows grow meanwhile: a state whose first action comes late, one that gets
/// another action at the end of the table of pairs (its row does not move) or in the middle of it (its row moves).
#[test]
fn every_planner_takes_in_new_actions() {
    for kind in backsweep_baselines::PLANNERS {
        for (n_actions, at) in [(0, 0), (0, 2), (1, 0), (1, 2), (2, 1)] {
            let optimism = Optimism { value: 5.0, min_visits: 1 };
            let settings = Settings { discount: 0.5, optimism, ..Settings::default() };
            let mut planner = kind.build(settings).unwrap();
            let mut model = Model::with_states([n_actions; 3]).unwrap();
            planner.grow(&model);
            let place = format!("{}, {n_actions} actions, state {at}", kind);
            for a in 0..n_actions {
                for s in 0..3 {
                    let transition = common::step(s, a as u32, -1.0, Next::Terminated);
                    let change = model.record(&transition).unwrap().unwrap();
                    planner.observe(&model, &change);
                }
            }
            backsweep::planner::plan(&mut *planner, &model, backsweep::Budget::UNTIL_IDLE);
            match model.add_action(State(at)).unwrap() {
                Some(moved) => planner.pairs_moved(&model, &moved),
                None => planner.grow(&model),
            }
            backsweep::planner::plan(&mut *planner, &model, backsweep::Budget::UNTIL_IDLE);
            assert_eq!(planner.values().value(State(at)), 5.0, "{place}: the new action is worth trying");
            let found = audit(&model, &*planner);
            assert_eq!((found.maximum, found.residual), (0.0, 0.0), "{place}");
        }
    }
}

/// Peng & Williams' planner keeps, after every step of random sequences: the relation, with a U per arc; V = max Q; and in its queue
/// every triple whose residual γP̂|V(s') − U| is above the threshold, at no less than that. Once the queue is empty, no
/// residual is above the threshold.
#[test]
fn the_invariants_of_peng_and_williams_hold_after_every_step() {
    for seed in 0..600 {
        let mut random = Random::from_seed(seed);
        let queue = if seed % 2 == 0 { QueueKind::Exact } else { QueueKind::Bucket };
        let optimism = Optimism { value: f64::from(random.below(3)), min_visits: random.below(3) };
        let settings = Settings { discount: 0.9, threshold: 1e-3, queue, optimism };
        let mut agent = Agent::with_planner(backsweep_baselines::PENG_WILLIAMS, settings).unwrap();
        for _ in 0..6 {
            agent.add_state(random.below(4) as usize).unwrap();
        }
        for step in 0..120 {
            common::act(&mut agent, &mut random);
            let found = agent.audit();
            let place = format!("seed {seed}, step {step}");
            assert!(found.relation < 1e-9, "{place}: the relation is off by {}", found.relation);
            assert_eq!(found.maximum, 0.0, "{place}");
            let (model, planner) = (agent.model(), agent.planner());
            let most = if queue == QueueKind::Exact { 1.0 } else { 1.125 };
            let (mut n_above, mut n_triples, mut highest) = (0, 0, 0.0f64);
            for state in model.states() {
                let mut highest_here = 0.0f64;
                for predecessor in model.predecessors(state) {
                    let u = planner.backed_up_value(state, predecessor.arc).unwrap();
                    let share = predecessor.weight / model.weight(predecessor.pair).max(f64::MIN_POSITIVE);
                    let residual = 0.9 * share * (agent.value(state) - u).abs();
                    let counts = residual > 1e-3 && planner.values().is_known(model, predecessor.pair);
                    highest_here = highest_here.max(if counts { residual } else { 0.0 });
                    (n_above, n_triples) = (n_above + usize::from(counts), n_triples + 1);
                }
                let priority = planner.queue().unwrap().priority(model, state);
                assert!(priority >= highest_here * (1.0 - 1e-12), "{place}: {priority} < {highest_here}");
                highest = highest.max(priority);
            }
            assert!((n_above..=n_triples).contains(&planner.queue().unwrap().n_queued()), "{place}");
            // The queue's highest priority is that of a triple of the model.
            let top = planner.top_priority().unwrap_or(0.0);
            assert!(top >= highest * (1.0 - 1e-12) && top <= highest * most * (1.0 + 1e-12), "{place}");
        }
        agent.plan(backsweep::Budget::UNTIL_IDLE);
        assert!(agent.audit().residual <= 1e-3 * agent.model().n_states() as f64, "seed {seed}");
    }
}
