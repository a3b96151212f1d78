//! Models on disk: the exact value is inside every interval, however large the blocks are and whenever the work is stopped;
//! what is written row by row is the model that is read back; damaged files are refused.

use crate::common::{DISCOUNTS, Small, exact_values, random_model, rational};
use backsweep::Random;
use backsweep_bench::families;
use backsweep_mdp::{Compression, Direction, DiskMdp, DiskWriter, Mdp, Objective, Rewards, read, write};
use backsweep_solve::{Error, Limits, StreamedSolution, solve, solve_streamed};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

fn maze(size: usize) -> Mdp {
    families::MazeModel::new(size, 5).family().mdp
}

/// A file that goes when the test does.
struct TestFile(PathBuf);

impl TestFile {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("backsweep-streamed-{}-{name}.umb", std::process::id())))
    }

    fn of(name: &str, mdp: &Mdp, rewards: &[f64]) -> Self {
        let file = Self::new(name);
        let mut mdp = mdp.clone();
        mdp.rewards = vec![Rewards { choices: rewards.to_vec(), ..Rewards::default() }];
        write(&file.0, &mdp, None, Compression::None).unwrap();
        file
    }
}

impl Drop for TestFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn streamed(disk: &DiskMdp, discount: f64, direction: Direction, limits: &Limits) -> StreamedSolution {
    solve_streamed(disk, None, discount, direction, limits, &|_| ()).unwrap()
}

fn assert_exact_inside(small: &Small, direction: Direction, solution: &StreamedSolution, what: &str) {
    for (state, value) in exact_values(small, direction).iter().enumerate() {
        let (lower, upper) = (solution.lower(state), solution.upper(state));
        let inside = (lower.is_infinite() || rational(lower) <= *value)
            && (upper.is_infinite() || *value <= rational(upper));
        assert!(inside, "{what}: state {state}: {value} is not in [{lower}, {upper}]");
    }
}

#[test]
fn exact_values_are_inside_for_every_size_of_block() {
    let mut random = Random::from_seed(71);
    for i in 0..80 {
        let mut small = random_model(&mut random, 8);
        small.discount = DISCOUNTS[i % 5];
        let direction = [Direction::Maximize, Direction::Minimize][i / 5 % 2];
        let file = TestFile::of(&format!("exact-{i}"), &small.mdp, &small.rewards);
        for arcs_per_block in [1, 3, 1000] {
            let what =
                format!("model {i}, discount {}, {direction:?}, blocks of {arcs_per_block}", small.discount);
            let disk = DiskMdp::open(&file.0, arcs_per_block).unwrap();
            assert!(arcs_per_block > 1 || disk.n_blocks() + 2 >= disk.n_states().min(3), "{what}");
            let solution =
                streamed(&disk, small.discount, direction, &Limits { tolerance: 1e-7, ..Limits::default() });
            assert!(solution.converged, "{what}: {:?}", solution.explanation);
            assert_exact_inside(&small, direction, &solution, &what);
            // A file has a state more where rows lose mass.
            for state in 0..small.mdp.n_states() {
                let n_choices = small.mdp.choices_of(state).len() as u32;
                let choice = solution.policy[state];
                // A file gives ends a choice that stays there.
                assert!(choice < n_choices.max(1), "{what}: state {state}: {choice}");
            }
        }
    }
}

/// Whenever the work is stopped, also in the middle of a pass, the interval holds.
#[test]
fn intervals_hold_whenever_the_work_is_stopped() {
    let mut random = Random::from_seed(72);
    let (mut infinite, mut finite) = (0, 0);
    for i in 0..60 {
        let mut small = random_model(&mut random, 8);
        small.discount = [0.9, 0.99, 0.999][i % 3];
        let direction = [Direction::Maximize, Direction::Minimize][i / 3 % 2];
        let file = TestFile::of(&format!("stop-{i}"), &small.mdp, &small.rewards);
        let disk = DiskMdp::open(&file.0, 2).unwrap();
        for calls in 0..30 {
            let n = AtomicUsize::new(0);
            let stop = || n.fetch_add(1, Ordering::Relaxed) >= calls;
            let limits = Limits { tolerance: 1e-12, stop: &stop, ..Limits::default() };
            let solution = streamed(&disk, small.discount, direction, &limits);
            assert_exact_inside(
                &small,
                direction,
                &solution,
                &format!("model {i}, stopped after {calls} calls"),
            );
            let is_known = solution.lower(0).is_finite();
            finite += u32::from(is_known);
            infinite += u32::from(!is_known);
        }
    }
    assert!(finite > 500 && infinite > 50, "{finite} {infinite}");
}

/// Larger models, with many blocks and passes, against the solver in memory; rewards of states and arcs are summed alike.
#[test]
fn agrees_with_the_solver_in_memory() {
    for (name, model) in [("maze", maze(40)), ("garnet", families::garnet(400, 3, 5, 5).mdp)] {
        let mut mdp = model;
        mdp.rewards[0].states = (0..mdp.n_states()).map(|s| (s % 7) as f64 / 3.0).collect();
        mdp.rewards[0].arcs = (0..mdp.n_arcs()).map(|a| (a % 5) as f64 / 7.0).collect();
        let file = TestFile::new(name);
        write(&file.0, &mdp, None, Compression::None).unwrap();
        let disk = DiskMdp::open(&file.0, 300).unwrap();
        assert!(disk.n_blocks() > 5, "{name}: {} blocks", disk.n_blocks());
        let limits = Limits { tolerance: 1e-8, ..Limits::default() };
        let streamed = streamed(&disk, 0.99, Direction::Maximize, &limits);
        let memory =
            solve(&mdp, &Objective::Discounted { reward: None, discount: 0.99 }.maximize(), None, &limits)
                .unwrap();
        assert!(streamed.converged && memory.converged, "{name}: {:?}", streamed.explanation);
        for state in 0..mdp.n_states() {
            let apart =
                streamed.lower(state) > memory.upper[state] || streamed.upper(state) < memory.lower[state];
            assert!(!apart, "{name}: state {state}: the two intervals share no value");
        }
    }
}

/// Where costs end far away, values rise from the end outward: the number of passes follows neither the distance nor the
/// number of blocks.
#[test]
fn costs_far_from_the_end_take_few_passes() {
    const N: u32 = 2000;
    const GAMMA: f64 = 0.999;
    let file = TestFile::new("far");
    let mut writer = DiskWriter::create(&file.0).unwrap();
    for state in 0..N {
        if state + 1 < N {
            let ahead = [(state + 1).min(N - 1), (state + 2).min(N - 1)];
            writer.add_choice(0, -1.0, &ahead, &[0.5, 0.5]).unwrap();
            writer.add_choice(1, -1.0, &[state.saturating_sub(1)], &[1.0]).unwrap();
        }
        writer.end_state().unwrap();
    }
    writer.finish(&[0], &[]).unwrap();
    let disk = DiskMdp::open(&file.0, 200).unwrap();
    assert!(disk.n_blocks() > 20, "{} blocks", disk.n_blocks());
    let limits = Limits { tolerance: 1e-6, ..Limits::default() };
    let solution = streamed(&disk, GAMMA, Direction::Maximize, &limits);
    assert!(solution.converged && solution.passes <= 5, "{} passes", solution.passes);
    // One step or two ahead, from the two cells at the end.
    let step = |(one, two): (f64, f64), _| (-1.0 + GAMMA * 0.5 * (one + two), one);
    let (first, _) = (1..N).fold((0.0, 0.0), step);
    assert!(solution.lower(0) <= first && first <= solution.upper(0), "{first}");
}

/// A model written row by row is the one that was meant, also for readers that hold it in memory.
#[test]
fn written_rows_are_read_back() {
    let mut random = Random::from_seed(73);
    for i in 0..50 {
        let small = random_model(&mut random, 9);
        let file = TestFile::new(&format!("rows-{i}"));
        let mut writer = DiskWriter::create(&file.0).unwrap();
        for state in 0..small.mdp.n_states() {
            for (action, choice) in small.mdp.choices_of(state).enumerate() {
                let (targets, probabilities) = small.mdp.row(choice);
                writer.add_choice(action as u32, small.rewards[choice], targets, probabilities).unwrap();
            }
            writer.end_state().unwrap();
        }
        let names: Vec<String> = (0..4).map(|i| format!("action {i}")).collect();
        writer.finish(&[0], if i % 2 == 0 { &names } else { &[] }).unwrap();
        let back = read(&file.0, None, &|_| ()).unwrap().mdp;
        assert_eq!(back.choice_starts(), small.mdp.choice_starts());
        assert_eq!(back.arc_starts(), small.mdp.arc_starts());
        assert_eq!(back.targets(), small.mdp.targets());
        assert_eq!(back.probabilities(), small.mdp.probabilities());
        assert_eq!(back.expected_rewards(None).unwrap(), small.rewards);
        assert_eq!(back.initial, [0]);
        if i % 2 == 0 && back.n_choices() > 0 {
            assert_eq!(back.action_name(0), "action 0");
        }
        let leftovers = std::fs::read_dir(std::env::temp_dir()).unwrap();
        let ours = file.0.file_name().unwrap().to_string_lossy().into_owned();
        let hidden = leftovers.filter(|entry| {
            let name = entry.as_ref().unwrap().file_name().to_string_lossy().into_owned();
            name != ours && name.contains(&ours)
        });
        assert_eq!(hidden.count(), 0, "files of arrays are left");
    }
}

#[test]
fn writers_refuse_what_is_no_model() {
    let file = TestFile::new("refused");
    let mut writer = DiskWriter::create(&file.0).unwrap();
    assert!(writer.add_choice(0, f64::NAN, &[0], &[1.0]).is_err());
    assert!(writer.add_choice(0, 1.0, &[0, 1], &[0.7, 0.7]).is_err());
    writer.add_choice(0, 1.0, &[3], &[1.0]).unwrap();
    writer.end_state().unwrap();
    let error = writer.finish(&[], &[]).unwrap_err().to_string();
    assert!(error.contains('3'), "{error}");
    assert!(!file.0.exists());
}

/// Bytes of a file are replaced at random: every one is refused with a message or solved, and nothing panics.
#[test]
fn damaged_files_never_panic() {
    let model = maze(6);
    let file = TestFile::new("damaged");
    write(&file.0, &model, None, Compression::None).unwrap();
    let bytes = std::fs::read(&file.0).unwrap();
    let mut random = Random::from_seed(74);
    let (mut refused, mut solved) = (0, 0);
    for i in 0..400 {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.below(3) {
            let at = random.below(damaged.len() as u32) as usize;
            damaged[at] = random.below(256) as u8;
        }
        if i % 10 == 0 {
            damaged.truncate(random.below(bytes.len() as u32) as usize);
        }
        std::fs::write(&file.0, &damaged).unwrap();
        let n = AtomicUsize::new(0);
        let stop = || n.fetch_add(1, Ordering::Relaxed) >= 200;
        let limits = Limits { tolerance: 1e-3, stop: &stop, ..Limits::default() };
        let outcome = DiskMdp::open(&file.0, 50)
            .map_err(Error::from)
            .and_then(|disk| solve_streamed(&disk, None, 0.9, Direction::Maximize, &limits, &|_| ()));
        match outcome {
            Ok(_) => solved += 1,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                refused += 1;
            }
        }
    }
    assert!(refused > 50 && solved > 50, "{refused} refused, {solved} solved");
}

#[test]
fn what_cannot_be_streamed_is_said() {
    let model = maze(6);
    let file = TestFile::new("packed");
    write(&file.0, &model, None, Compression::Gzip).unwrap();
    let error = DiskMdp::open(&file.0, 50).unwrap_err().to_string();
    assert!(error.contains("compressed") && error.contains("--uncompressed"), "{error}");
    write(&file.0, &model, None, Compression::None).unwrap();
    let disk = DiskMdp::open(&file.0, 50).unwrap();
    let error =
        solve_streamed(&disk, None, 1.0, Direction::Maximize, &Limits::default(), &|_| ()).unwrap_err();
    assert!(matches!(error, Error::Discount { .. }), "{error}");
    let error = solve_streamed(&disk, Some("gold"), 0.9, Direction::Maximize, &Limits::default(), &|_| ())
        .unwrap_err();
    assert!(error.to_string().contains("gold"), "{error}");
}
