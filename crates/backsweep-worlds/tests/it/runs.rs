//! Runs of scripted agents, whose scores are worked out by hand.

use backsweep::episode::Environment;
use backsweep::explore::{Exploration, Explore, Optimism};
use backsweep::{Action, Next, Random, State, Transition};
use backsweep_worlds::{AgentSettings, Horizon, Run, RunScore, World, world};

fn build(name: &str) -> World {
    world(name, &mut Random::from_seed(7)).unwrap()
}

/// Takes one step; returns what followed.
fn step(run: &mut Run, action: Action, random: &mut Random) -> Next {
    let state = run.state();
    let drawn = run.table().step(state, action, random);
    run.take(&Transition { state, action, reward: drawn.reward, next: drawn.next }, random)
}

/// A whole run of a script that sees the run.
fn run(world: &World, mut script: impl FnMut(&Run) -> Action) -> RunScore {
    let mut random = Random::from_seed(5);
    let mut run = Run::new(world.clone(), &mut random);
    while !run.is_over() {
        let action = script(&run);
        step(&mut run, action, &mut random);
    }
    run.result()
}

/// The action of a sea that goes right.
fn right(world: &World, state: State) -> Action {
    let grid = world.grid().unwrap();
    (0..2).map(Action).find(|&action| grid.direction(state, action) == Some((1, 1))).unwrap()
}

#[test]
fn totals_and_regrets() {
    let river = build("riverswim_6");
    let stayed = run(&river, |_| Action(0));
    assert_eq!((stayed.steps, stayed.episodes), (10_000, 0));
    assert!((stayed.score - (0.428_57 - 0.005) * 10_000.0).abs() < 1.0, "{}", stayed.score);
    let swum = run(&river, |_| Action(1));
    assert!(swum.score.abs() < 300.0, "{}", swum.score);
    let looped = run(&build("double_loop"), |_| Action(1));
    assert_eq!(looped.score, 400.0);
}

#[test]
fn the_goal_is_found_where_every_reward_is_negative() {
    let cliff = build("cliff_walking");
    let up = run(&cliff, |_| Action(3));
    assert_eq!((up.score, up.episodes), (-5_000.0, 0));
    let explores = [
        Explore::AchievableBonus { beta: 1.0, d: 2.0 },
        Explore::BayesBonus { beta: 0.2 },
        Explore::VarianceBonus { c: 0.5, d: 0.3 },
        Explore::PosteriorSampling { worlds: 1, prior: 0.1 },
        Explore::Optimism(Optimism { value: 1.0, min_visits: 1 }),
    ];
    for explore in explores {
        let exploration = Exploration { explore, ..Exploration::default() };
        let agent = AgentSettings { exploration, ..AgentSettings::default() };
        let found = agent.run(&cliff, &mut Random::from_seed(3)).unwrap();
        assert!(found.episodes > 50, "{explore:?}: {found:?}");
    }
}

#[test]
fn a_sea_is_solved_when_few_enough_episodes_are_bad() {
    let sea = build("deep_sea_10");
    let found = run(&sea, |run| right(&sea, run.state()));
    assert_eq!((found.score, found.reached, found.steps), (1.0, true, 10));
    // Nine bad episodes, then good ones: 9 of 10 is not below .9, 9 of 11 is.
    let found = run(&sea, |run| {
        let right = right(&sea, run.state());
        if run.steps() < 90 { Action(1 - right.0) } else { right }
    });
    assert_eq!((found.score, found.reached), (11.0, true));
    // Leaving the diagonal once makes an episode bad; where the agent leaves it does not matter.
    let never = run(&sea, |run| {
        let right = right(&sea, run.state());
        if run.state() == State(0) { Action(1 - right.0) } else { right }
    });
    assert_eq!((never.score, never.reached), (1123.0, false));
    // Stochastic: at least 100 episodes, and slips are not the agent's fault.
    let sea = build("deep_sea_stochastic_10");
    let found = run(&sea, |run| right(&sea, run.state()));
    assert_eq!((found.score, found.reached), (100.0, true));
    assert_eq!(build("deep_sea_20").horizon, Horizon::Episodes(10_000));
}

#[test]
fn a_policy_counts_from_the_first_of_three_good_evaluations() {
    let lake = build("frozen_lake_8x8");
    let table = lake.table();
    let best = table.values(lake.discount, None, 1e-9).unwrap();
    let worth = |s: State, a: Action| -> f64 {
        let on = |next: Next| next.state().map_or(0.0, |next| best[next.index()]);
        table.outcomes(s, a).iter().map(|o| o.probability * (o.reward + lake.discount * on(o.next))).sum()
    };
    let greedy = |s: u32| {
        let actions = (0..table.n_actions(State(s)) as u32).map(Action);
        actions.max_by(|a, b| worth(State(s), *a).total_cmp(&worth(State(s), *b))).unwrap_or(Action(0))
    };
    let (good, bad): (Vec<Action>, Vec<Action>) = (0..64).map(|s| (greedy(s), Action(0))).unzip();
    let mut random = Random::from_seed(2);
    let mut run = Run::new(lake.clone(), &mut random);
    let mut longest = 0;
    let mut length = 0;
    while !run.is_over() {
        let action = Action(random.below(4));
        let next = step(&mut run, action, &mut random);
        length += 1;
        if !matches!(next, Next::Continue(_)) {
            longest = longest.max(std::mem::take(&mut length));
        }
        if run.wants_policy() {
            // Good at 500, bad at 750, good from 1,000 on.
            let policy = if run.steps() == 500 || run.steps() >= 1_000 { &good } else { &bad };
            let part = run.judge(policy).unwrap();
            assert!(part <= 1.0 + 1e-6 && !(0.5..=0.999).contains(&part), "{part}");
        }
    }
    let result = run.result();
    assert_eq!((result.score, result.reached, result.steps), (1_000.0, true, 1_500));
    assert!(longest <= 200);
}

#[test]
fn an_episode_that_is_too_long_is_truncated_not_ended() {
    let taxi = build("taxi");
    let mut random = Random::from_seed(1);
    let mut run = Run::new(taxi.clone(), &mut random);
    for i in 1..=400 {
        // Picking up nobody forever.
        let before = run.state();
        let next = step(&mut run, Action(5), &mut random);
        assert_eq!(matches!(next, Next::Truncated(state) if state == before), i % 200 == 0, "step {i}");
    }
    assert_eq!((run.result().episodes, run.result().score), (2, -4_000.0));
}

#[test]
fn a_maze_changes_within_a_run() {
    let maze = build("blocking_maze");
    // Up in column 8, as if the wall had never moved: 100 times to the goal, then never again.
    let script = |run: &Run| match maze.grid().unwrap().cell(run.state()).unwrap() {
        (_, column) if column < 8 => Action(1),
        _ => Action(0),
    };
    let result = run(&maze, script);
    assert_eq!((result.score, result.steps, result.episodes), (100.0, 3_000, 100));
}
