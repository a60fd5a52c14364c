import assert from "node:assert/strict";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { changeName, differences, editName, editsOf, forkName, forkOf, momentOf, parametersAt, recipeOf, seqBefore, setEdit } from "../run/fork.js";

const SAMPLER = { entropy_bound: 0.1, t_max: 0.8, t_min: 0.4, max_denoising_steps: 48, confidence_threshold: 0.005, stability_threshold: 1 };
const DECODING = { temperature: 1, top_k: 64, top_p: 0.95 };
const recipe = (edits = []) => ({ mode: "diffusion", messages: [{ role: "user", content: "hi" }], seed: 0, max_new_tokens: 8, sampler: SAMPLER, decoding: DECODING, edits });

function logOf({ edits = [], finished = true, stepEdits = {} } = {}) {
  const log = new RunLog();
  const events = [
    { type: "run_started", recipe: recipe(edits), canvas_length: 2, end_ids: [1], texts: {} },
    { type: "canvas_started", canvas: 0, canvas_ids: [5, 6], texts: {} },
    ...[1, 2, 3].map((step) => ({ type: "step", canvas: 0, step, accepted: [], edits: stepEdits[step] ?? [], texts: {} })),
    { type: "canvas_committed", canvas: 0, ids: [7, 8], texts: {} },
    { type: "canvas_started", canvas: 1, canvas_ids: [5, 6], texts: {} },
    { type: "step", canvas: 1, step: 1, accepted: [], edits: [], texts: {} },
    ...(finished ? [{ type: "run_finished", recipe: recipe([...edits, ...Object.values(stepEdits).flat()]), metrics: {}, text: "", stop_reason: "end_of_turn" }] : []),
  ];
  events.forEach((event, seq) => log.append({ run: "r", seq, ...event }));
  return log;
}

const pin = (canvas, step) => ({ type: "pin", canvas, step, start: 0, text: "a" });
const set = (canvas, step, sampler) => ({ type: "set", canvas, step, sampler });

test("an edit belongs to the step that is looked at, and after a commit to the last one", () => {
  const log = logOf();
  assert.deepEqual(log.frames.map((frame) => momentOf(log, frame)), [
    { canvas: 0, step: 1 }, { canvas: 0, step: 1 }, { canvas: 0, step: 2 }, { canvas: 0, step: 3 }, { canvas: 0, step: 3 }, { canvas: 1, step: 1 }, { canvas: 1, step: 1 },
  ]);
  assert.equal(momentOf(log, null), null);
});

test("a fork without a change is the parent's recipe, all edits included", () => {
  const edits = [pin(0, 2), set(1, 1, { t_min: 0.1 })];
  assert.deepEqual(forkOf(logOf({ edits }), []).recipe, recipe(edits));
});

test("a fork keeps the parent's edits up to its own first one and leaves out later ones", () => {
  const [early, same, late] = [pin(0, 1), set(0, 2, { t_min: 0.1 }), pin(1, 1)];
  const added = [pin(0, 3), pin(0, 2)];
  const fork = forkOf(logOf({ edits: [late, early, same] }), added);
  assert.deepEqual(fork.recipe.edits, [early, same, ...added]);
  assert.deepEqual(fork.dropped, [late]);
});

test("an edit taken out leaves the others where they are", () => {
  const edits = [pin(0, 1), pin(1, 1)];
  const log = logOf({ edits });
  assert.deepEqual(forkOf(log, [], [editsOf(log)[0]]).recipe.edits, [edits[1]]);
});

test("infill is of the whole run and never left out", () => {
  const infill = { type: "infill", text: "a ___" };
  assert.deepEqual(forkOf(logOf({ edits: [infill] }), [pin(0, 1)]).recipe.edits, [infill, pin(0, 1)]);
});

test("of a run that is going on, sliders that were moved count as edits", () => {
  const moved = set(0, 2, { t_max: 2 });
  const log = logOf({ edits: [pin(0, 1)], finished: false, stepEdits: { 1: [pin(0, 1)], 2: [moved] } });
  assert.deepEqual(editsOf(log), [pin(0, 1), moved]);
  assert.deepEqual(recipeOf(log).edits, [pin(0, 1), moved]);
});

test("the events before a moment are the parent's own", () => {
  const log = logOf();
  assert.equal(seqBefore(log, { canvas: 0, step: 1 }), 1);
  assert.equal(seqBefore(log, { canvas: 0, step: 3 }), 3);
  assert.equal(seqBefore(log, { canvas: 1, step: 1 }), 6);
  assert.equal(seqBefore(log, { canvas: -1, step: -1 }), -1);
});

test("parameters in force follow the edits up to the moment, and only what differs is set", () => {
  const log = logOf({ edits: [set(1, 1, { t_max: 3 }), set(0, 2, { t_max: 2, entropy_bound: 1 })] });
  assert.equal(parametersAt(log, { canvas: 0, step: 1 }).t_max, 0.8);
  assert.equal(parametersAt(log, { canvas: 0, step: 2 }).t_max, 2);
  assert.equal(parametersAt(log, { canvas: 1, step: 1 }).t_max, 3);
  const wanted = { sampler: { ...SAMPLER, t_max: 2, entropy_bound: 0.5 }, decoding: DECODING };
  assert.deepEqual(setEdit(log, { canvas: 0, step: 3 }, wanted), set(0, 3, { entropy_bound: 0.5 }));
  assert.equal(setEdit(logOf(), { canvas: 0, step: 3 }, { sampler: SAMPLER, decoding: DECODING }), null);
});

test("an autoregressive run takes changes of its decoding by token", () => {
  const log = new RunLog();
  log.append({ type: "run_started", run: "r", seq: 0, recipe: { ...recipe(), mode: "autoregressive" }, texts: {} });
  for (const index of [0, 1]) log.append({ type: "token", run: "r", seq: index + 1, index, id: 4, edits: [], texts: {} });
  const moment = momentOf(log, log.frames[1]);
  assert.deepEqual(moment, { canvas: -1, step: 1 });
  const edit = setEdit(log, moment, { sampler: SAMPLER, decoding: { ...DECODING, temperature: 0 } });
  assert.deepEqual(edit, { type: "set", index: 1, decoding: { temperature: 0 } });
  assert.equal(seqBefore(log, moment), 1);
  assert.deepEqual(forkOf(log, [edit]).recipe.edits, [edit]);
});

test("edits, forks and differences in words", () => {
  assert.equal(editName({ type: "pin", start: 6, text: " a  b\n" }), "pin “ a b ” from position 7 on");
  assert.equal(editName({ type: "renoise", start: 0, length: 3 }), "renoise positions 1–3");
  assert.equal(editName({ type: "canvas", text: "x", noise: 0.25 }), "start from “x”, noise 25 %");
  assert.equal(changeName({ entropy_bound: 1, t_max: 2 }), "bound 1, τ first 2");
  assert.equal(forkName({ moment: { canvas: 1, step: 4 }, changes: "pin", dropped: 1 }), "A fork of step 4 of canvas 2 of the run before: pin. A later edit of it was left out.");
  assert.equal(differences(recipe(), { ...recipe(), seed: 2, sampler: { ...SAMPLER, entropy_bound: 1 } }), "With bound 0.1 instead of 1, seed 0 instead of 2.");
  const pins = ["a", "b"].map((text) => ({ ...recipe(), edits: [{ type: "pin", canvas: 0, step: 1, start: 0, text }] }));
  assert.equal(differences({ ...recipe(), edits: [] }, pins[0]), "With no edits instead of 1 edit.");
  assert.equal(differences(pins[0], { ...recipe(), edits: [] }), "With 1 edit instead of none.");
  assert.equal(differences(pins[0], pins[1]), "With another edit.");
  assert.equal(differences(recipe(), recipe()), "The same recipe.");
});
