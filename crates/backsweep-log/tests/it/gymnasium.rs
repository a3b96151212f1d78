//! Logs of a random policy in Gymnasium's FrozenLake and Taxi: truncations are not ends. The expected counts were made from the definition
//! in docs/counts.md by a separate program.

use backsweep_log::{CaseEnd, Counts, Input, Spec, columns, read};
use std::path::Path;

fn file(name: &str) -> Input {
    Input::File(Path::new("tests/testdata").join(name))
}

#[test]
fn truncations_are_not_ends() {
    for (name, ended, cut) in [("frozenlake8", 13, 3), ("taxi", 4, 3)] {
        let input = file(&format!("{name}.csv"));
        let mut spec = Spec::default();
        spec.fill_in(&columns(&input).unwrap()).unwrap();
        let log = read(&spec, &[input], u16::MAX, &()).unwrap();
        let expected = Counts::load(&file(&format!("{name}.counts.csv")), None).unwrap();
        assert_eq!(log.counts.rows, expected.rows, "{name}");
        assert_eq!(log.counts.starts, expected.starts, "{name}");
        assert_eq!(
            (&log.counts.states, log.counts.decimals),
            (&expected.states, expected.decimals),
            "{name}"
        );
        assert_eq!((log.report.ended, log.report.cut, log.report.breaks), (ended, cut, 0), "{name}");
        let n_cut = log.cases.iter().filter(|case| matches!(case.end, CaseEnd::Truncated(_))).count() as u64;
        assert_eq!(n_cut, cut, "{name}");
        let n_ends: i64 = log.counts.rows.iter().filter(|row| row.next.is_none()).map(|row| row.n).sum();
        assert_eq!(n_ends, ended as i64, "{name}");
    }
}
