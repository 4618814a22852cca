// Keeps the draft on the server, and a copy in this browser until the server has it.
//
// Saves are debounced, one at a time, and retried with growing pauses. A save that meets a newer version stops
// here and says so: which state wins is the person's choice, never ours.

const DEBOUNCE = 400;
const FIRST_RETRY = 1000;
const LAST_RETRY = 30_000;
const KEY = "stepmark:draft:";

export class DraftKeeper {
  #url;
  #key;
  #read;
  #timer = null;
  #sending = false;
  #again = false;
  #pause = FIRST_RETRY;
  #closed = false;

  /**
   * read(): what to save, {labels, details, finish_reason, active_seconds}.
   * onStatus({kind, at, unsent}): kind is saved, saving, unsent, signed_out or closed.
   * onConflict({version, labels, details}): somebody saved a newer state of this draft.
   */
  constructor({ url, assignment, version, read, csrf, onStatus, onConflict, storage = localStorage, post }) {
    Object.assign(this, { version, csrf, onStatus, onConflict, storage });
    this.post = post ?? ((...request) => fetch(...request)); // fetch must not be called as a method
    this.#url = url;
    this.#key = KEY + assignment;
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

  /** What an earlier visit left unsent here, as {labels, details, version, clientId, …}, or null. */
  leftover() {
    try {
      return JSON.parse(this.storage.getItem(this.#key));
    } catch {
      return null; // storage is off, or holds something that isn't ours
    }
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
    if (forget) this.#forgetCopy();
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
    try {
      const response = await this.post(this.#url, {
        method: "POST",
        credentials: "same-origin",
        keepalive: leaving,
        headers: {
          "Content-Type": "application/json",
          "X-CSRFToken": this.csrf(),
          "X-Requested-With": "fetch", // so that a lost session is told as 401, not as the sign-in page
        },
        body: JSON.stringify({ ...this.#read(), version: this.version }),
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
      this.unsent = Math.max(0, this.unsent - sent);
      this.#pause = FIRST_RETRY;
      if (this.unsent === 0) this.#settled();
      else this.#keepCopy();
    } else if (response.status === 409) {
      const other = await response.json();
      this.#closed = true;
      if (other.closed) this.#report("closed");
      else this.onConflict(other);
    } else if (response.status === 401 || response.redirected) {
      this.#failed("signed_out");
    } else if (response.status === 404 || response.status === 410) {
      this.#closed = true;
      this.#report("closed");
    } else {
      this.#failed("unsent");
    }
  }

  #settled() {
    this.unsent = 0;
    this.#forgetCopy();
    this.#report("saved");
  }

  #failed(kind) {
    this.#report(kind);
    this.#schedule(this.#pause);
    this.#pause = Math.min(this.#pause * 2, LAST_RETRY);
  }

  #report(kind) {
    this.onStatus({ kind, at: new Date(), unsent: this.unsent });
  }

  #keepCopy() {
    try {
      this.storage.setItem(this.#key, JSON.stringify({ ...this.#read(), version: this.version, at: Date.now() }));
    } catch {
      // Storage full or off: the server's copy is the only one then.
    }
  }

  #forgetCopy() {
    try {
      this.storage.removeItem(this.#key);
    } catch {
      // Storage is off, so there was no copy.
    }
  }
}

/** Forgets copies of other assignments that are older than a month. */
export function forgetOldCopies(storage = localStorage, now = Date.now()) {
  try {
    for (const key of Object.keys(storage).filter((name) => name.startsWith(KEY))) {
      const at = JSON.parse(storage.getItem(key))?.at ?? 0;
      if (now - at > 30 * 24 * 3600 * 1000) storage.removeItem(key);
    }
  } catch {
    // Storage is off.
  }
}
