"""`python -m clew` is the `clew` command."""

import sys

from clew.cli import main

sys.exit(main())
