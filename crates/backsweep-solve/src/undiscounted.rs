//! Values without discount: reachability and total reward.
