//! A whole engine in one mapping: its state is a range of bytes, and going back to an earlier
//! state is copying those bytes back.
//!
//! Everything that quickjs-ng allocates comes from here, and so does the allocator's own
//! book-keeping ([`Head`]): an [`Image`] is complete. What a call did (globals, prototypes, timers,
//! pending promises, garbage) is gone with the copy; no destructor runs, none is needed.
//!
//! Of a large image a call changes little. So pages that hold what the image says are write-protected,
//! and only those that were written to since are copied: see [`pages`](super::pages).
//!
//! Two rules keep this sound. Pointers in an image lead into the arena, or to what lives as long
//! as the process. And Rust values that own something in the engine are either older than the
//! image that is copied back, or gone before.

use std::{
    cell::{Cell, RefCell},
    io, ptr,
    rc::Rc,
};

use rquickjs::allocator::Allocator;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous};

use super::{
    admits, out_of_memory,
    pages::{PAGE, Pages, Source},
};

/// Address space, not memory: pages come to be when they are touched. Blocks of different sizes
/// do not share their free space, so this is a few times the largest heap.
pub(super) const CAPACITY: usize = 1 << 30;

/// Before each block stands its size.
const BEFORE: usize = size_of::<usize>();

/// Blocks end on this, so that what follows [`BEFORE`] is aligned to it.
const ALIGN: usize = 16;

/// Whole blocks up to here have a list for each size; larger ones four lists for each doubling.
const SMALL: usize = 1024;
const SMALL_LISTS: usize = SMALL / ALIGN + 1;
const LISTS: usize = SMALL_LISTS + 4 * (CAPACITY.ilog2() - SMALL.ilog2()) as usize;

/// Memory beyond the image up to here is wiped; what lies further out is given back.
const NEAR: usize = 1 << 20;

/// At the start of the arena.
#[repr(C)]
struct Head {
    /// Where the next new block begins, from the start of the arena.
    end: usize,
    /// Bytes in use, as the engine asked for them.
    used: usize,
    /// The first free block of each list; a free block begins with the next one's place.
    free: [usize; LISTS],
}

/// The mapping. It is never unmapped: the engine in it lives as long as the process.
#[derive(Clone)]
pub(in super::super) struct Arena {
    head: *mut Head,
    /// Bytes that may be in use; outside the arena, so that an image does not bring back an old one.
    limit: Rc<Cell<usize>>,
    pages: Rc<RefCell<Pages>>,
}

impl Arena {
    /// Fails where the system does not lend so much address space.
    pub(in super::super) fn reserve() -> io::Result<Self> {
        // SAFETY: a new mapping, at an address of the kernel's choice, touches nothing that exists.
        let base = unsafe {
            mmap_anonymous(
                ptr::null_mut(),
                CAPACITY,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE | MapFlags::NORESERVE,
            )?
        };
        // A huge page would be copied and counted whole for its first byte. Without, it is only slower.
        // SAFETY: advice about a mapping that was just made.
        let _ = unsafe { madvise(base, CAPACITY, Advice::LinuxNoHugepage) };
        let head = base.cast::<Head>();
        // SAFETY: the mapping is zeroed, writable, page-aligned and larger than a head.
        unsafe { (*head).end = size_of::<Head>().next_multiple_of(ALIGN) + ALIGN - BEFORE };
        let pages = Pages::of(base.cast());
        Ok(Self { head, limit: Rc::new(Cell::new(CAPACITY)), pages: Rc::new(RefCell::new(pages)) })
    }

    /// Has the process note which pages are written to; tells whether it does. One arena can have this.
    pub(in super::super) fn watch(&self) -> bool {
        self.pages.borrow_mut().watch()
    }

    /// For the one engine that lives in this arena.
    pub(in super::super) fn allocator(&self) -> ArenaAllocator {
        ArenaAllocator(self.clone())
    }

    /// Allows `heap` bytes above a floor.
    pub(in super::super) fn limit(&self, floor: usize, heap: usize) {
        self.limit.set(floor.saturating_add(heap));
    }

    pub(in super::super) fn used(&self) -> usize {
        // SAFETY: the head lies at the start of a mapping that is never unmapped.
        unsafe { (*self.head).used }
    }

    /// The state as it is now, as what differs from `base`.
    pub(in super::super) fn image(&self, base: Option<&Image>) -> Image {
        let now = self.bytes();
        let mut image =
            Image { source: self.pages.borrow_mut().new_source(), own: Vec::new(), bytes: Vec::new() };
        for (index, page) in now.chunks(PAGE).enumerate() {
            let same = base.and_then(|base| base.page(index)).is_some_and(|before| before.starts_with(page));
            if same && page.len() == PAGE {
                image.own.push(None);
                continue;
            }
            image.own.push(Some(image.bytes.len()));
            image.bytes.extend_from_slice(page);
            // What lies beyond the end is zero: it is wiped after each call.
            image.bytes.resize(image.bytes.len().next_multiple_of(PAGE), 0);
        }
        image
    }

    /// Goes back to a state: to `base`, or to an image that was taken against it.
    ///
    /// # Safety
    /// No Rust value that came to be after the image was taken may own anything in the engine.
    /// Both images must be of this arena.
    pub(in super::super) unsafe fn restore(&self, base: &Image, image: Option<&Image>) {
        let image = image.unwrap_or(base);
        let end = self.bytes().len();
        let start = self.head.cast::<u8>();
        let mut pages = self.pages.borrow_mut();
        let count = pages.count(image.own.len());
        for index in 0..count {
            let (source, bytes) = match (image.page(index), base.page(index)) {
                (Some(own), _) => (image.source, Some(own)),
                (None, Some(bytes)) if index < image.own.len() => (base.source, Some(bytes)),
                _ => (Source::ZEROS, None),
            };
            if !pages.becomes(index, source) {
                continue;
            }
            // SAFETY: pages up to the count lie in the arena, images' bytes on the ordinary heap.
            // No reference into the arena exists.
            unsafe {
                let page = start.add(index * PAGE);
                match bytes {
                    Some(bytes) => ptr::copy_nonoverlapping(bytes.as_ptr(), page, PAGE),
                    None => ptr::write_bytes(page, 0, PAGE),
                }
            }
        }
        self.wipe(count * PAGE, end);
    }

    /// From now on, knows again which pages are written to: for the time just after a `restore`.
    pub(in super::super) fn protect(&self) {
        self.pages.borrow_mut().protect();
    }

    /// Leaves nothing of a call behind in memory that the next one gets.
    fn wipe(&self, from: usize, to: usize) {
        if to <= from {
            return;
        }
        let near = to.min(from.saturating_add(NEAR).next_multiple_of(PAGE));
        // SAFETY: both ranges lie in the arena, beyond all live blocks; the second begins at a
        // page, and reads as zeros when it is touched again.
        unsafe {
            let start = self.head.cast::<u8>();
            ptr::write_bytes(start.add(from), 0, near - from);
            if near < to && madvise(start.add(near).cast(), to - near, Advice::LinuxDontNeed).is_err() {
                ptr::write_bytes(start.add(near), 0, to - near);
            }
        }
    }

    /// All of the arena that is in use.
    fn bytes(&self) -> &[u8] {
        // SAFETY: everything up to the end was mapped zeroed or written since. The slice is gone
        // before the engine runs again: its users are the two functions above.
        unsafe { std::slice::from_raw_parts(self.head.cast(), (*self.head).end) }
    }
}

/// A state of the arena, in whole pages.
pub(in super::super) struct Image {
    source: Source,
    /// Where a page's bytes begin; `None` for one that is as in the base.
    own: Vec<Option<usize>>,
    bytes: Vec<u8>,
}

impl Image {
    /// The memory that it takes itself.
    pub(in super::super) fn size(&self) -> usize {
        self.bytes.len()
    }

    fn page(&self, index: usize) -> Option<&[u8]> {
        let at = (*self.own.get(index)?)?;
        self.bytes.get(at..at + PAGE)
    }
}

pub(in super::super) struct ArenaAllocator(Arena);

/// The whole block that a request takes.
fn whole(size: usize) -> usize {
    let least = size + BEFORE;
    if least <= SMALL {
        return least.next_multiple_of(ALIGN);
    }
    large(least).1
}

/// The list of whole blocks of a size.
fn list(whole: usize) -> usize {
    if whole <= SMALL { whole / ALIGN } else { large(whole).0 }
}

/// List and size of the smallest large block that holds `least` bytes.
fn large(least: usize) -> (usize, usize) {
    // SMALL is a power of two: a doubling's four sizes are 5/4, 6/4, 7/4 and 8/4 of its start.
    let doubling = (least - 1).ilog2();
    let quarter = 1usize << (doubling - 2);
    let step = (least - 1 - (1 << doubling)) / quarter;
    let list = SMALL_LISTS + 4 * (doubling - SMALL.ilog2()) as usize + step;
    (list, (1 << doubling) + (step + 1) * quarter)
}

impl ArenaAllocator {
    /// The block's size as it was asked for, which stands before it.
    unsafe fn size(pointer: *mut u8) -> *mut usize {
        // SAFETY: the caller promises a pointer that `alloc` gave out, with its size before it.
        unsafe { pointer.sub(BEFORE).cast() }
    }

    fn fits(&self, size: usize) -> bool {
        size <= CAPACITY / 2 && admits(self.0.used(), size, self.0.limit.get())
    }
}

// SAFETY: blocks are disjoint: a new one begins where all others end, a reused one came off a
// free list where only `dealloc` puts blocks. Each is as large as asked or larger, and aligned
// to 16 bytes, because the arena's first block and all blocks' sizes are.
unsafe impl Allocator for ArenaAllocator {
    fn alloc(&mut self, size: usize) -> *mut u8 {
        let size = size.next_multiple_of(8);
        if !self.fits(size) {
            return ptr::null_mut();
        }
        let whole = whole(size);
        let list = list(whole);
        // SAFETY: the head is valid for the life of the process, and nothing else refers to it
        // here. Places in it are the arena's own: scripts reach none of them.
        unsafe {
            let head = &mut *self.0.head;
            let place = match head.free[list] {
                0 => {
                    if head.end + whole > CAPACITY {
                        out_of_memory();
                    }
                    let place = head.end;
                    head.end += whole;
                    place
                }
                place => {
                    head.free[list] = *self.0.head.cast::<u8>().add(place).cast::<usize>();
                    place
                }
            };
            head.used += size;
            let block = self.0.head.cast::<u8>().add(place);
            block.cast::<usize>().write(size);
            block.add(BEFORE)
        }
    }

    fn calloc(&mut self, count: usize, size: usize) -> *mut u8 {
        let Some(total) = count.checked_mul(size) else { return ptr::null_mut() };
        let pointer = self.alloc(total);
        if !pointer.is_null() {
            // SAFETY: the block was just made, with at least this size.
            unsafe { ptr::write_bytes(pointer, 0, total) };
        }
        pointer
    }

    unsafe fn dealloc(&mut self, pointer: *mut u8) {
        if pointer.is_null() {
            return;
        }
        // SAFETY: the pointer came from `alloc`, so its size stands before it, and the block is
        // nobody's any more: its first word becomes the link to the next free one.
        unsafe {
            let head = &mut *self.0.head;
            let size = *Self::size(pointer);
            let list = list(whole(size));
            let block = pointer.sub(BEFORE);
            block.cast::<usize>().write(head.free[list]);
            head.free[list] = block.offset_from(self.0.head.cast::<u8>()) as usize;
            head.used -= size;
        }
    }

    unsafe fn realloc(&mut self, pointer: *mut u8, new_size: usize) -> *mut u8 {
        if pointer.is_null() {
            return self.alloc(new_size);
        }
        let new_size = new_size.next_multiple_of(8);
        // SAFETY: the pointer came from `alloc`. In place, only the size before it changes, or
        // the end of the last block moves; else the old block is copied, up to the smaller of
        // both sizes, and then freed.
        unsafe {
            let size = *Self::size(pointer);
            if !self.fits(new_size.saturating_sub(size)) {
                return ptr::null_mut();
            }
            let (old, new) = (whole(size), whole(new_size));
            let head = &mut *self.0.head;
            let place = pointer.sub(BEFORE).offset_from(self.0.head.cast::<u8>()) as usize;
            let is_last = place + old == head.end && new > old && place + new <= CAPACITY;
            if old == new || is_last {
                if is_last {
                    head.end = place + new;
                }
                head.used = head.used - size + new_size;
                *Self::size(pointer) = new_size;
                return pointer;
            }
            let moved = self.alloc(new_size);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(pointer, moved, size.min(new_size));
                self.dealloc(pointer);
            }
            moved
        }
    }

    unsafe fn usable_size(pointer: *mut u8) -> usize {
        // SAFETY: as the caller promises, the pointer came from `alloc`.
        unsafe { *Self::size(pointer) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_gets_a_block_that_holds_it_and_is_found_again() {
        let mut sizes: Vec<usize> = (0..5000).map(|step| step * 8).collect();
        sizes.extend((12..29).flat_map(|power| [(1 << power) - 8, 1 << power, (1 << power) + 8]));
        for size in sizes {
            let whole = whole(size);
            assert!(whole >= size + BEFORE && whole.is_multiple_of(ALIGN), "{size} {whole}");
            assert!(whole <= (size + BEFORE).max(64) * 5 / 4 + ALIGN, "{size} {whole}");
            assert!(list(whole) < LISTS, "{size}");
            // A block is put back by its size as asked, and taken by its whole size.
            assert_eq!(list(whole), list(super::whole(whole - BEFORE)), "{size}");
        }
    }

    /// In a process, one arena can be write-protected; both kinds must do the same.
    fn going_back(arena: &Arena) {
        let mut allocator = arena.allocator();
        // SAFETY: blocks are used within their sizes; none outlives the state that it is of.
        unsafe {
            let old = allocator.alloc(100_000);
            ptr::write_bytes(old, 1, 100_000);
            let base = arena.image(None);
            let kept = allocator.alloc(30_000);
            ptr::write_bytes(kept, 2, 30_000);
            *old.add(50_000) = 3;
            let image = arena.image(Some(&base));
            assert!(image.size() <= 30_000 + 5 * PAGE, "{}", image.size());
            let before = arena.bytes().to_vec();
            for (round, length) in [10, 5000, 3 << 20, 10, 70_000, 10].into_iter().enumerate() {
                ptr::write_bytes(old.add(round * 9000), 9, 9000);
                allocator.dealloc(kept);
                let late = allocator.alloc(length);
                ptr::write_bytes(late, 9, length);
                arena.restore(&base, Some(&image));
                assert_eq!(arena.bytes(), before, "{length}");
                assert_eq!((*old, *old.add(50_000), *kept.add(29_999)), (1, 3, 2));
                let start = arena.head.cast::<u8>();
                assert!((before.len()..before.len() + length).all(|at| *start.add(at) == 0), "{length}");
                if round % 2 == 0 {
                    arena.protect();
                }
                if round % 3 == 0 {
                    ptr::write_bytes(old.add(99_000), 9, 1000);
                    arena.restore(&base, None);
                    assert_eq!(*old.add(50_000), 1);
                    assert_eq!(arena.bytes(), &base.bytes[..arena.bytes().len()]);
                    arena.restore(&base, Some(&image));
                    assert_eq!(arena.bytes(), before, "{length}");
                }
            }
        }
    }

    #[test]
    fn going_back_brings_every_byte_back_and_leaves_nothing_beyond() {
        let one = Arena::reserve().unwrap();
        let other = Arena::reserve().unwrap();
        // No other test of this process watches one.
        assert!(one.watch() && !other.watch());
        going_back(&one);
        going_back(&other);
    }

    #[test]
    fn blocks_keep_their_bytes_while_others_come_and_go() {
        let arena = Arena::reserve().unwrap();
        let mut allocator = arena.allocator();
        let mut live: Vec<(*mut u8, usize, u8)> = Vec::new();
        let mut state = 1u64;
        let mut random = move |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % below
        };
        for round in 0..20_000u32 {
            let mark = round as u8;
            // SAFETY: every pointer in `live` came from this allocator with that size.
            unsafe {
                match random(3) {
                    0 if !live.is_empty() => {
                        let (pointer, size, mark) = live.swap_remove(random(live.len()));
                        assert!((0..size).all(|at| *pointer.add(at) == mark));
                        allocator.dealloc(pointer);
                    }
                    1 if !live.is_empty() => {
                        let index = random(live.len());
                        let (pointer, size, mark) = live[index];
                        let new = random(6000) + 1;
                        let moved = allocator.realloc(pointer, new);
                        assert!((0..size.min(new)).all(|at| *moved.add(at) == mark));
                        ptr::write_bytes(moved, mark, new);
                        live[index] = (moved, new, mark);
                    }
                    _ => {
                        let size = random(if round % 50 == 0 { 200_000 } else { 2000 }) + 1;
                        let pointer = allocator.alloc(size);
                        assert_eq!(pointer.align_offset(ALIGN), 0);
                        ptr::write_bytes(pointer, mark, size);
                        live.push((pointer, size, mark));
                    }
                }
            }
        }
        let expected: usize = live.iter().map(|(_, size, _)| size.next_multiple_of(8)).sum();
        assert_eq!(arena.used(), expected);
    }
}
