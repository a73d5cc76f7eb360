//! The pages of an export that are for people: what is remembered now, in plain words.

use crate::fact::{Category, State, Version};

/// The pages, each with its name below [`super::MARKDOWN`]. `standing` are the versions known now.
pub fn markdown(standing: &[Version]) -> Vec<(String, String)> {
    let mut page = String::from("# What is remembered\n");
    for category in Category::ALL {
        let mut own: Vec<&Version> = standing
            .iter()
            .filter(|v| v.state == State::Active && v.claim.category == *category)
            .collect();
        if own.is_empty() {
            continue;
        }
        own.sort_by(|a, b| (&a.claim.content, a.id).cmp(&(&b.claim.content, b.id)));
        page.push_str(&format!("\n## {}\n\n", category.as_str()));
        for version in own {
            let content = version.claim.content.split_whitespace().collect::<Vec<_>>().join(" ");
            page.push_str(&format!("- {content}\n"));
        }
    }
    vec![("memories.md".to_owned(), page)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::tests::version;
    use crate::origin::{Origin, Voice};

    #[test]
    fn what_stands_is_on_the_page_under_its_category_and_what_is_gone_is_not() {
        let mut tea = version(Voice::stated(Origin::UserSaid));
        tea.claim.content = "Drinks\n## tea".into();
        let mut gone = tea.clone();
        (gone.state, gone.claim.content) = (State::Forgotten, "coffee".into());
        let [(name, page)] = &markdown(&[tea, gone])[..] else { panic!("one page") };
        assert_eq!(name, "memories.md");
        assert_eq!(page, "# What is remembered\n\n## fact\n\n- Drinks ## tea\n");
    }
}
