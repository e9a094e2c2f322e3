//! The times that the contract promises, for all who must agree on them: the doors, `config.yaml` and `connect`.

use std::time::Duration;

/// How long a call may take that says nothing of it.
pub(crate) const CALL_DEFAULT: Duration = Duration::from_secs(30);

/// The longest that a call may ask for.
pub(crate) const CALL_LONGEST: Duration = Duration::from_secs(3_600);

/// The shortest time that can be waited for anything.
pub(crate) const SHORTEST: Duration = Duration::from_millis(1);

/// How long a dialog waits for its answer where nobody says otherwise.
pub(crate) const DIALOG_DEFAULT: Duration = Duration::from_secs(300);

/// The longest that a dialog may be told to wait: a day.
pub(crate) const DIALOG_LONGEST: Duration = Duration::from_secs(86_400);

/// The longest that a daemon may be told to stay without a client: a year, which is for ever and still a date.
pub(crate) const IDLE_LONGEST: Duration = Duration::from_secs(365 * 86_400);

/// Returns how long a dialog shall wait, given in seconds, or what is wrong with the number.
pub(crate) fn dialog_timeout(seconds: f64) -> Result<Duration, String> {
    within(seconds, DIALOG_LONGEST)
}

/// Returns how long a daemon shall stay without a client, given in seconds, or what is wrong with the number.
pub(crate) fn idle_timeout(seconds: f64) -> Result<Duration, String> {
    within(seconds, IDLE_LONGEST)
}

/// Returns how long a tool may take, given in seconds or not at all, or what is wrong with the number.
pub(crate) fn tool_timeout(seconds: Option<f64>, default: Duration, longest: Duration) -> Result<Duration, String> {
    seconds.map_or(Ok(default), |seconds| within(seconds, longest))
}

fn within(seconds: f64, longest: Duration) -> Result<Duration, String> {
    Duration::try_from_secs_f64(seconds).ok().filter(|time| (SHORTEST..=longest).contains(time)).ok_or_else(|| {
        format!("must be a number of seconds, at least {} and at most {}", SHORTEST.as_secs_f64(), longest.as_secs())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialog_waits_for_more_than_nothing_and_a_day_at_most() {
        assert_eq!(dialog_timeout(0.5), Ok(Duration::from_millis(500)));
        assert_eq!(dialog_timeout(86_400.0), Ok(DIALOG_LONGEST));
        for seconds in [0.0, -1.0, 1e-300, 0.0009, 86_400.1, 1e300, f64::INFINITY, f64::NAN] {
            let why = dialog_timeout(seconds).expect_err("out of bounds");
            assert_eq!(why, "must be a number of seconds, at least 0.001 and at most 86400", "{seconds}");
        }
    }
}
