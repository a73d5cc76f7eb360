//! Trust in the base of a vault: one that this installation did not sign for this user is treated
//! as an import, accepts nothing, and is never signed on export.

use lukasa_core::vault::{BASE, File, read, split_signature};
use lukasa_core::{Caller, CallerKind, Claim, Edit, Force, Origin, State, Version};
use lukasa_engine::facts::{NewMemory, ProposalDecision, Target};

use crate::story::Story;

const RULE: &str = "Only ever flies with Acme Air";

impl Story {
    /// Saves a hard rule, a memory with consent, and an inferred one.
    async fn rule_consent_and_guess(&self) {
        let mut rule = Claim::saying(RULE);
        (rule.force, rule.domain) = (Force::Hard, Some("travel".into()));
        (rule.key, rule.importance) = (Some("airline".into()), 1.0);
        let rule = NewMemory { claim: rule, ..NewMemory::saying("") };
        self.engine.facts.save(&self.request(), rule).await.unwrap();
        let fact = Story::fact(&self.save("Plays chess").await);
        let yes = ProposalDecision::Yes { digest: None, edit: Box::new(Edit::default()) };
        self.engine.facts.confirm(&self.request(), &Target::Id(fact), yes).await.unwrap();
        let guess = NewMemory { confidence: Some(0.8), ..NewMemory::saying("Runs on Sundays") };
        self.engine.facts.save(&self.by(self.extractor()), guess).await.unwrap();
        self.pass(1);
    }

    async fn files_of(&self, caller: &Caller) -> Vec<File> {
        self.engine.vault.export(caller, Vec::new(), self.now(), Vec::new()).await.unwrap()
    }

    async fn versions_of(&self, caller: &Caller) -> Vec<Version> {
        let base = read(&self.files_of(caller).await).base;
        base.memories.into_iter().map(|based| based.memory).collect()
    }

    async fn bring(
        &self,
        caller: &Caller,
        files: &[File],
        trust: bool,
    ) -> lukasa_engine::vault::SyncReport {
        self.pass(1);
        self.engine.vault.apply(&self.by(caller.clone()), files, trust, Vec::new()).await.unwrap()
    }

    fn bob(&self) -> Caller {
        Caller::human(self.tenant, "bob", "local")
    }
}

fn base(files: &mut [File]) -> &mut String {
    &mut files.iter_mut().find(|file| file.path == BASE).unwrap().content
}

fn is_signed(files: &[File]) -> bool {
    let base = files.iter().find(|file| file.path == BASE).unwrap();
    split_signature(&base.content).is_some()
}

fn unsign(files: &mut [File]) {
    let base = base(files);
    let rows = split_signature(base).unwrap().0.to_owned();
    *base = rows;
}

fn page<'a>(files: &'a mut [File], path: &str) -> &'a mut String {
    &mut files.iter_mut().find(|file| file.path == path).unwrap().content
}

fn assert_are_imports(versions: &[Version]) {
    assert_eq!(versions.len(), 3);
    for version in versions {
        assert_eq!(version.origin, Origin::Import, "{version:?}");
        let dates = [version.consented_at, version.confirmed_at, version.last_confirmed_at];
        assert_eq!(dates, [None; 3], "{version:?}");
        assert!(version.claim.importance <= Claim::saying("").importance, "{version:?}");
        let is_rule = version.claim.force == Force::Hard;
        assert_eq!(version.state == State::Proposed, is_rule, "{version:?}");
    }
}

#[tokio::test]
async fn vault_base_of_another_user_or_without_a_signature_brings_imports() {
    let story = Story::begin().await;
    story.rule_consent_and_guess().await;
    let files = story.files_of(&story.alice()).await;
    assert!(is_signed(&files));
    let synced = story.bring(&story.bob(), &files, false).await;
    assert_eq!((synced.plan.base_signed, synced.plan.problems), (false, vec![]));
    assert_are_imports(&story.versions_of(&story.bob()).await);
    // Alice's memories were lost, and her vault is restored unsigned, or changed.
    let mut unsigned = files.clone();
    unsign(&mut unsigned);
    let mut changed = files.clone();
    for file in &mut changed {
        file.content = file.content.replace("Plays chess", "Plays cards");
    }
    for forged in [unsigned, changed] {
        story.engine.erasures.erase_user(story.tenant, "alice", story.moment()).await.unwrap();
        story.engine.directory.create_user(story.tenant, "alice", None, story.now()).await.unwrap();
        let synced = story.bring(&story.alice(), &forged, false).await;
        assert!(!synced.plan.base_signed);
        assert_are_imports(&story.versions_of(&story.alice()).await);
    }
}

#[tokio::test]
async fn vault_base_is_trusted_by_a_human_and_never_by_a_key() {
    let story = Story::begin().await;
    story.rule_consent_and_guess().await;
    let files = story.files_of(&story.alice()).await;
    let key = Caller { kind: CallerKind::Key, user: story.bob().user, ..story.bob() };
    story.bring(&key, &files, true).await;
    assert_are_imports(&story.versions_of(&key).await);
    let carol = Caller::human(story.tenant, "carol", "local");
    story.bring(&carol, &files, true).await;
    let hash = async |caller| {
        story.engine.insights.summary(caller, story.now()).await.unwrap().hash.memories
    };
    assert_eq!(hash(&carol).await, hash(&story.alice()).await);
}

#[tokio::test]
async fn vault_base_that_was_not_signed_accepts_and_confirms_nothing() {
    let story = Story::begin().await;
    story.rule_consent_and_guess().await;
    let assistant = story.by(story.assistant());
    story.engine.facts.propose(&assistant, NewMemory::saying("Wants a dog")).await.unwrap();
    story.pass(1);
    let alice = story.alice();
    let mut files = story.files_of(&alice).await;
    let proposals = page(&mut files, "proposals.md");
    let line = proposals.lines().find(|line| line.contains("dog")).unwrap().to_owned();
    *proposals = proposals.replace(&line, "");
    let profile = page(&mut files, "profile.md");
    profile.push_str(&format!("{line}\n"));
    *profile = profile.replace(" *(inferred, 80 % sure)*", "");
    let mut forged = files.clone();
    unsign(&mut forged);
    let synced = story.bring(&alice, &forged, false).await;
    assert_eq!((synced.plan.steps.len(), synced.plan.problems.len()), (0, 2), "{:?}", synced.plan);
    assert!(synced.plan.problems.iter().all(|problem| problem.what.contains("did not sign")));
    assert!(!story.active().await.contains(&"Wants a dog".to_owned()));
    assert!(!is_signed(&synced.files), "what waits came from a base that was not signed");
    // The next sync, which sends back the files it got, accepts nothing either.
    let synced = story.bring(&alice, &synced.files, false).await;
    assert_eq!((synced.operation, synced.plan.problems.len()), (None, 2));
    assert!(!is_signed(&synced.files));
    let synced = story.bring(&alice, &files, false).await;
    assert_eq!((synced.plan.steps.len(), synced.plan.problems.len()), (2, 0), "{:?}", synced.plan);
    assert!(is_signed(&synced.files) && story.active().await.contains(&"Wants a dog".to_owned()));
}

#[tokio::test]
async fn vault_rows_of_a_forged_base_are_never_signed() {
    let story = Story::begin().await;
    story.rule_consent_and_guess().await;
    let mut files = story.files_of(&story.alice()).await;
    // An unknown domain keeps the rule waiting at every sync.
    *base(&mut files) = base(&mut files).replace("\"travel\"", "\"nowhere\"");
    files.retain(|file| file.path == BASE || file.path == "profile.md");
    let bob = story.bob();
    for trust in [false, true] {
        let synced = story.bring(&bob, &files, trust).await;
        assert!(!synced.plan.held.is_empty(), "{:?}", synced.plan);
        assert!(base(&mut synced.files.clone()).contains(RULE));
        assert!(!is_signed(&synced.files), "trust {trust}");
        files = synced.files;
    }
    // A signature row elsewhere, or with other fields, is not a signature.
    let signed = story.files_of(&bob).await;
    assert!(is_signed(&signed));
    let mut smuggled = signed.clone();
    let row = base(&mut files).lines().find(|line| line.contains(RULE)).unwrap().to_owned();
    let text = base(&mut smuggled);
    *text = text.replace("{\"signature\"", &format!("{},\"signature\"", row.trim_end_matches('}')));
    let plan = story.engine.vault.plan(&bob, &smuggled, story.now()).await.unwrap();
    assert!(!plan.base_signed && !is_signed(&smuggled));
    let mut appended = signed;
    base(&mut appended).push_str(&format!("{row}\n"));
    let plan = story.engine.vault.plan(&bob, &appended, story.now()).await.unwrap();
    assert!(!plan.base_signed);
}
