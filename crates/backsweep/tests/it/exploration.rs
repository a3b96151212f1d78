//! Exploring agents: every way to explore with every way to forget, on random histories. Bonuses against their closed forms,
//! forgetting against a recount from scratch, both sets of values against the model, and files bit for bit.

use crate::common;
use crate::common::{Book, Row};
use backsweep::explore::{EpsilonGreedy, Exploration, Explore, Forgetting, Optimism};
use backsweep::planner::{Array, Model, Outcome, Pair, Snapshot};
use backsweep::{Action, Agent, Budget, Error, Next, PlannerKind, Random, Settings, State, Transition};

const RANGE: (f64, f64) = (-3.0, 3.0);
const GAMMA: f64 = 0.9;

fn explores() -> Vec<Explore> {
    vec![
        Explore::EpsilonGreedy { epsilon: 0.2 },
        Explore::Optimism(Optimism { value: 30.0, min_visits: 1 }),
        Explore::CountBonus { beta: 0.5 },
        Explore::VarianceBonus { c: 1.0, d: 0.3 },
        Explore::BayesBonus { beta: 2.0 },
        Explore::AchievableBonus { beta: 5.0, d: 0.2 },
        Explore::PosteriorSampling { worlds: 1, prior: 0.5 },
        Explore::PosteriorSampling { worlds: 3, prior: 0.0 },
    ]
}

const FORGETTINGS: [Forgetting; 6] = [
    Forgetting::Never,
    Forgetting::PerVisit(0.9),
    Forgetting::PerVisit(0.01),
    Forgetting::HalfLife(7.0),
    Forgetting::HalfLife(0.1),
    Forgetting::Window(30),
];

fn settings() -> Settings {
    Settings { discount: GAMMA, ..Settings::default() }
}

fn build(explore: Explore, forgetting: Forgetting, age_bonus: f64, kind: PlannerKind) -> Agent {
    try_build(explore, forgetting, age_bonus, kind).unwrap()
}

fn try_build(
    explore: Explore,
    forgetting: Forgetting,
    age_bonus: f64,
    kind: PlannerKind,
) -> backsweep::Result<Agent> {
    let exploration = Exploration {
        explore,
        forgetting,
        age_bonus,
        reward_range: Some(RANGE),
        seed: 5,
        ..Exploration::default()
    };
    Agent::with_planner(kind, settings())?.with_exploration(exploration)
}

/// An agent on this model that explores.
fn exploring(
    model: Model,
    kind: PlannerKind,
    settings: Settings,
    exploration: Exploration,
) -> backsweep::Result<Agent> {
    Agent::from_parts(model, kind.build(settings)?, EpsilonGreedy::GREEDY).with_exploration(exploration)
}

/// Every combination that there is, with a name: the baselines keep no bonuses.
fn agents() -> Vec<(String, Agent)> {
    let mut all = Vec::new();
    for kind in backsweep_baselines::PLANNERS {
        for explore in explores() {
            for forgetting in FORGETTINGS {
                for age_bonus in [0.0, 0.1] {
                    let name = format!("{kind} {explore:?} {forgetting:?} {age_bonus}");
                    all.extend(try_build(explore, forgetting, age_bonus, kind).map(|agent| (name, agent)));
                }
            }
        }
    }
    all
}

/// Every combination in which pairs are frozen after two visits.
fn frozen_agents() -> Vec<(String, Agent)> {
    let mut all = Vec::new();
    for kind in backsweep_baselines::PLANNERS {
        for explore in explores() {
            for forgetting in [Forgetting::Never, Forgetting::Window(30)] {
                let exploration =
                    Exploration { explore, forgetting, reward_range: Some(RANGE), ..Exploration::default() };
                let agent = exploring(Model::new().with_freeze_at(2), kind, settings(), exploration);
                let name = format!("{kind} {explore:?} {forgetting:?}, frozen");
                all.extend(agent.map(|agent| (name, agent)));
            }
        }
    }
    all
}

/// One step of a random world with ends, truncations, and states and actions that appear as it goes.
fn any_step(agent: &mut Agent, random: &mut Random) -> Option<Transition> {
    let n_states = agent.model().n_states() as u32;
    match random.below(60) {
        0 => drop(agent.add_state(random.below(4) as usize).unwrap()),
        1 => drop(agent.add_action(State(random.below(n_states))).unwrap()),
        2..=9 => drop(agent.plan(Budget::Cycles(u64::from(random.below(4))))),
        10 => drop(agent.recommend(Budget::Cycles(u64::from(random.below(4))))),
        11..=13 => {
            let n = std::cell::Cell::new(random.below(3));
            let stop = || n.replace(n.get().wrapping_sub(1)) == 0;
            agent.plan(Budget::UntilStopped(&stop));
        }
        _ => {
            let state = State(random.below(n_states));
            if agent.model().n_actions(state) == 0 {
                return None;
            }
            let action = agent.act(state, random).unwrap();
            let next = match random.below(8) {
                0 => Next::Terminated,
                1 => Next::Truncated(State(random.below(n_states))),
                _ => Next::Continue(State(random.below(n_states))),
            };
            let transition = Transition { state, action, reward: f64::from(random.below(7)) - 3.0, next };
            agent.observe_transition(&transition).unwrap();
            return Some(transition);
        }
    }
    None
}

/// A call that is not an observation: outcomes that are set, counts, weights, a step undone.
fn any_other_call(agent: &mut Agent, random: &mut Random) {
    let n_states = agent.model().n_states() as u32;
    let state = State(random.below(n_states));
    let n_actions = agent.model().n_actions(state) as u32;
    if n_actions == 0 {
        return;
    }
    let action = Action(random.below(n_actions));
    let next = common::on(random.below(n_states));
    let step = Transition { state, action, reward: f64::from(random.below(7)) - 3.0, next };
    match random.below(4) {
        0 => {
            let to = [Next::Terminated, next, common::on(0), common::on(random.below(n_states))];
            // Sums that are exact, rounded, or hide an outcome.
            let shares =
                [[0.25; 4], [0.1, 0.2, 0.3, 0.4], [1e-90, 0.3, 0.7, 1e-17]][random.below(3) as usize];
            let outcome = |(next, probability)| Outcome { probability, reward: step.reward, next };
            let outcomes: Vec<Outcome> = to.into_iter().zip(shares).map(outcome).collect();
            agent.set_outcomes(state, action, &outcomes).unwrap();
            // Some are undone; agents that fade or keep a window refuse that.
            for i in 0..random.below(5) as usize {
                let undone = Transition { next: to[i % 4], ..step };
                drop(agent.observe_weighted(&undone, -shares[i % 4]));
            }
        }
        // Not all agents take these, and none changes if it does not.
        1 => drop(agent.add_counts(state, action, next, 3, 2.0)),
        2 => drop(agent.observe_weighted(&step, 2.5)),
        _ => {
            if agent.observe_transition(&step).unwrap() && random.chance(0.5) {
                drop(agent.forget(&step));
            }
        }
    }
    let bad = Transition { reward: f64::NAN, ..step };
    assert!(agent.observe_transition(&bad).is_err());
}

/// For any calls in any order, both planners keep the relation, what is stored after any of them can be restored, a file restores
/// the agent bit for bit, and a damaged one is refused or works.
#[test]
fn every_call_keeps_the_relation() {
    for (i, (name, mut agent)) in agents().into_iter().chain(frozen_agents()).enumerate() {
        let mut random = Random::stream(19, &[i as u64]);
        for _ in 0..4 {
            agent.add_state(1 + random.below(3) as usize).unwrap();
        }
        let any_call = |agent: &mut Agent, random: &mut Random| match random.below(4) {
            0 => any_other_call(agent, random),
            _ => drop(any_step(agent, random)),
        };
        for step in 0..150 {
            any_call(&mut agent, &mut random);
            if (step + i) % 4 == 0
                && let Err(error) =
                    Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS)
            {
                panic!("{name}, step {step}: {error}");
            }
            for found in [agent.audit(), agent.audit_acting()] {
                assert!(found.relative_relation < 1e-11, "{name}, step {step}: {found:?}");
            }
        }
        let mut copy = Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS)
            .unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut same = random.clone();
        for _ in 0..50 {
            any_call(&mut agent, &mut random);
            any_call(&mut copy, &mut same);
        }
        assert_eq!(copy.store().unwrap(), agent.store().unwrap(), "{name}");
        if i % 5 == 0 {
            damage(&agent.store().unwrap(), &mut random);
        }
    }
}

/// Damages one array at a time; a damaged agent that is accepted must work without a panic.
fn damage(stored: &Snapshot, random: &mut Random) {
    for (name, array) in stored.iter() {
        let of_explorer = [
            "explore.",
            "acting.values",
            "acting.queue",
            "world0.",
            "values.bonus",
            "counters",
            "model.ended",
        ];
        if !of_explorer.iter().any(|prefix| name.starts_with(prefix)) {
            continue;
        }
        let mut damaged = stored.clone();
        damaged.put(name, damaged_array(array.clone(), random));
        if let Ok(mut agent) = Agent::restore_among(&damaged, &backsweep_baselines::PLANNERS) {
            let place = format!("{name} was damaged");
            for _ in 0..20 {
                let state = State(random.below(agent.model().n_states() as u32));
                if let Ok(action) = agent.act(state, random) {
                    let step = Transition { state, action, reward: 1.0, next: Next::Continue(state) };
                    if let Err(error) = agent.observe_transition(&step) {
                        assert!(
                            matches!(error, Error::Full { .. } | Error::Weight { .. }),
                            "{place}: {error}"
                        );
                    }
                }
                agent.plan(Budget::Cycles(3));
            }
            let stored = agent.store().unwrap();
            if let Err(error) = Agent::restore_among(&stored, &backsweep_baselines::PLANNERS) {
                panic!("{place}, accepted, and stored as something that is refused: {error}");
            }
            agent.recommend(Budget::Cycles(3));
        }
    }
}

fn damaged_array(array: Array, random: &mut Random) -> Array {
    fn at<T: Copy>(mut items: Vec<T>, random: &mut Random, value: T) -> Vec<T> {
        match random.below(4) {
            0 => drop(items.pop()),
            1 => items.push(value),
            _ if items.is_empty() => items.push(value),
            _ => {
                let i = random.below(items.len() as u32) as usize;
                items[i] = value;
            }
        }
        items
    }
    match array {
        Array::F64(items) => {
            let value = [f64::NAN, f64::INFINITY, -1.0, 0.0, 1e300, 1e-300, 1e-100][random.below(7) as usize];
            Array::F64(at(items, random, value))
        }
        Array::U32(items) => {
            let value = [0, 1, 7, u32::MAX][random.below(4) as usize];
            Array::U32(at(items, random, value))
        }
        Array::U64(items) => {
            let value = [0, 1, 7, 1 << 40, u64::MAX / 2, u64::MAX][random.below(6) as usize];
            Array::U64(at(items, random, value))
        }
        Array::Bytes(items) => Array::Bytes(at(items, random, b'x')),
    }
}

/// The observations of a pair, with the step of the agent and the weight that the definition gives it now.
fn recount(
    history: &[Transition],
    forgetting: Forgetting,
    state: usize,
    action: usize,
) -> (Row, f64, Vec<f64>) {
    let mut book = Book::new((0..=state).map(|_| action + 1));
    let (mut n, mut rewards) = (0.0, Vec::new());
    let of_pair = |t: &Transition| (t.state.index(), t.action.index()) == (state, action);
    let visits = history.iter().filter(|t| of_pair(t)).count();
    let mut visit = 0;
    for (t, transition) in history.iter().enumerate().filter(|(_, t)| of_pair(t)) {
        visit += 1;
        let weight = match forgetting {
            Forgetting::Never => 1.0,
            Forgetting::PerVisit(rate) => rate.powi((visits - visit) as i32),
            Forgetting::HalfLife(steps) => 0.5f64.powf((history.len() - 1 - t) as f64 / steps),
            Forgetting::Window(length) => f64::from(u8::from(t + length as usize >= history.len())),
        };
        book.record(transition, weight);
        n += weight;
        rewards.push(weight);
        rewards.push(transition.reward);
    }
    (book.rows[state][action].clone(), n, rewards)
}

/// Forgetting against a recount from scratch, the relation of both planners, and the values that are recommended against
/// policy iteration on the recount.
#[test]
fn forgetting_and_both_planners_agree_with_a_recount() {
    // The baselines come to rest with values that are not exact.
    let is_exact = |agent: &Agent| PlannerKind::SWEEPING.contains(&agent.planner().kind().unwrap());
    for (i, (name, mut agent)) in agents().into_iter().filter(|(_, agent)| is_exact(agent)).enumerate() {
        let mut random = Random::stream(7, &[i as u64]);
        for _ in 0..5 {
            agent.add_state(1 + random.below(3) as usize).unwrap();
        }
        let mut history = Vec::new();
        let forgetting = agent.exploration().unwrap().forgetting;
        for step in 0..220 {
            history.extend(any_step(&mut agent, &mut random));
            let place = format!("{name}, step {step}");
            for found in [agent.audit(), agent.audit_acting()] {
                assert!(found.relative_relation < 1e-11, "{place}: {found:?}");
            }
            if step % 20 != 19 {
                continue;
            }
            let mut book = Book::new(agent.model().states().map(|s| agent.model().n_actions(s)));
            for (s, rows) in book.rows.iter_mut().enumerate() {
                for (a, row) in rows.iter_mut().enumerate() {
                    *row = check_row(agent.model(), &history, forgetting, (s, a), &place);
                }
            }
            agent.recommend(Budget::UNTIL_IDLE);
            let unseen = agent.planner().settings().unwrap().optimism.value;
            let expected = book.policy_iteration(GAMMA, unseen, 0);
            let (error, at) = common::worst(&common::values(&agent), &expected);
            assert!(error < 1e-6, "{place}: V({at}) is off by {error}");
        }
    }
}

fn check_row(
    model: &Model,
    history: &[Transition],
    forgetting: Forgetting,
    (s, a): (usize, usize),
    place: &str,
) -> Row {
    let pair = model.pair(State(s as u32), Action(a as u32)).unwrap();
    let (row, n, _) = recount(history, forgetting, s, a);
    if n < 1e-60 {
        // Only faded observations: the ratios are still there, or the row is empty.
        return Row { weight: model.weight(pair), reward_sum: model.reward_sum(pair), ..row_of(model, pair) };
    }
    assert!((model.mean_reward(pair) - row.reward_sum / row.weight).abs() < 1e-9, "{place}: R({s},{a})");
    for next in model.successors(pair) {
        let expected = row.next.get(&next.state.index()).copied().unwrap_or(0.0) / row.weight;
        let found = next.weight / model.weight(pair);
        assert!((found - expected).abs() < 1e-11, "{place}: P({s},{a},{}) {found}, {expected}", next.state);
    }
    row
}

fn row_of(model: &Model, pair: Pair) -> Row {
    let next = model.successors(pair).map(|next| (next.state.index(), next.weight)).collect();
    Row { weight: model.weight(pair), reward_sum: model.reward_sum(pair), next, given: false }
}

/// The bonus of each pair is its formula in the pair's effective number of visits, as of its last visit.
#[test]
fn bonuses_are_their_closed_form() {
    let range = RANGE.1 - RANGE.0;
    for forgetting in [Forgetting::Never, Forgetting::PerVisit(0.8), Forgetting::Window(20)] {
        // The bonus of surprise is about all pairs: see below.
        for explore in explores().into_iter().filter(|e| !matches!(e, Explore::AchievableBonus { .. })) {
            let mut agent = build(explore, forgetting, 0.0, PlannerKind::default());
            let mut random = Random::from_seed(3);
            agent.add_state(2).unwrap();
            agent.add_state(0).unwrap(); // an end that is a state, worth 0 like the end itself
            let mut history = Vec::new();
            for _ in 0..120 {
                let state = State(0);
                let action = Action(random.below(2));
                let reward = f64::from(random.below(7)) - 3.0;
                let next = if random.chance(0.5) { Next::Terminated } else { Next::Continue(State(1)) };
                let transition = Transition { state, action, reward, next };
                agent.observe_transition(&transition).unwrap();
                history.push(transition);
                for a in 0..2 {
                    let (_, n, rewards) = recount(&history, forgetting, 0, a);
                    let pair = agent.model().pair(state, Action(a as u32)).unwrap();
                    let found = agent.acting_values().bonus(pair);
                    if n == 0.0 {
                        continue;
                    }
                    let weighted = |f: &dyn Fn(f64) -> f64| {
                        rewards.chunks(2).map(|wr| wr[0] * f(wr[1])).sum::<f64>() / n
                    };
                    let mean = weighted(&|r| r);
                    let variance = weighted(&|r| (r - mean).powi(2));
                    let expected = match explore {
                        Explore::CountBonus { beta } => beta * range / n.sqrt(),
                        Explore::BayesBonus { beta } => beta * range / (1.0 + n),
                        Explore::VarianceBonus { c, d } => c * (variance / n).sqrt() + d * range / n,
                        _ => 0.0,
                    };
                    assert!(
                        (found - expected).abs() < 1e-9,
                        "{explore:?} {forgetting:?} n={n}: {found}, {expected}"
                    );
                }
            }
        }
    }
}

/// The variance of a bonus counts the values of successors, ends at 0.
#[test]
fn the_variance_bonus_counts_next_values() {
    let mut agent =
        build(Explore::VarianceBonus { c: 1.0, d: 0.0 }, Forgetting::Never, 0.0, PlannerKind::default());
    agent.add_state(1).unwrap();
    agent.add_state(1).unwrap();
    let end = Transition { state: State(1), action: Action(0), reward: 2.0, next: Next::Terminated };
    agent.observe_transition(&end).unwrap();
    agent.plan(Budget::UNTIL_IDLE);
    for (visits, next) in [(1.0, Next::Continue(State(1))), (2.0, Next::Terminated)] {
        agent
            .observe_transition(&Transition { state: State(0), action: Action(0), reward: 1.0, next })
            .unwrap();
        let pair = agent.model().pair(State(0), Action(0)).unwrap();
        let p: f64 = 1.0 / visits;
        let expected = (GAMMA * GAMMA * p * (1.0 - p) * 4.0 / visits).sqrt(); // V(1) is 2, its bonus 0
        assert!((agent.acting_values().bonus(pair) - expected).abs() < 1e-12);
    }
}

/// The formula of docs/exploring.md, in units of the range, from the whole history: that of the pair just visited.
fn achievable_bonus(history: &[Transition], agent: &Agent, highest: f64, (beta, d): (f64, f64)) -> f64 {
    let range = RANGE.1 - RANGE.0;
    let last = history[history.len() - 1];
    let of = |s: State, a: Action| history.iter().filter(move |t| (t.state, t.action) == (s, a));
    let (mut surprise, mut n_repeated) = (0.5, 0.0);
    let mut pairs: Vec<(State, Action)> = Vec::new();
    for (i, t) in history.iter().enumerate() {
        let earlier: Vec<&Transition> =
            history[..i].iter().filter(|e| (e.state, e.action) == (t.state, t.action)).collect();
        let n = earlier.len() as f64;
        if earlier.is_empty() {
            pairs.push((t.state, t.action));
            continue;
        }
        surprise += 1.0 - earlier.iter().filter(|e| e.next == t.next).count() as f64 / n;
        n_repeated += 1.0;
    }
    let s = surprise / (n_repeated + 1.0);
    // Share, and y in units of the range, of each outcome of an action.
    let outlook = |a: Action| -> Vec<(f64, f64)> {
        let tries: Vec<&Transition> = of(last.state, a).collect();
        let mut outcomes: Vec<Next> = Vec::new();
        tries.iter().for_each(|t| {
            if !outcomes.contains(&t.next) {
                outcomes.push(t.next)
            }
        });
        let one = |&next: &Next| {
            let same: Vec<f64> = tries.iter().filter(|t| t.next == next).map(|t| t.reward).collect();
            let reward = same.iter().sum::<f64>() / same.len() as f64;
            let y = reward + GAMMA * next.state().map_or(0.0, |next| agent.value(next));
            (same.len() as f64 / tries.len() as f64, y / range)
        };
        outcomes.iter().map(one).collect()
    };
    let variance = |items: &[(f64, f64)]| {
        let mean: f64 = items.iter().map(|(p, y)| p * y).sum();
        items.iter().map(|(p, y)| p * (y - mean).powi(2)).sum::<f64>()
    };
    let own = outlook(last.action);
    let ys: Vec<f64> = (0..2).flat_map(|a| outlook(Action(a))).map(|(_, y)| y).collect();
    let mut span = ys.iter().copied().fold(f64::MIN, f64::max) - ys.iter().copied().fold(f64::MAX, f64::min);
    if span < 1e-3 {
        span = span.max((highest - agent.value(last.state)) / range);
    }
    let n = of(last.state, last.action).count() as f64;
    let noise = |a: Action| {
        let tries: Vec<&Transition> = of(last.state, a).collect();
        let n = tries.len() as f64;
        let off_mean = |t: &&Transition| {
            let same: Vec<f64> = tries.iter().filter(|e| e.next == t.next).map(|e| e.reward).collect();
            ((t.reward - same.iter().sum::<f64>() / same.len() as f64) / range).powi(2)
        };
        let mean = tries.iter().map(|t| t.reward).sum::<f64>() / n.max(1.0);
        let outside = (mean - mean.clamp(RANGE.0, RANGE.1)) / range;
        tries.iter().map(off_mean).sum::<f64>() / n.max(1.0) + outside.powi(2)
    };
    let noisiest = noise(Action(0)).max(noise(Action(1)));
    let v = (n * noise(last.action) + 3.0 * noisiest) / (n + 3.0);
    let by_range = 4.0 * (1.0 - GAMMA);
    let by_values = (n * variance(&own) + 1.5 * s * span * span) / (n + 3.0);
    let top = history.iter().map(|t| t.reward).fold(f64::MIN, f64::max);
    let u = match (RANGE.1 - top) / range {
        u if u < 0.0 => 1.0, // outside the range, which is then that of means
        u if u < 0.02 => 0.0,
        u => u,
    };
    let t = u * u * by_range + (1.0 - u * u) * by_range.min(by_values);
    let mean_visits = history.len() as f64 / pairs.len() as f64;
    range * (beta * (1.0 + mean_visits / 20.0).ln() * ((t + v / 2.0) / n).sqrt() + d * noisiest.sqrt() / n)
}

#[test]
fn the_achievable_bonus_is_its_closed_form() {
    // With one action per state all y are those of the moment; with two, and steps that end, they never change by themselves.
    for (n_actions, n_ways, top) in
        [(1, 3, 3.0), (1, 3, 1.0), (1, 2, 3.0), (1, 3, 5.0), (2, 1, 2.0), (2, 1, 3.0)]
    {
        let constants = (3.0, 0.1);
        let explore = Explore::AchievableBonus { beta: constants.0, d: constants.1 };
        let mut agent = build(explore, Forgetting::Never, 0.0, PlannerKind::default());
        agent.add_states([n_actions; 3]).unwrap();
        let mut random = Random::from_seed(8);
        let mut history = Vec::new();
        for step in 0..400 {
            let (s, a) = (random.below(3), random.below(n_actions as u32));
            let next = match random.below(n_ways) {
                0 => Next::Terminated,
                way => common::on((s + way) % 3),
            };
            let reward = if s == 0 { top * random.unit().round() } else { -0.5 };
            let transition = common::step(s, a, reward, next);
            // The highest recommended value that the agent knows of.
            let highest = agent.store().unwrap().f64s("explore.achievable").unwrap()[7];
            agent.observe_transition(&transition).unwrap();
            history.push(transition);
            let expected = achievable_bonus(&history, &agent, highest, constants);
            let found = agent.acting_values().bonus(agent.model().pair(State(s), Action(a)).unwrap());
            let place = format!("{n_actions} actions, {n_ways} ways, up to {top}, step {step}");
            assert!((found - expected).abs() <= 1e-9 * expected, "{place}: {found}, {expected}");
        }
    }
}

/// A world with goals: as soon as the goal was found, an untried pair is worth no more than a few times what is achievable.
#[test]
fn the_start_follows_the_highest_recommended_value() {
    for start in [None, Some(25.0)] {
        let explore = Explore::AchievableBonus { beta: 1.0, d: 2.0 };
        let exploration =
            Exploration { explore, reward_range: Some((0.0, 1.0)), start, ..Exploration::default() };
        let mut agent = exploring(Model::new(), PlannerKind::default(), settings(), exploration).unwrap();
        agent.add_states([2, 2, 2]).unwrap();
        let optimism = |agent: &Agent| agent.acting_values().optimism().value;
        let first = start.unwrap_or(1.0 / (1.0 - GAMMA));
        assert!((optimism(&agent) - first).abs() < 1e-12);
        agent.observe(State(0), Action(0), 0.0, State(1)).unwrap();
        assert!((optimism(&agent) - first).abs() < 1e-12);
        agent.observe(State(1), Action(0), 1.0, Next::Terminated).unwrap();
        // Three times the one reward; a start that was stated stays.
        let expected = start.unwrap_or(3.0);
        assert!((optimism(&agent) - expected).abs() < 1e-12, "{} not {expected}", optimism(&agent));
        assert!((agent.acting_values().value(State(2)) - expected).abs() < 1e-12);
        assert!(agent.audit_acting().relation < 1e-12);
        // Rounding keeps no bonus from being a number of the size of the range.
        for _ in 0..50 {
            agent.observe(State(1), Action(0), 1.0, Next::Terminated).unwrap();
            agent.observe(State(0), Action(0), 0.1, State(1)).unwrap();
        }
        for pair in agent.model().states().flat_map(|state| agent.model().pairs(state)) {
            assert!((0.0..10.0).contains(&agent.acting_values().bonus(pair)));
        }
    }
}

/// Every step may end the episode: with rewards below 0 that is the best that may happen, with rewards above 0 the worst.
#[test]
fn an_untried_pair_may_end_the_episode() {
    for (reward_range, acting, recommending) in
        [((-3.0, -1.0), 0.0, -3.0 / (1.0 - GAMMA)), ((1.0, 3.0), 3.0 / (1.0 - GAMMA), 0.0)]
    {
        let explore = Explore::AchievableBonus { beta: 1.0, d: 2.0 };
        let exploration = Exploration { explore, reward_range: Some(reward_range), ..Exploration::default() };
        let mut agent = exploring(Model::new(), PlannerKind::default(), settings(), exploration).unwrap();
        let state = agent.add_state(1).unwrap();
        assert!((agent.acting_values().value(state) - acting).abs() < 1e-12);
        assert!((agent.value(state) - recommending).abs() < 1e-12);
    }
}

/// Two equal outcomes in a row that contradict all earlier ones: the earlier ones are dropped, unless the world is random anyway.
#[test]
fn a_world_that_changes_is_seen_to_have_changed() {
    for is_random in [false, true] {
        let explore = Explore::AchievableBonus { beta: 1.0, d: 2.0 };
        let mut agent = build(explore, Forgetting::Never, 0.0, PlannerKind::default());
        agent.add_states([2, 1, 1]).unwrap();
        let mut random = Random::from_seed(4);
        for _ in 0..60 {
            agent.observe(State(0), Action(0), 1.0, State(1)).unwrap();
            let next = if is_random { State(random.below(3)) } else { State(0) };
            agent.observe(State(1), Action(0), 0.0, next).unwrap();
        }
        let pair = agent.model().pair(State(0), Action(0)).unwrap();
        for (step, next) in [2, 1, 2, 2].into_iter().enumerate() {
            assert_eq!(agent.model().weight(pair), 60.0 + step as f64);
            agent.observe(State(0), Action(0), 0.5, State(next)).unwrap();
        }
        // State 2 was seen before the last two steps.
        assert_eq!(agent.model().weight(pair), 64.0);
        assert!(agent.intervals(0.9).is_ok());
        for _ in 0..2 {
            agent.observe(State(0), Action(0), 0.5, Next::Terminated).unwrap();
        }
        let expected = if is_random { (66.0, 2.0) } else { (2.0, 2.0) };
        assert_eq!((agent.model().weight(pair), agent.model().ended_weight(pair)), expected);
        assert_eq!(agent.intervals(0.9).is_err(), !is_random);
        assert!(agent.audit().relation < 1e-12 && agent.audit_acting().relation < 1e-12);
        let same = Agent::restore(&agent.store().unwrap()).unwrap();
        assert_eq!(same.store().unwrap(), agent.store().unwrap());
        agent.recommend(Budget::UNTIL_IDLE);
        if !is_random {
            assert!((agent.model().mean_reward(pair) - 0.5).abs() < 1e-12);
            // Two equal rewards have no variance, whatever those were that were dropped.
            let bonus = agent.acting_values().bonus(pair);
            assert!(bonus < 2.0, "{bonus}");
        }
    }
}

/// κ √age, brought up to date at an age of 8 and whenever it has grown by a quarter.
#[test]
fn the_age_bonus_grows_with_the_age() {
    let kappa = 0.25;
    let mut agent =
        build(Explore::EpsilonGreedy { epsilon: 0.0 }, Forgetting::Never, kappa, PlannerKind::default());
    agent.add_state(2).unwrap();
    let step = |a| Transition { state: State(0), action: Action(a), reward: 0.0, next: Next::Terminated };
    agent.observe_transition(&step(0)).unwrap();
    let pair = agent.model().pair(State(0), Action(0)).unwrap();
    let mut brought_up = 0u64;
    for age in 1..400u64 {
        agent.observe_transition(&step(1)).unwrap();
        let found = agent.acting_values().bonus(pair);
        let is_due = if brought_up == 0 { age == 8 } else { age == brought_up + (brought_up / 4).max(1) };
        brought_up = if is_due { age } else { brought_up };
        let expected = kappa * (RANGE.1 - RANGE.0) * (brought_up as f64).sqrt();
        assert!((found - expected).abs() < 1e-12, "age {age}: {found}, {expected}");
    }
    agent.observe_transition(&step(0)).unwrap();
    assert_eq!(agent.acting_values().bonus(pair), 0.0);
    agent.recommend(Budget::UNTIL_IDLE);
    assert_eq!(agent.action_value(State(0), Action(0)).unwrap(), 0.0);
}

/// A restored agent continues bit for bit: same actions, same arrays, whatever the recommending planner has yet to absorb.
#[test]
fn every_agent_is_resumed_bit_for_bit() {
    for (i, (name, mut agent)) in agents().into_iter().enumerate() {
        let mut random = Random::stream(11, &[i as u64]);
        for _ in 0..4 {
            agent.add_state(1 + random.below(3) as usize).unwrap();
        }
        for round in 0..3 {
            for _ in 0..70 {
                any_step(&mut agent, &mut random);
            }
            let mut copy = Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(copy.store().unwrap(), agent.store().unwrap(), "{name}, round {round}: restored");
            let mut same = random.clone();
            for _ in 0..70 {
                assert_eq!(any_step(&mut agent, &mut random), any_step(&mut copy, &mut same), "{name}");
            }
            for agent in [&mut agent, &mut copy] {
                agent.recommend(Budget::Cycles(50));
            }
            assert_eq!(copy.store().unwrap(), agent.store().unwrap(), "{name}, round {round}: continued");
        }
    }
}

/// A world that takes over is planned with what the observations since the last change have paid for.
#[test]
fn planning_in_drawn_worlds_costs_a_constant_per_observation() {
    for episodes in [false, true] {
        let explore = Explore::PosteriorSampling { worlds: 2, prior: 1.0 };
        let mut agent = build(explore, Forgetting::Never, 0.0, PlannerKind::default());
        let n_states = 2000;
        agent.add_states(vec![2; n_states as usize]).unwrap();
        let mut random = Random::from_seed(3);
        let n_steps = 4000;
        for i in 0..n_steps {
            let state = State(random.below(n_states));
            let action = agent.act(state, &mut random).unwrap();
            let next =
                if episodes && i % 5 == 4 { Next::Terminated } else { common::on(random.below(n_states)) };
            agent.observe_transition(&Transition { state, action, reward: 1.0, next }).unwrap();
        }
        let stored = agent.store().unwrap();
        let cycles = |i: u32| stored.u64s(&format!("world{i}.counters")).unwrap()[0];
        let n_cycles = cycles(0) + cycles(1);
        assert!((n_steps..=17 * n_steps).contains(&n_cycles), "{n_cycles} cycles in {n_steps} steps");
    }
}

/// A window that cannot give up its oldest observation records nothing; and it always can.
#[test]
fn nothing_stays_in_the_model_that_left_the_window() {
    let explore = Explore::EpsilonGreedy { epsilon: 0.5 };
    for seed in 0..20 {
        let mut agent = build(explore, Forgetting::Window(3), 0.0, PlannerKind::default());
        agent.add_states([2, 2]).unwrap();
        let mut random = Random::from_seed(seed);
        for step in 0..3000 {
            let (state, action) = (State(random.below(2)), Action(random.below(2)));
            let unit = random.unit();
            let reward = [0.0, unit, 1e9 * unit, 1e-9 * unit][random.below(4) as usize];
            let next = if random.chance(0.2) { Next::Terminated } else { common::on(random.below(2)) };
            agent.observe_transition(&Transition { state, action, reward, next }).unwrap();
            let model = agent.model();
            let visits: f64 = model.states().flat_map(|s| model.pairs(s)).map(|p| model.weight(p)).sum();
            assert_eq!(visits, f64::from(3.min(step + 1)), "seed {seed}, step {step}");
        }
    }
}

/// Taking an observation back leaves no trace.
#[test]
fn an_observation_can_be_taken_back() {
    for explore in explores() {
        for forgetting in [Forgetting::Never, Forgetting::Window(50)] {
            let mut agent = build(explore, forgetting, 0.0, PlannerKind::default());
            let mut other = agent.clone();
            let mut random = Random::from_seed(1);
            for agent in [&mut agent, &mut other] {
                for _ in 0..3 {
                    agent.add_state(2).unwrap();
                }
            }
            for i in 0..40 {
                let next = if random.chance(0.3) { Next::Terminated } else { common::on(random.below(3)) };
                let step = common::step(random.below(3), random.below(2), f64::from(random.below(4)), next);
                agent.observe_transition(&step).unwrap();
                if i % 4 == 0 {
                    agent.forget(&step).unwrap();
                } else {
                    other.observe_transition(&step).unwrap();
                }
            }
            let missing = common::step(0, 0, 77.0, Next::Terminated);
            if forgetting != Forgetting::Never {
                assert!(agent.forget(&missing).is_err(), "{explore:?}");
            }
            for state in agent.model().states() {
                for pair in agent.model().pairs(state) {
                    assert_eq!(agent.model().weight(pair), other.model().weight(pair), "{explore:?}");
                    assert!(
                        (agent.acting_values().bonus(pair) - other.acting_values().bonus(pair)).abs() < 1e-9
                            || matches!(
                                explore,
                                Explore::VarianceBonus { .. } | Explore::AchievableBonus { .. }
                            ),
                        "{explore:?}"
                    );
                }
            }
            for agent in [&mut agent, &mut other] {
                agent.recommend(Budget::UNTIL_IDLE);
            }
            let (error, _) = common::worst(&common::values(&agent), &common::values(&other));
            assert!(error < 1e-7, "{explore:?} {forgetting:?}: {error}");
            assert!(agent.audit_acting().relative_relation < 1e-11);
        }
    }
    let mut fading = build(explores()[2], Forgetting::PerVisit(0.5), 0.0, PlannerKind::default());
    fading.add_state(1).unwrap();
    let step = common::step(0, 0, 1.0, Next::Terminated);
    fading.observe_transition(&step).unwrap();
    assert!(fading.forget(&step).unwrap_err().to_string().contains("fade"));
}

/// R-max, optimism and bonuses share one idea: the unknown is worth trying; but nothing is recommended for being unknown.
#[test]
fn acting_is_optimistic_and_recommending_is_not() {
    for explore in explores().into_iter().skip(1) {
        let mut agent = build(explore, Forgetting::Never, 0.0, PlannerKind::default());
        agent.add_state(2).unwrap();
        agent.observe_transition(&common::step(0, 0, 1.0, Next::Terminated)).unwrap();
        agent.plan(Budget::UNTIL_IDLE);
        agent.recommend(Budget::UNTIL_IDLE);
        assert_eq!(agent.act(State(0), &mut Random::from_seed(0)).unwrap(), Action(1), "{explore:?}");
        assert_eq!(
            (agent.best_action(State(0)), agent.value(State(0))),
            (Some(Action(0)), 1.0),
            "{explore:?}"
        );
        let top = agent.acting_values().value(State(0));
        match explore {
            Explore::Optimism(_) => {}
            // A third of the range was not seen; the highest recommended value is 1.
            Explore::AchievableBonus { .. } => assert!((top - (30.0 / 3.0 + 2.0)).abs() < 1e-9, "{top}"),
            _ => assert!(top >= 3.0 / (1.0 - GAMMA) - 1e-9, "{explore:?}: {top}"),
        }
    }
}

/// Settings that make no sense are refused by name, with what was found and what was expected.
#[test]
fn bad_settings_are_refused() {
    let good = Exploration {
        explore: Explore::CountBonus { beta: 1.0 },
        reward_range: Some((0.0, 1.0)),
        ..Exploration::default()
    };
    let refused = |exploration: Exploration, kind, settings, words: &[&str]| {
        let model = Model::new();
        let error = exploring(model, kind, settings, exploration).unwrap_err().to_string();
        for word in words {
            assert!(error.contains(word), "'{error}' does not say '{word}'");
        }
    };
    let kind = PlannerKind::default();
    let explore = |explore| Exploration { explore, ..good };
    let forgetting = |forgetting| Exploration { forgetting, ..good };
    for bad in [-1.0, f64::NAN, f64::INFINITY] {
        let shown = bad.to_string();
        refused(explore(Explore::CountBonus { beta: bad }), kind, settings(), &["beta", &shown, "0 or more"]);
        refused(explore(Explore::BayesBonus { beta: bad }), kind, settings(), &["beta", &shown]);
        refused(explore(Explore::AchievableBonus { beta: bad, d: 0.0 }), kind, settings(), &["beta", &shown]);
        refused(explore(Explore::AchievableBonus { beta: 0.0, d: bad }), kind, settings(), &["d is", &shown]);
        refused(explore(Explore::VarianceBonus { c: bad, d: 0.0 }), kind, settings(), &["c is", &shown]);
        refused(explore(Explore::VarianceBonus { c: 0.0, d: bad }), kind, settings(), &["d is", &shown]);
        refused(
            explore(Explore::PosteriorSampling { worlds: 2, prior: bad }),
            kind,
            settings(),
            &["prior", &shown],
        );
        refused(Exploration { age_bonus: bad, ..good }, kind, settings(), &["age_bonus", &shown]);
        refused(forgetting(Forgetting::PerVisit(bad)), kind, settings(), &["per_visit", &shown, "at most 1"]);
        refused(forgetting(Forgetting::HalfLife(bad)), kind, settings(), &["half_life", &shown]);
        refused(explore(Explore::EpsilonGreedy { epsilon: bad }), kind, settings(), &["epsilon", &shown]);
    }
    for bad in [f64::NAN, f64::INFINITY] {
        refused(Exploration { start: Some(bad), ..good }, kind, settings(), &["start", &bad.to_string()]);
        refused(Exploration { reward_range: Some((0.0, bad)), ..good }, kind, settings(), &["reward_range"]);
    }
    refused(forgetting(Forgetting::PerVisit(0.0)), kind, settings(), &["per_visit is 0"]);
    refused(forgetting(Forgetting::PerVisit(1.1)), kind, settings(), &["per_visit is 1.1"]);
    refused(forgetting(Forgetting::Window(0)), kind, settings(), &["window is 0"]);
    refused(
        explore(Explore::PosteriorSampling { worlds: 0, prior: 1.0 }),
        kind,
        settings(),
        &["worlds is 0"],
    );
    refused(Exploration { reward_range: None, ..good }, kind, settings(), &["count_bonus", "reward_range"]);
    refused(
        Exploration { reward_range: Some((1.0, 0.0)), ..good },
        kind,
        settings(),
        &["(1, 0)", "lower one first"],
    );
    refused(Exploration { reward_range: Some((1.0, 1.0)), ..good }, kind, settings(), &["(1, 1)"]);
    let aged = Exploration { age_bonus: 0.1, reward_range: None, ..Exploration::default() };
    refused(aged, kind, settings(), &["reward_range"]);
    refused(good, backsweep_baselines::MOORE_ATKESON, settings(), &["moore_atkeson", "small_backups"]);
    refused(good, kind, Settings { discount: 1.0, ..settings() }, &["discount 1", "start"]);
    let optimism = Optimism { value: 2.0, min_visits: 1 };
    refused(good, kind, Settings { optimism, ..settings() }, &["optimism", "count_bonus"]);
    let often = Explore::Optimism(Optimism { value: 1.0, min_visits: 3 });
    let fading = Exploration { forgetting: Forgetting::PerVisit(0.5), ..explore(often) };
    refused(fading, kind, settings(), &["min_visits"]);
    let frozen =
        exploring(Model::new().with_freeze_at(3), kind, settings(), forgetting(Forgetting::HalfLife(9.0)));
    assert!(frozen.unwrap_err().to_string().contains("frozen"));
    // The baselines explore by optimism too, and recommend without it.
    for kind in backsweep_baselines::PLANNERS {
        let mut agent = exploring(Model::new(), kind, settings(), explore(often)).unwrap();
        agent.add_state(1).unwrap();
        agent.observe_transition(&common::step(0, 0, 0.5, Next::Terminated)).unwrap();
        agent.plan(Budget::UNTIL_IDLE);
        agent.recommend(Budget::UNTIL_IDLE);
        assert_eq!((agent.acting_values().value(State(0)), agent.value(State(0))), (1.0, 0.5), "{kind}");
    }
}

#[test]
fn every_way_can_be_made_from_its_name_and_constants() {
    for (i, name) in (1..).zip(Explore::NAMES) {
        let mut next = f64::from(i);
        let made = Explore::named(name, |_| {
            next += 1.0;
            Ok::<_, ()>(next)
        });
        let explore = made.unwrap().unwrap();
        assert_eq!(explore.name(), name);
        let constants = explore.constants();
        let again = Explore::named(name, |constant| {
            constants.iter().find(|(known, _)| *known == constant).map(|(_, number)| *number).ok_or(constant)
        });
        assert_eq!(again, Ok(Some(explore)));
    }
    assert_eq!(Explore::named("greedy", |_| Ok::<_, ()>(0.0)), Ok(None));
}

/// One door restores agents that explore and agents that do not.
#[test]
fn agents_are_restored_with_how_they_explore() {
    let exploring = build(Explore::CountBonus { beta: 0.5 }, Forgetting::Never, 0.0, PlannerKind::default());
    let restored = Agent::restore(&exploring.store().unwrap()).unwrap();
    assert_eq!(
        (restored.exploration(), restored.store().unwrap()),
        (exploring.exploration(), exploring.store().unwrap())
    );
    let plain = Agent::new(settings()).unwrap();
    let restored = Agent::restore_among(&plain.store().unwrap(), &backsweep_baselines::PLANNERS).unwrap();
    assert_eq!((restored.exploration(), restored.store().unwrap()), (None, plain.store().unwrap()));
}

/// A step that is refused leaves a row that has nearly faded as it was, and the agent can be stored and restored.
#[test]
fn a_refused_step_fades_nothing() {
    let explore = Explore::EpsilonGreedy { epsilon: 0.0 };
    let mut agent = build(explore, Forgetting::HalfLife(1.0), 0.0, PlannerKind::default());
    for _ in 0..3 {
        agent.add_state(1).unwrap();
    }
    agent.observe_transition(&common::step(0, 0, 1.0, common::on(1))).unwrap();
    agent.observe_transition(&common::step(0, 0, 1.0, common::on(2))).unwrap();
    for _ in 0..331 {
        agent.observe_transition(&common::step(1, 0, 0.0, common::on(1))).unwrap();
    }
    let before = agent.store().unwrap();
    agent.observe_transition(&common::step(0, 0, f64::NAN, common::on(1))).unwrap_err();
    agent.observe_transition(&common::step(0, 0, 0.0, common::on(9))).unwrap_err();
    assert_eq!(agent.store().unwrap(), before);
    agent.observe_transition(&common::step(0, 0, 1.0, common::on(1))).unwrap();
    assert_eq!(
        Agent::restore_among(&agent.store().unwrap(), &backsweep_baselines::PLANNERS)
            .unwrap()
            .store()
            .unwrap(),
        agent.store().unwrap()
    );
}
