"""What the scripted model of the demo knows: a small project, and something for every prompt."""

from __future__ import annotations

from pathlib import Path

from claude_sessions.demo.request import Request
from claude_sessions.demo.script import Script
from claude_sessions.demo.words import bash, edit, plan, question, read, say, think, usage, write

PACE = 60.0  # words a second: fast enough for a tour, slow enough to be seen streaming

REFRESH = """\
export function refresh(req, res) {
  res.clearCookie("session");
  const user = verify(req.cookies.session);
  res.cookie("session", sign(user), { httpOnly: true });
}
"""


def make_project(root: Path) -> Path:
    """A directory that looks like somebody's work."""
    web = root / "web"
    (web / "src").mkdir(parents=True)
    (web / "src" / "refresh.ts").write_text(REFRESH)
    (web / "README.md").write_text("# web\n\nA small shop.\n")
    return web


def story(web: Path) -> Script:
    source = str(web / "src" / "refresh.ts")
    script = Script(pace=PACE)
    script.on(
        "logged out after refresh",
        think("The cookie is probably cleared too early."),
        say("I look at the refresh handler first."),
        read(source),
        say("I found it: `refresh` clears the cookie **before** it reads it. I change the order."),
        edit(source, '  res.clearCookie("session");\n', ""),
        say("Now I would like to publish the fix."),
        bash("npm publish --access public", description="Publish the package"),
        usage(input=12_000, cache_read=180_000, output=900),
        say(
            "Then I leave it unpublished. The handler keeps the cookie now:\n\n"
            "- `src/refresh.ts`: no `clearCookie` before `verify`\n"
            "- nothing else changed"
        ),
    )
    script.on(
        "opening hours",
        say("I will add them. One thing first:"),
        question("Which tone should the page have?", ["Friendly", "Formal"], header="Tone"),
        read(str(web / "README.md")),
        write(str(web / "README.md"), "# web\n\nA small shop. Come in, we are open 9 to 5!\n"),
        say("The opening hours are in `README.md`."),
    )
    script.on("also add tests", say("Two tests, both green: the cookie survives a refresh."))
    script.on(
        "Continue where you left off",
        say("Here I am again, with everything we said before. The cookie fix is in place."),
    )
    script.on(
        "plan", plan("1. Read the code.\n2. Change one line.\n3. Run the tests."), say("Done.")
    )
    script.on("question", question("Tea or coffee?", ["Tea", "Coffee"]), say(_chosen))
    script.on(
        "run", bash("date > now.txt && cat now.txt", description="Tell the time"), say("Ran.")
    )
    script.on("edit", read(source), edit(source, "verify(", "verifySafely("), say("Edited."))
    script.otherwise(
        say(
            lambda request: (
                f"You said: “{request.prompt[:200]}”.\n\n"
                "I am a script, not a model, but all around me is real. Try a prompt with the word "
                "**run**, **edit**, **question** or **plan** in it."
            )
        )
    )
    return script


def _chosen(request: Request) -> str:
    return f"Noted. ({request.last_tool_result})"
