//! The names of the members of objects in JSON, and how many objects have them.

use crate::hash::{hash, Seeds};
use crate::isa::Portable;
use crate::json::{has_twice, peek, skip, skip_blanks, string};
use crate::plan::Type;
use std::collections::HashMap;

type Spread = Portable<true>;

/// Names, with the number of objects that have them.
pub struct Names {
    /// With the number of the last object that has it.
    found: HashMap<Vec<u8>, (u64, u64)>,
    objects: u64,
    seeds: Seeds,
    scratch: Vec<u64>,
    places: Vec<(usize, usize)>,
    /// What `show` has made: where the names end that are one behind the other in `bytes`, and their numbers.
    pub ends: Vec<u64>,
    pub counts: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            found: HashMap::new(),
            objects: 0,
            seeds: Seeds::of(0, u64::MAX),
            scratch: Vec::new(),
            places: Vec::new(),
            ends: Vec::new(),
            counts: Vec::new(),
            bytes: Vec::new(),
        }
    }
}

impl Names {
    /// Count the names of an object, each once; what does not begin as one has none. Whether it is surely as all readers
    /// read it.
    pub fn add(&mut self, text: &[u8]) -> bool {
        if text.first() != Some(&b'{') {
            return true;
        }
        self.places.clear();
        if self.members(text).is_none() {
            return false;
        }
        self.objects += 1;
        for &(start, end) in &self.places {
            let name = &text[start..end];
            if let Some((count, last)) = self.found.get_mut(name) {
                *count += u64::from(*last != self.objects);
                *last = self.objects;
            } else {
                self.found.insert(name.to_vec(), (1, self.objects));
            }
        }
        true
    }

    /// Note where the names are.
    fn members(&mut self, text: &[u8]) -> Option<()> {
        let mut at = skip_blanks::<Spread>(text, 1);
        if peek(text, at) != b'}' {
            loop {
                if peek(text, at) != b'"' {
                    return None;
                }
                let (end, escaped) = string::<Spread>(text, at + 1)?;
                if escaped {
                    return None;
                }
                self.places.push((at + 1, end));
                let colon = skip_blanks::<Spread>(text, end + 1);
                if peek(text, colon) != b':' {
                    return None;
                }
                let value = skip_blanks::<Spread>(text, colon + 1);
                let behind = skip::<Spread>(text, value, Type::Any, &self.seeds, &mut self.scratch)?;
                at = skip_blanks::<Spread>(text, behind);
                match peek(text, at) {
                    b',' => at = skip_blanks::<Spread>(text, at + 1),
                    b'}' => break,
                    _ => return None,
                }
            }
        }
        (skip_blanks::<Spread>(text, at + 1) == text.len()).then_some(())
    }

    /// Put an object behind others without the blanks between its parts: whether it has any members, or none if it is not
    /// surely as all readers read it.
    pub fn compact(&mut self, text: &[u8], to: &mut Vec<u8>) -> Option<bool> {
        self.places.clear();
        (text.first() == Some(&b'{')).then_some(())?;
        self.members(text)?;
        let names = self.places.iter().map(|&(start, end)| hash(&self.seeds, &text[start..end]));
        self.scratch.clear();
        self.scratch.extend(names);
        if has_twice(&mut self.scratch) {
            return None;
        }
        if self.places.is_empty() {
            return Some(false);
        }
        let mut at = 0;
        while let Some(&byte) = text.get(at) {
            let end = if byte == b'"' { string::<Spread>(text, at + 1)?.0 + 1 } else { at + 1 };
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                to.extend_from_slice(&text[at..end]);
            }
            at = end;
        }
        Some(true)
    }

    /// How many different names there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// List all names.
    pub fn list(&mut self) {
        self.ends.clear();
        self.counts.clear();
        self.bytes.clear();
        for (name, (count, _)) in &self.found {
            self.bytes.extend_from_slice(name);
            self.ends.push(self.bytes.len() as u64);
            self.counts.push(*count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_lose_their_blanks() {
        let mut names = Names::default();
        let mut to = Vec::new();
        for (text, found) in [
            ("{}", Some(false)),
            ("{ }\n", Some(false)),
            ("{ \"a b\" :\t[1 , \"c \\\" d\"] }", Some(true)),
            ("{\"a\":1,\"a\":2}", None),
            ("[1]", None),
            ("{\"a\":1", None),
        ] {
            assert_eq!(names.compact(text.as_bytes(), &mut to), found, "{text}");
        }
        assert_eq!(to, b"{\"a b\":[1,\"c \\\" d\"]}");
    }

    #[test]
    fn names_count_once_in_an_object() {
        let mut names = Names::default();
        for text in [
            "{}",
            "{ \"a\" : 1,\n\"b\": [{\"c\": \"}\"}]}",
            "{\"a\":1,\"a\":2,\"\":null}",
            "[1]",
            "",
            " {\"d\":1}",
            "nul",
        ] {
            assert!(names.add(text.as_bytes()), "{text}");
        }
        for text in
            ["{", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{\"a\":1} x", "{\"\\u0061\":1}", "{\"a\":12345678901234567890}"]
        {
            assert!(!names.add(text.as_bytes()), "{text}");
        }
        names.list();
        let mut start = 0;
        let mut found = Vec::new();
        for (&end, &count) in names.ends.iter().zip(&names.counts) {
            found.push((String::from_utf8_lossy(&names.bytes[start..end as usize]).into_owned(), count));
            start = end as usize;
        }
        found.sort();
        assert_eq!(found, [(String::new(), 1), ("a".into(), 2), ("b".into(), 1)]);
        assert_eq!(names.len(), 3);
    }
}
