//! Values of known MDPs, each with an interval that is proven to contain it.

mod discounted;
mod undiscounted;
