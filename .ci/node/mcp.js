// The TypeScript SDK of MCP, of two releases, and mcp-remote, as clients of an MCP server behind a guard.
// The server is the SDK's own and knows nothing of OAuth; it tells who the guard says is calling.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import http from 'node:http'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { open } from './open.js'

const { API, SERVER_PORT, CALLBACK_PORT, INITIAL_TOKEN, CONFIG } = process.env

const sessions = new Map()
http.createServer(async (request, answer) => {
  let transport = sessions.get(request.headers['mcp-session-id'])
  if (!transport) {
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => sessions.set(id, transport) })
    const server = new McpServer({ name: 'server', version: '1' })
    server.registerTool('whoami', {}, ({ requestInfo }) => ({ content: [{ type: 'text', text: `subject ${requestInfo.headers['x-auth-subject']}` }] }))
    await server.connect(transport)
  }
  await transport.handleRequest(request, answer)
}).listen(Number(SERVER_PORT), '127.0.0.1')

const redirectUrl = `http://localhost:${CALLBACK_PORT}/oauth/callback`

// use signs in with one release of the SDK and calls the tool, then once more with a token that is not
// accepted any more. known is the client, if it does not register itself.
async function use(sdk, { known, scope } = {}) {
  const { Client } = await import(`${sdk}/client/index.js`)
  const { StreamableHTTPClientTransport } = await import(`${sdk}/client/streamableHttp.js`)
  let [client, tokens, verifier, address, asked] = [known, undefined, '', undefined, []]
  const authProvider = {
    redirectUrl,
    clientMetadata: { client_name: 'Stock', redirect_uris: [redirectUrl], grant_types: ['authorization_code', 'refresh_token'], token_endpoint_auth_method: 'none', scope },
    clientInformation: () => client, saveClientInformation: (made) => { client = made },
    tokens: () => tokens, saveTokens: (made) => { tokens = made },
    codeVerifier: () => verifier, saveCodeVerifier: (made) => { verifier = made },
    redirectToAuthorization: (to) => { address = to },
  }
  const connection = () => new StreamableHTTPClientTransport(new URL(`${API}/mcp`), {
    authProvider,
    fetch(to, init = {}) {
      asked.push(String(to))
      const headers = new Headers(init.headers)
      if (String(to).endsWith('/register')) headers.set('authorization', `Bearer ${INITIAL_TOKEN}`)
      return fetch(to, { ...init, headers })
    },
  })
  const me = new Client({ name: 'client', version: '1' })
  const first = connection()
  await assert.rejects(me.connect(first), { name: 'Error', message: 'Unauthorized' })
  assert.equal(address.searchParams.get('scope'), 'tools')
  assert.equal(address.searchParams.get('state'), null)
  assert.equal(asked.filter((to) => to.endsWith('/register')).length, known ? 0 : 1)
  const back = await open(address)
  await first.finishAuth(back.searchParams.get('code'))
  await me.connect(connection())
  const whoami = async () => (await me.callTool({ name: 'whoami', arguments: {} })).content[0].text
  assert.equal(await whoami(), 'subject u-1')
  tokens = { ...tokens, access_token: `x${tokens.access_token}` }
  assert.equal(await whoami(), 'subject u-1') // after a refresh
  await me.close()
  return address.searchParams.get('resource')
}

// 1.29 sends the address of the resource as URL.href spells it, with a slash; releases from 1.30 as the metadata does.
assert.equal(await use('mcp-sdk-1.29'), `${API}/`)
assert.equal(await use('mcp-sdk-1.29', { known: { client_id: 'mcp' } }), `${API}/`)
assert.equal(await use('@modelcontextprotocol/sdk'), API)
assert.equal(await use('@modelcontextprotocol/sdk', { known: { client_id: 'mcp' } }), API)
console.log('done SDK')

// mcp-remote listens on a port of its own and writes the address that the browser has to open.
const remote = spawn(process.execPath, [fileURLToPath(import.meta.resolve('mcp-remote/dist/client.js')), `${API}/mcp`, '--allow-http', '--static-oauth-client-info', '{"client_id":"mcp"}'],
  { env: { ...process.env, MCP_REMOTE_CONFIG_DIR: CONFIG, BROWSER: 'true' }, stdio: ['pipe', 'pipe', 'pipe'] })
let [output, opened] = ['', false]
const listed = new Promise((resolve, reject) => {
  const read = async (line) => {
    output += `${line}\n`
    const address = /^http\S+\/authorize\?\S+$/.exec(line)
    if (address && !opened) {
      opened = true
      const back = await open(new URL(address[0]))
      assert.equal(back.pathname, '/oauth/callback')
      await fetch(back)
    }
    if (line.includes('"name": "whoami"')) resolve()
  }
  for (const input of [remote.stdout, remote.stderr]) {
    createInterface({ input }).on('line', (line) => read(line).catch(reject)) // a chunk may end in the middle of an address
  }
  remote.on('close', (code) => reject(new Error(`mcp-remote ended with ${code}:\n${output}`)))
})
await listed
remote.kill()
console.log('done mcp-remote')
process.exit(0) // standard input is still open
