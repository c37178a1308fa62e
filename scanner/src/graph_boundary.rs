//! What Python calls for graphs; as in `boundary.rs`.

#![allow(unsafe_code)]

use crate::boundary::{guarded, slice, slice_mut, DONE, MISUSED, PANICKED};
use crate::graphs::Edges;

/// The edges that are given, in memory of Python; null is no relations.
///
/// # Safety
/// `sources`, `targets` and `relations` point to `edges` numbers.
unsafe fn given<'a>(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
) -> Option<Edges<'a>> {
    let relations = if relations.is_null() { None } else { Some(slice(relations, edges)?) };
    Edges::new(slice(sources, edges)?, slice(targets, edges)?, relations, nodes as usize)
}

fn done(is_done: bool) -> i32 {
    if is_done {
        DONE
    } else {
        MISUSED
    }
}

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
        let Some(edges) = given(sources, targets, relations, edges, nodes) else { return MISUSED };
        match (slice_mut(begins, nodes.saturating_add(1)), slice_mut(others, room)) {
            (Some(begins), Some(others)) => done(edges.by_node(begins, others)),
            _ => MISUSED,
        }
    })
}

/// The smallest node of the part of each.
///
/// # Safety
/// As of `rd_ends_by_node`; `labels` points to `nodes` numbers to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_parts(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
    labels: *mut i32,
) -> i32 {
    guarded(PANICKED, || match (given(sources, targets, relations, edges, nodes), slice_mut(labels, nodes)) {
        (Some(edges), Some(labels)) => done(edges.parts(labels)),
        _ => MISUSED,
    })
}

/// Mark edges that come again, in any direction, and by chance a few more.
///
/// # Safety
/// As of `rd_ends_by_node`; `counts` points to `room` zeros to be written, `marks` to `edges`.
#[no_mangle]
pub unsafe extern "C" fn rd_repeated_edges(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
    counts: *mut u64,
    room: u64,
    marks: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let marked = (slice_mut(counts, room), slice_mut(marks, edges));
        match (given(sources, targets, relations, edges, nodes), marked) {
            (Some(edges), (Some(counts), Some(marks))) => done(edges.repeated(counts, marks)),
            _ => MISUSED,
        }
    })
}

/// Mark the nodes that an edge joins to one that is marked.
///
/// # Safety
/// As of `rd_ends_by_node`; `marks` points to `nodes` bytes, `next` to as many to be written.
#[no_mangle]
pub unsafe extern "C" fn rd_nodes_beside(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
    marks: *const u8,
    next: *mut u8,
) -> i32 {
    guarded(PANICKED, || {
        let marks = (slice(marks, nodes), slice_mut(next, nodes));
        match (given(sources, targets, relations, edges, nodes), marks) {
            (Some(edges), (Some(marks), Some(next))) => done(edges.beside(marks, next)),
            _ => MISUSED,
        }
    })
}

/// The rows of the edges between marked nodes.
///
/// # Safety
/// As of `rd_nodes_beside`; `rows` points to `edges` numbers to be written, `count` to one.
#[no_mangle]
pub unsafe extern "C" fn rd_edges_among(
    sources: *const i32,
    targets: *const i32,
    relations: *const i32,
    edges: u64,
    nodes: u64,
    marks: *const u8,
    rows: *mut i64,
    count: *mut u64,
) -> i32 {
    guarded(PANICKED, || {
        let (rows, count) = (slice_mut(rows, edges), count.as_mut());
        match (given(sources, targets, relations, edges, nodes), slice(marks, nodes), rows, count) {
            (Some(edges), Some(marks), Some(rows), Some(count)) => {
                let Some(found) = edges.among(marks, rows) else { return MISUSED };
                *count = found as u64;
                DONE
            }
            _ => MISUSED,
        }
    })
}
