//! Waiting between attempts: longer each time, a little by chance, and as long as a server asks.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, RETRY_AFTER};
use serde_json::Value;

use super::Retries;
use crate::providers::ProviderError;

/// How long to wait before the next attempt; `None` to give up. `planned` is what the backoff
/// would wait, and none when it is exhausted.
pub(super) fn wait(error: &ProviderError, planned: Option<Duration>, retries: &Retries) -> Option<Duration> {
    let planned = planned?;
    match error.retry_after {
        // Coming back early only makes it longer, and coming back in an hour is not for us to decide.
        Some(asked) if asked > retries.longest => None,
        Some(asked) => Some(planned.max(asked)),
        None => Some(planned),
    }
}

/// How long a server asks to be left alone.
pub(super) fn asked_to_wait(headers: &HeaderMap, body: &Value) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    let milliseconds = text("retry-after-ms").and_then(|text| seconds(text, 1_000.0));
    let after = || text(RETRY_AFTER.as_str()).and_then(|text| seconds(text, 1.0).or_else(|| until(text)));
    milliseconds.or_else(after).or_else(|| in_body(body))
}

fn seconds(text: &str, per_second: f64) -> Option<Duration> {
    let number: f64 = text.trim().parse().ok()?;
    Duration::try_from_secs_f64(number / per_second).ok()
}

/// The other form of the header: a date.
fn until(text: &str) -> Option<Duration> {
    let then = jiff::fmt::rfc2822::parse(text.trim()).ok()?.timestamp();
    let left = then.duration_since(Timestamp::now());
    Some(Duration::try_from(left).unwrap_or_default())
}

/// Gemini says it among the details of an error: `"retryDelay": "34s"`.
fn in_body(body: &Value) -> Option<Duration> {
    let error = body.get(0).unwrap_or(body).get("error")?;
    let details = error.get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?;
    seconds(delay.strip_suffix('s')?, 1.0)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::providers::ProviderErrorKind;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())])
    }

    #[test]
    fn every_way_to_ask_for_time_is_understood() {
        let none = Value::Null;
        let check = |name, value: &str| asked_to_wait(&headers(name, value), &none);
        assert_eq!(check("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(check("retry-after", "0.5"), Some(Duration::from_millis(500)));
        assert_eq!(check("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        assert_eq!(check("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert!(check("retry-after", "Thu, 31 Dec 2099 23:59:59 GMT") > Some(Duration::from_secs(1_000_000)));
        for odd in ["-1", "soon", "", "NaN", "1e400"] {
            assert_eq!(check("retry-after", odd), None, "{odd}");
        }
        let gemini = json!([{"error": {"details": [{"@type": "x"}, {"retryDelay": "34s"}]}}]);
        assert_eq!(asked_to_wait(&HeaderMap::new(), &gemini), Some(Duration::from_secs(34)));
    }

    #[test]
    fn a_server_is_given_the_time_that_it_asks_for_unless_it_is_too_long() {
        let retries = Retries { longest: Duration::from_secs(60), ..Retries::default() };
        let asked = |seconds: Option<u64>, planned: Option<u64>| {
            let mut error = ProviderError::new(ProviderErrorKind::RateLimited, "");
            error.retry_after = seconds.map(Duration::from_secs);
            wait(&error, planned.map(Duration::from_secs), &retries).map(|wait| wait.as_secs())
        };
        assert_eq!(asked(None, Some(2)), Some(2));
        assert_eq!(asked(Some(30), Some(2)), Some(30));
        assert_eq!(asked(Some(1), Some(2)), Some(2));
        assert_eq!(asked(Some(61), Some(2)), None);
        assert_eq!(asked(Some(30), None), None, "no attempt is left");
    }
}
