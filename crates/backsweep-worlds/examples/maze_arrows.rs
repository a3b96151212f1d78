//! Learns a small maze and prints its policy as arrows: `cargo run --release -p backsweep-worlds --example maze_arrows`.
use backsweep::episode::run_episode;
use backsweep::explore::EpsilonGreedy;
use backsweep::{Agent, Budget, PlannerKind, Random, Settings};
use backsweep_worlds::{Law, Maze, MazeTask};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let maze = Maze::parse("S..#....\n.#.#.##.\n.#...#..\n.####.#.\n......#G\n")?;
    let task = MazeTask::new(maze, Law::Four { intended: 0.8 }, -1.0)?;
    let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, Settings::default())?
        .with_policy(EpsilonGreedy::new(0.05)?);
    let mut random = Random::from_seed(1);
    for _ in 0..100 {
        run_episode(&task, &mut agent, Budget::Cycles(3), None, &mut random, &mut |_, _| ())?;
    }
    for cell in task.maze().cells() {
        let best = task.state(cell).and_then(|state| agent.best_action(state));
        print!(
            "{}{}",
            if cell.column == 0 { "\n" } else { "" },
            best.map_or('#', |action| ['↑', '→', '↓', '←'][action.index()])
        );
    }
    println!();
    Ok(())
}
