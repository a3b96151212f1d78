//! Result files can be read back, and an incomplete last line is skipped.

use backsweep_lab::result::{Row, SettingKey, Summary, Timing, Unit, from_csv, to_csv};
use backsweep_lab::statistics::summarize;

fn key(cycles: Option<u32>, parameter: Option<f64>) -> SettingKey {
    let [experiment, task] = ["fig3", "fifteen"].map(str::to_owned);
    SettingKey { experiment, task, method: "moore_atkeson".into(), cycles, parameter }
}

fn rows() -> Vec<Row> {
    (0..5)
        .map(|run| Row {
            key: key(Some(5), None),
            run,
            score: -51.0 / f64::from(run + 3),
            episodes: 200,
            steps: 15_000 + u64::from(run),
            capped: 0,
        })
        .collect()
}

#[test]
fn files_read_back_as_they_were() {
    let rows = rows();
    assert_eq!(from_csv::<Row>(&to_csv(&rows)).unwrap(), rows);
    let summaries = vec![summarize(&key(None, Some(0.02)), &rows), summarize(&key(None, None), &rows[..1])];
    assert_eq!(from_csv::<Summary>(&to_csv(&summaries)).unwrap(), summaries);
    let timings = vec![Timing {
        key: key(Some(1), None),
        unit: Unit::Step,
        microseconds: 1.25,
        low: 1.0,
        high: 1.5,
        samples: 100,
    }];
    assert_eq!(from_csv::<Timing>(&to_csv(&timings)).unwrap(), timings);
}

#[test]
fn an_incomplete_last_line_is_skipped() {
    let text = to_csv(&rows());
    assert_eq!(from_csv::<Row>(&text[..text.len() - 1]).unwrap(), rows()[..4]);
    assert_eq!(from_csv::<Row>("").unwrap(), []);
    assert_eq!(from_csv::<Row>("experiment,ta").unwrap_err().to_string().split(':').next(), Some("line 1"));
}

#[test]
fn errors_name_the_line_and_the_field() {
    let text = to_csv(&rows()).replacen(",200,", ",many,", 1);
    assert_eq!(
        from_csv::<Row>(&text).unwrap_err().to_string(),
        "line 2: episodes is 'many'; expected a number"
    );
    assert!(from_csv::<Row>(&to_csv::<Timing>(&[])).is_err());
    assert!(from_csv::<Row>(&to_csv(&rows()).replacen(",200,", ",200,7,", 1)).is_err());
}

#[test]
fn patterns_may_leave_parts_out() {
    let key = key(Some(5), None);
    assert_eq!(key.name(), "fig3/fifteen/moore_atkeson/5");
    for pattern in ["fig3/moore_atkeson/5", "fig3", "fig3/fifteen/moore_atkeson/5", "moore_atkeson"] {
        assert!(key.matches(pattern), "{pattern}");
    }
    for pattern in ["fig3/5/moore_atkeson", "fig3/moore_atkeson/50", "fig", "", "fig3/moore_atkeson/5/5"] {
        assert!(!key.matches(pattern), "{pattern}");
    }
}
