// Shapes spans into blocks: paragraphs, lists, headings, display formulas, fences. Still plain data, no DOM.
//
//   {type: "paragraph", inline}   {type: "heading", level, inline}   {type: "list", ordered, items: [{marker, inline}]}
//   {type: "math", tex, source}   {type: "fence", value, lang}
//   {type: "table", head: [inline], align: ["", "center", "end"], rows: [[inline]]}
// and inline: {type: "text", value} | {type: "code", value} | {type: "math", …} | {type: "strong", inline}

import { findSpans } from "../mathtext.js";

const LINE = /^(?<indent>[ \t]*)(?:(?<hashes>#{1,6})[ \t]+|(?<bullet>[-*+•])[ \t]+|(?<number>\d{1,3}[.)])[ \t]+)/;

/** The blocks of a text, in order. */
export function toBlocks(text) {
  const blocks = [];
  let line = [];
  let lines = [];
  let afterDisplay = false; // the space that parted a display formula from the words after it is no indent
  const endLine = () => {
    lines.push(line);
    line = [];
  };
  const endParagraph = () => {
    endLine();
    blocks.push(...linesToBlocks(lines));
    lines = [];
  };
  for (const span of findSpans(text)) {
    if (span.type === "fence" || (span.type === "math" && span.display)) {
      endParagraph();
      blocks.push(span);
      afterDisplay = true;
    } else if (span.type === "text") {
      const parts = span.value.split("\n");
      parts.forEach((part, i) => {
        if (i > 0) endLine();
        const value = i === 0 && afterDisplay ? part.trimStart() : part;
        if (value) line.push({ type: "text", value });
      });
      afterDisplay = false;
    } else {
      line.push(span);
      afterDisplay = false;
    }
  }
  endParagraph();
  return blocks;
}

const isBlank = (line) => line.every((span) => span.type === "text" && span.value.trim() === "");

function linesToBlocks(lines) {
  const blocks = [];
  let current = null;
  for (let i = 0; i < lines.length; i += 1) {
    const line = lines[i];
    const rows = tableAt(lines, i);
    if (rows > 0) {
      blocks.push(toTable(lines.slice(i, i + rows)));
      current = null;
      i += rows - 1;
      continue;
    }
    const lead = line[0]?.type === "text" ? LINE.exec(line[0].value)?.groups : undefined;
    if (isBlank(line)) {
      current = null;
    } else if (lead?.hashes) {
      blocks.push({ type: "heading", level: lead.hashes.length, inline: strong(withoutLead(line)) });
      current = null;
    } else if (lead?.bullet || lead?.number) {
      current = intoList(blocks, current, lead, withoutLead(line));
    } else if (current === null) {
      current = { type: "paragraph", raw: [...line] };
      blocks.push(current);
    } else {
      continueBlock(current, line);
    }
  }
  return blocks.map(finish);
}

// --- tables ----------------------------------------------------------------------------------------------------

const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const hasBar = (line) => line.some((span) => span.type === "text" && span.value.includes("|"));

// How many lines from here on are one table: a head, a rule, and rows; 0 where there is none.
function tableAt(lines, i) {
  const rule = lines[i + 1];
  if (!hasBar(lines[i]) || rule?.length !== 1 || rule[0].type !== "text" || !RULE.test(rule[0].value) || !hasBar(rule)) return 0;
  let end = i + 2;
  while (end < lines.length && hasBar(lines[end])) end += 1;
  return end - i;
}

function toTable([head, rule, ...rows]) {
  const align = cells(rule).map(([span]) => {
    const mark = span?.value.trim() ?? "";
    return mark.endsWith(":") ? (mark.startsWith(":") ? "center" : "end") : "";
  });
  return { type: "table", head: cells(head).map(strong), align, rows: rows.map((row) => cells(row).map(strong)) };
}

// Bars part cells, unless they stand in a formula or in code; those at the ends are frame.
function cells(line) {
  const found = [[]];
  for (const span of line) {
    if (span.type !== "text") {
      found.at(-1).push(span);
      continue;
    }
    span.value.split("|").forEach((part, i) => {
      if (i > 0) found.push([]);
      if (part.trim()) found.at(-1).push({ type: "text", value: part.trim().length === part.length ? part : tidy(part, found.at(-1).length > 0) });
    });
  }
  if (found[0].length === 0) found.shift();
  if (found.at(-1)?.length === 0) found.pop();
  return found;
}

const tidy = (part, inside) => (inside ? part.trimEnd() : part.trim() + (/\s$/.test(part) ? " " : ""));

// --- lists and paragraphs --------------------------------------------------------------------------------------

function intoList(blocks, current, lead, line) {
  const ordered = Boolean(lead.number);
  const item = { marker: lead.number ?? "•", depth: Math.min(3, Math.floor(lead.indent.length / 2)), raw: line };
  if (current?.type === "list" && current.ordered === ordered) {
    current.items.push(item);
    return current;
  }
  // A blank line between two items of one list is no new list.
  const last = blocks.at(-1);
  if (current === null && last?.type === "list" && last.ordered === ordered) {
    last.items.push(item);
    return last;
  }
  const list = { type: "list", ordered, items: [item] };
  blocks.push(list);
  return list;
}

function continueBlock(block, line) {
  if (block.type !== "list") return block.raw.push({ type: "text", value: "\n" }, ...line);
  // The rest of an item is indented under it: a wrapped line, not a new one.
  const [first, ...rest] = line;
  const start = first.type === "text" ? [{ type: "text", value: ` ${first.value.trimStart()}` }] : [{ type: "text", value: " " }, first];
  return block.items.at(-1).raw.push(...start, ...rest);
}

function withoutLead(line) {
  const rest = line[0].value.replace(LINE, "");
  return rest ? [{ type: "text", value: rest }, ...line.slice(1)] : line.slice(1);
}

function finish(block) {
  if (block.type === "paragraph") return { type: "paragraph", inline: strong(block.raw) };
  if (block.type !== "list") return block;
  const items = block.items.map(({ marker, depth, raw }) => ({ marker, depth, inline: strong(raw) }));
  return { type: "list", ordered: block.ordered, items };
}

// --- bold ----------------------------------------------------------------------------------------------------

/** Turns **…** into {type: "strong"}; a pair may hold formulas and code, and "2**3**4" is no pair. */
export function strong(spans) {
  const pieces = spans.flatMap((span) => (span.type === "text" ? splitStars(span.value) : [span]));
  const out = [];
  for (let i = 0; i < pieces.length; i += 1) {
    const close = pieces[i].type === "stars" && canOpen(pieces, i) ? closingStars(pieces, i) : -1;
    if (close < 0) {
      out.push(pieces[i].type === "stars" ? { type: "text", value: "**" } : pieces[i]);
    } else {
      out.push({ type: "strong", inline: merge(pieces.slice(i + 1, close)) });
      i = close;
    }
  }
  return merge(out);
}

const splitStars = (value) =>
  value
    .split(/(\*\*)/)
    .filter(Boolean)
    .map((part) => (part === "**" ? { type: "stars" } : { type: "text", value: part }));

const edge = (piece, end) => (piece?.type === "text" ? piece.value.at(end) : piece ? "x$" : "");
const canOpen = (pieces, i) => !/^[A-Za-z0-9]$/.test(edge(pieces[i - 1], -1)) && /^\S/.test(edge(pieces[i + 1], 0));
const canClose = (pieces, i) => /^\S/.test(edge(pieces[i - 1], -1)) && !/^[A-Za-z0-9]$/.test(edge(pieces[i + 1], 0));

function closingStars(pieces, open) {
  for (let i = open + 2; i < pieces.length; i += 1) {
    if (pieces[i].type === "stars" && canClose(pieces, i)) return i;
  }
  return -1;
}

function merge(pieces) {
  const out = [];
  for (const piece of pieces) {
    const last = out.at(-1);
    if (piece.type === "text" && last?.type === "text") out[out.length - 1] = { type: "text", value: last.value + piece.value };
    else out.push(piece.type === "stars" ? { type: "text", value: "**" } : piece);
  }
  return out;
}
