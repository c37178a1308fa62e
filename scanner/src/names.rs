//! The names of the members of objects in JSON, and how many objects have them.

use crate::hash::{hash, Seeds};
use crate::isa::Portable;
use crate::json::{has_twice, peek, skip, skip_blanks, string};
use crate::plan::Type;
use std::collections::HashMap;

type Spread = Portable<true>;

const FEW: usize = 8;

/// A name, how many objects have it, and the number of the last one.
struct Name(Vec<u8>, u64, u64);

/// Where the name and the value of a member begin and end.
struct Member(usize, usize, usize, usize);

/// Names, with the number of objects that have them.
pub struct Names {
    found: Vec<Name>,
    /// By the places that they have among the names that were found.
    places: HashMap<Vec<u8>, usize>,
    /// The place of the first name of an object, of the second one, and so on: mostly all have the same ones in order.
    usual: Vec<usize>,
    objects: u64,
    seeds: Seeds,
    scratch: Vec<u64>,
    members: Vec<Member>,
    /// What `show` has made: where the names end that are one behind the other in `bytes`, and their numbers.
    pub ends: Vec<u64>,
    pub counts: Vec<u64>,
    pub bytes: Vec<u8>,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            found: Vec::new(),
            places: HashMap::new(),
            usual: Vec::new(),
            objects: 0,
            seeds: Seeds::of(0, u64::MAX),
            scratch: Vec::new(),
            members: Vec::new(),
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
        if self.find_members(text).is_none() {
            return false;
        }
        self.count(text);
        true
    }

    /// Count the names of the members that were found in an object.
    fn count(&mut self, text: &[u8]) {
        self.objects += 1;
        for number in 0..self.members.len() {
            let Member(start, end, ..) = self.members[number];
            let place = self.place_of(number, &text[start..end]);
            let Name(_, count, last) = &mut self.found[place];
            *count += u64::from(*last != self.objects);
            *last = self.objects;
        }
    }

    /// The place of a name, which is the one of the member with this number of an object.
    fn place_of(&mut self, number: usize, name: &[u8]) -> usize {
        if let Some(&place) = self.usual.get(number) {
            if self.found[place].0 == name {
                return place;
            }
        }
        let place = if let Some(&place) = self.places.get(name) {
            place
        } else {
            self.places.insert(name.to_vec(), self.found.len());
            self.found.push(Name(name.to_vec(), 0, 0));
            self.found.len() - 1
        };
        if number == self.usual.len() && number < FEW {
            self.usual.push(place);
        } else if let Some(usual) = self.usual.get_mut(number) {
            *usual = place;
        }
        place
    }

    /// Note where the members are.
    fn find_members(&mut self, text: &[u8]) -> Option<()> {
        self.members.clear();
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
                let name = at + 1;
                let colon = skip_blanks::<Spread>(text, end + 1);
                if peek(text, colon) != b':' {
                    return None;
                }
                let value = skip_blanks::<Spread>(text, colon + 1);
                let behind = skip::<Spread>(text, value, Type::Any, &self.seeds, &mut self.scratch)?;
                self.members.push(Member(name, end, value, behind));
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

    /// Put an object behind others without the blanks between its parts, and count its names: whether it has any members,
    /// or none if it is not surely as all readers read it.
    pub fn compact(&mut self, text: &[u8], to: &mut Vec<u8>) -> Option<bool> {
        (text.first() == Some(&b'{')).then_some(())?;
        self.find_members(text)?;
        if self.has_name_twice(text) {
            return None;
        }
        for (number, &Member(start, end, value, behind)) in self.members.iter().enumerate() {
            to.push(if number == 0 { b'{' } else { b',' });
            to.extend_from_slice(&text[start - 1..=end]);
            to.push(b':');
            let value = &text[value..behind];
            if matches!(value.first(), Some(b'{' | b'[')) {
                without_blanks(value, to)?;
            } else {
                to.extend_from_slice(value);
            }
        }
        let has_members = !self.members.is_empty();
        if has_members {
            to.push(b'}');
        }
        self.count(text);
        Some(has_members)
    }

    fn has_name_twice(&mut self, text: &[u8]) -> bool {
        let name = |&Member(start, end, ..): &Member| &text[start..end];
        if self.members.len() <= FEW {
            let is_before = |(at, one)| self.members[..at].iter().any(|other| name(other) == name(one));
            return self.members.iter().enumerate().any(is_before);
        }
        self.scratch.clear();
        self.scratch.extend(self.members.iter().map(|one| hash(&self.seeds, name(one))));
        has_twice(&mut self.scratch)
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
        for Name(name, count, _) in &self.found {
            self.bytes.extend_from_slice(name);
            self.ends.push(self.bytes.len() as u64);
            self.counts.push(*count);
        }
    }
}

/// Put a value behind others without the blanks between its parts.
fn without_blanks(value: &[u8], to: &mut Vec<u8>) -> Option<()> {
    let mut at = 0;
    while let Some(&byte) = value.get(at) {
        let end = if byte == b'"' { string::<Spread>(value, at + 1)?.0 + 1 } else { at + 1 };
        if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
            to.extend_from_slice(&value[at..end]);
        }
        at = end;
    }
    Some(())
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
            ("{\"a\": 1 , \"b\":{ \"c\" : null }\n, \"d\": \" \"}", Some(true)),
            ("{\"a\":1,\"a\":2}", None),
            ("{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"a\":1}", None),
            ("[1]", None),
            ("{\"a\":1", None),
        ] {
            assert_eq!(names.compact(text.as_bytes(), &mut to), found, "{text}");
        }
        assert_eq!(to, b"{\"a b\":[1,\"c \\\" d\"]}{\"a\":1,\"b\":{\"c\":null},\"d\":\" \"}");
        names.list();
        assert_eq!((&names.bytes[..], &names.counts[..]), (&b"a babd"[..], &[1; 4][..]));
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
