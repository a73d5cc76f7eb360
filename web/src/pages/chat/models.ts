/** Which models there are to talk to, and which one its person has chosen. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useQuipu } from "../../app/session.tsx";
import { models } from "../../data/gateway.ts";

const PLACE = "quipu.chat.model";

export function useModels() {
  const quipu = useQuipu();
  const [chosen, setChosen] = useState(remembered);
  const query = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => models(quipu, signal),
    staleTime: 300_000,
  });
  const names = (query.data ?? []).map((model) => model.id);
  const choose = (name: string) => {
    setChosen(name);
    try {
      localStorage.setItem(PLACE, name);
    } catch {
      // It then lasts as long as the page.
    }
  };
  const model = names.includes(chosen) ? chosen : names[0];
  return { model, names, choose, error: query.error, refetch: query.refetch };
}

function remembered(): string {
  try {
    return localStorage.getItem(PLACE) ?? "";
  } catch {
    return "";
  }
}
