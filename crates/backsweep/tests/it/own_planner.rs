//! A planner of one's own on small backups, with nothing but the public API: the paper's arXiv version in its plainest form.
//! It solves the same problems as the planners of the library.

use crate::common;
use crate::common::Book;
use backsweep::explore::{EpsilonGreedy, Exploration, Explore};
use backsweep::planner::{
    Change, Counters, Cycle, MAX_VALUE, Model, Pair, Planner, PriorityQueue, QueueKind, Snapshot, Storable,
    Values,
};
use backsweep::{Action, Agent, Budget, PlannerKind, Random, Result, Settings, State};

#[derive(Clone, Debug)]
struct Plain {
    settings: Settings,
    values: Values,
    /// Q of each pair when its state was last popped.
    q_prev: Vec<f64>,
    queue: PriorityQueue,
    counters: Counters,
}

impl Plain {
    const KIND: PlannerKind =
        PlannerKind::new("plain", "plain small backups", |settings| Ok(Box::new(Self::new(settings)?)))
            .restored_by(|settings, model, snapshot| {
                let mut planner = Self::new(settings)?;
                planner.values = Values::restore(&settings, model, snapshot)?;
                planner.queue = PriorityQueue::restore(QueueKind::Exact, model.n_states(), snapshot)?;
                planner.counters = Counters::restore(snapshot)?;
                planner.q_prev = snapshot.bounded("plain.q_prev", model.n_pairs(), MAX_VALUE)?.to_vec();
                Ok(Box::new(planner))
            });

    fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        let queue = PriorityQueue::new(QueueKind::Exact);
        let values = Values::new(&settings);
        Ok(Self { settings, values, q_prev: Vec::new(), queue, counters: Counters::default() })
    }

    /// Lines 11, 12, 21 and 22.
    fn promote(&mut self, model: &Model, pair: Pair) {
        let priority = (self.values.action_value(pair) - self.q_prev[pair.index()]).abs();
        if priority > self.settings.threshold {
            self.queue.promote(model.state_of(pair).0, priority);
        }
    }
}

impl Planner for Plain {
    fn values(&self) -> &Values {
        &self.values
    }

    fn counters(&self) -> Option<Counters> {
        Some(self.counters)
    }

    fn storable(&self) -> Option<&dyn Storable> {
        Some(self)
    }

    fn top_priority(&self) -> Option<f64> {
        self.queue.top()
    }

    fn grow(&mut self, model: &Model) {
        let known = self.q_prev.len();
        if self.values.extend(model) {
            self.queue.grow(model.n_states());
            for pair in (known..model.n_pairs()).map(|pair| Pair(pair as u32)) {
                self.q_prev.push(self.values.action_value(pair));
            }
            for pair in (known..model.n_pairs()).map(|pair| Pair(pair as u32)) {
                self.refresh(model, pair);
            }
        }
    }

    fn observe(&mut self, model: &Model, change: &Change) {
        self.grow(model);
        self.values.correct(model, change, Values::value); // l.10
        self.promote(model, change.pair);
    }

    fn refresh(&mut self, model: &Model, pair: Pair) {
        self.grow(model);
        self.values.recompute(model, pair, Values::value);
        self.promote(model, pair);
    }

    fn update_cycle(&mut self, model: &Model, _limit: usize) -> Cycle {
        let Some(state) = self.queue.pop() else { return Cycle::Idle }; // l.14
        self.counters.cycles += 1;
        for pair in model.pairs(State(state)) {
            self.q_prev[pair.index()] = self.values.action_value(pair); // l.15
        }
        let delta_v = self.values.update_maximum(model, State(state)); // l.16, 17, 18
        for before in model.predecessors(State(state)) {
            self.values.small_backup(before.pair, before.weight, delta_v); // l.20
            self.counters.small_backups += 1;
            self.promote(model, before.pair); // l.21, 22
        }
        Cycle::Done
    }
}

impl Storable for Plain {
    fn kind(&self) -> PlannerKind {
        Self::KIND
    }

    fn settings(&self) -> Settings {
        self.settings
    }

    fn store(&self, snapshot: &mut Snapshot) {
        self.values.store(snapshot);
        self.queue.store(snapshot);
        self.counters.store(snapshot);
        snapshot.put("plain.q_prev", self.q_prev.clone());
    }
}

/// Learns from some random steps on six states with three actions each.
fn learn(agent: &mut Agent, random: &mut Random) {
    for _ in 0..100 {
        let (state, action) = (State(random.below(6)), Action(random.below(3)));
        agent.observe(state, action, f64::from(random.below(9)), State(random.below(6))).unwrap();
        agent.plan(Budget::Cycles(1));
    }
}

#[test]
fn a_planner_of_ones_own_is_stored_by_name_and_restored() {
    let mut agent =
        Agent::with_planner(Plain::KIND, Settings { discount: 0.9, ..Settings::default() }).unwrap();
    agent.add_states([3; 6]).unwrap();
    let mut random = Random::from_seed(1);
    learn(&mut agent, &mut random);
    let stored = agent.store().unwrap();
    let mut restored = Agent::restore_among(&stored, &[Plain::KIND, PlannerKind::SMALL_BACKUPS]).unwrap();
    assert_eq!(restored.store().unwrap(), stored);
    let mut same = random.clone();
    learn(&mut agent, &mut random);
    learn(&mut restored, &mut same);
    assert_eq!(restored.store().unwrap(), agent.store().unwrap(), "it continues bit for bit");

    let refusal = Agent::restore(&stored).unwrap_err().to_string();
    assert!(refusal.contains("'plain'") && refusal.contains("reversed_full_backups"), "{refusal}");
}

#[test]
fn what_a_planner_does_not_offer_is_refused() {
    let agent = || Agent::with_planner(Plain::KIND, Settings::default()).unwrap();
    let explore = Explore::CountBonus { beta: 1.0 };
    let exploration = Exploration { explore, reward_range: Some((0.0, 1.0)), ..Exploration::default() };
    let refusal = agent().with_exploration(exploration).unwrap_err().to_string();
    assert!(refusal.contains("plain keeps no bonuses"), "{refusal}");

    let unstored = Box::new(Unstored(Plain::new(Settings::default()).unwrap()));
    let agent = Agent::from_parts(Model::new(), unstored, EpsilonGreedy::GREEDY);
    let refusal = agent.store().unwrap_err().to_string();
    assert!(refusal.contains("cannot be stored") && refusal.contains("Planner::storable"), "{refusal}");
}

/// The six methods that a planner must have, and nothing else.
#[derive(Clone, Debug)]
struct Unstored(Plain);

#[rustfmt::skip] // one line for what takes one line
impl Planner for Unstored {
    fn values(&self) -> &Values { self.0.values() }
    fn grow(&mut self, model: &Model) { self.0.grow(model) }
    fn observe(&mut self, model: &Model, change: &Change) { self.0.observe(model, change) }
    fn refresh(&mut self, model: &Model, pair: Pair) { self.0.refresh(model, pair) }
    fn update_cycle(&mut self, model: &Model, limit: usize) -> Cycle { self.0.update_cycle(model, limit) }
    fn top_priority(&self) -> Option<f64> { self.0.top_priority() }
}

#[test]
fn a_planner_on_small_backups_needs_only_the_public_api() {
    let settings = Settings { discount: 0.9, ..Settings::default() };
    for seed in 0..200 {
        let mut random = Random::from_seed(seed);
        let n_states = 2 + random.below(6);
        let planner = Box::new(Plain::new(settings).unwrap());
        let mut agent = Agent::from_parts(Model::new(), planner, EpsilonGreedy::GREEDY);
        let mut book = Book::default();
        for _ in 0..n_states {
            let n_actions = random.below(4) as usize;
            agent.add_state(n_actions).unwrap();
            book.rows.push(vec![common::Row::default(); n_actions]);
        }
        for _ in 0..200 {
            let (state, action) = (random.below(n_states), random.below(4));
            if action as usize >= book.rows[state as usize].len() {
                continue;
            }
            let next = if random.chance(0.1) {
                backsweep::Next::Terminated
            } else {
                common::on(random.below(n_states))
            };
            let step = common::step(state, action, f64::from(random.below(9)) - 3.0, next);
            agent.observe_transition(&step).unwrap();
            book.record(&step, 1.0);
            agent.plan(Budget::Cycles(1));
        }
        assert!(agent.plan(Budget::UNTIL_IDLE).is_idle);
        let expected = book.policy_iteration(0.9, 0.0, 0);
        for (state, expected) in expected.iter().enumerate() {
            let found = agent.value(State(state as u32));
            assert!(
                (found - expected).abs() < 1e-7,
                "seed {seed}, state {state}: {found}, expected {expected}"
            );
        }
    }
}
