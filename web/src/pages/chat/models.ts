/** Which models there are to talk to, and which one its person has chosen. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLukasa } from "../../app/sign-in.tsx";
import { models } from "../../data/gateway.ts";

const PLACE = "lukasa.chat.model";

export function useModels() {
  const lukasa = useLukasa();
  const [chosen, setChosen] = useState(remembered);
  const query = useQuery({
    queryKey: ["models"],
    queryFn: ({ signal }) => models(lukasa, signal),
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
