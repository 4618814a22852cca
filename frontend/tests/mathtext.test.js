import assert from "node:assert/strict";
import { test } from "node:test";

import { findSpans } from "../src/mathtext.js";

const formulas = (text) => findSpans(text).filter((s) => s.type === "math").map((s) => s.tex);
const words = (text) => findSpans(text).filter((s) => s.type === "text").map((s) => s.value).join("");

test("finds each of the delimiters", () => {
  assert.deepEqual(formulas(String.raw`$a$ then $$b$$ then \(c\) then \[d\]`), ["a", "b", "c", "d"]);
});

test("tells display formulas from inline ones", () => {
  const spans = findSpans(String.raw`$a$ $$b$$ \(c\) \[d\]`).filter((s) => s.type === "math");
  assert.deepEqual(spans.map((s) => s.display), [false, true, false, true]);
});

test("takes an environment whole, one inside another included", () => {
  const text = String.raw`\begin{align*}a&=\begin{align*}b\end{align*}\\c\end{align*}`;
  assert.deepEqual(formulas(text), [text]);
});

test("leaves environments that are not mathematics as text", () => {
  assert.deepEqual(formulas(String.raw`\begin{itemize}\item a\end{itemize}`), []);
});

for (const price of [
  "It costs $2 for tea and $5 for cake.",
  "Between $5-$10 a day",
  "He paid $3,500.50 and kept $20.",
  "US$5 and then US$7",
  "a $20 bill, then US$",
  "They are $2, $3 and $4 each.",
  "spent $1.50/day; saved $.50",
  "$2 or $5",
]) {
  test(`reads money as money: ${price}`, () => {
    assert.deepEqual(formulas(price), []);
    assert.equal(words(price), price);
  });
}

test("a price before a formula does not swallow it", () => {
  assert.deepEqual(formulas("Pens are $2 each and $y=x^2$ gives the total."), ["y=x^2"]);
  assert.deepEqual(formulas("It costs $2 and $5, so $x = 7$."), ["x = 7"]);
});

test("a formula may be a bare number", () => {
  assert.deepEqual(formulas("so $12$ apples and $1{,}000$ pears"), ["12", "1{,}000"]);
});

test("a formula with spaces inside its dollar signs is still a formula", () => {
  assert.deepEqual(formulas("thus $ x + 1 = 3 $ and $ n $."), [" x + 1 = 3 ", " n "]);
});

test("an escaped dollar sign is a dollar sign", () => {
  assert.deepEqual(formulas(String.raw`\$5 and \$6`), []);
  assert.equal(words(String.raw`\$5`), "$5");
  assert.deepEqual(formulas(String.raw`$x = \$5$ more`), [String.raw`x = \$5`]);
});

test("an underscore between formulas stays an underscore", () => {
  const text = "$a_1$ _and_ $b_2$ snake_case_name";
  assert.deepEqual(formulas(text), ["a_1", "b_2"]);
  assert.equal(words(text), " _and_  snake_case_name");
});

test("dollar signs inside code are code", () => {
  assert.deepEqual(formulas("run `echo $HOME $PATH` now"), []);
  assert.deepEqual(formulas("```sh\necho $a $b\n```\nthen $x$"), ["x"]);
});

test("a fence keeps its text and its language, and may be unclosed", () => {
  const [fence] = findSpans("```python\nx = 1\n  y = 2\n```");
  assert.deepEqual([fence.lang, fence.value], ["python", "x = 1\n  y = 2"]);
  assert.equal(findSpans("~~~\nopen $x$")[0].value, "open $x$");
});

test("a formula inside the words of a formula does not end it", () => {
  const tex = String.raw`x \text{ where $y$ is odd}`;
  assert.deepEqual(formulas(`$${tex}$`), [tex]);
});

test("a blank line ends what an unclosed dollar sign began", () => {
  assert.deepEqual(formulas("open $x = 1\n\nnext $y$"), ["y"]);
});

test("a line break in an array is no display delimiter", () => {
  assert.deepEqual(formulas(String.raw`a \\[2pt] b`), []);
  assert.deepEqual(formulas(String.raw`\[a\\[2pt] b\]`), [String.raw`a\\[2pt] b`]);
});

test("a bare boxed answer is a formula", () => {
  assert.deepEqual(formulas(String.raw`The answer is \boxed{\frac{1}{2}}.`), [String.raw`\boxed{\frac{1}{2}}`]);
});

test("a drawing is a program, not mathematics", () => {
  const [, drawing] = findSpans("See [asy]label(\"$A$\");[/asy]");
  assert.deepEqual([drawing.type, drawing.lang], ["fence", "asy"]);
});

test("nothing is lost: the sources give the text back", () => {
  const text = String.raw`Let $x$ cost $5. Then $$y$$, \(z\) and ` + "`code`" + "\n\n```\na\n```\nend \\\\ x";
  assert.equal(findSpans(text).map((s) => s.source ?? s.value).join(""), text);
});

test("hostile text ends quickly", () => {
  for (const text of ["$".repeat(20000), "\\[".repeat(10000), "`".repeat(20000), "\\begin{align}".repeat(3000), "$x ".repeat(7000)]) {
    const start = performance.now();
    findSpans(text);
    assert.ok(performance.now() - start < 1500, `${text.slice(0, 13)}… took too long`);
  }
});
