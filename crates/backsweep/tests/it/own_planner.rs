//! A planner of one's own on small backups, with nothing but the public API: the paper's arXiv version in its plainest form.
//! It solves the same problems as the planners of the library.

use crate::common;
use crate::common::Book;
use backsweep::planner::{Counters, Cycle, Planner};
use backsweep::{
    Agent, Budget, Change, EpsilonGreedy, Model, Pair, PriorityQueue, QueueKind, Random, Result, Settings,
    State, Values,
};

#[derive(Clone, Debug)]
struct Plain {
    threshold: f64,
    values: Values,
    /// Q of each pair when its state was last popped.
    q_prev: Vec<f64>,
    queue: PriorityQueue,
    counters: Counters,
}

impl Plain {
    fn new(settings: Settings) -> Result<Self> {
        let settings = settings.check()?;
        let queue = PriorityQueue::new(QueueKind::Exact);
        let values = Values::new(&settings);
        Ok(Self {
            threshold: settings.threshold,
            values,
            q_prev: Vec::new(),
            queue,
            counters: Counters::default(),
        })
    }

    /// Lines 11, 12, 21 and 22.
    fn promote(&mut self, model: &Model, pair: Pair) {
        let priority = (self.values.action_value(pair) - self.q_prev[pair.index()]).abs();
        if priority > self.threshold {
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
        assert!(agent.plan(Budget::UNTIL_IDLE).converged);
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
