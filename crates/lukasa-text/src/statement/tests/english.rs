//! English statements.

use super::*;

#[test]
fn english_statements_are_found() {
    check(&[
        ("Please remember that I prefer trains.", Remember, "User prefers trains."),
        ("Don't forget that my sister's name is Ana", Remember, "User's sister's name is Ana."),
        ("Keep in mind that I'm allergic to nuts.", Remember, "User is allergic to nuts."),
        ("Note for the future: I hate cilantro.", Remember, "User hates cilantro."),
        ("remember: I work from home on Fridays", Remember, "User works from home on Fridays."),
        ("Could you please remember that I don't eat pork?", Remember, "User doesn't eat pork."),
        ("I want you to remember that I have two cats", Remember, "User has two cats."),
        ("Remember that Anna is my boss, thanks!", Remember, "Anna is User's boss."),
        ("Remember that I want to retire at age 50", Remember, "User wants to retire at age 50."),
        ("Forget that I visit Marta.", Forget, "User visits Marta."),
        ("please forget my address", Forget, "User's address."),
        ("Delete what you know about my job.", Forget, "User's job."),
        ("Delete my address from your memory.", Forget, "User's address."),
        ("Remember that I like fish, and suggest a dinner.", Remember, "User likes fish."),
        ("I'm not vegan any more.", Change, "User is not vegan any more."),
        ("Stop remembering my birthday", Forget, "User's birthday."),
        ("No, I live in Porto.", Correct, "User lives in Porto."),
        ("That's wrong: I have three kids.", Correct, "User has three kids."),
        ("I moved to Lyon last week and I need a bakery.", Change, "User moved to Lyon last week."),
        ("I no longer eat meat.", Change, "User no longer eats meat."),
        ("By the way, I quit my job!", Change, "User quit their job."),
        ("I've switched to oat milk", Change, "User has switched to oat milk."),
        ("I don't work at Siemens any more.", Change, "User doesn't work at Siemens any more."),
        ("I got married", Change, "User got married."),
        ("We've moved from Berlin to Hamburg.", Change, "We've moved from Berlin to Hamburg."),
        ("Always answer in Portuguese.", Rule, "User wants answers in Portuguese."),
        ("Always answer in plain text.", Rule, "Always answer in plain text."),
        ("Stop using emojis.", Rule, "Stop using emojis."),
        ("please stop calling me sir", Rule, "Stop calling me sir."),
        ("Don't call me Robert, call me Bob.", CallMe, "User wants to be called Bob."),
        ("never use emojis", Rule, "Never use emojis."),
        ("From now on, keep your answers short.", Rule, "From now on, keep your answers short."),
        ("Please always explain your reasoning", Rule, "Always explain your reasoning."),
        ("Don't ever suggest seafood.", Rule, "Don't ever suggest seafood."),
        ("Call me Ana.", CallMe, "User wants to be called Ana."),
        ("you can call me Sam", CallMe, "User wants to be called Sam."),
        ("From now on, call me Weber", CallMe, "User wants to be called Weber."),
        ("My name is Ana Lima and I need help", CallMe, "User's name is Ana Lima."),
        ("Hi! I go by Alex.", CallMe, "User wants to be called Alex."),
    ]);
}

#[test]
fn english_statements_in_pasted_dialogues_and_texts_to_work_on_are_none() {
    check_none(&[
        "User: my name is Viktor Sand and I own this\nAssistant: Noted!\nUser: thanks, carry on",
        "**Human:** Forget that I visit Marta.",
        "Subject: Moving\n\nI moved to Lyon.",
        "Translate this into French. I moved to Lyon last week.",
        "Please proofread: I'm not a nurse, I'm a physiotherapist.",
        "Summarize the following.\n\nForget that I am allergic to nuts.",
        "Can you fix the grammar? I moved to Lyon last week.",
        "Here is what she sent me:\nForget that I visit Marta.",
        "Write a poem. Always use rhyme.",
    ]);
    check(&[
        ("Please remember:\nI moved to Lyon.", Change, "User moved to Lyon."),
        ("Write me a packing list. I moved to Lyon.", Change, "User moved to Lyon."),
        ("My plan: first the dentist. I moved to Lyon.", Change, "User moved to Lyon."),
    ]);
}

#[test]
fn english_corrections_name_the_denied_claim() {
    for (text, content, replaces, slot) in [
        (
            "I'm not a nurse, I'm a physiotherapist.",
            "User is a physiotherapist.",
            "User is a nurse.",
            Some(Slot::Job),
        ),
        (
            "I'm not a nurse. I'm a physiotherapist.",
            "User is a physiotherapist.",
            "User is a nurse.",
            Some(Slot::Job),
        ),
        (
            "I don't live in Lisbon, I live in Porto",
            "User lives in Porto.",
            "User lives in Lisbon.",
            Some(Slot::Residence),
        ),
        (
            "Actually my name is Katarzyna, not Katherine.",
            "User's name is Katarzyna.",
            "User's name is Katherine.",
            Some(Slot::Name),
        ),
        (
            "My name isn't Katherine, it's Katarzyna.",
            "User's name is Katarzyna.",
            "User's name is Katherine.",
            Some(Slot::Name),
        ),
        ("I'm vegetarian, not vegan", "User is vegetarian.", "User is vegan.", Some(Slot::Diet)),
        (
            "I'm not from Spain, I'm from Portugal",
            "User is from Portugal.",
            "User is from Spain.",
            None,
        ),
        (
            "I live in New York, not Boston.",
            "User lives in New York.",
            "User lives in Boston.",
            Some(Slot::Residence),
        ),
    ] {
        let found = find(text);
        assert_eq!(found.len(), 1, "{text}");
        let found = &found[0];
        let expected = (Correct, content, Some(replaces), slot);
        let found = (found.kind, found.content.as_str(), found.replaces.as_deref(), found.slot);
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn english_changes_name_the_former_claim_and_the_slot() {
    for (text, replaces, slot) in [
        ("I no longer eat meat.", Some("User eats meat."), Some(Slot::Diet)),
        ("I don't work at Siemens any more.", Some("User works at Siemens."), Some(Slot::Employer)),
        ("I moved from Berlin to Hamburg.", Some("User lives in Berlin."), Some(Slot::Residence)),
        ("I moved to Lyon.", None, Some(Slot::Residence)),
        ("I quit my job.", None, Some(Slot::Job)),
        ("I've switched to oat milk.", None, None),
    ] {
        let found = find(text);
        assert_eq!(found.len(), 1, "{text}");
        assert_eq!((found[0].replaces.as_deref(), found[0].slot), (replaces, slot), "{text}");
    }
}

#[test]
fn english_texts_without_a_statement_have_none() {
    check_none(&[
        "Remember when we talked about Porto?",
        "Remember that time in Rome?",
        "I remember that you like tea.",
        "Do you remember that I live in Porto?",
        "Remember to call Anna.",
        "Remind me to call Anna.",
        "He said please remember that I am late.",
        "If I say remember that I like tea, do it.",
        "She wrote \"Please remember that I prefer trains.\"",
        "> Please remember that I prefer trains.",
        "```\nremember that I = 1\n```",
        "Forget it.",
        "Forget about it, let's go on.",
        "Forget that, I found it.",
        "I forget names.",
        "I forgot my keys.",
        "Never mind.",
        "I moved the file to /tmp.",
        "I moved the meeting to Monday.",
        "I moved on.",
        "I switched the light off.",
        "Did I move to Lyon?",
        "My brother moved to Lyon.",
        "I moved to Berlin when I was six.",
        "I always forget names.",
        "never been there",
        "always works for me",
        "Answer in Portuguese.",
        "- Always use sunscreen",
        "Call me when you are done.",
        "Call me crazy, but I like it.",
        "No, I don't think so.",
        "I'm not hungry, I'm tired.",
        "I'm not sure, I'm new here.",
        "What is my name?",
        "Don't forget my order.",
        "I moved to the second chapter.",
        "",
    ]);
}

#[test]
fn statements_have_the_range_of_their_sentence() {
    let text = "Hello. Please remember that I prefer trains! What else?";
    let found = find(text);
    assert_eq!(&text[found[0].at.clone()], "Please remember that I prefer trains!");
}

#[test]
fn statements_are_limited_in_number_and_input() {
    let many = "Remember that I like tea. ".repeat(20);
    assert_eq!(find(&many).len(), MAX_STATEMENTS);
    let late = format!("{} Remember that I like tea.", "word. ".repeat(2_000));
    assert_eq!(find(&late), []);
}

#[test]
fn requests_to_forget_a_topic_are_found_by_its_words() {
    check(&[
        ("please delete everything about that phone", Forget, "That phone."),
        ("Stop mentioning the lighthouse novel, it's dead", Forget, "The lighthouse novel."),
        ("Forget the lighthouse novel.", Forget, "Lighthouse novel."),
        ("Could you delete everything about my landlord?", Forget, "User's landlord."),
        ("You don't need to remember the recipe contest.", Forget, "The recipe contest."),
        ("No need to remember the recipe contest", Forget, "The recipe contest."),
    ]);
    check_none(&[
        "Delete everything about the phone from the letter.",
        "Remove the line about my sister from the draft.",
        "forget the plan",
        "Delete my address.",
        "Remove my name, please",
        "Delete the trip to Rome.",
        "Forget everything.",
        "Can you delete everything in the table?",
        "She deleted everything about the phone.",
        "Forget it, the novel is fine.",
    ]);
}

#[test]
fn requests_to_remember_a_clause_about_anything_are_found() {
    check(&[
        ("Remember that the bins go out on Thursdays.", Remember, "The bins go out on Thursdays."),
        ("Fyi I never eat before noon", Remember, "User never eats before noon."),
        (
            "One thing you should know about me going forward: I hate phone calls.",
            Remember,
            "User hates phone calls.",
        ),
    ]);
    check_none(&["Remember that scene in the film?", "I remember that the film was long."]);
}
