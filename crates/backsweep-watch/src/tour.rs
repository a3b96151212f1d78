//! The recordings of the guided tour: the real planner on a corridor of five cells.

use crate::engine::recording::Recorder;
use crate::error::Result;
use crate::scene::Scene;
use backsweep::{Action, PlannerKind};
use serde_json::{Value, json};

/// Five cells; the last one is the goal.
const CORRIDOR: &str = "S...G\nG = 10\n";
const EAST: Action = Action(1);
/// Steps before the second part begins: every action has then been seen to lead to all its outcomes.
const WARM_UP: u64 = 3000;

fn corridor(intended: f64) -> Scene {
    Scene {
        planner: PlannerKind::REVERSED_FULL_BACKUPS,
        maze: CORRIDOR.into(),
        law: "four".into(),
        intended,
        min_visits: 1,
        discount: 0.9,
        epsilon: 0.0,
        cycles: 0,
        ..Scene::default()
    }
}

/// The agent walks to the goal; then the planner works cycle by cycle until nothing is queued. One frame each.
///
/// # Errors
/// Never, unless the corridor is no longer a valid maze.
fn walk() -> Result<Recorder> {
    let mut recorder = Recorder::new(corridor(1.0))?;
    for _ in 0..4 {
        recorder.walk(EAST)?;
        recorder.take();
    }
    while recorder.cycle()[0].popped.is_some() {
        recorder.take();
    }
    Ok(recorder)
}

/// On a slippery floor, where every action has several outcomes: one cycle after the agent has been everywhere.
fn slip() -> Result<Recorder> {
    let mut recorder = Recorder::new(Scene { epsilon: 1.0, ..corridor(0.6) })?;
    for _ in 0..WARM_UP {
        recorder.step(u64::MAX)?;
    }
    recorder.take();
    recorder.cycle();
    recorder.take();
    Ok(recorder)
}

/// Both recordings.
///
/// # Errors
/// As the functions above.
pub fn recordings() -> Result<Value> {
    Ok(json!({ "walk": walk()?.json(), "slip": slip()?.json() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wave_runs_back_as_the_tour_says() {
        let tour = recordings().unwrap();
        let frames = tour["walk"]["frames"].as_array().unwrap();
        // At the beginning, four steps, four cycles.
        assert_eq!(frames.len(), 9);
        let urgent = |k: usize| &frames[k]["agents"][0]["urgent"];
        for k in 0..4 {
            assert_eq!(*urgent(k), json!([]), "nothing is surprising before the goal");
        }
        assert_eq!(*urgent(4), json!([[3, 10.0]]));
        let expected = [(3, 2, 9.0, 8.0), (2, 1, 7.2, 6.2), (1, 0, 5.58, 4.58)];
        for (k, (popped, backed_up, delta, priority)) in expected.into_iter().enumerate() {
            let report = &frames[5 + k]["cycles"][0];
            assert_eq!(report["popped"], json!(popped));
            assert_eq!(report["backups"].as_array().unwrap().len(), 1);
            let backup = &report["backups"][0];
            assert_eq!((&backup[0], &backup[1]), (&json!(backed_up), &json!(1)));
            assert!((backup[2].as_f64().unwrap() - delta).abs() < 1e-9);
            assert_eq!(report["additions"], json!(1));
            let next = urgent(5 + k);
            assert_eq!(next[0][0], json!(backed_up));
            assert!((next[0][1].as_f64().unwrap() - priority).abs() < 1e-9);
        }
        let last = &frames[8]["cycles"][0];
        assert_eq!((&last["popped"], &last["backups"]), (&json!(0), &json!([])));
        assert_eq!(*urgent(8), json!([]));
    }

    #[test]
    fn full_backups_need_several_times_the_additions() {
        let tour = recordings().unwrap();
        let report = &tour["slip"]["frames"][2]["cycles"][0];
        let (small, full) = (report["additions"].as_u64().unwrap(), report["in_full"].as_u64().unwrap());
        assert!(small >= 4, "{report}");
        assert!(full >= 2 * small, "{small} against {full}");
    }
}
