import assert from "node:assert/strict";
import { test } from "node:test";
import { acceptedAt, barOf, budgetOf, commitStates, historyOf, shownIds, statesOf, stepStates, tailOf, viewOf } from "../run/states.js";
import { RunLog } from "../run/log.js";

const step = (number, accepted, sampled, more = {}) => ({
  type: "step", run: "r", seq: number + 1, canvas: 0, step: number, accepted, sampled,
  predicted: sampled.map((id) => id + 100), canvas_ids: sampled.map((id) => id + 200),
  entropy: sampled.map(() => 0.1), entropy_bound: 0.1, edits: [], texts: {}, ...more,
});

test("a state compares with the step just before, by the sampled token", () => {
  const before = step(1, [true, true, true, false, false], [1, 2, 3, 4, 5]);
  const now = step(2, [true, true, false, true, false], [1, 9, 3, 4, 5]);
  assert.deepEqual(stepStates(now, before), ["kept", "revised", "released", "new", "draft"]);
});

test("in the first step everything accepted is new", () => {
  assert.deepEqual(stepStates(step(1, [true, false], [1, 2]), null), ["new", "draft"]);
});

test("while the step before has not come yet, nothing is claimed to be new", () => {
  assert.deepEqual(stepStates(step(2, [true, false], [1, 2]), undefined), ["kept", "draft"]);
});

test("a pinned position is pinned in the commit, and was never released", () => {
  const steps = [undefined, step(1, [true, true], [1, 2]), step(2, [false, true], [7, 2], { pinned: [true, false] })];
  assert.deepEqual(commitStates({ ids: [7, 2] }, steps), ["pinned", "committed"]);
  assert.deepEqual(historyOf({ started: null, committed: null, steps }, 0, 2), { first: 1, revised: [], released: [] });
});

test("a pinned position is neither accepted nor a draft", () => {
  assert.deepEqual(stepStates(step(1, [false, true], [1, 2], { pinned: [true, false] }), null), ["pinned", "new"]);
});

test("a committed token that differs from the last accepted one is revised", () => {
  const steps = [undefined, step(1, [true, true, false], [1, 2, 3]), step(2, [true, false, false], [7, 2, 3])];
  const committed = { type: "canvas_committed", canvas: 0, ids: [7, 5, 6] };
  assert.deepEqual(commitStates(committed, steps), ["committed", "revised", "committed"]);
});

test("accepted positions show the sampled token, others the draft, or the noise on request", () => {
  const now = step(1, [true, false], [1, 2]);
  assert.deepEqual(shownIds(now, false), [1, 102]);
  assert.deepEqual(shownIds(now, true), [1, 202]);
});

test("with the noise on show, what is not accepted is marked as noise", () => {
  const log = new RunLog();
  const steps = [step(1, [true, true, false], [1, 2, 3]), step(2, [true, false, false], [1, 2, 3])];
  steps.forEach((event, seq) => log.append({ seq, texts: {}, ...event }));
  const view = (/** @type {boolean} */ noise) => viewOf(log, log.frames[1], { noise }).states;
  assert.deepEqual(view(false), ["kept", "released", "draft"]);
  assert.deepEqual(view(true), ["kept", "noise", "noise"]);
});

test("the tail is the run of end tokens at the end", () => {
  const ends = new Set([1, 106]);
  assert.equal(tailOf([5, 1, 6, 1, 106], ends), 3);
  assert.equal(tailOf([5, 6], ends), 2);
  assert.equal(tailOf([1, 1], ends), 0);
});

test("the budget goes by entropy, then by position", () => {
  const now = step(1, [true, true, false], [1, 2, 3], { entropy: [0.5, 0.1, 0.5] });
  const { order, cumulative, accepted } = budgetOf(now);
  assert.deepEqual(order, [1, 0, 2]);
  assert.deepEqual(cumulative, [0.1, 0.6, 1.1]);
  assert.equal(accepted, 2);
});

test("history tells first acceptance, revisions and releases", () => {
  const canvas = { started: null, committed: null, steps: [undefined, step(1, [false], [1]), step(2, [true], [2]), step(3, [true], [3]), step(4, [false], [3])] };
  assert.deepEqual(historyOf(canvas, 0, 4), { first: 2, revised: [3], released: [4] });
  assert.deepEqual(historyOf(canvas, 0, 1), { first: null, revised: [], released: [] });
});

test("a bar is empty at 0 nats and never full", () => {
  assert.equal(barOf(0), 0);
  assert.ok(barOf(0.1) > 0.09 && barOf(0.1) < 0.1);
  assert.ok(barOf(30) <= 1);
});

test("a committed view is cut after the end token and folds what the canvas had left", () => {
  const log = new RunLog();
  log.append({ type: "run_started", run: "r", seq: 0, canvas_length: 8, end_ids: [1], recipe: {}, texts: {} });
  log.append({ type: "canvas_committed", run: "r", seq: 1, canvas: 0, ids: [4, 5, 1], texts: {} });
  const view = viewOf(log, log.frames[0]);
  assert.equal(view.tail, 2);
  assert.equal(view.folded, 6);
});

test("an Euler step keeps what came before, and shows it; nothing is released", () => {
  const jump = { jump_probability: 0.5 };
  const one = step(1, [true, false, true, false], [1, 2, 3, 4], { ...jump, canvas_ids: [1, 92, 3, 94] });
  const two = step(2, [false, false, true, true], [5, 6, 7, 8], { ...jump, canvas_ids: [1, 92, 7, 8] });
  const three = step(3, [true, false, false, true], [1, 6, 9, 8], { ...jump, canvas_ids: [1, 92, 7, 8] });
  const canvas = { steps: [undefined, one, two, three] };
  assert.deepEqual(statesOf(canvas, two), ["kept", "draft", "revised", "new"]);
  assert.deepEqual(statesOf(canvas, three), ["kept", "draft", "kept", "kept"]);
  assert.deepEqual(shownIds(two, true, statesOf(canvas, two)), [1, 92, 7, 8]);
  assert.deepEqual(historyOf(canvas, 2, 3), { first: 1, revised: [2], released: [] });
});

test("another bound accepts what fits it, in order of entropy and position, pins apart", () => {
  const entropy = [0.08, 2, 0.03, 0.05, 0.05];
  const now = step(1, [true, false, true, true, true], [1, 2, 3, 4, 5], { entropy });
  const at = (bound) => acceptedAt(now, bound).flatMap((accepted, position) => (accepted ? [position] : []));
  assert.deepEqual(at(0), [2]);
  assert.deepEqual(at(0.03), [2, 3]);
  assert.deepEqual(at(0.1), [2, 3, 4]);
  assert.deepEqual(at(0.14), [0, 2, 3, 4]);
  assert.deepEqual(at(0.3), [0, 1, 2, 3, 4]);
  assert.deepEqual(acceptedAt({ ...now, pinned: [false, false, true, false, false] }, 0), [false, false, false, true, false]);
});
