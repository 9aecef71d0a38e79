//! Names for tools and modules, made from those of a library.

/// `parseXML` becomes `parse_xml`, `@scope/my-lib` `my_lib`.
pub(super) fn snake(name: &str) -> String {
    let mut out = String::new();
    let characters: Vec<char> = name.chars().collect();
    for (at, c) in characters.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| characters[at]);
        let after = characters.get(at + 1);
        if !c.is_ascii_alphanumeric() {
            out.push('_');
            continue;
        }
        let starts_word = c.is_ascii_uppercase()
            && before.is_some_and(|before| {
                before.is_ascii_lowercase()
                    || before.is_ascii_digit()
                    || (before.is_ascii_uppercase() && after.is_some_and(char::is_ascii_lowercase))
            });
        if starts_word {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    let parts: Vec<&str> = out.split('_').filter(|part| !part.is_empty()).collect();
    parts.join("_")
}

/// A name for a tool: the module's, then the function's; only the module's for the library itself.
pub(super) fn tool_name(module: &str, path: Option<&str>) -> String {
    let prefix = snake(module);
    let prefix =
        if prefix.starts_with(|c: char| c.is_ascii_lowercase()) { prefix } else { format!("m_{prefix}") };
    match path.map(snake).filter(|name| !name.is_empty()) {
        Some(name) => format!("{prefix}_{name}"),
        None => prefix,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for (name, expected) in [
            ("chunk", "chunk"),
            ("camelCase", "camel_case"),
            ("parseXML", "parse_xml"),
            ("XMLParser", "xml_parser"),
            ("isURL", "is_url"),
            ("utils.formatDate", "utils_format_date"),
            ("base64Encode", "base64_encode"),
            ("$jsonp", "jsonp"),
            ("v4", "v4"),
            ("bignumber.js", "bignumber_js"),
            ("__x__", "x"),
        ] {
            assert_eq!(snake(name), expected);
        }
        assert_eq!(tool_name("date-fns", Some("addDays")), "date_fns_add_days");
        assert_eq!(tool_name("dayjs", None), "dayjs");
        assert_eq!(tool_name("7zip", Some("x")), "m_7zip_x");
    }
}
