//! What is read and probably not meant: told with counts, and refused if the settings say so.

use crate::common::{HEADER, named, rows, spec};
use backsweep_log::{Input, Spec, read};

const HEAD: &str = "case,t,state,action,reward\n";

/// The warnings about a log, the same for any number of threads; a strict reader refuses a log that has any.
fn warnings(spec: &Spec, inputs: &[Input]) -> Vec<String> {
    let told = |threads: usize, keep: u16| {
        let log = read(&Spec { threads, ..spec.clone() }, inputs, keep, &()).unwrap();
        log.report.warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let found = told(1, 0);
    assert_eq!(told(3, 0), found);
    assert_eq!(told(2, u16::MAX), found, "whole cases kept");
    let strict = read(&Spec { strict: true, ..spec.clone() }, inputs, 0, &());
    match strict {
        Ok(_) => assert_eq!(found, Vec::<String>::new()),
        Err(error) => {
            assert_eq!(error.to_string(), format!("{}; correct the log, or omit `strict`", found.join("; ")));
        }
    }
    found
}

fn told(rows: &str) -> Vec<String> {
    warnings(&spec(), &[named("log.csv", HEAD.to_owned() + rows)])
}

#[test]
fn names_that_differ_only_in_spelling() {
    assert_eq!(
        told("a,1,1,go,1\na,2,1.0,go,1\na,3,2,go ,1\na,4,x|01,go,0\na,5,x|1,stay,0\n"),
        [
            "4 states differ only in spaces or in how a number is written, such as '1' and '1.0'; each is counted separately",
            "2 actions differ only in spaces or in how a number is written, such as 'go' and 'go '; each is counted separately",
        ]
    );
    assert_eq!(
        told("c1,1,x,go,1\nc1 ,2,x,go,1\nc2,1,x,go,1\n 7,1,x,go,1\n7.0,1,x,go,1\n"),
        [
            "4 cases differ only in spaces or in how a number is written, such as ' 7' and '7.0'; each is counted separately"
        ]
    );
    // One spelling each is nobody's mistake.
    assert_eq!(told("c1 ,1,1.0,+3,1\nc1 ,2,2.50,0,1\n"), [""; 0]);
}

#[test]
fn times_with_and_without_a_zone() {
    assert_eq!(
        told("a,2024-05-01 10:00,x,go,1\na,2024-05-01T11:00Z,x,go,1\nb,2024-05-01T10:00:00+02:00,x,go,1\n"),
        ["column 't' (the order) has 2 times with a zone and 1 without; those without are taken as UTC"]
    );
    assert_eq!(
        told("a,2024-05-01 10:00,x,go,1\na,2024-05-01T11:00Z,x,go,1\na,2024-05-01 12:00,x,go,1\n"),
        ["column 't' (the order) has 1 times with a zone and 2 without; those without are taken as UTC"]
    );
    assert_eq!(told("a,2024-05-01,x,go,1\na,2024-05-01 11:00,x,go,1\n"), [""; 0]);
}

#[test]
fn interleaved_cases_without_an_order() {
    let unordered = Spec { order: None, ..spec() };
    let text = HEAD.to_owned() + "a,1,x,go,1\nb,1,x,go,1\na,2,y,go,1\nb,2,y,go,1\nc,1,x,go,1\nc,2,x,go,1\n";
    assert_eq!(
        warnings(&unordered, &[named("log.csv", text.clone())]),
        [
            "the rows of 2 cases are not together, and are taken in the order of the log; name the column that orders them with `order`"
        ]
    );
    assert_eq!(warnings(&spec(), &[named("log.csv", text)]), [""; 0]);
    // Cases that go on in the next block or the next file are together.
    let rows = rows(40_000, 5);
    let parts: Vec<Input> = rows
        .chunks(rows.len() / 3 + 1)
        .map(|part| named("log.csv", HEADER.to_owned() + &part.concat()))
        .collect();
    assert!(rows.concat().len() > 5 << 18, "several blocks");
    assert_eq!(warnings(&unordered, &parts), [""; 0]);
    let around: Vec<Input> = [1, 0, 2].iter().map(|&part: &usize| parts[part].clone()).collect();
    assert_eq!(warnings(&unordered, &around).len(), 1, "a case in the first and the last file");
}
