// @ts-check
/** A sweep's form says what its spec says, and the other way round. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { BadForm, formOf, listOf, specOf } from "../lab/labspec.js";

const USUAL = { entropy_bound: 0.1, t_max: 0.8, t_min: 0.4, max_denoising_steps: 48, confidence_threshold: 0.005, stability_threshold: 1 };
const SPEC = {
  name: "mine",
  recipe: { max_new_tokens: 64, sampler: { t_max: 0.9 } },
  vary: { "sampler.entropy_bound": [0.1, 0.5] },
  tasks: { families: ["add"], count: 5 },
  prompts: [{ prompt: "hot?", expect: "cold" }, { prompt: "hello", pattern: "(?i)hello|/" }, { prompt: "anything" }],
  seeds: [0, 3],
};

test("a spec goes through the form and comes back", () => {
  const form = formOf(SPEC, USUAL, 256);
  assert.ok(form);
  assert.equal(form.prompts, "hot? => cold\nhello => /(?i)hello|//\nanything");
  assert.deepEqual(specOf(form, USUAL), SPEC);
});

test("what the form cannot say stays JSON", () => {
  for (const prompts of [[{ prompt: "a => b" }], [{ prompt: "a\nb" }], [{ prompt: "path", expect: "/usr/" }], [{ prompt: " a" }]]) assert.equal(formOf({ ...SPEC, prompts }, USUAL, 256), null, JSON.stringify(prompts));
  assert.equal(formOf({ ...SPEC, search: { kind: "random", samples: 3 } }, USUAL, 256), null);
  assert.equal(formOf({ ...SPEC, vary: { "sampler.entropy_bound": { low: 0, high: 1, count: 3 } } }, USUAL, 256), null);
});

test("a value that is none names its field", () => {
  for (const text of ["", "much", "1, 1", "NaN", "Infinity"]) assert.throws(() => listOf(text, "t_max"), (error) => error instanceof BadForm && error.field === "t_max");
  assert.throws(() => listOf("1.5", "max_denoising_steps"), BadForm);
});
