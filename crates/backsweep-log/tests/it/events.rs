//! Event logs: ties, conditions, columns made from the rows of a case, XES files, cohorts.

use crate::common::{Random, bytes, gzip, lines, named, spec};
use backsweep_log::{BinnedColumn, Condition, Input, Spec, columns, preview, read, read_all_if_small};

fn state(text: &str) -> Vec<BinnedColumn> {
    text.split(',').map(|column| BinnedColumn::parse(column).unwrap()).collect()
}

fn conditions(texts: &[&str]) -> Vec<Condition> {
    texts.iter().map(|text| Condition::parse(text).unwrap()).collect()
}

/// Rows of cases at random times, in order, with the previous activity written out.
fn events(n_cases: u64) -> Vec<String> {
    let mut random = Random(17);
    let mut rows = Vec::new();
    for case in 0..n_cases {
        let channel = ["web", "phone"][case as usize % 2];
        let (mut minutes, mut before) = (random.below(30_000), "(start)".to_owned());
        for _ in 0..1 + random.below(6) {
            let activity = format!("a{}", random.below(5));
            let (day, hour, minute) = (1 + minutes / 1_440, minutes / 60 % 24, minutes % 60);
            rows.push(format!(
                "c{case},2024-01-{day:02}T{hour:02}:{minute:02}:00Z,{activity},{channel},{before}\n"
            ));
            before = activity;
            minutes += 1 + random.below(1_500);
        }
    }
    rows
}

const HEADER: &str = "case,time,activity,channel,before\n";

fn by_time() -> Spec {
    Spec {
        order: Some("time".into()),
        state: state("prev(activity)"),
        action: state("activity"),
        reward: None,
        ..spec()
    }
}

#[test]
fn previous_values_are_those_of_the_row_before_in_any_order_and_number_of_threads() {
    let mut rows = events(12_000);
    let text = |rows: &[String]| HEADER.to_owned() + &rows.concat();
    let written = Spec { state: state("before,channel"), ..by_time() };
    let expected = read(&written, &[bytes(&text(&rows))], u16::MAX, &()).unwrap();
    let derived = Spec { state: state("prev(activity),channel"), ..by_time() };
    for threads in [1, 2, 5] {
        let spec = Spec { threads, ..derived.clone() };
        let log = read(&spec, &[bytes(&text(&rows))], u16::MAX, &()).unwrap();
        assert_eq!(lines(&log.counts), lines(&expected.counts));
        assert_eq!(log.cases, expected.cases);
    }
    Random(5).shuffle(&mut rows);
    let halves = rows.chunks(rows.len() / 2 + 1).map(|half| named("half", gzip(text(half).as_bytes())));
    let log = read(&derived, &halves.collect::<Vec<_>>(), u16::MAX, &()).unwrap();
    assert_eq!(lines(&log.counts), lines(&expected.counts));
    assert_eq!(log.counts.how["state"], "prev(activity),channel");
    // A column of that name is taken as it is.
    let named = text(&rows).replacen("before", "prev(activity)", 1);
    let log = read(&derived, &[bytes(&named)], u16::MAX, &()).unwrap();
    assert_eq!(lines(&log.counts), lines(&expected.counts));
}

#[test]
fn elapsed_time_is_since_the_start_in_a_state_and_until_the_next_row_as_a_reward() {
    let text = "case,time,activity\n\
                1,2024-01-01T10:00:00Z,a\n1,2024-01-01T12:30:00+01:00,b\n1,2024-01-02T10:00:00Z,c\n\
                2,2024-05-01,a\n2,2024-05-08,b\n";
    let spec =
        Spec { state: state("elapsed(hours):1|24"), reward: Some("-elapsed(hours)".into()), ..by_time() };
    let log = read(&spec, &[bytes(text)], u16::MAX, &()).unwrap();
    let returns: Vec<f64> =
        log.cases.iter().map(|case| case.steps.iter().map(|step| log.step_reward(step)).sum()).collect();
    let mut sorted = returns.clone();
    sorted.sort_by(f64::total_cmp);
    assert_eq!(sorted, [-168.0, -24.0]);
    assert_eq!(log.counts.states, ["1..24", "<1", ">=24"]);
    let steps = lines(&log.counts);
    assert!(steps.contains("1..24 b >=24 ") && steps.contains(">=24 c end "), "{steps}");
    let days = Spec { reward: Some("elapsed(days)".into()), ..spec.clone() };
    let log = read(&days, &[bytes(text)], u16::MAX, &()).unwrap();
    // An hour and a half: 0.0625 days.
    assert!(lines(&log.counts).contains("<1 a 1..24"), "{}", lines(&log.counts));
    assert_eq!(log.counts.rows.iter().map(|row| log.counts.reward(row.reward_sum)).sum::<f64>(), 8.0);
    let shown = preview(&spec, &[bytes(text)], 9).unwrap();
    assert_eq!(shown.steps[0], "case 1: in '<1', 'a' leads to '1..24' with reward -1.5");
    let quantiles = Spec { state: state("elapsed(minutes):q2"), ..spec.clone() };
    let log = read(&quantiles, &[bytes(text)], 0, &()).unwrap();
    assert_eq!(log.counts.how["state"], "elapsed(minutes):90");
    let costs = Spec { reward: Some("-cost".into()), state: state("activity"), ..by_time() };
    let log =
        read(&costs, &[bytes("case,time,activity,cost\n1,2024-01-01,a,2.5\n1,2024-01-02,b,-1\n")], 0, &());
    assert_eq!(
        lines(&log.unwrap().counts).lines().skip(1).collect::<Vec<_>>(),
        ["a a b 12 1 -25", "b b end 12 1 10"]
    );
}

#[test]
fn what_cannot_be_derived_is_refused() {
    let problem = |spec: &Spec, text: &str| read(spec, &[bytes(text)], 0, &()).unwrap_err().to_string();
    let numbers = "case,time,activity\n1,1,a\n1,2,b\n";
    let elapsed = Spec { reward: Some("elapsed(hours)".into()), ..by_time() };
    assert_eq!(
        problem(&elapsed, numbers),
        "column 'time' (the order) has numbers; elapsed(hours) needs dates"
    );
    let unordered = Spec { order: None, ..elapsed.clone() };
    assert_eq!(
        problem(&unordered, numbers),
        "elapsed(hours) needs a column with dates that orders the rows of a case"
    );
    let unit = Spec { reward: Some("elapsed(months)".into()), ..by_time() };
    assert!(problem(&unit, numbers).starts_with("elapsed(months): expected elapsed(seconds), (minutes)"));
    let missing = Spec { state: state("prev(colour)"), ..by_time() };
    assert!(problem(&missing, numbers).contains("there is no column 'colour'"));
    let empty = Spec { state: state("prev()"), ..by_time() };
    assert!(problem(&empty, numbers).contains("expected the name of a column"));
    let hole = "case,time,activity,note\n1,2024-01-01,a,\n1,2024-01-02,b,x\n";
    let note = Spec { state: state("prev(note)"), ..by_time() };
    assert!(problem(&note, hole).starts_with("log:3: column 'prev(note)' is empty; expected a value"));
    let binned = Spec { state: state("prev(note):5"), ..by_time() };
    assert!(
        problem(&binned, &hole.replace("a,\n", "a,much\n")).contains("log:3: column 'prev(note)' is 'much'")
    );
    // The first row has no number before it, and is a state of its own.
    let log = read(&binned, &[bytes(&hole.replace("a,\n", "a,7\n"))], 0, &()).unwrap();
    assert_eq!(log.counts.states, ["(start)", ">=5"]);
}

#[test]
fn ties_are_refused_or_broken_by_the_place_in_the_file() {
    let mut rows: Vec<String> = Vec::new();
    let mut random = Random(3);
    for case in 0..4_000 {
        let (mut day, mut t) = (1, 0);
        while day < 28 {
            for _ in 0..1 + random.below(3) {
                let (activity, state) = (random.below(4), random.below(3));
                rows.push(format!("c{case},{t},s{state},a{activity},1,2024-02-{day:02}\n"));
                t += 1;
            }
            day += 9;
        }
    }
    let text = |rows: &[String]| "case,t,state,action,reward,day\n".to_owned() + &rows.concat();
    let expected = read(&spec(), &[bytes(&text(&rows))], u16::MAX, &()).unwrap();
    let by_day = Spec { order: Some("day".into()), ..spec() };
    let problem = read(&by_day, &[bytes(&text(&rows))], 0, &()).unwrap_err().to_string();
    assert!(problem.contains("two rows of this case have the same order"), "{problem}");
    assert!(problem.contains("`ties_by_file`") && problem.starts_with("log:"), "{problem}");
    // In reverse, but for rows of the same day: fragments overlap.
    let mut days: Vec<&[String]> =
        rows.chunk_by(|a, b| (&a[..2], &a[a.len() - 3..]) == (&b[..2], &b[b.len() - 3..])).collect();
    days.reverse();
    let reversed: Vec<String> = days.concat();
    assert_ne!(reversed, rows);
    for threads in [1, 2, 5] {
        let tied = Spec { ties_by_file: true, threads, ..by_day.clone() };
        for rows in [&rows, &reversed] {
            let halves: Vec<Input> = rows.chunks(rows.len() / 3).map(|part| bytes(&text(part))).collect();
            let log = read(&tied, &halves, u16::MAX, &()).unwrap();
            assert_eq!(lines(&log.counts), lines(&expected.counts));
            assert_eq!(log.cases, expected.cases);
        }
    }
}

/// Runs of rows that meet in a tie: what is first in the file is first, although its run ends later.
#[test]
fn ties_between_runs_of_rows_are_broken_by_the_place_in_the_file() {
    let text = "case,t,state,action,reward\n1,3,b,x,0\n1,4,d,x,0\n1,1,a,x,0\n1,3,c,x,0\n";
    let log = read(&Spec { ties_by_file: true, ..spec() }, &[bytes(text)], 0, &()).unwrap();
    let steps: Vec<(u32, Option<u32>)> = log.counts.rows.iter().map(|row| (row.state, row.next)).collect();
    assert_eq!(steps, [(0, Some(1)), (1, Some(2)), (2, Some(3)), (3, None)]);
}

#[test]
fn rows_that_do_not_meet_the_conditions_are_left_out_as_if_they_were_not_there() {
    let rows = events(3_000);
    let text = |rows: &[String]| HEADER.to_owned() + &rows.concat();
    let kept: Vec<String> =
        rows.iter().filter(|row| row.contains(",web,") && !row.contains(",a3,web")).cloned().collect();
    let expected = read(&by_time(), &[bytes(&text(&kept))], u16::MAX, &()).unwrap();
    for threads in [1, 3] {
        let spec =
            Spec { conditions: conditions(&["channel = web", "activity != 'a3'"]), threads, ..by_time() };
        let log = read(&spec, &[bytes(&text(&rows))], u16::MAX, &()).unwrap();
        assert_eq!(lines(&log.counts), lines(&expected.counts));
        assert_eq!(log.cases, expected.cases);
        assert_eq!(
            (log.report.rows, log.report.left_out),
            (kept.len() as u64, (rows.len() - kept.len()) as u64)
        );
    }
    let none = Spec { conditions: conditions(&["channel=fax"]), ..by_time() };
    let problem = read(&none, &[bytes(&text(&rows))], 0, &()).unwrap_err().to_string();
    assert_eq!(problem, "no row of the log meets `conditions`");
}

#[test]
fn conditions_compare_texts_numbers_and_dates() {
    let text = "case,t,state,action,reward,amount,day\n1,1,x,go,0,500,2024-01-31\n2,1,x,go,0,5e2,2024-02-01T00:00Z\n\
                3,1,x,go,0,,2024-03-01\n4,1,x,go,0,1000,2023-12-31\n";
    let n = |condition: &str| {
        let spec = Spec { conditions: conditions(&[condition]), ..spec() };
        read(&spec, &[bytes(text)], 0, &()).map(|log| log.report.rows).map_err(|error| error.to_string())
    };
    assert_eq!(n("amount = 500"), Ok(2));
    assert_eq!(n("amount!=500"), Ok(2));
    assert_eq!(n("amount = ''"), Ok(1));
    assert_eq!(n("amount > 500"), Ok(1));
    assert_eq!(n("amount >= 500.0"), Ok(3));
    assert_eq!(n("day < 2024-02-01"), Ok(2));
    assert_eq!(n("day <= 2024-02-01"), Ok(3));
    assert!(
        n("day < 5")
            .unwrap_err()
            .contains("column 'day' is '2024-01-31'; expected a number, since it is compared with 5")
    );
    let wrong = |text: &str| Condition::parse(text).unwrap_err().to_string();
    assert!(wrong("channel").contains("no comparison"));
    assert!(wrong("= web").contains("the column has no name"));
    assert!(wrong("amount > much").contains("neither a number nor a date"));
    for text in ["a = b", "a != b c", "a >= 5", "a < 2024-01-01"] {
        assert_eq!(Condition::parse(text).unwrap().to_string(), text);
    }
}

#[test]
fn a_guessed_order_can_be_switched_off() {
    let names: Vec<String> = "case,time,state,action".split(',').map(str::to_owned).collect();
    let mut guessed = Spec::default();
    let guesses = guessed.fill_in(&names).unwrap();
    assert_eq!(guessed.order.as_deref(), Some("time"));
    assert!(guesses.iter().any(|guess| guess.to_string().contains("`file_order` keeps file order")));
    let mut switched_off = Spec { file_order: true, ..Spec::default() };
    switched_off.fill_in(&names).unwrap();
    assert_eq!(switched_off.order, None);
    let both = Spec { file_order: true, order: Some("time".into()), ..Spec::default() };
    assert!(both.check().is_err());
    let names: Vec<String> = ["case", "time", "activity"].map(str::to_owned).into();
    let mut of_events = Spec::default();
    of_events.fill_in(&names).unwrap();
    assert_eq!(of_events.state, state("prev(activity)"));
}

#[test]
fn cohorts_are_those_of_first_rows() {
    let text = "case,t,state,action,reward,channel\n1,2,x,go,1,phone\n1,1,x,go,1,web\n2,1,x,go,1,phone\n3,1,x,go,1,\n";
    for threads in [1, 2] {
        let spec = Spec { cohort: Some("channel".into()), threads, ..spec() };
        let log = read_all_if_small(&spec, &[bytes(text)], 0, &()).unwrap();
        let of = |n_steps: usize| {
            let mut found: Vec<&str> = (0..3)
                .filter(|&i| log.cases[i].steps.len() == n_steps)
                .map(|i| log.cohorts.names[log.cohorts.of_cases[i] as usize].as_str())
                .collect();
            found.sort_unstable();
            found
        };
        assert_eq!((of(2), of(1)), (vec!["web"], vec!["", "phone"]));
    }
}

const XES: &str = r#"<?xml version="1.0" encoding="UTF-8" ?>
<!-- a log -->
<log xes.version="1.0" xmlns="http://www.xes-standard.org/">
  <extension name="Concept" prefix="concept" uri="http://www.xes-standard.org/concept.xesext"/>
  <global scope="trace"><string key="concept:name" value="name"/></global>
  <string key="concept:name" value="the log"/>
  <trace>
    <string key="concept:name" value="A &amp; B &#x2192;"/>
    <int key="amount" value="500"/>
    <event>
      <string key="concept:name" value='say "hi"'><string key="nested" value="left out"/></string>
      <date key="time:timestamp" value="2011-10-01T00:38:44.546+02:00"/>
      <boolean key="paid" value="true"/>
    </event>
    <event><string key="concept:name" value="pay"/><date key="time:timestamp" value="2011-10-02T00:38:44.546+02:00"/>
    </event>
  </trace>
  <trace>
    <event>
      <date key="time:timestamp" value="2011-10-03"/>
      <string key="concept:name" value="pay"/>
    </event>
  </trace>
</log>
"#;

/// A file with this content, read as the command would.
fn expanded(name: &str, content: &[u8]) -> backsweep_log::Result<Vec<Input>> {
    let path = std::env::temp_dir().join(format!("backsweep-{}-{name}", std::process::id()));
    std::fs::write(&path, content).unwrap();
    let inputs = Input::expand(&[path.display().to_string()]);
    std::fs::remove_file(&path).unwrap();
    inputs
}

#[test]
fn xes_files_are_tables_of_their_events() {
    let csv = "case:concept:name,case:amount,concept:name,time:timestamp,paid\n\
               A & B →,500,\"say \"\"hi\"\"\",2011-10-01T00:38:44.546+02:00,true\n\
               A & B →,500,pay,2011-10-02T00:38:44.546+02:00,\n#2,,pay,2011-10-03,\n";
    let mut guessed = Spec { missing: Some("none".into()), ..Spec::default() };
    let inputs = expanded("a.xes", XES.as_bytes()).unwrap();
    assert_eq!(columns(&inputs[0]).unwrap(), columns(&bytes(csv)).unwrap());
    guessed.fill_in(&columns(&inputs[0]).unwrap()).unwrap();
    assert_eq!(guessed.case.as_deref(), Some("case:concept:name"));
    assert_eq!(guessed.order.as_deref(), Some("time:timestamp"));
    assert_eq!((&guessed.action, &guessed.state), (&state("concept:name"), &state("prev(concept:name)")));
    let spec = Spec { state: state("prev(concept:name),case:amount,paid"), ..guessed };
    let expected = read(&spec, &[bytes(csv)], u16::MAX, &()).unwrap();
    for (name, content) in [("b.xes", XES.as_bytes().to_vec()), ("b.xes.gz", gzip(XES.as_bytes()))] {
        let log = read(&spec, &expanded(name, &content).unwrap(), u16::MAX, &()).unwrap();
        assert_eq!(lines(&log.counts), lines(&expected.counts));
        assert_eq!(log.cases, expected.cases);
    }
}

#[test]
fn xes_files_that_are_wrong_are_refused_by_line() {
    let problem = |text: &str| {
        let problem = expanded("wrong.xes", text.as_bytes()).unwrap_err().to_string();
        problem.split_once("wrong.xes").unwrap().1.to_owned()
    };
    assert!(problem("<html>\n</html>").starts_with(":1: is XML, but its first element is <html>"));
    assert!(problem(&XES[..XES.find("<int").unwrap()]).contains("the file ends within <trace>"));
    assert!(problem(&XES.replace("</trace>", "</race>")).starts_with(":17: is not well-formed XML"));
    assert!(problem(&XES.replace(" value=\"pay\"", "")).starts_with(":15: <string> has no value"));
    assert!(problem(&XES.replace("UTF-8", "UTF-16")).contains("the file is in UTF-16"));
    // A value that is read later is named by its line as well.
    let inputs = expanded("late.xes", XES.replace("2011-10-03", "soon").as_bytes()).unwrap();
    let mut spec = Spec::default();
    spec.fill_in(&columns(&inputs[0]).unwrap()).unwrap();
    let problem = read(&spec, &inputs, 0, &()).unwrap_err().to_string();
    assert!(problem.contains("late.xes:19: column 'time:timestamp' is 'soon'"), "{problem}");
}
