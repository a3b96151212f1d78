//! A policy taken away: its files say all that it is, and answers are drawn as it says.

use crate::common::{case, count, learned};
use backsweep::Random;
use backsweep_learn::decider::{Decider, policy_json};
use backsweep_learn::{Error, LearnSettings, Learned, output};
use backsweep_log::{Case, CaseEnd, Counts};

/// State 0: action 0 thirty times, action 1 ten times; state 1: action 0 five times.
fn mixed() -> (Counts, Learned) {
    let each = [(30, 0, 0, 500), (10, 0, 1, 1000), (5, 1, 0, 100)];
    let repeat = |(n, state, action, paid): (usize, u32, u32, i64)| {
        (0..n).map(move |i| case((i % 16) as u8, &[(state, action, paid)], CaseEnd::Terminated))
    };
    let cases: Vec<Case> = each.into_iter().flat_map(repeat).collect();
    let mut counts = count(2, 2, &cases);
    counts.states = vec!["A|5..10".into(), "A|<5".into()];
    counts.how = [("state", "ward,sofa:5|10"), ("missing", "none"), ("case", "stay")]
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .into();
    let settings =
        LearnSettings { keep_logged: true, hold_out: 0, discount: 1.0, ..LearnSettings::default() };
    let found = learned(&counts, &[], &settings);
    (counts, found)
}

#[test]
fn a_mixture_survives_its_file_and_is_drawn_as_it_says() {
    let (counts, found) = mixed();
    let table = String::from_utf8(output::probabilities_csv(&counts, &found)).unwrap();
    assert_eq!(
        table,
        "state,action,probability,count\nA|5..10,a00,0.75,30\nA|5..10,a01,0.25,10\nA|<5,a00,1,5\n"
    );
    let decider = Decider::parse(&policy_json(&counts, &found).to_string()).unwrap();
    let mut random = Random::from_seed(4);
    let mut n_rare = 0;
    for _ in 0..4_000 {
        let decision = decider.decide("A|5..10", &mut random).unwrap();
        let is_rare = decision.action == "a01";
        assert_eq!(decision.propensity, if is_rare { 0.25 } else { 0.75 });
        n_rare += usize::from(is_rare);
    }
    assert!((n_rare as i64 - 1_000).abs() < 110, "{n_rare}");
}

#[test]
fn rows_are_binned_answered_and_refused() {
    let (counts, found) = mixed();
    let decider = Decider::parse(&policy_json(&counts, &found).to_string()).unwrap();
    let mut random = Random::from_seed(1);
    let mut answer = |row: &str| decider.answer(row, &mut random);
    let answered = answer(r#"{"stay": 7, "ward": "A", "sofa": 5}"#).unwrap();
    assert_eq!((&answered["state"], &answered["stay"]), (&"A|5..10".into(), &7.into()));
    assert!(answered["action"].is_string() && answered["propensity"].as_f64().unwrap() > 0.0);
    let refused = answer(r#"{"ward": "A", "sofa": 4.9}"#).unwrap();
    assert!(refused["action"].is_null() && refused["propensity"].is_null());
    assert!(
        refused["refused"].as_str().unwrap().contains("no action was seen there often enough"),
        "{refused}"
    );
    let unknown = answer(r#"{"ward": "B", "sofa": "7"}"#).unwrap();
    assert!(unknown["refused"].as_str().unwrap().contains("the log has no decision in it"), "{unknown}");
    for row in [r#"{"ward": "A", "sofa": "many"}"#, r#"{"ward": "A|B", "sofa": 1}"#, "[1]", "{"] {
        assert!(matches!(answer(row), Err(Error::Policy(_))), "{row}");
    }
    // An empty cell has the name that the log gave it.
    assert_eq!(decider.state_of(|column| (column == "ward").then(|| "A".to_owned())).unwrap(), "A|none");
}

#[test]
fn other_files_are_no_policies() {
    let (counts, found) = mixed();
    let good = policy_json(&counts, &found).to_string();
    for wrong in [
        "",
        "{}",
        "[]",
        &good.replace("policy 1", "policy 2"),
        &good.replace("0.75", "0.5"),
        &good.replace("\"states\"", "\"status\""),
        &good.replace("true", "1"),
    ] {
        let error = Decider::parse(wrong).err().unwrap().to_string();
        assert!(error.starts_with("the policy "), "{error}");
    }
}
