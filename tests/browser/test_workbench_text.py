"""Mathematics, text, code and pictures as they should be read; what a screen reader hears; what axe says."""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from annotator.actions import access, pictures
from annotator.models import Membership, Problem, Project
from tests import factories as make
from tests.browser.bench import Open, active, press, ready, rules
from tests.core.test_pictures import drawn

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def test_mathematics_is_set_and_what_is_none_is_left_alone(
    open_as: Open, project: Project, member: Membership
) -> None:
    texts = [
        r"Area $a_1$ and $b_2$ by \(c_{3}\).",
        "It costs $2 and then $y=x^2$, or $5-$10.",
        r"\[x^2 \tag{7}\]",
        r"\begin{aligned} a &= b \\ c &= \begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix} \end{aligned}",
        "∀ε>0: $∑_{i∈ℕ} α_i ≤ ∞$",
        r"لدينا $x^2$",
        r"An escaped \$3 and `$code$`",
        r"So \boxed{\tfrac12}",
    ]
    make.work(project, texts=texts)
    page = open_as(member)
    ready(page)
    steps = page.locator("[data-step]")
    formulas = [steps.nth(i).locator(".katex").count() for i in range(len(texts))]
    assert formulas == [3, 1, 1, 1, 1, 1, 0, 1]
    assert page.locator(".formula-error").count() == 0
    expect(steps.nth(1)).to_contain_text("It costs $2 and then")
    expect(steps.nth(2).locator(".katex-tag")).to_contain_text("7")
    expect(steps.nth(6)).to_contain_text("An escaped $3 and $code$")
    assert steps.nth(5).locator("[data-prose]").evaluate("(e) => getComputedStyle(e).direction") == "rtl"
    expect(steps.nth(0).locator("math").first).to_have_count(1)  # what a screen reader reads


def test_a_formula_that_fails_shows_its_source_and_says_why_and_the_rest_is_set(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=[r"bad $\frac{1}{$ and unknown $\foo x$, good $z^2$"])
    page = open_as(member)
    ready(page)
    errors = page.locator(".formula-error")
    expect(errors).to_have_text([r"$\frac{1}{$", r"$\foo x$"])
    assert "could not be set" in (errors.first.get_attribute("title") or "")
    expect(page.locator("[data-step] .katex")).to_have_count(1)


def test_hostile_formulas_do_nothing_and_the_rest_is_set(
    open_as: Open, project: Project, member: Membership
) -> None:
    hostile = [
        r"$\href{javascript:alert(1)}{x}$ and $z^2$",
        r"$\htmlData{onclick=alert(1)}{x}\htmlId{a}{x}\htmlStyle{position:fixed}{x}$ and $z^2$",
        r"$\includegraphics{https://example.org/a.png}$ and $z^2$",
        r"$\def\a{\a\a}\a$ and $z^2$",
        r"$\rule{9999em}{9999em}$ and $z^2$",
        "$" + "{" * 3_000 + "$ and $z^2$",
        "$" + "x+" * 20_000 + "x$ and $z^2$",
        "<img src=x onerror=alert(1)><script>alert(1)</script> and $z^2$",
    ]
    make.work(project, texts=hostile)
    page = open_as(member)
    page.on("dialog", lambda _: pytest.fail("a script ran"))
    ready(page)
    bench = page.locator("#bench")
    for at in range(len(hostile)):
        expect(bench.locator(f"[data-step='{at}'] .katex").last).to_contain_text("z2")
    said = bench.locator("[data-step] [data-prose]")
    assert said.locator("a[href], img, script, [onclick], [data-onclick], [style*=fixed]").count() == 0
    assert bench.locator(".katex .rule").evaluate_all("all => all.every((e) => e.offsetWidth < 1000)")


def test_the_projects_macros_are_known(open_as: Open, project: Project, member: Membership) -> None:
    rules(macros={r"\RR": r"\mathbb{R}"})
    make.work(project, texts=[r"$x \in \RR$"])
    page = open_as(member)
    ready(page)
    expect(page.locator("[data-step] .katex")).to_have_count(1)
    assert page.locator(".formula-error").count() == 0


def test_a_wide_formula_scrolls_in_its_own_box_by_keyboard(
    open_as: Open, project: Project, member: Membership
) -> None:
    terms = "+".join(f"x_{{{i}}}" for i in range(60))
    make.work(project, texts=[rf"\[{terms}\]", "two"])
    page = open_as(member)
    ready(page)
    box = page.get_by_role("group", name="Wide formula, scrolls")
    box.focus()
    press(page, "ArrowRight ArrowRight ArrowRight")
    page.wait_for_timeout(300)
    assert box.evaluate("(e) => e.scrollLeft") > 0
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    press(page, "1")
    assert active(page) == 1


def test_source_and_rendered_for_one_step_and_for_all(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["$a$", "$b$"])
    page = open_as(member)
    ready(page)
    press(page, "r")
    expect(page.locator("[data-step]").nth(0)).to_contain_text("$a$")
    expect(page.locator("[data-step] .katex")).to_have_count(1)
    press(page, "Shift+R")
    expect(page.locator("[data-step] .katex")).to_have_count(0)
    press(page, "Shift+R")
    expect(page.locator("[data-step] .katex")).to_have_count(2)


def test_a_copied_formula_is_its_latex(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project, texts=[r"Let $\frac{a}{b}$ be so."])
    page = open_as(member)
    ready(page)
    copied = page.evaluate(
        """() => {
          getSelection().selectAllChildren(document.querySelector("[data-step] [data-prose]"));
          const how = { clipboardData: new DataTransfer(), bubbles: true, cancelable: true };
          const event = new ClipboardEvent("copy", how);
          document.querySelector("[data-step]").dispatchEvent(event);
          return event.clipboardData.getData("text/plain");
        }"""
    )
    assert copied == r"Let $\frac{a}{b}$ be so."


def test_markdown_basics_are_shown_and_links_lead_nowhere(
    open_as: Open, project: Project, member: Membership
) -> None:
    table = "| n | $n^2$ |\n|--:|:-:|\n| 2 | **4** |"
    make.work(project, texts=["1. one\n2. **two**", table, "see [here](https://example.org/x)"])
    page = open_as(member)
    ready(page)
    expect(page.locator("[data-step] li strong")).to_have_text("two")
    expect(page.locator("[data-step] td")).to_have_text(["2", "4"])
    expect(page.locator(".inert-link")).to_have_text("here https://example.org/x")
    assert page.locator(".steps [data-prose] a").count() == 0


def test_code_is_coloured_when_it_is_there(open_as: Open, project: Project, member: Membership) -> None:
    make.work(project, texts=["```python\ndef f(x):\n    return x\n```", "words"])
    page = open_as(member)
    ready(page)
    expect(page.locator("pre .hljs-keyword").first).to_have_text("def")
    expect(page.locator("pre code")).to_have_text("def f(x):\n    return x")


def test_long_context_is_folded_takes_no_label_and_opens_by_key(
    open_as: Open, project: Project, member: Membership
) -> None:
    rules(mode="all_steps")
    log = "\n".join(f"line {i} of the log" for i in range(10_000))
    make.work(project, texts=["look", log, "so"], kinds=["action", "observation", "reasoning"])
    page = open_as(member)
    ready(page)
    expect(page.locator("details.context")).not_to_have_attribute("open", "")
    assert page.locator(".piece").count() == 0  # nothing of it was set
    press(page, "1 k ArrowRight")
    expect(page.locator(".piece").first).to_contain_text("line 0 of the log")
    press(page, "ArrowLeft 1")
    expect(page.locator("details.context")).not_to_have_attribute("open", "")
    assert page.locator("[data-step][data-label='1']").count() == 1


def with_a_picture(project: Project) -> None:
    kept = pictures.keep(actor=access.operator(project), data=drawn(size=(90, 60)))
    Problem.objects.update(images=[{"sha256": kept.sha256, "alt": "A triangle"}])


def test_a_picture_of_the_problem_is_enlarged_and_named(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project)
    with_a_picture(project)
    page = open_as(member)
    ready(page)
    page.get_by_role("button", name="Picture 1, enlarge: A triangle").click()
    dialog = page.get_by_role("dialog", name="Picture")
    expect(dialog.get_by_role("img", name="A triangle")).to_be_visible()
    press(page, "1 Escape")
    expect(dialog).to_be_hidden()
    expect(page.locator("[data-step][data-label=none]")).to_have_count(3)


def test_three_hundred_steps_are_typeset_where_one_reads_and_the_rest_follows(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=[f"$x_{{{i}}} = {i}$" for i in range(300)])
    page = open_as(member)
    ready(page)
    took = page.evaluate(
        """() => new Promise((done) => {
          const start = performance.now();
          document.dispatchEvent(new KeyboardEvent("keydown", { key: "1", bubbles: true }));
          requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
        })"""
    )
    assert took < 5_000  # the bench measures; this only tells a page that hangs
    expect(page.locator("[data-step] .katex")).to_have_count(300)


def test_what_happens_is_announced_and_the_focus_is_on_the_step(
    open_as: Open, project: Project, member: Membership
) -> None:
    make.work(project, texts=["a", "b"])
    page = open_as(member)
    ready(page)
    press(page, "1")
    expect(page.locator("#announcer")).to_have_text("Step 1 marked correct, 1 left")
    expect(page.locator("[data-step]").nth(1)).to_be_focused()
    expect(page.locator("[data-step]").nth(0).locator("[data-said]")).to_have_text("correct")


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(open_as: Open, project: Project, member: Membership, theme: str) -> None:
    rules(mode="all_steps", aid_equations=True, aid_reference=True)
    texts = ["So $3+4=8$.", "print(1)", "1\n" * 900, "| a | b |\n|---|---|\n| 1 | 2 |"]
    make.work(project, texts=texts, kinds=["reasoning", "code", "observation", "reasoning"])
    with_a_picture(project)
    page = open_as(member)
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")  # type: ignore[arg-type]
    ready(page)
    violations = Axe().run(page).response["violations"]
    press(page, "3 k e")
    violations += Axe().run(page).response["violations"]
    press(page, "1 m")
    violations += Axe().run(page).response["violations"]
    press(page, "Escape x")
    violations += Axe().run(page).response["violations"]
    assert [(found["id"], found["nodes"][0]["html"][:120]) for found in violations] == []
