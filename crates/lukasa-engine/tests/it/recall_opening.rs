//! The opening statement of a question reads what the statements of its parts read.

use lukasa_store::recall_opening::{self, AskedSessions};
use lukasa_store::{domain, passage, policy, session};

use crate::story::Story;

#[tokio::test]
async fn recall_opening_reads_what_single_statements_read() {
    let story = Story::begin().await;
    story.save("Likes green tea").await;
    story.database.leave_unchecked();
    let (alice, store) = (story.alice(), story.database.store());
    let admin = story.database.admin().await;
    let steps = [
        "select",
        "insert into embedding_model (name, dimension, in_use, created_at) \
         values ('small', 64, true, now()), ('large', 512, false, now())",
        "insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, state, turns, \
                              project, incognito) \
         select user_id, tenant_id, 'work', now(), now(), 'active', 1, 'garden', false from users",
        "insert into session (user_id, tenant_id, session_id, opened_at, last_turn_at, state, turns, \
                              project, incognito) \
         select user_id, tenant_id, 'secret', now(), now(), 'active', 1, null, true from users",
        "insert into domain (tenant_id, name, display_name, sensitive, requires_opt_in) \
         select tenant_id, d, 'My ' || d, false, true from tenant, unnest(array['dogs', 'food', 'cats']) d \
          where name = 'acme'",
        "insert into user_domain (user_id, tenant_id, domain, opted_in_at) \
         select user_id, tenant_id, d, now() from users, unnest(array['dogs', 'finance']) d",
        "insert into tenant_policy (tenant_id, version, body, set_at, set_by) \
         select tenant_id, 1, '{\"paused\": true}', now(), 'admin' from tenant where name = 'acme'",
        "insert into user_policy (user_id, tenant_id, version, body, set_at, set_by) \
         select user_id, tenant_id, 1, '{\"paused\": false}', now(), 'alice' from users",
        "update users set deleted_at = now()",
    ];
    for step in steps {
        admin.batch_execute(step).await.unwrap();
        let scope = store.read(alice.tenant, alice.user).await.unwrap();
        let sessions = AskedSessions { in_scope: Some("work"), asked_in: Some("secret") };
        let opening = recall_opening::read(&scope, sessions).await.unwrap();
        assert_eq!(opening.state, passage::state(&scope).await.unwrap(), "{step}");
        let mut models = store.models().await.unwrap().into_iter();
        let model = models.find(|record| record.in_use).map(|record| record.model);
        assert_eq!(opening.model, model, "{step}");
        assert_eq!(opening.is_paused, policy::is_paused(&scope).await.unwrap(), "{step}");
        let closed = domain::closed_domains(&scope).await.unwrap();
        assert_eq!(opening.closed_domains, closed, "{step}");
        let own = domain::of_tenant(&scope).await.unwrap().into_iter();
        let own = own.filter(|domain| !domain.builtin);
        let own: Vec<_> = own.map(|domain| (domain.name, domain.display_name)).collect();
        assert_eq!(opening.own_domains, own, "{step}");
        let work = session::find(&scope, "work").await.unwrap();
        assert_eq!(opening.project, work.as_ref().and_then(|work| work.project.clone()), "{step}");
        assert_eq!(opening.has_sessions, work.is_some(), "{step}");
        let secret = session::find(&scope, "secret").await.unwrap();
        assert_eq!(opening.is_incognito, secret.is_some_and(|secret| secret.incognito), "{step}");
        assert_eq!(opening.portraits, None, "{step}");
        assert_eq!(opening.is_gone(story.now()), step.contains("deleted_at"), "{step}");
    }
}
