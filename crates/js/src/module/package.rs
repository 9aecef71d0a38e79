//! What is installed: whether it is there, and whether it is what the manifest wants.

use std::{fs, path::Path};

use pinza_core::{ErrorKind, ToolError, visible};
use serde::Deserialize;

use super::{ModuleManifest, graph::node_modules};

pub(super) struct Installed {
    name: String,
    version: Option<String>,
}

#[derive(Deserialize)]
struct PackageJson {
    #[serde(default)]
    version: Option<String>,
}

impl Installed {
    /// A package by name, in `node_modules` of the module or above it; a path has no version.
    pub(super) fn find(directory: &Path, package: &str) -> Result<Self, ToolError> {
        if package.starts_with(['.', '/']) {
            return Ok(Self { name: package.to_owned(), version: None });
        }
        let name = name_of(package);
        let modules = node_modules(directory, package).unwrap_or_else(|| directory.join("node_modules"));
        let file = modules.join(&name).join("package.json");
        let missing = |reason: String| {
            ToolError::new(
                ErrorKind::NotFound,
                format!("The package '{}' is not installed: {reason}", visible(&name)),
            )
            .hint(format!(
                "In {}: npm install --ignore-scripts {}",
                directory.display(),
                visible(&name)
            ))
        };
        let text =
            fs::read_to_string(&file).map_err(|error| missing(format!("{}: {error}", file.display())))?;
        let PackageJson { version } =
            serde_json::from_str(&text).map_err(|error| missing(format!("{}: {error}", file.display())))?;
        Ok(Self { name, version })
    }

    pub(super) fn satisfies(&self, manifest: &ModuleManifest) -> Result<(), ToolError> {
        let (Some(wanted), Some(version)) = (&manifest.package_version, &self.version) else { return Ok(()) };
        let fits = nodejs_semver::Range::parse(wanted)
            .ok()
            .zip(nodejs_semver::Version::parse(version).ok())
            .is_some_and(|(range, version)| range.satisfies(&version));
        if fits {
            return Ok(());
        }
        let message = format!(
            "The module '{}' wants {} {wanted}, but {version} is installed",
            manifest.name,
            visible(&self.name)
        );
        Err(ToolError::execution(message)
            .hint(format!("Install {}@\"{wanted}\" beside it.", visible(&self.name))))
    }
}

/// `lodash/fp` is in the package `lodash`, `@a/b/c` in `@a/b`.
pub(super) fn name_of(specifier: &str) -> String {
    let parts = if specifier.starts_with('@') { 2 } else { 1 };
    specifier.split('/').take(parts).collect::<Vec<_>>().join("/")
}
