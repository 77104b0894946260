// The pages: plain HTML, which works without scripts.
export const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
export const signIn = '<form action="/login"><button>Sign in</button></form>'
export const redirect = (response, url) => response.writeHead(303, { Location: url.toString() }).end()

export function page(response, status, title, body) {
  response.writeHead(status, {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': "default-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self' http://localhost:8080",
  })
  response.end(`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title} - Shop</title><meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width, initial-scale=1"></head><body><main><h1>${title}</h1>${body}</main></body></html>`)
}
