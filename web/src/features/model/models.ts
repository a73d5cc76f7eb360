/** The available models, and the chosen one. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLukasa } from "../../base/sign-in.ts";
import { models } from "../../data/gateway.ts";

const STORAGE_KEY = "lukasa.chat.model";

export function useModels() {
  const lukasa = useLukasa();
  const [chosen, setChosen] = useState(storedModel);
  const query = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => models(lukasa, signal),
    staleTime: 300_000,
  });
  const names = (query.data ?? []).map((model) => model.id);
  const choose = (name: string) => {
    setChosen(name);
    try {
      localStorage.setItem(STORAGE_KEY, name);
    } catch {
      // Storage is forbidden: the choice lasts as long as the page.
    }
  };
  const model = names.includes(chosen) ? chosen : names[0];
  return { model, names, choose, error: query.error, refetch: query.refetch };
}

function storedModel(): string {
  try {
    return localStorage.getItem(STORAGE_KEY) ?? "";
  } catch {
    return "";
  }
}
