//! Maze tasks and their outcome laws.

use backsweep::{Action, Random};
use backsweep_worlds::{Cell, Law, Maze, MazeTask};

#[test]
fn a_repainted_task_is_the_one_built_from_nothing() {
    let mut random = Random::from_seed(3);
    for law in [Law::Fifteen, Law::Four { intended: 0.7 }] {
        let mut rows = vec![vec!['.'; 19]; 16];
        rows[2][3] = 'S';
        rows[12][15] = 'G';
        let parse = |rows: &[Vec<char>]| {
            let lines: Vec<String> = rows.iter().map(|row| row.iter().collect()).collect();
            Maze::parse(&lines.join("\n")).unwrap()
        };
        let mut task = MazeTask::allowing_blocked_goal(parse(&rows), law, -1.0).unwrap();
        for _ in 0..100 {
            let (row, column) = (random.below(16) as usize, random.below(19) as usize);
            rows[row][column] = match rows[row][column] {
                '.' => '#',
                '#' => '.',
                other => other,
            };
            task = task.repainted(parse(&rows)).unwrap();
            let fresh = MazeTask::allowing_blocked_goal(parse(&rows), law, -1.0).unwrap();
            assert_eq!(format!("{task:?}"), format!("{fresh:?}"));
        }
    }
}

#[test]
fn a_closed_cell_is_left_with_probability_0_and_no_row_exceeds_1() {
    let closed = Maze::parse("S##\n##G").unwrap();
    let open = Maze::parse("S..\n..G").unwrap();
    for k in 0..=1000 {
        let law = Law::Four { intended: f64::from(k) / 1000.0 };
        for action in (0..4).map(Action) {
            let start = Cell { row: 0, column: 0 };
            assert_eq!(law.outcomes(&closed, start, action), [(start, 1.0)], "{law:?}");
            for cell in open.cells() {
                let outcomes = law.outcomes(&open, cell, action);
                assert!(outcomes.iter().all(|(_, p)| *p <= 1.0), "{law:?}: {outcomes:?}");
                let sum: f64 = outcomes.iter().map(|(_, p)| p).sum();
                assert!((sum - 1.0).abs() < 1e-15, "{law:?}: {sum}");
            }
        }
    }
}
