#!/usr/bin/env python3
"""Runs a command in a terminal of its own and prints the bytes that the terminal got.

    terminal.py [--deaf] [--resize ROWS COLS] ROWS COLS COMMAND...

--deaf: nobody reads from the terminal. --resize: the window gets another size half a second after the first bytes. Exit
status: the command's, or 99 where it has not ended after two minutes.
"""
import fcntl
import os
import pty
import select
import signal
import struct
import sys
import termios
import time

arguments, deaf, later = sys.argv[1:], False, None
while arguments[0].startswith("--"):
    if arguments.pop(0) == "--deaf":
        deaf = True
    else:
        later = (int(arguments.pop(0)), int(arguments.pop(0)))
size = (int(arguments.pop(0)), int(arguments.pop(0)))
process, terminal = pty.fork()
if process == 0:
    time.sleep(0.1)  # the window has its size before anybody asks for it
    os.execvp(arguments[0], arguments)
resize = lambda rows, cols: fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
resize(*size)
begin, shown, code = time.time(), None, None  # a busy machine may take a second to show anything
while code is None:
    if later and shown and time.time() - shown > 0.5:
        resize(*later)
        later = None
    if not deaf and select.select([terminal], [], [], 0.05)[0]:
        try:
            sys.stdout.buffer.write(os.read(terminal, 65536))
            shown = shown or time.time()
        except OSError:  # the last one has closed it
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    elif deaf:
        time.sleep(0.05)
        done, status = os.waitpid(process, os.WNOHANG)
        code = os.waitstatus_to_exitcode(status) if done else None
    if time.time() - begin > 120:
        os.kill(process, signal.SIGKILL)
        code = 99
sys.exit(code)
