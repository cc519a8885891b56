//! Registries that want to be asked later: `429 Too Many Requests`, and `503` with a time.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::tz::Offset;
use tokio::time::Instant;

use super::ImageError;

/// Pause of a registry that names none.
const UNNAMED: Duration = Duration::from_secs(30);
/// Longest pause, whatever a registry says.
const LONGEST: Duration = Duration::from_secs(3_600);
/// Most registries whose pauses are remembered.
const REGISTRIES: usize = 1_000;

/// A registry, and as whom it is asked: limits are those of a user.
pub(super) type Caller = (String, Option<String>);

/// The pauses that registries asked for.
#[derive(Debug, Default)]
pub(super) struct Pauses(Mutex<BTreeMap<Caller, Instant>>);

impl Pauses {
    /// Whether the registry may be asked now.
    ///
    /// # Errors
    /// It wants a pause, which is not over.
    pub(super) fn check(&self, caller: &Caller) -> Result<(), ImageError> {
        let until = self.all().get(caller).copied();
        match until.and_then(|until| until.checked_duration_since(Instant::now())) {
            Some(after) if !after.is_zero() => {
                Err(ImageError::Limited { host: caller.0.clone(), after })
            }
            _ => Ok(()),
        }
    }

    /// Takes in an answer: its status, and what it says about when to ask again. Returns the pause that
    /// it asks for, if it does.
    pub(super) fn note(
        &self,
        caller: &Caller,
        code: u16,
        retry_after: Option<&str>,
    ) -> Option<Duration> {
        let named = retry_after.and_then(|text| named(text, SystemTime::now()));
        let named = named.filter(|pause| !pause.is_zero());
        let pause = match (code, named) {
            (429, named) => named.unwrap_or(UNNAMED),
            (503, Some(named)) => named,
            _ => return None,
        };
        let pause = pause.min(LONGEST);
        let mut all = self.all();
        let now = Instant::now();
        all.retain(|_, until| *until > now);
        if all.len() < REGISTRIES {
            all.insert(caller.clone(), now + pause);
        }
        Some(pause)
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Caller, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The usual form of a date. A wrong weekday does not make another date of it.
static DATE: DateTimeParser = DateTimeParser::new().relaxed_weekday(true);

/// The two obsolete forms, which recipients must accept as well (RFC 9110, 5.6.7).
const OBSOLETE_DATES: [&str; 2] = ["%A, %d-%b-%y %H:%M:%S GMT", "%a %b %e %H:%M:%S %Y"];

/// The pause that `Retry-After` names: seconds, or a date (RFC 9110, 10.2.3).
fn named(text: &str, now: SystemTime) -> Option<Duration> {
    let text = text.trim();
    if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than fit into a number are more than any pause may have.
        return Some(Duration::from_secs(text.parse().unwrap_or(u64::MAX)));
    }
    let at = SystemTime::from(date(text)?);
    Some(at.duration_since(now).unwrap_or_default())
}

fn date(text: &str) -> Option<Timestamp> {
    let obsolete = |form: &str| {
        let date = DateTime::strptime(form, text).ok()?;
        Offset::UTC.to_timestamp(date).ok()
    };
    let current = DATE.parse_timestamp(text).ok();
    current.or_else(|| OBSOLETE_DATES.into_iter().find_map(obsolete))
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::seconds("7", Some(7))]
    #[case::date("Thu, 01 Jan 1970 00:01:10 GMT", Some(10))]
    #[case::past("Thu, 01 Jan 1970 00:00:10 GMT", Some(0))]
    #[case::nonsense("soon", None)]
    #[case::negative("-1", None)]
    #[case::signed("+7", None)]
    #[case::fraction("1.5", None)]
    #[case::spaces(" 7 ", Some(7))]
    #[case::more_than_a_number_holds("99999999999999999999999", Some(u64::MAX))]
    #[case::wrong_weekday("Fri, 01 Jan 1970 00:01:10 GMT", Some(10))]
    #[case::date_of_rfc_850("Thursday, 01-Jan-70 00:01:10 GMT", Some(10))]
    #[case::date_of_asctime("Thu Jan  1 00:01:10 1970", Some(10))]
    #[case::no_such_date("Thu, 32 Jan 1970 00:01:10 GMT", None)]
    #[case::nothing("", None)]
    fn retry_after(#[case] text: &str, #[case] seconds: Option<u64>) {
        let now = UNIX_EPOCH + Duration::from_secs(60);
        assert_eq!(named(text, now), seconds.map(Duration::from_secs));
    }

    #[rstest]
    #[case::named(429, Some("7"), 7)]
    #[case::unnamed(429, None, 30)]
    #[case::at_once(429, Some("0"), 30)]
    #[case::too_long(429, Some("99999999"), 3_600)]
    #[case::huge(429, Some("99999999999999999999999"), 3_600)]
    #[case::overloaded_for_a_huge_time(503, Some("99999999999999999999999"), 3_600)]
    #[case::until_a_date_far_away(503, Some("Fri, 01 Jan 9999 00:00:00 GMT"), 3_600)]
    #[case::until_a_date_that_is_over(429, Some("Thu, 01 Jan 1970 00:00:10 GMT"), 30)]
    #[case::negative(429, Some("-5"), 30)]
    #[case::overloaded_for_a_negative_time(503, Some("-5"), 0)]
    #[case::overloaded(503, Some("5"), 5)]
    #[case::overloaded_for_no_time(503, Some("0"), 0)]
    #[case::broken(503, None, 0)]
    #[case::found(200, Some("5"), 0)]
    #[tokio::test(start_paused = true)]
    async fn pauses_end(#[case] code: u16, #[case] header: Option<&str>, #[case] seconds: u64) {
        let pauses = Pauses::default();
        let us = ("r.io".to_owned(), None);
        let after = Duration::from_secs(seconds);
        assert_eq!(pauses.note(&us, code, header), (seconds > 0).then_some(after));
        let refused = ImageError::Limited { host: "r.io".to_owned(), after };
        assert_eq!(pauses.check(&us), if seconds == 0 { Ok(()) } else { Err(refused) });
        let other = ("r.io".to_owned(), Some("me".to_owned()));
        assert_eq!(pauses.check(&other), Ok(()), "limits are those of a user");
        tokio::time::advance(after).await;
        assert_eq!(pauses.check(&us), Ok(()));
    }
}
