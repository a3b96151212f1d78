//! A log of decisions in any bytes, and a policy learned from it: read or refused, never a panic, and no control character in
//! a message. What was read is the same for any number of threads, adds up, and is read back from its file of counts.
#![no_main]

use backsweep_learn::{Cases, LearnSettings, learn, output, report};
use backsweep_log::bins::Bins;
use backsweep_log::{BinnedColumn, Counts, EndRule, Error, FinalRewards, Input, Spec, columns, preview, read};
use libfuzzer_sys::fuzz_target;

fn said(error: Error) {
    let text = error.to_string();
    assert!(!text.is_empty() && !text.contains(char::is_control), "{text:?}");
}

fn spec(choice: u8, columns: &[String]) -> Option<Spec> {
    let bit = |i: u8| choice >> i & 1 == 1;
    let mut spec = Spec { skip_bad: if bit(0) { 1.0 } else { 0.0 }, unterminated: bit(1), ..Spec::default() };
    if bit(2) {
        spec.end = EndRule::Cut;
    }
    if bit(3) {
        spec.missing = Some("none".to_owned());
    }
    if bit(4) {
        spec.final_rewards = FinalRewards::parse("outcome=good:1,bad:-0.5").ok();
    }
    spec.fill_in(columns).map_err(said).ok()?;
    if bit(5) && spec.next.is_empty() {
        spec.state[0].bins = if bit(6) { Bins::Quantiles(3) } else { BinnedColumn::parse("x:0|>0|2.5").ok()?.bins };
    }
    Some(spec)
}

fn check(spec: Spec, input: &[Input]) {
    if let Err(error) = preview(&spec, input, 5) {
        said(error);
    }
    let log = match read(&Spec { threads: 1, ..spec.clone() }, input, u16::MAX, &()) {
        Ok(log) => log,
        Err(error) => return said(error),
    };
    let parallel = read(&Spec { threads: 3, ..spec }, input, u16::MAX, &()).expect("it was read by one thread");
    assert!(parallel.counts == log.counts && parallel.cases == log.cases && parallel.report == log.report);
    let (even, odd) = (log.counts.folds(|fold| fold % 2 == 0), log.counts.folds(|fold| fold % 2 == 1));
    let sum = even.merge(&odd).expect("parts can be added");
    assert!(sum.rows == log.counts.rows && sum.starts == log.counts.starts);
    let mut text = Vec::new();
    log.counts.write_csv(&mut text).expect("memory can be written");
    if !log.counts.rows.is_empty() {
        let again = Counts::load(&Input::Bytes("counts".into(), text.into()), None).expect("what was written is read");
        assert!(again.rows == log.counts.rows && again.states == log.counts.states);
    }
    let order = log.case_order.as_ref().map_or(&[][..], |order| &order.places);
    let cases = Cases { cases: &log.cases, decimals: log.case_decimals, order, cohorts: None };
    let settings = LearnSettings { discount: 0.9, min_count: 1, ..LearnSettings::default() };
    match learn(&log.counts, cases, &settings, &|| false) {
        Ok(learned) => {
            output::summary(&learned);
            report::html(&log.counts, &learned, &[]);
        }
        Err(error) => assert!(!error.to_string().contains(char::is_control)),
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&choice, data)) = data.split_first() else { return };
    let input = [Input::Bytes("log".into(), data.into())];
    match columns(&input[0]) {
        Ok(columns) => drop(spec(choice, &columns).map(|spec| check(spec, &input))),
        Err(error) => said(error),
    }
});
