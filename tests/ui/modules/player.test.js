import assert from "node:assert/strict";
import { test } from "node:test";
import { RunLog } from "../run/log.js";
import { Player } from "../lane/player.js";

function logOf(steps, { recording = false, finished = true } = {}) {
  const log = new RunLog({ recording });
  log.append({ type: "run_started", run: "r", seq: 0, canvas_length: 2, end_ids: [1], recipe: {}, texts: {} });
  for (let number = 1; number <= steps; number += 1) append(log, number);
  if (finished) log.append({ type: "run_finished", run: "r", seq: steps + 1, text: "", metrics: {}, stop_reason: "end_of_turn" });
  return log;
}

function append(log, number) {
  log.append({ type: "step", run: "r", seq: number, canvas: 0, step: number, accepted: [], texts: {} });
}

test("a recording plays at the speed chosen", () => {
  const player = new Player(logOf(10, { recording: true }));
  player.speed = 4;
  const at = [];
  for (let now = 1000; now <= 2000; now += 50) {
    player.tick(now);
    at.push(player.index);
  }
  assert.equal(at[0], 0, "the first frame shows at once");
  assert.equal(at.at(-1), 4, "one second later four frames more");
});

test("at the end it stops, and play begins anew", () => {
  const player = new Player(logOf(2, { recording: true }));
  player.speed = null;
  let ends = 0;
  player.addEventListener("end", () => (ends += 1));
  for (let now = 0; now < 10; now += 1) player.tick(now);
  assert.equal(player.playing, false);
  assert.equal(player.index, 1);
  assert.equal(ends, 1);
  player.play();
  assert.equal(player.index, -1);
});

test("following a live run, the newest step shows at once", () => {
  const log = logOf(1, { finished: false });
  const player = new Player(log);
  player.tick(1000);
  append(log, 2);
  player.tick(1250);
  assert.equal(player.index, 1);
  for (let number = 3; number <= 9; number += 1) append(log, number);
  player.tick(1251);
  assert.equal(player.index, 8, "too far behind: it jumps");
});

test("looking back leaves the live run, and following returns to it", () => {
  const log = logOf(5, { finished: false });
  const player = new Player(log);
  player.tick(1000);
  player.seek(1);
  assert.equal(player.following, false);
  append(log, 6);
  player.tick(2000);
  assert.equal(player.index, 1);
  player.followLive();
  assert.equal(player.index, 5);
  assert.equal(player.following, true);
});

test("steps by hand stay within the run", () => {
  const player = new Player(logOf(3));
  player.home();
  player.nudge(-1);
  assert.equal(player.index, 0);
  player.end();
  player.nudge(1);
  assert.equal(player.index, 2);
});

test("the clock may sleep until the next frame is due", () => {
  const recorded = new Player(logOf(3, { recording: true }));
  recorded.speed = 4;
  recorded.tick(1000);
  assert.equal(recorded.due(1000), 250);
  assert.equal(recorded.due(1200), 50);
  recorded.pause();
  assert.equal(recorded.due(1200), Infinity);
  const log = logOf(1, { finished: false });
  const live = new Player(log);
  live.tick(1000);
  assert.equal(live.due(1000), Infinity, "a live run wakes it");
  append(log, 2);
  assert.ok(live.due(1000) <= 120);
});
