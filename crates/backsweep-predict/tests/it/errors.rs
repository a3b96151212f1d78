//! Every bad input gives an error with the place, what was found and what is expected in its message; and it leaves the
//! predictor as it was.

use crate::small_backups;
use backsweep_core::{Next, State};
use backsweep_predict::{MOST_STATES, Predictor, Selection, StepError, StepSize, Td0};
use std::fmt::Display;

fn on(state: u32) -> Next {
    Next::Continue(State(state))
}

#[track_caller]
fn says(error: &impl Display, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "'{message}' does not say '{word}'");
    }
    assert!(!message.contains('\n'), "'{message}' is more than one line");
}

#[test]
fn settings_out_of_range() {
    for discount in [-0.1, 1.1, f64::NAN] {
        let words = ["discount", &discount.to_string(), "from 0 to 1"];
        says(&small_backups(discount, 0.0, Selection::Random, 1, 0).unwrap_err(), &words);
        says(&Td0::new(discount, StepSize::Constant(0.1), 0.0).unwrap_err(), &words);
    }
    let no_number = small_backups(0.9, f64::NAN, Selection::Random, 1, 0).unwrap_err();
    says(&no_number, &["initial value", "NaN", "finite"]);
    says(&Td0::new(0.9, StepSize::Constant(1.1), 0.0).unwrap_err(), &["step size", "1.1", "from 0 to 1"]);
    says(&Td0::new(0.9, StepSize::Decaying(-0.1), 0.0).unwrap_err(), &["decay rate", "-0.1"]);
    says(&Td0::new(0.9, StepSize::Decaying(0.1), f64::INFINITY).unwrap_err(), &["initial value", "inf"]);
}

#[test]
fn refused_steps_change_nothing() {
    let predictors: [Box<dyn Predictor>; 2] = [
        Box::new(small_backups(0.9, 1.0, Selection::Largest, 1, 0).unwrap()),
        Box::new(Td0::new(0.9, StepSize::Constant(0.5), 1.0).unwrap()),
    ];
    for mut predictor in predictors {
        predictor.observe(State(0), 2.0, on(1)).unwrap();
        let before = predictor.value(State(0));
        says(&predictor.observe(State(0), f64::NAN, on(1)).unwrap_err(), &["reward", "state 0", "NaN"]);
        says(&predictor.observe(State(0), f64::INFINITY, Next::Terminated).unwrap_err(), &["inf"]);
        for large in [u32::MAX, 4_000_000_000, MOST_STATES] {
            let words =
                [&format!("state {large}")[..], "below 67108864", "number the states consecutively from 0"];
            says(&predictor.observe(State(large), 0.0, Next::Terminated).unwrap_err(), &words);
            says(&predictor.observe(State(0), 0.0, on(large)).unwrap_err(), &words);
            assert_eq!(predictor.value(State(large)), 1.0);
        }
        assert_eq!((predictor.value(State(0)), predictor.value(State(1))), (before, 1.0));
    }
}

/// Python shows these messages, so they are compared literally.
#[test]
fn the_messages_of_refused_steps() {
    let mut predictor = Td0::new(0.9, StepSize::Constant(0.5), 1.0).unwrap();
    let error = predictor.observe(State(3), 1e151, Next::Terminated).unwrap_err();
    assert_eq!(error, StepError::Reward { state: State(3), found: 1e151 });
    let words = format!(
        "reward of a step out of state 3 is {}; expected a finite number from -1e150 to 1e150",
        1e151
    );
    assert_eq!(error.to_string(), words);
    let error = predictor.observe(State(0), 0.0, on(MOST_STATES)).unwrap_err();
    assert_eq!(error, StepError::StateId { state: State(MOST_STATES), limit: MOST_STATES });
    assert_eq!(
        error.to_string(),
        "state 67108864 is too large an id: there is room for ids below 67108864; number the states consecutively from 0"
    );
    // An error of the core is shown with its own message.
    let core = Td0::new(2.0, StepSize::Constant(0.5), 1.0).unwrap_err();
    assert_eq!(StepError::from(core.clone()).to_string(), core.to_string());
}
