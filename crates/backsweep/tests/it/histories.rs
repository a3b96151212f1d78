//! Whatever happened before, in any order, a planner ends at the optimum of the remaining model: every planner and
//! queue after random histories of observations, transitions undone, rows replaced, states and actions added, planning
//! in between; compared with policy iteration on the test's own counts.

use crate::common;
use crate::common::{Book, QUEUES, Row, solve, values, worst};
use backsweep::explore::Optimism;
use backsweep::planner::{Outcome, QueueKind};
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State, Transition};

struct History {
    random: Random,
    agent: Agent,
    book: Book,
    recorded: Vec<Transition>,
    /// With discount 1 every step leads to a higher state or to the end, so that every policy terminates.
    only_up: bool,
}

impl History {
    fn new(planner: PlannerKind, queue: QueueKind, seed: u64) -> Self {
        let mut random = Random::stream(seed, &[3]);
        let discount = [0.0, 0.3, 0.9, 0.97, 1.0][random.below(5) as usize];
        let optimism = Optimism {
            value: [0.0, 0.0, 20.0, -7.0, 1e9][random.below(5) as usize],
            min_visits: random.below(4),
        };
        let threshold = [0.0, 1e-9, 0.5][random.below(3) as usize];
        let settings = Settings { discount, optimism, threshold, queue };
        let agent = Agent::with_planner(planner, settings).unwrap();
        let (book, recorded) = (Book::default(), Vec::new());
        Self { random, agent, book, recorded, only_up: discount == 1.0 }
    }

    fn add_state(&mut self) {
        let n_actions = self.random.below(4) as usize;
        self.agent.add_state(n_actions).unwrap();
        self.book.rows.push(vec![Row::default(); n_actions]);
    }

    fn next(&mut self, state: u32) -> Next {
        let n_states = self.book.rows.len() as u32;
        let low = if self.only_up { state + 1 } else { 0 };
        if low >= n_states || self.random.chance(0.1) {
            return Next::Terminated;
        }
        let next = State(low + self.random.below(n_states - low));
        if self.random.chance(0.2) { Next::Truncated(next) } else { Next::Continue(next) }
    }

    fn step(&mut self) {
        let state = self.random.below(self.book.rows.len() as u32);
        let n_actions = self.book.rows[state as usize].len() as u32;
        let kind = self.random.below(100);
        match kind {
            0..=2 => self.add_state(),
            3..=5 => {
                self.agent.add_action(State(state)).unwrap();
                self.book.rows[state as usize].push(Row::default());
            }
            6..=30 => drop(self.agent.plan(Budget::Cycles(u64::from(kind % 4)))),
            31..=36 if !self.recorded.is_empty() => {
                let i = self.random.below(self.recorded.len() as u32) as usize;
                let transition = self.recorded.swap_remove(i);
                self.agent.observe_weighted(&transition, -1.0).unwrap();
                self.book.record(&transition, -1.0);
            }
            37..=40 if n_actions > 0 => {
                let action = Action(self.random.below(n_actions));
                let outcomes: Vec<Outcome> = (0..2)
                    .map(|i| Outcome { probability: 0.5, reward: f64::from(i), next: self.next(state) })
                    .collect();
                self.agent.set_outcomes(State(state), action, &outcomes).unwrap();
                self.book.set(state as usize, action.index(), &outcomes);
                self.recorded.retain(|t| (t.state, t.action) != (State(state), action));
            }
            _ if n_actions > 0 => {
                let action = Action(self.random.below(n_actions));
                let reward = f64::from(self.random.below(13)) - 6.0;
                let next = self.next(state);
                let transition = Transition { state: State(state), action, reward, next };
                self.agent.observe_transition(&transition).unwrap();
                self.book.record(&transition, 1.0);
                self.recorded.push(transition);
            }
            _ => {}
        }
    }
}

#[test]
fn every_planner_ends_at_the_optimum_of_what_is_left() {
    for kind in backsweep_baselines::PLANNERS {
        for queue in QUEUES {
            for seed in 0..2000 {
                let mut history = History::new(kind, queue, seed);
                history.add_state();
                let settings = history.agent.planner().settings().unwrap();
                let Optimism { value, min_visits } = settings.optimism;
                // More than once: a solve is part of the history of the next.
                for part in 0..3 {
                    for _ in 0..60 {
                        history.step();
                    }
                    let place = format!("{}, {queue:?}, seed {seed}, part {part}", kind);
                    let mut agent = history.agent.clone();
                    let solution = solve(&mut agent, 1e-10);
                    history.agent.plan(Budget::Cycles(100));
                    let expected = history.book.policy_iteration(settings.discount, value, min_visits);
                    let found = values(&agent);
                    // Values of 1e9 are computed to 1e-16 of that.
                    let scale = expected.iter().fold(1.0f64, |a, v| a.max(v.abs()));
                    let (error, state) = worst(&found, &expected);
                    assert!(
                        error <= 1e-9 || (found[state] - expected[state]).abs() <= 1e-12 * scale,
                        "{place}: state {state} is {}, not {}; {solution:?}",
                        found[state],
                        expected[state]
                    );
                    assert!(solution.converged || scale > 1e3, "{place}: {solution:?}");
                }
            }
        }
    }
}

/// A pair with too many successors to be found by a scan, in a row that moves meanwhile.
#[test]
fn long_rows_are_found_again() {
    for kind in backsweep_baselines::PLANNERS {
        let settings = Settings { discount: 0.9, ..Settings::default() };
        let mut agent = Agent::with_planner(kind, settings).unwrap();
        let mut book = Book::new([1; 200]);
        for _ in 0..200 {
            agent.add_state(1).unwrap();
        }
        let mut random = Random::from_seed(1);
        for i in 0..3000 {
            if i == 700 || i == 1500 {
                let before = agent.model().pair(State(0), Action(0)).unwrap();
                agent.add_action(State(0)).unwrap();
                let moved = agent.model().pair(State(0), Action(0)).unwrap() != before;
                assert!(moved || i == 1500);
                book.rows[0].push(Row::default());
            }
            let state = if i % 3 == 0 { random.below(200) } else { 0 };
            let action = random.below(book.rows[state as usize].len() as u32);
            let reward = f64::from(random.below(5));
            let transition = common::step(state, action, reward, common::on(random.below(200)));
            agent.observe_transition(&transition).unwrap();
            book.record(&transition, 1.0);
            agent.plan(Budget::Cycles(u64::from(kind != backsweep_baselines::VALUE_ITERATION)));
        }
        for (action, row) in book.rows[0].iter().enumerate() {
            let pair = agent.model().pair(State(0), Action(action as u32)).unwrap();
            assert_eq!(agent.model().n_successors(pair), row.next.len(), "{}: a successor twice", kind);
        }
        solve(&mut agent, 1e-10);
        let expected = book.policy_iteration(0.9, 0.0, 1);
        assert!(worst(&values(&agent), &expected).0 <= 1e-9, "{}", kind);
    }
}

fn first_pair(reward: f64, next: u32) -> Transition {
    Transition { state: State(0), action: Action(0), reward, next: Next::Continue(State(next)) }
}

/// A pair stays exact after a much larger weight was added and undone.
#[test]
fn taking_back_most_of_a_pair_keeps_the_relation() {
    for planner in
        [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS, backsweep_baselines::PENG_WILLIAMS]
    {
        // Weights with rewards. The large weight has another reward, so that the mean must find its way back.
        let returning = [(1.0, 0.1), (1.0, 0.1), (1.0, 0.1), (1e12, 0.7), (-1e12, 0.7)];
        let emptied = [(0.3, 0.1), (0.1, 0.1), (-0.3, 0.1), (-0.1, 0.1)];
        for (steps, min_visits) in [(&returning[..], 1), (&emptied, 0)] {
            let optimism = Optimism { value: 0.0, min_visits };
            let mut agent =
                Agent::with_planner(planner, Settings { optimism, ..Settings::default() }).unwrap();
            for _ in 0..3 {
                agent.add_state(1).unwrap();
            }
            for &(weight, reward) in steps {
                agent.observe_weighted(&first_pair(reward, 2), weight).unwrap();
            }
            let found = agent.audit().relation;
            assert!(found < 1e-9, "{planner}, {steps:?}: the relation is off by {found}");
        }
    }
}

fn takes_hardly_more_than_restored(agent: &Agent) {
    let restored = Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS)
        .unwrap()
        .memory()
        .planner;
    let found = agent.memory().planner;
    let name = agent.planner().kind().unwrap();
    assert!(found < restored * 5 / 4, "{name}: {found} bytes, restored {restored}");
}

/// Agents whose planners cache the successors of pairs, with this many states and actions.
fn with_rows(n_states: usize, n_actions: usize) -> impl Iterator<Item = Agent> {
    [
        backsweep_baselines::PENG_WILLIAMS,
        backsweep_baselines::MOORE_ATKESON,
        backsweep_baselines::WIERING_SCHMIDHUBER,
        backsweep_baselines::VALUE_ITERATION,
    ]
    .into_iter()
    .map(move |planner| {
        let mut agent = Agent::with_planner(planner, Settings::default()).unwrap();
        for _ in 0..n_states {
            agent.add_state(n_actions).unwrap();
        }
        agent
    })
}

/// Rows that grew together take hardly more memory than rows made at once.
#[test]
fn rows_that_grew_leave_no_gaps() {
    for mut agent in with_rows(2000, 2) {
        for i in 0..9 {
            for s in 0..2000 {
                for a in 0..2 {
                    let next = Next::Continue(State((s * 7 + i * 13 + a) % 2000));
                    let step = Transition { state: State(s), action: Action(a), reward: 0.0, next };
                    agent.observe_transition(&step).unwrap();
                }
            }
        }
        takes_hardly_more_than_restored(&agent);
    }
}

/// Rows that moved leave no successors behind.
#[test]
fn rows_that_moved_leave_nothing_behind() {
    for mut agent in with_rows(502, 1) {
        for next in 2..502 {
            agent.observe_transition(&first_pair(0.0, next)).unwrap();
        }
        for i in 0..40 {
            agent.add_action(State(i % 2)).unwrap();
        }
        takes_hardly_more_than_restored(&agent);
    }
}
