//! The clock and the file tools, with each of their errors.

use crate::support::{Expected, check_call, pinza};

#[test]
fn the_time_in_both_formats_and_any_zone() {
    let pinza = pinza();
    let iso = "20[..]-[..]-[..]T[..]:[..]:[..].[..]";
    let cases: [(&[&str], &str); 6] = [
        (&[], iso),
        (&["timezone=Asia/Tokyo"], "20[..]-[..]T[..]+09:00"),
        (&["timezone=UTC"], "20[..]-[..]T[..]Z"),
        (&["timezone=Asia/Kolkata", "format=iso8601"], "20[..]-[..]T[..]+05:30"),
        (&["timezone=Asia/Tokyo", "format=human_readable"], "[..]day, [..] 20[..] at [..]:[..]M JST"),
        (&[r#"{"timezone": null, "format": null}"#], iso),
    ];
    for (arguments, expected) in cases {
        check_call(&pinza, &[&["get_current_time"], arguments].concat(), Ok(expected));
    }
    for zone in ["Mars/Phobos", "", "../etc/passwd"] {
        let message =
            format!("Invalid timezone: '{zone}'. Use IANA timezone format (e.g., 'America/New_York').");
        let expected = Err(("validation_error", &*message));
        check_call(&pinza, &["get_current_time", &format!("timezone={zone}")], expected);
    }
    let expected = Err(("validation_error", "Parameter 'format' must be one of: iso8601, human_readable"));
    check_call(&pinza, &["get_current_time", "format=unix"], expected);
}

#[test]
fn the_zones_are_bundled_and_the_machines_zone_is_the_default() {
    let pinza = pinza();
    let mut command = pinza.command(["--json", "call", "get_current_time"]);
    let run = pinza_testkit::program::finish(command.env("TZ", "Asia/Kolkata"), "");
    crate::support::check_answer(&run, &["get_current_time"], Ok("[..]+05:30"));
}

#[test]
fn read_file_and_its_errors() {
    let pinza = pinza();
    pinza.put("a.txt", "Grüße\n");
    pinza.put("latin1.txt", b"Gr\xfc\xdfe aus K\xf6ln");
    pinza.put("utf16.txt", b"\xff\xfeh\0i\0");
    pinza.put("binary", b"\x7fELF\x02\x01\0\0\x01");
    pinza.put("empty", "");
    pinza.put("full.txt", "x".repeat(1 << 20));
    pinza.put("large.txt", "x".repeat((1 << 20) + 1));
    let absolute = pinza.workspace().join("a.txt").display().to_string();
    let full = "x".repeat(1 << 20);
    let cases: [(&[&str], Expected); 14] = [
        (&["path=a.txt"], Ok("Grüße\n")),
        (&["path=./sub/../a.txt"], Err(("file_not_found", "File not found: ./sub/../a.txt"))),
        (&[&format!("path={absolute}")], Ok("Grüße\n")),
        (&["path=latin1.txt", "encoding=ISO-8859-1"], Ok("Grüße aus Köln")),
        (&["path=utf16.txt"], Ok("hi")),
        (&["path=empty"], Ok("")),
        (&["path=full.txt"], Ok(&full)),
        (&["path=none.txt"], Err(("file_not_found", "File not found: none.txt"))),
        (&["path=."], Err(("validation_error", "Path is a directory, not a file: ."))),
        (&["path=a.txt", "encoding=klingon"], Err(("validation_error", "Unsupported encoding: 'klingon'"))),
        (&["path=binary"], Err(("validation_error", "File is binary, not text: binary"))),
        (&["path=latin1.txt"], Err(("validation_error", "File is not valid UTF-8 text: latin1.txt"))),
        (
            &["path=large.txt"],
            Err((
                "file_too_large",
                "File is too large (1048577 bytes). Maximum supported size is 1048576 bytes (1MB).",
            )),
        ),
        (&["path=/etc/passwd"], Err(("path_not_allowed", "Access denied: path is outside the workspace"))),
    ];
    for (arguments, expected) in cases {
        check_call(&pinza, &[&["read_file"], arguments].concat(), expected);
    }
}

#[test]
fn write_file_overwrites_appends_and_makes_parents() {
    let pinza = pinza();
    let cases: [(&[&str], Expected, &str); 5] = [
        (&["content=one"], Ok("Successfully wrote 3 bytes to d/e/a.txt (mode: overwrite)"), "one"),
        (
            &["content= ü", "mode=append"],
            Ok("Successfully wrote 3 bytes to d/e/a.txt (mode: append)"),
            "one ü",
        ),
        (
            &["content=x", "mode=overwrite"],
            Ok("Successfully wrote 1 bytes to d/e/a.txt (mode: overwrite)"),
            "x",
        ),
        (
            &["content=y", "mode=prepend"],
            Err(("validation_error", "Parameter 'mode' must be one of: overwrite, append")),
            "x",
        ),
        (&["content="], Ok("Successfully wrote 0 bytes to d/e/a.txt (mode: overwrite)"), ""),
    ];
    for (arguments, expected, content) in cases {
        check_call(&pinza, &[&["write_file", "path=d/e/a.txt"], arguments].concat(), expected);
        assert_eq!(pinza.text("d/e/a.txt"), content);
    }
    let left = std::fs::read_dir(pinza.workspace().join("d/e")).unwrap().count();
    assert_eq!(left, 1, "nothing of the replacing is left");
    let expected = Err(("validation_error", "Path is a directory, not a file: d"));
    check_call(&pinza, &["write_file", "path=d", "content=x"], expected);
    let expected = Err(("validation_error", "A part of the path is a file, not a directory: d/e/a.txt/b"));
    check_call(&pinza, &["write_file", "path=d/e/a.txt/b", "content=x"], expected);
    let expected = Err(("path_not_allowed", "Access denied: path is outside the workspace"));
    check_call(&pinza, &["write_file", "path=/tmp/pinza-must-not-write", "content=x"], expected);
}

#[test]
fn read_goes_by_lines_and_shows_images() {
    let pinza = pinza();
    pinza.put("a.txt", "one\r\ntwo\r\nthree");
    let cases: [(&[&str], Expected); 5] = [
        (&[], Ok("one\r\ntwo\r\nthree")),
        (&["offset=2", "limit=1"], Ok("two\r\n\n[lines 2 to 2 of 3; go on with offset 3]")),
        (&["offset=3", "limit=99"], Ok("three")),
        (&["offset=4"], Err(("validation_error", "Line 4 is past the end: the file has 3 lines"))),
        (&["path=none"], Err(("file_not_found", "File not found: none"))),
    ];
    for (arguments, expected) in cases {
        let path: &[&str] = if arguments == ["path=none"] { &[] } else { &["path=a.txt"] };
        check_call(&pinza, &[&["read"], path, arguments].concat(), expected);
    }
    let answer = check_call(&pinza, &["read", "path=a.txt", "offset=2", "limit=1"], Ok("two\r\n..."));
    assert_eq!(answer["details"].to_string(), r#"{"firstLine":2,"lastLine":2,"totalLines":3}"#);

    let png = b"\x89PNG\r\n\x1a\nrest";
    pinza.put("picture", png);
    let answer = check_call(&pinza, &["read", "path=picture"], Ok("[image image/png, 12 bytes]"));
    let image = r#"[{"type":"image","data":"iVBORw0KGgpyZXN0","mimeType":"image/png"}]"#;
    assert_eq!(answer["content"].to_string(), image);
    let expected = Err(("validation_error", "File is binary, not text: picture"));
    check_call(&pinza, &["read_file", "path=picture"], expected);
}

#[test]
fn write_and_edit() {
    let pinza = pinza();
    check_call(&pinza, &["write", "path=d/a.rs", "content=“old” old\r\n"], Ok("Successfully wrote [..]"));
    let error = |message| Err(("validation_error", message));
    let cases: [(&[&str], Expected, &str); 7] = [
        (&["oldText=none", "newText=x"], error("oldText was not found in d/a.rs"), "“old” old\r\n"),
        (
            &["oldText=old", "newText=x"],
            error("oldText occurs 2 times in d/a.rs; it must be unique"),
            "“old” old\r\n",
        ),
        (&["oldText=", "newText=x"], error("Parameter 'oldText' is empty"), "“old” old\r\n"),
        (
            &["oldText=old", "newText=old"],
            error("oldText and newText are the same: nothing would change"),
            "“old” old\r\n",
        ),
        (
            // In JSON, because a key=value that is a JSON text loses its quotes.
            &[r#"{"path": "d/a.rs", "oldText": "\"old\"", "newText": "one\ntwo"}"#],
            Ok("Edited d/a.rs\n--- d/a.rs\n+++ d/a.rs\n@@ -1 +1,2 @@\n..."),
            "one\r\ntwo old\r\n",
        ),
        (&["oldText= old\n", "newText=!\n"], Ok("Edited d/a.rs\n..."), "one\r\ntwo!\r\n"),
        (&["oldText=one\ntwo!\n", "newText="], Ok("Edited d/a.rs\n..."), ""),
    ];
    for (arguments, expected, content) in cases {
        let path: &[&str] = if arguments.len() == 1 { &[] } else { &["path=d/a.rs"] };
        check_call(&pinza, &[&["edit"], path, arguments].concat(), expected);
        assert_eq!(pinza.text("d/a.rs"), content, "{arguments:?}");
    }
    pinza.put("bom.txt", "\u{feff}a\n");
    check_call(&pinza, &["edit", "path=bom.txt", "oldText=a", "newText=b"], Ok("Edited bom.txt\n..."));
    assert_eq!(pinza.text("bom.txt"), "\u{feff}b\n");
    pinza.put("latin1.txt", b"\xfc");
    let expected = Err(("validation_error", "File is not UTF-8 text: latin1.txt"));
    check_call(&pinza, &["edit", "path=latin1.txt", "oldText=a", "newText=b"], expected);
}

/// Permission bits mean nothing to root, so this one needs another user.
#[test]
fn files_that_the_system_keeps_from_us() {
    use std::os::unix::fs::PermissionsExt as _;
    if rustix::process::geteuid().is_root() {
        return;
    }
    let pinza = pinza();
    let path = pinza.put("locked.txt", "x");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    let cases: [(&[&str], &str); 2] = [
        (&["read_file", "path=locked.txt"], "Permission denied: cannot read locked.txt"),
        (&["write_file", "path=locked.txt", "content=x"], "Permission denied: cannot write to locked.txt"),
    ];
    for (arguments, message) in cases {
        check_call(&pinza, arguments, Err(("permission_denied", message)));
    }
}
