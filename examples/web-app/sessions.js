// Sessions in memory, by the id in a cookie.
import { randomBytes } from 'node:crypto'

// Anybody can begin to sign in. That must not push out who is signed in, so there are two maps.
export const signIns = new Map(), sessions = new Map()
const most = 1000

// keep stores a value and gives the browser a new id for it, which nobody else can know.
export function keep(map, value, response) {
  if (map.size >= most) map.delete(map.keys().next().value) // the oldest
  const id = randomBytes(32).toString('base64url')
  map.set(id, value)
  response.setHeader('Set-Cookie', `session=${id}; HttpOnly; SameSite=Lax; Path=/`)
}

export const sessionOf = (request) => /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie)?.[1]

export const forget = (id) => signIns.delete(id) || sessions.delete(id)
