//! Faulty logs, each refused with one line that says where, what was found and what was expected.

use crate::common::{gzip, named, spec, zstd};
use backsweep_log::{
    BinnedColumn, EndRule, Error, FinalRewards, Input, RowProblem, Spec, SpecField, columns, read,
};

const GOOD: &str = "case,t,state,action,reward\na,1,x,go,1\na,2,y,go,0.5\nb,1,x,go,2\n";

/// Reads a log as the command does, guessing what is not given.
fn refusal(spec: &Spec, inputs: &[Input]) -> String {
    let mut spec = spec.clone();
    let read = columns(&inputs[0])
        .and_then(|columns| spec.fill_in(&columns))
        .and_then(|_| read(&spec, inputs, 0, &()));
    read.map_or_else(|error| error.to_string(), |log| panic!("accepted: {:?}", log.report))
}

#[track_caller]
fn check(what: &str, found: &str, expected: &str) {
    assert!(found.contains(expected), "{what}\nfound:    {found}\nexpected: {expected}");
    assert!(!found.contains('\n'), "{what}: more than one line: {found}");
    assert!(!found.contains("--"), "{what}: a flag, which only the command has: {found}");
    assert!(found.len() < 600, "{what}: too long: {found}");
}

#[test]
fn rows() {
    // The replacement for the third row, and the expected message after the place.
    let cases: &[(&str, &str)] = &[
        ("a,2,y,go", "the row has 4 columns; expected 5"),
        ("a,2,y,go,1,2", "the row has 6 columns; expected 5"),
        ("a", "the row has 1 column; expected 5"),
        (",2,y,go,1", "column 'case' (the case) is empty; expected the name of a case"),
        ("a,,y,go,1", "column 't' is empty; expected a number of up to 18 digits, or a date"),
        ("a,soon,y,go,1", "column 't' is 'soon'; expected a number of up to 18 digits, or a date"),
        ("a,nan,y,go,1", "column 't' is 'nan'; expected a number"),
        ("a,1e40,y,go,1", "column 't' is '1e40'; expected a number"),
        ("a,2024-02-30,y,go,1", "column 't' is '2024-02-30'; expected a number"),
        ("a,2023-02-29,y,go,1", "column 't' is '2023-02-29'; expected a number"),
        ("a,2100-02-29,y,go,1", "column 't' is '2100-02-29'; expected a number"),
        ("a,2,,go,1", "column 'state' is empty; expected a value (`missing` gives a name to empty values)"),
        ("a,2,y,,1", "column 'action' is empty; expected a value"),
        ("a,2,y,go,", "column 'reward' is empty; expected a number, since it is the reward"),
        ("a,2,y,go,lots", "column 'reward' is 'lots'; expected a number, since it is the reward"),
        ("a,2,y,go,NaN", "column 'reward' is 'NaN'; expected a number"),
        ("a,2,y,go,inf", "column 'reward' is 'inf'; expected a number"),
        ("a,2,y,go,1_000", "column 'reward' is '1_000'; expected a number"),
        (
            "a,2,y,go,0.1234567890123456789",
            "column 'reward' is '0.1234567890123456789'; expected a reward of up to 18 digits (`reward_unit` 0.01",
        ),
        ("a,2,\u{1b}[31my,go,\u{1b}", "column 'reward' is '\\u{1b}'; expected a number"),
        (
            "a,2,\"y\"z,go,1",
            "a closing quote is followed by text; expected quotes within a quoted field to be doubled",
        ),
        ("a,1,y,go,1", "two rows of this case have the same order; expected each order once per case"),
    ];
    for (row, expected) in cases {
        let text = GOOD.replace("a,2,y,go,0.5", row);
        let found = refusal(&spec(), &[named("log.csv", text)]);
        check(row, &found, &format!("log.csv:3: {expected}"));
        check(
            row,
            &found,
            "1 of 3 rows is bad (33.33 %); fix the log, or pass `skip_bad: 0.34` to skip bad rows and their cases",
        );
    }
}

#[test]
fn bytes_that_are_not_text() {
    let mut bytes = GOOD.as_bytes().to_vec();
    let y = bytes.iter().position(|&byte| byte == b'y').unwrap();
    bytes[y] = 0xff;
    check(
        "state",
        &refusal(&spec(), &[named("log.csv", bytes)]),
        "log.csv:3: column 'state' is '\u{fffd}'; expected text in UTF-8",
    );
    let header = [b"c\xffse".as_slice(), &GOOD.as_bytes()[4..]].concat();
    check(
        "header",
        &refusal(&spec(), &[named("log.csv", header)]),
        "log.csv: the names of the columns are not UTF-8; save the file as UTF-8",
    );
    let wide: Vec<u8> = [0xff, 0xfe].into_iter().chain(GOOD.bytes().flat_map(|byte| [byte, 0])).collect();
    check(
        "UTF-16",
        &refusal(&spec(), &[named("log.csv", wide)]),
        "log.csv: the file is UTF-16; save it as UTF-8",
    );
    check(
        "zip",
        &refusal(&spec(), &[named("log.xlsx", b"PK\x03\x04rest".to_vec())]),
        "log.xlsx: the file is a zip archive or a spreadsheet",
    );
    check(
        "binary",
        &refusal(&spec(), &[named("log.bin", b"abc\0def\n".to_vec())]),
        "log.bin: the file is not text; expected CSV, TSV",
    );
}

#[test]
fn files() {
    let cases: &[(&str, String, &str)] = &[
        ("empty", String::new(), "log: the file is empty; expected a line with the names of the columns"),
        ("blank", "\n\n".into(), "log: the file is empty"),
        ("header only", "case,t,state,action,reward\n".into(), "the log has no rows; expected at least one"),
        (
            "no such column",
            GOOD.replace("state", "place"),
            "log: there is no column 'state'; it has 'case', 't', 'place', 'action', 'reward'",
        ),
        (
            "two of a name",
            GOOD.replace("reward", "state"),
            "log: there are two columns 'state'; expected each name once",
        ),
        (
            "JSON array",
            "[{\"case\": 1}]\n".into(),
            "log: the file is a JSON array; expected one object per line",
        ),
        ("broken JSON", "{\"case\": 1,\n".into(), "log: the first line is not a complete JSON object"),
        (
            "no line break",
            GOOD.trim_end().into(),
            "log: the last line, 'b,1,x,go,2', does not end with a line break: the file may have been truncated",
        ),
        (
            "cut in a row",
            GOOD[..GOOD.len() - 4].into(),
            "log: the last line, 'b,1,x,g', does not end with a line break",
        ),
        (
            "cut in the header",
            "case,t,st".into(),
            "log: the line with the names of the columns has no line break; the file was truncated",
        ),
        ("open quote", GOOD.replace("b,1,x,go,2\n", "b,1,\"x,go,2\n"), "log: the file ends within quotes"),
    ];
    let every_column = Spec { reward: Some("reward".into()), ..spec() };
    for (what, text, expected) in cases {
        let settings =
            if *what == "two of a name" { Spec { reward: None, ..spec() } } else { every_column.clone() };
        check(what, &refusal(&settings, &[named("log", text.as_bytes().to_vec())]), expected);
    }
    let other = named("second.csv", "case;t;state;action\n");
    let found = refusal(&every_column, &[named("first.csv", GOOD), other]);
    check(
        "second file",
        &found,
        "second.csv: there is no column 'reward'; it has 'case', 't', 'state', 'action'",
    );
}

#[test]
fn lines_of_json() {
    let good = r#"{"case":"a","t":1,"state":"x","action":"go","reward":1}"#;
    let cases = [
        (
            r#"{"case":"a","t":2,"state":"x","action":"go","reward":"#,
            "log:2: the line ends within an object; expected one JSON object per line",
        ),
        (
            r#"{"case":"a","t":2,"state":["x"],"action":"go","reward":1}"#,
            "log:2: 'state' is a list or an object; expected a plain value",
        ),
        (
            r#"{"case":"a","t":2,"state":null,"action":"go","reward":1}"#,
            "log:2: column 'state' is empty; expected a value",
        ),
        (
            r#"{"case":"a","t":2,"action":"go","reward":1}"#,
            "log:2: column 'state' is empty; expected a value",
        ),
        (r#"["a",2,"x","go",1]"#, "log:2: invalid type: sequence, expected an object"),
    ];
    for (line, expected) in cases {
        check(line, &refusal(&spec(), &[named("log", format!("{good}\n{line}\n"))]), expected);
    }
}

#[test]
fn truncated_files_are_refused() {
    let rows: String = (0..30_000)
        .map(|i| format!("c{},{},s{},a{},{}\n", i / 10, i % 10, i * 7919 % 97, i % 3, i % 11))
        .collect();
    let text = "case,t,state,action,reward\n".to_owned() + &rows;
    for (name, packed) in [("log.gz", gzip(text.as_bytes())), ("log.zst", zstd(text.as_bytes()))] {
        assert!(read(&spec(), &[named(name, packed.clone())], 0, &()).is_ok());
        for kept in [packed.len() - 1, packed.len() / 2, 40] {
            let found = refusal(&spec(), &[named(name, packed[..kept].to_vec())]);
            check(name, &found, &format!("{name}: "));
            assert!(found.contains("truncated") || found.contains("cannot read the data"), "{kept}: {found}");
        }
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle] ^= 0x55;
        damaged[middle + 1] ^= 0x55;
        check("damaged", &refusal(&spec(), &[named(name, damaged)]), name);
    }
}

#[test]
fn settings() {
    let log = || named("log", GOOD);
    let state = |text: &str| Spec { state: vec![BinnedColumn::parse(text).unwrap()], ..spec() };
    let cases = [
        (
            Spec { state: vec![], ..spec() },
            "state,",
            "place,",
            "no column for the state was given or found; name it with `state`",
        ),
        (
            Spec { action: vec![], ..spec() },
            "action,",
            "doing,",
            "no column for the action was given or found; name it with `action`",
        ),
        (
            Spec { case: None, ..spec() },
            "case,",
            "who,",
            "no column for the case was given or found; name it with `case`",
        ),
    ];
    for (settings, from, to, expected) in cases {
        check(expected, &refusal(&settings, &[named("log", GOOD.replace(from, to))]), expected);
    }
    let cases = [
        (state("state:q4"), "column 'state' has the same value in nearly every row"),
        (
            state("state:1|2"),
            "log:2: column 'state' is 'x'; expected a number, since the column is cut into bins",
        ),
        (
            Spec { end: EndRule::parse("state"), ..spec() },
            "log:2: column 'state' is 'x'; expected 1 or 0, true or false, yes or no",
        ),
        (
            Spec { final_rewards: Some(FinalRewards::parse("action=stay:1").unwrap()), ..spec() },
            "log:3: column 'action' of a last row is not one of: stay (see `final_rewards`)",
        ),
        (
            Spec { reward_unit: backsweep_log::decimal::Decimal::parse(b"1").ok(), ..spec() },
            "log:3: column 'reward' is '0.5'; expected a multiple of the reward unit 1",
        ),
        (Spec { skip_bad: f64::NAN, ..spec() }, "`skip_bad` is NaN; expected a share from 0 to 1"),
        (
            Spec { missing: Some(String::new()), ..spec() },
            "`missing` is empty; expected a name such as unknown",
        ),
    ];
    for (settings, expected) in cases {
        check(expected, &refusal(&settings, &[log()]), expected);
    }
    let two = "case,t,state,action,reward\na,2024-01-01,x,go,1\na,2,y,go,0.5\n";
    check(
        "kinds",
        &refusal(&spec(), &[named("log", two)]),
        "column 't' (the order) has both numbers and dates; expected one kind",
    );
    // Together, and with rows of another case in between. The name of the column is no hint at what it says.
    let together = "case,t,state,action,reward,over\na,1,x,go,1,1\na,2,y,go,0.5,0\n";
    let apart = together.replace("a,2,", "b,1,x,go,1,1\na,2,");
    let by_end = Spec { end: EndRule::parse("over"), ..spec() };
    let by_cut = Spec { truncated: Some("over".to_owned()), ..spec() };
    for (said, text) in [(&by_end, together), (&by_cut, together), (&by_end, &apart), (&by_cut, &apart)] {
        check(
            "after end",
            &refusal(said, &[named("log", text)]),
            "log:2: the case continues after this row, which says that it ended or was cut",
        );
    }
    let joined = Spec { state: vec![BinnedColumn::plain("state"), BinnedColumn::plain("action")], ..spec() };
    let bar = GOOD.replace("a,2,y", "a,2,y|z");
    check(
        "joined",
        &refusal(&joined, &[named("log", bar)]),
        "log:3: column 'state' is 'y|z'; expected a value without '|'",
    );
    let huge = GOOD.replace("0.5", "0.000000000001").replace("go,2", "go,100000000");
    check(
        "sums",
        &refusal(&spec(), &[named("log", huge)]),
        "may not fit in 64 bits; `reward_unit` 0.01 with `round_rewards` rounds to cents",
    );
}

#[test]
fn names_of_files() {
    let expand = |patterns: &[&str]| {
        let patterns: Vec<String> = patterns.iter().map(|&pattern| pattern.to_owned()).collect();
        Input::expand(&patterns)
            .map_or_else(|error| error.to_string(), |inputs| panic!("accepted: {inputs:?}"))
    };
    check("file", &expand(&["nowhere.csv"]), "nowhere.csv: there is no such file");
    check("pattern", &expand(&["nowhere-*.csv"]), "nowhere-*.csv: no file matches this pattern");
    check("wild", &expand(&["[.csv"]), "[.csv: is not a valid pattern");
    check("folder", &expand(&["src"]), "src: is a folder; expected a file or a pattern such as 'src/*.csv'");
    check(
        "twice",
        &expand(&["Cargo.toml", "src/../Cargo.toml"]),
        "is named twice; its rows would be counted twice",
    );
    check("nothing", &expand(&[]), "no log was named");
}

#[test]
fn front_ends_name_settings_in_their_own_words() {
    let log = named("log.csv", GOOD.replace("a,2,y,go", "a,2,,go"));
    let error = read(&spec(), &[log], 0, &()).unwrap_err();
    let Error::BadRows { first: Some(first), n_bad: 1, n_rows: 3 } = &error else { panic!("{error:?}") };
    let RowProblem::Value { column, found, expected } = &first.problem else { panic!("{first:?}") };
    assert_eq!(expected.settings().collect::<Vec<_>>(), [SpecField::Missing]);
    assert_eq!((first.place.as_str(), column.as_str(), found.as_slice()), ("log.csv:3", "state", &b""[..]));
    let shouted = error.message(|field| match field {
        SpecField::Missing => Some("MISSING".to_owned()),
        SpecField::SkipPercent(percent) => Some(format!("SKIP {percent}")),
        _ => None,
    });
    assert_eq!(
        shouted,
        "log.csv:3: column 'state' is empty; expected a value (MISSING gives a name to empty values). 1 of 3 rows is bad \
         (33.33 %); fix the log, or pass SKIP 34 to skip bad rows and their cases"
    );
    // A front end without these settings does not offer them.
    assert_eq!(
        error.message(|_| None),
        "log.csv:3: column 'state' is empty; expected a value. 1 of 3 rows is bad (33.33 %); fix the log"
    );
}

#[test]
fn causes_that_were_taken_for_others() {
    let macs = GOOD.replace('\n', "\r");
    check("CR only", &refusal(&spec(), &[named("log.csv", macs)]), "lines end with a carriage return only");
    for end in ["\n", "\r\n"] {
        let excel = format!("sep=;\n{GOOD}").replace(',', ";").replace("0.5", "0,5").replace('\n', end);
        check("sep", &refusal(&spec(), &[named("log.csv", excel)]), "log.csv:4: column 'reward' is '0,5'");
        let excel = format!("sep=;\n{GOOD}").replace(',', ";").replace('\n', end);
        let plain = read(&spec(), &[named("log.csv", GOOD)], 0, &()).unwrap();
        assert_eq!(read(&spec(), &[named("log.csv", excel)], 0, &()).unwrap().counts, plain.counts);
    }
    // Where most rows are bad, the settings are wrong, and skipping rows is no remedy.
    let flags = Spec { end: EndRule::parse("action"), ..spec() };
    let found = refusal(&flags, &[named("log.csv", GOOD)]);
    check(
        "all bad",
        &found,
        "3 of 3 rows are bad (100.00 %); fix the log, or check which columns were named",
    );
    assert!(!found.contains("skip"), "{found}");
}

/// A terminal obeys control characters, wherever they come from: values, names of columns, paths, settings.
#[test]
fn control_characters_are_spelled_out() {
    let clear = |text: &str| GOOD.replace("state", text);
    let evil = Spec { state: vec![BinnedColumn::plain("st\u{1b}[2Jate")], ..spec() };
    let value = GOOD.replace(",x,", ",\u{7}\u{1b}]0;x,");
    let quantiles = Spec { state: vec![BinnedColumn::parse("state:q4").unwrap()], ..spec() };
    let found = [
        refusal(&spec(), &[named("lo\u{1b}[2Jg", GOOD.replace("0.5", "x"))]),
        refusal(&evil, &[named("log", GOOD)]),
        refusal(&spec(), &[named("log", clear("\u{1b}[31mplace"))]),
        refusal(&evil, &[named("log", clear("st\u{1b}[2Jate").replace(",y,", ",,"))]),
        refusal(&quantiles, &[named("log", value)]),
        refusal(&spec(), &[named("log", "{\"case\":1}\n{\"case\":[1],\"sta\\u001bte\":{}}\n")]),
        BinnedColumn::parse("\u{1b}[2J:5|1").unwrap_err().to_string(),
        FinalRewards::parse("\u{1b}[2J").unwrap_err().to_string(),
        Input::expand(&["\u{1b}[2J.csv".into()]).unwrap_err().to_string(),
    ];
    for text in found {
        assert!(!text.contains(char::is_control), "{text:?}");
    }
    let mut guessed = Spec::default();
    let columns = ["case", "state", "action", "reward"].map(str::to_owned);
    guessed.fill_in(&columns).unwrap();
    let log = named(
        "log",
        "case,state,action,reward\n\u{1b}[2J,1,go,1\n\u{1b}[2J,1.0,go\u{7} ,1\n\u{1b}[2J,1.0,go\u{7},1\n",
    );
    let preview = backsweep_log::preview(&guessed, std::slice::from_ref(&log), 5).unwrap();
    assert!(preview.steps.iter().all(|step| !step.contains(char::is_control)), "{:?}", preview.steps);
    let read = read(&guessed, &[log], 0, &()).unwrap();
    assert_eq!(read.report.warnings.len(), 2, "{:?}", read.report.warnings);
    assert_eq!(preview.warnings, read.report.warnings);
}
