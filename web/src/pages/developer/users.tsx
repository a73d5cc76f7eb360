/** Users of the tenant, and their sign-in links. */

import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import type { SignInLink, UserView } from "lukasa-client";
import { type FormEvent, useState } from "react";
import { explanationOf } from "../../base/problems.ts";
import { useLukasa, useSignIn, useSignInActions } from "../../base/sign-in.ts";
import { showToast } from "../../base/toasts.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Card } from "../../ui/card.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Input } from "../../ui/field.tsx";
import { ProblemCard } from "../../ui/problem-card.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Snippet } from "../../ui/snippet.tsx";
import { Time } from "../../ui/time.tsx";

export function Users() {
  const lukasa = useLukasa();
  const signIn = useSignIn();
  const queries = useQueryClient();
  const { lookAt } = useSignInActions();
  const [name, setName] = useState("");
  const [link, setLink] = useState<SignInLink>();
  const users = useInfiniteQuery({
    queryKey: ["users"],
    queryFn: ({ pageParam, signal }) =>
      lukasa.users.list({ limit: 50, cursor: pageParam }, { signal }).page(),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const failed = (error: unknown) => showToast({ text: explanationOf(error), tone: "bad" });
  const add = async (event: FormEvent) => {
    event.preventDefault();
    try {
      await lukasa.users.create({ user: name.trim() });
      showToast({ text: t("developer.people.added"), about: name.trim() });
      setName("");
      await queries.invalidateQueries({ queryKey: ["users"] });
    } catch (error) {
      failed(error);
    }
  };
  const all = (users.data?.pages ?? []).flatMap((page) => page.data);
  return (
    <Card flush title={t("developer.people.title")}>
      <form
        onSubmit={(event) => void add(event)}
        className="flex flex-wrap items-center gap-2 border-b px-4 py-3"
      >
        <div className="min-w-0 flex-1 basis-48">
          <Input
            aria-label={t("developer.people.name")}
            placeholder={t("developer.people.name")}
            value={name}
            autoComplete="off"
            onChange={(event) => setName(event.target.value)}
          />
        </div>
        <Button type="submit" disabled={!name.trim()}>
          {t("developer.people.add")}
        </Button>
      </form>
      {users.error && (
        <div className="p-3">
          <ProblemCard error={users.error} retry={() => void users.refetch()} />
        </div>
      )}
      {users.isPending && <Skeleton />}
      {users.data && all.length === 0 && (
        <p className="p-4 text-muted">{t("developer.people.none")}</p>
      )}
      <ul aria-label={t("developer.people.title")} className="divide-y divide-line">
        {all.map((one: UserView) => (
          <li
            key={one.id}
            className="flex min-h-row flex-wrap items-center gap-x-4 gap-y-1 px-4 py-1.5"
          >
            <span className="flex min-w-0 flex-1 basis-48 items-center gap-2">
              <bdi className="truncate">{one.user}</bdi>
              {one.user === signIn.user && (
                <Badge tone="accent">{t("developer.people.shown")}</Badge>
              )}
            </span>
            <span className="text-meta text-muted">
              {t("developer.people.since")} <Time at={one.created_at} />
            </span>
            <span className="flex gap-1">
              {!signIn.local && (
                <Button
                  small
                  onClick={() => void lukasa.signIn.link(one.user).then(setLink, failed)}
                >
                  {t("developer.people.link")}
                </Button>
              )}
              {one.user !== signIn.user && (
                <Button
                  small
                  look="quiet"
                  onClick={() => void lookAt(signIn, one.user).catch(failed)}
                >
                  {t("developer.people.look")}
                </Button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {users.hasNextPage && (
        <div className="border-t p-3 text-center">
          <Button busy={users.isFetching} onClick={() => void users.fetchNextPage()}>
            {t("developer.people.more")}
          </Button>
        </div>
      )}
      <Dialog
        open={link !== undefined}
        onOpenChange={(open) => !open && setLink(undefined)}
        title={t("developer.people.linkTitle", { user: link?.user ?? "" })}
        text={t("developer.people.linkText")}
        wide
      >
        <Snippet code={location.origin + (link?.href ?? "")} />
      </Dialog>
    </Card>
  );
}
