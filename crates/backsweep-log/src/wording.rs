//! Texts that mention settings of [`Spec`](crate::Spec), which every front end names in its own way: the command says
//! `--skip-bad`, Python `skip_bad=`, Rust `Spec::skip_bad`.

use crate::error::printable;
use std::borrow::Cow;
use std::fmt;

/// A setting that an error mentions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecField {
    /// [`Spec::state`](crate::Spec::state).
    State,
    /// [`Spec::action`](crate::Spec::action).
    Action,
    /// [`Spec::case`](crate::Spec::case).
    Case,
    /// [`Spec::reward`](crate::Spec::reward).
    Reward,
    /// [`Spec::end`](crate::Spec::end): a column that says which row ended its case.
    EndColumn,
    /// [`Spec::end`](crate::Spec::end): the value of a column that says so.
    EndValue,
    /// [`Spec::end`](crate::Spec::end): no case ended.
    Cut,
    /// [`Spec::final_rewards`](crate::Spec::final_rewards).
    FinalRewards,
    /// [`Spec::missing`](crate::Spec::missing).
    Missing,
    /// [`Spec::skip_bad`](crate::Spec::skip_bad).
    SkipBad,
    /// [`Spec::skip_bad`](crate::Spec::skip_bad), at least this many percent.
    SkipPercent(u64),
    /// [`Spec::unterminated`](crate::Spec::unterminated).
    Unterminated,
    /// [`Spec::reward_unit`](crate::Spec::reward_unit).
    RewardUnit,
    /// [`Spec::round_rewards`](crate::Spec::round_rewards).
    RoundRewards,
    /// Both, so that rewards are rounded to hundredths.
    RoundToCents,
    /// [`Spec::order`](crate::Spec::order).
    Order,
    /// [`Spec::file_order`](crate::Spec::file_order).
    FileOrder,
    /// [`Spec::ties_by_file`](crate::Spec::ties_by_file).
    Ties,
    /// [`Spec::conditions`](crate::Spec::conditions).
    Conditions,
    /// [`Spec::strict`](crate::Spec::strict).
    Strict,
    /// The settings of an earlier log: [`Spec::reuse`](crate::Spec::reuse).
    Reuse,
}

/// The name of a setting in a front end; `None` if it has no such setting, and a message must not offer it.
pub type SpecNames = fn(SpecField) -> Option<String>;

impl SpecField {
    /// The field of [`Spec`](crate::Spec); `reuse` for [`Spec::reuse`](crate::Spec::reuse).
    pub fn name(self) -> &'static str {
        match self {
            Self::State => "state",
            Self::Action => "action",
            Self::Case => "case",
            Self::Reward => "reward",
            Self::EndColumn | Self::EndValue | Self::Cut => "end",
            Self::FinalRewards => "final_rewards",
            Self::Missing => "missing",
            Self::SkipBad | Self::SkipPercent(_) => "skip_bad",
            Self::Unterminated => "unterminated",
            Self::RewardUnit => "reward_unit",
            Self::RoundRewards | Self::RoundToCents => "round_rewards",
            Self::Order => "order",
            Self::FileOrder => "file_order",
            Self::Ties => "ties_by_file",
            Self::Conditions => "conditions",
            Self::Strict => "strict",
            Self::Reuse => "reuse",
        }
    }
}

/// The fields of [`Spec`](crate::Spec).
pub(crate) fn fields(setting: SpecField) -> Option<String> {
    Some(match setting {
        SpecField::EndColumn => "`end: EndRule::Column`".to_owned(),
        SpecField::EndValue => "`end: EndRule::Column` with a value".to_owned(),
        SpecField::Cut => "`end: EndRule::Cut`".to_owned(),
        SpecField::SkipPercent(percent) => format!("`skip_bad: {}`", percent as f64 / 100.0),
        SpecField::RoundToCents => "`reward_unit` 0.01 with `round_rewards`".to_owned(),
        _ => format!("`{}`", setting.name()),
    })
}

/// A text that mentions settings, to be named by whoever shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording(Vec<WordingPart>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum WordingPart {
    Text(Cow<'static, str>),
    Name(SpecField),
    /// An offer of what a setting could do, between two texts; left out for front ends without the setting.
    Offer(&'static str, SpecField, &'static str),
}

impl<T: Into<Cow<'static, str>>> From<T> for Wording {
    fn from(text: T) -> Self {
        Self(vec![WordingPart::Text(text.into())])
    }
}

impl From<SpecField> for Wording {
    fn from(setting: SpecField) -> Self {
        Self(vec![WordingPart::Name(setting)])
    }
}

impl Wording {
    pub(crate) fn and(mut self, more: impl Into<Self>) -> Self {
        self.0.append(&mut more.into().0);
        self
    }

    pub(crate) fn offer(mut self, before: &'static str, setting: SpecField, after: &'static str) -> Self {
        self.0.push(WordingPart::Offer(before, setting, after));
        self
    }

    /// The settings that are mentioned.
    pub fn settings(&self) -> impl Iterator<Item = SpecField> {
        self.0.iter().filter_map(|part| match part {
            WordingPart::Text(_) => None,
            WordingPart::Name(setting) | WordingPart::Offer(_, setting, _) => Some(*setting),
        })
    }

    /// The text, with settings as a front end calls them.
    pub fn message(&self, names: SpecNames) -> String {
        let part = |part: &WordingPart| match part {
            WordingPart::Text(text) => Some(text.clone().into_owned()),
            WordingPart::Name(setting) => names(*setting).or_else(|| fields(*setting)),
            WordingPart::Offer(before, setting, after) => {
                names(*setting).map(|name| format!("{before}{name}{after}"))
            }
        };
        printable(self.0.iter().filter_map(part).collect())
    }
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message(fields))
    }
}
