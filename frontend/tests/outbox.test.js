import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { Copies, wipe } from "../src/bench/copies.js";
import { Outbox } from "../src/bench/outbox.js";

globalThis.document ??= { cookie: "csrftoken=t" };

class Store extends Map {
  getItem = (key) => this.get(key) ?? null;
  setItem = (key, value) => this.set(key, value);
  removeItem = (key) => this.delete(key);
  key = (i) => [...this.keys()][i];
  get length() {
    return this.size;
  }
}

const answer = (status, html = '<main id="bench">') => ({ ok: status < 400, status, redirected: false, text: async () => html });
const settle = async () => {
  for (let i = 0; i < 20; i += 1) await Promise.resolve();
};

function outbox(answers, storage = new Store(), renew = async () => true) {
  const seen = { posts: [], sent: [], refused: [], troubles: [] };
  const box = new Outbox({
    copies: new Copies("7", { storage }),
    onSent: (entry) => seen.sent.push(entry.assignment),
    onRefused: (entry, status) => seen.refused.push([entry.assignment, status]),
    onTrouble: (kind) => seen.troubles.push(kind),
    onChange: () => {},
    renew,
    post: async (url, { body }) => {
      seen.posts.push([url, body.get("client_id")]);
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
  });
  return { box, seen, storage };
}

const entry = (name) => ({ assignment: name, url: `/${name}`, values: { client_id: `id-${name}` } });

test("what can't be sent waits in order and goes out with the same ids", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { box, seen } = outbox([new TypeError("offline"), answer(200), answer(200)]);
  box.add(entry("a"));
  await settle();
  box.add(entry("b"));
  box.tryNow();
  await settle();
  assert.deepEqual(seen.posts.map(([, id]) => id), ["id-a", "id-a", "id-b"]);
  assert.deepEqual([seen.sent, box.size, seen.troubles], [["a", "b"], 0, ["unsent"]]);
  mock.timers.reset();
});

test("the same solution is handed in once", async () => {
  const { box, seen } = outbox([answer(200)]);
  box.add(entry("a"));
  box.add(entry("a"));
  await settle();
  assert.equal(seen.posts.length, 1);
});

test("what is refused stands in nobody's way", async () => {
  const { box, seen } = outbox([answer(422), answer(200)]);
  box.add(entry("a"));
  box.add(entry("b"));
  await settle();
  assert.deepEqual([seen.refused, seen.sent], [[["a", 422]], ["b"]]);
});

test("a lost session keeps everything", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { box, seen } = outbox([answer(401)]);
  box.add(entry("a"));
  await settle();
  assert.deepEqual([seen.troubles, box.size], [["signed_out"], 1]);
  mock.timers.reset();
});

test("an answer that is no workbench is no success", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { box, seen } = outbox([answer(200, "<form>sign in")]);
  box.add(entry("a"));
  await settle();
  assert.deepEqual([seen.troubles, box.size], [["signed_out"], 1]);
  mock.timers.reset();
});

test("what a closed tab left behind is sent by the next one", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const first = outbox([new TypeError("offline")]);
  first.box.add(entry("a"));
  await settle();
  const { box, seen } = outbox([answer(200)], first.storage);
  box.tryNow();
  await settle();
  assert.deepEqual([seen.sent, first.storage.size], [["a"], 0]);
  mock.timers.reset();
});

test("copies are a person's own, last a day, and go at sign-out", () => {
  const storage = new Store();
  let now = 1000;
  const mine = new Copies("7", { storage, now: () => now });
  mine.write("draft:a", { labels: [1] });
  assert.equal(new Copies("8", { storage, now: () => now }).read("draft:a"), null);
  assert.deepEqual(mine.read("draft:a").labels, [1]);
  now += 25 * 3600 * 1000;
  mine.expire();
  assert.equal(storage.size, 0);
  mine.write("draft:a", { labels: [1] });
  wipe(storage);
  assert.equal(storage.size, 0);
});

test("a stale token is renewed and the same request sent again", async () => {
  const { box, seen } = outbox([answer(403), answer(200)]);
  box.add(entry("a"));
  await settle();
  assert.deepEqual([seen.posts.length, seen.sent], [2, ["a"]]);
});

test("a token lost with the session asks to sign in", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { box, seen } = outbox([answer(403)], new Store(), async () => false);
  box.add(entry("a"));
  await settle();
  assert.deepEqual([seen.troubles, box.size], [["signed_out"], 1]);
  mock.timers.reset();
});
