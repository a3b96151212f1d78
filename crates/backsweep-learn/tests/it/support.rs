//! Support: what may be decided, what keeps the logged policy, and what is refused. Numbers worked out by hand.

use crate::common::{GO_ON, case, count, learned};
use backsweep_learn::evaluated_policy::Logged;
use backsweep_learn::{Cases, Error, FittedModel, LearnSettings, hold_out, learn};
use backsweep_log::{Case, CaseEnd, Counts};

/// Nothing is held out, so that every case counts.
fn all(discount: f64, min_count: i64) -> LearnSettings {
    LearnSettings { discount, min_count, hold_out: 0, ..LearnSettings::default() }
}

fn repeat(n: usize, steps: &[(u32, u32, i64)], end: CaseEnd) -> Vec<Case> {
    (0..n).map(|i| case((i % 16) as u8, steps, end)).collect()
}

/// Action 0 pays .5 thirty times, action 1 pays .4 thirty times, action 2 pays 1 three times.
fn one_state() -> Vec<Case> {
    let each = [(30, 0, 500), (30, 1, 400), (3, 2, 1000)];
    each.into_iter()
        .flat_map(|(n, action, reward)| repeat(n, &[(0, action, reward)], CaseEnd::Terminated))
        .collect()
}

#[test]
fn a_rare_action_is_not_considered_however_good_it_looks() {
    let counts = count(1, 3, &one_state());
    let found = learned(&counts, &[], &all(1.0, 20));
    assert_eq!(found.fit.supported.probabilities, [1.0, 0.0, 0.0]);
    assert!((found.fit.supported.evaluated.values[0] - 0.5).abs() < 1e-9);
    let refused = backsweep_learn::states::refused(&found.fit, &found.settings);
    assert_eq!((refused.len(), refused[0].pair), (1, 2));
    assert!((refused[0].promise - 0.5).abs() < 1e-9);
    // With a minimum of 3 it is.
    assert_eq!(learned(&counts, &[], &all(1.0, 3)).fit.supported.probabilities, [0.0, 0.0, 1.0]);
}

/// Every count fits in 64 bits, but not all of them together.
#[test]
fn counts_that_no_log_has_are_refused() {
    let refusal = |change: &dyn Fn(&mut Counts)| {
        let mut counts = count(1, 3, &one_state());
        change(&mut counts);
        FittedModel::new(&counts, u16::MAX).unwrap_err().to_string()
    };
    assert!(refusal(&|counts| counts.rows[0].n = i64::MAX).contains("more steps than"));
    assert!(refusal(&|counts| counts.starts[0].n = i64::MAX).contains("more starts than"));
    assert!(refusal(&|counts| counts.starts[0].n = 0).contains("a count below 1"));
}

#[test]
fn a_state_without_support_keeps_the_logged_mixture() {
    let counts = count(1, 3, &one_state());
    let found = learned(&counts, &[], &all(1.0, 31));
    let expected = (30.0 * 0.5 + 30.0 * 0.4 + 3.0) / 63.0;
    assert!((found.fit.supported.evaluated.values[0] - expected).abs() < 1e-9);
    assert!(!found.states[0].supported);
    assert_eq!((found.states[0].proposed, found.evaluation.supported), (0, 0.0));
    assert!(found.evaluation.changed.abs() < 1e-12, "{}", found.evaluation.changed);
}

#[test]
fn rare_actions_keep_their_share_and_the_rest_is_decided() {
    let counts = count(1, 3, &one_state());
    let found = learned(&counts, &[], &LearnSettings { keep_logged: true, ..all(1.0, 20) });
    let kept = 3.0 / 63.0;
    let policy = &found.fit.supported.probabilities;
    assert!((policy[0] - (1.0 - kept)).abs() < 1e-12 && policy[1] == 0.0 && (policy[2] - kept).abs() < 1e-12);
    assert!((found.fit.supported.evaluated.values[0] - ((1.0 - kept) * 0.5 + kept)).abs() < 1e-9);
    // 30 of 63 logged decisions were action 1, which is never taken.
    assert!((found.evaluation.changed - 30.0 / 63.0).abs() < 1e-12);
}

#[test]
fn the_pessimist_prefers_what_was_seen_more_often() {
    let mut cases = repeat(400, &[(0, 0, 500)], CaseEnd::Terminated);
    cases.extend(repeat(25, &[(0, 1, 550)], CaseEnd::Terminated));
    let counts = count(1, 2, &cases);
    assert_eq!(learned(&counts, &[], &all(1.0, 20)).fit.supported.probabilities, [0.0, 1.0]);
    // .5 − κ/20 against .55 − κ/5: even at κ = 1/3.
    assert_eq!(
        learned(&counts, &[], &LearnSettings { pessimism: 0.3, ..all(1.0, 20) }).fit.supported.probabilities,
        [0.0, 1.0]
    );
    let found = learned(&counts, &[], &LearnSettings { pessimism: 0.4, ..all(1.0, 20) });
    assert_eq!(found.fit.supported.probabilities, [1.0, 0.0]);
    // The reported value has no penalty.
    assert!((found.fit.supported.evaluated.values[0] - 0.5).abs() < 1e-9);
}

#[test]
fn a_state_never_left_is_worth_what_the_log_gets_on_average() {
    // State 0 pays 1 and half of the cases are cut in state 1, from which nothing is known.
    let mut cases = repeat(20, &[(0, 0, 1000)], CaseEnd::Terminated);
    cases.extend(repeat(20, &[(0, 0, 1000)], CaseEnd::Truncated(1)));
    let counts = count(2, 1, &cases);
    // V(0) = 1 + γ/2 c and c = V(0), so V(0) = 1 / (1 − γ/2).
    let found = learned(&counts, &[], &all(0.9, 20));
    assert!(
        (found.fit.supported.evaluated.values[0] - 1.0 / 0.55).abs() < 1e-5,
        "{:?}",
        found.fit.supported.evaluated.values
    );
    assert!((found.fit.logged.unseen - 1.0 / 0.55).abs() < 1e-5);
    // Without discount it is as if cases started again: 2.
    let found = learned(&counts, &[], &all(1.0, 20));
    assert!((found.fit.supported.evaluated.values[0] - 2.0).abs() < 1e-5);
}

#[test]
fn without_discount_the_best_policy_that_ends_is_found() {
    // Waiting costs nothing and never ends; going costs 1 and ends, and so does running, which costs 2.
    let mut cases = repeat(30, &[(0, 0, 0), (0, 1, -1000)], CaseEnd::Terminated);
    cases.extend(repeat(30, &[(0, 1, -1000)], CaseEnd::Terminated));
    cases.extend(repeat(30, &[(0, 2, -2000)], CaseEnd::Terminated));
    let counts = count(1, 3, &cases);
    let found = learned(&counts, &[], &all(1.0, 20));
    assert_eq!(found.fit.supported.probabilities, [0.0, 1.0, 0.0]);
    assert!((found.fit.supported.evaluated.values[0] + 1.0).abs() < 1e-6);
    // Waiting forever would be better by 1, and the bound says so.
    assert!((found.fit.supported.bound - 1.0).abs() < 1e-5, "{}", found.fit.supported.bound);
    // With a discount waiting is defined, if not sensible; it may also be too rare to be considered.
    assert_eq!(learned(&counts, &[], &all(0.9, 20)).fit.supported.probabilities, [1.0, 0.0, 0.0]);
    assert_eq!(learned(&counts, &[], &all(1.0, 31)).fit.supported.probabilities, [0.0, 1.0, 0.0]);
    // Waiting that pays without bound has no best policy.
    let paid = repeat(30, &[(0, 0, 1000), (0, 1, 0)], CaseEnd::Terminated);
    let error = learn(&count(1, 2, &paid), Cases::default(), &all(1.0, 20), GO_ON).err().unwrap();
    assert_eq!(error, Error::Endless { state: "s000".into() });
    assert!(error.to_string().contains("give a discount below 1"), "{error}");
    // A log in which no case ever ends has no total either.
    let cut = count(1, 1, &repeat(30, &[(0, 0, 1000)], CaseEnd::Truncated(0)));
    assert!(learn(&cut, Cases::default(), &all(1.0, 20), GO_ON).is_err());
}

#[test]
fn where_no_supported_action_ends_the_logged_decisions_are_kept() {
    // In state 1 the common action only leads back to state 1; cases end by a rare one.
    let mut cases = repeat(60, &[(0, 0, 500), (1, 0, 0), (1, 0, 0), (1, 0, 0)], CaseEnd::Truncated(1));
    cases.extend(repeat(10, &[(0, 0, 500), (1, 0, 0), (1, 1, 1000)], CaseEnd::Terminated));
    let found = learned(&count(2, 2, &cases), &[], &all(1.0, 20));
    assert_eq!(found.fit.supported.chosen, [Some(0), None]);
    let state = found.states.iter().find(|row| row.state == 1).unwrap();
    assert!(!state.supported && state.gain.abs() < 1e-9);
    // It ends with a reward of 1, sooner or later.
    assert!((found.fit.supported.evaluated.values[0] - 1.5).abs() < 1e-5);
}

#[test]
fn only_training_folds_are_learned_from() {
    let mut cases = one_state();
    cases.iter_mut().for_each(|case| case.fold = 0);
    cases.extend((0..40).map(|_| case(15, &[(0, 2, 1000)], CaseEnd::Terminated)));
    let counts = count(1, 3, &cases);
    let settings = LearnSettings { hold_out: hold_out(0.2).unwrap(), ..all(1.0, 20) };
    assert_eq!(learned(&counts, &cases, &settings).fit.supported.probabilities, [1.0, 0.0, 0.0]);
}

#[test]
fn shares_become_folds() {
    assert_eq!(hold_out(0.2).unwrap(), 0b1110_0000_0000_0000);
    assert_eq!(hold_out(0.0).unwrap(), 0);
    assert_eq!(hold_out(0.001).unwrap().count_ones(), 1);
    assert_eq!(hold_out(0.999).unwrap().count_ones(), 15);
    for wrong in [-0.1, 1.0, f64::NAN] {
        assert!(hold_out(wrong).unwrap_err().to_string().contains("expected"), "{wrong}");
    }
}

#[test]
fn nonsense_is_refused_with_a_reason() {
    let counts = count(1, 3, &one_state());
    let wrong = [
        LearnSettings { discount: 0.0, ..all(1.0, 20) },
        LearnSettings { discount: f64::NAN, ..all(1.0, 20) },
        all(1.1, 20),
        all(1.0, 0),
        LearnSettings { pessimism: f64::INFINITY, ..all(1.0, 20) },
        LearnSettings { tolerance: 0.0, ..all(1.0, 20) },
        LearnSettings { hold_out: u16::MAX, ..all(1.0, 20) },
    ];
    for settings in wrong {
        let error = learn(&counts, Cases::default(), &settings, GO_ON).err().unwrap();
        assert!(error.to_string().contains("expected"), "{error}");
    }
    let empty = count(1, 1, &[]);
    assert!(
        learn(&empty, Cases::default(), &all(1.0, 20), GO_ON).err().unwrap().to_string().contains("no steps")
    );
    let mut shuffled = counts.clone();
    shuffled.rows.swap(0, 1);
    assert!(
        learn(&shuffled, Cases::default(), &all(1.0, 20), GO_ON)
            .err()
            .unwrap()
            .to_string()
            .contains("out of order")
    );
    let mut negative = counts;
    negative.rows[0].n = 0;
    assert!(
        learn(&negative, Cases::default(), &all(1.0, 20), GO_ON)
            .err()
            .unwrap()
            .to_string()
            .contains("below 1")
    );
}

#[test]
fn a_table_is_what_was_counted() {
    let mut cases = repeat(3, &[(0, 1, 500), (1, 0, 250)], CaseEnd::Terminated);
    cases.extend(repeat(1, &[(0, 1, 1500)], CaseEnd::Truncated(2)));
    let model = FittedModel::new(&count(3, 2, &cases), u16::MAX).unwrap();
    assert_eq!(model.pairs, [0, 1, 2, 2]);
    assert_eq!((&model.actions[..], &model.n[..]), (&[1, 0][..], &[4, 3][..]));
    assert_eq!(model.rewards, [0.75, 0.25]);
    assert_eq!((&model.next[..], &model.arc_n[..]), (&[1, 2][..], &[3, 1][..]));
    assert_eq!((model.n_cases, &model.starts[..]), (4, &[4, 0, 0][..]));
    let settings = all(0.5, 1);
    let names: Vec<String> = (0..3).map(|i| i.to_string()).collect();
    let logged = Logged::new(&model, &settings, &names, GO_ON).unwrap();
    // V(1) = .25; V(0) = .75 + .5 (¾ · .25 + ¼ c); c = (4 V(0) + 3 V(1)) / 7.
    let c = logged.unseen;
    let v0 = 0.75 + 0.5 * (0.75 * 0.25 + 0.25 * c);
    assert!((logged.evaluated.values[0] - v0).abs() < 1e-5 && (c - (4.0 * v0 + 0.75) / 7.0).abs() < 1e-5);
}

#[test]
fn where_nothing_matters_the_policy_still_ends() {
    // In state 1 everything is worth 0: going round costs nothing, and so does the end.
    let mut cases = repeat(30, &[(0, 0, 1000)], CaseEnd::Terminated);
    cases.extend(repeat(30, &[(0, 0, 1000), (1, 0, 0), (1, 1, 0)], CaseEnd::Terminated));
    let found = learned(&count(2, 2, &cases), &[], &all(1.0, 20));
    assert_eq!(found.fit.supported.probabilities, [1.0, 0.0, 1.0]);
    assert!((found.fit.supported.evaluated.values[0] - 1.0).abs() < 1e-5);
}

#[test]
fn held_out_rows_that_form_a_cycle_do_not_spoil_the_rest() {
    let mut cases: Vec<Case> = (0..60)
        .map(|i| case(i % 13, &[(0, 0, 500), (1, 0, if i % 2 == 0 { 0 } else { 1000 })], CaseEnd::Terminated))
        .collect();
    cases.extend((0..30).map(|_| case(15, &[(0, 0, 500), (1, 0, 0)], CaseEnd::Truncated(1))));
    let settings = LearnSettings { hold_out: hold_out(0.2).unwrap(), ..all(1.0, 20) };
    let found = learned(&count(2, 1, &cases), &cases, &settings);
    assert!(
        (found.evaluation.held_out.unwrap().policy.value - 1.0).abs() < 1e-5,
        "{:?}",
        found.evaluation.held_out
    );
    // State 0 only leads into the circle, so it uses its training row too.
    assert_eq!(found.evaluation.covered, 0.0);
}
