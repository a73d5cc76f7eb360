import assert from "node:assert/strict";
import { test } from "node:test";
import {
  bodyOf,
  firstSettings,
  isComplete,
  isSame,
  type ModelService,
  REASONS,
  reasonOf,
} from "../../src/data/model-settings.ts";
import { model } from "../../src/i18n/en/model.ts";

const NONE: ModelService = { changeable: true, set_by: null, url: null, model: null, found: [] };
const OLLAMA = { name: "Ollama", url: "http://127.0.0.1:11434/v1", models: ["qwen3:8b", "phi"] };
const EMPTY = { name: "vLLM", url: "http://127.0.0.1:8000/v1", models: [] };

test("model form begins with the service in use, else with the first model found", () => {
  assert.deepEqual(firstSettings(NONE), { url: "", key: "", model: "" });
  assert.deepEqual(firstSettings({ ...NONE, found: [EMPTY, OLLAMA] }), {
    url: OLLAMA.url,
    key: "",
    model: "qwen3:8b",
  });
  assert.deepEqual(firstSettings({ ...NONE, found: [EMPTY] }), {
    url: EMPTY.url,
    key: "",
    model: "",
  });
  const used = { ...NONE, set_by: "console", url: "https://a.example/v1", model: "mini" } as const;
  assert.deepEqual(firstSettings({ ...used, found: [OLLAMA] }), {
    url: "https://a.example/v1",
    key: "",
    model: "mini",
  });
});

test("model settings are sent without spaces and without an empty key", () => {
  const settings = { url: " http://a/v1 ", key: " ", model: " mini " };
  assert.deepEqual(bodyOf(settings), { url: "http://a/v1", model: "mini" });
  assert.deepEqual(bodyOf({ ...settings, key: " sk " }), {
    url: "http://a/v1",
    model: "mini",
    key: "sk",
  });
});

test("model settings need an address and a model", () => {
  assert.ok(isComplete({ url: "http://a/v1", key: "", model: "mini" }));
  assert.ok(!isComplete({ url: " ", key: "sk", model: "mini" }));
  assert.ok(!isComplete({ url: "http://a/v1", key: "sk", model: "" }));
});

test("result of a model test applies to the tested settings only", () => {
  const settings = { url: "http://a/v1", key: "", model: "mini" };
  assert.ok(isSame(settings, { ...settings, model: "mini " }));
  for (const other of [{ url: "http://b/v1" }, { key: "sk" }, { model: "maxi" }]) {
    assert.ok(!isSame(settings, { ...settings, ...other }));
  }
});

test("every reason of a failed model test has words, also a new one", () => {
  for (const reason of REASONS) {
    assert.equal(reasonOf({ ok: false, reason }), reason);
    assert.ok(model[`reason.${reason}`]);
  }
  assert.equal(reasonOf({ ok: false, reason: "something new" }), "refused");
});
