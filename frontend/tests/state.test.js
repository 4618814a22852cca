import assert from "node:assert/strict";
import { test } from "node:test";

import { BenchState } from "../src/bench/state.js";

const bench = (mode, n, extra = {}) =>
  new BenchState({ mode, judged: Array(n).fill(true), labels: Array(n).fill(null), ...extra });

test("a label moves on to the next step", () => {
  const state = bench("first_error", 3);
  state.label(0, 1);
  assert.equal(state.active, 1);
});

test("labelling passes over context", () => {
  const state = bench("all_steps", 3, { judged: [true, false, true] });
  state.label(0, 1);
  assert.equal(state.active, 2);
});

test("moving does not pass over context", () => {
  const state = bench("all_steps", 3, { judged: [true, false, true] });
  state.move(1);
  assert.equal(state.active, 1);
});

test("context takes no label", () => {
  const state = bench("all_steps", 2, { judged: [false, true] });
  assert.equal(state.label(0, 1), false);
  assert.deepEqual(state.labels, [null, null]);
});

test("in first_error an incorrect step closes what follows", () => {
  const state = bench("first_error", 4, { labels: [1, null, 1, 0] });
  state.label(1, -1);
  assert.deepEqual(state.labels, [1, -1, null, null]);
  assert.equal(state.label(3, 1), false);
  assert.deepEqual(state.missing(), []);
  assert.equal(state.finishReason, "found_error");
});

test("undo brings back the labels that an incorrect step removed", () => {
  const state = bench("first_error", 3, { labels: [1, 1, 0] });
  state.label(0, -1);
  state.undo();
  assert.deepEqual(state.labels, [1, 1, 0]);
});

test("an incorrect step is corrected in place", () => {
  const state = bench("first_error", 2);
  state.label(0, -1);
  state.label(0, 1);
  assert.deepEqual(state.missing(), [1]);
});

test("a step before the stop that has no label is missing", () => {
  const state = bench("first_error", 3);
  state.label(1, -1);
  assert.deepEqual(state.missing(), [0]);
});

test("in all_steps an incorrect step closes nothing and the reason is solution", () => {
  const state = bench("all_steps", 3);
  state.label(0, -1);
  assert.deepEqual(state.missing(), [1, 2]);
  assert.equal(state.finishReason, "solution");
});

test("redo does again what undo took back, and a new label ends redo", () => {
  const state = bench("first_error", 3);
  state.label(0, 1);
  state.label(1, 0);
  state.undo();
  assert.deepEqual(state.labels, [1, null, null]);
  state.redo();
  assert.deepEqual(state.labels, [1, 0, null]);
  state.undo();
  state.label(1, 1);
  assert.equal(state.redo(), null);
});

test("undo goes back to the step it concerns", () => {
  const state = bench("first_error", 5);
  state.label(0, 1);
  state.move(3);
  assert.equal(state.undo(), 0);
  assert.equal(state.active, 0);
});

test("a draft opens at its first missing step", () => {
  assert.equal(bench("first_error", 3, { labels: [1, null, null] }).active, 1);
});

test("comments and flags go out as details", () => {
  const state = bench("all_steps", 3);
  state.toggleUnsure(2);
  state.toggleUnsure(0);
  state.comment(1, " why ");
  assert.deepEqual(state.details(), { unsure: [0, 2], comments: { 1: "why" } });
});

test("counts follow the stop", () => {
  const state = bench("first_error", 10);
  assert.deepEqual(state.counts(), { total: 10, done: 0 });
  state.label(0, 1);
  state.label(1, -1);
  assert.deepEqual(state.counts(), { total: 2, done: 2 });
});

test("correct through here fills what is open, and says which steps it filled", () => {
  const state = bench("first_error", 4, { labels: [null, 0, null, null] });
  assert.equal(state.correctThrough(2), 2);
  assert.deepEqual(state.labels, [1, 0, 1, null]);
  assert.deepEqual(state.details().implied, [0, 2]);
  assert.equal(state.active, 3);
});

test("a step labelled by hand is implied no longer", () => {
  const state = bench("first_error", 2);
  state.correctThrough(1);
  state.label(0, 0);
  assert.deepEqual(state.details().implied, [1]);
});

test("a step that is not incorrect any more loses its kind of error, and undo brings it back", () => {
  const state = bench("all_steps", 2);
  state.label(0, -1);
  state.errorType(0, "calculation");
  state.recovered(0, 1);
  state.label(0, 1);
  assert.deepEqual(state.details(), {});
  state.undo();
  assert.deepEqual(state.details(), { error_types: { 0: "calculation" }, recovered_at: { 0: 1 } });
});

test("what the project asks of an incorrect step is wanting until it is said", () => {
  const state = bench("first_error", 1, { rules: { errorType: true, comment: true } });
  state.label(0, -1);
  assert.deepEqual(state.wanting().map((w) => w.what), ["error_type", "comment"]);
  state.errorType(0, "circular");
  state.comment(0, "uses what it shows");
  assert.equal(state.complete, true);
});

test("an error is corrected only by a later step", () => {
  const state = bench("all_steps", 3);
  state.label(1, -1);
  assert.equal(state.recovered(1, 0), false);
  assert.equal(state.recovered(1, 2), true);
});

test("the scratchpad stays in the draft", () => {
  const state = bench("first_error", 1, { details: { scratch: "x = 3" } });
  assert.deepEqual([state.details(), state.details({ draft: true })], [{}, { scratch: "x = 3" }]);
});
