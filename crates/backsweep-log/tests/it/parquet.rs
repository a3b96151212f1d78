//! Parquet: the same bits as from CSV, for every type of column; truncated files are refused.

use crate::common::{HEADER, named, rows, spec};
use arrow_array::types::Int32Type;
use arrow_array::{
    ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, ListArray, RecordBatch, StringArray, TimestampMillisecondArray, UInt16Array,
};
use backsweep_log::{Counts, EndRule, Input, Spec, read};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::sync::Arc;

fn spec_with_done() -> Spec {
    Spec { end: EndRule::parse("done"), ..spec() }
}

/// The fields of a row: case, t, state, action, reward, done.
fn fields(rows: &[String], column: usize) -> Vec<&str> {
    rows.iter().map(|row| row.trim_end().split(',').nth(column).unwrap()).collect()
}

fn write(columns: Vec<(&str, ArrayRef)>, compression: Compression) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap();
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_max_row_group_row_count(Some(1000))
        .build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

fn counted(bytes: &[u8]) -> Counts {
    read(&spec_with_done(), &[named("log.parquet", bytes.to_vec())], 3, &()).unwrap().counts
}

#[test]
fn every_type_of_column_gives_the_bits_of_csv() {
    let rows = rows(3_000, 21);
    let text = HEADER.to_owned() + &rows.concat();
    let expected = read(&spec_with_done(), &[named("log.csv", text)], 3, &()).unwrap().counts;
    let texts = |column: usize| -> ArrayRef { Arc::new(StringArray::from(fields(&rows, column))) };
    let dictionary = |column: usize| -> ArrayRef {
        Arc::new(fields(&rows, column).into_iter().collect::<DictionaryArray<Int32Type>>())
    };
    let numbers: Vec<i64> = fields(&rows, 1).iter().map(|t| t.parse().unwrap()).collect();
    let rewards: Vec<f64> = fields(&rows, 4).iter().map(|reward| reward.parse().unwrap()).collect();
    let cents = rewards.iter().map(|reward| (reward * 100.0).round() as i128);
    let days = Date32Array::from_iter_values(numbers.iter().map(|&t| t as i32 - 5));
    let times = TimestampMillisecondArray::from_iter_values(numbers.iter().map(|&t| 1000 * t - 4321));
    let orders: [ArrayRef; 6] = [
        texts(1),
        Arc::new(Int64Array::from(numbers.clone())),
        Arc::new(UInt16Array::from_iter_values(numbers.iter().map(|&t| t as u16))),
        Arc::new(Float64Array::from_iter_values(numbers.iter().map(|&t| t as f64 / 8.0))),
        Arc::new(days),
        Arc::new(times),
    ];
    let paid: [ArrayRef; 4] = [
        texts(4),
        Arc::new(Float64Array::from(rewards.clone())),
        Arc::new(Float32Array::from_iter_values(rewards.iter().map(|&reward| reward as f32))),
        Arc::new(Decimal128Array::from_iter_values(cents).with_precision_and_scale(12, 2).unwrap()),
    ];
    let done: Vec<bool> = fields(&rows, 5).iter().map(|&done| done == "1").collect();
    let dones: [ArrayRef; 3] = [
        texts(5),
        Arc::new(BooleanArray::from(done.clone())),
        Arc::new(Int32Array::from_iter(done.iter().map(|&done| done.then_some(1)))),
    ];
    for i in 0..orders.len() {
        let names = |column| if i % 2 == 0 { texts(column) } else { dictionary(column) };
        let columns = vec![
            ("done", dones[i % 3].clone()),
            ("unused", orders[5].clone()),
            ("case", names(0)),
            ("t", orders[i].clone()),
            ("state", names(2)),
            ("action", names(3)),
            ("reward", paid[i % 4].clone()),
        ];
        let compression =
            [Compression::SNAPPY, Compression::ZSTD(ZstdLevel::default()), Compression::UNCOMPRESSED][i % 3];
        assert_eq!(counted(&write(columns, compression)), expected, "variant {i}");
    }
}

#[test]
fn whole_numbers_are_names_as_they_are_in_text() {
    let text = "case,t,state,action,reward,done\n70000,0,-3,123456,1,0\n70000,1,8,7,1,0\n70001,0,8,7,2,1\n";
    let expected = read(&spec_with_done(), &[named("log.csv", text)], 0, &()).unwrap().counts;
    let ints = |numbers: [i64; 3]| -> ArrayRef { Arc::new(Int64Array::from(numbers.to_vec())) };
    let columns = vec![
        ("case", ints([70000, 70000, 70001])),
        ("t", ints([0, 1, 0])),
        ("state", ints([-3, 8, 8])),
        ("action", ints([123_456, 7, 7])),
        ("reward", ints([1, 1, 2])),
        ("done", ints([0, 0, 1])),
    ];
    assert_eq!(counted(&write(columns, Compression::SNAPPY)), expected);
}

#[test]
fn errors_say_what_is_wrong() {
    let good = |state: ArrayRef| {
        let ints = || -> ArrayRef { Arc::new(Int64Array::from(vec![1, 2])) };
        let columns = vec![
            ("case", ints()),
            ("t", ints()),
            ("state", state),
            ("action", ints()),
            ("reward", ints()),
            ("done", ints()),
        ];
        write(columns, Compression::SNAPPY)
    };
    let refused = |bytes: &[u8]| match read(&spec(), &[named("log.parquet", bytes.to_vec())], 0, &()) {
        Ok(log) => panic!("accepted: {:?}", log.report),
        Err(error) => error.to_string(),
    };
    let whole = good(Arc::new(StringArray::from(vec!["x", "y"])));
    assert!(read(&spec(), &[named("log.parquet", whole.clone())], 0, &()).is_ok());
    for kept in [whole.len() - 1, whole.len() / 2, 10] {
        let found = refused(&whole[..kept]);
        assert!(
            found.starts_with("log.parquet: the Parquet file cannot be read (")
                && found.contains("truncated"),
            "{found}"
        );
    }
    let found = refused(&good(Arc::new(StringArray::from(vec![Some("x"), None]))));
    assert!(found.starts_with("log.parquet: row 2: column 'state' is empty; expected a value"), "{found}");
    let list = arrow_array::ListArray::from_iter_primitive::<Int32Type, _, _>(vec![
        Some(vec![Some(1)]),
        Some(vec![]),
    ]);
    let found = refused(&good(Arc::new(list)));
    assert!(
        found.contains("log.parquet: column 'state' is of the type")
            && found.contains("expected text, numbers"),
        "{found}"
    );
    let other = Spec { order: Some("when".into()), ..spec() };
    let found = read(&other, &[named("log.parquet", whole)], 0, &()).unwrap_err().to_string();
    assert!(found.contains("log.parquet: there is no column 'when'; it has 'case', 't'"), "{found}");
}

#[test]
fn counts_survive_both_kinds_of_file() {
    let text = HEADER.to_owned() + &rows(500, 3).concat();
    let counts = read(&spec_with_done(), &[named("log.csv", text)], 0, &()).unwrap().counts;
    let folder = std::env::temp_dir().join(format!("backsweep-log-parquet-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for name in ["counts.parquet", "counts.csv"] {
        let path = folder.join(name);
        counts.save(&path).unwrap();
        assert_eq!(Counts::load(&Input::File(path), None).unwrap(), counts);
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 2);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn compression_and_types_that_cannot_be_read_are_named() {
    let refusal = |input: Input| read(&spec(), &[input], 0, &()).unwrap_err().to_string();
    let brotli = refusal(Input::File("tests/testdata/brotli.parquet".into()));
    assert_eq!(
        brotli,
        "tests/testdata/brotli.parquet: the Parquet file is compressed with brotli; expected zstd, snappy or no compression \
         within it"
    );
    let text = |name: &'static str| -> (&str, ArrayRef) { (name, Arc::new(StringArray::from(vec!["1"]))) };
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let columns =
        vec![text("case"), text("t"), ("state", Arc::new(list) as ArrayRef), text("action"), text("reward")];
    let found = refusal(named("log.parquet", write(columns, Compression::UNCOMPRESSED)));
    assert!(found.contains("column 'state' is of the type List(Int32"), "{found}");
    assert!(!found.contains('{'), "a debug text: {found}");
}
