import { test } from "node:test";

test("nothing", () => {});
