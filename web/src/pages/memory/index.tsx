/** Everything that is known, as one filtered set with several views. */
import { useNavigate } from "@tanstack/react-router";
import { Layers } from "lucide-react";
import { ProblemCard } from "../../app/problems.tsx";
import { useSignIn } from "../../app/sign-in.tsx";
import { useMemories } from "../../data/memories.ts";
import { newest, select, sourceOf } from "../../data/select.ts";
import { t } from "../../i18n/index.ts";
import { Badge } from "../../ui/badge.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { Page } from "../../ui/page.tsx";
import { Skeleton } from "../../ui/skeleton.tsx";
import { Force, SourceIcon, Tier } from "../../ui/standing.tsx";
import { Time } from "../../ui/time.tsx";

export default function MemoryPage() {
  const { all, complete, error, refetch } = useMemories();
  const signIn = useSignIn();
  const navigate = useNavigate();
  const shown = newest(select(all, { status: ["active"] }));
  const note = t(complete ? "memory.count" : "memory.loading", { count: shown.length });
  return (
    <Page title={t("memory.title")} note={note} flush>
      {error ? (
        <div className="px-6">
          <ProblemCard error={error} retry={() => void refetch()} />
        </div>
      ) : !complete && all.length === 0 ? (
        <Skeleton />
      ) : all.length === 0 ? (
        <EmptyState
          icon={<Layers size={20} aria-hidden />}
          title={t("memory.empty.title")}
          text={t("memory.empty.text")}
          snippet={firstCurl(signIn.user)}
        />
      ) : (
        <ul className="border-t">
          {shown.slice(0, 200).map((memory) => (
            <li key={memory.id} className="border-b">
              <button
                type="button"
                onClick={() => void navigate({ to: "/memory/$id", params: { id: memory.id } })}
                className="flex min-h-row w-full items-center gap-3 px-4 text-start -outline-offset-2 hover:bg-hover sm:px-6"
              >
                <Force force={memory.force} />
                <span dir="auto" className="min-w-0 flex-1 truncate">
                  {memory.content}
                </span>
                {memory.domain && <Badge>{memory.domain}</Badge>}
                <span className="max-sm:hidden">
                  <Tier tier={memory.tier} />
                </span>
                <SourceIcon source={sourceOf(memory)} />
                <span className="w-20 text-end text-[0.8125rem] text-muted max-sm:hidden">
                  <Time at={memory.updated_at} />
                </span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </Page>
  );
}

/** Something to run that makes the first memory, with the real address. */
function firstCurl(user: string): string {
  const lines = [`curl ${location.origin}/api/memory`];
  if (user !== "me") lines.push(`  -H 'X-Quipu-User: ${user}'`);
  lines.push("  -H 'content-type: application/json'");
  lines.push(`  -d '{"content": "I only do index funds"}'`);
  return lines.join(" \\\n");
}
