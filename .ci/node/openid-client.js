// A stock client against the quick start: openid-client, from discovery to refresh.
import assert from 'node:assert/strict'
import * as client from 'openid-client'
import { open } from './open.js'

const { ISSUER, API, READER, READER_SECRET, NIGHTLY_SECRET } = process.env

// Plain http is for this machine only, so stock clients want to be told.
const discover = (id, metadata, authentication) =>
  client.discovery(new URL(ISSUER), id, metadata, authentication, { algorithm: 'oauth2', execute: [client.allowInsecureRequests] })

async function reads(config, token) {
  const answer = await client.fetchProtectedResource(config, token, new URL(`${API}/articles?limit=2`), 'GET')
  assert.equal(answer.status, 200)
  const { data } = await answer.json()
  assert.equal(data.length, 2)
}

async function signsIn(name, id, metadata, authentication, redirect_uri) {
  const config = await discover(id, metadata, authentication)
  const server = config.serverMetadata()
  assert.equal(server.issuer, ISSUER)
  assert.ok(server.supportsPKCE(), 'the metadata offers S256')
  const pkceCodeVerifier = client.randomPKCECodeVerifier()
  const expectedState = client.randomState()
  const address = client.buildAuthorizationUrl(config, {
    redirect_uri,
    scope: 'articles:read',
    state: expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: 'S256',
  })
  const back = await open(address)

  // What came back is held against what was sent, and then against another state.
  await assert.rejects(client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState: client.randomState() }), { code: 'OAUTH_INVALID_RESPONSE' })
  const tokens = await client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState })
  assert.equal(tokens.token_type, 'bearer')
  assert.equal(tokens.scope, 'articles:read')
  assert.equal(tokens.expires_in, 3600) // what was sent: expiresIn() counts down
  await reads(config, tokens.access_token)

  const fresh = await client.refreshTokenGrant(config, tokens.refresh_token)
  assert.notEqual(fresh.access_token, tokens.access_token)
  assert.notEqual(fresh.refresh_token, tokens.refresh_token)
  await reads(config, fresh.access_token)

  await assert.rejects(client.authorizationCodeGrant(config, back, { pkceCodeVerifier, expectedState }), { error: 'invalid_grant', status: 400 })
  console.log(`done ${name}`)
}

await signsIn('secret in the header', 'reader-web', undefined, client.ClientSecretBasic(READER_SECRET), `${READER}/callback`)
await signsIn('secret in the body', 'reader-web', undefined, client.ClientSecretPost(READER_SECRET), `${READER}/callback`)
await signsIn('public client', 'reader-spa', { token_endpoint_auth_method: 'none' }, client.None(), `${READER}/spa`)

const nightly = await discover('nightly', NIGHTLY_SECRET)
const tokens = await client.clientCredentialsGrant(nightly, { scope: 'articles:read' })
assert.equal(tokens.refresh_token, undefined)
await reads(nightly, tokens.access_token)
await assert.rejects(client.clientCredentialsGrant(nightly, { scope: 'articles:write' }), { error: 'invalid_scope', status: 400 })
const stranger = await discover('nightly', undefined, client.ClientSecretBasic('x'.repeat(43)))
await assert.rejects(client.clientCredentialsGrant(stranger, { scope: 'articles:read' }), (e) => e.status === 401)
console.log('done client credentials')
process.exit(0) // standard input is still open
