//! How often the gain's interval contains the truth, and the findings, over simulated logs whose truth is known.
//!
//!     scripts/coverage [LOGS [SCENARIO…]]
//!
//! Each scenario is a family of random worlds: one world, one log and one policy per run. The truth is the exact value of the
//! learned policy in that world, minus that of the logged one.

#[path = "../tests/it/common/mod.rs"]
#[allow(dead_code)] // the tests use the rest
mod common;

use backsweep::Random;
use backsweep_learn::{Cases, LearnSettings, PolicyFinding, learn};
use backsweep_log::{Case, CaseEnd};
use common::{GO_ON, case, count, draw, full_policy};
use std::time::Instant;

/// What is special about a scenario.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// States hold all that matters.
    Plain,
    /// A factor that no state shows, and that lasts as long as the case, changes decisions and rewards.
    Hidden,
    /// What an action does turns round in the last third of the cases.
    Drift,
    /// Rewards are rare and large.
    Rare,
}

struct Scenario {
    name: &'static str,
    n_cases: usize,
    n_steps: usize,
    n_states: usize,
    n_actions: usize,
    /// How much actions differ.
    effect: f64,
    kind: Kind,
}

const fn plain(name: &'static str, n_cases: usize, n_steps: usize, effect: f64) -> Scenario {
    Scenario { name, n_cases, n_steps, n_states: 6, n_actions: 3, effect, kind: Kind::Plain }
}

const SCENARIOS: [Scenario; 15] = [
    plain("1 step, small effect", 1_000, 1, 0.1),
    plain("2 steps, effect", 3_000, 2, 0.35),
    plain("3 steps, small effect", 2_000, 3, 0.1),
    plain("5 steps, effect", 5_000, 5, 0.2),
    plain("7 steps, effect", 5_000, 7, 0.25),
    plain("7 steps, small effect", 20_000, 7, 0.05),
    Scenario { n_states: 20, ..plain("4 steps, many states", 2_000, 4, 0.2) },
    Scenario { kind: Kind::Rare, ..plain("3 steps, rare rewards", 3_000, 3, 0.2) },
    plain("null, 1 step", 1_000, 1, 0.0),
    plain("null, 3 steps", 1_000, 3, 0.0),
    plain("null, 7 steps", 5_000, 7, 0.0),
    Scenario { n_states: 20, ..plain("null, 4 steps, many states", 2_000, 4, 0.0) },
    Scenario { kind: Kind::Hidden, ..plain("hidden, 3 steps", 5_000, 3, 0.2) },
    Scenario { kind: Kind::Drift, n_actions: 2, ..plain("drift, 2 steps", 5_000, 2, 0.3) },
    Scenario { kind: Kind::Drift, n_actions: 2, ..plain("drift, 1 step", 3_000, 1, 0.3) },
];

/// A world in layers, one per step: `n_states` states each.
struct Layers {
    p: Vec<Vec<Vec<f64>>>,
    /// The mean reward per state and action.
    rewards: Vec<Vec<f64>>,
    logged: Vec<Vec<f64>>,
    starts: Vec<f64>,
}

fn normal(random: &mut Random) -> f64 {
    (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (std::f64::consts::TAU * random.unit()).cos()
}

/// Random shares; larger `evenness` makes them more alike.
fn shares(n: usize, evenness: usize, random: &mut Random) -> Vec<f64> {
    let mut share = || (0..evenness).map(|_| -(1.0 - random.unit()).ln()).sum::<f64>();
    let all: Vec<f64> = (0..n).map(|_| share()).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|x| x / sum).collect()
}

impl Layers {
    fn new(scenario: &Scenario, random: &mut Random) -> Self {
        let &Scenario { n_steps, n_states, n_actions, effect, .. } = scenario;
        let n = n_states * n_steps;
        let mut world = Self {
            p: vec![vec![vec![0.0; n]; n_actions]; n],
            rewards: vec![vec![0.0; n_actions]; n],
            logged: Vec::new(),
            starts: shares(n_states, 3, random),
        };
        for state in 0..n {
            let layer = state / n_states + 1;
            let (usual, worth) = (shares(n_states, 1, random), 0.5 * normal(random));
            for action in 0..n_actions {
                world.rewards[state][action] = worth + effect * normal(random);
                let own = shares(n_states, 1, random);
                if layer < n_steps {
                    for next in 0..n_states {
                        world.p[state][action][layer * n_states + next] =
                            (1.0 - effect) * usual[next] + effect * own[next];
                    }
                }
            }
            let logged = shares(n_actions, 2, random);
            world.logged.push(logged.iter().map(|share| 0.85 * share + 0.15 / n_actions as f64).collect());
        }
        world
    }

    fn case(&self, scenario: &Scenario, place: f64, random: &mut Random) -> Case {
        let fold = random.below(16) as u8;
        let sick = random.chance(0.5);
        let mut state = draw(&self.starts, random).min(self.starts.len() - 1);
        let mut steps = Vec::new();
        for _ in 0..scenario.n_steps {
            let mut action = draw(&self.logged[state], random).min(scenario.n_actions - 1);
            let mut mean = self.rewards[state][action];
            match scenario.kind {
                Kind::Hidden => {
                    if random.chance(0.6) {
                        action = if sick { 0 } else { 1 };
                    }
                    mean = self.rewards[state][action] + if sick { -0.7 } else { 0.7 };
                }
                Kind::Drift if place > 2.0 / 3.0 => {
                    let usual = self.rewards[state].iter().sum::<f64>() / scenario.n_actions as f64;
                    mean = 2.0 * usual - mean;
                }
                _ => {}
            }
            let reward = match scenario.kind {
                Kind::Rare => 20.0 * f64::from(random.chance(((mean + 2.0) / 80.0).clamp(0.0, 1.0))),
                _ => mean + normal(random),
            };
            steps.push((state as u32, action as u32, (reward * 1000.0).round() as i64));
            state = draw(&self.p[state][action], random);
        }
        case(fold, &steps, CaseEnd::Terminated)
    }

    /// The exact value of a policy; states come in layers, so one backward sweep is enough.
    fn value(&self, scenario: &Scenario, policy: &[Vec<f64>]) -> f64 {
        let mean = |state: usize, action: usize| match scenario.kind {
            Kind::Rare => 20.0 * ((self.rewards[state][action] + 2.0) / 80.0).clamp(0.0, 1.0),
            _ => self.rewards[state][action],
        };
        let mut values = vec![0.0; self.p.len()];
        for state in (0..self.p.len()).rev() {
            let q = |action: usize| -> f64 {
                let on = self.p[state][action].iter().zip(&values).map(|(p, value)| p * value).sum::<f64>();
                mean(state, action) + on
            };
            values[state] = (0..scenario.n_actions).map(|action| policy[state][action] * q(action)).sum();
        }
        self.starts.iter().zip(&values).map(|(share, value)| share * value).sum()
    }
}

/// What came of the logs of a scenario.
#[derive(Default)]
struct Tally {
    n: usize,
    /// Per estimate: how many intervals are stated, and how many contain the truth.
    covered: [[usize; 2]; 4],
    better: usize,
    worse: usize,
    contradicted: usize,
    too_little: usize,
    unstable: usize,
    drifts: usize,
    truth: f64,
    bias: f64,
    half: f64,
}

fn run(scenario: &Scenario, n_logs: usize) -> Tally {
    let mut tally = Tally::default();
    for log in 0..n_logs {
        let mut random = Random::from_seed(log as u64 + 1);
        let world = Layers::new(scenario, &mut random);
        let cases: Vec<Case> = (0..scenario.n_cases)
            .map(|i| world.case(scenario, i as f64 / scenario.n_cases as f64, &mut random))
            .collect();
        let order: Vec<u32> = (0..cases.len() as u32).collect();
        let n_states = (scenario.n_states * scenario.n_steps) as u32;
        let counts = count(n_states, scenario.n_actions as u32, &cases);
        let settings = LearnSettings { discount: 1.0, ..LearnSettings::default() };
        let found = learn(
            &counts,
            Cases { cases: &cases, decimals: 3, order: &order, ..Cases::default() },
            &settings,
            GO_ON,
        );
        let found = found.expect("a simulated log is learned from");
        let policy = full_policy(&found, &world.logged);
        let truth = world.value(scenario, &policy) - world.value(scenario, &world.logged);
        let e = &found.evaluation;
        let gains = [e.marginal, e.doubly_robust, e.importance, e.held_out]
            .map(|found| found.map(|found| found.gain));
        for (covered, gain) in tally.covered.iter_mut().zip(gains) {
            let Some(gain) = gain.filter(|gain| gain.low.is_finite()) else { continue };
            covered[0] += 1;
            covered[1] += usize::from(gain.low <= truth && truth <= gain.high);
        }
        let gain = gains[0].expect("cases were held out");
        tally.n += 1;
        tally.truth += truth;
        tally.bias += gain.value - truth;
        tally.half += (gain.high - gain.low) / 2.0;
        tally.drifts +=
            usize::from(found.conclusion.reasons.iter().any(|reason| reason.contains("The gain drifts")));
        match found.conclusion.finding {
            PolicyFinding::Better => tally.better += 1,
            PolicyFinding::Worse => tally.worse += 1,
            PolicyFinding::Contradicted => tally.contradicted += 1,
            PolicyFinding::TooLittleData => tally.too_little += 1,
            PolicyFinding::Unstable => tally.unstable += 1,
            _ => {}
        }
    }
    tally
}

fn main() {
    let mut words = std::env::args().skip(1);
    let n_logs: usize = words.next().map_or(200, |n| n.parse().expect("a number of logs"));
    let chosen: Vec<String> = words.collect();
    println!(
        "{:<28} {:>6} | {:>9} {:>5} {:>5} {:>5} | {:>7} {:>7} {:>7} | {:>5} {:>7} {:>7} {:>6} {:>8} {:>6} | seconds",
        "scenario",
        "cases",
        "by visits",
        "DR",
        "WIS",
        "model",
        "truth",
        "bias",
        "half",
        "supp.",
        "contra.",
        "model",
        "little",
        "unstable",
        "drift"
    );
    for scenario in &SCENARIOS {
        if !chosen.is_empty() && !chosen.iter().any(|word| scenario.name.contains(word.as_str())) {
            continue;
        }
        let began = Instant::now();
        let tally = run(scenario, n_logs);
        let share = |n: usize| n as f64 / tally.n as f64;
        let mean = |x: f64| x / tally.n as f64;
        let [marginal, robust, sampled, model] =
            tally.covered.map(|[stated, covered]| covered as f64 / stated as f64);
        println!(
            "{:<28} {:>6} | {marginal:>9.3} {robust:>5.2} {sampled:>5.2} {model:>5.2} | {:>7.3} {:>+7.3} {:>7.3} | {:>5.2} {:>7.2} {:>7.2} {:>6.2} {:>8.2} {:>6.2} | {:.1}",
            scenario.name,
            scenario.n_cases,
            mean(tally.truth),
            mean(tally.bias),
            mean(tally.half),
            share(tally.better),
            share(tally.worse),
            share(tally.contradicted),
            share(tally.too_little),
            share(tally.unstable),
            share(tally.drifts),
            began.elapsed().as_secs_f64()
        );
    }
}
