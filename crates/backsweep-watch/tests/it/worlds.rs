//! Worlds of the exploration suite by their own rules, and agents that explore and forget as configured.

use crate::common::Running;
use backsweep::episode::Environment;
use backsweep::{Action, Next, PlannerKind, Random, State};
use backsweep_page::engine::evaluator::EvaluatorReport;
use backsweep_page::engine::state::EngineState;
use backsweep_watch::engine::ViewerCommand;
use backsweep_watch::engine::recording::frame_after;
use backsweep_watch::engine::recording::record_run;
use backsweep_watch::picture;
use backsweep_watch::scene::Scene;
use backsweep_watch::terminal::{self, Colors};
use backsweep_worlds::grid_world::{Brush, EIGHT_DIRECTIONS, OptimumSearch, drawable_world, drawable_worlds};
use std::time::Duration;

fn scene(world: &str) -> Scene {
    Scene { world: Some(world.into()), maze: String::new(), min_visits: 1, cycles: 5, ..Scene::default() }
}

/// Every world of the menu, and some sizes that are not in it.
fn names() -> Vec<String> {
    drawable_worlds()
        .into_iter()
        .map(|world| world.name)
        .chain(["deep_sea_7".to_owned(), "lake_12".to_owned()])
        .collect()
}

#[test]
fn the_menu_has_the_worlds_that_the_page_promises() {
    let names = names();
    for name in [
        "cliff_walking",
        "frozen_lake_4x4",
        "frozen_lake_8x8",
        "deep_sea_20",
        "blocking_maze",
        "shortcut_maze",
    ] {
        assert!(names.iter().any(|known| known == name), "{name} in {names:?}");
    }
    for (name, problem) in [
        ("atlantis", "no world is called 'atlantis'"),
        ("taxi", "cannot be drawn"),
        ("chain", "cannot be drawn"),
    ] {
        let error = scene(name).grid_world().unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn every_world_steps_and_is_known_as_its_own_table_says() {
    for name in names() {
        let scene = scene(&name);
        let world = scene.grid_world().unwrap();
        let own = drawable_world(&name, scene.seed).unwrap();
        let truth = world.rules().truth().unwrap();
        assert_eq!(world.n_states(), own.table().n_states());
        let (mut one, mut other) = (Random::from_seed(7), Random::from_seed(7));
        let mut state = world.start(&mut one);
        assert_eq!(state, own.table().start(&mut other));
        for k in 0..2000 {
            let action = Action(k % world.n_actions(state) as u32);
            let step = world.step(state, action, &mut one);
            assert_eq!(step, own.table().step(state, action, &mut other), "{name}");
            state = match step.next {
                Next::Continue(next) | Next::Truncated(next) => next,
                Next::Terminated => {
                    other = one.clone();
                    let start = world.start(&mut one);
                    assert_eq!(start, own.table().start(&mut other));
                    start
                }
            };
        }
        let best = own.table().values(own.discount, None, 1e-7).unwrap();
        let greedy = backsweep::explore::EpsilonGreedy::new(0.0).unwrap();
        let (_, optimum) = OptimumSearch::new(&truth, own.discount, greedy).unwrap().finish(&truth);
        assert!((optimum - own.table().from_starts(&best)).abs() < 1e-5, "{name}: {optimum}");
    }
}

#[test]
fn a_large_world_is_judged_in_pieces() {
    let mut engine = EngineState::<u32>::new(scene("grid_50"), false, None, || Duration::ZERO).unwrap();
    let mut evaluator = engine.evaluator();
    engine.to_judge().into_iter().for_each(|task| evaluator.add(task));
    let mut n_pieces = 1;
    let found = loop {
        match evaluator.work() {
            Some(found) => break found,
            None => n_pieces += 1,
        }
    };
    assert!(matches!(found, EvaluatorReport::Optimum { optimum: Some(_), .. }), "{found:?}");
    assert!(n_pieces > 50, "{n_pieces} pieces");
    assert!(evaluator.is_idle());
}

#[test]
fn arrows_point_where_actions_lead() {
    // In DeepSea every action leads one row down; which of the two is right differs from cell to cell.
    let world = scene("deep_sea_10").grid_world().unwrap();
    let pointers = world.pointers();
    let (right, left) = (1 << EIGHT_DIRECTIONS.iter().position(|d| *d == (1, 1)).unwrap(), 1 << 5);
    let mut firsts: Vec<u8> = pointers.iter().map(|row| row[0]).collect();
    assert!(firsts.iter().all(|bit| *bit == right || *bit == left));
    firsts.dedup();
    assert!(firsts.len() > 10, "the actions are mixed");
    for cell in 0..80u32 {
        for action in 0..2 {
            let step = world.step(State(cell), Action(action), &mut Random::from_seed(1));
            let Next::Continue(next) = step.next else { panic!("not the last row") };
            let expected = if pointers[cell as usize][action as usize] == right {
                (cell % 10 + 1).min(9)
            } else {
                (cell % 10).saturating_sub(1)
            };
            assert_eq!(next.0, cell / 10 * 10 + 10 + expected);
        }
    }
}

#[test]
fn every_world_is_learned_drawn_and_recorded() {
    for name in names().iter().filter(|name| !name.starts_with("grid")) {
        let scene = Scene { explore: "bayes_bonus".parse().unwrap(), ..scene(name) };
        let frame = frame_after(scene.clone(), 20).unwrap();
        assert!(frame.agents[0].best.iter().any(|best| *best > 0), "{name}");
        assert!(picture::svg(&frame, false).unwrap().contains("<circle"), "{name}");
        assert!(terminal::picture(&frame, Colors::None, (200, 100)).unwrap().contains('●'), "{name}");
        let recording = record_run(&scene, 20, 30).unwrap().json();
        assert!(recording["layout"]["pointers"].is_array(), "{name}");
    }
}

#[test]
fn an_episode_is_cut_where_the_world_says_so() {
    let running = Running::start(Scene { epsilon: 1.0, ..scene("frozen_lake_4x4") }, false);
    let frame = running.send(ViewerCommand::Step { count: 5000 });
    assert!(frame.agents[0].episodes > 50);
    // Nothing ends on a lake whose holes and goal are walled off: 100 steps each.
    for cell in [1, 4] {
        running.send(ViewerCommand::Paint { cell, brush: Brush::Wall, stroke: 0 });
    }
    running.send(ViewerCommand::Reset {});
    let frame = running.send(ViewerCommand::Step { count: 999 });
    assert_eq!((frame.agents[0].episodes, frame.is_closed), (9, true));
    let frame = running.send(ViewerCommand::Step { count: 1 });
    assert_eq!(frame.agents[0].episodes, 10);
}

#[test]
fn walls_are_built_and_opened_in_a_world_of_the_suite() {
    let running = Running::start(scene("shortcut_maze"), false);
    let before = running.engine.frame();
    assert!(before.scene.maze.lines().nth(3).unwrap().starts_with(".########"));
    // The right end of the wall, which the world itself opens later.
    let open = running.send(ViewerCommand::Paint { cell: 35, brush: Brush::Toggle, stroke: 0 });
    assert_eq!(open.scene.maze.lines().nth(3).unwrap(), ".#######.");
    let world = &open.world;
    let step =
        |from: u32, action: u32| world.step(State(from), Action(action), &mut Random::from_seed(1)).next;
    assert_eq!(step(44, 0), Next::Continue(State(35)), "into the gap");
    assert_eq!(step(35, 0), Next::Continue(State(26)), "and out of it");
    assert_eq!(step(43, 0), Next::Continue(State(43)), "its neighbor still is a wall");
    let closed = running.send(ViewerCommand::Paint { cell: 27, brush: Brush::Toggle, stroke: 0 });
    let next = closed.world.step(State(36), Action(0), &mut Random::from_seed(1)).next;
    assert_eq!(next, Next::Continue(State(36)), "a new wall is not entered");
    // What is painted travels in the scene, and is the same world there.
    let again = closed.scene.grid_world().unwrap();
    assert_eq!(again.text(), closed.scene.maze);
    assert_eq!(again.step(State(36), Action(0), &mut Random::from_seed(1)).next, Next::Continue(State(36)));
    assert!(
        running.refused(ViewerCommand::Paint { cell: 8, brush: Brush::Wall, stroke: 0 }).contains("no goal")
    );
    assert!(
        running
            .refused(ViewerCommand::Paint { cell: 20, brush: Brush::Goal, stroke: 0 })
            .contains("fix what this cell is")
    );
    running.send(ViewerCommand::Undo {});
    assert_eq!(running.send(ViewerCommand::Undo {}).scene.maze, before.scene.maze);
}

#[test]
fn a_world_that_changes_by_itself_does_and_recovery_is_counted_for_each_exploration() {
    let scene = Scene {
        explore: "bayes_bonus:0.2".parse().unwrap(),
        rival: Some(PlannerKind::REVERSED_FULL_BACKUPS),
        rival_explore: Some("epsilon_greedy".parse().unwrap()),
        rival_forget: Some("half_life:500".parse().unwrap()),
        epsilon: 0.1,
        discount: 0.95,
        cycles: 20,
        speed: None,
        ..scene("blocking_maze")
    };
    let running = Running::start(scene, false);
    let before = running.send(ViewerCommand::Step { count: 1000 });
    assert!(before.to_optimum.iter().all(|to_optimum| to_optimum["cause"] == "start"));
    let after = running.send(ViewerCommand::Step { count: 1 });
    assert!(after.to_optimum.iter().all(|to_optimum| to_optimum["cause"] == "change"));
    assert_ne!(after.scene.maze, before.scene.maze);
    running.send(ViewerCommand::Run {});
    let right = running.wait(|frame| frame.to_optimum.iter().all(|to_optimum| to_optimum["reached"] == true));
    let event = right.scene_json("x").to_string();
    for exploration in ["Bayesian bonus, β 0.2", "ε 0.1, half-life 500"] {
        assert!(event.contains(&format!("\"exploration\":\"{exploration}\"")), "{event}");
    }
    let reset = running.send(ViewerCommand::Reset {});
    assert_eq!(reset.scene.maze, before.scene.maze, "it begins again");
}

#[test]
fn incompatible_settings_are_refused_with_a_reason() {
    let running = Running::start(scene("cliff_walking"), false);
    let change = |name: &str, value: &str| {
        let settings = serde_json::json!({ name: value }).as_object().unwrap().clone();
        ViewerCommand::Change { settings }
    };
    assert!(running.refused(change("forget", "half_life:100")).contains("forgets nothing"));
    assert!(running.refused(change("explore", "magic")).contains("expected paper or one of"));
    running.send(change("planner", "value_iteration"));
    assert!(running.refused(change("explore", "count_bonus:0.1")).contains("keeps no bonuses"));
    assert!(running.refused(change("world", "atlantis")).contains("no world is called"));
}

#[test]
fn a_card_shows_the_bonus_as_a_part_of_q() {
    let scene = Scene { explore: "count_bonus:0.5".parse().unwrap(), ..scene("cliff_walking") };
    let running = Running::start(scene, false);
    running.send(ViewerCommand::Step { count: 500 });
    let mut n_bonuses = 0;
    for cell in 0..37 {
        let found = &running.cell(cell)["agents"][0];
        for (made, q) in found["made"].as_array().unwrap().iter().zip(found["q"].as_array().unwrap()) {
            if made["known"] != true {
                continue;
            }
            let number = |json: &serde_json::Value| json.as_f64().unwrap();
            let terms = made["terms"].as_array().unwrap();
            let sum: f64 = terms.iter().map(|term| 0.99 * number(&term[1]) * number(&term[2])).sum();
            let total = number(&made["reward"]) + number(&made["bonus"]) + sum;
            assert!((total - number(q)).abs() < 1e-6, "cell {cell}: {made} is {total}, not {q}");
            n_bonuses += i32::from(number(&made["bonus"]) > 0.0);
        }
    }
    assert!(n_bonuses > 20);
    let drawn = Scene { explore: "posterior_sampling".parse().unwrap(), ..self::scene("cliff_walking") };
    let running = Running::start(drawn, false);
    running.send(ViewerCommand::Step { count: 500 });
    running.send(ViewerCommand::Cycle { count: 1 });
    assert!(running.cell(36)["agents"][0]["made"].is_null());
}
