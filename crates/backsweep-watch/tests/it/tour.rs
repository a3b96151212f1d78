//! The recordings of the guided tour show what its texts say.

use backsweep_watch::tour::recordings;
use serde_json::json;

#[test]
fn the_wave_runs_back_as_the_tour_says() {
    let tour = recordings().unwrap();
    let frames = tour["walk"]["frames"].as_array().unwrap();
    // At the beginning, four steps, a cycle, three steps of the second episode with one cycle each.
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
    for (k, position) in [(5, 0), (6, 1), (7, 2), (8, 3)] {
        assert_eq!(frames[k]["agents"][0]["position"], json!(position));
    }
    let last = &frames[8]["cycles"][0];
    assert_eq!((&last["popped"], &last["backups"]), (&json!(0), &json!([])));
    assert_eq!(*urgent(8), json!([]));
}

#[test]
fn a_priority_is_the_difference_between_v_and_the_value_that_others_use() {
    let tour = recordings().unwrap();
    let (mut q, mut u) = ([0.0_f64; 20], [0.0; 5]);
    let mut n_checked = 0;
    for frame in tour["walk"]["frames"].as_array().unwrap() {
        let agent = &frame["agents"][0];
        let read = |name: &str, numbers: &mut [f64]| {
            for pair in agent["since"][name].as_array().unwrap().chunks(2) {
                numbers[pair[0].as_u64().unwrap() as usize] = pair[1].as_f64().unwrap();
            }
        };
        read("q", &mut q);
        read("u", &mut u);
        for queued in agent["urgent"].as_array().unwrap() {
            let cell = queued[0].as_u64().unwrap() as usize;
            let value = q[4 * cell..4 * cell + 4].iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let priority = queued[1].as_f64().unwrap();
            assert!(
                (priority - (value - u[cell]).abs()).abs() < 1e-6,
                "cell {cell}: V {value}, others use {}, {queued}",
                u[cell]
            );
            n_checked += 1;
        }
    }
    assert_eq!(n_checked, 4);
}

#[test]
fn full_backups_need_several_times_the_additions() {
    let tour = recordings().unwrap();
    let report = &tour["slip"]["frames"][2]["cycles"][0];
    let (small, full) = (report["additions"].as_u64().unwrap(), report["in_full"].as_u64().unwrap());
    assert!(small >= 4, "{report}");
    assert!(full >= 2 * small, "{small} against {full}");
}

#[test]
fn one_cycle_per_step_keeps_up() {
    let tour = recordings().unwrap();
    let frames = tour["slip"]["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 5);
    let longest = |k: usize| frames[k]["agents"][0]["urgent"][0][1].as_f64().unwrap_or(0.0);
    let steps = |k: usize| frames[k]["agents"][0]["steps"].as_u64().unwrap();
    assert_eq!((steps(1), steps(3), steps(4)), (3000, 3030, 3030));
    assert!(longest(1) > 7.0, "{}", longest(1));
    assert!(longest(3) > 0.0 && longest(3) < 0.02, "{}", longest(3));
    assert_eq!(frames[4]["agents"][0]["urgent"], json!([]), "everything is planned");
}
