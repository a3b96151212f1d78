//! Forgetting: old observations fade, or they leave a window.

pub(crate) mod fading;
pub(crate) mod window;

/// A way to forget old observations, for environments that change.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub enum Forgetting {
    /// All observations count equally.
    #[default]
    Never,
    /// Each visit of a pair multiplies the weight of its earlier ones by this number, above 0 and at most 1.
    PerVisit(f64),
    /// An observation counts half as much after this many steps of the agent; above 0.
    HalfLife(f64),
    /// Only this many of the latest observations count, over all pairs; 1 or more.
    Window(u32),
}

impl Forgetting {
    /// Returns whether observations fade.
    pub(crate) fn fades(self) -> bool {
        matches!(self, Self::PerVisit(_) | Self::HalfLife(_))
    }
}
