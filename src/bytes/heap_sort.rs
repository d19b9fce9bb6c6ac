//! Sorting in place.

/// Sorts `items` by `less` with heap sort: no recursion, no path to a panic, and a tenth of the flash that the sort
/// of the standard library takes. The order of equal items may change.
pub(crate) fn sort_by<T: Copy>(items: &mut [T], less: impl Fn(&T, &T) -> bool) {
    sort(items.len(), &mut Items { items, less });
}

/// Items by index, so that all item types share the code that sorts.
trait Heap {
    fn less(&self, a: usize, b: usize) -> bool;
    fn swap(&mut self, a: usize, b: usize);
}

struct Items<'i, T, F> {
    items: &'i mut [T],
    less: F,
}

impl<T: Copy, F: Fn(&T, &T) -> bool> Heap for Items<'_, T, F> {
    fn less(&self, a: usize, b: usize) -> bool {
        match (self.items.get(a), self.items.get(b)) {
            (Some(a), Some(b)) => (self.less)(a, b),
            _ => false,
        }
    }

    fn swap(&mut self, a: usize, b: usize) {
        if let (Some(x), Some(y)) = (self.items.get(a).copied(), self.items.get(b).copied()) {
            if let Some(place) = self.items.get_mut(a) {
                *place = y;
            }
            if let Some(place) = self.items.get_mut(b) {
                *place = x;
            }
        }
    }
}

fn sort(len: usize, heap: &mut dyn Heap) {
    // First all parents sink, from the last to the first. Then the largest item moves to the end, repeatedly.
    let (mut root, mut end) = (len >> 1, len);
    loop {
        if root > 0 {
            root = root.wrapping_sub(1);
        } else {
            end = end.wrapping_sub(1);
            if end == 0 || end > len {
                return;
            }
            heap.swap(0, end);
        }
        sink(heap, end, root);
    }
}

/// Lets the item at `place` sink below larger children. Only items before `end` belong to the heap.
fn sink(heap: &mut dyn Heap, end: usize, mut place: usize) {
    loop {
        let left = place.wrapping_mul(2).wrapping_add(1);
        if left >= end {
            return;
        }
        let right = left.wrapping_add(1);
        let child = if right < end && heap.less(left, right) { right } else { left };
        if !heap.less(place, child) {
            return;
        }
        heap.swap(place, child);
        place = child;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::vec::Vec;

    proptest! {
        #[test]
        fn sorts_as_the_standard_library_does(mut items: Vec<u8>) {
            let mut expected = items.clone();
            expected.sort_unstable();
            super::sort_by(&mut items, |a, b| a < b);
            prop_assert_eq!(items, expected);
        }
    }
}
