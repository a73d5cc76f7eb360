/** A memory below a part of the profile or a chat: its detail, with its sources open. */
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { OneMemory } from "../../features/detail/one-memory.tsx";
import { Card } from "../../ui/card.tsx";
import type { SourcesParams } from "./params.ts";

export function MemoryLevel({ search }: { search: SourcesParams & { memory: string } }) {
  const navigate = useNavigate();
  const { portrait, memory, tab } = search;
  const show = useCallback(
    (part: string | undefined) =>
      void navigate({
        to: "/sources",
        search: { portrait, memory, tab: part },
        replace: true,
      }),
    [navigate, portrait, memory],
  );
  return (
    <Card>
      <OneMemory
        id={memory}
        part={tab ?? "sources"}
        onPart={show}
        from={{ portrait, memory }}
        onErased={() => void navigate({ to: "/sources", search: portrait ? { portrait } : {} })}
      />
    </Card>
  );
}
