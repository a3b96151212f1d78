//! The page's teaching features: cycles that wait and add up, fair races, the finish line, breaking and restoring the world.

use crate::common::Running;
use backsweep::PlannerKind;
use backsweep_watch::engine::frame::Frame;
use backsweep_watch::engine::{Break, ViewerCommand};
use backsweep_watch::scene::{RaceResource, Scene};
use backsweep_worlds::grid_world::Brush;

/// A small maze in which every planner soon ends episodes.
fn small(planner: PlannerKind) -> Scene {
    let maze = "S..#....\n.#.#.##.\n.#...#..\n...#...G\n";
    Scene { planner, maze: maze.into(), min_visits: 1, ..Scene::default() }
}

#[test]
fn a_cycle_waits_for_something_to_do_and_says_so() {
    for planner in backsweep_baselines::PLANNERS {
        let running = Running::start(Scene { planner, ..Scene::default() }, false);
        let mut waited = 0;
        for _ in 0..5 {
            let frame = running.send(ViewerCommand::Cycle { count: 1 });
            let report = &frame.cycles[0];
            assert!(!report.backups.is_empty(), "{planner}: a cycle that does nothing is not shown");
            waited += report.waited;
            assert_eq!(frame.agents[0].steps, waited, "{planner}");
        }
        assert!(waited > 0, "{planner}: an agent that has seen nothing has nothing to plan");
    }
}

#[test]
fn a_cycle_gives_up_where_nothing_can_be_learned() {
    let closed = Scene { maze: "S#G\n".into(), min_visits: 1, discount: 0.0, ..Scene::default() };
    let running = Running::start(closed, false);
    assert!(running.engine.frame().is_closed);
    running.send(ViewerCommand::Step { count: 100 });
    let frame = running.send(ViewerCommand::Cycle { count: 1 });
    assert!(frame.cycles[0].backups.is_empty() && frame.cycles[0].waited > 1000);
}

#[test]
fn what_a_cycle_reports_adds_up() {
    let scene = small(PlannerKind::REVERSED_FULL_BACKUPS);
    let running = Running::start(Scene { cycles: 0, ..scene }, false);
    running.send(ViewerCommand::Step { count: 300 });
    for _ in 0..50 {
        let frame = running.send(ViewerCommand::Cycle { count: 1 });
        let report = &frame.cycles[0];
        let popped = report.popped.unwrap();
        // The priority of the popped state is how far its value is from the one that others relied on.
        assert_eq!(report.queue.0[0].cell, popped);
        let delta = report.relied_on.1 - report.relied_on.0;
        assert!((report.queue.0[0].priority - delta.abs()).abs() < 1e-12);
        // Every ΔQ is γ P̂ ΔV, and every Q is R̂ + γ Σ P̂ U term by term.
        for backup in &report.backups {
            let cell = running.cell(backup.cell);
            let found = &cell["agents"][0];
            let made = &found["made"][backup.action as usize];
            let number = |json: &serde_json::Value| json.as_f64().unwrap();
            let terms = made["terms"].as_array().unwrap();
            let own = terms.iter().find(|term| term[0] == popped).unwrap();
            assert!((backup.delta - 0.99 * number(&own[1]) * delta).abs() < 1e-9, "{backup:?}");
            let sum: f64 = terms.iter().map(|term| 0.99 * number(&term[1]) * number(&term[2])).sum();
            let q = number(&found["q"][backup.action as usize]);
            assert!((number(&made["reward"]) + sum - q).abs() < 1e-9, "{made}");
        }
        assert_eq!(report.additions, report.backups.len() as u64);
        assert!(report.additions_in_full >= report.additions);
    }
}

#[test]
fn a_race_on_equal_work_is_even_in_additions() {
    let scene = Scene {
        rival: Some(backsweep_baselines::VALUE_ITERATION),
        race: RaceResource::Work,
        ..small(PlannerKind::REVERSED_FULL_BACKUPS)
    };
    let frame = Running::start(scene, false).send(ViewerCommand::Step { count: 20_000 });
    let [one, other] = &frame.agents[..] else { panic!("two agents") };
    // A sweep of value iteration cannot be cut: it adds up to 15 outcomes of every pair of 32 cells.
    let apart = one.counters.additions.abs_diff(other.counters.additions);
    assert!(apart <= 15 * 4 * 32, "{:?} and {:?}", one.counters, other.counters);
    assert!(one.steps > 5 * other.steps, "{} and {} steps", one.steps, other.steps);
}

#[test]
fn work_is_counted_in_additions_for_every_planner() {
    for planner in backsweep_baselines::PLANNERS {
        let running = Running::start(Scene { cycles: 0, ..small(planner) }, false);
        running.send(ViewerCommand::Step { count: 2000 });
        let (mut total, mut in_reports) = (running.engine.frame().agents[0].counters, 0);
        let before = total;
        for _ in 0..40 {
            let frame = running.send(ViewerCommand::Cycle { count: 1 });
            in_reports += frame.cycles[0].additions;
            total = frame.agents[0].counters;
        }
        assert_eq!(total.additions - before.additions, in_reports, "{planner}");
        let (small, full) =
            (total.small_backups - before.small_backups, total.full_backups - before.full_backups);
        // A small backup adds one term. A full one adds one per outcome, of which moves have several.
        assert!(in_reports >= small + full, "{planner}: {total:?}");
        assert_eq!(full > 0, in_reports > 2 * (small + full), "{planner}: {total:?}");
    }
}

#[test]
fn a_race_on_equal_time_lets_both_learn() {
    let scene = Scene {
        rival: Some(backsweep_baselines::VALUE_ITERATION),
        race: RaceResource::Time,
        ..small(PlannerKind::REVERSED_FULL_BACKUPS)
    };
    let frame = Running::start(scene, false).send(ViewerCommand::Step { count: 20_000 });
    assert!(frame.agents.iter().all(|agent| agent.steps > 0));
    assert_eq!(frame.agents[0].steps + frame.agents[1].steps, 20_000);
}

#[test]
fn the_finish_line_is_reached_after_the_same_steps_however_fast_the_machine_is() {
    let finish = |speed: Option<f64>| {
        let rival = Some(backsweep_baselines::MOORE_ATKESON);
        let scene = Scene { speed, rival, epsilon: 0.2, ..small(PlannerKind::REVERSED_FULL_BACKUPS) };
        let running = Running::start(scene, true);
        let frame =
            running.wait(|frame| frame.to_optimum.iter().all(|to_optimum| to_optimum["reached"] == true));
        frame.to_optimum.clone()
    };
    let (fast, slow) = (finish(None), finish(Some(20_000.0)));
    assert_eq!(fast, slow);
    assert!(fast[0]["steps"].as_u64().unwrap() > 0);
    for to_optimum in &fast {
        let (near, finish) = (to_optimum["near"].as_u64().unwrap(), to_optimum["steps"].as_u64().unwrap());
        assert!(0 < near && near <= finish, "within 5 % after {near} steps, within 1 % after {finish}");
    }
    assert!(fast.iter().any(|to_optimum| to_optimum["near"] != to_optimum["steps"]), "{fast:?}");
}

#[test]
fn after_a_reset_the_line_has_to_be_reached_again() {
    let running =
        Running::start(Scene { epsilon: 0.2, speed: None, ..small(PlannerKind::SMALL_BACKUPS) }, true);
    let reached = |life: u64| {
        let holds = move |frame: &Frame| frame.life == life && frame.to_optimum[0]["reached"] == true;
        running.wait(holds).to_optimum.clone()
    };
    let first = reached(1);
    running.send(ViewerCommand::Reset {});
    assert_eq!(reached(2), first, "the same seed, the same course");
}

#[test]
fn a_broken_world_is_relearned_counted_and_undone() {
    let maze = "S......G\n........\n.######.\n........\n";
    let law = "four".to_owned();
    let base = small(PlannerKind::REVERSED_FULL_BACKUPS);
    let scene = Scene { epsilon: 0.2, speed: None, cycles: 20, law, maze: maze.into(), ..base };
    let running = Running::start(scene, true);
    let reached = |cause: &'static str| {
        running.wait(move |frame| {
            frame.to_optimum[0]["cause"] == cause && frame.to_optimum[0]["reached"] == true
        })
    };
    reached("start");
    let broken = running.send(ViewerCommand::Break { what: Break::Wall });
    assert_ne!(broken.scene.maze, maze);
    assert!(!broken.is_closed && broken.can_undo && broken.life == 1);
    let again = reached("wall");
    assert!(again.to_optimum[0]["steps"].as_u64().unwrap() > 0, "a wall on the path has to be found");
    let undone = running.send(ViewerCommand::Undo {});
    assert_eq!(undone.scene.maze, maze);
    assert!(!undone.can_undo);
    assert!(running.refused(ViewerCommand::Undo {}).contains("nothing to undo"));
    // Cells of one stroke are undone together.
    for (cell, stroke) in [(9, 7), (10, 7), (11, 7), (12, 8)] {
        running.send(ViewerCommand::Paint { cell, brush: Brush::Wall, stroke });
    }
    running.send(ViewerCommand::Undo {});
    assert_eq!(running.send(ViewerCommand::Undo {}).scene.maze, maze);
}

#[test]
fn runs_of_200_episodes_are_points_of_figure_3_unless_they_were_disturbed() {
    let runs = |disturb: bool| {
        let scene = Scene { speed: None, ..small(PlannerKind::SMALL_BACKUPS) };
        let (engine, thread) = backsweep_watch::engine::Engine::start(scene, false, Some(201)).unwrap();
        let running = Running::of(engine, thread);
        if disturb {
            running.send(ViewerCommand::Step { count: 5 });
            running.send(ViewerCommand::Paint { cell: 2, brush: Brush::Wall, stroke: 0 });
        }
        running.send(ViewerCommand::Run {});
        let frame = running.wait(|frame| !frame.running && frame.agents[0].episodes == 201);
        frame.scene_json("x").to_string()
    };
    assert!(runs(false).contains("\"runs\":[{\"additions\""), "{}", runs(false));
    assert!(runs(true).contains("\"runs\":[]"));
}

#[test]
fn a_maze_that_is_too_large_is_refused_by_its_length() {
    let maze = ".".repeat(200_000);
    let error = Scene { maze, ..Scene::default() }.grid_world().unwrap_err().to_string();
    assert!(error.contains("200000 bytes; expected at most 80000"), "{error}");
}
