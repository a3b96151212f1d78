//! Tables in memory: the same bits as from CSV for every type of column, and clear messages for faulty ones.

use crate::common::{HEADER, named, rows, spec};
use backsweep_log::{ColumnChunk, ColumnValues, DataFrame, Dictionary, EndRule, Input, Spec, read};
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

/// Columns that are returned as they are.
#[derive(Debug, Default)]
struct Columns(Vec<(String, ColumnChunk)>);

impl DataFrame for Columns {
    fn names(&self) -> Vec<String> {
        self.0.iter().map(|(name, _)| name.clone()).collect()
    }

    fn n_rows(&self) -> usize {
        match &self.0[0].1.values {
            ColumnValues::Text(codes, _) => codes.len(),
            ColumnValues::Integers(numbers) => numbers.len(),
            other => panic!("the first column has text or whole numbers, not {other:?}"),
        }
    }

    fn part(
        &self,
        columns: &[String],
        rows: Range<usize>,
    ) -> Result<Vec<ColumnChunk>, Box<dyn Error + Send + Sync>> {
        let part = |name: &String| {
            let (_, series) = self.0.iter().find(|(known, _)| known == name).ok_or("no such column")?;
            // A column with too few rows is returned as it is.
            if rows.end == self.n_rows() && rows.start == 0 {
                return Ok(series.clone());
            }
            let missing = series.missing.as_ref().map(|missing| missing[rows.clone()].to_vec());
            let values = match &series.values {
                ColumnValues::Text(codes, texts) => {
                    ColumnValues::Text(codes[rows.clone()].to_vec(), Arc::clone(texts))
                }
                ColumnValues::Integers(numbers) => ColumnValues::Integers(numbers[rows.clone()].to_vec()),
                ColumnValues::Floats(numbers) => ColumnValues::Floats(numbers[rows.clone()].to_vec()),
                ColumnValues::ShortFloats(numbers) => {
                    ColumnValues::ShortFloats(numbers[rows.clone()].to_vec())
                }
                ColumnValues::Decimals(numbers) => ColumnValues::Decimals(numbers[rows.clone()].to_vec()),
                ColumnValues::Flags(flags) => ColumnValues::Flags(flags[rows.clone()].to_vec()),
                ColumnValues::Times { units, scale, has_zone } => ColumnValues::Times {
                    units: units[rows.clone()].to_vec(),
                    scale: *scale,
                    has_zone: *has_zone,
                },
                ColumnValues::Nothing(_) => ColumnValues::Nothing(rows.len()),
            };
            Ok(ColumnChunk { values, missing })
        };
        columns.iter().map(part).collect()
    }
}

fn whole(values: ColumnValues) -> ColumnChunk {
    ColumnChunk { values, missing: None }
}

/// Times without a zone.
fn times(units: Vec<i64>, scale: i128) -> ColumnValues {
    ColumnValues::Times { units, scale, has_zone: false }
}

/// Texts, each once in the dictionary; empty ones are missing.
fn texts(fields: &[&str]) -> ColumnChunk {
    let mut known: Vec<&str> = fields.to_vec();
    known.sort_unstable();
    known.dedup();
    let codes = fields.iter().map(|field| known.binary_search(field).unwrap() as u32).collect();
    ColumnChunk {
        values: ColumnValues::Text(codes, Arc::new(known.iter().collect::<Dictionary>())),
        missing: fields.contains(&"").then(|| fields.iter().map(|field| field.is_empty()).collect()),
    }
}

fn frame(columns: Vec<(&str, ColumnChunk)>) -> [Input; 1] {
    let columns = columns.into_iter().map(|(name, series)| (name.to_owned(), series)).collect();
    [Input::Frame("the table".into(), Arc::new(Columns(columns)))]
}

fn spec_with_done() -> Spec {
    Spec { end: EndRule::parse("done"), ..spec() }
}

/// More rows than a chunk has, so that cases continue from one to the next.
#[test]
fn every_type_of_column_gives_the_bits_of_csv() {
    let rows = rows(12_000, 5);
    let fields = |column: usize| -> Vec<&str> {
        rows.iter().map(|row| row.trim_end().split(',').nth(column).unwrap()).collect()
    };
    assert!(rows.len() > 1 << 16, "{} rows fit into one chunk", rows.len());
    let text = HEADER.to_owned() + &rows.concat();
    let expected = read(&spec_with_done(), &[named("log.csv", text)], 3, &()).unwrap();
    let order: Vec<i64> = fields(1).iter().map(|t| t.parse().unwrap()).collect();
    let rewards: Vec<f64> = fields(4).iter().map(|reward| reward.parse().unwrap()).collect();
    let done: Vec<bool> = fields(5).iter().map(|&done| done == "1").collect();
    const MILLISECOND: i128 = 1_000_000_000_000_000;
    let orders = [
        texts(&fields(1)),
        whole(ColumnValues::Integers(order.clone())),
        whole(ColumnValues::Floats(order.iter().map(|&t| t as f64 / 8.0).collect())),
        whole(times(order.iter().map(|&t| 1000 * t - 4321).collect(), MILLISECOND)),
    ];
    let paid = [
        texts(&fields(4)),
        whole(ColumnValues::Floats(rewards.clone())),
        whole(ColumnValues::ShortFloats(rewards.iter().map(|&reward| reward as f32).collect())),
        whole(ColumnValues::Floats(rewards.clone())),
    ];
    let ended = [
        texts(&fields(5)),
        whole(ColumnValues::Flags(done.clone())),
        ColumnChunk {
            values: ColumnValues::Integers(vec![1; done.len()]),
            missing: Some(done.iter().map(|done| !done).collect()),
        },
        whole(ColumnValues::Integers(done.iter().map(|&done| done.into()).collect())),
    ];
    for (i, ((order, paid), ended)) in orders.into_iter().zip(paid).zip(ended).enumerate() {
        for threads in [1, 3] {
            let table = frame(vec![
                ("unused", whole(ColumnValues::Integers(vec![7; done.len()]))),
                ("done", ended.clone()),
                ("case", texts(&fields(0))),
                ("t", order.clone()),
                ("state", texts(&fields(2))),
                ("action", texts(&fields(3))),
                ("reward", paid.clone()),
            ]);
            let found = read(&Spec { threads, ..spec_with_done() }, &table, 3, &()).unwrap();
            assert!(found.counts == expected.counts, "{i}");
            assert!(found.cases == expected.cases && found.report.rows == expected.report.rows, "{i}");
        }
    }
}

/// A small table that is right: two cases of two rows.
fn small() -> Vec<(&'static str, ColumnChunk)> {
    vec![
        ("case", whole(ColumnValues::Integers(vec![1, 1, 2, 2]))),
        ("t", whole(ColumnValues::Integers(vec![0, 1, 0, 1]))),
        ("state", texts(&["a", "b", "a", "b"])),
        ("action", whole(ColumnValues::Flags(vec![true, false, true, false]))),
        ("reward", whole(ColumnValues::Floats(vec![0.1, 0.2, 0.5, 1.0]))),
        ("done", whole(ColumnValues::Flags(vec![false, true, false, true]))),
    ]
}

#[test]
fn names_of_numbers_flags_and_times_are_those_of_csv() {
    const SECOND: i128 = 1_000_000_000_000_000_000;
    let state = |values: ColumnValues| {
        let mut columns = small();
        columns[2].1 = whole(values);
        read(&spec_with_done(), &frame(columns), 0, &()).unwrap().counts
    };
    assert_eq!(state(ColumnValues::Integers(vec![-1, 12, -1, 12])).states, ["-1", "12"]);
    assert_eq!(state(ColumnValues::Floats(vec![1.0, 2.5, 1.0, 2.5])).states, ["1.0", "2.5"]);
    assert_eq!(state(ColumnValues::ShortFloats(vec![0.1, 2.5, 0.1, 2.5])).states, ["0.1", "2.5"]);
    assert_eq!(state(ColumnValues::Flags(vec![true, false, true, false])).states, ["false", "true"]);
    let of_day = state(times(vec![0, 86_399, 0, 86_399], SECOND));
    assert_eq!(of_day.states, ["1970-01-01 00:00:00", "1970-01-01 23:59:59"]);
    assert_eq!(
        state(times(vec![-1, 19_782, -1, 19_782], 86_400 * SECOND)).states,
        ["1969-12-31", "2024-02-29"]
    );
    assert_eq!(of_day.actions, ["false", "true"]);
}

#[test]
fn errors_name_column_and_row() {
    let problem = |column: usize, series: ColumnChunk| {
        let mut columns = small();
        columns[column].1 = series;
        read(&spec_with_done(), &frame(columns), 0, &()).unwrap_err().to_string()
    };
    let numbers = |missing: [bool; 4]| ColumnChunk {
        values: ColumnValues::Integers(vec![0, 1, 0, 1]),
        missing: Some(missing.into()),
    };
    let hole = [false, false, true, false];
    for (column, series, parts) in [
        (0, numbers(hole), ["the table: row 3", "column 'case' (the case) is empty"]),
        (1, numbers(hole), ["the table: row 3", "column 't' is empty"]),
        (
            1,
            whole(ColumnValues::Floats(vec![0.0, 1.0, f64::NAN, 2.0])),
            ["the table: row 3", "column 't' is 'NaN'"],
        ),
        (2, numbers(hole), ["the table: row 3", "column 'state' is empty"]),
        (2, whole(ColumnValues::Nothing(4)), ["the table: row 1", "column 'state' is empty"]),
        (4, numbers(hole), ["the table: row 3", "column 'reward' is empty"]),
        (
            4,
            whole(ColumnValues::Floats(vec![0.0, f64::NAN, 1.0, 2.0])),
            ["the table: row 2", "column 'reward' is 'NaN'"],
        ),
        (
            4,
            whole(ColumnValues::Floats(vec![0.0, 0.0, 1.0, f64::INFINITY])),
            ["the table: row 4", "column 'reward' is 'inf'"],
        ),
        (4, whole(ColumnValues::Flags(vec![true; 4])), ["the table: row 1", "column 'reward' is 'true'"]),
        (5, texts(&["0", "1", "0", "maybe"]), ["the table: row 4", "column 'done' is 'maybe'"]),
        (
            3,
            whole(ColumnValues::Integers(vec![1; 3])),
            ["the table", "column 'action' has 3 rows; expected 4"],
        ),
        (
            2,
            ColumnChunk { values: ColumnValues::Integers(vec![1; 4]), missing: Some(vec![false; 2]) },
            ["the table", "has 2 rows"],
        ),
        (
            2,
            whole(ColumnValues::Text(vec![0, 1, 0, 2], Arc::new(["a", "b"].iter().collect()))),
            ["the table", "code 2 in row 3"],
        ),
    ] {
        let found = problem(column, series);
        assert!(parts.iter().all(|part| found.contains(part)), "{found}\nexpected {parts:?}");
    }
}

/// A file whose times have a zone and a table whose times have one too are alike; a table whose times have none is not.
#[test]
fn times_of_a_column_with_a_zone_have_a_zone() {
    const SECOND: i128 = 1_000_000_000_000_000_000;
    let file = named("log.csv", "case,t,state,action,reward\nz,2024-05-01T10:00:00Z,a,true,1\n");
    let warnings = |has_zone: bool| {
        let mut columns = small();
        columns[1].1 = whole(ColumnValues::Times { units: vec![0, 1, 0, 1], scale: SECOND, has_zone });
        let [table] = frame(columns);
        let log = read(&spec(), &[file.clone(), table], 0, &()).unwrap();
        log.report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(warnings(true), [""; 0]);
    assert_eq!(
        warnings(false),
        ["column 't' (the order) has 1 times with a zone and 4 without; those without are taken as UTC"]
    );
}
