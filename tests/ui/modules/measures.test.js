import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { holds, measuresOf } from "../run/measures.js";

test("the page measures a run as the tests of lessons do", () => {
  const log = new RunLog({ recording: true });
  for (const line of readFileSync(process.env.TRACE, "utf8").trim().split("\n")) log.append(JSON.parse(line));
  assert.deepEqual(measuresOf(log), JSON.parse(process.env.MEASURES));
});

test("a claim about something that was not measured does not hold", () => {
  const claim = { measure: "ar.steps", operator: "<=", value: 3, text: "" };
  assert.equal(holds(claim, { steps: 2 }), false);
  assert.equal(holds(claim, { "ar.steps": 2 }), true);
  assert.equal(holds({ ...claim, measure: "steps", value: "ar.steps" }, { steps: 2, "ar.steps": 2 }), true);
  assert.equal(holds({ measure: "stop", operator: "=", value: "end_of_turn", text: "" }, { stop: "end_of_turn" }), true);
});
