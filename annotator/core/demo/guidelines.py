"""What annotators of the demo project read before they start."""

import re

#: A line break that only keeps the source narrow: the next line goes on with a paragraph or an item.
_WRAPPED = re.compile(r"(?<!\n)\n *(?=[^\s\-#\d*])")

GUIDELINES = _WRAPPED.sub(
    " ",
    r"""
# How to label a solution

You see a problem and a solution that a language model wrote, step by step. Judge one step after another, from the
top, **up to and including the first incorrect one**. What comes after it is not judged: it may be right or wrong,
and nobody asks.

## The labels

- **Correct**: the step is valid, it follows from what precedes it, and it helps. Setting up a variable, choosing a
  good method, or stating the final answer all count.
- **Neutral**: the step is valid but adds nothing. It restates the problem, repeats a result, or comments on the
  work. Neutral is not an error.
- **Incorrect**: the step is false, does not follow from what precedes it, or can't be verified by an expert in about
  two minutes with pencil and paper. An invented theorem is incorrect even if the number it leads to is right.

Judge the step, not the answer. A right answer can come from wrong reasoning, and a clumsy method is correct as long
as it is valid. If a later step takes an error back ("Wait, that should be 12"), the erroneous step stays incorrect.

**Unsure** is a flag, not a label. Choose the label that you find more likely, set the flag, and say why in a comment.

## When to stop in another way

- **Give up** if you can't tell whether a step is right in reasonable time. The labels you have set are kept.
- **Bad problem** if the problem is ambiguous, lacks information or contradicts itself. Poor wording alone is not
  enough.

## Three examples

**1.** Simplify $\sqrt{x^2}$ for $x < 0$.
1. "We know that $x$ is negative." → neutral, it repeats the problem.
2. "Since $\sqrt{x^2} = x$, the answer is $x$." → **incorrect**, because $\sqrt{x^2} = |x| = -x$ for negative $x$. Stop
   here.

**2.** What is the probability of two heads in three tosses of a fair coin?
1. "There are $2^3 = 8$ equally likely outcomes." → correct.
2. "Exactly two heads occur in $\binom{3}{2} = 3$ of them." → correct.
3. "So the probability is $\boxed{\frac{3}{8}}$." → correct. No step is incorrect: submit the solution as it is.

**3.** Compute $\frac{1}{2} + \frac{1}{3}$.
1. "Add numerators and denominators: $\frac{1}{2} + \frac{1}{3} = \frac{2}{5}$." → **incorrect**. Stop here.
2. "Wait, the common denominator is $6$, so it is $\frac{5}{6}$." → not judged, although it is right.

## Small print

Slips of spelling or layout are no errors. A sign, unit or notation that changes the meaning is one. For code, ask
whether it does what the step says it does. Steps marked as output or context take no label.
""".strip(),
)
