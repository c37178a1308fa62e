//! What Python calls for graphs; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, DONE, MISUSED, PANICKED};
use crate::graphs::Edges;

/// Put the other ends of each node's edges side by side. `relations` may be null.
///
/// # Safety
/// `sources`, `targets` and `relations` point to `edges` numbers, `begins` to `nodes` + 1 to be written, `others` to `room`
/// ones.
#[no_mangle]
pub unsafe extern "C" fn rd_ends_by_node(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
    begins: *mut i64,
    others: *mut i32,
    room: u64,
) -> i32 {
    guarded(PANICKED, || {
        let (Some(sources), Some(targets)) = (slice(sources, edges), slice(targets, edges)) else { return MISUSED };
        let relations = if relations.is_null() { None } else { slice(relations, edges) };
        let Some(edges) = Edges::new(sources, targets, relations, nodes as usize) else { return MISUSED };
        match (slice_mut(begins, nodes.saturating_add(1)), slice_mut(others, room)) {
            (Some(begins), Some(others)) => {
                if edges.by_node(begins, others) {
                    DONE
                } else {
                    MISUSED
                }
            }
            _ => MISUSED,
        }
    })
}
