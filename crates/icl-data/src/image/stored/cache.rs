//! Cache of decoded images.

use std::mem::size_of;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use lru::LruCache;

use crate::image::raster::Image;

/// Memory of an entry besides its pixels: the image, its two reference counts, and its links, key and
/// slot in the table of entries.
const ENTRY_BYTES: usize = size_of::<Image>() + 12 * size_of::<usize>();

/// Images by the index of their file; the least recently used ones are evicted first.
///
/// The cached images never exceed the capacity. An evicted image lives as long as it is in use.
pub(super) struct ImageCache {
    capacity: usize,
    held: Mutex<Held>,
}

struct Held {
    images: LruCache<usize, Arc<Image>>,
    n_bytes: usize,
}

impl ImageCache {
    /// Creates a cache of at most `capacity` bytes; with 0 bytes nothing is cached.
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            capacity,
            held: Mutex::new(Held {
                images: LruCache::unbounded(),
                n_bytes: 0,
            }),
        }
    }

    pub(super) fn get(&self, index: usize) -> Option<Arc<Image>> {
        self.lock().images.get(&index).cloned()
    }

    pub(super) fn insert(&self, index: usize, image: Arc<Image>) {
        let needed = n_bytes(&image);
        if needed > self.capacity {
            return;
        }
        let mut held = self.lock();
        if let Some(replaced) = held.images.pop(&index) {
            held.n_bytes -= n_bytes(&replaced);
        }
        while held.n_bytes > self.capacity - needed {
            let Some((_, oldest)) = held.images.pop_lru() else {
                break;
            };
            held.n_bytes -= n_bytes(&oldest);
        }
        held.n_bytes += needed;
        held.images.put(index, image);
    }

    fn lock(&self) -> MutexGuard<'_, Held> {
        // No operation under the lock panics half-way.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn n_bytes(image: &Image) -> usize {
    image.pixels().len() + ENTRY_BYTES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image(n_pixels: usize, value: u8) -> Arc<Image> {
        Arc::new(Image::new(n_pixels, 1, 1, vec![value; n_pixels]))
    }

    fn held(cache: &ImageCache) -> (usize, usize) {
        let held = cache.lock();
        let summed: usize = held.images.iter().map(|(_, image)| n_bytes(image)).sum();
        assert_eq!(summed, held.n_bytes);
        (held.images.len(), held.n_bytes)
    }

    #[test]
    fn the_least_recently_used_image_goes_first() {
        let cache = ImageCache::new(3 * (100 + ENTRY_BYTES));
        for index in 0..3 {
            cache.insert(index, image(100, index as u8));
        }
        assert!(cache.get(0).is_some());
        cache.insert(3, image(100, 3));
        let held: Vec<bool> = (0..4).map(|index| cache.get(index).is_some()).collect();
        assert_eq!(held, [true, false, true, true]);
        assert_eq!(cache.get(3).unwrap().pixels()[0], 3);
    }

    #[test]
    fn what_is_held_stays_under_the_bound() {
        let capacity = 2000;
        let cache = ImageCache::new(capacity);
        for step in 0..1000_usize {
            cache.insert(step * 7 % 40, image(1 + step * 131 % 900, 0));
            assert!(held(&cache).1 <= capacity);
        }
        assert!(held(&cache).0 > 1);
        // An image larger than the cache is not cached and evicts nothing.
        let before = held(&cache);
        cache.insert(99, image(capacity, 0));
        assert_eq!(held(&cache), before);
    }

    #[test]
    fn a_cache_of_no_bytes_holds_nothing() {
        let cache = ImageCache::new(0);
        cache.insert(0, image(1, 0));
        assert_eq!(held(&cache), (0, 0));
    }

    #[test]
    fn threads_share_it() {
        let cache = ImageCache::new(50 * (64 + ENTRY_BYTES));
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let cache = &cache;
                scope.spawn(move || {
                    for step in 0..2000 {
                        let index = (step * 13 + thread * 29) % 80;
                        match cache.get(index) {
                            Some(found) => assert_eq!(found.pixels()[0], index as u8),
                            None => cache.insert(index, image(64, index as u8)),
                        }
                    }
                });
            }
        });
        assert_eq!(held(&cache).0, 50);
    }
}
