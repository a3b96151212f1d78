//! Ways to explore, and to follow an environment that changes.
//!
//! An exploring agent has one model and two sets of values. [`Agent::act`](crate::Agent::act) uses the *acting* values,
//! which are optimistic where little was seen; `best_action` and `value` use the *recommending* ones, which are exactly what
//! the model says. Judged by the acting values, an agent seems to know less than it does.
//!
//! A bonus that depends only on the pair's own statistics acts like an extra reward on each of its observations, so an
//! observation still costs one value correction. One idea per file:
//!
//! | file | what |
//! |---|---|
//! | `count_bonus.rs`, `variance_bonus.rs`, `bayes_bonus.rs`, `achievable_bonus.rs` | the formulas |
//! | `statistics.rs` | their input: statistics of pairs that the model does not keep |
//! | `posterior.rs`, `draws.rs` | worlds drawn from the posterior; exponential, gamma and normal draws |
//! | `forget/fading.rs`, `forget/window.rs` | forgetting: observations that fade, and observations that leave a window |
//! | `ages.rs` | how long ago each pair was tried, and when its bonus is next due |
//! | `pending.rs` | which pairs the recommending planner has yet to absorb |
//! | `acting.rs`, `snapshot.rs` | all of it around one model; storing and restoring |
//! | `interval.rs` | an interval for the true values |

mod achievable_bonus;
pub(crate) mod acting;
mod ages;
mod bayes_bonus;
mod count_bonus;
mod draws;
mod interval;
mod pending;
mod posterior;
mod snapshot;
mod statistics;
mod variance_bonus;

pub use crate::forget::Forgetting;
pub use crate::policy::EpsilonGreedy;
pub use backsweep_core::Optimism;
pub use interval::ConfidenceBonuses;

use crate::planner::{MAX_REWARD, Model};
use crate::{Error, PlannerKind, Result, Settings};

/// A way to explore. Constants are in units of the range of rewards, so that a bonus of 1 is worth the difference
/// between the best and the worst step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Explore {
    /// The best action or, with this probability, a random one.
    EpsilonGreedy {
        /// From 0 to 1.
        epsilon: f64,
    },
    /// A pair has the optimistic value until it was seen often enough. With a model that is
    /// [frozen](Model::with_freeze_at) there, this is R-max.
    Optimism(Optimism),
    /// β / √n, with n the visits of the pair: MBIE-EB (Strehl & Littman 2008).
    CountBonus {
        /// β, 0 or more.
        beta: f64,
    },
    /// c √(Var / n) + d / n, with Var the variance of reward and discounted next value: the empirical Bernstein bound
    /// (Maurer & Pontil 2009).
    VarianceBonus {
        /// c, 0 or more: a number of standard errors.
        c: f64,
        /// d, 0 or more.
        d: f64,
    },
    /// β / (1 + n): the Bayesian exploration bonus (Kolter & Ng 2009).
    BayesBonus {
        /// β, 0 or more.
        beta: f64,
    },
    /// β L √((t + v / 2) / n) + d σ / n: more where the outcomes of a pair are uncertain, but only as far as they change what
    /// is achievable by the recommended values. `achievable_bonus.rs` has the formula. The start follows the highest recommended
    /// value unless it is stated, and a pair whose history two equal outcomes contradict, in a world that is otherwise certain,
    /// starts again from those two. The best choice if nothing is known about a world.
    AchievableBonus {
        /// β, 0 or more.
        beta: f64,
        /// d, 0 or more.
        d: f64,
    },
    /// Acts by the best policy of a world drawn from the posterior (PSRL: Strens 2000; Osband, Russo & Van Roy 2013).
    PosteriorSampling {
        /// The number of worlds that are kept, 1 or more. With one, a new world is drawn at each change; with more, the next one
        /// takes over at once, and the previous one is redrawn as soon as that has been paid for.
        worlds: u32,
        /// The weight of the prior, in observations, 0 or more: in every world each pair has also been seen to stay in its
        /// state with the highest reward, and the weight of that is drawn too. With 0, a single observation leaves no
        /// doubt.
        prior: f64,
    },
}

impl Explore {
    /// The name in files and messages.
    pub fn name(&self) -> &'static str {
        self.parts().0
    }

    /// The names of all ways to explore.
    pub const NAMES: [&str; 7] = [
        "epsilon_greedy",
        "optimism",
        "count_bonus",
        "variance_bonus",
        "bayes_bonus",
        "achievable_bonus",
        "posterior_sampling",
    ];

    /// The way to explore with this name; `constant` gives each of its constants by field name. `None` if there is no
    /// such way. The numbers are checked when an agent is built.
    ///
    /// # Errors
    /// Those of `constant`.
    pub fn named<E>(
        name: &str,
        mut constant: impl FnMut(&'static str) -> std::result::Result<f64, E>,
    ) -> std::result::Result<Option<Self>, E> {
        Ok(Some(match name {
            "epsilon_greedy" => Self::EpsilonGreedy { epsilon: constant("epsilon")? },
            "optimism" => Self::Optimism(Optimism {
                value: constant("value")?,
                min_visits: constant("min_visits")? as u32,
            }),
            "count_bonus" => Self::CountBonus { beta: constant("beta")? },
            "variance_bonus" => Self::VarianceBonus { c: constant("c")?, d: constant("d")? },
            "bayes_bonus" => Self::BayesBonus { beta: constant("beta")? },
            "achievable_bonus" => Self::AchievableBonus { beta: constant("beta")?, d: constant("d")? },
            "posterior_sampling" => {
                Self::PosteriorSampling { worlds: constant("worlds")? as u32, prior: constant("prior")? }
            }
            _ => return Ok(None),
        }))
    }

    /// The constants by field name, from which [`named`](Self::named) rebuilds the same way to explore.
    pub fn constants(&self) -> Vec<(&'static str, f64)> {
        self.parts().1
    }

    fn parts(&self) -> (&'static str, Vec<(&'static str, f64)>) {
        match *self {
            Self::EpsilonGreedy { epsilon } => ("epsilon_greedy", vec![("epsilon", epsilon)]),
            Self::Optimism(Optimism { value, min_visits }) => {
                ("optimism", vec![("value", value), ("min_visits", f64::from(min_visits))])
            }
            Self::CountBonus { beta } => ("count_bonus", vec![("beta", beta)]),
            Self::BayesBonus { beta } => ("bayes_bonus", vec![("beta", beta)]),
            Self::VarianceBonus { c, d } => ("variance_bonus", vec![("c", c), ("d", d)]),
            Self::AchievableBonus { beta, d } => ("achievable_bonus", vec![("beta", beta), ("d", d)]),
            Self::PosteriorSampling { worlds, prior } => {
                ("posterior_sampling", vec![("worlds", f64::from(worlds)), ("prior", prior)])
            }
        }
    }
}

/// The settings of an exploring agent.
///
/// ```
/// use backsweep::{Agent, Settings};
/// use backsweep::explore::{Exploration, Explore};
/// let explore = Explore::CountBonus { beta: 0.1 };
/// let exploration = Exploration { explore, reward_range: Some((0.0, 1.0)), ..Exploration::default() };
/// let mut agent = Agent::new(Settings::default())?.with_exploration(exploration)?;
/// let state = agent.add_state(2)?;
/// assert!((agent.acting_values().value(state) - 110.0).abs() < 1e-9); // (1 + 0.1) / (1 − 0.99): worth a try
/// assert_eq!(agent.value(state), 0.0); // nothing is known about it yet
/// # Ok::<(), backsweep::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exploration {
    /// The way to explore.
    pub explore: Explore,
    /// The lowest and the highest reward of a step. Bonuses and the posterior need it: with a range estimated from
    /// observations, an agent that has seen no reward would explore nothing.
    pub reward_range: Option<(f64, f64)>,
    /// The acting value of an untried pair. `None` stands for the largest possible: the highest reward
    /// and the first bonus forever, (highest + bonus) / (1 − γ); for [`Explore::Optimism`] it is that value and for
    /// [`Explore::EpsilonGreedy`] without an age bonus 0. Where returns are known to be smaller, a smaller start explores less widely.
    pub start: Option<f64>,
    /// κ: adds κ √age to the bonus, with age the steps since the pair was last tried (Sutton 1990), in units of the range of
    /// rewards; 0 or more. It is updated when the age has grown by a quarter.
    pub age_bonus: f64,
    /// The way in which old observations lose their weight.
    pub forgetting: Forgetting,
    /// Seeds the generator of the posterior.
    pub seed: u64,
}

impl Default for Exploration {
    /// The best action always, and nothing else.
    fn default() -> Self {
        Self {
            explore: Explore::EpsilonGreedy { epsilon: 0.0 },
            reward_range: None,
            start: None,
            age_bonus: 0.0,
            forgetting: Forgetting::Never,
            seed: 0,
        }
    }
}

/// Numbers that follow from the settings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants {
    /// The lowest reward.
    lowest: f64,
    /// The range of rewards; 0 if it was not stated.
    range: f64,
    /// True if `start` was stated.
    is_start_stated: bool,
    /// The acting value of an untried pair.
    start: f64,
    /// Its recommending value.
    floor: f64,
}

impl Constants {
    fn highest(&self) -> f64 {
        self.lowest + self.range
    }
}

fn not_below_zero(name: &'static str, found: f64) -> Result<()> {
    Error::ensure((0.0..=1e100).contains(&found), name, found, "a finite number, 0 or more")
}

/// The lowest and the highest value with rewards in a range and a discount below 1. Any step may end the episode, and what
/// follows is worth 0.
fn value_range((lowest, highest): (f64, f64), discount: f64) -> (f64, f64) {
    (lowest.min(0.0) / (1.0 - discount), highest.max(0.0) / (1.0 - discount))
}

fn missing_range(needed_by: &'static str) -> Error {
    let expected = "the lowest and the highest reward of a step, such as (0, 1)";
    Error::Missing { name: "reward_range", needed_by, expected }
}

impl Exploration {
    /// Returns whether the acting values have bonuses.
    pub(crate) fn has_bonus(&self) -> bool {
        let plain = matches!(
            self.explore,
            Explore::EpsilonGreedy { .. } | Explore::Optimism(_) | Explore::PosteriorSampling { .. }
        );
        !plain || self.age_bonus > 0.0
    }

    /// Returns whether one planner serves both to act and to recommend.
    pub(crate) fn has_one_planner(&self) -> bool {
        matches!(self.explore, Explore::EpsilonGreedy { .. }) && !self.has_bonus()
    }

    /// Returns whether bonuses depend on the recommended values, so that these have to be kept up to date.
    pub(crate) fn uses_recommended_values(&self) -> bool {
        matches!(self.explore, Explore::AchievableBonus { .. })
    }

    /// The bonus of a pair after its first visit, in units of the range of rewards.
    fn first_bonus(&self) -> f64 {
        match self.explore {
            Explore::CountBonus { beta } | Explore::BayesBonus { beta } => beta,
            Explore::VarianceBonus { d, .. } => d,
            _ => 0.0,
        }
    }

    /// Checks all settings, once.
    pub(crate) fn check(
        &self,
        model: &Model,
        planner: PlannerKind,
        settings: &Settings,
    ) -> Result<Constants> {
        let name = self.explore.name();
        match self.explore {
            Explore::EpsilonGreedy { epsilon } => drop(EpsilonGreedy::new(epsilon)?),
            Explore::Optimism(optimism) => drop(Settings { optimism, ..*settings }.check()?),
            Explore::CountBonus { beta } | Explore::BayesBonus { beta } => not_below_zero("beta", beta)?,
            Explore::AchievableBonus { beta, d } => {
                not_below_zero("beta", beta)?;
                not_below_zero("d", d)?;
            }
            Explore::VarianceBonus { c, d } => {
                not_below_zero("c", c)?;
                not_below_zero("d", d)?;
            }
            Explore::PosteriorSampling { worlds, prior } => {
                let n_worlds = f64::from(worlds);
                Error::ensure((1..=1024).contains(&worlds), "worlds", n_worlds, "from 1 to 1024")?;
                Error::ensure((0.0..=1e9).contains(&prior), "prior", prior, "a number from 0 to 1e9")?;
            }
        }
        not_below_zero("age_bonus", self.age_bonus)?;
        let (name_of_amount, amount, is_right, expected) = match self.forgetting {
            Forgetting::Never => ("", 0.0, true, ""),
            Forgetting::PerVisit(rate) => {
                ("per_visit", rate, rate > 1e-9 && rate <= 1.0, "a number above 1e-9 and at most 1")
            }
            Forgetting::HalfLife(steps) => {
                ("half_life", steps, (0.1..=1e15).contains(&steps), "a number of steps from 0.1 to 1e15")
            }
            Forgetting::Window(length) => {
                ("window", f64::from(length), length >= 1, "a number of observations, 1 or more")
            }
        };
        Error::ensure(is_right, name_of_amount, amount, expected)?;
        if settings.optimism != Optimism::default() {
            let remedy = "omit the optimism, or explore by Optimism";
            return Err(Error::Conflict { first: "the optimism of the settings", second: name, remedy });
        }
        if self.forgetting.fades() && model.freeze_at().is_some() {
            let (first, second) = ("pairs that are frozen after some visits", "observations that fade");
            return Err(Error::Conflict { first, second, remedy: "drop one of the two" });
        }
        if let (Explore::Optimism(Optimism { min_visits: 2.., .. }), true) =
            (self.explore, self.forgetting.fades())
        {
            let (first, second) = ("min_visits above 1", "observations that fade");
            let remedy = "use min_visits 1, a bonus, or forgetting by a window";
            return Err(Error::Conflict { first, second, remedy });
        }
        if self.has_bonus() && planner.build(*settings)?.bonuses().is_none() {
            let expected = "one that does, such as reversed_full_backups or small_backups";
            let lacks = "keeps no bonuses";
            return Err(Error::Planner { name: planner.name(), lacks, expected });
        }
        let needs_range = self.has_bonus() || matches!(self.explore, Explore::PosteriorSampling { .. });
        if needs_range && self.reward_range.is_none() {
            return Err(missing_range(name));
        }
        let (lowest, highest) = self.reward_range.unwrap_or((0.0, 0.0));
        let is_range = lowest.abs() <= MAX_REWARD && highest.abs() <= MAX_REWARD && lowest <= highest;
        if !is_range || (needs_range && lowest == highest) {
            let expected = "two finite numbers from -1e150 to 1e150, the lower one first";
            return Err(Error::Range { name: "reward_range", low: lowest, high: highest, expected });
        }
        let (range, discount) = (highest - lowest, settings.discount);
        let paid = (lowest, highest + range * self.first_bonus());
        let (floor, most) = if discount < 1.0 { value_range(paid, discount) } else { (0.0, 0.0) };
        let start = match (self.start, self.explore) {
            (Some(start), _) => start,
            (None, Explore::EpsilonGreedy { .. }) if self.age_bonus == 0.0 => 0.0,
            (None, Explore::Optimism(optimism)) => optimism.value,
            (None, _) if discount == 1.0 => {
                let expected = "with discount 1, an upper bound on the value of an untried action";
                return Err(Error::Missing { name: "start", needed_by: name, expected });
            }
            (None, _) => most,
        };
        let is_start = start.abs() <= MAX_REWARD;
        Error::ensure(is_start, "start", start, "a finite number from -1e150 to 1e150")?;
        Error::ensure(floor.abs() <= MAX_REWARD, "reward_range / (1 - discount)", floor, "at most 1e150")?;
        Ok(Constants { lowest, range, is_start_stated: self.start.is_some(), start, floor })
    }
}
