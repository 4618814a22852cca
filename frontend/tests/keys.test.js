import assert from "node:assert/strict";
import { test } from "node:test";

import { Keymap } from "../src/bench/keys.js";

globalThis.document ??= { cookie: "" };
globalThis.document.querySelector ??= () => null;

const keys = { correct: "1", next: "j", submit: "Enter", keys: "?", source: "r", undo: "u" };
const press = (map, key, extra = {}) => map.commandFor({ key, code: "", target: { closest: () => null }, ...extra });

test("a remapped key means its new command, and the old one nothing", () => {
  const map = new Keymap({ ...keys, correct: "ö" });
  assert.deepEqual([press(map, "ö"), press(map, "1")], ["correct", null]);
});

test("signs that need Shift are taken as they are", () => {
  assert.equal(press(new Keymap(keys), "?", { shiftKey: true }), "keys");
});

test("Shift with correct is correct through here, whatever sign the layout puts there", () => {
  const map = new Keymap(keys);
  assert.equal(press(map, "!", { shiftKey: true, code: "Digit1" }), "through");
  assert.equal(press(map, "1", { shiftKey: true, code: "Digit1" }), "through");
});

test("Shift with source is everything's source, Shift with others nothing", () => {
  const map = new Keymap(keys);
  assert.deepEqual([press(map, "R", { shiftKey: true }), press(map, "U", { shiftKey: true })], ["source_all", null]);
});

test("digits that need Shift are found by their place", () => {
  assert.equal(press(new Keymap(keys), "&", { code: "Digit1" }), "correct");
});

test("on a Cyrillic layout letters are found by their place", () => {
  assert.equal(press(new Keymap(keys), "о", { code: "KeyJ" }), "next");
});

test("with Control there is undo and redo and nothing else", () => {
  const map = new Keymap(keys);
  assert.deepEqual([press(map, "z", { ctrlKey: true }), press(map, "Z", { ctrlKey: true, shiftKey: true }), press(map, "1", { ctrlKey: true })], ["undo", "redo", null]);
});

test("a held key labels once, and moves on and on", () => {
  const map = new Keymap(keys);
  assert.deepEqual([press(map, "1", { repeat: true }), press(map, "j", { repeat: true })], [null, "next"]);
});

test("nothing while a sign is being composed", () => {
  assert.equal(press(new Keymap(keys), "1", { isComposing: true }), null);
});
