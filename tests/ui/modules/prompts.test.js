import assert from "node:assert/strict";
import { test } from "node:test";
import { contentOf, isContent, isThumbnail, readingWords, textOf, uploadsOf } from "../run/prompts.js";
import { RunLog } from "../run/log.js";
import { thoughtIn, thoughtOf } from "../lane/thoughts.js";

const sha256 = "0123456789abcdef".repeat(4);

test("a turn's text is what was written, uploads left out", () => {
  assert.equal(textOf("hi"), "hi");
  assert.equal(textOf(undefined), "");
  assert.equal(textOf([{ type: "image", sha256 }, { type: "text", text: "one" }, { type: "file", sha256 }, { type: "text", text: "two" }]), "one\ntwo");
});

test("only text and named uploads are content", () => {
  for (const good of ["", "hi", [{ type: "text", text: "" }], [{ type: "image", sha256 }], [{ type: "file", sha256 }]]) assert.ok(isContent(good));
  for (const bad of [3, null, [], [3], [{ type: "text" }], [{ type: "image", sha256: "x" }], [{ type: "sound", sha256 }]]) assert.ok(!isContent(bad));
});

test("a thumbnail is a picture in the text itself and nothing else", () => {
  assert.ok(isThumbnail("data:image/jpeg;base64,/9j/4AAQ=="));
  for (const bad of [null, "https://example.org/a.jpg", "data:image/svg+xml;base64,AAAA", "data:image/jpeg;base64,A\" onload=", "javascript:1"]) assert.ok(!isThumbnail(bad));
});

test("progress is said in tokens", () => {
  assert.equal(readingWords({ tokens: 1024, total: 5000 }), "Reading the prompt: 1,024 of 5,000 tokens.");
});

test("a thought goes from marker to marker, or to the end", () => {
  assert.deepEqual(thoughtIn([5, 8, 6, 9, 7], [8, 9]), { thought: [false, true, true, true, false], open: false });
  assert.deepEqual(thoughtIn([9, 5, 8, 6], [8, 9]), { thought: [false, false, true, true], open: true });
  assert.deepEqual(thoughtIn([6, 9, 7], [8, 9], true), { thought: [true, true, false], open: false });
});

test("a thought goes on over the edge of a canvas, and through a draft", () => {
  const log = new RunLog();
  log.append({ type: "run_started", run: "r", seq: 0, channel_ids: [8, 9], texts: {}, recipe: {} });
  log.append({ type: "canvas_committed", run: "r", seq: 1, canvas: 0, ids: [8, 6, 6], texts: {} });
  assert.deepEqual(thoughtOf(log, 0, [8, 6, 6]), [true, true, true]);
  assert.deepEqual(thoughtOf(log, 1, [6, 9, 7]), [true, true, false]);
  assert.deepEqual(thoughtOf(log, 1, [7, 7, 7]), [true, true, true]);
  log.started.channel_ids = null;
  assert.equal(thoughtOf(log, 1, [6, 9, 7]), null);
});

test("progress of the prompt fills no frame and leaves no gap", () => {
  const log = new RunLog();
  log.append({ type: "run_started", run: "r", seq: 0, texts: {}, recipe: {} });
  log.append({ type: "prefill", run: "r", seq: 1, tokens: 512, total: 700, ms: 1, device_ms: 1 });
  assert.deepEqual([log.gapless, log.frames.length], [1, 0]);
});

test("uploads stand before the text, and come out again", () => {
  const uploads = [{ type: "image", sha256 }, { type: "file", sha256 }];
  assert.equal(contentOf([], "hi"), "hi");
  assert.deepEqual(contentOf(uploads, "hi"), [...uploads, { type: "text", text: "hi" }]);
  assert.deepEqual(contentOf(uploads, "  "), uploads);
  assert.deepEqual(uploadsOf(contentOf(uploads, "hi")), uploads);
  assert.deepEqual(uploadsOf("hi"), []);
});
