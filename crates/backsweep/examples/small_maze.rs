//! Learns a small maze and prints its policy as arrows: `cargo run --release -p backsweep --example small_maze`.

use backsweep::episode::{Environment, Step, run_episode};
use backsweep::explore::EpsilonGreedy;
use backsweep::{Action, Agent, Budget, Next, PlannerKind, Random, Settings, State};

const MAZE: [&str; 5] = ["S..#....", ".#.#.##.", ".#...#..", ".####.#.", "......#G"];
const ARROWS: [(char, i32, i32); 4] = [('↑', 0, -1), ('→', 1, 0), ('↓', 0, 1), ('←', -1, 0)];

/// A slippery maze: one step in five goes in a random direction.
struct Maze;

fn cell(x: i32, y: i32) -> char {
    MAZE.get(y as usize).and_then(|row| row.chars().nth(x as usize)).unwrap_or('#')
}

impl Environment for Maze {
    fn n_actions(&self, _: State) -> usize {
        ARROWS.len()
    }
    fn start(&self, _: &mut Random) -> State {
        State(0)
    }
    fn step(&self, state: State, action: Action, random: &mut Random) -> Step {
        let action = if random.chance(0.2) { random.below(4) } else { action.0 };
        let (x, y) = (state.0 as i32 % 8, state.0 as i32 / 8);
        let (_, dx, dy) = ARROWS[action as usize];
        let (to_x, to_y) = if cell(x + dx, y + dy) == '#' { (x, y) } else { (x + dx, y + dy) };
        let next = if cell(to_x, to_y) == 'G' {
            Next::Terminated
        } else {
            Next::Continue(State((to_y * 8 + to_x) as u32))
        };
        Step { reward: -1.0, next }
    }
}

fn main() -> Result<(), backsweep::Error> {
    let settings = Settings { discount: 0.95, ..Settings::default() };
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, settings)?
        .with_policy(EpsilonGreedy::new(0.05)?);
    let mut random = Random::from_seed(1);
    for _ in 0..100 {
        run_episode(&Maze, &mut agent, Budget::Cycles(3), None, &mut random, &mut |_, _| ())?;
    }
    for (y, row) in MAZE.iter().enumerate() {
        let arrow =
            |x: usize| ARROWS[agent.best_action(State((y * 8 + x) as u32)).map_or(0, |a| a.index())].0;
        println!(
            "{}",
            row.char_indices().map(|(x, c)| if c == '.' { arrow(x) } else { c }).collect::<String>()
        );
    }
    println!(
        "value of the start: {:.3}, error bound {:.1e}",
        agent.value(State(0)),
        agent.audit().error_bound.unwrap_or(f64::NAN)
    );
    Ok(())
}
