//! The jailed file system: the one tree of files that tools may touch.
//!
//! A tool names a file by a path, and whoever races the tool may change what that path means
//! between a check and its use. So nothing is checked by its path: every place is opened
//! beneath the workspace's directory descriptor, the kernel refuses what would leave it, and
//! every further question (a regular file? hard links? Pinza's own?) is asked of the
//! descriptor that is then used.

mod beneath;
mod entries;
mod guard;
mod jail;
mod path;
mod place;
mod replace;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use pinza_core::{BoxFuture, FsBridge, FsEntry, FsError, FsStat, Removal, WriteMode};
use serde::{Deserialize, Serialize};

pub use jail::{Directory, Jail};

/// How a workspace treats what lies in it.
#[derive(Clone, Debug, Default)]
pub struct WorkspaceOptions {
    /// Directories that tools neither read nor write, whether or not they exist yet: Pinza's
    /// home. A workspace that lies *inside* one of them works as any other.
    pub protected: Vec<PathBuf>,
    pub hardlinks: Hardlinks,
}

/// Whether files with more than one name may be touched. Another name may lie outside the
/// workspace, and nothing can tell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hardlinks {
    #[default]
    Refuse,
    Allow,
}

#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    #[error("cannot use {} as the workspace: {source}", path.display())]
    Unusable { path: PathBuf, source: io::Error },
    #[error("the workspace {} is Pinza's home itself; use a directory inside it or elsewhere", path.display())]
    IsHome { path: PathBuf },
    #[error("the file tools need the system call openat2 (Linux 5.6 or later)")]
    OldKernel,
}

/// The workspace as tools see it. Clones share one jail.
#[derive(Clone, Debug)]
pub struct Workspace {
    jail: Arc<Jail>,
}

impl Workspace {
    /// Opens the workspace, and creates its directory where there is none.
    pub fn open(root: &Path, options: WorkspaceOptions) -> Result<Self, WorkspaceError> {
        Ok(Self { jail: Arc::new(Jail::open(root, options)?) })
    }

    /// The workspace's directory, absolute and without links.
    pub fn root(&self) -> &Path {
        self.jail.root()
    }

    /// The same operations for callers that may block.
    pub fn jail(&self) -> &Jail {
        &self.jail
    }

    /// A directory of the workspace, for a child process to work in. Blocks for microseconds.
    pub fn directory(&self, path: &str) -> Result<Directory, FsError> {
        self.jail.directory(path)
    }

    /// Keeps an outsized result for the model to read in parts; see [`Jail::keep_output`].
    pub fn keep_output(&self, name: &str, text: &[u8]) -> Result<String, FsError> {
        self.jail.keep_output(name, text)
    }

    /// A slow disk or a network share must not stall the threads that serve everyone else.
    async fn off_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Jail) -> Result<T, FsError> + Send + 'static,
    ) -> Result<T, FsError> {
        let jail = Arc::clone(&self.jail);
        match tokio::task::spawn_blocking(move || work(&jail)).await {
            Ok(result) => result,
            Err(stopped) => Err(FsError::Io(format!("the file operation was stopped: {stopped}"))),
        }
    }
}

impl FsBridge for Workspace {
    fn stat<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Option<FsStat>, FsError>> {
        let path = path.to_owned();
        Box::pin(self.off_thread(move |jail| jail.stat(&path)))
    }

    fn read<'a>(&'a self, path: &'a str, limit: u64) -> BoxFuture<'a, Result<Vec<u8>, FsError>> {
        let path = path.to_owned();
        Box::pin(self.off_thread(move |jail| jail.read(&path, limit)))
    }

    fn mkdirp<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<(), FsError>> {
        let path = path.to_owned();
        Box::pin(self.off_thread(move |jail| jail.mkdirp(&path)))
    }

    fn write<'a>(
        &'a self,
        path: &'a str,
        data: &'a [u8],
        mode: WriteMode,
    ) -> BoxFuture<'a, Result<(), FsError>> {
        let (path, data) = (path.to_owned(), data.to_vec());
        Box::pin(self.off_thread(move |jail| jail.write(&path, &data, mode)))
    }
    fn list<'a>(&'a self, path: &'a str) -> BoxFuture<'a, Result<Vec<FsEntry>, FsError>> {
        let path = path.to_owned();
        Box::pin(self.off_thread(move |jail| jail.list(&path)))
    }

    fn remove<'a>(&'a self, path: &'a str, what: Removal) -> BoxFuture<'a, Result<(), FsError>> {
        let path = path.to_owned();
        Box::pin(self.off_thread(move |jail| jail.remove(&path, what)))
    }

    fn rename<'a>(&'a self, from: &'a str, to: &'a str) -> BoxFuture<'a, Result<(), FsError>> {
        let (from, to) = (from.to_owned(), to.to_owned());
        Box::pin(self.off_thread(move |jail| jail.rename(&from, &to)))
    }
}
