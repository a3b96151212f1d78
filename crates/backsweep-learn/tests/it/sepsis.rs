//! A hidden state that gives a tight interval with the wrong sign: the sepsis simulator of Oberst & Sontag (2019), rebuilt from its published
//! rules. Whoever decides sees diabetes and glucose; the log does not have them.

use crate::common::{case, count, draw, full_policy, learned};
use backsweep::Random;
use backsweep_learn::{LearnSettings, Learned, PolicyFinding};
use backsweep_log::{Case, CaseEnd};

/// What is known about a patient.
#[derive(Clone, Copy)]
struct Patient {
    diabetic: bool,
    /// Low, normal, high.
    heart_rate: usize,
    /// Low, normal, high.
    pressure: usize,
    /// Low, normal.
    oxygen: usize,
    /// 2 is normal.
    glucose: usize,
    /// Antibiotics, ventilation, vasopressors: whether they are given now.
    treated: [bool; 3],
}

const N_STATES: usize = 2 * 3 * 3 * 2 * 5 * 8;
const N_SHOWN: usize = 3 * 3 * 2 * 8;
const N_ACTIONS: usize = 8;
const N_STEPS: usize = 20;

impl Patient {
    fn of(mut index: usize) -> Self {
        let mut digit = |base: usize| {
            let digit = index % base;
            index /= base;
            digit
        };
        let treated = [digit(2) == 1, digit(2) == 1, digit(2) == 1];
        let (oxygen, pressure, heart_rate) = (digit(2), digit(3), digit(3));
        let (glucose, diabetic) = (digit(5), digit(2) == 1);
        Self { diabetic, heart_rate, pressure, oxygen, glucose, treated }
    }

    /// What the log shows: all but diabetes and glucose.
    fn shown(self) -> usize {
        let treated = self.treated.iter().rev().fold(0, |bits, &on| 2 * bits + usize::from(on));
        treated + 8 * (self.oxygen + 2 * (self.pressure + 3 * self.heart_rate))
    }

    fn index(self) -> usize {
        self.shown() + N_SHOWN * (self.glucose + 5 * usize::from(self.diabetic))
    }

    /// Death pays −1, discharge 1; either ends the case.
    fn reward(self) -> i64 {
        let abnormal = [self.heart_rate != 1, self.pressure != 1, self.oxygen != 1, self.glucose != 2];
        match abnormal.into_iter().filter(|&is| is).count() {
            3.. => -1,
            0 if self.treated == [false; 3] => 1,
            _ => 0,
        }
    }
}

/// Patients with probabilities.
struct Spread(Vec<(Patient, f64)>);

impl Spread {
    /// Each patient changes with this probability; the change is the last one tried that applies.
    fn change(&mut self, changes: impl Fn(Patient) -> Vec<(f64, Patient)>) {
        let mut new = Vec::new();
        for &(patient, p) in &self.0 {
            let changes = changes(patient);
            let rest: f64 = 1.0 - changes.iter().map(|(share, _)| share).sum::<f64>();
            new.push((patient, p * rest));
            new.extend(changes.into_iter().map(|(share, changed)| (changed, p * share)));
        }
        new.retain(|(_, p)| *p > 0.0);
        self.0 = new;
    }
}

/// Where a treatment leads, with probabilities. Antibiotics act first, then ventilation, then vasopressors; what no treatment has touched
/// fluctuates.
fn treat(patient: Patient, action: usize) -> Vec<(usize, f64)> {
    let on = [action & 1 == 1, action & 2 == 2, action & 4 == 4];
    let was = patient.treated;
    let mut spread = Spread(vec![(patient, 1.0)]);
    if on[0] {
        spread
            .change(|p| if p.heart_rate == 2 { vec![(0.5, Patient { heart_rate: 1, ..p })] } else { vec![] });
        spread.change(|p| if p.pressure == 2 { vec![(0.5, Patient { pressure: 1, ..p })] } else { vec![] });
    } else if was[0] {
        spread
            .change(|p| if p.heart_rate == 1 { vec![(0.1, Patient { heart_rate: 2, ..p })] } else { vec![] });
        spread.change(|p| if p.pressure == 1 { vec![(0.1, Patient { pressure: 2, ..p })] } else { vec![] });
    }
    if on[1] {
        spread.change(|p| if p.oxygen == 0 { vec![(0.7, Patient { oxygen: 1, ..p })] } else { vec![] });
    } else if was[1] {
        spread.change(|p| if p.oxygen == 1 { vec![(0.1, Patient { oxygen: 0, ..p })] } else { vec![] });
    }
    if on[2] {
        spread.change(|p| match (p.diabetic, p.pressure) {
            (false, 0 | 1) => vec![(0.7, Patient { pressure: p.pressure + 1, ..p })],
            (true, 1) => vec![(0.9, Patient { pressure: 2, ..p })],
            (true, 0) => vec![(0.5, Patient { pressure: 1, ..p }), (0.4, Patient { pressure: 2, ..p })],
            _ => vec![],
        });
        if patient.diabetic {
            spread.change(|p| vec![(0.5, Patient { glucose: 4.min(p.glucose + 1), ..p })]);
        }
    } else if was[2] {
        let falls = if patient.diabetic { 0.05 } else { 0.1 };
        spread.change(|p| vec![(falls, Patient { pressure: p.pressure.saturating_sub(1), ..p })]);
    }
    let fluctuate = |value: usize, most: usize| (value.saturating_sub(1), most.min(value + 1));
    if !on[0] && !was[0] {
        spread.change(|p| {
            let (low, high) = fluctuate(p.heart_rate, 2);
            vec![(0.1, Patient { heart_rate: low, ..p }), (0.1, Patient { heart_rate: high, ..p })]
        });
    }
    if !on[0] && !was[0] && !on[2] && !was[2] {
        spread.change(|p| {
            let (low, high) = fluctuate(p.pressure, 2);
            vec![(0.1, Patient { pressure: low, ..p }), (0.1, Patient { pressure: high, ..p })]
        });
    }
    if !on[1] && !was[1] {
        spread.change(|p| {
            let (low, high) = fluctuate(p.oxygen, 1);
            vec![(0.1, Patient { oxygen: low, ..p }), (0.1, Patient { oxygen: high, ..p })]
        });
    }
    if !on[2] {
        // The published program lets the glucose of those without diabetes rise to 1 only; so does this.
        let (share, most) = if patient.diabetic { (0.3, 4) } else { (0.1, 1) };
        spread.change(|p| {
            let (low, high) = fluctuate(p.glucose, most);
            vec![(share, Patient { glucose: low, ..p }), (share, Patient { glucose: high, ..p })]
        });
    }
    let mut by_state = std::collections::BTreeMap::new();
    for (p, share) in spread.0 {
        *by_state.entry(Patient { treated: on, ..p }.index()).or_insert(0.0) += share;
    }
    by_state.into_iter().collect()
}

struct Simulator {
    /// Per state and action.
    outcomes: Vec<Vec<(usize, f64)>>,
    rewards: Vec<i64>,
    starts: Vec<f64>,
}

impl Simulator {
    fn new() -> Self {
        let patients: Vec<Patient> = (0..N_STATES).map(Patient::of).collect();
        let outcomes = patients
            .iter()
            .flat_map(|&patient| (0..N_ACTIONS).map(move |action| treat(patient, action)))
            .collect();
        let rewards: Vec<i64> = patients.iter().map(|patient| patient.reward()).collect();
        let share = |p: &Patient| {
            let glucose =
                if p.diabetic { [0.01, 0.05, 0.15, 0.6, 0.19] } else { [0.05, 0.15, 0.6, 0.15, 0.05] };
            let vital = [0.25, 0.5, 0.25];
            vital[p.heart_rate] * vital[p.pressure] * [0.2, 0.8][p.oxygen] * glucose[p.glucose]
        };
        // Nobody starts dead or discharged: such a patient is drawn again.
        let starts_here = |p: &&Patient| p.treated == [false; 3] && p.reward() == 0;
        let with = |diabetic: bool| move |p: &&Patient| p.diabetic == diabetic;
        let totals = [false, true].map(|diabetic| {
            patients.iter().filter(starts_here).filter(with(diabetic)).map(share).sum::<f64>()
        });
        let all: f64 = 0.8 * totals[0] + 0.2 * totals[1];
        let start = |p: &Patient| {
            let mix = if p.diabetic { 0.2 } else { 0.8 };
            if starts_here(&p) { mix * share(p) / all } else { 0.0 }
        };
        Self { outcomes, rewards, starts: patients.iter().map(start).collect() }
    }

    /// The physician: the best treatment for the whole state, and a random other one in one of twenty decisions. As published,
    /// planning continues past death and discharge.
    fn physician(&self) -> Vec<Vec<f64>> {
        let mut values = vec![0.0; N_STATES];
        let q = |state: usize, action: usize, values: &[f64]| -> f64 {
            let outcomes = &self.outcomes[state * N_ACTIONS + action];
            outcomes.iter().map(|&(next, p)| p * (self.rewards[next] as f64 + 0.99 * values[next])).sum()
        };
        for _ in 0..1000 {
            for state in 0..N_STATES {
                let best =
                    (0..N_ACTIONS).map(|action| q(state, action, &values)).fold(f64::NEG_INFINITY, f64::max);
                values[state] = best;
            }
        }
        let policy = |state: usize| {
            let values: Vec<f64> = (0..N_ACTIONS).map(|action| q(state, action, &values)).collect();
            let best = (0..N_ACTIONS).max_by(|&a, &b| values[a].total_cmp(&values[b])).unwrap();
            (0..N_ACTIONS).map(|action| if action == best { 0.95 } else { 0.05 / 7.0 }).collect()
        };
        (0..N_STATES).map(policy).collect()
    }

    /// Cases as the log has them: cut after twenty steps, rewards in thousandths.
    fn cases(&self, policy: &[Vec<f64>], n: usize, seed: u64, shown: fn(Patient) -> usize) -> Vec<Case> {
        let mut random = Random::from_seed(seed);
        let mut run = |_| {
            let mut state = draw(&self.starts, &mut random).min(N_STATES - 1);
            let mut steps = Vec::new();
            loop {
                let action = draw(&policy[state], &mut random).min(N_ACTIONS - 1);
                let outcomes = &self.outcomes[state * N_ACTIONS + action];
                let shares: Vec<f64> = outcomes.iter().map(|&(_, p)| p).collect();
                let next = outcomes[draw(&shares, &mut random).min(outcomes.len() - 1)].0;
                let reward = self.rewards[next];
                steps.push((shown(Patient::of(state)) as u32, action as u32, 1000 * reward));
                let end = match reward {
                    0 if steps.len() < N_STEPS => {
                        state = next;
                        continue;
                    }
                    0 => CaseEnd::Truncated(shown(Patient::of(next)) as u32),
                    _ => CaseEnd::Terminated,
                };
                return case(random.below(16) as u8, &steps, end);
            }
        };
        (0..n).map(&mut run).collect()
    }

    /// The true return of a policy for what the log shows, in at most twenty steps.
    fn value(&self, policy: &[Vec<f64>]) -> f64 {
        let (mut now, mut total) = (self.starts.clone(), 0.0);
        for _ in 0..N_STEPS {
            let mut next = vec![0.0; N_STATES];
            for state in (0..N_STATES).filter(|&state| now[state] > 0.0) {
                for (action, chosen) in policy[Patient::of(state).shown()].iter().enumerate() {
                    for &(to, p) in &self.outcomes[state * N_ACTIONS + action] {
                        let share = now[state] * chosen * p;
                        match self.rewards[to] {
                            0 => next[to] += share,
                            reward => total += share * reward as f64,
                        }
                    }
                }
            }
            now = next;
        }
        total
    }
}

#[test]
fn patients_have_numbers_and_probabilities_add_up() {
    for index in 0..N_STATES {
        assert_eq!(Patient::of(index).index(), index);
    }
    let simulator = Simulator::new();
    assert!((simulator.starts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    for outcomes in &simulator.outcomes {
        assert!((outcomes.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

/// Cases of the physician, what the log says they returned, and what is learned from it.
fn learn_from(
    simulator: &Simulator,
    n: usize,
    min_count: i64,
    seed: u64,
    shown: fn(Patient) -> usize,
) -> (f64, Learned) {
    let cases = simulator.cases(&simulator.physician(), n, seed, shown);
    let total: i64 = cases.iter().flat_map(|case| &case.steps).map(|step| step.reward).sum();
    let settings = LearnSettings { discount: 0.99, min_count, ..LearnSettings::default() };
    let found = learned(&count(N_STATES as u32, N_ACTIONS as u32, &cases), &cases, &settings);
    let e = &found.evaluation;
    println!(
        "{n} cases, minimum {min_count}: effective {:.1}, {:?}: {:?}",
        e.effective_cases, e.history, found.conclusion.finding
    );
    (total as f64 / 1000.0 / n as f64, found)
}

#[test]
fn a_policy_that_kills_does_not_read_as_a_success() {
    let simulator = Simulator::new();
    let untreated: Vec<Vec<f64>> = vec![[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0].to_vec(); N_STATES];
    for (n, min_count, seed) in [
        (1_000, 1, 1),
        (1_000, 20, 1),
        (5_000, 1, 2),
        (5_000, 20, 2),
        (5_000, 20, 5),
        (20_000, 20, 3),
        (20_000, 20, 4),
    ] {
        let (logged, found) = learn_from(&simulator, n, min_count, seed, Patient::shown);
        let truth = simulator.value(&full_policy(&found, &untreated));
        let training = found.evaluation.training;
        println!("logged {logged:.3}, truly {truth:.3}, the model says {training}");
        // As published: .324 logged, and the model is sure of a gain where there is a loss.
        assert!((logged - 0.324).abs() < 0.05, "{logged}");
        assert!(training.low > logged + 0.3 && truth < logged - 0.1, "{training} {truth}");
        assert_eq!(found.conclusion.finding, PolicyFinding::Contradicted, "{:?}", found.evaluation.history);
    }
}

/// With everything in the state nothing is hidden, and the previous step predicts nothing. Importance sampling is far too high
/// here (.6 where the truth is .4): cases that go wrong are long, and so unlikely to be logged along the policy that none is
/// held out. Weights of single steps do not mind.
#[test]
fn a_state_that_holds_everything_is_not_suspected() {
    let simulator = Simulator::new();
    for seed in [6, 7, 8, 17, 23, 25] {
        let (_, found) = learn_from(&simulator, 20_000, 20, seed, Patient::index);
        let evaluation = &found.evaluation;
        let memory = evaluation.history.unwrap();
        assert!(memory.correlation < 0.1 || memory.errors < 5.0, "{memory:?}");
        let (sampled, model) = (evaluation.importance.unwrap().policy, evaluation.held_out.unwrap().policy);
        let line = format!("seed {seed}: {sampled} {model}, reached {}", evaluation.reached);
        assert_ne!(found.conclusion.finding, PolicyFinding::Contradicted, "{line}");
        assert!(evaluation.reached > 0.9, "{line}");
    }
}
