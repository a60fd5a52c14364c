import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { checkBeginning, readTrace } from "../files/tracefile.js";

const lines = readFileSync(process.env.TRACE, "utf8").trim().split("\n");
const VERSION = JSON.parse(lines[0]).version;
const change = (line, fields) => JSON.stringify({ ...JSON.parse(line), ...fields });
const without = (line, name) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).filter(([key]) => key !== name)));

test("a whole trace is read", () => {
  assert.equal(readTrace(`${lines.join("\n")}\n`, VERSION).length, lines.length);
});

for (const [name, spoil, complaint] of [
  ["cut in a line", () => [...lines.slice(0, 2), lines[2].slice(0, 50)], /^Line 3: cut off or not JSON/],
  ["cut at the end", () => lines.slice(0, -1), new RegExp(`^Line ${lines.length - 1}: the trace breaks off`)],
  ["reordered", () => [lines[0], lines[2], lines[1], ...lines.slice(3)], /^Line 2: seq is 2 where 1/],
  ["twice", () => [...lines.slice(0, 2), ...lines.slice(1)], /^Line 3: seq 1 stands twice/],
  ["headless", () => lines.slice(1), /^Line 1: seq is 1 where 0/],
  ["of two runs", () => [lines[0], change(lines[1], { run: "s" })], /^Line 2: belongs to another run/],
  ["of the future", () => [change(lines[0], { version: "99.0.0" })], /^Line 1: made by playground 99\.0\.0, newer/],
  ["of no version", () => [change(lines[0], { version: "x" })], /^Line 1: names no version/],
  ["with more behind the end", () => [...lines, change(lines.at(-1), { seq: lines.length })], /stands after run_finished/],
  ["with a short column", () => [...lines.slice(0, 2), change(lines[2], { accepted: [true] })], /^Line 3: accepted has 1 entries/],
  ["with a column of text", () => [...lines.slice(0, 2), change(lines[2], { entropy: lines[2].split("").map(() => "x") })], /^Line 3: entropy of step/],
  ["without a field", () => [...lines.slice(0, 2), without(lines[2], "predicted")], /^Line 3: step has no predicted/],
  ["with a strange event", () => [lines[0], change(lines[1], { type: "toString" })], /^Line 2: has the type "toString"/],
  ["with texts that are no text", () => [lines[0], change(lines[1], { texts: { 1: {} } })], /^Line 2: texts of canvas_started/],
  ["with a huge canvas", () => [change(lines[0], { canvas_length: 1e9 })], /^Line 1: canvas_length/],
  ["with a step of a later time", () => [...lines.slice(0, 2), change(lines[2], { step: 40000000 })], /^Line 3: step of step is 40000000 where 1 was expected/],
  ["with a canvas of a later time", () => [...lines.slice(0, 2), change(lines[2], { canvas: 3 })], /^Line 3: canvas of step is 3 where 0/],
  ["with an edit of another kind", () => [change(lines[0], { recipe: { ...JSON.parse(lines[0]).recipe, edits: [{ type: "pin", text: {} }] } }), ...lines.slice(1)], /^Line 1: recipe of run_started/],
  ["of arrays", () => ["[]"], /^Line 1: not a JSON object/],
  ["of nothing", () => [""], /empty/],
]) {
  test(`a trace ${name} is refused with its line`, () => {
    assert.throws(() => readTrace(spoil().join("\n"), VERSION), { message: complaint });
  });
}

test("junk is seen from its beginning", () => {
  checkBeginning(lines[0].slice(0, 16384));
  for (const junk of ["", "\u0000\u0001PK", "<html>", '{"a": 1}', "[1, 2]"]) assert.throws(() => checkBeginning(junk));
});
