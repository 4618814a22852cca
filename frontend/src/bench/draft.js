// Keeps the draft on the server, and a copy in this browser until the server has it.
//
// Saves are debounced, one at a time, and retried with growing pauses. A save that meets a newer version which this
// page did not write stops here and says so: which state wins is the person's choice, never ours.

const DEBOUNCE = 400;
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
const REMEMBERED = 8;
const KEEPALIVE_LIMIT = 50_000; // browsers refuse larger bodies that are to outlive the page

export class DraftKeeper {
  #url;
  #name;
  #read;
  #timer = null;
  #sending = false;
  #again = false;
  #pause = FIRST_RETRY;
  #closed = false;
  #mine = []; // what was sent lately, to know one's own words when a reply was lost

  /**
   * read(): what to save, {labels, details, finish_reason, active_seconds}. copies: see copies.js.
   * onStatus({kind, at, unsent}): kind is saved, saving, unsent, signed_out or closed.
   * onConflict({version, labels, details}): somebody saved a newer state of this draft.
   */
  constructor({ url, assignment, version, read, csrf, renew, onStatus, onConflict, copies, post }) {
    Object.assign(this, { version, csrf, renew, onStatus, onConflict, copies });
    this.post = post ?? ((...request) => fetch(...request)); // fetch must not be called as a method
    this.#url = url;
    this.#name = `draft:${assignment}`;
    this.#read = read;
    this.unsent = 0;
  }

  /** Something changed. */
  changed() {
    if (this.#closed) return;
    this.unsent += 1;
    this.#keepCopy();
    this.#report("saving");
    this.#schedule(DEBOUNCE);
  }

  /** What an earlier visit left unsent here, as {labels, details, version, …}, or null. */
  leftover() {
    return this.copies.read(this.#name);
  }

  /** Sends what is unsent now; with leaving, in a way that survives the page. */
  flush({ leaving = false } = {}) {
    if (this.#closed || this.unsent === 0) return;
    clearTimeout(this.#timer);
    void this.#send(leaving);
  }

  /** The person keeps their own state over a newer one on the server. */
  overrule(version) {
    this.version = version;
    this.#closed = false;
    this.changed();
  }

  /** The person takes the server's state. */
  accept(version) {
    this.version = version;
    this.#closed = false;
    this.#settled();
  }

  /** The solution was submitted or skipped: nothing more to keep. */
  close({ forget = false } = {}) {
    this.#closed = true;
    clearTimeout(this.#timer);
    if (forget) this.copies.forget(this.#name);
  }

  reopen() {
    this.#closed = false;
    if (this.unsent > 0) this.#schedule(DEBOUNCE);
  }

  #schedule(ms) {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#send(false), ms);
  }

  async #send(leaving) {
    if (this.#closed) return;
    if (this.#sending && !leaving) {
      this.#again = true;
      return;
    }
    this.#sending = true;
    const sent = this.unsent;
    const state = this.#read();
    this.#mine = [...this.#mine.slice(1 - REMEMBERED), signature(state)];
    const body = JSON.stringify({ ...state, version: this.version });
    try {
      const response = await this.post(this.#url, {
        method: "POST",
        credentials: "same-origin",
        keepalive: leaving && body.length < KEEPALIVE_LIMIT,
        headers: {
          "Content-Type": "application/json",
          "X-CSRFToken": this.csrf(),
          "X-Requested-With": "fetch", // so that a lost session is told as 401, not as the sign-in page
        },
        body,
      });
      await this.#answered(response, sent);
    } catch {
      this.#failed("unsent"); // no network, or an answer that was no JSON: the copy here stays
    } finally {
      this.#sending = false;
      if (this.#again) {
        this.#again = false;
        this.#schedule(0);
      }
    }
  }

  async #answered(response, sent) {
    if (response.ok && !response.redirected) {
      this.version = (await response.json()).version;
      this.#taken(sent);
    } else if (response.status === 409) {
      this.#refused(await response.json(), sent);
    } else if (response.status === 401 || response.redirected) {
      this.#failed("signed_out");
    } else if (response.status === 403) {
      this.#failed((await this.renew()) ? "unsent" : "signed_out"); // the next try has a fresh token
    } else if (response.status === 404 || response.status === 410) {
      this.#closed = true;
      this.#report("closed");
    } else {
      this.#failed("unsent");
    }
  }

  #taken(sent) {
    this.unsent = Math.max(0, this.unsent - sent);
    this.#pause = FIRST_RETRY;
    if (this.unsent === 0) return this.#settled();
    this.#keepCopy();
    this.#schedule(DEBOUNCE);
  }

  #refused(other, sent) {
    if (this.#closed) return; // submitted meanwhile: that carried everything
    if (!other.closed && this.#mine.includes(signature(other))) {
      this.version = other.version; // the newer state is this page's own; only the reply was lost
      return this.#taken(signature(other) === signature(this.#read()) ? sent : 0);
    }
    this.#closed = true;
    if (other.closed) this.#report("closed");
    else this.onConflict(other);
  }

  #settled() {
    this.unsent = 0;
    this.copies.forget(this.#name);
    this.#report("saved");
  }

  #failed(kind) {
    if (this.#closed) return;
    this.#report(kind);
    this.#schedule(this.#pause);
    this.#pause = Math.min(this.#pause * 2, LAST_RETRY);
  }

  #report(kind) {
    this.onStatus({ kind, at: new Date(), unsent: this.unsent });
  }

  #keepCopy() {
    this.copies.write(this.#name, { ...this.#read(), version: this.version });
  }
}

// What was decided, without the times, which differ between two tries of one save.
function signature({ labels, details = {} }) {
  const { step_seconds: _, ...rest } = details;
  const sorted = Object.keys(rest).sort().map((key) => [key, rest[key]]);
  return JSON.stringify([labels, sorted]);
}
