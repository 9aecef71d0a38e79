//! The engine on the ordinary heap, counted.

use std::{cell::Cell, rc::Rc};

use rquickjs::allocator::{Allocator, RustAllocator};

/// How much the engine uses, and how much it may.
#[derive(Clone, Default)]
pub(in super::super) struct Meter {
    used: Rc<Cell<usize>>,
    limit: Rc<Cell<usize>>,
}

impl Meter {
    pub(in super::super) fn new() -> Self {
        let meter = Self::default();
        meter.limit.set(usize::MAX);
        meter
    }

    /// Allows `heap` bytes above what is used now.
    pub(in super::super) fn limit(&self, heap: usize) {
        self.limit.set(self.used.get().saturating_add(heap));
    }

    fn admits(&self, size: usize) -> bool {
        super::admits(self.used.get(), size, self.limit.get())
    }

    fn add(&self, size: usize) {
        self.used.set(self.used.get().saturating_add(size));
    }

    fn subtract(&self, size: usize) {
        self.used.set(self.used.get().saturating_sub(size));
    }
}

/// rquickjs' own allocator with a meter. The wrapped allocator upholds the trait's promises;
/// this one adds arithmetic, never a pointer of its own.
pub(in super::super) struct Metered {
    inner: RustAllocator,
    meter: Meter,
}

impl Metered {
    pub(in super::super) fn new(meter: Meter) -> Self {
        Self { inner: RustAllocator, meter }
    }
}

// SAFETY: every pointer comes from and goes back to `inner`, with the sizes that the engine
// gave; null is returned where `inner` returns null or where the meter refuses.
unsafe impl Allocator for Metered {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        if !self.meter.admits(size) {
            return std::ptr::null_mut();
        }
        let pointer = self.inner.alloc(size);
        self.count(pointer);
        pointer
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size).filter(|total| self.meter.admits(*total)) else {
            return std::ptr::null_mut();
        };
        let pointer = self.inner.calloc(1, total);
        self.count(pointer);
        pointer
    }

    unsafe fn dealloc(&mut self, pointer: *mut u8) {
        if pointer.is_null() {
            return;
        }
        // SAFETY: the caller promises that the pointer came from this allocator, so from `inner`.
        unsafe {
            self.meter.subtract(RustAllocator::usable_size(pointer));
            self.inner.dealloc(pointer);
        }
    }

    unsafe fn realloc(&mut self, pointer: *mut u8, new_size: usize) -> *mut u8 {
        if pointer.is_null() {
            return self.alloc(new_size);
        }
        // SAFETY: as above. The old size is read before the block can move, and counted off
        // only once the new block exists: a failed realloc leaves the old one alive.
        unsafe {
            let old_size = RustAllocator::usable_size(pointer);
            if !self.meter.admits(new_size.saturating_sub(old_size)) {
                return std::ptr::null_mut();
            }
            let moved = self.inner.realloc(pointer, new_size);
            if !moved.is_null() {
                self.meter.subtract(old_size);
                self.count(moved);
            }
            moved
        }
    }

    unsafe fn usable_size(pointer: *mut u8) -> usize {
        // SAFETY: the caller's promise is passed on unchanged.
        unsafe { RustAllocator::usable_size(pointer) }
    }
}

impl Metered {
    fn count(&self, pointer: *mut u8) {
        if !pointer.is_null() {
            // SAFETY: `inner` has just handed this pointer out.
            self.meter.add(unsafe { RustAllocator::usable_size(pointer) });
        }
    }
}
