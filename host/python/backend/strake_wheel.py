"""Makes the wheel (PEP 517): library and program by `make lib program`, the package beside them, and what pip must know.

$STRAKE_LIBRARY names a libstrake.so that is there already, with what was built beside it. $BUILD and other settings of the
Makefile go to make.

Usage, where pip does not call it: python3 strake_wheel.py FOLDER, which is what `make wheel` does; prints the wheel's name.
"""

import base64
import glob
import hashlib
import os
import re
import stat
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TOP = os.path.dirname(os.path.dirname(HERE))

METADATA = """Metadata-Version: 2.1
Name: strake
Version: {version}
Summary: Hybrid OpenCL and OpenMP solver for grid problems
License: Apache-2.0
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: xarray
Requires-Dist: xarray; extra == "xarray"
Description-Content-Type: text/markdown

"""

WHEEL = """Wheel-Version: 1.0
Generator: strake
Root-Is-Purelib: false
Tag: {tag}
"""

# The command `strake`: pip puts the Python's path into the first line. The package, and with it NumPy, is not imported.
SCRIPT = """#!python
import importlib.util
import os
import sys

program = os.path.join(os.path.dirname(importlib.util.find_spec("strake").origin), "strake")
os.execv(program, [program] + sys.argv[1:])
"""


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as reason:
        raise SystemExit("cannot read %s: %s; install from the folder host/python of Strake's source"
                         % (path, reason.strerror))


def _version():
    header = _read(os.path.join(TOP, "src", "strake.h")).decode()
    return re.search(r'^#define STRAKE_VERSION "(.*)"', header, re.M).group(1)


def _tag():
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _library():
    """The shared library: one that is given, or what make makes."""
    given = os.environ.get("STRAKE_LIBRARY")
    if given:
        return given
    build = os.environ.get("BUILD", "build")
    jobs = [] if "MAKEFLAGS" in os.environ else ["-j%d" % (os.cpu_count() or 1)]
    command = ["make", "-C", TOP, "BUILD=" + build, "lib", "program"] + jobs
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError) as reason:
        raise SystemExit("%s: %s; `make deps` installs what a build needs" % (" ".join(command), reason))
    return os.path.join(TOP, build, "libstrake.so")


def _binaries():
    """What was built, by its name in the package: the library, the program, what tries OpenCL drivers for both, and modules
    that they load where they need them. What only debuggers read is left out."""
    library = os.path.abspath(_library())
    beside = os.path.dirname(library)
    paths = [os.path.join(beside, name) for name in ("strake", "strake-driver")]
    paths += sorted(glob.glob(os.path.join(glob.escape(beside), "libstrake-*.so")))
    with tempfile.TemporaryDirectory() as folder:
        return {name: _stripped(path, os.path.join(folder, name)) for name, path in
                [("libstrake.so", library)] + [(os.path.basename(path), path) for path in paths]}


def _stripped(path, copy):
    """$STRIP is a command of the shell, as for make: with STRIP=: files stay as they are."""
    with open(copy, "wb") as file:
        file.write(_read(path))
    command = ["sh", "-c", os.environ.get("STRIP", "strip") + ' --strip-unneeded "$0"', copy]
    if subprocess.run(command).returncode != 0:
        raise SystemExit("cannot strip %s; `make deps` installs what a build needs" % path)
    return _read(copy)


def _info():
    """The files of strake-VERSION.dist-info but RECORD."""
    return {
        "METADATA": METADATA.format(version=_version()).encode() + _read(os.path.join(HERE, "README.md")),
        "WHEEL": WHEEL.format(tag=_tag()).encode(),
        "LICENSE": _read(os.path.join(TOP, "LICENSE")),
    }


def get_requires_for_build_wheel(config_settings=None):
    return []


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = "strake-%s.dist-info" % _version()
    os.makedirs(os.path.join(metadata_directory, folder), exist_ok=True)
    for name, data in _info().items():
        with open(os.path.join(metadata_directory, folder, name), "wb") as file:
            file.write(data)
    return folder


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    package = os.path.join(HERE, "strake")
    folder = "strake-%s.dist-info" % _version()
    name = "strake-%s-%s.whl" % (_version(), _tag())
    files = {"strake/" + file: _read(os.path.join(package, file))
             for file in sorted(os.listdir(package)) if file.endswith(".py")}
    files["strake/py.typed"] = b""  # PEP 561: the package has type hints
    binaries = {"strake/" + file: data for file, data in _binaries().items()}
    files.update(binaries)
    command = "strake-%s.data/scripts/strake" % _version()
    files[command] = SCRIPT.encode()
    files.update((folder + "/" + file, data) for file, data in _info().items())
    record = ""
    for file, data in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += "%s,sha256=%s,%d\n" % (file, digest, len(data))
    files[folder + "/RECORD"] = (record + folder + "/RECORD,,\n").encode()
    with zipfile.ZipFile(os.path.join(wheel_directory, name), "w", zipfile.ZIP_DEFLATED) as wheel:
        for file, data in files.items():
            entry = zipfile.ZipInfo(file)  # of 1980: the same files make the same wheel
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o755 if file in binaries or file == command else 0o644
            entry.external_attr = (stat.S_IFREG | mode) << 16  # of anything else pip takes no mode over
            wheel.writestr(entry, data)
    return name


if __name__ == "__main__":
    print(build_wheel(sys.argv[1]))
