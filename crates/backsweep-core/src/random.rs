//! The named, portable random generator: xoshiro256++ (Blackman & Vigna 2019), seeded through
//! SplitMix64.
//!
//! Implemented here because its state is part of a saved agent and its numbers are part of every
//! result: they must not change with the version of a dependency. The tests compare it with the
//! crate `rand_xoshiro`.

/// A stream of random numbers that is the same on every machine.
///
/// ```
/// use backsweep_core::Random;
/// let mut random = Random::from_seed(1);
/// let mut same = Random::from_state(random.state()).unwrap();
/// assert_eq!(random.next_u64(), same.next_u64());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// Never all zero, the one fixed point of the generator.
    state: [u64; 4],
}

fn split_mix(x: &mut u64) -> u64 {
    *x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *x;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

impl Random {
    /// The stream of a seed.
    pub fn from_seed(seed: u64) -> Self {
        let mut x = seed;
        Self { state: [(); 4].map(|()| split_mix(&mut x)) }
    }

    /// The stream of a seed and a path, such as (seed, setting, run): streams of different paths
    /// are independent, and none depends on the thread that draws from it.
    pub fn stream(seed: u64, path: &[u64]) -> Self {
        let mut x = seed;
        for &step in path {
            x = split_mix(&mut x) ^ step;
        }
        Self::from_seed(split_mix(&mut x))
    }

    /// The stream that continues from this [`state`](Self::state); `None` if all four words are
    /// zero, which no stream ever reaches.
    pub fn from_state(state: [u64; 4]) -> Option<Self> {
        (state != [0; 4]).then_some(Self { state })
    }

    /// The complete state of the stream.
    pub fn state(&self) -> [u64; 4] {
        self.state
    }

    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A number in `[0, 1)`, a multiple of 2⁻⁵³.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number below `n`, each equally likely (Lemire's method with rejection, so without bias). 0
    /// if `n` is 0.
    #[inline]
    pub fn below(&mut self, n: u32) -> u32 {
        let mut product = (self.next_u64() >> 32) * u64::from(n);
        if (product as u32) < n {
            let threshold = n.wrapping_neg() % n;
            while (product as u32) < threshold {
                product = (self.next_u64() >> 32) * u64::from(n);
            }
        }
        (product >> 32) as u32
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }
}
