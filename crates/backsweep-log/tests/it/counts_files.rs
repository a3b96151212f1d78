//! Files of counts: written and read back, made by other programs, and refused with one line.

use crate::common::{named, spec};

use backsweep_log::decimal::Decimal;
use backsweep_log::{Counts, read};

fn loaded(text: &str) -> Result<Counts, String> {
    Counts::load(&named("counts.csv", text), None).map_err(|error| error.to_string())
}

#[test]
fn what_is_written_is_read_back() {
    let text =
        "case,t,state,action,reward\na,1,\"x, \"\"y\"\"\",\"go\nhome\",0.25\na,2,#z,go,1\nb,7,é,go,-3\n";
    let counts = read(&spec(), &[named("log", text)], 0, &()).unwrap().counts;
    let mut written = Vec::new();
    counts.write_csv(&mut written).unwrap();
    assert_eq!(Counts::load(&named("counts.csv", written), None).unwrap(), counts);
}

#[test]
fn other_programs_may_write_it_differently() {
    let ours = loaded("# reward_unit: 0.01\nstate,action,next,fold,n,reward_sum\nx,go,y,10,3,50\nx,go,,2,1,-5\nx,,,10,2,0\n").unwrap();
    let others = [
        "# reward_unit: 0.01\r\nn,fold,extra,next,reward_sum,action,state\r\n2,10,,,,,x\r\n1,a,!,y,25,go,x\r\n2,a,!,y,25,go,x\r\n1,2,!,,-5,go,x\r\n",
        "# reward_unit: 0.05\n\"state\",\"action\",\"next\",\"fold\",\"n\",\"reward_sum\"\nx,go,,2,1,-1\nx,,,a,2,\nx,go,y,a,3,10\nnobody,go,y,a,0,0\n",
    ];
    for text in others {
        assert_eq!(loaded(text).unwrap(), ours, "{text}");
    }
    let bare = "state,action,next,fold,n,reward_sum\nx,go,y,10,3,50\nx,go,,2,1,-5\nx,,,10,2,0\n";
    let unit = Decimal::parse(b"0.01").ok();
    assert_eq!(Counts::load(&named("counts.csv", bare), unit).unwrap(), ours);
}

#[test]
fn errors_say_what_is_wrong() {
    let table =
        |row: &str| format!("# reward_unit: 1\nstate,action,next,fold,n,reward_sum\nx,go,y,0,1,1\n{row}\n");
    let cases = [
        (
            "state,action,next,fold,n,reward_sum\nx,go,y,0,1,1\n".to_owned(),
            "counts.csv: it does not say what a reward_sum of 1 is worth",
        ),
        (
            "# reward_unit: none\nstate\n".to_owned(),
            "counts.csv: reward_unit is 'none'; expected a number above 0",
        ),
        (
            "# reward_unit: 1\nstate,action,next,n,reward_sum\n".to_owned(),
            "counts.csv: there is no column 'fold'; it has 'state', 'action'",
        ),
        (
            "# reward_unit: 1\nstate,action,next,fold,n,reward_sum\n".to_owned(),
            "counts.csv: it has no counts",
        ),
        (
            "# reward_unit: 1\n".to_owned(),
            "counts.csv: it has no line with the columns state,action,next,fold,n,reward_sum",
        ),
        (table(",go,y,0,1,1"), "counts.csv:4: column 'state' is empty; expected the name of a state"),
        (
            table("x,go,y,16,1,1"),
            "counts.csv:4: column 'fold' is '16'; expected 0 to 15 (or a hexadecimal digit)",
        ),
        (table("x,go,y,0,1.5,1"), "counts.csv:4: column 'n' is '1.5'; expected a whole number"),
        (table("x,go,y,0,-1,1"), "counts.csv:4: column 'n' is '-1'; expected a count"),
        (table("x,go,y,0,1,0.5"), "counts.csv:4: column 'reward_sum' is '0.5'; expected a whole number"),
        (table("x,go,y,0,1,"), "counts.csv:4: column 'reward_sum' is empty; expected a whole number"),
        (table("x,,y,0,1,"), "counts.csv:4: a row without an action is a start, and has no next state"),
        (table("x,go,y,0,1"), "counts.csv:4: the row is incomplete; expected 6 columns and a line break"),
        (
            table("x,go,y,0,1,1").trim_end().to_owned(),
            "counts.csv:4: the row is incomplete; expected 6 columns and a line break",
        ),
        (
            table("x,go,y,0,0,7").replace("x,go,y,0,1,1\n", ""),
            "counts.csv: state 'x', action 'go': 0 steps with a reward sum of 7 units",
        ),
        (table(&format!("x,go,y,0,{},1", i64::MAX)), "counts.csv: the counts together do not fit in 64 bits"),
        (
            table(&[format!("x,go,z,0,{0},1\nx,go,,0,{0},1", i64::MAX), "y,go,,0,5,1".into()].join("\n")),
            "counts.csv: the counts together do not fit in 64 bits",
        ),
        // Four of these are 2^128 units, which an i128 would wrap to 0.
        (
            table(&["x,go,y,0,1,4611686018427387904"; 16].join("\n"))
                .replace("unit: 1", "unit: 4611686018427387904"),
            "counts.csv: a sum of rewards does not fit in 64 bits; use a coarser reward unit",
        ),
    ];
    for (text, expected) in cases {
        let found = loaded(&text).unwrap_err();
        assert!(
            found.contains(expected) && !found.contains('\n'),
            "{text}\nfound:    {found}\nexpected: {expected}"
        );
    }
    let counts = |how: &str| {
        loaded(&format!(
            "# reward_unit: 1\n# state: {how}\n{}",
            table("x,go,y,0,1,1").split_once('\n').unwrap().1
        ))
        .unwrap()
    };
    let refusal = counts("sofa:5").merge(&counts("sofa:6")).unwrap_err().to_string();
    assert!(
        refusal.contains("the counts are incompatible: state is 'sofa:5' in one and 'sofa:6' in the other"),
        "{refusal}"
    );
}
