"""Reads the orders: orders.py CLIENT. The client has a secret in CLIENT_SECRET, or a key in state/CLIENT.pem."""
import base64
import json
import os
import subprocess
import sys
import time
import uuid
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import Request, urlopen

ISSUER, API = "http://localhost:8080", "http://localhost:8081"
CLIENT = sys.argv[1]
STATE = os.environ.get("GATEHOUSE_STATE", "state")
CACHE, KEY = f"{STATE}/{CLIENT}.token", f"{STATE}/{CLIENT}.pem"


def assertion():
    """A JWT that proves possession of the key (RFC 7523), for one request."""
    now = int(time.time())
    claims = {"iss": CLIENT, "sub": CLIENT, "aud": ISSUER, "jti": str(uuid.uuid4()), "iat": now, "exp": now + 60}
    b64url = lambda data: base64.urlsafe_b64encode(data).rstrip(b"=").decode()
    signed = ".".join(b64url(json.dumps(part).encode()) for part in ({"alg": "RS256"}, claims))
    sign = subprocess.run(["openssl", "dgst", "-sha256", "-sign", KEY], input=signed.encode(), capture_output=True, check=True)
    return signed + "." + b64url(sign.stdout)


def token():
    """The cached token, or a new one if it expires within half a minute."""
    if os.path.exists(CACHE):
        with open(CACHE) as file:
            cached = json.load(file)
        if cached["expires_at"] > time.time() + 30:
            return cached["access_token"]
    form, headers = {"grant_type": "client_credentials", "scope": "orders:read"}, {}
    if os.path.exists(KEY):
        form |= {"client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer", "client_assertion": assertion()}
    else:
        secret = os.environ[CLIENT.upper() + "_SECRET"]
        headers["Authorization"] = "Basic " + base64.b64encode(f"{CLIENT}:{secret}".encode()).decode()
    answer = json.load(urlopen(Request(f"{ISSUER}/token", urlencode(form).encode(), headers), timeout=10))
    print(f"a new token, for {answer['expires_in']} s")
    with open(os.open(CACHE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        json.dump({"access_token": answer["access_token"], "expires_at": time.time() + answer["expires_in"]}, file)
    return answer["access_token"]


def orders():
    return urlopen(Request(f"{API}/orders", headers={"Authorization": f"Bearer {token()}"}), timeout=10).read().decode()


try:
    print(orders())
except HTTPError as refused:
    if refused.code != 401 or not os.path.exists(CACHE):
        sys.exit(refused.read().decode())
    print("the token was refused")  # it was revoked, or the cache is damaged
    os.remove(CACHE)
    print(orders())
