//! `get_current_time`: now, anywhere.

use std::time::Duration;

use jiff::{
    Timestamp, Zoned,
    fmt::strtime,
    tz::{Offset, TimeZone},
};
use pinza_core::{CallContext, NativeTool, ToolDefinition, ToolError, ToolName, ToolResult};
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) const DESCRIPTION: &str = "Get the current date and time";

#[derive(Debug)]
pub(crate) struct GetCurrentTime;

#[derive(Deserialize, JsonSchema)]
pub(crate) struct Parameters {
    /// Timezone identifier (e.g., 'America/New_York', 'Asia/Shanghai'). Defaults to device timezone.
    timezone: Option<String>,
    /// Output format: 'iso8601' or 'human_readable'. Defaults to 'iso8601'.
    format: Option<Format>,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum Format {
    #[default]
    Iso8601,
    HumanReadable,
}

impl NativeTool for GetCurrentTime {
    type Parameters = Parameters;

    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new(ToolName::known("get_current_time"), DESCRIPTION)
            .title("Current time")
            .timeout(Duration::from_secs(5))
            .read_only()
    }

    async fn call(&self, parameters: Parameters, _context: &CallContext<'_>) -> ToolResult {
        now(parameters.timezone.as_deref(), parameters.format.unwrap_or_default()).map(Into::into)
    }
}

/// The same for scripts, whose `_time(timezone, format)` takes plain texts.
pub fn current_time(timezone: Option<&str>, format: Option<&str>) -> Result<String, ToolError> {
    let format = match format {
        None | Some("iso8601") => Format::Iso8601,
        Some("human_readable") => Format::HumanReadable,
        Some(_) => {
            return Err(ToolError::validation("Parameter 'format' must be one of: iso8601, human_readable"));
        }
    };
    now(timezone, format)
}

fn now(timezone: Option<&str>, format: Format) -> Result<String, ToolError> {
    let zone = match timezone {
        Some(name) => zone(name).ok_or_else(|| {
            let name = pinza_core::visible(name);
            ToolError::validation(format!(
                "Invalid timezone: '{name}'. Use IANA timezone format (e.g., 'America/New_York')."
            ))
        })?,
        // A machine without a zone, such as a bare container, is on UTC.
        None => TimeZone::try_system().unwrap_or(TimeZone::UTC),
    };
    show(&Timestamp::now().to_zoned(zone), format)
        .map_err(|error| ToolError::execution(format!("Failed to get current time: {error}")))
}

/// An IANA name from the bundled database, or a plain offset such as `+02:00`.
fn zone(name: &str) -> Option<TimeZone> {
    if let Ok(zone) = TimeZone::get(name) {
        return Some(zone);
    }
    let digits = name.strip_prefix("UTC").or_else(|| name.strip_prefix("GMT")).unwrap_or(name);
    let offset: Offset = strtime::parse("%:z", digits).ok()?.offset()?;
    Some(TimeZone::fixed(offset))
}

fn show(now: &Zoned, format: Format) -> Result<String, jiff::Error> {
    let pattern = match format {
        Format::Iso8601 if now.offset().is_zero() => "%Y-%m-%dT%H:%M:%S%.3fZ",
        Format::Iso8601 => "%Y-%m-%dT%H:%M:%S%.3f%:z",
        Format::HumanReadable => "%A, %B %-d, %Y at %-I:%M:%S %p %Z",
    };
    strtime::format(pattern, now)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_formats_in_any_zone() {
        let moment: Timestamp = "2026-03-01T21:05:09.25Z".parse().unwrap();
        let cases = [
            ("Asia/Tokyo", Format::Iso8601, "2026-03-02T06:05:09.250+09:00"),
            ("UTC", Format::Iso8601, "2026-03-01T21:05:09.250Z"),
            ("+02:00", Format::Iso8601, "2026-03-01T23:05:09.250+02:00"),
            ("UTC-03:30", Format::Iso8601, "2026-03-01T17:35:09.250-03:30"),
            ("America/New_York", Format::HumanReadable, "Sunday, March 1, 2026 at 4:05:09 PM EST"),
            ("Asia/Tokyo", Format::HumanReadable, "Monday, March 2, 2026 at 6:05:09 AM JST"),
        ];
        for (name, format, expected) in cases {
            assert_eq!(show(&moment.to_zoned(zone(name).unwrap()), format).unwrap(), expected);
        }
    }

    #[test]
    fn what_is_no_zone_is_none() {
        for name in ["", "Mars/Phobos", "../etc/passwd", "+99:00", "UTC+", "\0"] {
            assert!(zone(name).is_none(), "{name:?}");
        }
    }
}
