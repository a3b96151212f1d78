//! Numbers as files write them: decimal or as a fraction, read as the nearest double.

use num_bigint::{BigInt, BigUint, Sign};

/// A decimal number such as `0.5` or `1e-3`, or a fraction of whole numbers such as `-1/3`. Neither NaN nor infinite.
pub fn parse(text: &str) -> Option<f64> {
    let value = match text.split_once('/') {
        None => text.parse().ok()?,
        Some((above, below)) => {
            let above: BigInt = above.trim().parse().ok()?;
            let below: BigUint = below.trim().parse().ok()?;
            ratio(above.sign() == Sign::Minus, above.magnitude(), &below)?
        }
    };
    value.is_finite().then_some(value)
}

/// A rational number of UMB: a signed numerator, then an unsigned denominator of the same length, both little-endian.
pub fn from_bytes(bytes: &[u8]) -> Option<f64> {
    let (above, below) = bytes.split_at(bytes.len() / 2);
    let above = BigInt::from_signed_bytes_le(above);
    ratio(above.sign() == Sign::Minus, above.magnitude(), &BigUint::from_bytes_le(below))
}

/// The double nearest to a fraction; `None` if there is none because the denominator is 0 or the value is too large.
fn ratio(negative: bool, above: &BigUint, below: &BigUint) -> Option<f64> {
    if below.bits() == 0 {
        return None;
    }
    // A quotient of 64 or 65 bits whose last bit also stands for all that follow: converting it rounds once.
    let shift = 65 + below.bits() as i64 - above.bits() as i64;
    let (above, below) = if shift >= 0 {
        (above << shift as u64, below.clone())
    } else {
        (above.clone(), below << (-shift) as u64)
    };
    let quotient = &above / &below;
    let exact = &quotient * &below == above;
    let digits = u128::try_from(&quotient).ok()? | u128::from(!exact);
    // Two factors, because a single power of 2 may be out of range even if the value is not.
    let half = (-shift / 2) as i32;
    let value = digits as f64 * 2f64.powi(half) * 2f64.powi((-shift) as i32 - half);
    let value = if negative { -value } else { value };
    value.is_finite().then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_are_the_nearest_double() {
        for (text, value) in [
            ("1/3", 1.0 / 3.0),
            ("-2/7", -2.0 / 7.0),
            ("0/5", 0.0),
            ("123456789012345678901234567890/1000000000000000000000000000000", 0.123_456_789_012_345_68),
            ("9007199254740993/9007199254740992", 1.0000000000000002 - f64::EPSILON),
            ("0.25", 0.25),
            ("1e-3", 1e-3),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
        for text in ["1/0", "x", "nan", "inf", "1/3/4", "", "1e400"] {
            assert_eq!(parse(text), None, "{text}");
        }
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&(-5i64).to_le_bytes());
        bytes[8..].copy_from_slice(&(u64::MAX).to_le_bytes());
        assert_eq!(from_bytes(&bytes), Some(-5.0 / u64::MAX as f64));
    }
}
