//! A log gives the same bits however it is sliced, shuffled, compressed, split or read. Subtracted counts leave no trace.

use crate::common::{HEADER, Random, gzip, named, rows, spec};
use backsweep_log::{EndRule, Input, Log, Spec, read};

fn ended_by_done() -> Spec {
    Spec { end: EndRule::parse("done"), ..spec() }
}

fn text(rows: &[String]) -> String {
    HEADER.to_owned() + &rows.concat()
}

fn counted(spec: &Spec, inputs: &[Input]) -> Log {
    read(spec, inputs, u16::MAX, &()).unwrap()
}

#[track_caller]
fn assert_same(found: &Log, expected: &Log) {
    assert_eq!(found.counts, expected.counts);
    assert_eq!(found.cases, expected.cases);
    let plain = |log: &Log| (log.report.rows, log.report.ended, log.report.cut, log.report.empty_cases);
    assert_eq!(plain(found), plain(expected));
}

#[test]
fn shuffled_split_compressed_and_threaded() {
    // Large enough for several blocks.
    let mut rows = rows(20_000, 7);
    let expected = counted(&ended_by_done(), &[named("whole", text(&rows))]);
    assert!(expected.report.cut > 0 && expected.report.ended > 0 && expected.report.empty_cases > 0);
    for threads in [1, 2, 5] {
        let threaded = Spec { threads, ..ended_by_done() };
        assert_same(&counted(&threaded, &[named("whole", text(&rows))]), &expected);
        let parts: Vec<Input> =
            rows.chunks(1777).map(|part| named("part", gzip(text(part).as_bytes()))).collect();
        assert_same(&counted(&threaded, &parts), &expected);
        let without_cases = read(&threaded, &parts, 0, &()).unwrap();
        assert_eq!(without_cases.counts, expected.counts);
        assert!(!without_cases.report.mixed && without_cases.cases.is_empty());
    }
    // Every file has every case, in order: fragments of one case overlap.
    let (even, odd): (Vec<_>, Vec<_>) = rows.iter().cloned().enumerate().partition(|(i, _)| i % 2 == 0);
    let halves = [even, odd]
        .map(|half| named("half", text(&half.into_iter().map(|(_, row)| row).collect::<Vec<_>>())));
    let interleaved = read(&ended_by_done(), &halves, 0, &()).unwrap();
    assert!(interleaved.report.mixed);
    assert_eq!(interleaved.counts, expected.counts);
    Random(3).shuffle(&mut rows);
    assert_same(&counted(&ended_by_done(), &[named("shuffled", text(&rows))]), &expected);
    let kept = read(&ended_by_done(), &[named("shuffled", text(&rows))], 0b11, &()).unwrap();
    assert_eq!(kept.counts, expected.counts);
    let of_two_folds: Vec<_> = expected.cases.iter().filter(|case| case.fold < 2).cloned().collect();
    assert!(!of_two_folds.is_empty());
    assert_eq!(kept.cases, of_two_folds);
}

#[test]
fn the_order_of_columns_may_differ_between_files() {
    let first = "case,t,state,action,reward,done\na,1,x,go,1,0\n";
    let second = "done,action,note,state,t,reward,case\n1,stop,?,y,2,2.5,a\n";
    let together = "case,t,state,action,reward,done\na,1,x,go,1,0\na,2,y,stop,2.5,1\n";
    let split = counted(&ended_by_done(), &[named("1", first), named("2", second)]);
    assert_same(&split, &counted(&ended_by_done(), &[named("all", together)]));
}

#[test]
fn dates_order_as_numbers_do() {
    let rows = rows(300, 5);
    let dated: Vec<String> = rows
        .iter()
        .map(|row| {
            let (case, rest) = row.split_once(',').unwrap();
            let (t, rest) = rest.split_once(',').unwrap();
            format!("{case},2024-02-29T0{}:3{}:00+01:00,{rest}", t.len(), t.parse::<u32>().unwrap() % 10)
        })
        .collect();
    let mut shuffled = dated.clone();
    Random(8).shuffle(&mut shuffled);
    let expected = counted(&ended_by_done(), &[named("numbers", text(&rows))]);
    assert_same(&counted(&ended_by_done(), &[named("dates", text(&dated))]), &expected);
    assert_same(&counted(&ended_by_done(), &[named("dates", text(&shuffled))]), &expected);
}

#[test]
fn parts_add_up_and_subtract_to_the_same_bits() {
    let rows = rows(500, 11);
    let of = |keep: &dyn Fn(u64) -> bool| {
        let case = |row: &str| row[1..row.find(',').unwrap()].parse::<u64>().unwrap();
        let some: Vec<String> = rows.iter().filter(|row| keep(case(row))).cloned().collect();
        counted(&ended_by_done(), &[named("part", text(&some))]).counts
    };
    let all = of(&|_| true);
    for k in [0, 17, 499] {
        let (one, rest) = (of(&|case| case == k), of(&|case| case != k));
        assert_eq!(all.subtract(&one).unwrap(), rest);
        assert_eq!(rest.merge(&one).unwrap(), all);
        assert_eq!(one.merge(&rest).unwrap(), all);
        let refusal = rest.subtract(&one.merge(&all).unwrap()).unwrap_err().to_string();
        assert!(refusal.contains("are not part of these"), "{refusal}");
    }
    let parts: Vec<_> = (0..5).map(|i| of(&|case| case % 5 == i)).collect();
    let mut sum = parts[3].clone();
    for i in [0, 4, 1, 2] {
        sum = sum.merge(&parts[i]).unwrap();
    }
    assert_eq!(sum, all);
    let folds: Vec<_> = (0..16).map(|fold| all.folds(|f| f == fold)).collect();
    let sum = folds.iter().skip(1).fold(folds[0].clone(), |sum, part| sum.merge(part).unwrap());
    assert_eq!(sum, all);
}

/// However many decimals rewards have, the unit is the largest that every sum is a multiple of.
#[test]
fn the_unit_is_as_large_as_sums_allow() {
    let of = |rows: &str| {
        let text = format!("case,t,state,action,reward\n{rows}");
        counted(&crate::common::spec(), &[named("log", text)]).counts
    };
    let quarters = of("a,1,x,go,0.25\na,2,x,go,0.75\na,3,x,end,2\n");
    assert_eq!(
        (quarters.reward_unit(), &quarters.rows),
        ("1".to_owned(), &of("a,1,x,go,1\na,2,x,go,0\na,3,x,end,2\n").rows)
    );
    let (one, two) = (of("a,1,x,go,0.25\n"), of("a,1,x,go,0.75\n"));
    let sum = one.merge(&two).unwrap();
    assert_eq!((sum.reward_unit().as_str(), sum.rows[0].reward_sum), ("1", 1));
    assert_eq!(sum.subtract(&two).unwrap(), one);
}

#[test]
fn skipped_rows_drop_their_cases_wherever_they_are() {
    let rows = rows(2_000, 13);
    let spoiled = |case: usize| case % 97 == 5;
    let case = |row: &str| row[1..row.find(',').unwrap()].parse::<usize>().unwrap();
    let good: Vec<String> = rows.iter().filter(|row| !spoiled(case(row))).cloned().collect();
    let expected = counted(&ended_by_done(), &[named("good", text(&good))]);
    let mut all: Vec<String> = rows.clone();
    for i in 0..all.len() {
        let is_last = rows.get(i + 1).is_none_or(|next| case(next) != case(&rows[i]));
        if spoiled(case(&rows[i])) && is_last {
            let mut parts: Vec<&str> = rows[i].trim_end().split(',').collect();
            parts[4] = "lots";
            all[i] = parts.join(",") + "\n";
        }
    }
    let skipping = Spec { skip_bad: 0.02, ..ended_by_done() };
    for seed in [0, 4, 9] {
        if seed > 0 {
            Random(seed).shuffle(&mut all);
        }
        let log = counted(&skipping, &[named("spoiled", text(&all))]);
        assert_eq!(log.counts, expected.counts);
        assert_eq!(log.cases, expected.cases);
        assert_eq!((log.report.bad_rows, log.report.dropped_cases), (21, 21));
        assert!(read(&ended_by_done(), &[named("spoiled", text(&all))], 0, &()).is_err());
    }
}
