"""What checks of the Python package share: each prints "ok NAME", "not ok NAME: WHY", or "skip NAME: WHY"."""

import logging

failures = []


def test(function):
    """Runs a check at once, as a decorator; what it returns is why it was left out."""
    name = function.__name__.replace("_", " ")
    try:
        reason = function()
        print("skip %s: %s" % (name, reason) if reason else "ok " + name, flush=True)
    except BaseException as reason:  # KeyboardInterrupt, too
        failures.append(name)
        print("not ok %s: %s: %s" % (name, type(reason).__name__, reason), flush=True)


def raises(kind, words, function, *arguments, **more):
    """The call ends with an exception of the kind, whose text has all words."""
    try:
        function(*arguments, **more)
    except kind as reason:
        for word in words:
            assert word in str(reason), (word, str(reason))
        return
    raise AssertionError("no %s" % kind.__name__)


class Heard(logging.Handler):
    """The lines that the package logs: (level, text)."""

    def __enter__(self):
        self.lines = []
        logging.getLogger("strake").addHandler(self)
        return self

    def __exit__(self, *_):
        logging.getLogger("strake").removeHandler(self)

    def emit(self, record):
        self.lines.append((record.levelname, record.getMessage()))
