import assert from "node:assert/strict";
import { test } from "node:test";

import { strong, toBlocks } from "../src/prose/blocks.js";

const types = (text) => toBlocks(text).map((b) => b.type);

test("blank lines part paragraphs and single line breaks are kept", () => {
  const blocks = toBlocks("one\ntwo\n\nthree");
  assert.deepEqual(blocks.map((b) => b.inline[0].value), ["one\ntwo", "three"]);
});

test("a display formula stands between paragraphs", () => {
  assert.deepEqual(types("so\n\\[x\\]\nand $y$"), ["paragraph", "math", "paragraph"]);
});

test("list items keep the marker that was written", () => {
  const [list] = toBlocks("2. two\n3) three $x$");
  assert.deepEqual(list.items.map((i) => i.marker), ["2.", "3)"]);
});

test("a subtraction at the start of a line is no list", () => {
  assert.deepEqual(types("-3 + 4 = 1"), ["paragraph"]);
});

test("bold may hold a formula", () => {
  const [paragraph] = toBlocks("**Let $x$ be** odd");
  assert.deepEqual(paragraph.inline[0].inline.map((s) => s.type), ["text", "math", "text"]);
});

test("a power written with stars is not bold", () => {
  assert.deepEqual(strong([{ type: "text", value: "2**3 and 4**5" }]), [{ type: "text", value: "2**3 and 4**5" }]);
});

test("a heading is a heading", () => {
  const [heading] = toBlocks("### Step 1: solve $x$");
  assert.equal(heading.level, 3);
});

test("text without any markup is one paragraph", () => {
  assert.deepEqual(toBlocks("a < b && c > d"), [{ type: "paragraph", inline: [{ type: "text", value: "a < b && c > d" }] }]);
});

test("a table has a head, aligned columns and rows; a bar in a formula parts nothing", () => {
  const [table] = toBlocks("| $x$ | $|x|$ |\n|:--|--:|\n| -1 | **1** |");
  assert.deepEqual([table.type, table.align, table.rows.length, table.head.length], ["table", ["", "end"], 1, 2]);
  assert.equal(table.rows[0][1][0].type, "strong");
});

test("a line with bars and no rule below is no table", () => {
  assert.deepEqual(types("|x| < 2 and |y| < 3\nso"), ["paragraph"]);
});
