// What the workbench says. One place, so that it can be translated.

export const LABEL_NAMES = { 1: "correct", 0: "neutral", "-1": "incorrect" };
export const MARKS = { 1: "mark-correct", 0: "mark-neutral", "-1": "mark-incorrect" };

const steps = (n) => `${n} ${n === 1 ? "step" : "steps"}`;

export const words = {
  closed: "not judged after the first error",
  notJudged: "not judged",
  unsure: "unsure",
  marked: (step, label, left) => `Step ${step} marked ${label}, ${left === 0 ? "all done" : `${left} left`}`,
  closesRest: (step) => `Step ${step} marked incorrect. Later steps are not judged`,
  takesNone: (step, closed) => `Step ${step} takes no label: it is ${closed ? "after the first error" : "context"}`,
  flagged: (step, on) => `Step ${step} ${on ? "flagged unsure" : "no longer unsure"}`,
  undone: (step) => `Undone at step ${step}`,
  redone: (step) => `Done again at step ${step}`,
  nothingToUndo: "Nothing to undo",
  nothingToRedo: "Nothing to redo",
  opened: (n) => `New solution, ${steps(n)}`,
  count: (done, total) => `${done} of ${steps(total)} judged`,
  missing: (step, n) => (n === 1 ? `Step ${step} has no label yet` : `${n} steps have no label yet, the first is step ${step}`),
  toJudge: (n, total) => (n === total ? `${steps(n)} to judge.` : `${steps(n)} left to judge.`),
  firstError: (step) => `The first error is in step ${step}.`,
  noError: "No step is incorrect.",
  errors: (n) => (n === 0 ? "No step is incorrect." : `${steps(n)} incorrect.`),
  enterGoes: (step) => `Enter goes to step ${step}.`,
  enterSubmits: "Enter submits.",
  sending: "Sending.",
  waiting: "Waiting to be sent. Enter tries now.",
  saved: (at) => `Saved ${at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hour12: false })}`,
  saving: "Saving",
  unsent: (n) => `${n} unsent, will retry`,
  signedOut: "You are signed out. Sign in in a new tab; your work is kept here and is sent after that.",
  signIn: "Sign in in a new tab",
  notSent: "Not sent yet; will retry. Everything is kept.",
  tryNow: "Try now",
  refused: "The server did not take this. Reload the page; your labels are kept as a draft.",
  gone: "This solution is no longer yours to label: it was submitted, skipped or handed on. Your labels stay in this browser until you leave it.",
  conflict: "This solution was changed later in another tab or on another device. Your labels here are kept until you choose.",
  loadOther: "Load the other state",
  keepMine: "Keep mine",
  leftover: "Labels from an earlier visit were never sent, and a newer draft exists.",
  useLeftover: "Use the unsent ones",
  dropLeftover: "Keep the newer draft",
  restored: "Your unsent labels were restored",
  source: (on) => (on ? "Shown as it was written" : "Shown rendered"),
  commentLabel: (step) => `Comment on step ${step}`,
};

/** The three ways out that ask for a reason. */
export const EXITS = {
  skip: {
    question: "Why skip this one? It goes to somebody else.",
    send: "Skip and next",
    hints: ["Outside my field", "Too long", "Display is broken"],
  },
  give_up: {
    question: "What kept you from deciding? Labels given so far are kept.",
    send: "Give up and next",
    hints: ["Could not verify in time", "A step is unreadable", "Missing background"],
  },
  bad_problem: {
    question: "What is wrong with the problem?",
    send: "Report and next",
    hints: ["Statement is ambiguous", "Statement is incomplete", "Has no answer"],
  },
};
