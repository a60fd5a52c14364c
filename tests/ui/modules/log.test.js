import assert from "node:assert/strict";
import { test } from "node:test";
import { RunLog } from "../run/log.js";

const started = { type: "run_started", run: "r", seq: 0, canvas_length: 2, end_ids: [1], recipe: {}, texts: { 1: "." } };
const step = (seq, number) => ({ type: "step", run: "r", seq, canvas: 0, step: number, accepted: [], texts: { 9: `t${seq}` } });
const finished = (seq) => ({ type: "run_finished", run: "r", seq, text: "", metrics: {}, stop_reason: "end_of_turn" });

test("frames are in order however the events came", () => {
  const log = new RunLog();
  for (const event of [started, step(4, 3), step(3, 2), step(2, 1), finished(5)]) log.append(event);
  assert.deepEqual(log.frames.map((frame) => frame.seq), [2, 3, 4]);
  assert.equal(log.gapless, 0, "seq 1 is missing");
  assert.equal(log.whole, false);
  log.append({ type: "canvas_started", run: "r", seq: 1, canvas: 0, canvas_ids: [], texts: {} });
  assert.equal(log.gapless, 5);
  assert.equal(log.whole, true);
  assert.deepEqual(log.frames.map((frame) => frame.kind), ["noise", "step", "step", "step"]);
});

test("an event that comes twice counts once", () => {
  const log = new RunLog();
  let told = 0;
  log.addEventListener("event", () => (told += 1));
  log.append(started);
  log.append(started);
  assert.equal(told, 1);
});

test("a cursor is a seq, and finds its frame when earlier ones come later", () => {
  const log = new RunLog();
  for (const event of [started, step(5, 4)]) log.append(event);
  assert.equal(log.frameAt(5), 0);
  log.append(step(2, 1));
  assert.equal(log.frameAt(5), 1);
  assert.equal(log.frameAt(1), -1);
});

test("pieces of text are known by id, unknown ones are marked", () => {
  const log = new RunLog();
  log.append(started);
  assert.equal(log.text(1), ".");
  assert.equal(log.text(77), "�");
});

test("an event of a later version is kept and not shown", () => {
  const log = new RunLog();
  log.append({ type: "something_new", run: "r", seq: 0 });
  assert.equal(log.gapless, 0);
  assert.equal(log.frames.length, 0);
});
