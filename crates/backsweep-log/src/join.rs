//! Joins fragments of cases: starts, the steps between fragments, ends; and puts the counts into canonical form.

use crate::counts::builder::{CountLine, CountsBuilder};
use crate::counts::{Case, CaseEnd, CaseStep, Counts};
use crate::decimal::power;
use crate::error::{Error, Result, RowProblem};
use crate::fold::{CaseKey, FOLDS, case_key};
use crate::log::{CaseOrder, Cohorts, ReadReport};
use crate::moment::Moment;
use crate::names::{END, NameTable};
use crate::rows::Encoder;
use crate::rows::counter::{
    BadLine, Counter, EncodedRow, FoldBuffer, FoldCounts, Fragment, Mode, SHOWN_BAD, Stop, TransitionCount,
};
use crate::spec::{EndRule, Spec};
use crate::warnings::Spellings;
use crate::wording::{SpecField, Wording};
use std::collections::BTreeMap;

/// A case that is kept as a whole.
struct KeptCase {
    key: CaseKey,
    /// The order of its first row, and the place of that row in the log.
    began: (Moment, u64),
    cohort: u32,
    case: Case,
}

/// Counts, the kept cases, when these began, and their cohorts.
type Finished = (Counts, Vec<Case>, Option<CaseOrder>, Cohorts);

/// The counts of all threads and passes.
#[derive(Default)]
pub(crate) struct MergedCounts {
    states: NameTable,
    actions: NameTable,
    cohorts: NameTable,
    folds: Vec<FoldCounts>,
    starts: BTreeMap<(u32, usize), i64>,
    cases: Vec<KeptCase>,
    pub decimals: u8,
    /// The largest reward, without sign; `u64::MAX` if one did not fit.
    pub largest: u64,
    /// The numbers of rows and cases; examples and warnings are added at the end.
    pub report: ReadReport,
    pub bad: Vec<BadLine>,
    pub lengths: BTreeMap<u32, u32>,
    /// The number of orders of each kind.
    pub orders: [u64; 3],
    /// The number of cases with rows of other cases between theirs.
    pub n_interleaved: u64,
    /// Names of cases.
    pub spellings: Spellings,
}

/// The reward of a case at its end, and which cases end.
struct JoinRule<'a> {
    mode: Mode,
    /// `true` if the last row of a case ends it, unless it says that it was cut.
    last_row_ends: bool,
    /// The values that are known, and their rewards in the decimals of the total.
    outcomes: Option<(&'a str, Vec<(String, i64)>)>,
    /// `true` if bad rows are skipped rather than only counted.
    skips: bool,
}

const SAME_ORDER: &str =
    "two rows of this case have the same order; expected each order once per case (remove duplicates";
const AFTER_END: &str = "the case continues after this row, which says that it ended or was cut";

const TWO_GROUPS: &str =
    "the case has two values in the column by which cases are held out; expected one for all its rows";

/// Fragments of a case overlap: the log must be read again, with every row as a fragment of its own.
struct Overlap;

impl MergedCounts {
    pub fn new(decimals: u8) -> Self {
        let folds = (0..FOLDS).map(|_| FoldCounts::default()).collect();
        Self { decimals, folds, ..Self::default() }
    }

    /// Adds what the threads of one pass have counted. False if fragments of a case overlap: these counts are then useless.
    ///
    /// # Errors
    /// If some orders are numbers and others are dates.
    pub fn take(&mut self, encoders: Vec<Encoder<'_>>, spec: &Spec, mode: Mode) -> Result<bool> {
        for encoder in &encoders {
            self.orders.iter_mut().zip(encoder.orders).for_each(|(sum, n)| *sum += n);
        }
        let [numbers, naive, zoned] = self.orders;
        if numbers > 0 && naive + zoned > 0 {
            let problem = "(the order) has both numbers and dates; expected one kind";
            return Err(Error::column("", spec.order.as_deref().unwrap_or_default(), problem));
        }
        let mut counters: Vec<Counter> = encoders.into_iter().map(|encoder| encoder.counter).collect();
        self.align(&mut counters);
        let outcomes = spec.final_rewards.as_ref().map(|outcome| {
            let rewards = outcome.rewards.iter().map(|(value, reward)| {
                let worth = reward.in_units(self.decimals).unwrap_or_else(|| {
                    self.largest = u64::MAX;
                    0
                });
                (value.clone(), worth)
            });
            (outcome.column.as_str(), rewards.collect())
        });
        let last_row_ends = spec.end == EndRule::LastRow;
        let rule = JoinRule { mode, last_row_ends, outcomes, skips: spec.skip_bad > 0.0 };
        Ok(self.add(counters, &rule).is_ok())
    }

    /// All counters, and the total, have rewards in the same decimals.
    fn add(&mut self, counters: Vec<Counter>, rule: &JoinRule<'_>) -> std::result::Result<(), Overlap> {
        let n_threads = counters.len();
        let mut fragments = Vec::new();
        for counter in counters {
            let states = self.states.ids(counter.states.iter());
            let actions = self.actions.ids(counter.actions.iter());
            let cohorts = self.cohorts.ids(counter.cohorts.iter());
            let state = |id: u32| if id == END { END } else { states[id as usize] };
            // The first thread's name ids are those of the total.
            let is_first = self.folds.iter().all(|counts| counts.len() == 0)
                && (0..states.len()).all(|id| states[id] == id as u32)
                && (0..actions.len()).all(|id| actions[id] == id as u32);
            if is_first {
                self.folds = on_threads(counter.folds, n_threads, FoldBuffer::into_counts);
            } else {
                let pairs = std::mem::take(&mut self.folds).into_iter().zip(counter.folds).collect();
                self.folds = on_threads(pairs, n_threads, |(mut counts, fold): (FoldCounts, FoldBuffer)| {
                    for entry in fold.into_counts().entries() {
                        let action = actions[entry.action as usize];
                        counts.add(state(entry.state), action, state(entry.next), entry.n, entry.sum);
                    }
                    counts
                });
            }
            fragments.reserve(counter.fragments.len());
            fragments.extend(counter.fragments.into_iter().map(|mut fragment| {
                if !fragment.is_bad {
                    fragment.first_state = state(fragment.first_state);
                    let last = &mut fragment.last;
                    (last.state, last.next) = (state(last.state), state(last.next));
                    last.action = actions[last.action as usize];
                    last.cohort = cohorts.get(last.cohort as usize).copied().unwrap_or(0);
                }
                fragment
            }));
            self.largest = self.largest.max(counter.largest);
            self.report.rows += counter.rows;
            self.report.bad_rows += counter.n_bad;
            self.bad.extend(counter.bad);
            self.report.breaks += counter.breaks;
            self.lengths.extend(counter.lengths);
            counter.respelled.iter().for_each(|name| self.spellings.add(name));
        }
        fragments.sort_unstable_by_key(|f: &Fragment| (f.case, f.first, f.block, f.line));
        self.spellings.add_plain(|name| {
            fragments.binary_search_by_key(&case_key(name), |fragment| fragment.case).is_ok()
        });
        for case in fragments.chunk_by(|a, b| a.case == b.case) {
            self.add_case(case, rule)?;
        }
        self.bad.sort_by_key(|bad| (bad.block, bad.line));
        self.bad.truncate(SHOWN_BAD);
        Ok(())
    }

    fn add_case(&mut self, case: &[Fragment], rule: &JoinRule<'_>) -> std::result::Result<(), Overlap> {
        if !self.is_sound(case, rule)? {
            self.report.dropped_cases += 1;
            return Ok(());
        }
        let Some(last) = case.last() else { return Ok(()) };
        self.n_interleaved += u64::from(case.windows(2).any(|pair| !pair[1].follows(&pair[0])));
        let (fold, first_state, began) = (usize::from(last.fold), case[0].first_state, case[0].first);
        let keep = rule.mode.keep >> fold & 1 == 1;
        let mut steps = Vec::new();
        let mut step = |folds: &mut Vec<FoldCounts>, row: &EncodedRow, next: u32, reward: i64| {
            folds[fold].add(row.state, row.action, next, 1, reward);
            if keep {
                let EncodedRow { state, action, propensity, .. } = *row;
                steps.push(CaseStep { state, action, reward, propensity });
            }
        };
        for pair in case.windows(2) {
            let (row, following) = (&pair[0].last, pair[1].first_state);
            let next = if rule.mode.has_next { row.next } else { following };
            self.report.breaks += u64::from(next != following);
            step(&mut self.folds, row, next, row.reward);
        }
        let row = &last.last;
        let is_ended = rule.ends(row);
        let end = if is_ended {
            let outcomes = rule.outcomes.as_ref().map(|(_, outcomes)| outcomes);
            let worth = outcomes.map_or(0, |outcomes| outcomes[usize::from(row.outcome) - 1].1);
            // `largest` detects what does not fit.
            let reward = row.reward.wrapping_add(worth);
            self.largest = self.largest.max(row.reward.unsigned_abs().saturating_add(worth.unsigned_abs()));
            step(&mut self.folds, row, END, reward);
            CaseEnd::Terminated
        } else if rule.mode.has_next {
            step(&mut self.folds, row, row.next, row.reward);
            CaseEnd::Truncated(row.next)
        } else {
            // It is unknown where the last action led: its row only says where the previous step led.
            CaseEnd::Truncated(row.state)
        };
        let is_empty = !is_ended && !rule.mode.has_next && case.len() == 1 && !last.is_long;
        if is_empty {
            self.report.empty_cases += 1;
            return Ok(());
        }
        *self.starts.entry((first_state, fold)).or_default() += 1;
        *(if is_ended { &mut self.report.ended } else { &mut self.report.cut }) += 1;
        if keep {
            let place = u64::from(case[0].block) << 32 | u64::from(case[0].line);
            let kept = Case { fold: fold as u8, steps, end };
            let cohort = case[0].last.cohort;
            self.cases.push(KeptCase { key: last.case, began: (began, place), cohort, case: kept });
        }
        Ok(())
    }

    /// Returns `true` if all rows of a case are consistent; reports those that are not.
    fn is_sound(&mut self, case: &[Fragment], rule: &JoinRule<'_>) -> std::result::Result<bool, Overlap> {
        let has_bad = case.iter().any(|fragment| fragment.is_bad);
        let ties = rule.mode.ties_by_file;
        let mut problems = Vec::new();
        for pair in case.windows(2).filter(|_| !has_bad) {
            let (before, after) = (&pair[0], &pair[1]);
            if !after.is_after(before, ties) {
                let problem = Wording::from(SAME_ORDER).offer(
                    ", or take them in file order with ",
                    SpecField::Ties,
                    "",
                );
                problems.push((after, RowProblem::whole(problem.and(")"))));
            } else if before.last.stop != Stop::None {
                problems.push((before, RowProblem::whole(AFTER_END)));
            } else if before.fold != after.fold {
                problems.push((after, RowProblem::whole(TWO_GROUPS)));
            }
        }
        if let (Some(last), Some((column, values)), false) = (case.last(), &rule.outcomes, has_bad)
            && rule.ends(&last.last)
            && last.last.outcome == 0
        {
            let known: Vec<&str> = values.iter().map(|(value, _)| value.as_str()).collect();
            let known = format!("column '{column}' of a last row is not one of: {}", known.join(", "));
            let problem = Wording::from(known).offer(" (see ", SpecField::FinalRewards, ")");
            problems.push((last, RowProblem::whole(problem)));
        }
        if !has_bad && problems.is_empty() {
            return Ok(true);
        }
        // Steps within long fragments are already counted; to leave them out, or to find the true order, all rows are needed.
        let is_long = case.iter().any(|fragment| fragment.is_long);
        let overlaps = case.windows(2).any(|pair| !pair[1].is_after(&pair[0], ties));
        if is_long && (rule.skips || overlaps && !has_bad) {
            return Err(Overlap);
        }
        self.report.bad_rows += problems.len() as u64;
        for (fragment, problem) in problems.into_iter().take(SHOWN_BAD) {
            self.bad.push(BadLine { block: fragment.block, line: fragment.line, problem: *problem });
        }
        Ok(false)
    }

    /// The counts and the kept cases in canonical form; `None` if a sum could be too large for 64 bits.
    ///
    /// # Errors
    /// As for a sheet; without subtractions there are none.
    pub fn finish(mut self) -> Result<Option<Finished>> {
        if u128::from(self.largest) * u128::from(self.report.rows) > i64::MAX as u128 {
            return Ok(None);
        }
        self.cases.sort_unstable_by_key(|kept| kept.key);
        let order = self.case_order();
        let (names, places) = self.cohorts.sorted();
        let of_cases = self.cases.iter().filter_map(|kept| places.get(kept.cohort as usize).copied());
        let cohorts = Cohorts { of_cases: of_cases.collect(), names };
        let n_lines = self.folds.iter().map(FoldCounts::len).sum::<usize>() + self.starts.len();
        let mut builder = CountsBuilder::new(self.states, self.actions, self.decimals, n_lines);
        for (fold, counts) in self.folds.into_iter().enumerate() {
            for &TransitionCount { state, action, next, n, sum } in counts.entries() {
                builder.push(CountLine { state, action, next, fold: fold as u8, n, sum: sum.into() });
            }
        }
        for (&(state, fold), &n) in &self.starts {
            builder.push(CountLine { state, action: END, next: END, fold: fold as u8, n, sum: 0 });
        }
        let (counts, states, actions) = builder.finish()?;
        let cases = self.cases.into_iter().map(|KeptCase { mut case, .. }| {
            for step in &mut case.steps {
                (step.state, step.action) = (states[step.state as usize], actions[step.action as usize]);
            }
            if let CaseEnd::Truncated(state) = &mut case.end {
                *state = states[*state as usize];
            }
            case
        });
        Ok(Some((counts, cases.collect(), order, cohorts)))
    }

    fn case_order(&self) -> Option<CaseOrder> {
        let [_, naive, zoned] = self.orders;
        let ranked = |began: &dyn Fn(&KeptCase) -> i128| {
            let each: Vec<i128> = self.cases.iter().map(began).collect();
            let mut moments = each.clone();
            moments.sort_unstable();
            moments.dedup();
            let rank = |moment| moments.partition_point(|&known| known < moment) as u32;
            CaseOrder { places: each.into_iter().map(rank).collect(), moments, is_dated: naive + zoned > 0 }
        };
        let by_moment = ranked(&|kept| kept.began.0);
        if by_moment.is_dated || 2 * by_moment.moments.len() > self.cases.len() {
            return Some(by_moment);
        }
        (self.n_interleaved == 0).then(|| ranked(&|kept| kept.began.1.into()))
    }
}

impl JoinRule<'_> {
    fn ends(&self, last: &EncodedRow) -> bool {
        match last.stop {
            Stop::Ended => true,
            Stop::Cut => false,
            Stop::None => self.last_row_ends,
        }
    }
}

impl MergedCounts {
    /// Gives all counters, and these counts, the same decimals: the largest of theirs.
    fn align(&mut self, counters: &mut [Counter]) {
        let decimals = counters.iter().map(|counter| counter.decimals).fold(self.decimals, u8::max);
        counters.iter_mut().for_each(|counter| counter.rescale(decimals));
        let factor = power(decimals - self.decimals);
        self.folds.iter_mut().for_each(|counts| counts.scale(factor));
        for step in self.cases.iter_mut().flat_map(|kept| &mut kept.case.steps) {
            step.reward = step.reward.wrapping_mul(factor);
        }
        self.largest = self.largest.saturating_mul(factor.unsigned_abs());
        self.decimals = decimals;
    }
}

/// Applies a function to many items with several threads; results are in the order of the items.
fn on_threads<T: Send, R: Send>(items: Vec<T>, n_threads: usize, act: impl Fn(T) -> R + Sync) -> Vec<R> {
    let n = items.len().div_ceil(n_threads.max(1));
    let mut items = items.into_iter();
    let act = &act;
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        loop {
            let part: Vec<T> = items.by_ref().take(n).collect();
            if part.is_empty() {
                break;
            }
            threads.push(scope.spawn(move || part.into_iter().map(act).collect::<Vec<R>>()));
        }
        let results = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|problem| std::panic::resume_unwind(problem)));
        results.collect()
    })
}
