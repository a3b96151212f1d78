//! The cost of one observation with five update cycles after it, for every planner and queue, and the cost per transition
//! of one sweep of value iteration over the paper's maze: `cargo bench -p backsweep-bench`.
//!
//! Criterion compares with its last run and includes the machine's noise; `scripts/bench-instructions` counts instead, and
//! `backsweep bench` compares the planners with a plain program side by side.

#![allow(missing_docs)]

use backsweep::explore::EpsilonGreedy;
use backsweep::planner::{Model, QueueKind, plan};
use backsweep::{Agent, Budget, Settings, State};
use backsweep_bench::observations;
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

const SIDE: usize = 50;
const LEARNED: usize = 100_000;
const TIMED: usize = 2_000;

/// An agent that has learned for a while and continues.
fn steps(c: &mut Criterion) {
    let walk = observations(SIDE, LEARNED + TIMED, 12345);
    let (before, timed) = walk.split_at(LEARNED);
    let mut group = c.benchmark_group("observation and five cycles");
    group.throughput(Throughput::Elements(TIMED as u64)).sample_size(10);
    for kind in
        backsweep_baselines::PLANNERS.into_iter().filter(|&kind| kind != backsweep_baselines::VALUE_ITERATION)
    {
        for queue in [QueueKind::Exact, QueueKind::Bucket] {
            let settings = Settings { discount: 0.99, threshold: 1e-5, queue, ..Settings::default() };
            let model = Model::with_states(std::iter::repeat_n(4, SIDE * SIDE)).unwrap();
            let planner = kind.build(settings).expect("the settings are in range");
            let mut agent = Agent::from_parts(model, planner, EpsilonGreedy::GREEDY);
            let learn = |agent: &mut Agent, steps: &[backsweep_bench::Observation]| {
                for step in steps {
                    agent.observe_transition(&step.transition()).expect("the walk stays on the grid");
                    agent.plan(Budget::Cycles(5));
                }
            };
            learn(&mut agent, before);
            group.bench_function(format!("{}/{}", kind, queue.name()), |b| {
                b.iter_batched_ref(|| agent.clone(), |agent| learn(agent, timed), BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

/// Sweeps over the true model of the paper's maze, with 15 successors per action.
fn sweeps(c: &mut Criterion) {
    let maze = Maze::parse(PAPER_MAZE).expect("the paper's maze is valid");
    let task = MazeTask::new(maze, Law::Fifteen, -1.0).expect("it has a start and a goal");
    let model = task.model().expect("its outcomes are probabilities");
    let settings = Settings { discount: 0.99, threshold: 0.0, ..Settings::default() };
    let mut planner = backsweep_baselines::VALUE_ITERATION.build(settings).expect("in range");
    planner.grow(&model);
    let mut group = c.benchmark_group("value iteration on the paper's maze");
    group.throughput(Throughput::Elements(model.n_arcs() as u64));
    group.bench_function("sweep", |b| {
        b.iter(|| {
            planner.refresh(&model, model.pairs(State(0)).next().expect("the first state has actions"));
            plan(&mut *planner, &model, Budget::Cycles(1))
        });
    });
    group.finish();
}

criterion_group!(benches, steps, sweeps);
criterion_main!(benches);
