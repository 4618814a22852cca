// What the workbench says. One place; every sentence goes through Django's i18n (see i18n.js).

import { fill, gettext, ngettext } from "../i18n.js";

export const LABEL_NAMES = { 1: gettext("correct"), 0: gettext("neutral"), "-1": gettext("incorrect") };
export const MARKS = { 1: "mark-correct", 0: "mark-neutral", "-1": "mark-incorrect" };

const steps = (n) => fill(ngettext("%(n)s step", "%(n)s steps", n), { n });
const say = (text) => (step) => fill(text, { step });

export const words = {
  closed: gettext("not judged after the first error"),
  notJudged: gettext("not judged"),
  unsure: gettext("unsure"),
  implied: gettext("correct by “correct through here”"),
  marked: (step, label, left) =>
    left === 0
      ? fill(gettext("Step %(step)s marked %(label)s, all done"), { step, label })
      : fill(ngettext("Step %(step)s marked %(label)s, %(left)s left", "Step %(step)s marked %(label)s, %(left)s left", left), { step, label, left }),
  through: (step, n) => fill(ngettext("%(n)s step marked correct, through step %(step)s", "%(n)s steps marked correct, through step %(step)s", n), { step, n }),
  throughNone: say(gettext("Nothing open up to step %(step)s")),
  closesRest: say(gettext("Step %(step)s marked incorrect. Later steps are not judged")),
  takesNone: (step, closed) => fill(closed ? gettext("Step %(step)s takes no label: it is after the first error") : gettext("Step %(step)s takes no label: it is context"), { step }),
  flagged: (step, on) => fill(on ? gettext("Step %(step)s flagged unsure") : gettext("Step %(step)s no longer unsure"), { step }),
  undone: say(gettext("Undone at step %(step)s")),
  redone: say(gettext("Done again at step %(step)s")),
  nothingToUndo: gettext("Nothing to undo"),
  nothingToRedo: gettext("Nothing to redo"),
  opened: (n) => fill(gettext("New solution, %(steps)s"), { steps: steps(n) }),
  handedIn: (n) => fill(gettext("Handed in. New solution, %(steps)s"), { steps: steps(n) }),
  count: (done, total) => fill(gettext("%(done)s of %(steps)s judged"), { done, steps: steps(total) }),
  missing: (step, n) => fill(ngettext("Step %(step)s has no label yet", "%(n)s steps have no label yet, the first is step %(step)s", n), { step, n }),
  toJudge: (n, total) => fill(n === total ? gettext("%(steps)s to judge.") : gettext("%(steps)s left to judge."), { steps: steps(n) }),
  firstError: say(gettext("The first error is in step %(step)s.")),
  noError: gettext("No step is incorrect."),
  errors: (n) => (n === 0 ? gettext("No step is incorrect.") : fill(ngettext("%(n)s step incorrect.", "%(n)s steps incorrect.", n), { n })),
  wants: (step, what) => fill(what === "error_type" ? gettext("Step %(step)s needs a kind of error.") : gettext("Step %(step)s needs a comment."), { step }),
  enterGoes: (key, step) => fill(gettext("%(key)s goes to step %(step)s."), { key, step }),
  enterAsks: (key) => fill(gettext("%(key)s asks for it."), { key }),
  enterSubmits: (key) => fill(gettext("%(key)s submits."), { key }),
  sending: gettext("Sending."),
  waiting: (key) => fill(gettext("Waiting to be sent. %(key)s tries now."), { key }),
  saved: (at) => fill(gettext("Saved %(time)s"), { time: at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false }) }),
  saving: gettext("Saving"),
  unsent: (n) => fill(gettext("%(n)s unsent, will retry"), { n }),
  outbox: (n) => fill(ngettext("%(n)s solution unsent, will retry", "%(n)s solutions unsent, will retry", n), { n }),
  signedOut: gettext("You are signed out. Sign in to go on; everything you marked is kept."),
  notSent: gettext("Not sent yet; it is tried again. Everything is kept."),
  tryNow: gettext("Try now"),
  refused: gettext("The server did not take this. Your labels are kept here and as a draft; reload the page and hand it in again."),
  gone: gettext("This solution is no longer yours to label: it was submitted, skipped or handed on. Your labels stay here until you go on."),
  goOn: gettext("Go on to the next"),
  cameBack: gettext("The solution before came back"),
  conflict: gettext("This solution was changed later in another tab or on another device. Your labels here are kept until you choose."),
  loadOther: gettext("Load the other state"),
  keepMine: gettext("Keep mine"),
  leftover: gettext("Labels from an earlier visit were never sent, and a newer draft exists."),
  useLeftover: gettext("Use the unsent ones"),
  dropLeftover: gettext("Keep the newer draft"),
  restored: gettext("Your unsent labels were restored"),
  source: (on) => (on ? gettext("Shown as it was written") : gettext("Shown rendered")),
  commentLabel: say(gettext("Comment on step %(step)s")),
  minutes: (n) => fill(gettext("%(n)s min on this one"), { n }),
  // Error types, recovery, segmentation.
  kindOf: say(gettext("What kind of error is in step %(step)s?")),
  kindSet: (step, name) => (name ? fill(gettext("Step %(step)s: %(name)s"), { step, name }) : fill(gettext("Step %(step)s: no kind of error"), { step })),
  notIncorrect: say(gettext("Step %(step)s is not marked incorrect")),
  whichCorrects: say(gettext("Which later step corrects the error in step %(step)s?")),
  whichCorrected: say(gettext("Which earlier error does step %(step)s correct?")),
  onlyAllSteps: gettext("Corrections are recorded where every step is judged"),
  laterStep: (from, to) => fill(gettext("A step from %(from)s to %(to)s"), { from, to }),
  incorrectStep: (list) => fill(gettext("One of the incorrect steps: %(list)s"), { list }),
  correctedIn: say(gettext("corrected in step %(step)s")),
  recoveredSet: (step, at) => fill(gettext("Step %(step)s: corrected in step %(at)s"), { step, at }),
  cutOf: say(gettext("How should step %(step)s be cut?")),
  splitHere: gettext("Split here"),
  mergePrevious: gettext("Too fine: merge with the previous step"),
  mergeNext: gettext("Too fine: merge with the next step"),
  cutNone: gettext("It is cut well"),
  splitAsk: gettext("Too coarse: choose where to split"),
  oneSentence: gettext("Too coarse, but it can't be said where: it is one sentence"),
  tooCoarse: (before) => fill(gettext("too coarse: split after “%(before)s”"), { before }),
  coarse: gettext("too coarse"),
  tooFine: (merge) => (merge === "previous" ? gettext("too fine: merge with the previous step") : gettext("too fine: merge with the next step")),
  cutSaid: (step) => fill(gettext("Step %(step)s: the cut is noted"), { step }),
  cancel: gettext("Cancel"),
  save: gettext("Save"),
  clear: gettext("Take back"),
  // The lead and the aids.
  asked: gettext("Your question is with the lead."),
  askedNot: gettext("The question was not sent: no connection. It is kept here; send it again."),
  aidFailed: gettext("The aid could not be opened; try again when the connection is back."),
  noAids: gettext("This project offers no aids"),
  unknownHere: gettext("Nothing is known about it."),
  equations: (n, bad, unchecked) =>
    [
      fill(ngettext("%(n)s equation looked at.", "%(n)s equations looked at.", n), { n }),
      bad.length > 0 ? fill(ngettext("One that does not hold is in step %(list)s.", "Some that do not hold are in steps %(list)s.", bad.length), { list: bad.join(", ") }) : gettext("None was found not to hold."),
      unchecked > 0 ? fill(ngettext("%(n)s not checked.", "%(n)s not checked.", unchecked), { n: unchecked }) : "",
    ].filter(Boolean).join(" "),
  noEquations: gettext("No equations in numbers were found."),
  verdicts: { holds: gettext("holds"), does_not_hold: gettext("does not hold"), not_checked: gettext("not checked") },
  // Signing in in place, signing out.
  passwordOf: (name) => fill(gettext("Password of %(name)s"), { name }),
  signIn: gettext("Sign in"),
  signInOther: gettext("Sign in in a new tab"),
  signInFailed: gettext("That did not work; check the password."),
  signInOffline: gettext("There is no connection to sign in over; try again."),
  otherPerson: gettext("Somebody else is signed in here now. Sign in again as yourself; everything you marked is kept."),
  unsentAtSignOut: (n) => fill(ngettext("%(n)s solution is not sent yet. Signing out now forgets it.", "%(n)s solutions are not sent yet. Signing out now forgets them.", n), { n }),
  signOutAnyway: gettext("Sign out and forget"),
  today: (n) => fill(gettext("%(n)s today"), { n }),
};

/** What asks for a sentence in the bar: the three ways out, and a question to the lead. */
export const EXITS = {
  skip: {
    question: () => gettext("Why skip this one? It goes to somebody else."),
    send: gettext("Skip and next"),
    hints: [gettext("Outside my field"), gettext("Too long"), gettext("Display is broken")],
  },
  give_up: {
    question: () => gettext("What kept you from deciding? Labels given so far are kept."),
    send: gettext("Give up and next"),
    hints: [gettext("Could not verify in time"), gettext("A step is unreadable"), gettext("Missing background")],
  },
  bad_problem: {
    question: () => gettext("What is wrong with the problem?"),
    send: gettext("Report and next"),
    hints: [gettext("Statement is ambiguous"), gettext("Statement is incomplete"), gettext("Has no answer")],
  },
  question: {
    question: say(gettext("Your question to the lead about step %(step)s. Work goes on meanwhile.")),
    send: gettext("Ask"),
    hints: [],
  },
};
