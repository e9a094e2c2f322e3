"""Runs one script for `ostler`: `boot.py LIMIT SCRIPT [ARG...]`, with SCRIPT `-` for standard input.

The script gets every helper, `__name__ == "__main__"` and the arguments that python3 would give it. Its exit
status, signals and traceback stay its own: it runs in this very process, and nothing here stands in between.
"""

import marshal
import os
import sys

LIB = os.path.dirname(os.path.abspath(__file__))
HELPERS = os.path.join(os.path.dirname(LIB), "helpers.py")
GRACE = 5  # Seconds that a script which outran its limit has for cleaning up before it is ended for good.

stdin_source = []  # The script's text when it came on standard input, for the lines in its traceback.


def main(limit, script, *arguments):
    sys.excepthook = show_error
    # Whoever waits for a script reads a pipe: what was printed before a hang or a kill must be in it.
    if sys.stdout:
        sys.stdout.reconfigure(line_buffering=True)
    load("ostler", os.path.join(LIB, "client.py"))
    try:
        helpers = load("ostler.helpers", HELPERS)
    except Exception:
        show_error(*sys.exc_info())
        sys.exit(f"{HELPERS} does not load: repair it, or put ours back with `ostler helpers reset`")
    run(script, arguments, helpers, limit)


def run(script, arguments, helpers, limit):
    """Executes the script as `__main__`, set up the way python3 does it."""
    from_stdin = script == "-"
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = "" if from_stdin else os.path.dirname(os.path.realpath(script))
    sys.argv = ["" if from_stdin else script, *arguments]
    module = sys.modules["__main__"] = type(sys)("__main__")
    vars(module).update((name, value) for name, value in vars(helpers).items() if not name.startswith("_"))
    if from_stdin:
        source, name = sys.stdin.buffer.read(), "<stdin>"
        stdin_source.append(source)
    else:
        source, name = read(script), script
        module.__file__ = script
    code = compile(source, name, "exec", dont_inherit=True)
    if limit:
        set_limit(float(limit))  # Only now: the time is the script's own, however long the helpers took to load.
    exec(code, vars(module))


def load(name, path):
    """Imports the file as the module `name`, wherever it lies: no file of the script's can take its place."""
    module = sys.modules[name] = type(sys)(name)
    module.__file__ = path
    exec(compiled(path), vars(module))
    return module


def compiled(path):
    """Compiles the file, or takes the code kept from last time if it was made from exactly these bytes.

    Python's own cache goes by the size and a time in whole seconds, and so misses a quick edit. Comparing the
    text itself misses none and costs microseconds.
    """
    source = read(path)
    made_from = [sys.hexversion, sys.flags.optimize, path, source]
    kept = os.path.join(LIB, "cache", os.path.basename(path) + "." + sys.implementation.cache_tag)
    try:
        *key, code = marshal.loads(read(kept))
        if key == made_from:
            return code
    except (OSError, EOFError, ValueError, TypeError):
        pass  # None is kept yet, or it is damaged: a new one is written below.
    code = compile(source, path, "exec", dont_inherit=True)
    keep(kept, marshal.dumps([*made_from, code]))
    return code


def read(path):
    with open(path, "rb") as file:
        return file.read()


def keep(path, data):
    """Writes the file in one step, so that scripts which start at the same time read all of it or none."""
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(temporary, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except OSError:
        pass  # A folder that cannot be written costs the cache, not the script.


def show_error(kind, error, trace):
    """Prints an uncaught error as python3 would, without the frames of this file."""
    import linecache
    import traceback

    for source in stdin_source:
        lines = source.decode("utf-8", "replace").splitlines(True)
        linecache.cache["<stdin>"] = (len(source), None, lines, "<stdin>")
    traceback.print_exception(kind, error, without_ours(trace))
    if kind is KeyboardInterrupt:
        note_interrupt()


def without_ours(trace):
    """Drops this file's frames: those that lead to the script, and the one that ends it at its time limit."""
    def ours(entry):
        return entry.tb_frame.f_code.co_filename == __file__

    while trace and ours(trace):
        trace = trace.tb_next
    entry = trace
    while entry:
        while entry.tb_next and ours(entry.tb_next):
            entry.tb_next = entry.tb_next.tb_next
        entry = entry.tb_next
    return trace


def note_interrupt():
    """Makes the interpreter, once it has cleaned up, end by SIGINT, so that a shell sees Ctrl-C and not status 1.

    It does so by itself, but forgets when a string is evaluated in between, which the imports in show_error do.
    """
    try:
        exec("raise KeyboardInterrupt")
    except KeyboardInterrupt:
        pass


def set_limit(seconds):
    """Raises TimeoutError wherever the script is after `seconds`; if that does not end it, kills it a little later."""
    import faulthandler
    import signal

    def stop(_signal, _frame):
        raise TimeoutError(f"the script ran longer than its limit of {seconds:g} s")

    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    # This watchdog is a thread outside the interpreter: a script that catches everything cannot stop it.
    faulthandler.dump_traceback_later(seconds + GRACE, exit=True)


main(*sys.argv[1:])
