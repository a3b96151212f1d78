//! Logs in memory, read and compared with what was counted by hand.

use crate::common::{bytes, lines, spec};
use backsweep_log::{CaseEnd, EndRule, FinalRewards, Spec, read};

const STEPS: &str = "case,t,state,action,reward\n\
    a,1,hall,left,1\n\
    a,2,room,right,0.5\n\
    b,1,hall,left,-2\n\
    b,2,hall,right,0\n\
    b,3,room,right,0.25\n";

#[test]
fn steps_become_transitions() {
    let log = read(&spec(), &[bytes(STEPS)], 0, &()).unwrap();
    // The folds are the first digits of md5("a") = 0cc1… and md5("b") = 92eb….
    let expected = "start hall 0 1\n\
        start hall 9 1\n\
        hall left hall 9 1 -200\n\
        hall left room 0 1 100\n\
        hall right room 9 1 0\n\
        room right end 0 1 50\n\
        room right end 9 1 25\n";
    assert_eq!(lines(&log.counts), expected);
    assert_eq!(log.counts.reward_unit(), "0.01");
    assert_eq!(log.counts.reward(-200), -2.0);
    assert_eq!((log.report.rows, log.report.ended, log.report.cut), (5, 2, 0));
}

#[test]
fn a_cut_case_does_not_end_and_its_last_row_only_says_where_it_was() {
    let cut = Spec { end: EndRule::Cut, ..spec() };
    let log = read(&cut, &[bytes(STEPS)], u16::MAX, &()).unwrap();
    let expected = "start hall 0 1\nstart hall 9 1\nhall left hall 9 1 -2\nhall left room 0 1 1\nhall right room 9 1 0\n";
    assert_eq!(lines(&log.counts), expected);
    let room = log.counts.states.iter().position(|state| state == "room").unwrap() as u32;
    assert!(log.cases.iter().all(|case| case.end == CaseEnd::Truncated(room)));
    assert_eq!(log.cases.iter().map(|case| case.steps.len()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((log.report.ended, log.report.cut), (0, 2));
}

#[test]
fn a_column_can_say_which_rows_ended() {
    let text = "case,t,state,action,event\na,1,x,go,\na,2,y,go,out\nb,1,x,go,\nb,2,y,go,lost\n";
    let by = Spec { end: EndRule::parse("event=out"), reward: None, ..spec() };
    let log = read(&by, &[bytes(text)], 0, &()).unwrap();
    assert_eq!(lines(&log.counts), "start x 0 1\nstart x 9 1\nx go y 0 1 0\nx go y 9 1 0\ny go end 0 1 0\n");
    assert_eq!((log.report.ended, log.report.cut), (1, 1));
}

#[test]
fn a_case_that_says_it_was_cut_did_not_end() {
    let text = "case,t,state,action,reward,cut\na,1,x,go,1,0\na,2,y,go,2,1\nb,1,x,go,3,0\n";
    let cut = Spec { truncated: Some("cut".to_owned()), ..spec() };
    let log = read(&cut, &[bytes(text)], u16::MAX, &()).unwrap();
    assert_eq!(lines(&log.counts), "start x 0 1\nstart x 9 1\nx go end 9 1 3\nx go y 0 1 1\n");
    assert_eq!((log.report.ended, log.report.cut), (1, 1));
}

#[test]
fn times_are_ordered_by_the_moment_that_they_name() {
    // 09:30 in the zone of the first is before 08:00 in UTC, and both are before 04:00 west of it.
    let text = "case,t,state,action,reward\na,2024-05-01T04:00-05:00,z,go,1\na,2024-05-01T08:00Z,y,go,1\n\
                a,2024-05-01T09:30+02:00,x,go,1\n";
    let log = read(&spec(), &[bytes(text)], 0, &()).unwrap();
    assert_eq!(lines(&log.counts), "start x 0 1\nx go y 0 1 1\ny go z 0 1 1\nz go end 0 1 1\n");
}

#[test]
fn the_final_rule_pays_at_the_end_only() {
    let text = "case,t,state,action,outcome\na,1,x,go,died\na,2,y,go,survived\nb,1,x,go,died\n";
    let outcome = Some(FinalRewards::parse("outcome=survived:1,died:-0.5").unwrap());
    let log = read(&Spec { final_rewards: outcome, reward: None, ..spec() }, &[bytes(text)], u16::MAX, &())
        .unwrap();
    assert_eq!(
        lines(&log.counts),
        "start x 0 1\nstart x 9 1\nx go end 9 1 -5\nx go y 0 1 0\ny go end 0 1 10\n"
    );
    let rewards: Vec<f64> =
        log.cases.iter().flat_map(|case| &case.steps).map(|step| log.step_reward(step)).collect();
    assert_eq!(rewards, [0.0, 1.0, -0.5]);
}

#[test]
fn rows_that_are_transitions_need_no_order() {
    let text = "state,action,reward,next_state,terminated,truncated\n\
        x,go,1,y,0,0\ny,go,1,z,0,1\nx,go,2,y,1,0\nx,go,3,,True,false\n";
    let mut spec = Spec { threads: 1, ..Spec::default() };
    let guesses = spec.fill_in(&backsweep_log::columns(&bytes(text)).unwrap()).unwrap();
    assert!(
        guesses.iter().any(|guess| guess.to_string().contains("next state = column 'next_state'")),
        "{guesses:?}"
    );
    let log = read(&spec, &[bytes(text)], 0, &()).unwrap();
    assert_eq!(lines(&log.counts), "x go end 0 2 5\nx go y 0 1 1\ny go z 0 1 1\n");
    assert!(log.counts.starts.is_empty());
}

#[test]
fn states_come_from_several_columns_and_bins() {
    let text = "case,t,ward,sofa,dose\na,1,icu,-1,0\na,2,icu,4.9,0.5\nb,1,er,5,2\nb,2,er,11,0\n";
    let columns =
        |text: &str| text.split(',').map(|part| backsweep_log::BinnedColumn::parse(part).unwrap()).collect();
    let binned =
        Spec { state: columns("ward,sofa:0|5|10"), action: columns("dose:0q2"), reward: None, ..spec() };
    let log = read(&binned, &[bytes(text)], 0, &()).unwrap();
    assert_eq!(log.counts.states, ["er|5..10", "er|>=10", "icu|0..5", "icu|<0"]);
    assert_eq!(log.counts.actions, ["<=0", ">0..2", ">=2"]);
    assert_eq!(log.counts.how["action"], "dose:>0|2");
    assert_eq!(log.spec.action[0].to_string(), "dose:>0|2");
}

#[test]
fn every_format_gives_the_same_bits() {
    let expected = read(&spec(), &[bytes(STEPS)], u16::MAX, &()).unwrap();
    let quoted: String =
        STEPS.lines().map(|line| format!("\"{}\"\r\n", line.replace(',', "\",\""))).collect();
    let json: String = STEPS
        .lines()
        .skip(1)
        .map(|line| {
            let parts: Vec<&str> = line.split(',').collect();
            format!(
                "{{\"extra\": [1, {{}}], \"reward\": {}, \"t\": {}, \"case\": \"{}\", \"state\": \"{}\", \"action\": \"{}\"}}\n",
                parts[4], parts[1], parts[0], parts[2], parts[3]
            )
        })
        .collect();
    let texts = [
        STEPS.replace(',', "\t"),
        STEPS.replace(',', ";"),
        format!("\u{feff}{STEPS}"),
        STEPS.replace('\n', "\r\n"),
        quoted,
        json,
    ];
    for text in texts {
        for packed in [
            text.clone().into_bytes(),
            crate::common::gzip(text.as_bytes()),
            crate::common::zstd(text.as_bytes()),
        ] {
            let log = read(&spec(), &[crate::common::named("log", packed)], u16::MAX, &()).unwrap();
            assert_eq!(log.counts, expected.counts, "{text}");
            assert_eq!(log.cases, expected.cases);
        }
    }
}

#[test]
fn cases_are_in_the_order_in_which_they_began_where_that_is_known() {
    let order = |text: &str, by: Option<&str>| {
        let spec = Spec { order: by.map(str::to_owned), reward: None, ..spec() };
        let log = backsweep_log::read_all_if_small(&spec, &[bytes(text)], 1, &()).unwrap();
        // The states name the cases.
        let names = log.cases.iter().map(|case| log.counts.states[case.steps[0].state as usize].clone());
        log.case_order.map(|order| {
            let mut all: Vec<(u32, String)> = order.places.into_iter().zip(names).collect();
            all.sort();
            all.into_iter().map(|(_, name)| name).collect::<Vec<_>>().concat()
        })
    };
    let dates =
        "case,t,state,action\n1,2024-03-02,x,go\n2,2024-01-01,a,go\n2,2024-05-01,y,go\n3,2024-02-01,m,go\n";
    assert_eq!(order(dates, Some("t")).unwrap(), "amx");
    let clock = "case,t,state,action\n1,30,x,go\n2,10,a,go\n2,40,y,go\n3,20,m,go\n";
    assert_eq!(order(clock, Some("t")).unwrap(), "amx");
    // Steps that begin with 0 say nothing, so the place in the log does.
    let steps = "case,t,state,action\n1,0,x,go\n2,0,a,go\n2,1,y,go\n3,0,m,go\n";
    assert_eq!(order(steps, Some("t")).unwrap(), "xam");
    let mixed = "case,t,state,action\n1,0,x,go\n2,0,a,go\n3,0,m,go\n2,1,y,go\n";
    assert_eq!(order(mixed, Some("t")), None);
}

#[test]
fn cases_are_held_out_by_when_they_began() {
    use backsweep_log::HoldOutTime;
    let text: String = (0..50)
        .map(|i| format!("c{i},2024-01-{:02},x,go,1\nc{i},2024-02-{:02},y,go,0.5\n", 1 + i % 25, 1 + i % 25))
        .collect();
    let input = [bytes(&("case,t,state,action,reward\n".to_owned() + &text))];
    let expected = read(&spec(), &input, u16::MAX, &()).unwrap();
    let held_out = |time: &str| {
        let mut log = expected.clone();
        log.hold_out_by_time(HoldOutTime::parse(time).unwrap()).map(|()| {
            let n = log.cases.iter().filter(|case| case.fold == HoldOutTime::FOLD).count();
            assert!(log.cases.iter().all(|case| case.fold < 13 || case.fold == HoldOutTime::FOLD));
            // Only folds have changed: without them, the counts are those of the log.
            assert_eq!(log.counts.n_cases(), 50);
            assert_eq!((log.counts.n_steps(), &log.counts.states), (100, &expected.counts.states));
            assert_eq!(log.counts.folds(|fold| fold == HoldOutTime::FOLD).n_cases(), n as i64);
            assert_eq!(log.counts.how["fold"], "by time");
            n
        })
    };
    assert_eq!(held_out("last 20%").unwrap(), 10);
    assert_eq!(held_out("2024-01-21").unwrap(), 10);
    let refused = held_out("2025-01-01").unwrap_err().to_string();
    assert!(refused.contains("all of them would be on one side"), "{refused}");
    for text in ["last", "last 0%", "last 100%", "20%", "7", "soon"] {
        assert_eq!(HoldOutTime::parse(text), None, "{text}");
    }
    let numbers = "case,t,state,action,reward\na,1,x,go,1\nb,2,x,go,1\n";
    let mut log = read(&spec(), &[bytes(numbers)], u16::MAX, &()).unwrap();
    let refused = log.hold_out_by_time(HoldOutTime::parse("2024-01-01").unwrap()).unwrap_err().to_string();
    assert!(refused.contains("the order has no dates"), "{refused}");
    log.hold_out_by_time(HoldOutTime::Last(0.5)).unwrap();
    assert_eq!(log.counts.folds(|fold| fold == HoldOutTime::FOLD).n_cases(), 1);
}

#[test]
fn cases_of_one_group_share_a_fold() {
    let rows: String =
        (0..40).map(|i| format!("c{i},1,x,go,1,h{}\nc{i},2,y,go,1,h{}\n", i % 3, i % 3)).collect();
    let by_group = Spec { fold_by: Some("hospital".into()), ..spec() };
    let head = "case,t,state,action,reward,hospital\n".to_owned();
    let log = read(&by_group, &[bytes(&(head.clone() + &rows))], u16::MAX, &()).unwrap();
    let mut folds: Vec<u8> = log.cases.iter().map(|case| case.fold).collect();
    folds.sort_unstable();
    folds.dedup();
    // The first digits of the md5 of h0, h1 and h2.
    let mut expected: Vec<u8> = ["h0", "h1", "h2"]
        .iter()
        .map(|name| {
            let text = format!("case,t,state,action,reward\n{name},1,x,go,1\n");
            read(&spec(), &[bytes(&text)], 0, &()).unwrap().counts.starts[0].fold
        })
        .collect();
    expected.sort_unstable();
    assert_eq!(folds, expected);
    assert_eq!(log.counts.how["fold"], "hospital");
    let moved = head + "a,1,x,go,1,h0\nb,1,x,go,1,h1\na,2,y,go,1,h1\n";
    let refused = read(&by_group, &[bytes(&moved)], 0, &()).unwrap_err().to_string();
    assert!(refused.contains("two values in the column by which cases are held out"), "{refused}");
}

#[test]
fn propensities_are_kept_with_the_steps() {
    let given = Spec { propensity: Some("p".into()), ..spec() };
    let text = "case,t,state,action,reward,p\na,1,x,go,1,0.25\na,2,y,go,1,1\n";
    let log = read(&given, &[bytes(text)], u16::MAX, &()).unwrap();
    let found: Vec<u32> = log.cases[0].steps.iter().map(|step| step.propensity).collect();
    assert_eq!(found, [250_000_000, 1_000_000_000]);
    for wrong in ["0", "1.5", "-1", "nan", "", "x"] {
        let refused = read(&given, &[bytes(&text.replace("0.25", wrong))], 0, &()).unwrap_err().to_string();
        assert!(refused.contains("expected a probability above 0 and at most 1"), "{wrong}: {refused}");
    }
}
