//! The worlds match their definitions: probabilities by hand, Gymnasium's own tables, best gains and ceilings from the
//! solver with guarantees.

use backsweep::episode::Environment;
use backsweep::planner::Outcome;
use backsweep::{Action, Next, Random, State};
use backsweep_mdp::{Mdp, MdpBuilder, Objective, Rewards};
use backsweep_solve::Limits;
use backsweep_worlds::{Horizon, Score, TabularWorld, World, names, world};
use std::collections::BTreeMap;
use std::path::Path;

fn build(name: &str) -> World {
    world(name, &mut Random::from_seed(7)).unwrap()
}

/// Outcomes as (probability, reward, next state), `None` for an end.
fn outcomes(table: &TabularWorld, state: u32, action: u32) -> Vec<(f64, f64, Option<u32>)> {
    let row = |o: &Outcome| (o.probability, o.reward, o.next.state().map(|s| s.0));
    table.outcomes(State(state), Action(action)).iter().map(row).collect()
}

fn mdp(table: &TabularWorld) -> Mdp {
    let mut builder = MdpBuilder::default();
    let mut rewards = Rewards::default();
    for state in (0..table.n_states() as u32).map(State) {
        for action in (0..table.n_actions(state) as u32).map(Action) {
            let outcomes = table.outcomes(state, action);
            let next = |o: &Outcome| o.next.state().map(|next| (next.0, o.probability));
            builder.add_choice(outcomes.iter().filter_map(next));
            rewards.choices.push(outcomes.iter().map(|o| o.probability * o.reward).sum());
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().unwrap();
    mdp.rewards.push(rewards);
    mdp
}

/// The middle of the proven interval of the first start's value.
fn solve(table: &TabularWorld, query: &Objective) -> f64 {
    let (low, high) = table.reward_range();
    let limits = Limits { tolerance: 1e-7 * (high - low), ..Limits::default() };
    let solution = backsweep_solve::solve(&mdp(table), &query.clone().maximize(), None, &limits).unwrap();
    assert!(solution.converged);
    solution.value(table.starts()[0].index())
}

fn best_gain(table: &TabularWorld) -> f64 {
    solve(table, &Objective::Average { reward: None })
}

fn best_total(table: &TabularWorld, steps: u64) -> f64 {
    solve(table, &Objective::Horizon { reward: None, steps, discount: 1.0 })
}

/// The lowest and the highest reward that an agent can meet.
fn reachable_rewards(table: &TabularWorld) -> (f64, f64) {
    let mut reached = vec![false; table.n_states()];
    let mut open = table.starts().to_vec();
    let mut range = (f64::INFINITY, f64::NEG_INFINITY);
    while let Some(state) = open.pop() {
        if std::mem::replace(&mut reached[state.index()], true) {
            continue;
        }
        for action in (0..table.n_actions(state) as u32).map(Action) {
            for outcome in table.outcomes(state, action) {
                range = (range.0.min(outcome.reward), range.1.max(outcome.reward));
                open.extend(outcome.next.state());
            }
        }
    }
    range
}

#[test]
fn every_world_is_complete() {
    let mut n_grids = 0;
    // Other sizes, and families that are not reported.
    let others = [
        "riverswim_2",
        "strong_river_4",
        "arms_2",
        "chain_7",
        "double_loop_2",
        "grid_7",
        "lake_6",
        "garnet_30",
        "four_rooms",
        "rooms_7",
        "corridor_5",
        "key_door_3",
        "bandit_4",
        "combination_6",
        "inventory_10",
    ];
    for name in names().into_iter().chain(others.map(str::to_owned)) {
        let world = build(&name);
        assert_eq!(world.name, name);
        let mut range = (f64::INFINITY, f64::NEG_INFINITY);
        for phase in &world.phases {
            let (low, high) = reachable_rewards(&phase.table);
            range = (range.0.min(low), range.1.max(high));
            assert_eq!(phase.table.n_states(), world.table().n_states(), "{name}: ids must stay");
            for state in (0..phase.table.n_states() as u32).map(State) {
                for action in (0..phase.table.n_actions(state) as u32).map(Action) {
                    let outcomes = phase.table.outcomes(state, action);
                    let sum: f64 = outcomes.iter().map(|o| o.probability).sum();
                    assert!((sum - 1.0).abs() < 1e-12, "{name}, {state}, {action}: {sum}");
                    for next in outcomes.iter().filter_map(|o| o.next.state()) {
                        assert!(
                            phase.table.n_actions(next) > 0,
                            "{name}: {state} leads to {next}, a dead end"
                        );
                    }
                }
            }
            let Some(grid) = &phase.grid else { continue };
            n_grids += 1;
            assert_eq!(grid.cells.len(), phase.table.n_states(), "{name}");
            let rows: Vec<&str> = grid.text.lines().take(grid.n_rows).collect();
            assert!(rows.iter().all(|row| row.len() == grid.n_columns), "{name}: {}", grid.text);
            for start in phase.table.starts() {
                let (row, column) = grid.cell(*start).unwrap();
                assert_ne!(rows[row].as_bytes()[column], b'#', "{name}: a start in a wall");
            }
        }
        let (low, high) = world.reward_range;
        assert!(low <= range.0 && high >= range.1, "{name}: {range:?}");
        // The stated range is the actual one, except in worlds with random rewards.
        assert!((low, high) == range || name.starts_with("garnet"), "{name}: {range:?}");
    }
    assert_eq!(n_grids, 2 + 1 + 2 + 2 + 2 * 2 + 2 * 21 + 2 + 2);
}

#[test]
fn rows_worked_by_hand() {
    let river = build("riverswim_6");
    assert_eq!(outcomes(river.table(), 0, 0), [(1.0, 0.005, Some(0))]);
    assert_eq!(outcomes(river.table(), 0, 1), [(0.6, 0.0, Some(1)), (0.4, 0.0, Some(0))]);
    let inside = [(0.35, 0.0, Some(4)), (0.6, 0.0, Some(3)), (0.05, 0.0, Some(2))];
    assert_eq!(outcomes(river.table(), 3, 1), inside);
    assert_eq!(outcomes(river.table(), 5, 1), [(0.6, 1.0, Some(5)), (0.4, 1.0, Some(4))]);
    let river = build("riverswim");
    assert_eq!(outcomes(river.table(), 5, 1), [(0.3, 10_000.0, Some(5)), (0.7, 0.0, Some(4))]);
    assert_eq!(outcomes(river.table(), 2, 0), [(1.0, 0.0, Some(1))]);
    let arms = build("six_arms");
    assert_eq!(outcomes(arms.table(), 0, 5), [(0.01, 0.0, Some(6)), (0.99, 0.0, Some(0))]);
    assert_eq!(outcomes(arms.table(), 1, 4), [(1.0, 0.0, Some(0))]);
    assert_eq!(outcomes(arms.table(), 1, 5), [(1.0, 50.0, Some(1))]);
    assert_eq!(outcomes(arms.table(), 6, 5), [(1.0, 6000.0, Some(6))]);
    assert_eq!(outcomes(arms.table(), 6, 4), [(1.0, 0.0, Some(0))]);
    let chain = build("chain");
    assert_eq!(outcomes(chain.table(), 4, 0), [(0.8, 10.0, Some(4)), (0.2, 2.0, Some(0))]);
    assert_eq!(outcomes(chain.table(), 2, 1), [(0.2, 0.0, Some(3)), (0.8, 2.0, Some(0))]);
    let loops = build("double_loop");
    assert_eq!(outcomes(loops.table(), 7, 0), [(1.0, 0.0, Some(0))]);
    assert_eq!(outcomes(loops.table(), 7, 1), [(1.0, 0.0, Some(8))]);
    assert_eq!(outcomes(loops.table(), 8, 0), [(1.0, 2.0, Some(0))]);
    let grid = build("grid_5");
    // Up from the start: the wall stops it, and so it does to the left.
    assert_eq!(outcomes(grid.table(), 0, 0), [(0.9, 0.0, Some(0)), (0.1, 0.0, Some(1))]);
    assert_eq!(outcomes(grid.table(), 24, 2), [(1.0, 1.0, Some(0))]);
}

#[test]
fn the_best_gains_and_ceilings_are_those_of_the_literature() {
    let river = build("riverswim_6");
    let gain = best_gain(river.table());
    assert!((gain - 0.4286).abs() < 5e-5, "{gain}");
    let Score::Regret { gain: stated } = river.score else { panic!("{:?}", river.score) };
    assert!((gain - stated).abs() < 1e-6, "{stated}");
    // RiverSwim of other lengths is scored against its own gain.
    let long = build("riverswim_20");
    let Score::Regret { gain: stated } = long.score else { panic!("{:?}", long.score) };
    assert!((best_gain(long.table()) - stated).abs() < 1e-6);
    // Ceilings are rounded; some are the best total of the run, some the best gain times its steps.
    for name in ["riverswim", "six_arms", "chain", "double_loop", "grid_5", "grid_10"] {
        let world = build(name);
        let Horizon::Steps(steps) = world.horizon else { panic!("{:?}", world.horizon) };
        let (total, gain) = (best_total(world.table(), steps), best_gain(world.table()));
        let ceiling = world.ceiling.unwrap();
        let fits = |best: f64| (best / ceiling - 1.0).abs() < 2e-3;
        assert!(fits(total) || fits(gain * steps as f64), "{name}: {total}, gain {gain}, not {ceiling}");
    }
}

#[test]
fn the_mazes_change_when_and_where_they_should() {
    for (name, [first, second], change) in
        [("blocking_maze", [10, 16], 1_000), ("shortcut_maze", [16, 10], 3_000)]
    {
        let world = build(name);
        let Horizon::Steps(steps) = world.horizon else { panic!() };
        for (step, length) in [(0, first), (change - 1, first), (change, second)] {
            let table = &world.phase(step).table;
            let start = table.starts()[0];
            let query = Objective::Horizon { reward: None, steps: length, discount: 1.0 };
            assert!(
                (solve(table, &query) - 1.0).abs() < 1e-6,
                "{name}, step {step}: the goal is {length} steps away"
            );
            let query = Objective::Horizon { reward: None, steps: length - 1, discount: 1.0 };
            assert!(
                solve(table, &query).abs() < 1e-6,
                "{name}, step {step}: the goal is {length} steps away"
            );
            assert_eq!(world.phase(step).grid.as_ref().unwrap().cell(start), Some((5, 3)));
        }
        let ceiling = change / first + (steps - change) / second;
        assert!((world.ceiling.unwrap() - ceiling as f64).abs() <= 1.0, "{name}: {ceiling}");
    }
    let text = &build("blocking_maze").phases[0].grid.as_ref().unwrap().text.clone();
    assert_eq!(text, "........G\n.........\n.........\n########.\n.........\n...S.....\n");
}

#[test]
fn deep_sea_is_that_of_bsuite() {
    for (name, n, stochastic) in [("deep_sea_10", 10, false), ("deep_sea_stochastic_12", 12, true)] {
        let world = build(name);
        let (table, grid) = (world.table(), world.grid().unwrap());
        assert_eq!(table.n_states(), n * n);
        let mut n_right_is_1 = 0;
        for s in (0..(n * n) as u32).map(State) {
            let right = (0..2).map(Action).find(|&a| grid.direction(s, a) == Some((1, 1))).unwrap();
            n_right_is_1 += right.0;
            let (row, column) = grid.cell(s).unwrap();
            let noisy = stochastic && row == n - 1 && (column == 0 || column == n - 1);
            assert_eq!(table.noise(s, right), if noisy { 1.0 } else { 0.0 });
            let cost = -0.01 / n as f64 + if column == n - 1 { 1.0 } else { 0.0 };
            let stays = if stochastic { 1.0 / n as f64 } else { 0.0 };
            for outcome in table.outcomes(s, right) {
                assert_eq!(outcome.reward, cost);
                assert_eq!(outcome.next == Next::Terminated, row == n - 1);
                if let Some(next) = outcome.next.state().filter(|_| column < n - 1) {
                    let (below, moved) = grid.cell(next).unwrap();
                    assert_eq!(below, row + 1);
                    let p = if moved == column { stays } else { 1.0 - stays };
                    assert!((outcome.probability - p).abs() < 1e-15);
                }
            }
        }
        assert!(n_right_is_1 > n as u32 && n_right_is_1 < (n * n - n) as u32, "actions are not drawn");
        // The best return: 1 on the diagonal, less the cost of going right n times.
        let best = best_total(table, n as u64);
        let treasure = if stochastic { (1.0 - 1.0 / n as f64).powi(n as i32 - 1) } else { 1.0 };
        assert!((best - (treasure - 0.01)).abs() < 1e-9 || stochastic && best > treasure - 0.01, "{best}");
    }
    // Another generator draws other actions, the same generator the same.
    let sea = |seed| world("deep_sea_10", &mut Random::from_seed(seed)).unwrap();
    assert_eq!(sea(1), sea(1));
    assert_ne!(sea(1), sea(2));
}

type Rows = BTreeMap<(u32, u32), BTreeMap<(u32, u64, bool), f64>>;

/// Gymnasium's table: probabilities by next state, reward and end.
fn gymnasium(name: &str) -> Rows {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../backsweep/tests/testdata").join(name);
    let mut rows = Rows::new();
    for line in std::fs::read_to_string(path).unwrap().lines().skip(1) {
        let fields: Vec<f64> = line.split(',').map(|field| field.parse().unwrap()).collect();
        let [state, action, next, p, reward, terminated] = fields[..] else { panic!("{line}") };
        // Where a step that ended led to does not matter.
        let next = if terminated == 1.0 { u32::MAX } else { next as u32 };
        let row = rows.entry((state as u32, action as u32)).or_default();
        *row.entry((next, reward.to_bits(), terminated == 1.0)).or_default() += p;
    }
    rows
}

#[test]
fn toy_text_worlds_are_gymnasiums() {
    for (name, file, n_pairs) in [
        ("frozen_lake_4x4", "FrozenLake-4x4-slippery.csv", 11 * 4),
        ("frozen_lake_8x8", "FrozenLake-8x8-slippery.csv", 53 * 4),
        ("taxi", "Taxi.csv", 500 * 6),
        ("cliff_walking", "CliffWalking.csv", 37 * 4),
    ] {
        let world = build(name);
        let (table, mut compared) = (world.table(), 0);
        for ((state, action), expected) in gymnasium(file) {
            // We give no actions to states that nothing leads to.
            if table.n_actions(State(state)) == 0 {
                continue;
            }
            compared += 1;
            let mut found: BTreeMap<(u32, u64, bool), f64> = BTreeMap::new();
            for (p, reward, next) in outcomes(table, state, action) {
                *found.entry((next.unwrap_or(u32::MAX), reward.to_bits(), next.is_none())).or_default() += p;
            }
            let keys = |row: &BTreeMap<(u32, u64, bool), f64>| row.keys().copied().collect::<Vec<_>>();
            assert_eq!(keys(&found), keys(&expected), "{name}: state {state}, action {action}");
            assert!(found.values().zip(expected.values()).all(|(a, b)| (a - b).abs() < 1e-12), "{name}");
        }
        assert_eq!(compared, n_pairs, "{name}");
    }
    let lake = build("frozen_lake_4x4");
    let best = lake.table().values(0.99, None, 1e-9).unwrap();
    assert!((lake.table().from_starts(&best) - 0.542_025_9).abs() < 1e-6, "{}", best[0]);
    assert_eq!(build("taxi").table().starts().len(), 300);
}

#[test]
fn dearden_has_264_states_and_three_flags() {
    let world = build("dearden_maze");
    let table = world.table();
    assert_eq!(table.n_states(), 264);
    let grid = world.grid().unwrap();
    let goal: Vec<State> = grid.states(0, 6).collect();
    let rewards: Vec<f64> = goal.iter().map(|s| table.outcomes(*s, Action(0))[0].reward).collect();
    assert_eq!(rewards, [0.0, 1.0, 1.0, 2.0, 1.0, 2.0, 2.0, 3.0]);
    // From the cell above the first flag, down: the flag is taken, unless the agent slips along the row.
    let above = grid.states(4, 0).next().unwrap();
    let flag = grid.states(5, 0).nth(1).unwrap().0;
    let right = grid.states(4, 1).next().unwrap().0;
    assert_eq!(
        outcomes(table, above.0, 2),
        [(0.9, 0.0, Some(flag)), (0.05, 0.0, Some(above.0)), (0.05, 0.0, Some(right))]
    );
    assert!(best_gain(table) > 0.05);
}

#[test]
fn a_policy_is_worth_what_its_table_gives() {
    let chain = build("chain");
    let forward = vec![Action(0); 5];
    let back = vec![Action(1); 5];
    let value = |policy: &[Action]| chain.table().values(0.95, Some(policy), 1e-9).unwrap()[0];
    let best = chain.table().values(0.95, None, 1e-9).unwrap()[0];
    assert!((value(&forward) - best).abs() < 1e-8, "{best}");
    assert!(value(&back) < 0.9 * best);
}

#[test]
fn draws_follow_the_table() {
    let world = build("deep_sea_stochastic_10");
    let mut random = Random::from_seed(3);
    let corner = State(99);
    let right =
        (0..2).map(Action).find(|&a| world.grid().unwrap().direction(corner, a) == Some((1, 1))).unwrap();
    let rewards: Vec<f64> =
        (0..20_000).map(|_| world.table().step(corner, right, &mut random).reward).collect();
    let mean = rewards.iter().sum::<f64>() / 20_000.0;
    let variance = rewards.iter().map(|r| (r - mean).powi(2)).sum::<f64>() / 20_000.0;
    assert!((mean - 0.999).abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    let river = build("riverswim_6");
    let mut counts = [0; 6];
    for _ in 0..30_000 {
        counts[river.table().step(State(3), Action(1), &mut random).next.state().unwrap().index()] += 1;
    }
    for (state, p) in [(2, 0.05), (3, 0.6), (4, 0.35)] {
        assert!((f64::from(counts[state]) / 30_000.0 - p).abs() < 0.012, "{counts:?}");
    }
}

#[test]
fn goal_worlds_and_stores_worked_by_hand() {
    let rooms = build("four_rooms");
    let near = |found: Vec<(f64, f64, Option<u32>)>, expected: &[(f64, f64, Option<u32>)]| {
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (one, other) in found.iter().zip(expected) {
            assert!((one.0 - other.0).abs() < 1e-12 && (one.1, one.2) == (other.1, other.2), "{found:?}");
        }
    };
    let sixth = 1.0 / 6.0;
    // Up, right, down, left. From the start to the right: a slip down, or up into the wall.
    near(
        outcomes(rooms.table(), 0, 1),
        &[(4.0 * sixth, 0.0, Some(1)), (sixth, 0.0, Some(11)), (sixth, 0.0, Some(0))],
    );
    // Above the goal, downward: the goal pays and ends.
    near(
        outcomes(rooms.table(), 109, 2),
        &[(4.0 * sixth, 1.0, None), (sixth, 0.0, Some(108)), (sixth, 0.0, Some(109))],
    );
    let is_free = |s: &u32| rooms.table().n_actions(State(*s)) > 0;
    assert_eq!([27, 56, 74, 75, 104].into_iter().filter(is_free).collect::<Vec<u32>>(), [27, 56, 74, 104]);
    let house = build("key_door_3");
    assert_eq!((house.table().n_states(), house.table().starts().len()), (105, 14));
    let (key, before_door) = (4 * 7, 2 * 7 + 2);
    assert_eq!(outcomes(house.table(), 3 * key, 4), [(1.0, 0.0, Some(3 * key + 1))]);
    assert_eq!(outcomes(house.table(), 3 * before_door, 5), [(1.0, 0.0, Some(3 * before_door))]);
    assert_eq!(outcomes(house.table(), 3 * before_door + 1, 5), [(1.0, 0.0, Some(3 * before_door + 2))]);
    assert_eq!(outcomes(house.table(), 3 * before_door + 2, 1)[0], (0.9, 0.0, Some(3 * before_door + 5)));
    // A store of 3, one good left, none ordered: nobody wants it, or it is sold.
    let store = build("inventory_3");
    assert_eq!(outcomes(store.table(), 1, 0), [(0.5, -1.0, Some(1)), (0.5, 7.0, Some(0))]);
    assert_eq!(outcomes(store.table(), 0, 0), [(1.0, 0.0, Some(0))]);
    assert_eq!(outcomes(store.table(), 0, 1)[0], (0.5, -7.0, Some(1)));
    // One action in four turns a wheel; the last wheel pays.
    let lock = build("combination_4");
    for wheel in 0..4 {
        let turns = (0..4).filter(|&a| outcomes(lock.table(), wheel, a) != [(1.0, 0.0, Some(0))]);
        assert_eq!(turns.count(), 1, "wheel {wheel}");
    }
}

#[test]
fn unknown_names_are_refused_with_those_that_exist() {
    for name in
        ["", "atlantis", "deep_sea", "deep_sea_1", "deep_sea_010", "grid_-3", "grid_101", "riverswim_x"]
    {
        let error = world(name, &mut Random::from_seed(0)).unwrap_err().to_string();
        assert!(
            error.contains(&format!("'{name}'")) && error.contains("riverswim_N (N from 2 to 1000)"),
            "{error}"
        );
    }
}
