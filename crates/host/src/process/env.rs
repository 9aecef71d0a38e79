//! The environment of a command: clean by default, and closed to the variables that make an
//! innocent command run other code.

use std::{env, ffi::OsString};

/// What a command may know of Pinza's own environment; everything else may be a secret.
const INHERITED: [&str; 8] = ["HOME", "USER", "LOGNAME", "SHELL", "LANG", "TERM", "TZ", "TMPDIR"];

const DEFAULT_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Names that steer what a program loads, runs or trusts.
const STEERING: [&str; 47] = [
    // Shells and where they look.
    "PATH",
    "ENV",
    "IFS",
    "SHELL",
    "SHELLOPTS",
    "BASHOPTS",
    "PS4",
    "PROMPT_COMMAND",
    "CDPATH",
    "FPATH",
    "ZDOTDIR",
    // Where programs find their configuration, which names further programs.
    "HOME",
    "XDG_CONFIG_HOME",
    "XDG_CONFIG_DIRS",
    // Language runtimes.
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERLLIB",
    "RUBYOPT",
    "RUBYLIB",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "LUA_INIT",
    "LUA_PATH",
    "LUA_CPATH",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    // Build tools.
    "MAKEFLAGS",
    "GNUMAKEFLAGS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTC_WORKSPACE_WRAPPER",
    // Helpers that other programs start.
    "PAGER",
    "MANPAGER",
    "EDITOR",
    "VISUAL",
    "BROWSER",
    "LESSOPEN",
    "LESSCLOSE",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    // The C library.
    "GCONV_PATH",
    "LOCPATH",
    "NLSPATH",
    "HOSTALIASES",
    "RES_OPTIONS",
    "GLIBC_TUNABLES",
];

/// Families of such names; `PINZA_` steers ourselves.
const STEERING_PREFIXES: [&str; 10] =
    ["LD_", "DYLD_", "BASH_", "PYTHON", "PERL5", "GIT_", "MALLOC_", "CARGO_", "npm_config_", "PINZA_"];

/// Whether a model may set this variable for a command; says why not.
pub fn check_env_name(name: &str) -> Result<(), String> {
    if !is_name(name) {
        let name = pinza_core::visible(name);
        return Err(format!(
            "'{name}' is not the name of a variable; use letters, digits and underscores, and no digit first"
        ));
    }
    let family = |prefix: &&str| {
        name.get(..prefix.len()).is_some_and(|start| match *prefix {
            // npm reads its own in either case.
            "npm_config_" => start.eq_ignore_ascii_case(prefix),
            _ => start == *prefix,
        })
    };
    if STEERING.contains(&name) || STEERING_PREFIXES.iter().any(family) {
        return Err(format!(
            "the variable {name} cannot be set, because it can make a command run other code than it shows"
        ));
    }
    Ok(())
}

/// `[A-Za-z_][A-Za-z0-9_]*`
pub(crate) fn is_name(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The environment that every command starts from.
pub(super) fn clean() -> Vec<(OsString, OsString)> {
    let path = env::var_os("PATH").filter(|path| !path.is_empty()).unwrap_or_else(|| DEFAULT_PATH.into());
    let inherited = env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|name| INHERITED.contains(&name) || name.starts_with("LC_"))
    });
    std::iter::once(("PATH".into(), path)).chain(inherited).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steering_variables_are_refused_by_name() {
        let refused = [
            "PATH",
            "LD_PRELOAD",
            "LD_AUDIT",
            "DYLD_INSERT_LIBRARIES",
            "BASH_ENV",
            "ENV",
            "IFS",
            "SHELLOPTS",
            "PS4",
            "PROMPT_COMMAND",
            "CDPATH",
            "NODE_OPTIONS",
            "NODE_PATH",
            "PYTHONSTARTUP",
            "PYTHONPATH",
            "PYTHONHOME",
            "PYTHONINSPECT",
            "PERL5OPT",
            "PERL5LIB",
            "PERLLIB",
            "RUBYOPT",
            "RUBYLIB",
            "JAVA_TOOL_OPTIONS",
            "_JAVA_OPTIONS",
            "JDK_JAVA_OPTIONS",
            "GIT_SSH_COMMAND",
            "GIT_EXTERNAL_DIFF",
            "GIT_PAGER",
            "GIT_CONFIG_COUNT",
            "PAGER",
            "EDITOR",
            "VISUAL",
            "BROWSER",
            "LESSOPEN",
            "LESSCLOSE",
            "MANPAGER",
            "GCONV_PATH",
            "LOCPATH",
            "HOSTALIASES",
            "RES_OPTIONS",
            "MALLOC_CHECK_",
            "GLIBC_TUNABLES",
            "SSH_ASKPASS",
            "PINZA_KEY",
            "HOME",
            "XDG_CONFIG_HOME",
            "npm_config_script_shell",
            "NPM_CONFIG_SCRIPT_SHELL",
            "RUSTC_WRAPPER",
            "CARGO_HOME",
        ];
        for name in refused {
            let reason = check_env_name(name).unwrap_err();
            assert!(reason.contains(name), "{reason}");
        }
    }

    #[test]
    fn plain_variables_are_fine() {
        for name in
            ["http_proxy", "HTTPS_PROXY", "NO_PROXY", "_", "a1", "REGION", "LC_ALL", "PATHS", "DEBUG", "CI"]
        {
            assert_eq!(check_env_name(name), Ok(()));
        }
    }

    #[test]
    fn only_names_are_names() {
        for name in ["", "1a", "a-b", "a=b", "a b", "a\0", "ä", "BASH_FUNC_x%%", "a\n"] {
            let reason = check_env_name(name).unwrap_err();
            assert!(reason.contains("is not the name of a variable"), "{reason}");
        }
    }
}
