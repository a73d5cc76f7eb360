//! Clusters: groups of memories connected by links or by shared rare words. Nothing is stored: the
//! same memories always give the same clusters.

use std::collections::{BTreeMap, BTreeSet};

use lukasa_text::screen::ground;
use lukasa_text::terms::{Language, Term, words};

use crate::fact::Version;
use crate::id::FactId;

/// A group of related memories.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Its most common words.
    pub name: String,
    /// In input order.
    pub facts: Vec<FactId>,
}

/// A word that occurs in at most this many memories connects any two of them.
const RARE_MEMORIES: usize = 3;
/// Two shared words connect two memories if each occurs in at most one memory out of this many.
const COMMON_DIVISOR: usize = 8;

/// The clusters of these memories, largest first. Unconnected memories are in none.
pub fn clusters(versions: &[Version], links: &[(FactId, FactId)]) -> Vec<Cluster> {
    let terms_of: Vec<BTreeMap<Term, String>> = versions.iter().map(terms).collect();
    let mut memories_with: BTreeMap<Term, Vec<usize>> = BTreeMap::new();
    for (at, terms) in terms_of.iter().enumerate() {
        for term in terms.keys() {
            memories_with.entry(*term).or_default().push(at);
        }
    }
    let mut groups: Vec<usize> = (0..versions.len()).collect();
    let place: BTreeMap<FactId, usize> =
        versions.iter().enumerate().map(|(at, version)| (version.fact, at)).collect();
    for (from, to) in links {
        if let (Some(from), Some(to)) = (place.get(from), place.get(to)) {
            join(&mut groups, *from, *to);
        }
    }
    let max_memories = (versions.len() / COMMON_DIVISOR).max(RARE_MEMORIES);
    // How often a memory shares words with each later one. One rare word counts as much as two less
    // rare ones. Only the counts of one memory are kept at a time.
    let mut shared = vec![0_u32; versions.len()];
    let mut counted: Vec<usize> = Vec::new();
    for (one, terms) in terms_of.iter().enumerate() {
        let those = terms.keys().filter_map(|term| memories_with.get(term));
        for those in those.filter(|those| (2..=max_memories).contains(&those.len())) {
            let weight = if those.len() <= RARE_MEMORIES { 2 } else { 1 };
            let later = those.partition_point(|other| *other <= one);
            for other in &those[later..] {
                if shared[*other] == 0 {
                    counted.push(*other);
                }
                shared[*other] += weight;
            }
        }
        for other in counted.drain(..) {
            if std::mem::take(&mut shared[other]) >= 2 {
                join(&mut groups, one, other);
            }
        }
    }
    let mut members: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for at in 0..versions.len() {
        members.entry(root(&mut groups, at)).or_default().push(at);
    }
    let mut found: Vec<Cluster> = members
        .into_values()
        .filter(|group| group.len() > 1)
        .map(|group| Cluster {
            name: name(&group, &terms_of),
            facts: group.iter().map(|at| versions[*at].fact).collect(),
        })
        .collect();
    found.sort_by(|a, b| b.facts.len().cmp(&a.facts.len()).then_with(|| a.facts.cmp(&b.facts)));
    found
}

fn terms(version: &Version) -> BTreeMap<Term, String> {
    let text = &version.claim.content;
    let found = words(text, Language::of(text)).into_iter();
    found
        .filter(|word| word.written.chars().count() > 2 && !ground::says_nothing(&word.written))
        .map(|word| (word.term, word.written))
        .collect()
}

fn root(groups: &mut [usize], mut at: usize) -> usize {
    while groups[at] != at {
        // Halves the path, so that long chains are followed once.
        groups[at] = groups[groups[at]];
        at = groups[at];
    }
    at
}

fn join(groups: &mut [usize], one: usize, other: usize) {
    let (one, other) = (root(groups, one), root(groups, other));
    groups[one.max(other)] = one.min(other);
}

/// The two most common words of a group; ties in alphabetical order.
fn name(group: &[usize], terms_of: &[BTreeMap<Term, String>]) -> String {
    let mut counts: BTreeMap<Term, (usize, BTreeSet<&str>)> = BTreeMap::new();
    for at in group {
        for (term, word) in &terms_of[*at] {
            let (count, forms) = counts.entry(*term).or_default();
            *count += 1;
            forms.insert(word);
        }
    }
    let mut common: Vec<(usize, &str)> = counts
        .into_values()
        .filter_map(|(count, forms)| forms.first().map(|form| (count, *form)))
        .collect();
    common.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let words: Vec<&str> = common.into_iter().take(2).map(|(_, word)| word).collect();
    words.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::id::Ids;
    use crate::origin::{Origin, Voice};
    use crate::time::Timestamp;

    fn facts(texts: &[&str]) -> Vec<Version> {
        let mut ids = Ids::new(Timestamp::UNIX_EPOCH, [6; 16]);
        let fact = |text: &&str| {
            let mut version = version(Voice::stated(Origin::UserSaid));
            version.fact = ids.fact();
            version.claim.content = (*text).to_owned();
            version
        };
        texts.iter().map(fact).collect()
    }

    #[test]
    fn clusters_join_memories_by_rare_words_or_links() {
        let all = facts(&[
            "User grows tomatoes on the balcony.",
            "Tomatoes need water twice a day.",
            "User's sister is called Nora.",
            "Nora moved to Porto.",
            "User owns a red bicycle.",
            "The garage has a lock.",
        ]);
        let alone = clusters(&all, &[]);
        let members = |cluster: &Cluster| cluster.facts.clone();
        assert_eq!(
            alone.iter().map(members).collect::<Vec<_>>(),
            [vec![all[0].fact, all[1].fact], vec![all[2].fact, all[3].fact]]
        );
        assert!(alone[0].name.starts_with("tomatoes"), "{}", alone[0].name);
        assert!(alone[1].name.starts_with("nora"), "{}", alone[1].name);
        let linked = clusters(&all, &[(all[4].fact, all[5].fact), (all[4].fact, all[1].fact)]);
        assert_eq!(linked[0].facts.len(), 4);
        assert_eq!(
            linked,
            clusters(&all, &[(all[4].fact, all[1].fact), (all[4].fact, all[5].fact)])
        );
        assert!(clusters(&all[4..], &[]).is_empty());
    }

    #[test]
    fn cluster_ignores_words_that_all_memories_share() {
        let texts: Vec<String> = (0..20).map(|n| format!("Coffee number{n} thing{n}")).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        assert!(clusters(&facts(&texts), &[]).is_empty());
    }
}
