//! The engine: it learns like the agent's own loop, obeys commands, and its agents discover changes.

use crate::common::Running;
use backsweep::episode::run_episode;
use backsweep::explore::EpsilonGreedy;
use backsweep::planner::Model;
use backsweep::{Agent, Budget, PlannerKind, Random, State};
use backsweep_watch::engine::ViewerCommand;
use backsweep_watch::engine::frame::Frame;
use backsweep_watch::engine::recording::frame_after;
use backsweep_watch::engine::watched_agent::WatchedAgent;
use backsweep_watch::picture;
use backsweep_watch::scene::Scene;
use backsweep_worlds::grid_world::{Brush, OptimumSearch};
use backsweep_worlds::{Law, Maze, MazeTask, PAPER_MAZE};
use std::time::{Duration, Instant};

/// A small maze in which every planner soon ends episodes.
const SMALL: &str = "S..#....\n.#.#.##.\n.#...#..\n...#...G\n";

fn small(planner: PlannerKind) -> Scene {
    Scene { planner, maze: SMALL.into(), min_visits: 1, ..Scene::default() }
}

#[test]
fn every_planner_learns_exactly_as_in_the_cores_own_loop() {
    for kind in backsweep_baselines::PLANNERS {
        let scene = small(kind);
        let world = scene.grid_world().unwrap();
        let mut agent = Agent::from_parts(
            Model::with_states((0..world.n_states()).map(|_| 4)).unwrap(),
            kind.build(world.optimistic(scene.settings())).unwrap(),
            EpsilonGreedy::new(scene.epsilon).unwrap(),
        );
        let mut random = Random::from_seed(scene.seed);
        let mut watched = WatchedAgent::new(scene.agent_specs().next().unwrap(), &scene, &world).unwrap();
        for n in 1..=40 {
            let episode =
                run_episode(&world, &mut agent, Budget::Cycles(1), None, &mut random, &mut |_, _| {})
                    .unwrap();
            while watched.episodes() < n {
                watched.step(&world, 1).unwrap();
            }
            let frame = watched.sample(Duration::ZERO);
            assert_eq!(frame.last_return, Some(episode.discounted_return), "{}, episode {n}", kind);
            let values: Vec<f64> = (0..world.n_states() as u32).map(|s| agent.value(State(s))).collect();
            assert_eq!(frame.values, values, "{}, episode {n}", kind);
        }
    }
}

#[test]
fn one_cycle_changes_exactly_the_predecessors() {
    for planner in [PlannerKind::REVERSED_FULL_BACKUPS, PlannerKind::SMALL_BACKUPS] {
        let scene = small(planner);
        let world = scene.grid_world().unwrap();
        let mut agent = WatchedAgent::new(scene.agent_specs().next().unwrap(), &scene, &world).unwrap();
        let mut n_seen = 0;
        for _ in 0..300 {
            agent.step(&world, 0).unwrap();
            let before = agent.sample(Duration::ZERO);
            let report = agent.cycle();
            let after = agent.sample(Duration::ZERO);
            let changed: Vec<u32> = (0..world.n_states())
                .filter(|cell| before.q[4 * cell..4 * cell + 4] != after.q[4 * cell..4 * cell + 4])
                .map(|cell| cell as u32)
                .collect();
            assert_eq!(report.changed(), changed, "{planner}");
            let Some(popped) = report.popped else {
                assert!(changed.is_empty(), "{planner}: nothing was popped, but {changed:?} changed");
                continue;
            };
            let top = before.priorities.iter().copied().fold(0.0, f64::max);
            assert_eq!(before.priorities[popped as usize], top, "{planner}: the most urgent state is popped");
            // A pop of small backups may turn out to change V by nothing, or so little that it is lost in rounding.
            let passed_on = if planner == PlannerKind::SMALL_BACKUPS {
                (after.values[popped as usize] - before.values[popped as usize]).abs()
            } else {
                top
            };
            if passed_on > 1e-9 {
                assert_eq!(changed, report.predecessors, "{planner}");
                n_seen += usize::from(!changed.is_empty());
            } else {
                assert!(changed.iter().all(|cell| report.predecessors.contains(cell)), "{planner}");
            }
        }
        assert!(n_seen > 50, "{planner}: only {n_seen} cycles changed something");
    }
}

#[test]
fn single_cycles_of_every_planner_are_reported() {
    for kind in backsweep_baselines::PLANNERS {
        let scene = small(kind);
        let running = Running::start(scene, false);
        let before = running.send(ViewerCommand::Step { count: 60 });
        assert_eq!(before.agents[0].steps, 60);
        let frame = running.send(ViewerCommand::Cycle { count: 1 });
        assert_eq!(frame.cycles.len(), 1);
        assert_eq!(frame.agents[0].steps, 60 + frame.cycles[0].waited, "a cycle is not a step");
        assert!(
            frame.cycles[0].popped.is_some()
                || kind == backsweep_baselines::VALUE_ITERATION
                || frame.agents[0].queue_length == 0,
            "{}",
            kind
        );
        let frame = running.send(ViewerCommand::Step { count: 1 });
        assert!(frame.cycles.is_empty(), "a report is shown until something else happens");
    }
}

#[test]
fn the_engine_obeys() {
    let running = Running::start(Scene { speed: None, ..small(PlannerKind::REVERSED_FULL_BACKUPS) }, true);
    running.wait(|frame| frame.agents[0].steps > 0);
    let paused = running.send(ViewerCommand::Pause {});
    assert!(!paused.running && paused.agents[0].steps > 0);
    // Long enough to see it if it continued.
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(running.engine.frame().agents[0].steps, paused.agents[0].steps, "pause stops");
    let stepped = running.send(ViewerCommand::Step { count: 3 });
    assert_eq!(stepped.agents[0].steps, paused.agents[0].steps + 3);
    let reset = running.send(ViewerCommand::Reset {});
    assert_eq!((reset.agents[0].steps, reset.life), (0, paused.life + 1));
    assert!(reset.agents[0].values.iter().all(|&value| value == 0.0));
    let again = running.send(ViewerCommand::Step { count: 50 });
    running.send(ViewerCommand::Reset {});
    let repeated = running.send(ViewerCommand::Step { count: 50 });
    assert_eq!(again.agents[0].q, repeated.agents[0].q, "the same seed, the same course");
    assert!(running.send(ViewerCommand::Run {}).running);
    // A faulty scene changes nothing.
    let scene = running.engine.frame().scene.clone();
    let faulty = Box::new(Scene { epsilon: 2.0, ..small(PlannerKind::SMALL_BACKUPS) });
    assert!(running.refused(ViewerCommand::Scene { scene: faulty, restart: false }).contains("epsilon is 2"));
    let faulty = Box::new(Scene { maze: "S..".into(), ..small(PlannerKind::SMALL_BACKUPS) });
    assert!(running.refused(ViewerCommand::Scene { scene: faulty, restart: false }).contains("no goal"));
    assert_eq!(running.engine.frame().scene, scene);
}

/// The pace itself is tested on a clock of its own (src/engine/pace.rs); here, that the engine keeps to it.
#[test]
fn it_runs_by_itself_and_never_faster_than_asked() {
    for asked in [2.0, 50.0, 600.0] {
        let began = Instant::now();
        let running = Running::start(Scene { speed: Some(asked), ..Scene::default() }, true);
        let enough = (asked as u64).max(5);
        let frame = running.wait(|frame| frame.agents[0].steps >= enough);
        let elapsed = began.elapsed().as_secs_f64();
        let steps = frame.agents[0].steps;
        println!("{steps} steps in {elapsed:.2} s; asked for {asked} per second");
        assert!(
            steps as f64 <= asked * elapsed + 1.0,
            "{steps} steps in {elapsed} s; asked for {asked} per second"
        );
    }
}

#[test]
fn settings_change_while_it_learns() {
    let running = Running::start(small(PlannerKind::REVERSED_FULL_BACKUPS), false);
    let learned = running.send(ViewerCommand::Step { count: 2000 });
    let change =
        |change: Scene| running.send(ViewerCommand::Scene { scene: Box::new(change), restart: false });
    let policy = change(Scene { epsilon: 0.2, cycles: 3, ..(*learned.scene).clone() });
    assert_eq!((policy.agents[0].steps, policy.life), (2000, learned.life), "ε and cycles change at once");
    let planned = change(Scene { discount: 0.5, ..(*policy.scene).clone() });
    assert_eq!(planned.agents[0].visits, learned.agents[0].visits, "a new discount keeps what was seen");
    let planned = running.send(ViewerCommand::Cycle { count: 2000 });
    let lowest = planned.agents[0].values.iter().copied().fold(0.0, f64::min);
    assert!((-2.0..-1.5).contains(&lowest), "values follow the new discount: {lowest}");
    let same =
        running.send(ViewerCommand::Scene { scene: Box::new((*planned.scene).clone()), restart: true });
    assert_eq!(same.agents[0].steps, 2000, "the scene that is already shown continues");
    let restarted = change(Scene { planner: backsweep_baselines::MOORE_ATKESON, ..(*planned.scene).clone() });
    assert_eq!(
        (restarted.agents[0].steps, restarted.life),
        (0, planned.life + 1),
        "a new planner starts from nothing"
    );
}

#[test]
fn agents_in_a_race_see_the_same_random_numbers() {
    let scene = Scene {
        rival: Some(PlannerKind::REVERSED_FULL_BACKUPS),
        ..small(PlannerKind::REVERSED_FULL_BACKUPS)
    };
    let running = Running::start(scene, false);
    for _ in 0..20 {
        let frame = running.send(ViewerCommand::Step { count: 37 });
        assert_eq!(frame.agents[0].position, frame.agents[1].position);
        assert_eq!(frame.agents[0].q, frame.agents[1].q);
    }
    let other = Scene {
        rival: Some(backsweep_baselines::VALUE_ITERATION),
        ..small(PlannerKind::REVERSED_FULL_BACKUPS)
    };
    let frame = running.send(ViewerCommand::Scene { scene: Box::new(other), restart: false });
    assert_eq!(frame.agents[1].planner, backsweep_baselines::VALUE_ITERATION);
    let frame = running.send(ViewerCommand::Step { count: 500 });
    assert_eq!(frame.agents[0].steps, frame.agents[1].steps);
    assert_ne!(frame.agents[0].q, frame.agents[1].q);
}

#[test]
fn painting_a_wall_changes_the_policy() {
    // Two ways around: the upper is shorter until it is closed.
    let maze = "......\n.####.\nS####G\n.####.\n.####.\n......\n";
    let scene = Scene {
        maze: maze.into(),
        law: "four".into(),
        intended: 1.0,
        min_visits: 1,
        epsilon: 0.1,
        cycles: 50,
        ..Scene::default()
    };
    let running = Running::start(scene, false);
    let best = |frame: &Frame, cell: usize| {
        let q = &frame.agents[0].q[4 * cell..4 * cell + 4];
        (0..4).max_by(|&a, &b| q[a].total_cmp(&q[b])).unwrap()
    };
    let (start, above) = (12, 3);
    let before = running.send(ViewerCommand::Step { count: 3000 });
    assert_eq!(best(&before, start), 0, "north, the shorter way");
    let painted = running.send(ViewerCommand::Paint { cell: above, brush: Brush::Toggle, stroke: 0 });
    // The evaluator may have found the finish line reached in between, which counts as well.
    let n_trials = |frame: &Frame| {
        serde_json::to_value(&*frame.results).unwrap()["trials"].as_array().unwrap().len() as u64
    };
    assert_eq!(painted.revision - n_trials(&painted), before.revision - n_trials(&before) + 1);
    assert!(painted.scene.maze.starts_with("...#.."));
    assert_eq!(painted.agents[0].q, before.agents[0].q, "the agent does not know yet");
    let after = running.send(ViewerCommand::Step { count: 60_000 });
    assert_eq!(best(&after, start), 2, "south, the way that is left");
    let reopened = running.send(ViewerCommand::Paint { cell: above, brush: Brush::Toggle, stroke: 0 });
    assert_eq!(reopened.scene.maze, before.scene.maze);
}

#[test]
fn start_goal_and_walls_can_be_painted_under_the_agent() {
    let running = Running::start(small(PlannerKind::REVERSED_FULL_BACKUPS), false);
    let mut position = 0;
    while position == 0 {
        position = running.send(ViewerCommand::Step { count: 1 }).agents[0].position;
    }
    let frame = running.send(ViewerCommand::Paint { cell: position, brush: Brush::Wall, stroke: 0 });
    assert_ne!(frame.agents[0].position, position, "nobody stands in a wall");
    let frame = running.send(ViewerCommand::Paint { cell: 7, brush: Brush::Start, stroke: 0 });
    assert_eq!(frame.scene.maze.matches('S').count(), 1);
    let frame = running.send(ViewerCommand::Paint { cell: 8, brush: Brush::Goal, stroke: 0 });
    assert_eq!(frame.scene.maze.matches('G').count(), 1);
    assert!(
        running.refused(ViewerCommand::Paint { cell: 8, brush: Brush::Wall, stroke: 0 }).contains("no goal")
    );
    assert!(
        running.refused(ViewerCommand::Paint { cell: 7, brush: Brush::Free, stroke: 0 }).contains("no start")
    );
    assert!(
        running.refused(ViewerCommand::Paint { cell: 99, brush: Brush::Wall, stroke: 0 }).contains("cell 99")
    );
    // A goal behind walls: it keeps learning, and everything stays finite.
    for cell in [0, 16] {
        running.send(ViewerCommand::Paint { cell, brush: Brush::Wall, stroke: 0 });
    }
    let frame = running.send(ViewerCommand::Step { count: 20_000 });
    assert!(frame.agents[0].values.iter().all(|value| value.is_finite() && *value >= -100.0));
}

#[test]
fn the_optimum_is_that_of_the_notes() {
    for (law, intended, expected) in
        [("fifteen", 0.8, -45.181), ("four", 0.8, -47.268), ("four", 0.6, -57.112)]
    {
        let scene = Scene { law: law.into(), intended, ..Scene::default() };
        let world = scene.grid_world().unwrap();
        let policy = EpsilonGreedy::new(0.05).unwrap();
        let truth = world.rules().truth().unwrap();
        let (optimum, best) = OptimumSearch::new(&truth, scene.discount, policy).unwrap().finish(&truth);
        assert!(best > optimum, "exploring costs something");
        assert!((optimum - expected).abs() < 6e-4, "{law} {intended}: {optimum}, expected {expected}");
    }
}

#[test]
fn pictures_are_the_same_for_the_same_scene_and_not_too_large() {
    let picture = |light| picture::png(&frame_after(Scene::default(), 50).unwrap(), light).unwrap();
    let dark = picture(false);
    assert!(dark.starts_with(b"\x89PNG\r\n\x1a\n"));
    assert!(dark.len() < 300_000, "{} bytes", dark.len());
    assert_eq!(dark, picture(false));
    assert_ne!(dark, picture(true));
    let closed = Scene { maze: "S#G\n".into(), ..Scene::default() };
    assert!(frame_after(closed, 1).unwrap_err().to_string().contains("check that a path leads to the goal"));
}

/// A report. Both on the same machine at nearly the same time; if times count, the best of some rounds, as others may be
/// using it too.
#[test]
fn the_engine_beside_the_laboratory_at_full_speed() {
    let is_timed = std::env::var("BACKSWEEP_TIMED").is_ok_and(|value| value == "1");
    let mut best = 0.0f64;
    for _ in 0..if is_timed { 6 } else { 1 } {
        let running = Running::start(Scene { speed: None, ..Scene::default() }, true);
        let before = running.wait(|frame| frame.agents[0].steps > 1000).agents[0].steps;
        let began = Instant::now();
        let after = running.wait(|_| began.elapsed() > Duration::from_secs(1)).agents[0].steps;
        let engine = (after - before) as f64 / began.elapsed().as_secs_f64();
        drop(running);

        let task = MazeTask::new(Maze::parse(PAPER_MAZE).unwrap(), Law::Fifteen, -1.0).unwrap();
        let scene = Scene::default();
        let mut agent = Agent::with_planner(PlannerKind::REVERSED_FULL_BACKUPS, scene.settings())
            .unwrap()
            .with_policy(EpsilonGreedy::new(0.05).unwrap());
        let mut random = Random::from_seed(1);
        let (began, mut steps) = (Instant::now(), 0);
        while began.elapsed() < Duration::from_millis(1100) {
            let budget = Budget::Cycles(1);
            steps += run_episode(&task, &mut agent, budget, None, &mut random, &mut |_, _| {}).unwrap().steps;
        }
        let laboratory = steps as f64 / began.elapsed().as_secs_f64();
        println!("steps per second: engine {engine:.0}, laboratory {laboratory:.0}");
        assert!(after > before, "the engine runs by itself");
        best = best.max(engine / laboratory);
        if best >= 0.8 {
            break;
        }
    }
    if is_timed {
        assert!(best >= 0.5, "the engine runs at {best:.2} of the laboratory's speed; expected at least 0.5");
    }
}
