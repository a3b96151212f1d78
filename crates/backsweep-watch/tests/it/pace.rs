//! Steps against a clock that is passed in.

use backsweep_watch::engine::pace::{PATIENCE, Pace};
use std::time::Duration;

const SPEEDS: [f64; 7] = [0.1, 1.0, 2.0, 50.0, 600.0, 12_345.0, 1e6];

/// Polls at this interval for some time and takes all steps that are due. Returns their number.
fn steps(speed: f64, every: Duration, time: Duration) -> u64 {
    let start = Duration::from_secs(7);
    let (mut pace, mut now, mut steps) = (Pace::from(start), start, 0);
    while now < start + time {
        now += every;
        let due = pace.due(speed, now);
        pace.take(due);
        steps += due;
    }
    steps
}

#[test]
fn speeds_are_kept_to_the_step() {
    for speed in SPEEDS {
        for every in [1, 4, 16, 150].map(Duration::from_millis) {
            let time = Duration::from_secs(30);
            let looks = time.as_nanos().div_ceil(every.as_nanos());
            let asked = every.as_secs_f64() * looks as f64 * speed;
            let taken = steps(speed, every, time) as f64;
            assert!((taken - asked).abs() <= 1.0, "{taken} steps, expected {asked}, polled every {every:?}");
        }
    }
}

#[test]
fn waiting_as_long_as_it_says_is_enough_and_not_too_long() {
    for speed in SPEEDS {
        let start = Duration::from_secs(7);
        let (mut pace, mut now) = (Pace::from(start), start);
        for _ in 0..1000 {
            assert_eq!(pace.due(speed, now), 0, "too early at {speed} per second");
            now += pace.time_to_next(speed, now) + Duration::from_nanos(10);
            let due = pace.due(speed, now);
            assert_eq!(due, 1, "at {speed} per second");
            pace.take(due);
        }
        assert!((now - start).as_secs_f64() >= 999.0 / speed);
    }
}

#[test]
fn what_was_missed_for_long_is_left_out() {
    for speed in SPEEDS {
        let start = Duration::from_secs(7);
        let mut pace = Pace::from(start);
        // The process was stopped for an hour.
        let late = start + Duration::from_secs(3600);
        assert_eq!(pace.due(speed, late), 1, "at {speed} per second");
        pace.take(1);
        assert_eq!(pace.due(speed, late), 0, "at {speed} per second");
        // A little is caught up with.
        let little = late + PATIENCE / 2;
        let expected = PATIENCE.as_secs_f64() / 2.0 * speed;
        let due = pace.due(speed, little) as f64;
        assert!((due - expected).abs() <= 1.0, "{due} due, {expected} expected at {speed} per second");
    }
}
