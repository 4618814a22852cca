import assert from "node:assert/strict";
import { mock, test } from "node:test";

import { ActiveClock } from "../src/bench/clock.js";
import { Copies } from "../src/bench/copies.js";
import { DraftKeeper } from "../src/bench/draft.js";

class Store extends Map {
  getItem(key) {
    return this.get(key) ?? null;
  }
  setItem(key, value) {
    this.set(key, value);
  }
  removeItem(key) {
    this.delete(key);
  }
  key(i) {
    return [...this.keys()][i];
  }
  get length() {
    return this.size;
  }
}

const answer = (status, body, extra = {}) => ({ ok: status < 400, status, redirected: false, json: async () => body, ...extra });

function keeper(answers) {
  const seen = { posts: [], statuses: [], conflicts: [] };
  const storage = new Store();
  const draft = new DraftKeeper({
    url: "/draft", assignment: "a1", version: 3, copies: new Copies("7", { storage }),
    read: () => ({ labels: [1, null] }),
    csrf: () => "token",
    onStatus: (s) => seen.statuses.push(s.kind),
    onConflict: (other) => seen.conflicts.push(other),
    post: async (url, options) => {
      seen.posts.push({ ...JSON.parse(options.body), keepalive: options.keepalive });
      const next = answers.shift();
      if (next instanceof Error) throw next;
      return next;
    },
  });
  return { draft, seen, storage };
}

const settle = async () => {
  for (let i = 0; i < 10; i += 1) await Promise.resolve();
};

test("several changes within the pause are one save", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { draft, seen } = keeper([answer(200, { version: 4 })]);
  draft.changed();
  draft.changed();
  mock.timers.tick(400);
  await settle();
  assert.equal(seen.posts.length, 1);
  assert.deepEqual([seen.posts[0].version, draft.version, draft.unsent], [3, 4, 0]);
  mock.timers.reset();
});

test("without a network the copy stays here, and the save is tried again", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { draft, seen, storage } = keeper([new TypeError("offline"), answer(200, { version: 4 })]);
  draft.changed();
  mock.timers.tick(400);
  await settle();
  assert.equal(seen.statuses.at(-1), "unsent");
  assert.equal(storage.size, 1);
  mock.timers.tick(1000);
  await settle();
  assert.equal(seen.statuses.at(-1), "saved");
  assert.equal(storage.size, 0);
  mock.timers.reset();
});

test("a newer version on the server stops the saving and is handed over", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { draft, seen } = keeper([answer(409, { version: 9, labels: [0, 0], details: {} }), answer(200, { version: 10 })]);
  draft.changed();
  mock.timers.tick(400);
  await settle();
  draft.changed();
  mock.timers.tick(5000);
  await settle();
  assert.equal(seen.posts.length, 1);
  assert.equal(seen.conflicts[0].version, 9);
  draft.overrule(9);
  mock.timers.tick(400);
  await settle();
  assert.equal(seen.posts[1].version, 9);
  mock.timers.reset();
});

test("a redirect to the login page is no success", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { draft, seen, storage } = keeper([answer(200, {}, { redirected: true })]);
  draft.changed();
  mock.timers.tick(400);
  await settle();
  assert.equal(seen.statuses.at(-1), "signed_out");
  assert.equal(storage.size, 1);
  mock.timers.reset();
});

test("leaving the page sends at once", async () => {
  const { draft, seen } = keeper([answer(200, { version: 4 })]);
  draft.changed();
  draft.flush({ leaving: true });
  await settle();
  assert.equal(seen.posts[0].keepalive, true);
});

test("the clock stops a minute after the last sign of life", () => {
  let now = 0;
  const clock = new ActiveClock(5, { now: () => now });
  clock.resume();
  now = 30_000;
  clock.sign();
  now = 500_000;
  assert.equal(clock.seconds(), 95);
});

test("the clock does not count while paused", () => {
  let now = 0;
  const clock = new ActiveClock(0, { now: () => now });
  clock.resume();
  now = 10_000;
  clock.pause();
  now = 50_000;
  clock.sign();
  now = 51_000;
  assert.equal(clock.seconds(), 11);
});

test("time is told apart by step", () => {
  let now = 0;
  const clock = new ActiveClock(0, { steps: { 0: 2 }, now: () => now });
  clock.on(0);
  clock.resume();
  now = 3000;
  clock.on(1);
  now = 3400;
  assert.deepEqual(clock.stepSeconds(), { 0: 5, 1: 0.4 });
});

test("when only the reply was lost, the newer version is known as one's own", async () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { draft, seen } = keeper([new TypeError("lost"), answer(409, { version: 4, labels: [1, null], details: {} })]);
  draft.changed();
  mock.timers.tick(400);
  await settle();
  mock.timers.tick(1000);
  await settle();
  assert.deepEqual([seen.conflicts, draft.version, draft.unsent], [[], 4, 0]);
  mock.timers.reset();
});
