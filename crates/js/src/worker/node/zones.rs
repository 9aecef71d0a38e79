//! Time zones for `Intl`, from the database inside this program: a worker has no files.

use std::sync::OnceLock;

use jiff::{Timestamp, tz::TimeZoneDatabase};
use rquickjs::{Array, Ctx, Function, Object, Result};

/// The zone of this machine, once it was read.
static LOCAL: OnceLock<String> = OnceLock::new();

pub(super) fn install<'js>(ctx: &Ctx<'js>, internal: &Object<'js>) -> Result<()> {
    internal.set("zoneParts", Function::new(ctx.clone(), parts)?)?;
    let name = || LOCAL.get().map_or("UTC", String::as_str);
    internal.set("zoneName", Function::new(ctx.clone(), name)?)
}

/// Reads the name of this machine's zone. For before the worker is sealed: afterwards, looking at a file ends it.
pub(super) fn read() {
    LOCAL.get_or_init(local);
}

/// Year, month, day, hour, minute, second, seconds east of Greenwich, the zone's abbreviation and name; nothing for a
/// zone that nobody knows.
fn parts(ctx: Ctx<'_>, milliseconds: f64, zone: String) -> Result<Option<Array<'_>>> {
    let found = TimeZoneDatabase::bundled().get(&zone).ok();
    let Some((zone, time)) = found.zip(Timestamp::from_millisecond(milliseconds as i64).ok()) else {
        return Ok(None);
    };
    let abbreviation = zone.to_offset_info(time).abbreviation().to_owned();
    let name = zone.iana_name().unwrap_or("UTC").to_owned();
    let time = time.to_zoned(zone);
    let clock = [time.month(), time.day(), time.hour(), time.minute(), time.second()];
    let parts = Array::new(ctx)?;
    parts.set(0, time.year())?;
    for (at, part) in clock.into_iter().enumerate() {
        parts.set(at + 1, part)?;
    }
    parts.set(6, time.offset().seconds())?;
    parts.set(7, abbreviation)?;
    parts.set(8, name)?;
    Ok(Some(parts))
}

/// As the C library finds it: `TZ`, else the file that `/etc/localtime` leads to.
fn local() -> String {
    let known = |name: &str| TimeZoneDatabase::bundled().get(name).is_ok();
    let variable = std::env::var("TZ").ok().map(|name| name.trim_start_matches(':').to_owned());
    let link = || {
        let target = std::fs::read_link("/etc/localtime").ok()?;
        let (_, name) = target.to_str()?.split_once("zoneinfo/")?;
        Some(name.to_owned())
    };
    let name = variable.filter(|name| known(name)).or_else(|| link().filter(|name| known(name)));
    name.unwrap_or_else(|| "UTC".to_owned())
}
