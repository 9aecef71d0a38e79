//! A package as it lies in a module's `node_modules`.

use std::{path::Path, sync::Arc};

use super::{
    draft::{Draft, DraftFault, DraftWish, draft},
    json::PackageJson,
    parse::on_deep_stack,
    resolve::{Platform, Resolver, Target, Wanted},
    tree::{Tree, TreeFault},
    verdict::{PackageVerdict, verdict},
};

/// Why a package cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PackageFault {
    #[error("'{package}' is not installed in {directory}")]
    NotInstalled { package: String, directory: String },
    #[error("the package.json of '{package}' is not valid JSON: {reason}")]
    BadJson { package: String, reason: String },
    #[error("'{package}' is not read: {fault}")]
    Tree { package: String, fault: TreeFault },
    #[error("'{package}' is not read: {reason}")]
    Unreadable { package: String, reason: &'static str },
}

/// An installed package, its files listed.
#[derive(Clone, Debug)]
pub struct Installed {
    pub(super) name: String,
    pub(super) json: PackageJson,
    pub(super) tree: Arc<Tree>,
}

impl Installed {
    /// The package of this name in `DIRECTORY/node_modules`.
    pub fn open(directory: &Path, package: &str) -> Result<Self, PackageFault> {
        let name = package.to_owned();
        let not_installed = || PackageFault::NotInstalled {
            package: name.clone(),
            directory: directory.display().to_string(),
        };
        let modules = directory.join("node_modules");
        if !modules.is_dir() {
            return Err(not_installed());
        }
        let tree = |fault| PackageFault::Tree { package: name.clone(), fault };
        let files = Tree::list(&modules).map_err(tree)?;
        let file = format!("{package}/package.json");
        if !files.has(&file) {
            return Err(not_installed());
        }
        let text = files.text(&file).map_err(tree)?;
        let json = PackageJson::parse(&text)
            .map_err(|error| PackageFault::BadJson { package: name.clone(), reason: error.to_string() })?;
        Ok(Self { name, json, tree: Arc::new(files) })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn version(&self) -> Option<&str> {
        self.json.text("version")
    }

    pub fn description(&self) -> Option<&str> {
        self.json.text("description")
    }

    /// Are there declarations of its types, its own or somebody else's?
    pub fn has_types(&self) -> bool {
        let resolver = Resolver::new(&self.tree, Platform::Node);
        let own = resolver.package(&self.name, ".", Wanted::Types);
        [own, resolver.foreign_types(&self.name, ".")].iter().any(|found| matches!(found, Target::File(_)))
    }

    /// Whether it can run here, on which engine, and what it needs for that.
    pub fn verdict(&self) -> Result<PackageVerdict, PackageFault> {
        let package = self.clone();
        on_deep_stack(move || verdict(&package)).map_err(|reason| self.unreadable(reason))
    }

    /// A `module.json` for it.
    pub fn draft(&self, wish: &DraftWish, verdict: &PackageVerdict) -> Result<Draft, DraftFault> {
        let (package, wish, verdict) = (self.clone(), wish.clone(), verdict.clone());
        let drafted = on_deep_stack(move || draft(&package, &wish, &verdict));
        drafted.unwrap_or_else(|reason| Err(DraftFault::Package(self.unreadable(reason))))
    }

    fn unreadable(&self, reason: &'static str) -> PackageFault {
        PackageFault::Unreadable { package: self.name.clone(), reason }
    }
}
