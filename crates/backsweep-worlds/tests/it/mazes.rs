//! Mazes, outcome laws and circles against independent facts: the paper's panels and exact values.

use backsweep::episode::Environment;
use backsweep::planner::{Model, Pair, plan};
use backsweep::{Action, Budget, Next, PlannerKind, Random, Settings, State};
use backsweep_worlds::circle::{Circle, FIXED_INSTANCE};
use backsweep_worlds::{Cell, Law, Maze, MazeTask, PAPER_MAZE, sweep_policy};

fn paper_task(law: Law) -> MazeTask {
    MazeTask::new(Maze::parse(PAPER_MAZE).unwrap(), law, -1.0).unwrap()
}

/// Turns a grid by quarter turns clockwise.
fn turned(rows: &[Vec<String>], turns: usize) -> Vec<Vec<String>> {
    (0..turns).fold(rows.to_vec(), |rows, _| {
        (0..rows[0].len()).map(|c| rows.iter().rev().map(|row| row[c].clone()).collect()).collect()
    })
}

/// The four panels of the paper's Figure 2 (numbers × 1/15, the agent in brackets), for the action north and, turned with the
/// panel, for the others.
#[test]
fn fifteen_outcomes_are_those_of_the_papers_panels() {
    let panels = [
        "1 1 1 / 1 1 1 / 1 1 1 / 1 (1) 1 / 1 1 1",
        "1 0 0 / 1 # # / 1 3 3 / 1 (1) 1 / 1 1 1",
        "1 1 1 / 1 1 1 / 1 1 1 / 2 (2) 2 / # # #",
        "# 2 1 / # 2 1 / # 2 1 / # (4) 2 / # # #",
    ];
    for panel in panels {
        let rows: Vec<Vec<String>> =
            panel.split('/').map(|row| row.split_whitespace().map(str::to_owned).collect()).collect();
        for turns in 0..4 {
            let rows = turned(&rows, turns);
            // A border of free cells shows outcomes that lie outside the panel; a row below holds start and goal.
            let width = rows[0].len() + 2;
            let mut text = ".".repeat(width) + "\n";
            for row in &rows {
                let cells: String = row.iter().map(|cell| if cell == "#" { '#' } else { '.' }).collect();
                text += &format!(".{cells}.\n");
            }
            text += &(".".repeat(width) + "\nSG" + &".".repeat(width - 2));
            let maze = Maze::parse(&text).unwrap();
            let mut agent = None;
            let mut expected = Vec::new();
            for (r, row) in rows.iter().enumerate() {
                for (c, number) in row.iter().enumerate() {
                    let cell = Cell { row: r + 1, column: c + 1 };
                    if number.starts_with('(') {
                        agent = Some(cell);
                    }
                    let count: u32 = number.trim_matches(['(', ')']).parse().unwrap_or(0);
                    if count > 0 {
                        expected.push((cell, f64::from(count) / 15.0));
                    }
                }
            }
            let mut found = Law::Fifteen.outcomes(&maze, agent.unwrap(), Action(turns as u32));
            found.sort_by_key(|(cell, _)| *cell);
            assert_eq!(found, expected, "panel {panel} turned {turns} times");
        }
    }
}

/// The values of the optimal policy that acts at random with probability 0.05, from the start.
fn soft_optimal_value(law: Law, discount: f64) -> f64 {
    let task = paper_task(law);
    let model = task.model().unwrap();
    let settings = Settings { discount: 0.99, ..Settings::default() }.accurate_to(1e-9);
    let mut planner = PlannerKind::REVERSED_FULL_BACKUPS.build(settings).unwrap();
    planner.grow(&model);
    plan(&mut *planner, &model, Budget::UNTIL_IDLE);
    let policy = |pair: Pair| soft_greedy(&model, planner.values(), pair);
    let mut values = vec![0.0; model.n_states()];
    loop {
        let (lowest, highest) = sweep_policy(&model, policy, discount, &mut values);
        if highest - lowest <= 1e-11 {
            return values[task.starts()[0].index()];
        }
    }
}

fn soft_greedy(model: &Model, values: &backsweep::planner::Values, pair: Pair) -> f64 {
    let state = model.state_of(pair);
    let best = model
        .pairs(state)
        .max_by(|&a, &b| values.action_value(a).total_cmp(&values.action_value(b)).then(b.cmp(&a)));
    0.05 / 4.0 + if best == Some(pair) { 0.95 } else { 0.0 }
}

#[test]
fn exact_policy_values_are_those_of_the_notes() {
    let checks = [
        (Law::Fifteen, 0.99, -45.181),
        (Law::Fifteen, 1.0, -60.824),
        (Law::Four { intended: 0.8 }, 0.99, -47.268),
        (Law::Four { intended: 0.8 }, 1.0, -63.880),
        (Law::Four { intended: 0.6 }, 0.99, -57.112),
    ];
    for (law, discount, expected) in checks {
        let found = soft_optimal_value(law, discount);
        assert!((found - expected).abs() < 1e-3, "{law:?} at {discount}: {found}, expected {expected}");
    }
}

#[test]
fn the_papers_maze_is_the_papers_maze() {
    let task = paper_task(Law::Fifteen);
    assert_eq!((task.maze().n_rows(), task.maze().n_columns()), (23, 26));
    assert_eq!(task.n_states() + 1, 501);
    assert_eq!(task.cell(task.starts()[0]), Some(Cell { row: 21, column: 1 }));
    assert!(task.maze().ends(Cell { row: 22, column: 25 }));
}

#[test]
fn sampled_outcomes_have_the_frequencies_of_the_law() {
    let n = 200_000;
    for law in [Law::Fifteen, Law::Four { intended: 0.6 }] {
        let task = paper_task(law);
        for cell in [Cell { row: 21, column: 1 }, Cell { row: 22, column: 24 }, Cell { row: 7, column: 4 }] {
            let state = task.state(cell).unwrap();
            for action in (0..4).map(Action) {
                let mut random = Random::stream(7, &[u64::from(state.0), u64::from(action.0)]);
                let mut counts = std::collections::HashMap::new();
                for _ in 0..n {
                    *counts.entry(task.step(state, action, &mut random).next).or_insert(0u32) += 1;
                }
                let mut expected = std::collections::HashMap::new();
                for outcome in task.outcomes(state, action) {
                    *expected.entry(outcome.next).or_insert(0.0) += outcome.probability;
                }
                assert_eq!(counts.len(), expected.len());
                for (next, p) in expected {
                    let deviation = (p * (1.0 - p) / f64::from(n)).sqrt();
                    let found = f64::from(counts[&next]) / f64::from(n);
                    assert!(
                        (found - p).abs() < 5.0 * deviation,
                        "{law:?} {cell:?} {action} to {next:?}: {found}"
                    );
                }
            }
        }
    }
}

#[test]
fn starts_goals_rewards_and_traps() {
    let maze = Maze::parse("; two of each\nS~x.\n...G\nS..G\n~ = -5\nx = -100 end\nG = 10\n").unwrap();
    let task = MazeTask::new(maze, Law::Four { intended: 1.0 }, -1.0).unwrap();
    assert_eq!(task.starts().len(), 2);
    let mut random = Random::from_seed(3);
    let east = |row, column, random: &mut Random| {
        task.step(task.state(Cell { row, column }).unwrap(), Action(1), random)
    };
    assert_eq!(east(0, 0, &mut random).reward, -5.0);
    assert_eq!((east(0, 1, &mut random).reward, east(0, 1, &mut random).next), (-100.0, Next::Terminated));
    assert_eq!((east(2, 2, &mut random).reward, east(2, 2, &mut random).next), (10.0, Next::Terminated));
    assert_eq!(east(2, 0, &mut random).reward, -1.0);
    let drawn: std::collections::HashSet<State> = (0..50).map(|_| task.start(&mut random)).collect();
    assert_eq!(drawn.len(), 2);
}

#[test]
fn errors_name_line_and_column() {
    let parse = |text: &str| match Maze::parse(text) {
        Ok(maze) => MazeTask::new(maze, Law::Fifteen, -1.0).unwrap_err().to_string(),
        Err(error) => error.to_string(),
    };
    for (text, expected) in [
        ("", "line 1: found no maze"),
        ("S.?\n..G", "line 1, column 3: found '?'"),
        ("; comment\nS..\n..\nG..", "line 3, column 3: the row has 2 columns; expected 3"),
        ("S..", "the maze has no goal"),
        ("..G", "the maze has no start"),
        ("S.#G", "line 1, column 1: no goal can be reached"),
        ("S.G#G", "line 1, column 5: this goal cannot be reached"),
        ("S.~G\n~ = lots", "line 2, column 4: found 'lots'"),
        ("S.~G\n~ = 1\n~ = 2", "line 3: '~' already has a reward in line 2"),
        ("S.~G\n~ = 1 stop", "line 2, column 7: found 'stop'"),
        ("S.~G\n~ = 1\nx = 2", "line 3, column 1: 'x' has a reward but does not occur in the maze"),
        ("S..G\nS = 1 end  ", "line 2, column 7: a start ('S') cannot end the episode"),
        ("S..\n\n..G", "line 2: empty line inside"),
        ("S.G\n# = 2", "line 2, column 1: '#' cannot have"),
    ] {
        let found = parse(text);
        assert!(found.contains(expected), "{text:?}: {found}");
    }
}

#[test]
fn a_maze_that_would_take_all_memory_is_refused_first() {
    // Walls but for one row: were it not refused, it would be a small task.
    let wall = "#".repeat(5000) + "\n";
    let text = wall.repeat(4999) + "S" + &".".repeat(4998) + "G\n";
    let error = MazeTask::new(Maze::parse(&text).unwrap(), Law::Fifteen, -1.0).unwrap_err().to_string();
    assert!(error.contains("5000 × 5000 cells; expected at most 4000000"), "{error}");
}

#[test]
fn circle_values_solve_their_equations() {
    for number in [1, 2] {
        let circle = Circle::task(number, FIXED_INSTANCE).unwrap();
        let v = circle.values(0.95);
        for s in 0..10 {
            let p = circle.counter_clockwise[s];
            let right = p * (1.0 + 0.95 * v[(s + 1) % 10])
                + (1.0 - p) * (circle.clockwise_reward + 0.95 * v[(s + 9) % 10]);
            assert!((v[s] - right).abs() < 1e-12);
        }
    }
    // With both rewards +1 every state is worth 1/(1 − γ).
    assert!((Circle::task(2, FIXED_INSTANCE).unwrap().values(0.95)[3] - 20.0).abs() < 1e-12);
    assert!(Circle::task(3, FIXED_INSTANCE).is_err());
}
