/**
 * The model service behind the chat, which the user of a local server sets in the console. Only such a
 * server has these operations.
 */
import { useQuery } from "@tanstack/react-query";
import type { Lukasa } from "lukasa-client";
import { useLukasa } from "../base/sign-in.ts";
import {
  bodyOf,
  type ModelService,
  type ModelServiceSettings,
  type ModelServiceTest,
} from "./model-settings.ts";

export const MODEL_SERVICE_KEY = ["model-service"] as const;
const PATH = "/api/model-service";
/** A local model may have to be loaded first: longer than the server waits. */
const TEST_TIMEOUT_MS = 70_000;

export function useModelService() {
  const lukasa = useLukasa();
  return useQuery({
    queryKey: MODEL_SERVICE_KEY,
    queryFn: ({ signal }) => send<ModelService>(lukasa, "GET", PATH, { signal }),
    staleTime: 30_000,
  });
}

export function testModelService(
  lukasa: Lukasa,
  settings: ModelServiceSettings,
): Promise<ModelServiceTest> {
  const body = bodyOf(settings);
  return send(lukasa, "POST", `${PATH}/test`, { body, timeout: TEST_TIMEOUT_MS, retries: 0 });
}

export function putModelService(
  lukasa: Lukasa,
  settings: ModelServiceSettings,
): Promise<ModelService> {
  const body = bodyOf(settings);
  return send(lukasa, "PUT", PATH, { body, timeout: TEST_TIMEOUT_MS, retries: 0 });
}

export function removeModelService(lukasa: Lukasa): Promise<ModelService> {
  return send(lukasa, "DELETE", PATH);
}

async function send<T>(
  lukasa: Lukasa,
  method: "GET" | "POST" | "PUT" | "DELETE",
  path: string,
  sending: Parameters<Lukasa["send"]>[2] = {},
): Promise<T> {
  return (await (await lukasa.send(method, path, sending)).json()) as T;
}
