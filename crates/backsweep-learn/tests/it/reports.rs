//! The report for two readers: what is stated, where the gain comes from, cohorts, and how often held-out cases were used.

use crate::common::{GO_ON, case, count};
use backsweep::Random;
use backsweep_learn::{Cases, LearnSettings, Learned, PolicyFinding, learn, output};
use backsweep_log::{Case, CaseEnd, Cohorts, Counts};

/// Cases that wait in state 0 before they end. `act` pays 1 in a half of the cases, cohort 0, and nothing in the others; `wait`
/// repeats the state in three of four times.
fn waiting(n: usize, pays: i64) -> (Counts, Vec<Case>, Cohorts) {
    let mut random = Random::from_seed(8);
    let (mut cases, mut of_cases) = (Vec::new(), Vec::new());
    for i in 0..n {
        let cohort = (i / 16 % 2) as u32;
        let mut steps = Vec::new();
        loop {
            let acts = random.chance(0.4);
            let noise = i64::from(random.below(400)) - 200;
            let paid = if acts && cohort == 0 { 2 * pays } else { 0 };
            steps.push((0, u32::from(acts), paid + noise));
            if acts || random.chance(0.25) {
                break;
            }
        }
        cases.push(case((i % 16) as u8, &steps, CaseEnd::Terminated));
        of_cases.push(cohort);
    }
    let names = vec!["sick".to_owned(), "well".to_owned()];
    (count(1, 2, &cases), cases, Cohorts { names, of_cases })
}

fn learned(counts: &Counts, cases: &[Case], cohorts: &Cohorts, settings: &LearnSettings) -> Learned {
    let cases = Cases { cases, decimals: 3, cohorts: Some(cohorts), ..Cases::default() };
    learn(counts, cases, settings, GO_ON).unwrap()
}

fn settings() -> LearnSettings {
    LearnSettings { discount: 1.0, unit: Some("days".into()), ..LearnSettings::default() }
}

#[test]
fn the_gain_is_stated_with_its_unit_the_length_of_cases_and_by_cohort() {
    let (counts, cases, cohorts) = waiting(3_000, 1_000);
    let found = learned(&counts, &cases, &cohorts, &settings());
    assert_eq!(found.conclusion.finding, PolicyFinding::Better, "{:?}", found.conclusion.reasons);
    let headline = &found.conclusion.headline;
    let start = headline.strip_prefix("The policy would gain 0.").unwrap();
    assert!(start[3..].starts_with(" days per case over what was logged (95 % interval 0."), "{headline}");
    // As logged a case goes on with probability 0.6 · 0.75; the policy acts at once.
    let [Some(logged), Some(policy)] = found.evaluation.steps_per_case else { panic!() };
    assert!((logged - 1.0 / 0.55).abs() < 0.1 && (policy - 1.0).abs() < 1e-9, "{logged} {policy}");
    assert!(headline.contains("steps as logged and 1.0 under the policy"), "{headline}");
    let [sick, well] = &found.evaluation.cohorts[..] else { panic!() };
    assert_eq!((sick.name.as_str(), well.name.as_str()), ("sick", "well"));
    assert!(sick.gain.low > 0.3 && well.gain.value.abs() < 0.2, "{sick:?} {well:?}");
    assert_eq!(sick.n + well.n, found.evaluation.n_cases[1] as usize);
    let summary = output::summary(&found);
    assert_eq!((&summary["unit"], &summary["cohorts"][0]["name"]), (&"days".into(), &"sick".into()));
}

#[test]
fn no_number_is_stated_where_the_log_supports_none() {
    let (counts, cases, cohorts) = waiting(120, 1_000);
    let found = learned(&counts, &cases, &cohorts, &settings());
    assert_eq!(found.conclusion.finding, PolicyFinding::TooLittleData);
    assert!(found.conclusion.headline.starts_with("No gain is stated"), "{}", found.conclusion.headline);
    assert!(output::summary(&found)["gain"].is_null());
    let page = backsweep_learn::report::html(&counts, &found, &[]);
    assert!(!page.contains("gain per case</span>"));
    // A cohort of few cases has a mean and no interval.
    assert!(found.evaluation.cohorts.iter().all(|cohort| cohort.gain.low == f64::NEG_INFINITY));
}

#[test]
fn contributions_add_up_to_the_gain_and_every_change_is_listed() {
    let mut random = Random::from_seed(2);
    let mut cases = Vec::new();
    for i in 0..4_000 {
        let mut steps = Vec::new();
        for t in 0..3 {
            let (state, action) = (4 * t + random.below(4), random.below(3));
            steps.push((
                state,
                action,
                i64::from(random.below(1_000)) + i64::from((state + action) % 3) * 300,
            ));
        }
        cases.push(case((i % 16) as u8, &steps, CaseEnd::Terminated));
    }
    let counts = count(12, 3, &cases);
    let found =
        learned(&counts, &cases, &Cohorts::default(), &LearnSettings { keep_logged: true, ..settings() });
    let sum: f64 = found.states.iter().map(|row| row.contribution).sum();
    let gain = found.evaluation.training.value - found.evaluation.logged_training.value;
    assert!((sum - gain).abs() < 1e-6 && gain > 0.1, "{sum} {gain}");
    assert!(found.states.is_sorted_by(|a, b| a.contribution >= b.contribution));
    let changes = String::from_utf8(output::changes_csv(&counts, &found)).unwrap();
    let fit = &found.fit;
    let n_changed = (0..fit.q.len())
        .filter(|&pair| (fit.logged.probabilities[pair] - fit.supported.probabilities[pair]).abs() > 1e-9)
        .count();
    assert_eq!(changes.lines().count(), 1 + n_changed);
    let page = backsweep_learn::report::html(&counts, &found, &[]);
    for row in found.states.iter().filter(|row| row.moved > 1e-9) {
        assert!(page.contains(&format!("<td>{}</td>", counts.states[row.state as usize])));
    }
    for part in
        ["All estimates with 95 % intervals", "Distribution of weights", "id=\"positivity\"", "id=\"drift\""]
    {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn other_policies_tested_on_the_same_cases_are_counted() {
    let (counts, cases, cohorts) = waiting(1_000, 1_000);
    let root = std::env::temp_dir().join(format!("backsweep-uses-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&root);
    let how = [("files".to_owned(), "log.csv".to_owned())];
    let page = |folder: &str, settings: &LearnSettings, how: &[(String, String)]| {
        let found = learned(&counts, &cases, &cohorts, settings);
        let files = output::write_folder(&root.join(folder), true, &counts, &found, how).unwrap();
        assert_eq!(files.len(), output::FILES.len());
        std::fs::read_to_string(root.join(folder).join("report.html")).unwrap()
    };
    let first = page("a", &settings(), &how);
    assert!(first.contains("No other policy is known here that was tested on these held-out cases."));
    // The same policy again is no other use, and gives the same page.
    assert_eq!(page("a", &settings(), &how), first);
    let careful = LearnSettings { min_count: 40, ..settings() };
    assert!(page("b", &careful, &how).contains("1 other policy was tested on the same held-out cases"));
    let short = LearnSettings { discount: 0.9, ..settings() };
    assert!(page("a", &short, &how).contains("2 other policies were tested on the same held-out cases"));
    // Those of another log are others.
    let other = [("files".to_owned(), "other.csv".to_owned())];
    assert!(page("c", &settings(), &other).contains("No other policy is known here"));
    std::fs::remove_dir_all(root).unwrap();
}
