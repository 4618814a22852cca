// Finds mathematics and code in plain text, before anything is rendered.
//
// findSpans(text) gives the text back as a list of spans, in order and without gaps:
//   {type: "text", value}                     ordinary words ("\$" is already "$")
//   {type: "math", tex, display, source}      a formula; source is exactly what was written
//   {type: "code", value, source}             inline code
//   {type: "fence", value, lang, source}      a fenced block
//   {type: "link", value, href, image, source}  a Markdown link or picture, to be shown and not followed
// Nothing here touches the DOM, so the rules can be tested on their own.

const DISPLAY_ENVIRONMENTS = new Set([
  "align", "align*", "aligned", "alignat", "alignat*", "alignedat", "equation", "equation*", "gather", "gather*",
  "gathered", "multline", "multline*", "split", "eqnarray", "eqnarray*", "cases", "rcases", "array", "matrix",
  "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "CD",
]);

/** Only these can begin a span. */
const SPECIAL = /[\\$`~[!]/g;

/** Splits a text into spans. See the top of this file for their shape. */
export function findSpans(text) {
  const spans = [];
  for (const { span } of pieces(text)) {
    const last = spans.at(-1);
    if (span.type === "text" && last?.type === "text") last.value += span.value;
    else spans.push(span);
  }
  return spans;
}

/** The same, as places: [{type, start, end}] in order and without gaps. */
export function regions(text) {
  return Array.from(pieces(text), ({ span, start, end }) => ({ type: span.type, start, end }));
}

function* pieces(text) {
  let from = 0; // where the words began that belong to no span yet
  let at = 0;
  const words = (end) => ({ span: { type: "text", value: text.slice(from, end) }, start: from, end });
  while (at < text.length) {
    SPECIAL.lastIndex = at;
    at = SPECIAL.exec(text)?.index ?? text.length;
    const found = at < text.length ? spanAt(text, at) : null;
    if (found) {
      if (at > from) yield words(at);
      yield { span: found.span, start: at, end: found.end };
      from = at = found.end;
    } else {
      at += 1;
    }
  }
  if (text.length > from) yield words(text.length);
}

function spanAt(text, at) {
  switch (text[at]) {
    case "\\":
      return escapeAt(text, at);
    case "$":
      return dollarAt(text, at);
    case "`":
      return fenceAt(text, at) ?? inlineCodeAt(text, at);
    case "~":
      return fenceAt(text, at);
    case "[":
      return drawingAt(text, at) ?? linkAt(text, at);
    case "!":
      return text[at + 1] === "[" ? linkAt(text, at + 1, at) : null;
    default:
      return null;
  }
}

// --- code ----------------------------------------------------------------------------------------------------

function fenceAt(text, at) {
  const lineStart = text.lastIndexOf("\n", at - 1) + 1;
  const indent = text.slice(lineStart, at);
  if (indent.trim() !== "" || indent.length > 3) return null;
  const opening = /^(`{3,}|~{3,})([^\n`]*)(\n|$)/.exec(text.slice(at, at + 200));
  if (!opening) return null;
  const [marker, lang] = [opening[1], opening[2].trim()];
  const bodyStart = at + opening[0].length;
  const closing = new RegExp(`^ {0,3}${marker[0]}{${marker.length},}[ \\t]*$`, "m").exec(text.slice(bodyStart));
  // A fence that never closes runs to the end, as in every Markdown reader.
  const bodyEnd = closing ? bodyStart + closing.index : text.length;
  const end = closing ? bodyEnd + closing[0].length : text.length;
  const value = text.slice(bodyStart, bodyEnd).replace(/\n$/, "");
  return { span: { type: "fence", value, lang, source: text.slice(at, end) }, end };
}

function inlineCodeAt(text, at) {
  const run = /^`+/.exec(text.slice(at))[0];
  const bodyStart = at + run.length;
  const stop = endOfParagraph(text, bodyStart);
  const closing = new RegExp(`(?<!\`)${run}(?!\`)`).exec(text.slice(bodyStart, stop));
  if (!closing) return { span: { type: "text", value: run }, end: bodyStart };
  const end = bodyStart + closing.index + run.length;
  const value = text.slice(bodyStart, bodyStart + closing.index).replace(/^ (.*[^ ].*) $/s, "$1");
  return { span: { type: "code", value, source: text.slice(at, end) }, end };
}

// Asymptote drawings are programs; shown as such, their dollar signs are left alone.
function drawingAt(text, at) {
  if (!text.startsWith("[asy]", at)) return null;
  const close = text.indexOf("[/asy]", at);
  if (close < 0) return null;
  const end = close + "[/asy]".length;
  const value = text.slice(at + "[asy]".length, close).replace(/^\n|\n$/g, "");
  return { span: { type: "fence", value, lang: "asy", source: text.slice(at, end) }, end };
}

const LINK = /^\[([^[\]\n]{0,300})\]\(((?:https?:\/\/|mailto:|www\.|\.{0,2}\/|#)[^\s()]{0,500})(?: "[^"\n]*")?\)/;

// Only with an address that looks like one: f[x](t) is no link.
function linkAt(text, at, start = at) {
  const found = LINK.exec(text.slice(at, at + 900));
  if (!found) return null;
  const end = at + found[0].length;
  const span = { type: "link", value: found[1] || found[2], href: found[2], image: start < at, source: text.slice(start, end) };
  return { span, end };
}

// --- formulas in backslash delimiters ------------------------------------------------------------------------

function escapeAt(text, at) {
  const next = text[at + 1];
  if (next === "$") return { span: { type: "text", value: "$" }, end: at + 2 };
  if (next === "\\") return { span: { type: "text", value: "\\\\" }, end: at + 2 };
  if (next === "(") return delimited(text, at, "\\)", false);
  if (next === "[") return delimited(text, at, "\\]", true);
  if (text.startsWith("\\begin{", at)) return environmentAt(text, at);
  if (text.startsWith("\\boxed{", at)) return boxedAt(text, at);
  return null;
}

function delimited(text, at, closer, display) {
  const bodyStart = at + 2;
  if (!text.includes(closer, bodyStart)) return null;
  const limit = display ? text.length : endOfParagraph(text, bodyStart);
  for (let i = bodyStart; i < limit - 1; i += 1) {
    if (text[i] !== "\\") continue;
    if (text.startsWith(closer, i)) return math(text, at, bodyStart, i, i + 2, display);
    i += 1; // an escaped character, "\\" above all, starts no delimiter
  }
  return null;
}

function environmentAt(text, at) {
  const name = /^\\begin\{([A-Za-z]+\*?)\}/.exec(text.slice(at, at + 40))?.[1];
  if (!name || !DISPLAY_ENVIRONMENTS.has(name)) return null;
  const [open, close] = [`\\begin{${name}}`, `\\end{${name}}`];
  let depth = 0;
  let i = at;
  while (i < text.length) {
    const nextOpen = text.indexOf(open, i);
    const nextClose = text.indexOf(close, i);
    if (nextClose < 0) return null;
    if (nextOpen >= 0 && nextOpen < nextClose) {
      depth += 1;
      i = nextOpen + open.length;
      continue;
    }
    depth -= 1;
    i = nextClose + close.length;
    if (depth === 0) return math(text, at, at, i, i, true);
  }
  return null;
}

// Models often end on a bare \boxed{42}; it means mathematics wherever it stands.
function boxedAt(text, at) {
  const bodyStart = at + "\\boxed{".length;
  const limit = endOfParagraph(text, bodyStart);
  let depth = 1;
  for (let i = bodyStart; i < limit; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "{") depth += 1;
    else if (text[i] === "}" && --depth === 0) return math(text, at, at, i + 1, i + 1, false);
  }
  return null;
}

function math(text, start, bodyStart, bodyEnd, end, display) {
  const span = { type: "math", tex: text.slice(bodyStart, bodyEnd), display, source: text.slice(start, end) };
  return { span, end };
}

// --- formulas in dollar signs, and money ---------------------------------------------------------------------

function dollarAt(text, at) {
  if (text[at + 1] === "$") {
    return doubleDollarAt(text, at) ?? { span: { type: "text", value: "$$" }, end: at + 2 };
  }
  const plain = { span: { type: "text", value: "$" }, end: at + 1 };
  if (/\d/.test(text[at + 1] ?? "") && /[A-Za-z]/.test(text[at - 1] ?? "")) return plain; // US$5
  const close = closingDollar(text, at + 1);
  if (close < 0 || !isFormula(text, at + 1, close)) return plain;
  return math(text, at, at + 1, close, close + 1, false);
}

function doubleDollarAt(text, at) {
  for (let i = at + 2; i < text.length - 1; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "$" && text[i + 1] === "$") {
      const empty = text.slice(at + 2, i).trim() === "";
      return empty ? null : math(text, at, at + 2, i, i + 2, true);
    }
  }
  return null;
}

// The next dollar sign outside braces, so that \text{where $y$ is} inside a formula doesn't end it.
function closingDollar(text, from) {
  const limit = endOfParagraph(text, from);
  let depth = 0;
  let first = -1;
  for (let i = from; i < limit; i += 1) {
    const c = text[i];
    if (c === "\\") i += 1;
    else if (c === "{") depth += 1;
    else if (c === "}") depth -= 1;
    else if (c === "$") {
      if (first < 0) first = i;
      if (depth <= 0) return i;
    }
  }
  return first;
}

/**
 * Whether what stands between two dollar signs is a formula rather than two prices with words between them.
 * A closing sign directly before a digit is a price ("$5-$10"). With a space inside either sign, or where it
 * starts like an amount, words that no command accounts for make it prose.
 */
function isFormula(text, from, to) {
  const body = text.slice(from, to);
  if (body.trim() === "" || /\d/.test(text[to + 1] ?? "")) return false;
  const loose = /^\s|\s$/.test(body);
  const amount = /^\s*[\d.,]+(\s|$)/.test(body) && /\s/.test(body.trim());
  if (!loose && !amount) return true;
  const bare = body.replace(/\\(text|mathrm|textbf|operatorname|mbox)\s*\{[^{}]*\}/g, " ").replace(/\\[A-Za-z]+/g, " ");
  if (/(^|[^A-Za-z])[A-Za-z]{3,}/.test(bare)) return false;
  if (!loose) return true;
  const shape = body.trim();
  if (/(^|[^A-Za-z])[A-Za-z]{2,}(\s|$)/.test(bare) || /[-+*/=<>,;:.(]$/.test(shape)) return false;
  return /[=+*/^_\\<>-]/.test(shape) || /^[A-Za-z0-9]{1,6}$/.test(shape);
}

function endOfParagraph(text, from) {
  const blank = /\n[ \t]*\n/g;
  blank.lastIndex = from;
  return blank.exec(text)?.index ?? text.length;
}
