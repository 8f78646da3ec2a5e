//! Decimal numbers in few bytes.

/// Powers of ten that double precision holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Bits of the digits and of the place of the point in a code of 32 bits; one more is the sign.
const SHORT: (u32, u32) = (27, 4);
/// The same of a code of 64 bits.
const LONG: (u32, u32) = (58, 5);

/// A decimal number as it is written, or an empty text.
///
/// It has the plain form that programs write: an optional minus, digits without a needless 0 before them, and where
/// there is a point digits behind it, which may end in zeros. Its parts give its text back to the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decimal {
    Empty,
    Number {
        is_negative: bool,
        /// All digits, as one whole number.
        digits: u64,
        /// Number of digits behind the point; 0 without a point.
        n_places: u32,
    },
}

impl Decimal {
    /// Returns the number of a text; `None` if it has another form or more than 18 digits.
    pub(super) fn of(text: &str) -> Option<Self> {
        if text.is_empty() {
            return Some(Self::Empty);
        }
        let plain = text.strip_prefix('-').unwrap_or(text);
        let (whole, fraction) = match plain.split_once('.') {
            None => (plain, ""),
            Some((_, "")) => return None,
            Some(parts) => parts,
        };
        let has_form = !whole.is_empty() && (whole.len() == 1 || !whole.starts_with('0'));
        if !has_form || whole.len() + fraction.len() > 18 {
            return None;
        }
        let mut digits = 0;
        for byte in whole.bytes().chain(fraction.bytes()) {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 {
                return None;
            }
            digits = 10 * digits + u64::from(digit);
        }
        Some(Self::Number {
            is_negative: plain.len() < text.len(),
            digits,
            n_places: fraction.len() as u32,
        })
    }

    /// Returns the code of 32 bits; `None` if the digits or the place of the point do not fit.
    pub(super) fn short(self) -> Option<u32> {
        self.code(SHORT).map(|code| code as u32)
    }

    /// Returns the code of 64 bits; `None` if the digits do not fit.
    pub(super) fn long(self) -> Option<u64> {
        self.code(LONG)
    }

    /// Returns the number of a code of 32 bits.
    pub(super) fn of_short(code: u32) -> Self {
        Self::of_code(u64::from(code), SHORT)
    }

    /// Returns the number of a code of 64 bits.
    pub(super) fn of_long(code: u64) -> Self {
        Self::of_code(code, LONG)
    }

    /// Returns the bits of the sign, the place of the point and the digits, from high to low; all are 1 for an empty
    /// text.
    fn code(self, (digit_bits, place_bits): (u32, u32)) -> Option<u64> {
        let empty = u64::MAX >> (63 - digit_bits - place_bits);
        let Self::Number {
            is_negative,
            digits,
            n_places,
        } = self
        else {
            return Some(empty);
        };
        let fits = digits >> digit_bits == 0 && n_places >> place_bits == 0;
        let code =
            (u64::from(is_negative) << place_bits | u64::from(n_places)) << digit_bits | digits;
        (fits && code != empty).then_some(code)
    }

    fn of_code(code: u64, (digit_bits, place_bits): (u32, u32)) -> Self {
        if code == u64::MAX >> (63 - digit_bits - place_bits) {
            return Self::Empty;
        }
        let low = |bits: u32| (1 << bits) - 1;
        Self::Number {
            is_negative: code >> (digit_bits + place_bits) == 1,
            digits: code & low(digit_bits),
            n_places: (code >> digit_bits & low(place_bits)) as u32,
        }
    }

    /// Returns the text.
    pub(super) fn text(self) -> String {
        let Self::Number {
            is_negative,
            digits,
            n_places,
        } = self
        else {
            return String::new();
        };
        let n_places = n_places as usize;
        let sign = if is_negative { "-" } else { "" };
        // At least one digit stands before the point.
        let width = n_places + usize::from(n_places > 0);
        let mut text = format!("{sign}{digits:0width$}");
        if n_places > 0 {
            text.insert(text.len() - n_places, '.');
        }
        text
    }

    /// Returns the number nearest in double precision; `None` for an empty text.
    pub(super) fn number(self) -> Option<f64> {
        let Self::Number {
            is_negative,
            digits,
            n_places,
        } = self
        else {
            return None;
        };
        let magnitude = match POWERS.get(n_places as usize) {
            // Both are exact, so that the quotient is rounded once.
            Some(power) if digits < 1 << 53 => digits as f64 / power,
            _ => return self.text().parse().ok(),
        };
        Some(if is_negative { -magnitude } else { magnitude })
    }
}
