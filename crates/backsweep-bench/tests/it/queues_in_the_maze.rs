//! The approximate queue learns as well as the exact one: scores in the paper's maze, run against run.

use backsweep::explore::Optimism;
use backsweep::planner::QueueKind;
use backsweep::{PlannerKind, Settings};
use backsweep_lab::control::{Control, Planning};
use backsweep_lab::setting::Work;
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use std::sync::Arc;

const RUNS: u32 = 24;

/// Scores of all runs, each with its own random numbers.
fn scores(task: &Arc<MazeTask>, planner: PlannerKind, queue: QueueKind, cycles: u32) -> Vec<f64> {
    let control = Control {
        task: Arc::clone(task),
        planner,
        settings: Settings {
            threshold: 1e-5,
            optimism: Optimism { value: 0.0, min_visits: 4 },
            queue,
            ..Settings::default()
        },
        planning: Planning::Cycles(cycles),
        freeze: false,
        epsilon: 0.05,
        episodes: 200,
        max_steps: None,
        stream: u64::from(queue == QueueKind::Bucket),
    };
    (0..RUNS).map(|run| control.run(1, run).unwrap().score).collect()
}

fn mean_and_error(scores: &[f64]) -> (f64, f64) {
    let n = scores.len() as f64;
    let mean = scores.iter().sum::<f64>() / n;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (n - 1.0);
    (mean, (variance / n).sqrt())
}

/// Within four standard errors of the difference, which are small enough to see a difference of 2.4. (With all priorities in
/// one bucket the agent wanders, and the test never ends.)
#[test]
fn buckets_learn_as_well_as_the_exact_order() {
    let maze = Maze::parse(PAPER_MAZE).unwrap();
    let task = Arc::new(MazeTask::new(maze, Law::Fifteen, -1.0).unwrap());
    for (planner, cycles) in [
        (PlannerKind::REVERSED_FULL_BACKUPS, 1),
        (PlannerKind::REVERSED_FULL_BACKUPS, 5),
        (PlannerKind::SMALL_BACKUPS, 1),
    ] {
        let (exact, exact_error) = mean_and_error(&scores(&task, planner, QueueKind::Exact, cycles));
        let (bucket, bucket_error) = mean_and_error(&scores(&task, planner, QueueKind::Bucket, cycles));
        let noise = exact_error.hypot(bucket_error);
        println!(
            "{planner}, {cycles} cycles: exact {exact:.2} ({exact_error:.2}), buckets {bucket:.2} ({bucket_error:.2})"
        );
        assert!(
            (exact - bucket).abs() < 4.0 * noise,
            "{planner}, {cycles} cycles: exact {exact:.2}, buckets {bucket:.2}, noise {noise:.2}"
        );
        assert!(noise < 0.6, "{planner}, {cycles} cycles: with a noise of {noise:.2} nothing would be seen");
    }
}
