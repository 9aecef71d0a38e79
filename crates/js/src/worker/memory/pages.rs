//! Which pages of the arena a call has written to.
//!
//! Pages whose content is known are write-protected. The first write to one is a fault, whose
//! handler notes the page and opens it; it stays open, so that the pages which every call writes
//! to cost one fault, not one a call. An image that goes back copies open pages, and closed ones
//! whose content is another image's.
//!
//! Handler and notes are the process's, so one arena can have them. Any other counts every page as
//! written, and copies whole images.

use std::{
    ptr,
    sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering},
};

use rustix::mm::{MprotectFlags, mprotect};

use super::arena::CAPACITY;

/// On other systems pages may be larger; there, protection fails and all pages count as written.
pub(super) const PAGE: usize = 4096;

/// Where the watched arena begins.
static START: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());

/// How many of its pages are watched.
static WATCHED: AtomicUsize = AtomicUsize::new(0);

/// Pages that were written to since they were closed.
static WRITTEN: [AtomicBool; CAPACITY / PAGE] = [const { AtomicBool::new(true) }; CAPACITY / PAGE];

/// What a page's bytes came from: an image, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Source(u64);

impl Source {
    pub(super) const ZEROS: Self = Self(0);
}

pub(super) struct Pages {
    start: *mut u8,
    watched: bool,
    /// What each page held before it was written to.
    sources: Vec<Source>,
    last_source: u64,
}

impl Pages {
    pub(super) fn of(start: *mut u8) -> Self {
        Self { start, watched: false, sources: Vec::new(), last_source: 0 }
    }

    /// Watches this arena, if it is the process's first; tells whether.
    pub(super) fn watch(&mut self) -> bool {
        let first = START.compare_exchange(ptr::null_mut(), self.start, Ordering::Relaxed, Ordering::Relaxed);
        self.watched = first.is_ok() && handle_faults();
        self.watched
    }

    pub(super) fn new_source(&mut self) -> Source {
        self.last_source += 1;
        Source(self.last_source)
    }

    /// The pages to look at for an image of so many.
    pub(super) fn count(&mut self, pages: usize) -> usize {
        let count = self.sources.len().max(pages);
        self.sources.resize(count, Source::ZEROS);
        count
    }

    /// Notes where a page's content comes from now; `false` if that is what it holds already.
    pub(super) fn becomes(&mut self, index: usize, source: Source) -> bool {
        let Some(held) = self.sources.get_mut(index) else { return true };
        let written = !self.watched || WRITTEN.get(index).is_none_or(|page| page.load(Ordering::Relaxed));
        let changes = written || *held != source;
        *held = source;
        changes
    }

    /// Closes all pages whose content is known.
    pub(super) fn protect(&mut self) {
        if !self.watched {
            return;
        }
        let count = self.sources.len();
        WATCHED.store(count, Ordering::Relaxed);
        // SAFETY: the pages are the arena's, and whoever writes to them goes through the handler.
        let closed = unsafe { mprotect(self.start.cast(), count * PAGE, MprotectFlags::READ) };
        for page in WRITTEN.iter().take(count) {
            page.store(closed.is_err(), Ordering::Relaxed);
        }
        if closed.is_err() {
            // Some of them may be closed all the same.
            // SAFETY: as above.
            let _ = unsafe { mprotect(self.start.cast(), count * PAGE, BOTH) };
            self.watched = false;
        }
    }
}

const BOTH: MprotectFlags = MprotectFlags::READ.union(MprotectFlags::WRITE);

/// Puts [`opens_page`] in place of whatever handled faults before: a worker has no use for it.
fn handle_faults() -> bool {
    // SAFETY: an all-zero `sigaction` is a valid one, with an empty mask. The handler has the
    // signature that SA_SIGINFO asks for. On a stack of its own, if there is one: the fault may
    // be that of a stack that is full.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = opens_page as *const () as usize;
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigaction(libc::SIGSEGV, &action, ptr::null_mut()) == 0
    }
}

/// Opens the page whose first write this is. Any other fault is a crash, as it would be without us.
extern "C" fn opens_page(_signal: i32, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    let start = START.load(Ordering::Relaxed);
    // SAFETY: the kernel hands a valid record to a handler with SA_SIGINFO.
    let address = unsafe { (*info).si_addr() } as usize;
    let index = address.wrapping_sub(start as usize) / PAGE;
    if index < WATCHED.load(Ordering::Relaxed)
        && let Some(page) = WRITTEN.get(index)
        && !page.swap(true, Ordering::Relaxed)
    {
        // SAFETY: the page is a closed one of the arena. The system call is the only thing done
        // here that is more than reading and writing a word.
        if unsafe { mprotect(start.add(index * PAGE).cast(), PAGE, BOTH) }.is_ok() {
            return;
        }
    }
    // SAFETY: the default action ends the process when the same instruction faults again.
    unsafe {
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
    }
}
