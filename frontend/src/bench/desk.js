// The workbench over the whole of a visit: the solution in the page, the one set behind it, and what was handed in
// and is still on its way.
//
// Handing in shows the next solution at once and sends behind it. What the server refuses comes back with everything
// that was marked; what can't be sent waits, in order, while work goes on.

import { csrfToken, renewToken } from "../csrf.js";
import { Copies } from "./copies.js";
import { Keymap } from "./keys.js";
import { Outbox } from "./outbox.js";
import { afterPaint } from "./paint.js";
import { Session } from "./session.js";
import { signInForm } from "./signin.js";
import { words } from "./words.js";

const REST = 700; // after a solution came back unasked, keys that were meant for another must not label it
const TICK = 15_000;

export class Desk {
  #current = null;
  #prepared = [];
  #handedIn = new Map();
  #done = new Set();
  #claiming = false;
  #awaiting = false;
  #standing = null;
  #over = null; // the region that says that nothing is left

  constructor(bench) {
    const { person = "", loginUrl } = bench.dataset;
    this.person = person;
    this.renew = () => renewToken(loginUrl);
    this.copies = new Copies(this.person);
    this.copies.expire();
    this.readKeys();
    this.outbox = new Outbox({
      copies: this.copies,
      renew: this.renew,
      onSent: (entry, html) => this.#sent(entry, html),
      onRefused: (entry, status, html) => this.#refused(entry, status, html),
      onTrouble: (kind) => this.trouble(kind),
      onChange: () => this.#showOutbox(),
    });
    if (bench.dataset.assignment) this.#current = new Session(bench, this);
    this.#current?.begin({ first: true });
    if (this.#current && this.outbox.has(this.#current.assignment)) this.#await(this.#current);
    this.outbox.tryNow();
    setInterval(() => this.#current?.view.time(this.#current.clock.seconds()), TICK);
    setTimeout(() => void this.#claimAhead(), 150);
  }

  /** What a key is called on the screen. */
  key = (command) => this.keys[command] ?? "";

  readKeys() {
    this.keys = JSON.parse(document.documentElement.dataset.keys ?? "{}");
    this.keymap = new Keymap(this.keys);
    for (const hint of document.querySelectorAll("kbd[data-key]")) hint.textContent = this.keys[hint.dataset.key] ?? hint.textContent;
    this.#current?.show();
  }

  /** A key that stands for a command here. */
  onKey(event) {
    const command = this.#current && this.keymap.commandFor(event);
    if (command && this.#current.run(command, { byKey: true })) event.preventDefault();
  }

  onClick(button, byKey) {
    this.#current?.run(button.dataset.command, { button, byKey });
  }

  /** Something could not be sent; whatever waits is tried again later. */
  trouble(kind) {
    this.#standing = kind;
    this.#showStanding();
    this.#showOutbox();
    this.#current?.show();
  }

  /** The server answers again. */
  reached() {
    if (this.outbox.waiting) return this.outbox.tryNow();
    if (this.#standing === null) return;
    this.#standing = null;
    this.#showOutbox();
    this.#current?.view.clearAlert();
  }

  get isWaiting() {
    return this.outbox.waiting;
  }

  tryNow() {
    this.outbox.tryNow();
    for (const session of this.#sessions()) session.draft.flush();
    void this.#claimAhead();
  }

  flush(how) {
    for (const session of this.#sessions()) session.draft.flush(how);
  }

  get unsent() {
    return this.outbox.size + (this.#sessions().some((session) => session.draft.unsent > 0 && !session.busy) ? 1 : 0);
  }

  /** Takes what a session hands in, and shows the next. */
  handIn(session, { url, values }) {
    this.#handedIn.set(session.assignment, session);
    this.outbox.add({ assignment: session.assignment, url, values });
    const next = this.#prepared.shift();
    if (next) this.#place(next, { said: words.handedIn(next.view.steps.length) });
    else this.#await(session);
  }

  /** Leaves a solution that takes nothing any more. */
  goOn(session) {
    session.end({ forget: true });
    const next = this.#prepared.shift();
    if (next) this.#place(next);
    else if (this.#over) this.#placeRegion(this.#over);
    else location.reload();
  }

  alert(sentence, actions) {
    this.#current?.view.alert(sentence, actions);
  }

  #sessions() {
    return [this.#current, ...this.#prepared].filter(Boolean);
  }

  #await(session) {
    this.#awaiting = true;
    session.busy = true;
    session.draft.close();
    session.awaits();
  }

  #known(assignment) {
    return this.#done.has(assignment) || this.outbox.has(assignment) || this.#sessions().some((session) => session.assignment === assignment);
  }

  // --- answers -------------------------------------------------------------------------------------------------

  #sent(entry, html) {
    this.#done.add(entry.assignment);
    this.copies.forget(`draft:${entry.assignment}`);
    this.#handedIn.get(entry.assignment)?.end({ forget: true });
    this.#handedIn.delete(entry.assignment);
    this.reached();
    const region = regionOf(html);
    this.#takeProgress(region);
    const waits = this.#awaiting && this.outbox.size === 0;
    if (waits && !this.#known(region.dataset.assignment)) this.#placeRegion(region);
    else if (this.#awaiting && this.#prepared.length > 0) this.#place(this.#prepared.shift());
    else if (waits) location.reload();
    else void this.#claimAhead();
  }

  #refused(entry, status, html) {
    const region = regionOf(html);
    const again = status === 422 || !region;
    const sentence = region?.querySelector("[data-error], .notice")?.textContent.trim() || words.refused;
    let session = this.#handedIn.get(entry.assignment) ?? (this.#current?.assignment === entry.assignment ? this.#current : null);
    this.#handedIn.delete(entry.assignment);
    if (!session && again && region?.dataset.assignment === entry.assignment) session = new Session(region, this);
    if (!again) this.#keepForLater(region);
    if (!session) return this.alert(sentence); // handed in by an earlier visit, and not to be had any more
    if (session !== this.#current) {
      if (this.#current && !this.#awaiting) this.#prepared.unshift(this.#current);
      this.#place(session);
    }
    this.#awaiting = false;
    session.refused(sentence, { again, restFor: REST });
  }

  // What came with a refusal: the next solution, or that nothing is left.
  #keepForLater(region) {
    if (!region.dataset.assignment) this.#over = region;
    else if (!this.#known(region.dataset.assignment)) this.#prepare(region);
  }

  // --- the solution in the page --------------------------------------------------------------------------------

  #place(session, { said } = {}) {
    const before = this.#current;
    before?.pause();
    this.#swap(session.bench);
    this.#current = session;
    this.#awaiting = this.#handedIn.has(session.assignment);
    session.begin({ said });
    this.#showStanding();
    this.#showOutbox();
    this.#showAhead();
    document.dispatchEvent(new CustomEvent("stepmark:bench", { detail: session.bench }));
    afterPaint(() => void this.#claimAhead());
  }

  #placeRegion(region) {
    if (region.dataset.assignment) {
      document.dispatchEvent(new CustomEvent("stepmark:region", { detail: region }));
      return this.#place(new Session(region, this));
    }
    this.#current?.pause();
    this.#swap(region);
    this.#current = null;
    this.#awaiting = false;
    document.querySelector(".masthead [data-command=guidelines]")?.remove();
    window.scrollTo({ top: 0, behavior: "instant" });
    region.focus();
    document.dispatchEvent(new CustomEvent("stepmark:bench", { detail: region }));
  }

  // The guidelines stay as they are, scrolled and set, while the solutions change beside them.
  #swap(bench) {
    const before = document.getElementById("bench");
    document.activeElement?.blur(); // first: taking out what has the focus would lay out the page once more
    const [old, fresh] = [before.querySelector("#aside"), bench.querySelector("#aside")];
    if (old && fresh && old.dataset.guidelines === fresh.dataset.guidelines) fresh.replaceWith(old);
    else if (old && !fresh && bench.dataset.assignment) bench.querySelector(".solution").after(old);
    for (const hint of bench.querySelectorAll("kbd[data-key]")) hint.textContent = this.keys[hint.dataset.key] ?? hint.textContent;
    before.replaceWith(bench);
  }

  #takeProgress(region) {
    const today = region?.querySelector("[data-progress]");
    const here = document.querySelector("#bench [data-progress]");
    if (today && here) here.textContent = today.textContent;
    for (const session of this.#prepared) {
      const there = session.bench.querySelector("[data-progress]");
      if (today && there) there.textContent = today.textContent;
    }
  }

  // --- one ahead -----------------------------------------------------------------------------------------------

  async #claimAhead() {
    const url = this.#current?.bench.dataset.aheadUrl;
    if (!url || this.#claiming || this.#prepared.length > 0 || this.outbox.size > 0 || this.#current.gone) return;
    this.#claiming = true;
    try {
      const response = await fetch(url, { method: "POST", headers: { "X-CSRFToken": csrfToken(), "X-Requested-With": "fetch" } });
      if (response.status === 200 && !response.redirected) this.#prepare(regionOf(await response.text()));
    } catch {
      // No connection: the next one comes with the answer to what is handed in.
    } finally {
      this.#claiming = false;
    }
  }

  #prepare(region) {
    if (!region?.dataset.assignment || this.#known(region.dataset.assignment)) return;
    if (region.dataset.person !== this.person) return;
    const session = new Session(region, this);
    this.#prepared.push(session);
    session.prepare();
    this.#showAhead();
    if (this.#awaiting) this.#place(this.#prepared.shift());
  }

  // --- what is said over all of it -----------------------------------------------------------------------------

  #showStanding() {
    const view = this.#current?.view;
    if (!view || this.#standing === null) return;
    if (this.#standing === "unsent") {
      if (this.#current.busy) view.alert(words.notSent, [[words.tryNow, () => this.tryNow()]]);
    } else if (!document.querySelector("[data-sign-in]")) {
      const { loginUrl, name } = this.#current.bench.dataset;
      const onDone = () => {
        this.#standing = null;
        view.clearAlert();
        view.find("[data-alert]").replaceChildren();
        view.reveal(this.#current.state.active);
        this.tryNow();
      };
      view.alert(this.#standing === "other_person" ? words.otherPerson : words.signedOut, [signInForm({ url: loginUrl, name, onDone })]);
    }
  }

  // An answer takes a moment; only what waits longer is worth a word.
  #showOutbox() {
    const n = this.#standing === null ? 0 : this.outbox.size;
    this.#current?.view.outbox(n);
    this.#current?.show();
  }

  #showAhead() {
    document.body.dataset.ahead = this.#prepared.length > 0 ? "ready" : "none";
  }
}

function regionOf(html) {
  const found = new DOMParser().parseFromString(html, "text/html").getElementById("bench");
  return found && document.adoptNode(found);
}
