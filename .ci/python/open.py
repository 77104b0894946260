"""The test plays the browser: see .ci/node/open.js."""
import sys


def open_address(address):
    """Gives the address that the browser comes back to."""
    print('open ' + address, flush=True)
    return sys.stdin.readline().strip()
