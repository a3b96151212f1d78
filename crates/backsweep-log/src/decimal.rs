//! Decimal numbers, read exactly: 0.1 is a tenth, not the nearest binary fraction.

/// The most decimals: 10¹⁸ is the largest power of ten that an `i64` holds.
pub const MAX_DECIMALS: u8 = 18;

/// A decimal number, `mantissa` · 10^-`decimals`, with as few decimals as possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    /// The digits, with the sign.
    pub mantissa: i64,
    /// The number of digits after the point.
    pub decimals: u8,
}

/// Why a text is not a decimal number that can be represented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotDecimal {
    /// It is not a number.
    Number,
    /// It has more than 18 digits.
    Digits,
}

/// The powers of ten that an `i64` holds.
const POWERS: [i64; MAX_DECIMALS as usize + 1] = {
    let mut powers = [1; MAX_DECIMALS as usize + 1];
    let mut n = 1;
    while n < powers.len() {
        powers[n] = 10 * powers[n - 1];
        n += 1;
    }
    powers
};

/// 10^n, for n up to [`MAX_DECIMALS`].
#[inline]
pub fn power(n: u8) -> i64 {
    POWERS[usize::from(n)]
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { mantissa: 0, decimals: 0 };

    /// Reads a number such as `-12`, `0.50`, `1e-3`. Spaces around it are skipped.
    ///
    /// # Errors
    /// If the text is not a number, or has more than 18 significant digits. `nan` and `inf` are not numbers.
    #[inline]
    pub fn parse(text: &[u8]) -> Result<Self, NotDecimal> {
        Self::parse_plain(text).map_or_else(|| Self::parse_any(text), Ok)
    }

    /// Reads digits with at most a sign and a point, few enough that nothing can overflow. Covers nearly all numbers in
    /// nearly all logs.
    #[inline]
    fn parse_plain(text: &[u8]) -> Option<Self> {
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        if digits.len() > usize::from(MAX_DECIMALS) {
            return None;
        }
        let (mut mantissa, mut point) = (0_i64, None);
        for (i, &byte) in digits.iter().enumerate() {
            let digit = byte.wrapping_sub(b'0');
            if digit < 10 {
                mantissa = 10 * mantissa + i64::from(digit);
            } else if byte == b'.' && point.is_none() {
                point = Some(i);
            } else {
                return None;
            }
        }
        if digits.len() == usize::from(point.is_some()) {
            return None;
        }
        let mantissa = if negative { -mantissa } else { mantissa };
        match point {
            None => Some(Self { mantissa, decimals: 0 }),
            Some(point) => Self::scaled(mantissa, (digits.len() - 1 - point) as i32),
        }
    }

    fn parse_any(text: &[u8]) -> Result<Self, NotDecimal> {
        let text = text.trim_ascii();
        let (negative, digits) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        let (mut mantissa, mut decimals, mut n_digits) = (0_i64, 0_i32, 0);
        let (mut point, mut exponent) = (false, 0_i32);
        // Zeros after the point are held back until a digit follows: most are trailing zeros.
        let mut zeros = 0;
        for (i, &byte) in digits.iter().enumerate() {
            match byte {
                b'0' if point => (zeros, n_digits) = (zeros + 1, n_digits + 1),
                b'0'..=b'9' => {
                    for _ in 0..zeros {
                        mantissa = mantissa.checked_mul(10).ok_or(NotDecimal::Digits)?;
                    }
                    let digit = i64::from(byte - b'0');
                    mantissa = mantissa
                        .checked_mul(10)
                        .and_then(|m| m.checked_add(digit))
                        .ok_or(NotDecimal::Digits)?;
                    decimals += if point { zeros + 1 } else { 0 };
                    (zeros, n_digits) = (0, n_digits + 1);
                }
                b'.' if !point => point = true,
                b'e' | b'E' if n_digits > 0 => {
                    exponent = parse_exponent(&digits[i + 1..]).ok_or(NotDecimal::Number)?;
                    break;
                }
                _ => return Err(NotDecimal::Number),
            }
        }
        if n_digits == 0 {
            return Err(NotDecimal::Number);
        }
        let mantissa = if negative { -mantissa } else { mantissa };
        Self::scaled(mantissa, decimals - exponent).ok_or(NotDecimal::Digits)
    }

    /// `mantissa` · 10^-`decimals`, for up to [`MAX_DECIMALS`], in its shortest form.
    pub(crate) fn of(mantissa: i64, decimals: u8) -> Self {
        Self::scaled(mantissa, i32::from(decimals)).unwrap_or(Self { mantissa, decimals })
    }

    /// `mantissa` · 10^-`decimals` in its shortest form, if it can be represented.
    fn scaled(mut mantissa: i64, mut decimals: i32) -> Option<Self> {
        if mantissa == 0 {
            return Some(Self::ZERO);
        }
        while decimals > 0 && mantissa % 10 == 0 {
            (mantissa, decimals) = (mantissa / 10, decimals - 1);
        }
        while decimals < 0 {
            (mantissa, decimals) = (mantissa.checked_mul(10)?, decimals + 1);
        }
        let decimals = u8::try_from(decimals).ok().filter(|&n| n <= MAX_DECIMALS)?;
        Some(Self { mantissa, decimals })
    }

    /// The decimal number with the fewest digits that rounds to `x`, as programs print it; `None` if it cannot be represented.
    pub fn shortest(x: f64) -> Option<Self> {
        // A decimal of at most 15 digits that rounds to x is the shortest one. Dividing two whole numbers below 2⁵³ rounds once, so the
        // comparison is exact.
        let mut scale = 1.0;
        for decimals in 0..=4 {
            let mantissa = (x * scale).round();
            if mantissa.abs() < 1e15 && mantissa / scale == x {
                return Self::scaled(mantissa as i64, decimals);
            }
            scale *= 10.0;
        }
        if x.is_finite() { Self::parse(format!("{x:e}").as_bytes()).ok() } else { None }
    }

    /// `x` in units of 10^-`decimals`, if it is the nearest `f64` to a whole number of them, of at most 15 digits. That is then the decimal
    /// number that [`shortest`](Self::shortest) finds, at the cost of one division.
    #[inline]
    pub fn units_of(x: f64, decimals: u8) -> Option<i64> {
        if decimals > 15 {
            return None;
        }
        let scale = power(decimals) as f64;
        let units = (x * scale + 0.5_f64.copysign(x)) as i64;
        (units.unsigned_abs() < 1_000_000_000_000_000 && units as f64 / scale == x).then_some(units)
    }

    /// The number in units of 10^-`decimals`, if it is a whole number of them that can be represented.
    #[inline]
    pub fn in_units(self, decimals: u8) -> Option<i64> {
        let steps = decimals.checked_sub(self.decimals)?;
        if steps == 0 {
            Some(self.mantissa)
        } else {
            self.mantissa.checked_mul(power(steps.min(MAX_DECIMALS)))
        }
    }

    /// Returns `true` if the number is a whole multiple of another one above 0.
    pub fn is_multiple_of(self, unit: Self) -> bool {
        let decimals = self.decimals.max(unit.decimals);
        let in_units =
            |number: Self| i128::from(number.mantissa) * 10_i128.pow(u32::from(decimals - number.decimals));
        in_units(self) % in_units(unit) == 0
    }

    /// The multiple of this number nearest to `x`, if it can be represented; halves are rounded away from 0.
    pub fn nearest_multiple(self, x: f64) -> Option<Self> {
        let n = (x / self.to_f64()).round();
        let n = (n.abs() < (1_i64 << 53) as f64).then_some(n as i64)?;
        Self::scaled(self.mantissa.checked_mul(n)?, i32::from(self.decimals))
    }

    /// The nearest `f64`.
    pub fn to_f64(self) -> f64 {
        // One division of exact operands, as in nearly every log; otherwise the standard library rounds the text.
        if self.mantissa.unsigned_abs() < 1 << 53 {
            return self.mantissa as f64 / power(self.decimals) as f64;
        }
        format!("{}e-{}", self.mantissa, self.decimals).parse().unwrap_or(f64::NAN)
    }
}

impl std::fmt::Display for Decimal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let (digits, decimals) = (self.mantissa.unsigned_abs(), self.decimals);
        let scale = power(decimals).unsigned_abs();
        if decimals == 0 {
            return write!(f, "{sign}{digits}");
        }
        write!(f, "{sign}{}.{:0width$}", digits / scale, digits % scale, width = usize::from(decimals))
    }
}

fn parse_exponent(text: &[u8]) -> Option<i32> {
    let exponent: i32 = std::str::from_utf8(text).ok()?.parse().ok()?;
    (exponent.abs() < 1000).then_some(exponent)
}
