//! With any settings, the engine answers promptly: it checks for commands even during long planning.

use backsweep::PlannerKind;
use backsweep_watch::engine::{Engine, ViewerCommand};
use backsweep_watch::scene::Scene;
use serde_json::json;
use std::time::{Duration, Instant};

/// The time an answer may take. On a machine that may be busy only a freeze counts (docs/testing.md).
fn limit() -> Duration {
    let is_timed = std::env::var("BACKSWEEP_TIMED").is_ok_and(|value| value == "1");
    Duration::from_millis(if is_timed { 100 } else { 2000 })
}

/// An open maze of 10,000 cells.
fn large(planner: PlannerKind, cycles: u64) -> Scene {
    let mut maze = vec![".".repeat(100); 100];
    maze[0].replace_range(0..1, "S");
    maze[99].replace_range(99..100, "G");
    let maze = maze.join("\n") + "\n";
    Scene { planner, cycles, maze, min_visits: 1, epsilon: 1.0, speed: None, ..Scene::default() }
}

fn send(engine: &Engine, command: ViewerCommand) -> Duration {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let began = Instant::now();
    runtime.block_on(engine.send(command)).unwrap();
    began.elapsed()
}

fn change(settings: serde_json::Value) -> ViewerCommand {
    ViewerCommand::Change { settings: settings.as_object().unwrap().clone() }
}

fn assert_prompt(what: &str, took: Duration) {
    println!("{what}: {took:?}");
    assert!(took < limit(), "{what} took {took:?}; expected less than {:?}", limit());
}

#[test]
fn every_command_is_answered_promptly_in_the_middle_of_ten_thousand_cycles() {
    for planner in backsweep_baselines::PLANNERS {
        let (engine, thread) = Engine::start(large(planner, 0), true, None).unwrap();
        // Enough is learned that planning has a lot to do.
        while engine.frame().agents[0].steps < 20_000 {
            std::thread::sleep(Duration::from_millis(5));
        }
        for (what, given) in [
            ("cycles 10,000", change(json!({ "cycles": 10_000 }))),
            ("pause", ViewerCommand::Pause {}),
            ("step", ViewerCommand::Step { count: 100_000 }),
            ("discount", change(json!({ "discount": 0.999 }))),
            ("run", ViewerCommand::Run {}),
            (
                "paint",
                ViewerCommand::Paint {
                    cell: 5000,
                    brush: backsweep_worlds::grid_world::Brush::Wall,
                    stroke: 0,
                },
            ),
            ("undo", ViewerCommand::Undo {}),
            ("break", ViewerCommand::Break { what: backsweep_watch::engine::Break::Wall }),
            ("cycle", ViewerCommand::Cycle { count: 100_000 }),
            ("pause", ViewerCommand::Pause {}),
            ("run", ViewerCommand::Run {}),
            ("reset", ViewerCommand::Reset {}),
        ] {
            std::thread::sleep(Duration::from_millis(60));
            assert_prompt(&format!("{planner}: {what}"), send(&engine, given));
        }
        let began = Instant::now();
        engine.end();
        thread.join().unwrap();
        assert_prompt(&format!("{planner}: end"), began.elapsed());
    }
}

#[test]
fn a_change_from_cheap_to_costly_steps_does_not_freeze() {
    let scene = Scene { speed: Some(3000.0), ..large(PlannerKind::REVERSED_FULL_BACKUPS, 0) };
    let (engine, thread) = Engine::start(scene, true, None).unwrap();
    std::thread::sleep(Duration::from_millis(3000));
    send(&engine, change(json!({ "cycles": 10, "planner": "value_iteration", "speed": null })));
    std::thread::sleep(Duration::from_millis(500));
    assert_prompt("pause", send(&engine, ViewerCommand::Pause {}));
    let frame = engine.frame();
    assert!(!frame.running && frame.agents[0].steps > 0);
    engine.end();
    thread.join().unwrap();
}

#[test]
fn long_steps_continue_after_they_are_answered_and_end_with_the_next_order() {
    let (engine, thread) =
        Engine::start(large(backsweep_baselines::VALUE_ITERATION, 100), false, None).unwrap();
    assert_prompt("step", send(&engine, ViewerCommand::Step { count: 100_000 }));
    let frame = engine.frame();
    assert!(frame.busy && !frame.running, "it is still stepping");
    let (before, began) = (frame.agents[0].steps, Instant::now());
    while engine.frame().agents[0].steps <= before {
        assert!(began.elapsed() < Duration::from_secs(120), "it does not continue");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&engine, ViewerCommand::Pause {});
    let stopped = engine.frame();
    assert!(!stopped.busy);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(engine.frame().agents[0].steps, stopped.agents[0].steps);
    engine.end();
    thread.join().unwrap();
}

#[test]
fn a_pause_in_the_middle_of_a_step_does_not_change_what_is_learned() {
    let scene =
        || Scene { cycles: 3000, maze: "S...\n.##.\n...G\n".into(), ..large(PlannerKind::SMALL_BACKUPS, 0) };
    let learn = |pauses: bool| {
        let (engine, thread) = Engine::start(scene(), false, None).unwrap();
        if pauses {
            for _ in 0..20 {
                send(&engine, ViewerCommand::Run {});
                send(&engine, ViewerCommand::Pause {});
            }
            send(&engine, ViewerCommand::Pause {});
        }
        let left = 20_000 - engine.frame().agents[0].steps;
        send(&engine, ViewerCommand::Step { count: left });
        while engine.frame().busy {
            std::thread::sleep(Duration::from_millis(2));
        }
        let frame = engine.frame();
        engine.end();
        thread.join().unwrap();
        (frame.agents[0].steps, frame.agents[0].q.clone())
    };
    assert_eq!(learn(true), learn(false));
}

#[test]
fn two_viewers_can_change_different_settings_at_the_same_time() {
    let (engine, thread) = Engine::start(Scene::default(), false, None).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for i in 1..=15 {
            let one = engine.send(change(json!({ "cycles": i })));
            let other =
                engine.send(change(json!({ "epsilon": f64::from(i) / 100.0, "rival": "value_iteration" })));
            let (one, other) = tokio::join!(one, other);
            one.unwrap();
            other.unwrap();
            let scene = engine.frame().scene.clone();
            assert_eq!((scene.cycles, scene.epsilon), (i as u64, f64::from(i) / 100.0));
            assert_eq!(scene.rival, Some(backsweep_baselines::VALUE_ITERATION));
        }
    });
    engine.end();
    thread.join().unwrap();
}
