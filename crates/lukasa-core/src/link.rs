//! Links between memories. A link refers to the stable ids of two facts, so it follows a fact
//! through every change and correction; it is visible only while both ends are live.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::id::{FactId, LinkId, OperationId};
use crate::time::{Period, is_storable};

/// The relation from a waiting memory to the active one that it contradicts.
pub const CONTRADICTS: &str = "contradicts";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    pub id: LinkId,
    pub from: FactId,
    pub to: FactId,
    /// `relates_to`, `supersedes`, `contradicts`, or any word chosen by the caller.
    pub relation: String,
    pub known: Period,
    pub opened_by: OperationId,
    pub closed_by: Option<OperationId>,
    /// The link that this one reopens after an undo.
    pub reopens: Option<LinkId>,
}

impl Link {
    /// What makes two links the same: their ends and their relation.
    pub fn key(&self) -> (FactId, FactId, &str) {
        (self.from, self.to, &self.relation)
    }

    /// The same link, reopened by another operation.
    pub fn reopened(&self, id: LinkId, by: OperationId, known: Period) -> Self {
        Self {
            id,
            known,
            opened_by: by,
            closed_by: None,
            reopens: Some(self.root()),
            ..self.clone()
        }
    }

    /// Why the link cannot be stored, for links read from a file; `None` if it can.
    pub fn fault(&self) -> Option<&'static str> {
        let times = [Some(self.known.from), self.known.until];
        if !is_relation(&self.relation) {
            Some("relation: a short lower-case word with underscores")
        } else if self.from == self.to {
            Some("a link from a memory to itself")
        } else if !times.into_iter().flatten().all(is_storable) {
            Some("a time is out of range")
        } else {
            None
        }
    }

    /// The link that this one is or reopens.
    pub fn root(&self) -> LinkId {
        self.reopens.unwrap_or(self.id)
    }
}

/// Whether a text is a valid relation: a short lower-case word with underscores, so that relations
/// group and filter well.
pub fn is_relation(text: &str) -> bool {
    !text.is_empty()
        && text.len() <= crate::limits::RELATION_CHARS
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
        && text.as_bytes()[0].is_ascii_lowercase()
}

/// The memories that can be reached from one memory over links, step by step.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkGraph {
    /// The distance of each memory, in links.
    pub distances: BTreeMap<FactId, usize>,
    /// The links between them, by their ids.
    pub links: BTreeMap<LinkId, Link>,
    /// Whether some were left out, because there are too many.
    pub is_cut: bool,
    most: usize,
}

impl LinkGraph {
    /// A graph of at most this many memories.
    pub fn from(start: FactId, most: usize) -> Self {
        let distances = BTreeMap::from([(start, 0)]);
        Self { distances, links: BTreeMap::new(), is_cut: false, most }
    }

    /// The memories at this distance.
    pub fn at(&self, distance: usize) -> Vec<FactId> {
        let at = self.distances.iter().filter(|(_, of)| **of == distance);
        at.map(|(fact, _)| *fact).collect()
    }

    /// Adds links of memories at this distance, and the memories at their other ends.
    pub fn extend(&mut self, distance: usize, links: &[Link]) {
        for link in links {
            for (end, other) in [(link.from, link.to), (link.to, link.from)] {
                if self.distances.get(&end) != Some(&distance) {
                    continue;
                }
                if !self.distances.contains_key(&other) {
                    if self.distances.len() >= self.most {
                        self.is_cut = true;
                        continue;
                    }
                    self.distances.insert(other, distance + 1);
                }
                self.links.insert(link.id, link.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::Ids;
    use crate::time::Timestamp;

    #[test]
    fn link_graph_follows_links_both_ways_and_ends_in_cycles() {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [4; 16]);
        let facts: Vec<FactId> = (0..4).map(|_| ids.fact()).collect();
        let operation = ids.operation();
        let mut link = |from: usize, to: usize| Link {
            id: ids.link(),
            from: facts[from],
            to: facts[to],
            relation: "knows".to_owned(),
            known: Period::since(Timestamp::UNIX_EPOCH),
            opened_by: operation,
            closed_by: None,
            reopens: None,
        };
        // A circle of three, and one that points at its last.
        let all = [link(0, 1), link(1, 2), link(2, 0), link(3, 2)];
        let mut graph = LinkGraph::from(facts[1], 10);
        assert_eq!(graph.at(0), [facts[1]]);
        graph.extend(0, &all);
        assert_eq!((graph.at(1), graph.links.len()), (vec![facts[0], facts[2]], 2));
        graph.extend(1, &all);
        assert_eq!((graph.at(2), graph.links.len()), (vec![facts[3]], 4));
        assert!(!graph.is_cut);
        graph.extend(2, &all);
        assert_eq!(graph.distances.len(), 4, "there is no further memory");
        let mut small = LinkGraph::from(facts[1], 2);
        small.extend(0, &all);
        assert_eq!((small.distances.len(), small.links.len(), small.is_cut), (2, 1, true));
    }

    #[test]
    fn relations_are_plain_words() {
        for good in ["relates_to", "supersedes", "contradicts", "part_of_2"] {
            assert!(super::is_relation(good), "{good}");
        }
        for bad in ["", "Relates", "two words", "_x", "9x", "a-b", &"x".repeat(65)] {
            assert!(!super::is_relation(bad), "{bad}");
        }
    }
}
