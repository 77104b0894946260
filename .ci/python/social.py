"""python-social-auth with the class that the page about Variant B gives, python-requests as a customer's
own program uses it, and requests-oauthlib."""
import os
from urllib.parse import parse_qsl, urlsplit

import requests
from oauthlib.oauth2 import BackendApplicationClient, OAuth2Error
from requests_oauthlib import OAuth2Session
from social_core.exceptions import AuthCanceled
from social_core.strategy import BaseStrategy

from open import open_address

ISSUER, SITE, SECRET = (os.environ[name] for name in ('ISSUER', 'SITE', 'SECRET'))
NICKNAME = '张三 é'

page = {}
exec(os.environ['PAGE'], page)
GatehouseOAuth2 = page['GatehouseOAuth2']


class Site(BaseStrategy):
    """What a web framework does for the library."""

    def __init__(self, key):
        super().__init__()
        self.session, self.settings = {}, {'SOCIAL_AUTH_WEIXIN_KEY': key, 'SOCIAL_AUTH_WEIXIN_SECRET': SECRET}

    def get_setting(self, name):
        return self.settings[name]

    def session_get(self, name, default=None):
        return self.session.get(name, default)

    def session_set(self, name, value):
        self.session[name] = value

    def build_absolute_uri(self, path=None):
        return SITE + (path or '')

    def request_data(self, merge=True):
        return {}

    def redirect(self, url):
        return url

    def authenticate(self, backend, **kwargs):
        return kwargs['response']


class Unnamed(GatehouseOAuth2):
    """Says only that it is python-requests, as the library does by default."""
    SEND_USER_AGENT = False


for key, backend in (('portal', GatehouseOAuth2), ('unnamed', Unnamed)):
    here = backend(Site(key), redirect_uri='/complete/weixin/')
    back = open_address(here.start())
    here.data = dict(parse_qsl(urlsplit(back).query))
    user = here.complete()
    assert here.get_user_details(user) == {'username': NICKNAME, 'profile_image_url': 'https://pictures.example/alice.png'}, user
    assert len(here.get_user_id({}, user)) == 28, user
    again = here.refresh_token(user['refresh_token'])
    assert again['openid'] == user['openid'] and again['access_token'] != user['access_token'], again
    # S01: a program that is no library for sign-in reads the same profile as JSON.
    if key == 'portal':
        answer = requests.get(ISSUER + '/sns/userinfo', params={'access_token': again['access_token'], 'openid': user['openid']})
        assert answer.headers['Content-Type'].startswith('application/json'), answer.headers
        assert answer.json()['nickname'] == NICKNAME and NICKNAME in answer.text, answer.text
    try:
        here.complete()
        raise SystemExit('the code was taken twice')
    except AuthCanceled:
        pass
print('done python-social-auth', flush=True)

os.environ['OAUTHLIB_INSECURE_TRANSPORT'] = '1'  # the issuer of the test is http on loopback
updated = []
web = OAuth2Session('web', redirect_uri=SITE + '/callback', scope=['openid', 'profile', 'read'], auto_refresh_url=ISSUER + '/token',
                    auto_refresh_kwargs={'client_id': 'web', 'client_secret': SECRET}, token_updater=updated.append)
address, state = web.authorization_url(ISSUER + '/authorize')
token = web.fetch_token(ISSUER + '/token', authorization_response=open_address(address), client_secret=SECRET)
assert token['scope'] == ['openid', 'profile', 'read'], token
assert web.get(ISSUER + '/userinfo').json()['name'] == 'Alice Liddell'
expired = dict(token, expires_at=1)
web.token = expired
assert web.get(ISSUER + '/userinfo').json()['sub'] == 'u-1'
assert len(updated) == 1 and updated[0]['access_token'] != expired['access_token'], updated
machine = OAuth2Session(client=BackendApplicationClient(client_id='web'))
assert machine.fetch_token(ISSUER + '/token', client_id='web', client_secret=SECRET, scope=['read'])['token_type'] == 'Bearer'
try:
    machine.fetch_token(ISSUER + '/token', client_id='web', client_secret='wrong', scope=['read'])
    raise SystemExit('a wrong secret was accepted')
except OAuth2Error as refused:
    assert refused.error == 'invalid_client', refused
print('done requests-oauthlib', flush=True)
