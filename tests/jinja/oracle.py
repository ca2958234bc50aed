# Real Jinja2 behind the same JSON lines as `sandmartin jinja --batch`: the other side of the differential test.
import json
import signal
import sys

import jinja2

UNDEFINED = {
    "default": jinja2.Undefined,
    "chainable": jinja2.ChainableUndefined,
    "strict": jinja2.StrictUndefined,
    "debug": jinja2.DebugUndefined,
}


def render(job):
    options = dict(job.get("options") or {})
    extensions = ["jinja2.ext.do", "jinja2.ext.loopcontrols"] if options.pop("ext", False) else []
    kind = UNDEFINED[options.pop("undefined", "default")]
    env = jinja2.Environment(
        loader=jinja2.DictLoader(job["templates"]),
        autoescape=options.pop("autoescape", True),
        undefined=kind,
        extensions=extensions,
        **options,
    )
    return env.get_template(job["main"]).render(job["context"])


class Timeout(BaseException):
    pass


def stop(signum, frame):
    raise Timeout("more than a second")


# A template may grow the list it iterates over; Jinja2 alone would never end.
# Only its own time counts: a busy machine must not look like an endless template.
signal.signal(signal.SIGVTALRM, stop)

for line in sys.stdin:
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, 1)
        try:
            answer = {"output": render(json.loads(line))}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except BaseException as error:
        message = getattr(error, "message", None) or str(error)
        answer = {"error": f"{type(error).__name__}: {message}"}
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()
