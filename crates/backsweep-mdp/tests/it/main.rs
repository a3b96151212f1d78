//! Files of models: round trips, and messages for malformed files.

use backsweep::Random;
use backsweep_mdp::{Compression, Format, Label, Mdp, MdpBuilder, ReadMdp, Rewards, read, write};
use std::cell::Cell;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A temporary directory.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("backsweep-models-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn read_quietly(path: &Path) -> ReadMdp {
    read(path, None, &|_| {}).unwrap()
}

fn error(path: &Path) -> String {
    let place = path.parent().unwrap().display().to_string() + "/";
    error_of(path).unwrap().replace(&place, "")
}

fn error_of(path: &Path) -> Option<String> {
    read(path, None, &|_| {}).err().map(|error| error.to_string())
}

fn below(random: &mut Random, n: usize) -> usize {
    (random.next_u64() % n as u64) as usize
}

/// A model whose rows sum to 1 and are sorted, with everything that formats can hold.
fn random_mdp(random: &mut Random, chain: bool) -> Mdp {
    let n = 1 + below(random, 70);
    let mut builder = MdpBuilder::default();
    for _ in 0..n {
        for _ in 0..if chain { 1 } else { 1 + below(random, 3) } {
            let mut row: Vec<u32> = (0..1 + below(random, 4)).map(|_| below(random, n) as u32).collect();
            row.sort_unstable();
            row.dedup();
            let weights: Vec<f64> = row.iter().map(|_| 1.0 + below(random, 1000) as f64).collect();
            let sum: f64 = weights.iter().sum();
            builder.add_choice(row.into_iter().zip(weights.iter().map(|weight| weight / sum)));
        }
        builder.end_state();
    }
    let mut mdp = builder.finish().unwrap();
    mdp.chain = chain;
    let mut values =
        |n: usize| (0..n).map(|_| below(random, 2000) as f64 / 7.0 - 100.0).collect::<Vec<f64>>();
    let (states, choices) = (values(n), values(mdp.n_choices()));
    mdp.rewards.push(Rewards { name: "cost".to_owned(), states, choices, ..Rewards::default() });
    mdp.rewards.push(Rewards {
        name: "time".to_owned(),
        choices: vec![1.0; mdp.n_choices()],
        ..Rewards::default()
    });
    mdp.initial = vec![below(random, n) as u32];
    mdp.labels.push(Label { name: "goal".to_owned(), states: vec![below(random, n) as u32] });
    mdp.labels.push(Label { name: "two words".to_owned(), states: (0..n as u32).collect() });
    if !chain && below(random, 2) == 0 {
        mdp.action_names = (0..mdp.n_choices()).map(|choice| format!("go{}", choice % 5)).collect();
    }
    mdp.check().unwrap();
    mdp
}

/// Exact to the last bit: UMB, compressed or not, DRN and .tra, in sequence.
#[test]
fn models_survive_every_format() {
    let folder = Folder::new("survive");
    let mut random = Random::from_seed(5);
    for i in 0..60 {
        let mdp = random_mdp(&mut random, i % 3 == 0);
        let mut current = mdp.clone();
        for (name, compression) in [
            ("a.umb", Compression::Gzip),
            ("b.drn", Compression::None),
            ("c.umb", Compression::None),
            ("d.tra", Compression::None),
        ] {
            let path = folder.path(name);
            let warnings = write(&path, &current, None, compression).unwrap();
            assert_eq!(warnings, Vec::<String>::new(), "{name}");
            let found = read_quietly(&path);
            assert_eq!(found.warnings, Vec::<String>::new(), "{name}");
            current = found.mdp;
            // The order of labels is up to the format.
            current.labels.sort_by(|a, b| a.name.cmp(&b.name));
            assert_eq!(current, mdp, "{name}, model {i}");
        }
    }
}

/// Files beside a `.tra` are read with it, so that those of an older model would become part of the new one.
#[test]
fn files_of_an_older_model_are_named() {
    let folder = Folder::new("older");
    let (tra, mut random) = (folder.path("a.tra"), Random::from_seed(7));
    let mut mdp = random_mdp(&mut random, false);
    mdp.state_names = (0..mdp.n_states()).map(|state| format!("({state})")).collect();
    assert_eq!(write(&tra, &mdp, None, Compression::None).unwrap(), Vec::<String>::new());
    (mdp.labels, mdp.rewards) = Default::default();
    (mdp.initial, mdp.state_names) = Default::default();
    let warnings = write(&tra, &mdp, None, Compression::None).unwrap().join("\n");
    for left in ["a1.srew", "a1.trew", "a2.trew", "a.lab", "a.sta"] {
        assert!(warnings.contains(&format!("{left} already exists")), "{left}: {warnings}");
    }
}

#[test]
fn rewards_of_arcs_survive_where_they_can() {
    let folder = Folder::new("arcs");
    let mut random = Random::from_seed(6);
    let mut mdp = random_mdp(&mut random, false);
    mdp.rewards.truncate(1);
    mdp.rewards[0] = Rewards { name: String::new(), ..Rewards::default() };
    mdp.rewards[0].arcs = (0..mdp.n_arcs()).map(|arc| (arc % 9) as f64).collect();
    for name in ["a.umb", "a.tra"] {
        assert_eq!(write(folder.path(name), &mdp, None, Compression::Gzip).unwrap(), Vec::<String>::new());
        assert_eq!(read_quietly(&folder.path(name)).mdp, mdp, "{name}");
    }
    // DRN has rewards of states and choices only, and says so.
    let warnings = write(folder.path("a.drn"), &mdp, None, Compression::Gzip).unwrap();
    assert!(warnings.iter().any(|warning| warning.contains("mean per choice")), "{warnings:?}");
    let drn = read_quietly(&folder.path("a.drn")).mdp;
    let (found, expected) = (drn.expected_rewards(None).unwrap(), mdp.expected_rewards(None).unwrap());
    assert_eq!(found, expected);
}

/// Two commands of PRISM may have one label, and names of UMB and of saved agents may be anything: a table has to tell actions
/// and states apart by their names.
#[test]
fn names_that_a_table_could_not_tell_apart() {
    let folder = Folder::new("names");
    let mut builder = MdpBuilder::default();
    for target in [0, 1, 2, 0, 1] {
        builder.add_choice([(target, 1.0)]);
    }
    builder.end_state();
    builder.end_state();
    builder.end_state();
    let mut mdp = builder.finish().unwrap();
    mdp.action_names = ["go", "go ", "4", "", "go"].map(str::to_owned).to_vec();
    assert_eq!((0..5).map(|choice| mdp.action_name(choice)).collect::<Vec<_>>(), ["go", "1", "4", "3", "4#"]);
    let path = folder.path("a.csv");
    write(&path, &mdp, None, Compression::None).unwrap();
    let found = read_quietly(&path).mdp;
    assert_eq!((found.targets(), found.n_choices()), (mdp.targets(), 5));

    let tra = folder.file("b.tra", "2 2 2\n0 0 1 1 go\n1 0 0 1 go\n");
    folder.file("b.sta", "(x)\n0:(3)\n1:(3)\n");
    let found = read_quietly(&tra);
    assert!(found.warnings.iter().any(|warning| warning.contains("occur twice")), "{:?}", found.warnings);
    assert_eq!((found.mdp.state_name(0), found.mdp.state_name(1)), ("0".to_owned(), "1".to_owned()));
}

const TABLE: &str = "\
action,state,next_state,probability,reward,terminated
go,hall,kitchen,0.5,1,false
go,hall,hall,0.25,3,false
go,hall,hall,0.25,5,0
stay,hall,hall,1,0,
cook,kitchen,fire,0.125,-8,TRUE
cook,kitchen,cellar,0.875,-8,false
";

#[test]
fn a_table_of_names() {
    let folder = Folder::new("table");
    let mdp = read_quietly(&folder.file("t.csv", TABLE)).mdp;
    assert_eq!(mdp.state_names, ["hall", "kitchen", "cellar"]);
    assert_eq!(mdp.action_names, ["go", "stay", "cook"]);
    assert_eq!((mdp.choice_starts(), mdp.arc_starts()), (&[0, 2, 3, 3][..], &[0, 2, 3, 4][..]));
    assert_eq!((mdp.targets(), mdp.probabilities()), (&[0, 1, 0, 2][..], &[0.5, 0.5, 1.0, 0.875][..]));
    assert_eq!(mdp.expected_rewards(None).unwrap(), [0.5 + 0.5 * 4.0, 0.0, -8.0]);
    assert!(mdp.can_end(2) && !mdp.can_end(0));
    // Written and read again it is the same, and other formats get a state for what ends.
    write(folder.path("u.csv"), &mdp, None, Compression::Gzip).unwrap();
    let again = read_quietly(&folder.path("u.csv")).mdp;
    assert_eq!(again.expected_rewards(None).unwrap(), mdp.expected_rewards(None).unwrap());
    assert_eq!((&again.targets(), &again.probabilities()), (&mdp.targets(), &mdp.probabilities()));
    let warnings = write(folder.path("u.umb"), &mdp, None, Compression::Gzip).unwrap();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    let whole = read_quietly(&folder.path("u.umb")).mdp;
    assert_eq!(whole.n_states(), 4);
    assert_eq!(*whole.label("end").unwrap(), [3]);
    assert_eq!(&whole.targets()[whole.arcs_of(2)], [2, 3]);
    assert_eq!(whole.expected_rewards(None).unwrap(), [2.5, 0.0, -8.0, 0.0, 0.0]);
}

#[test]
fn fractions_and_zeros_of_drn() {
    let folder = Folder::new("drn");
    let text = "// by hand\n@type: MDP\n@value_type: rational\n@parameters\n\n@placeholders\n$third : 1/3\n@reward_models\ncost\n\
        @nr_states\n3\n@nr_choices\n3\n@model\nstate 0 [1/2] init\n\taction walk slowly [2]\n\t\t0 : $third\n\t\t1 : 2/3\n\t\t2 : 0\n\
        state 1 goal \"far away\"\n\taction __NOLABEL__ [0]\n\t\t1 : 1\nstate 2\n\taction x\n\t\t2 : 1\n";
    let ReadMdp { mdp, warnings } = read_quietly(&folder.file("m.drn", text));
    assert_eq!(mdp.probabilities(), [1.0 / 3.0, 2.0 / 3.0, 1.0, 1.0]);
    assert_eq!(mdp.action_names, ["walk slowly", "", "x"]);
    assert_eq!(mdp.expected_rewards(Some("cost")).unwrap(), [2.5, 0.0, 0.0]);
    assert_eq!((&*mdp.label("far away").unwrap(), &*mdp.label("init").unwrap()), (&[1][..], &[0][..]));
    assert_eq!(warnings, ["1 transitions of probability 0 were left out"]);
}

#[test]
fn errors_name_the_place_what_was_found_and_what_was_expected() {
    let folder = Folder::new("errors");
    let drn = "@type: MDP\n@nr_states\n2\n@nr_choices\n2\n@model\nstate 0\n\taction a\n\t\t1 : 1\nstate 1\n\taction a\n\t\t1 : 1\n";
    let cases = [
        (
            "a.drn",
            drn.replace("\t\t1 : 1\nstate 1", "\t\t7 : 1\nstate 1"),
            "a.drn:9:3: found '7'; expected a state from 0 to 1",
        ),
        (
            "b.drn",
            drn.replace("1 : 1\nstate 1", "1 : nan\nstate 1"),
            "b.drn:9:7: found 'nan'; expected a probability from 0 to 1",
        ),
        (
            "c.drn",
            drn.replace("MDP", "CTMC"),
            "c.drn:1:8: found 'CTMC'; expected MDP or DTMC: others are not supported",
        ),
        (
            "d.drn",
            drn.replace("state 1", "state 3"),
            "d.drn:10:7: found '3'; expected state 1: states are numbered from 0 without gaps",
        ),
        (
            "e.drn",
            drn.replace("@nr_states\n2", "@nr_states\n3"),
            "e.drn:13: the file ends; expected 3 states as @nr_states says, found 2",
        ),
        (
            "f.drn",
            drn.replace("1 : 1\nstate 1", "1 : 1.5\nstate 1"),
            "f.drn:9:7: found '1.5'; expected a probability from 0 to 1",
        ),
        (
            "g.drn",
            drn.replace("state 0\n", "state 0 {3}\n"),
            "g.drn:7:9: found '{'; observations (POMDPs) are not supported",
        ),
        (
            "a.tra",
            "2 2 2\n0 0 1 1\n1 0 5 1\n".to_owned(),
            "a.tra:3:5: found '5'; expected a state from 0 to 1",
        ),
        // Blank, but not in ASCII: found by fuzzing.
        (
            "blank.tra",
            "\u{b}\n0 0 1 1\n".to_owned(),
            "blank.tra:1:1: found nothing; expected the numbers of states, choices and transitions",
        ),
        (
            "b.tra",
            "2 2 2\n0 0 1 1\n1 1 1 1\n".to_owned(),
            "b.tra:3:1: found choice 1 of state 1; expected 0: choices have no gaps",
        ),
        (
            "c.tra",
            "2 2 3\n0 0 1 1\n1 0 1 1\n".to_owned(),
            "c.tra:4: the file ends; expected 3 transitions as the header says, found 2",
        ),
        (
            "d.tra",
            "1 1 1\n0 0 0 1/0\n".to_owned(),
            "d.tra:2:7: found '1/0'; expected a probability from 0 to 1",
        ),
        (
            "a.csv",
            TABLE.replace("0.875", "often"),
            "a.csv:7:21: found often; expected a probability from 0 to 1",
        ),
        (
            "b.csv",
            TABLE.replace("next_state", "then"),
            "b.csv:1:1: found no column 'next_state' in 'action,state,then,probability,reward,terminated'; expected state,action,next_state,probability and optionally reward,terminated,label",
        ),
        (
            "c.csv",
            TABLE.replace("0.875", "0.75"),
            "c.csv: state kitchen, action cook: the probabilities sum to 0.875; expected 1 (mark rows that end the episode as terminated)",
        ),
        (
            "d.csv",
            TABLE.replace("go,hall,kitchen,0.5,1,false", "go,hall,kitchen,0.5"),
            "d.csv:2:1: found 4 fields; expected 6 as in the first line",
        ),
        ("e.csv", TABLE.replace("TRUE", "maybe"), "e.csv:6:28: found maybe; expected true, false, 1 or 0"),
        (
            "m.xyz",
            String::new(),
            "m.xyz: found extension 'xyz'; expected one of .umb .drn .tra .csv .backsweep, or give the format",
        ),
        ("a.umb", "not an archive".to_owned(), "a.umb: archive: "),
    ];
    for (name, content, expected) in cases {
        let found = error(&folder.file(name, content));
        assert!(
            found == expected || expected.ends_with(": ") && found.starts_with(expected),
            "{name}: {found}"
        );
    }
}

/// An archive with an index and entries.
fn archive(index: &str, entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    let mut add = |name: &str, bytes: &[u8]| {
        let mut header = tar::Header::new_ustar();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, bytes).unwrap();
    };
    add("index.json", index.as_bytes());
    entries.iter().for_each(|(name, bytes)| add(name, bytes));
    builder.into_inner().unwrap()
}

fn index(n_states: u64, time: &str, players: u32) -> String {
    format!(
        r##"{{"format-version":1,"format-revision":0,"transition-system":{{"time":"{time}","#players":{players},"#states":{n_states},
        "#initial-states":0,"#choices":{n_states},"#choice-actions":0,"#branches":{n_states},"#branch-actions":0,"#observations":0,
        "branch-probability-type":{{"type":"double","size":64}}}}}}"##
    )
}

#[test]
fn errors_in_archives_name_entry_and_index() {
    let folder = Folder::new("archives");
    let wide = |ids: &[u64]| ids.iter().flat_map(|id| id.to_le_bytes()).collect::<Vec<u8>>();
    let doubles = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let build = |targets: &[u64], probabilities: &[f64]| {
        let (t, p) = (wide(targets), doubles(probabilities));
        archive(&index(2, "discrete", 1), &[("branch-to-target.bin", &t), ("branch-to-probability.bin", &p)])
    };
    let good = folder.file("good.umb", build(&[1, 1], &[1.0, 1.0]));
    assert_eq!(read_quietly(&good).mdp.targets(), [1, 1]);
    let cases = [
        (build(&[1, 2], &[1.0, 1.0]), "branch-to-target.bin[1]: found state 2; expected one from 0 to 1"),
        (
            build(&[1, 1 << 40], &[1.0, 1.0]),
            "branch-to-target.bin[1]: found 1099511627776; expected a number below 4294967295",
        ),
        (build(&[1, 1], &[1.0, 1.25]), "branch-to-probability.bin[1]: found 1.25; expected 0 to 1"),
        (
            build(&[1, 1], &[1.0, f64::NAN]),
            "branch-to-probability.bin[1]: found a value that is not finite; expected a finite number",
        ),
        (build(&[1], &[1.0, 1.0]), "branch-to-target.bin: found 8 bytes; expected 16: 2 items of 8 bytes"),
        (
            archive(&index(2, "stochastic", 1), &[]),
            "index.json: transition-system.time: found \"stochastic\"; continuous-time models are not supported; expected \"discrete\"",
        ),
        (
            archive(&index(2, "discrete", 2), &[]),
            "index.json: transition-system.#players: found 2; games are not supported",
        ),
        (archive("{", &[]), "index.json:1:1: EOF while parsing an object at line 1 column 1; expected JSON"),
        (
            archive(&index(2, "discrete", 1), &[]),
            "branch-to-target.bin: the archive has no such entry; expected one because the model has branches",
        ),
    ];
    for (bytes, expected) in cases {
        assert_eq!(error(&folder.file("bad.umb", bytes)), format!("bad.umb: {expected}"));
    }
}

/// Whatever sizes a file claims, it takes no more time and memory than its bytes warrant.
#[test]
fn small_files_that_claim_large_sizes_are_refused_at_once() {
    let folder = Folder::new("claims");
    let most = u64::from(u32::MAX) - 2;
    let header = |n: u64| {
        format!("@type: MDP\n@nr_states\n{n}\n@nr_choices\n{n}\n@model\nstate 0\n\taction a\n\t\t0 : 1\n")
    };
    let mut files = Vec::new();
    for n in [1 << 60, most, 4_000_000_000] {
        files.push(folder.file(&format!("{n}.umb"), archive(&index(n, "discrete", 1), &[])));
        files.push(folder.file(&format!("{n}.drn"), header(n)));
        files.push(folder.file(&format!("{n}.tra"), format!("{n} {n} {n}\n0 0 1 1\n")));
        files.push(folder.file(&format!("last{n}.tra"), format!("{n} 1 1\n{} 0 0 1\n", n - 1)));
    }
    // An entry that claims more than the archive has.
    let mut bytes = archive(&index(4_000_000_000, "discrete", 1), &[("branch-to-target.bin", &[0; 8])]);
    let at = bytes.windows(20).position(|part| part == b"branch-to-target.bin").unwrap();
    bytes[at + 124..at + 136].copy_from_slice(b"\x80\0\0\0\0\0\0\x07\x73\x59\x40\0");
    let sum: u64 =
        (0..512).map(|i| if (148..156).contains(&i) { 32 } else { u64::from(bytes[at + i]) }).sum();
    bytes[at + 148..at + 156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    files.push(folder.file("entry.umb", bytes));
    for path in files {
        let start = Instant::now();
        let problem = error(&path);
        assert!(start.elapsed().as_millis() < 500, "{problem} took {:?}", start.elapsed());
    }
}

/// Damage of any kind is an error or another model, which can be saved and read again; never a panic.
#[test]
fn damaged_files_do_not_panic() {
    let folder = Folder::new("damage");
    let mut random = Random::from_seed(8);
    let mdp = random_mdp(&mut random, false);
    for (name, compression) in [
        ("a.umb", Compression::None),
        ("b.umb", Compression::Gzip),
        ("a.drn", Compression::None),
        ("a.tra", Compression::None),
        ("a.csv", Compression::None),
    ] {
        write(folder.path(name), &mdp, None, compression).unwrap();
        let whole = std::fs::read(folder.path(name)).unwrap();
        for _ in 0..400 {
            let mut bytes = whole.clone();
            for _ in 0..1 + below(&mut random, 3) {
                let at = below(&mut random, bytes.len());
                bytes[at] = random.next_u64() as u8;
            }
            bytes.truncate(
                bytes.len() - if below(&mut random, 3) == 0 { below(&mut random, bytes.len()) } else { 0 },
            );
            if let Ok(found) = read(folder.file(name, bytes), None, &|_| {}) {
                found.mdp.check().unwrap();
                let fresh = Folder::new("damage-again");
                for again in ["again.csv", "again.umb", "again.drn", "again.tra"] {
                    write(fresh.path(again), &found.mdp, None, Compression::None).unwrap();
                    assert_eq!(error_of(&fresh.path(again)), None, "{name} as {again}");
                }
            }
        }
    }
}

#[test]
fn omissions_are_reported() {
    let folder = Folder::new("left-out");
    let extra = r##""annotations":{"aps":{"p":{"applies-to":["choices"],"type":{"type":"bool"}}}},"valuations":{"states":{}},"transition-system""##;
    let text = index(1, "discrete", 1).replace("\"transition-system\"", extra);
    let (t, p) = (0u64.to_le_bytes(), 1f64.to_le_bytes());
    let bytes = archive(
        &text,
        &[("branch-to-target.bin", &t), ("branch-to-probability.bin", &p), ("notes.txt", b"hello")],
    );
    let warnings = read_quietly(&folder.file("m.umb", bytes)).warnings;
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    for part in ["aps/p", "valuations of states", "notes.txt"] {
        assert!(warnings.iter().any(|warning| warning.contains(part)), "{part}: {warnings:?}");
    }
}

#[test]
fn checks_name_state_and_choice() {
    let arrays = || (vec![0, 1, 3], vec![0, 1, 2, 4], vec![1, 0, 0, 1], vec![1.0, 1.0, 0.5, 0.5]);
    type Arrays = (Vec<u32>, Vec<u32>, Vec<u32>, Vec<f64>);
    let build = |(choices, arcs, targets, p): Arrays| Mdp::from_arrays(choices, arcs, targets, p);
    let mut mdp = build(arrays()).unwrap();
    mdp.labels = vec![Label { name: "goal".to_owned(), states: vec![1] }];
    mdp.rewards = vec![Rewards { name: "r".to_owned(), choices: vec![1.0, 2.0, 3.0], ..Rewards::default() }];
    mdp.check().unwrap();
    let refused = |change: &dyn Fn(&mut Arrays)| {
        let mut other = arrays();
        change(&mut other);
        build(other).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&|m| m.3[2] = 0.75),
        "state 1, choice 1: the probabilities sum to 1.25; expected at most 1"
    );
    assert_eq!(refused(&|m| m.2[3] = 9), "state 1, choice 1: leads to state 9; the model has states 0 to 1");
    for (bad, found) in [(f64::NAN, "NaN"), (f64::INFINITY, "inf"), (-0.5, "-0.5"), (0.0, "0")] {
        let expected = format!("state 0, choice 0: the probability of state 1 is {found}; expected");
        assert!(refused(&|m| m.3[0] = bad).starts_with(&expected));
    }
    assert!(refused(&|m| m.1[1] = 3).starts_with("arcs of choices[2]: found 2; expected 3 to 4"));
    assert!(refused(&|m| m.1[3] = 9).starts_with("arcs of choices[3]: found 9; expected 4"));
    assert!(refused(&|m| m.0[2] = 9).starts_with("choices of states[2]: found 9; expected 3"));
    assert!(refused(&|m| m.0.clear()).starts_with("choices of states: there are no offsets"));
    assert!(refused(&|m| m.3.truncate(3)).starts_with("probabilities: found 3; expected one per arc, 4"));
    let wrong = |change: &dyn Fn(&mut Mdp)| {
        let mut other = mdp.clone();
        change(&mut other);
        other.check().unwrap_err().to_string()
    };
    assert!(wrong(&|m| m.rewards[0].choices[2] = 1e200).starts_with("state 1, choice 1: the reward 'r' is "));
    assert!(wrong(&|m| m.labels[0].states[0] = 2).starts_with("label 'goal': state 2 does not exist"));
    assert_eq!(wrong(&|m| *m = Mdp::default()), "model: it has no states; expected at least one");
    assert_eq!(wrong(&|m| m.chain = true), "state 1: has 2 choices; expected at most 1 in a Markov chain");
    let mut builder = MdpBuilder::default();
    builder.add_arc(0, 1.0);
    assert_eq!(
        builder.clone().finish().unwrap_err().to_string(),
        "the last choice: was not ended; expected every choice to be ended"
    );
    builder.end_choice();
    assert_eq!(
        builder.clone().finish().unwrap_err().to_string(),
        "the last state: was not ended; expected every state to be ended"
    );
    builder.end_state();
    let mut mdp_of_one = builder.finish().unwrap();
    assert!(mdp_of_one.replace_row(0, &[1], &[1.0]).is_err());
    mdp_of_one.replace_row(0, &[0, 0], &[0.5, 0.25]).unwrap();
    assert_eq!(mdp_of_one.row(0), (&[0, 0][..], &[0.5, 0.25][..]));
    let unknown = mdp.label("gaol").unwrap_err().to_string();
    assert_eq!(unknown, "no states are labeled 'gaol'; expected one of: goal");
    assert_eq!(
        mdp.expected_rewards(Some("s")).unwrap_err().to_string(),
        "no rewards are called 's'; expected one of: r"
    );
}

/// A state that gets other choices leaves a model that passes every check, with the rows of all others as they were.
#[test]
fn choices_of_a_state_are_replaced() {
    let rows = |counts: [usize; 3]| {
        let mut builder = MdpBuilder::default();
        for n_choices in counts {
            (0..n_choices).for_each(|choice| builder.add_choice([(choice as u32, 0.5), (2, 0.5)]));
            builder.end_state();
        }
        builder.finish().unwrap()
    };
    let row = (&[0, 2][..], &[0.5, 0.5][..]);
    for (new, expected) in [(&[row][..], [2, 1, 1]), (&[], [2, 0, 1])] {
        let mut mdp = rows([2, 3, 1]);
        mdp.rewards = vec![Rewards { choices: vec![1.0; 6], arcs: vec![2.0; 12], ..Rewards::default() }];
        mdp.replace_choices(1, new).unwrap();
        mdp.check().unwrap();
        assert_eq!(mdp.rewards[0].choices, [&[1.0; 2][..], &vec![0.0; new.len()], &[1.0]].concat());
        assert_eq!(mdp.rows_alone(), rows(expected));
    }
    let mut mdp = rows([1, 1, 1]);
    assert!(mdp.replace_choices(1, &[row, (&[3], &[1.0])]).is_err());
    assert_eq!(mdp, rows([1, 1, 1]));
}

#[test]
fn progress_grows_to_one() {
    let folder = Folder::new("progress");
    let rows: String = (0..200_000).map(|state| format!("{state} 0 {} 1\n", (state + 1) % 200_000)).collect();
    let path = folder.file("m.tra", format!("200000 200000 200000\n{rows}"));
    let (last, calls) = (Cell::new(0.0), Cell::new(0));
    read(&path, Some(Format::Prism), &|fraction| {
        assert!(fraction >= last.get() && fraction <= 1.0);
        last.set(fraction);
        calls.set(calls.get() + 1);
    })
    .unwrap();
    assert_eq!(last.get(), 1.0);
    assert!(calls.get() > 2);
}

#[test]
fn text_may_be_compressed() {
    let folder = Folder::new("packed");
    let plain = read_quietly(&folder.file("t.csv", TABLE)).mdp;
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(TABLE.as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    for name in ["t.csv.gz", "plainly.csv"] {
        std::fs::write(folder.path(name), &packed).unwrap();
        assert_eq!(read_quietly(&folder.path(name)).mdp, plain, "{name}");
    }
    std::fs::write(folder.path("cut.csv.gz"), &packed[..packed.len() / 2]).unwrap();
    assert!(read(folder.path("cut.csv.gz"), None, &|_| ()).is_err());
}
