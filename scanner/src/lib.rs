//! Proves lines of a dataset clean, and names those of which Python must decide.
//!
//! The scanner words nothing and decides nothing: a line that it does not prove clean is *refused*, one that a rule
//! may want to see is a *candidate*, and both go to the checks in Python, alone. So it may always refuse too much,
//! never too little.

mod alike;
mod boundary;
mod cells;
mod columns;
mod copies;
mod csv_cut;
mod elements;
mod facts;
mod finder;
mod finder_boundary;
mod firsts;
#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod fuzz_kinds;
mod graph_boundary;
mod graphs;
mod hash;
mod isa;
mod json;
mod key_boundary;
mod keys;
mod kinds;
mod lines;
mod listed;
mod literal;
mod md5;
mod measure_boundary;
mod measures;
mod members;
mod names;
mod owned;
mod pairs;
mod plan;
mod predicates;
mod relations;
mod rows;
mod scopes;
mod sheet;
#[cfg(target_arch = "x86_64")]
mod simd;
mod sketches;
mod spelling;
mod table_boundary;
mod tagged;
mod text_boundary;
mod texts;
mod words;

pub use columns::Scanned;
pub use elements::{last_comma, Cut, Elements};
pub use hash::{code, hash, Seeds};
pub use isa::Level;
pub use lines::{scan, Outcome};
pub use plan::Plan;
