//! Small parts of the page: choices as text, colors, curves, the list of urgent cells, agents of a scene.

use backsweep::explore::Explore;
use backsweep_watch::agent_spec::AgentSpec;
use backsweep_watch::choices::{ForgettingChoice, StrategyChoice};
use backsweep_watch::engine::Engine;
use backsweep_watch::engine::history::{History, MAX_POINTS};
use backsweep_watch::engine::report::{LISTED, Queued, most_urgent};
use backsweep_watch::engine::time_to_optimum::{Cause, TimeToOptimum, WorkDone};
use backsweep_watch::palette::{Color, color};
use backsweep_watch::scene::Scene;
use std::time::{Duration, Instant};

#[test]
fn every_choice_survives_the_journey() {
    let texts =
        ["paper", "epsilon_greedy", "optimism", "count_bonus:0.5", "bayes_bonus:0.2", "posterior_sampling:1"];
    for text in texts {
        assert_eq!(text.parse::<StrategyChoice>().unwrap().to_string(), text);
    }
    for text in ["never", "half_life:2000", "window:5", "per_visit:0.9"] {
        assert_eq!(text.parse::<ForgettingChoice>().unwrap().to_string(), text);
    }
    for wrong in ["", "paper:1", "optimism:3", "bayes_bonus:", "bayes_bonus:NaN", "count_bonus:inf", "greedy"]
    {
        assert!(wrong.parse::<StrategyChoice>().is_err(), "{wrong}");
    }
    for wrong in ["", "never:1", "window:0", "window:2.5", "window:NaN", "half_life:x"] {
        assert!(wrong.parse::<ForgettingChoice>().is_err(), "{wrong}");
    }
}

/// CIE lightness of a color.
fn lightness(color: Color) -> f64 {
    let linear = color.map(|c| (f64::from(c) / 255.0).powf(2.2));
    let y = 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
    116.0 * y.cbrt() - 16.0
}

#[test]
fn lightness_rises_evenly() {
    let steps: Vec<f64> = (0..=64).map(|i| lightness(color(f64::from(i) / 64.0))).collect();
    let rise = (steps[64] - steps[0]) / 64.0;
    for pair in steps.windows(2) {
        let step = pair[1] - pair[0];
        assert!(step > 0.4 * rise && step < 1.9 * rise, "{step} against a mean of {rise}");
    }
}

#[test]
fn means_are_exact_and_bounded() {
    let mut history = History::new(1);
    for i in 0..100_000 {
        history.push(f64::from(i));
    }
    assert!(history.means().len() < MAX_POINTS && history.means().len() >= MAX_POINTS / 2 - 1);
    for (i, &mean) in history.means().iter().enumerate() {
        let stride = history.stride() as f64;
        let expected = i as f64 * stride + (stride - 1.0) / 2.0;
        assert!((f64::from(mean) - expected).abs() < 0.01 * stride, "{i}: {mean}, expected {expected}");
    }
}

#[test]
fn the_most_urgent_are_those_of_a_sorted_list() {
    let priorities: Vec<f64> = (0..500).map(|i| f64::from((i * 7919 + 13) % 97) / 9.0).collect();
    let mut sorted: Vec<Queued> =
        (0..).zip(&priorities).map(|(cell, &priority)| Queued { cell, priority }).collect();
    sorted.retain(|queued| queued.priority > 0.0);
    sorted.sort_by(|a, b| b.priority.total_cmp(&a.priority).then(a.cell.cmp(&b.cell)));
    sorted.truncate(LISTED);
    assert_eq!(most_urgent(priorities.into_iter()), sorted);
}

#[test]
fn every_choice_learns_in_a_maze_and_in_a_world_of_the_suite() {
    for world in [None, Some("deep_sea_10".to_owned()), Some("cliff_walking".to_owned())] {
        let maze = if world.is_some() { String::new() } else { "S..\n.#.\n..G\n".into() };
        let scene = Scene { maze, world, min_visits: 1, ..Scene::default() };
        let world = scene.grid_world().unwrap();
        for name in Explore::NAMES {
            let spec = AgentSpec { explore: name.parse().unwrap(), ..scene.agent_specs().next().unwrap() };
            let agent = spec.build(&scene, &world).unwrap();
            assert_eq!(agent.model().n_states(), world.n_states(), "{name}");
            assert_eq!(agent.exploration().unwrap().explore.name(), name);
        }
    }
}

#[test]
fn agents_stop_at_the_step_that_ends_their_last_episode() {
    let steps = || {
        let scene =
            Scene { rival: Some(backsweep_baselines::MOORE_ATKESON), speed: None, ..Scene::default() };
        let (engine, thread) = Engine::start(scene, true, Some(7)).unwrap();
        let begin = Instant::now();
        while engine.frame().running {
            assert!(begin.elapsed() < Duration::from_secs(60), "the engine is still running");
            std::thread::sleep(Duration::from_millis(1));
        }
        let frame = engine.frame();
        engine.end();
        thread.join().unwrap();
        assert!(frame.agents.iter().all(|agent| agent.episodes == 7), "{:?}", frame.agents);
        frame.agents.iter().map(|agent| agent.steps).collect::<Vec<_>>()
    };
    assert_eq!(steps(), steps(), "however fast the machine is");
}

#[test]
fn the_work_to_the_finish_line_begins_where_the_measurement_does() {
    let at = |steps: u64| WorkDone { steps, additions: 10 * steps };
    let mut line = TimeToOptimum::begin(Cause::Wall, at(1000));
    assert!(line.is_due(1000));
    line.look(1000);
    assert!(!line.is_due(1007) && line.is_due(1008));
    line.reach(at(1050), false);
    assert_eq!((line.near, line.reached, line.done(at(1060))), (Some(at(50)), None, at(60)));
    line.reach(at(1100), true);
    assert_eq!((line.near, line.reached, line.done(at(2000))), (Some(at(50)), Some(at(100)), at(100)));
    assert!(!line.is_due(u64::MAX), "what was reached is not looked for");
    // The line has moved: it has to be reached again.
    line.check_again();
    assert!(line.is_due(1101));
    assert_eq!((line.near, line.reached, line.done(at(1200))), (None, None, at(200)));
}
