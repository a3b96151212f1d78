//! Shared by the tests: plain bookkeeping of a model (no code of the core), policy iteration with exact linear solves on
//! it, and the tables of problems in `tests/testdata`.

pub mod ring;

use backsweep::planner::{Audit, Outcome, QueueKind, Snapshot};
use backsweep::{Action, Agent, Budget, Next, Random, Settings, State, Transition};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

pub const QUEUES: [QueueKind; 2] = [QueueKind::Exact, QueueKind::Bucket];

/// The observations of one pair, in the plainest form.
#[derive(Clone, Debug, Default)]
pub struct Row {
    pub weight: f64,
    pub reward_sum: f64,
    /// Weight by next state; the rest of `weight` ended.
    pub next: BTreeMap<usize, f64>,
    pub given: bool,
}

impl Row {
    /// R̂ + γ Σ P̂ value(s').
    pub fn expectation(&self, discount: f64, value: impl Fn(usize) -> f64) -> f64 {
        let sum: f64 = self.next.iter().map(|(&next, &weight)| weight * value(next)).sum();
        (self.reward_sum + discount * sum) / self.weight
    }

    pub fn is_known(&self, min_visits: u32) -> bool {
        self.weight > 0.0 && (self.given || self.weight >= f64::from(min_visits))
    }
}

/// The state that follows, as the test reads it: a truncated step is not an end.
pub fn after(next: Next) -> Option<State> {
    match next {
        Next::Continue(state) => Some(state),
        Next::Truncated(state) => Some(state),
        Next::Terminated => None,
    }
}

/// A model kept by the test: one row per action of each state.
#[derive(Clone, Debug, Default)]
pub struct Book {
    pub rows: Vec<Vec<Row>>,
}

impl Book {
    pub fn new(n_actions: impl IntoIterator<Item = usize>) -> Self {
        Self { rows: n_actions.into_iter().map(|n| vec![Row::default(); n]).collect() }
    }

    pub fn record(&mut self, transition: &Transition, weight: f64) {
        let row = &mut self.rows[transition.state.index()][transition.action.index()];
        row.weight += weight;
        row.reward_sum += weight * transition.reward;
        if row.weight == 0.0 {
            row.reward_sum = 0.0;
        }
        if let Some(next) = after(transition.next) {
            *row.next.entry(next.index()).or_insert(0.0) += weight;
        }
    }

    pub fn set(&mut self, state: usize, action: usize, outcomes: &[Outcome]) {
        let sum: f64 = outcomes.iter().map(|o| o.probability).sum();
        let mut row = Row { weight: 1.0, given: true, ..Row::default() };
        for outcome in outcomes {
            row.reward_sum += outcome.probability / sum * outcome.reward;
            if let Some(next) = after(outcome.next) {
                *row.next.entry(next.index()).or_insert(0.0) += outcome.probability / sum;
            }
        }
        self.rows[state][action] = row;
    }

    /// The optimal values by policy iteration, each policy evaluated by an exact linear solve. Pairs seen fewer than
    /// `min_visits` times are worth `optimism`. With discount 1 every policy must end.
    pub fn policy_iteration(&self, discount: f64, optimism: f64, min_visits: u32) -> Vec<f64> {
        let n = self.rows.len();
        let mut policy = vec![0usize; n];
        for _ in 0..1000 {
            // (I − γP) v = r for the pairs of the policy.
            let mut matrix = vec![vec![0.0; n]; n];
            let mut right = vec![0.0; n];
            for s in 0..n {
                matrix[s][s] = 1.0;
                let Some(row) = self.rows[s].get(policy[s]) else { continue };
                if !row.is_known(min_visits) {
                    right[s] = optimism;
                    continue;
                }
                right[s] = row.reward_sum / row.weight;
                for (&next, &weight) in &row.next {
                    matrix[s][next] -= discount * weight / row.weight;
                }
            }
            let v = solve_linear(&matrix, &right);
            let mut stable = true;
            for (s, chosen) in policy.iter_mut().enumerate() {
                let q = |a: usize| {
                    let row = &self.rows[s][a];
                    if row.is_known(min_visits) { row.expectation(discount, |t| v[t]) } else { optimism }
                };
                // Only a true improvement changes the policy, so that rounding among ties cannot cycle forever.
                for a in 0..self.rows[s].len() {
                    if q(a) > q(*chosen) + 1e-13 * q(*chosen).abs().max(1e-6) {
                        *chosen = a;
                        stable = false;
                    }
                }
            }
            if stable {
                return v;
            }
        }
        panic!("policy iteration did not settle");
    }
}

/// Gaussian elimination with partial pivoting, then two rounds of refinement.
pub fn solve_linear(matrix: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let n = right.len();
    let mut lu = matrix.to_vec();
    let mut order: Vec<usize> = (0..n).collect();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| lu[i][k].abs().total_cmp(&lu[j][k].abs())).unwrap();
        lu.swap(k, pivot);
        order.swap(k, pivot);
        assert!(lu[k][k] != 0.0, "the matrix is singular");
        let (above, below) = lu.split_at_mut(k + 1);
        let row_k = &above[k];
        for row in below {
            if row[k] != 0.0 {
                let factor = row[k] / row_k[k];
                row[k] = factor;
                for j in k + 1..n {
                    row[j] -= factor * row_k[j];
                }
            }
        }
    }
    let substitute = |right: &[f64]| {
        let mut x: Vec<f64> = order.iter().map(|&i| right[i]).collect();
        for i in 0..n {
            x[i] -= (0..i).map(|j| lu[i][j] * x[j]).sum::<f64>();
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|j| lu[i][j] * x[j]).sum();
            x[i] = (x[i] - sum) / lu[i][i];
        }
        x
    };
    let mut x = substitute(right);
    for _ in 0..2 {
        let residual: Vec<f64> =
            (0..n).map(|i| right[i] - (0..n).map(|j| matrix[i][j] * x[j]).sum::<f64>()).collect();
        for (x, correction) in x.iter_mut().zip(substitute(&residual)) {
            *x += correction;
        }
    }
    x
}

/// A problem of `tests/testdata`.
pub struct Problem {
    pub name: String,
    /// The outcomes of each action of each state.
    pub outcomes: Vec<Vec<Vec<Outcome>>>,
    /// Discount and the optimal value of every state.
    pub answers: Vec<(f64, Vec<f64>)>,
}

impl Problem {
    pub fn n_states(&self) -> usize {
        self.outcomes.len()
    }

    pub fn n_actions(&self) -> impl Iterator<Item = usize> + '_ {
        self.outcomes.iter().map(Vec::len)
    }

    pub fn book(&self) -> Book {
        let mut book = Book::new(self.n_actions());
        for (s, actions) in self.outcomes.iter().enumerate() {
            for (a, outcomes) in actions.iter().enumerate() {
                book.set(s, a, outcomes);
            }
        }
        book
    }

    /// Gives all outcomes to an agent without states.
    pub fn give(&self, agent: &mut Agent) {
        for n in self.n_actions() {
            agent.add_state(n).unwrap();
        }
        for (s, actions) in self.outcomes.iter().enumerate() {
            for (a, outcomes) in actions.iter().enumerate() {
                agent.set_outcomes(State(s as u32), Action(a as u32), outcomes).unwrap();
            }
        }
    }

    /// Draws what an action leads to.
    pub fn sample(&self, state: usize, action: usize, random: &mut Random) -> Transition {
        let outcomes = &self.outcomes[state][action];
        let mut left = random.unit();
        let mut chosen = outcomes[outcomes.len() - 1];
        for outcome in outcomes {
            left -= outcome.probability;
            if left < 0.0 {
                chosen = *outcome;
                break;
            }
        }
        Transition {
            state: State(state as u32),
            action: Action(action as u32),
            reward: chosen.reward,
            next: chosen.next,
        }
    }
}

/// All problems of `tests/testdata`, by name.
pub fn problems() -> Vec<Problem> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/testdata");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".ref.csv").map(str::to_owned))
        .collect();
    names.sort();
    assert!(names.len() >= 18, "problems are missing from {}", folder.display());
    names.into_iter().map(|name| read_problem(&folder, name)).collect()
}

pub fn problem(name: &str) -> Problem {
    problems().into_iter().find(|problem| problem.name == name).unwrap()
}

fn read_problem(folder: &Path, name: String) -> Problem {
    let lines = |file: String| -> Vec<Vec<f64>> {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        text.lines().skip(1).map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect()
    };
    let rows = lines(format!("{name}.csv"));
    let n_states = rows.iter().map(|row| row[0].max(row[2]) as usize + 1).max().unwrap();
    let mut outcomes = vec![Vec::new(); n_states];
    for row in &rows {
        let &[state, action, next, probability, reward, terminated] = row.as_slice() else {
            panic!("{name}: {row:?}")
        };
        let actions: &mut Vec<Vec<Outcome>> = &mut outcomes[state as usize];
        if actions.len() <= action as usize {
            actions.resize(action as usize + 1, Vec::new());
        }
        let next = if terminated == 1.0 { Next::Terminated } else { Next::Continue(State(next as u32)) };
        actions[action as usize].push(Outcome { probability, reward, next });
    }
    let mut answers: Vec<(f64, Vec<f64>)> = Vec::new();
    for row in lines(format!("{name}.ref.csv")) {
        if answers.last().is_none_or(|(discount, _)| *discount != row[0]) {
            answers.push((row[0], vec![f64::NAN; n_states]));
        }
        answers.last_mut().unwrap().1[row[1] as usize] = row[2];
    }
    assert!(answers.iter().all(|(_, values)| values.iter().all(|v| v.is_finite())), "{name}: values missing");
    Problem { name, outcomes, answers }
}

/// The largest |found − expected| relative to max(1, |expected|), and where it is.
pub fn worst(found: &[f64], expected: &[f64]) -> (f64, usize) {
    assert_eq!(found.len(), expected.len());
    let errors = found.iter().zip(expected).map(|(f, e)| {
        let error = (f - e).abs() / e.abs().max(1.0);
        if error.is_nan() { f64::INFINITY } else { error }
    });
    errors.enumerate().map(|(i, e)| (e, i)).fold((0.0, 0), |a, b| if b.0 > a.0 { b } else { a })
}

pub fn values(agent: &Agent) -> Vec<f64> {
    agent.model().states().map(|state| agent.value(state)).collect()
}

/// The result of [`solve`].
#[derive(Debug)]
pub struct Solved {
    pub audit: Audit,
    pub error_bound: Option<f64>,
    /// True if the bound is within the tolerance; without discount, whether nothing is left to do.
    pub converged: bool,
}

/// The threshold at which nothing that matters is kept off a queue: Moore & Atkeson add up what is.
pub fn threshold_for(tolerance: f64, discount: f64) -> f64 {
    tolerance * (1.0 - discount).max(1e-9) / 1000.0
}

/// Plans until every value is within `tolerance` of the optimum, as far as rounding allows, from what the planner has: nothing
/// is recomputed for it. Only a planner whose threshold is too high for that is restored with a lower one.
pub fn solve(agent: &mut Agent, tolerance: f64) -> Solved {
    let (kind, settings) = (agent.planner().kind().unwrap(), agent.planner().settings().unwrap());
    let threshold = threshold_for(tolerance, settings.discount);
    if settings.threshold > threshold {
        let mut snapshot = Snapshot::new();
        agent.planner().storable().unwrap().store(&mut snapshot);
        let model = agent.model().clone();
        let mut planner = kind.restore(Settings { threshold, ..settings }, &model, &snapshot).unwrap();
        // What the old threshold kept off the queue is not on it.
        for pair in model.states().flat_map(|state| model.pairs(state)) {
            planner.refresh(&model, pair);
        }
        *agent = Agent::from_parts(model, planner, agent.policy());
    }
    if kind == backsweep_baselines::WIERING_SCHMIDHUBER {
        wake(agent, tolerance * (1.0 - settings.discount).max(1e-3) / 10.0);
    }
    // Rounding can keep baselines busy forever, when values are so large that the threshold is below it.
    let max_cycles = 5_000 * (agent.model().n_states() + agent.model().n_arcs()) as u64;
    let planned = agent.plan(Budget::Until { tolerance: 0.0, max_cycles });
    let audit = agent.audit();
    let converged =
        audit.error_bound.map_or(planned.is_idle || planned.cycles < max_cycles, |bound| bound <= tolerance);
    Solved { audit, error_bound: audit.error_bound, converged }
}

/// An observation empties the queue of Wiering & Schmidhuber. One more of every state, which is undone again, and planning in
/// between bring its values up to date; all that the planner knows stays as it is.
fn wake(agent: &mut Agent, residual: f64) {
    // Δ of a state may cancel out although a predecessor uses another value, so once is not enough.
    for _ in 0..100 {
        for state in agent.model().states() {
            let model = agent.model();
            let Some(pair) = model.pairs(state).find(|&pair| model.weight(pair) > 0.0) else { continue };
            let action = model.action_of(pair);
            if model.is_given(pair) {
                let outcome = |weight: f64, next| {
                    let reward = model.mean_reward(pair);
                    Outcome { probability: weight / model.weight(pair), reward, next }
                };
                let ended = outcome(model.ended_weight(pair), Next::Terminated);
                let others = model.successors(pair).map(|s| outcome(s.weight, Next::Continue(s.state)));
                let outcomes: Vec<Outcome> = others.chain([ended]).collect();
                agent.set_outcomes(state, action, &outcomes).unwrap();
            } else {
                let transition = Transition { state, action, reward: 0.0, next: Next::Terminated };
                // A frozen pair records nothing.
                if agent.observe_transition(&transition).unwrap() {
                    agent.forget(&transition).unwrap();
                }
            }
            // The next observation empties the queue again.
            agent.plan(Budget::Cycles(10_000));
        }
        if agent.audit().residual <= residual {
            break;
        }
    }
}

pub fn step(state: u32, action: u32, reward: f64, next: Next) -> Transition {
    Transition { state: State(state), action: Action(action), reward, next }
}

pub fn on(state: u32) -> Next {
    Next::Continue(State(state))
}

/// A random change of the world, which may be undone, or a bit of planning. Most steps lead to state 0, which soon has more predecessors than the
/// 8 backups between two checks of a deadline, so that planning is cut within a cycle.
pub fn act(agent: &mut Agent, random: &mut Random) {
    let n_states = agent.model().n_states() as u32;
    let state = State(random.below(n_states));
    let n_actions = agent.model().n_actions(state) as u32;
    let to = |random: &mut Random| match random.below(8) {
        0 => Next::Terminated,
        1 => Next::Truncated(State(random.below(n_states))),
        2 => Next::Continue(State(random.below(n_states))),
        _ => Next::Continue(State(0)),
    };
    match random.below(40) {
        0 => drop(agent.add_state(random.below(4) as usize).unwrap()),
        1 => drop(agent.add_action(state).unwrap()),
        2 | 3 if n_actions > 0 => {
            let probability = 0.5;
            let outcomes: Vec<Outcome> =
                (0..2).map(|i| Outcome { probability, reward: f64::from(i), next: to(random) }).collect();
            agent.set_outcomes(state, Action(random.below(n_actions)), &outcomes).unwrap();
        }
        4..=9 => {
            let n = Cell::new(random.below(3));
            let stop = || n.replace(n.get().wrapping_sub(1)) == 0;
            agent.plan(Budget::UntilStopped(&stop));
        }
        10..=12 => drop(agent.plan(Budget::Cycles(u64::from(random.below(3))))),
        _ if n_actions > 0 => {
            let Ok(action) = agent.act(state, random) else { return };
            let reward = f64::from(random.below(7)) - 3.0;
            let transition = Transition { state, action, reward, next: to(random) };
            // A frozen pair records nothing that could be undone.
            if agent.observe_transition(&transition).unwrap() && random.below(8) == 0 {
                agent.observe_weighted(&transition, -1.0).unwrap();
            }
        }
        _ => {}
    }
}
