//! Models given by functions: enumerated, and answered at the start while most states were never looked at.

use backsweep::Random;
use backsweep_mdp::{Direction, FRONTIER, FunctionSource, KnownPart, Objective, SourceError};
use backsweep_solve::{ExplorationError, ExplorationGoal, Limits, explore_from_start, solve};

/// The sliding puzzle with `w` x `h` tiles, the last of which is the gap; its solved position is the identity.
fn slides(board: &[u8], w: usize) -> Vec<Vec<u8>> {
    let gap = board.iter().position(|&tile| tile == 0).unwrap();
    let (x, y) = (gap % w, gap / w);
    let mut found = Vec::new();
    let mut swap = |at: usize| {
        let mut next = board.to_vec();
        next.swap(gap, at);
        found.push(next);
    };
    if x > 0 {
        swap(gap - 1);
    }
    if x + 1 < w {
        swap(gap + 1);
    }
    if y > 0 {
        swap(gap - w);
    }
    if gap + w < board.len() {
        swap(gap + w);
    }
    found
}

fn goal(discount: f64, range: (f64, f64), tolerance: f64) -> ExplorationGoal {
    ExplorationGoal {
        discount,
        direction: Direction::Maximize,
        value_range: range,
        tolerance,
        max_states: usize::MAX,
    }
}

#[test]
fn a_sliding_puzzle_has_its_known_size_and_diameter() {
    // 3 x 2: 360 positions, at most 21 moves from the solved one.
    let solved = vec![0, 1, 2, 3, 4, 5];
    let is_solved = |board: &Vec<u8>| board == &[0, 1, 2, 3, 4, 5];
    let actions = |board: &Vec<u8>| if is_solved(board) { 0 } else { slides(board, 3).len() };
    let outcomes = |board: &Vec<u8>, a: usize| vec![(1.0, Some(slides(board, 3).swap_remove(a)), -1.0)];
    let start = slides(&solved, 3).swap_remove(0);
    let mut source = FunctionSource::new([start], actions, outcomes);
    let mut part = KnownPart::new(&mut source).unwrap();
    let mut next = 0;
    while (next as usize) < part.n_states() {
        part.expand(&mut source, next).unwrap();
        next += 1;
    }
    assert_eq!((part.n_states(), part.n_expanded()), (360, 360));
    let mdp = part.mdp(None).unwrap();
    assert_eq!(mdp.initial, [0]);
    let question = Objective::Total { reward: None, until: None }.maximize();
    let solution = solve(&mdp, &question, None, &Limits::default()).unwrap();
    let farthest = (0..360).map(|state| -solution.value(state)).fold(0.0, f64::max);
    assert!((solution.value(0) + 1.0).abs() < 1e-9 && (farthest - 21.0_f64).abs() < 1e-9, "{farthest}");
}

/// A walk on an endless line, pulled back to where it began: far states hardly matter.
fn line(position: i64, action: usize) -> Vec<(f64, Option<i64>, f64)> {
    let step = if action == 0 { 1 } else { -1 };
    vec![
        (0.5, Some(position + step), if position == 3 { 1.0 } else { 0.0 }),
        (0.3, Some(0), 0.1),
        (0.2, None, 0.1),
    ]
}

#[test]
fn the_start_of_an_endless_model_is_known_within_the_tolerance() {
    for direction in [Direction::Maximize, Direction::Minimize] {
        let mut source = FunctionSource::new([0_i64], |_| 2, |state: &i64, action| line(*state, action));
        let mut part = KnownPart::new(&mut source).unwrap();
        let goal = ExplorationGoal { direction, ..goal(0.9, (0.0, 10.0), 1e-6) };
        let answer = explore_from_start(&mut source, &mut part, &goal, &Limits::default(), |_| ()).unwrap();
        assert!(answer.converged && answer.upper[0] - answer.lower[0] <= 2e-6);
        // The same, cut off far away.
        let far = |state: &i64| if state.abs() > 200 { 0 } else { 2 };
        let mut whole = FunctionSource::new([0_i64], far, |state: &i64, action| line(*state, action));
        let mut all = KnownPart::new(&mut whole).unwrap();
        (0..403).for_each(|state| all.expand(&mut whole, state).unwrap());
        let mdp = all.mdp(None).unwrap();
        let question = backsweep_mdp::Question {
            objective: Objective::Discounted { reward: None, discount: 0.9 },
            direction,
        };
        let value = solve(&mdp, &question, None, &Limits::default()).unwrap().value(0);
        assert!(
            answer.lower[0] - 1e-6 <= value && value <= answer.upper[0] + 1e-6,
            "{value} {:?}",
            &answer.lower[..1]
        );
    }
}

#[test]
fn random_models_are_enclosed_at_any_stage() {
    let mut random = Random::from_seed(5);
    for i in 0..60 {
        let n = 50 + random.below(400);
        let seed = random.next_u64();
        let outcomes = move |state: &u32, action: usize| {
            let mut random = Random::from_seed(seed ^ (u64::from(*state) << 8) ^ action as u64);
            let reward = random.unit();
            vec![
                (0.6, Some(random.below(n)), reward),
                (0.3, Some(random.below(n)), reward),
                (0.1, None, reward),
            ]
        };
        let mut source = FunctionSource::new([0_u32], |_| 2, outcomes);
        let mut part = KnownPart::new(&mut source).unwrap();
        let few =
            ExplorationGoal { max_states: 1 + random.below(60) as usize, ..goal(0.95, (0.0, 20.0), 1e-3) };
        let early = explore_from_start(&mut source, &mut part, &few, &Limits::default(), |_| ()).unwrap();
        assert!(part.n_expanded() <= few.max_states.max(64));
        let late = explore_from_start(
            &mut source,
            &mut part,
            &goal(0.95, (0.0, 20.0), 1e-3),
            &Limits::default(),
            |_| (),
        )
        .unwrap();
        assert!(late.converged, "{i}");
        let mut state = 0;
        while (state as usize) < part.n_states() {
            part.expand(&mut source, state).unwrap();
            state += 1;
        }
        let question = Objective::Discounted { reward: None, discount: 0.95 }.maximize();
        let solution = solve(&part.mdp(None).unwrap(), &question, None, &Limits::default()).unwrap();
        for answer in [&early, &late] {
            for (state, (lower, upper)) in answer.lower.iter().zip(&answer.upper).enumerate() {
                let value = solution.value(state);
                assert!(
                    lower - 1e-6 <= value && value <= upper + 1e-6,
                    "{i}: state {state}: {value} {lower} {upper}"
                );
            }
        }
        assert!(late.upper[0] - late.lower[0] <= 2e-3);
    }
}

#[test]
fn malformed_rows_are_refused_with_their_place_and_change_nothing() {
    let outcomes = |state: &u32, action: usize| match (state, action) {
        (1, 1) => vec![(0.5, Some(2), 0.0)],
        (2, _) => vec![(1.0, Some(0), f64::NAN)],
        (3, _) => vec![(-0.5, Some(0), 0.0), (1.5, Some(0), 0.0)],
        _ => vec![(0.25, Some(1), 1.0), (0.5, Some(2), 1.0), (0.25, Some(1), 1.0)],
    };
    let mut source = FunctionSource::new([0_u32, 3], |_| 2, outcomes);
    let mut part = KnownPart::new(&mut source).unwrap();
    part.expand(&mut source, 0).unwrap();
    // Outcomes of the same state add up.
    let (targets, probabilities, reward) = part.rows(0).next().unwrap();
    assert_eq!((targets, probabilities, reward), (&[2, 3][..], &[0.5, 0.5][..], 1.0));
    let before = part.mdp(None).unwrap();
    for (state, expected) in [
        (2, "state 2, action 1: the probabilities sum to 0.5; expected 1"),
        (3, "state 3, action 0: found the reward NaN"),
        (1, "state 1, action 0: found the probability -0.5"),
    ] {
        let error = part.expand(&mut source, state).unwrap_err();
        assert!(
            matches!(error, SourceError::Row { .. }) && error.to_string().starts_with(expected),
            "{error}"
        );
    }
    let after = part.mdp(None).unwrap();
    assert_eq!((after.n_choices(), after.n_arcs()), (before.n_choices(), before.n_arcs()));
    assert_eq!(&*after.label(FRONTIER).unwrap(), [1, 2, 3]);
    let refused = |range| {
        explore_from_start(
            &mut source_of_one(),
            &mut one(),
            &goal(0.9, range, 1e-3),
            &Limits::default(),
            |_| (),
        )
    };
    assert!(matches!(refused((1.0, 0.0)), Err(ExplorationError::Solve(_))));
    assert!(matches!(refused((f64::NEG_INFINITY, 0.0)), Err(ExplorationError::Solve(_))));
}

fn source_of_one() -> impl backsweep_mdp::ModelSource<Error = std::convert::Infallible> {
    FunctionSource::new([0_u32], |_| 1, |_: &u32, _| vec![(1.0, None, 1.0)])
}

fn one() -> KnownPart {
    KnownPart::new(&mut source_of_one()).unwrap()
}
