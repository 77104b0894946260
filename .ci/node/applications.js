// Chromium in front of the examples that are applications: node applications.js SCENARIO.
import assert from 'node:assert/strict'
import { run } from './visitor.js'

const { APP, ISSUER, USERNAME, PASSWORD } = process.env

const button = (page, name) => page.getByRole('button', { name, exact: true })

async function signIn(page) {
  await button(page, 'Sign in').click()
  await page.getByLabel('Username', { exact: true }).fill(USERNAME)
  await page.getByLabel('Password', { exact: true }).fill(PASSWORD)
  await button(page, 'Sign in').click()
  await button(page, 'Allow').click()
}

async function signedIn(page) {
  await page.waitForURL(`${APP}/`)
  await page.getByText('You are signed in as Alice Example.').waitFor()
  assert.deepEqual(await page.getByRole('listitem').allInnerTexts(), ['A lamp', 'Two chairs'])
}

// askedAgain checks that the issuer has forgotten the browser.
async function askedAgain(page) {
  await button(page, 'Sign in').click()
  await page.getByLabel('Password', { exact: true }).waitFor()
  await page.goto(APP)
}

const scenarios = {
  async webApp(visitor) {
    const page = await visitor.arrive()
    await page.goto(APP)
    await visitor.inspect(page, 'web-app')
    await signIn(page)
    await signedIn(page)
    await page.reload()
    await signedIn(page)
    await visitor.inspect(page, 'web-app-signed-in')
    const { cookies, origins } = await page.context().storageState()
    assert.deepEqual(origins, [], 'the browser stores nothing')
    const [session] = cookies.filter((c) => c.name === 'session')
    assert.ok(session.httpOnly && session.sameSite === 'Lax')
    await button(page, 'Sign out').click()
    await page.waitForURL(`${APP}/`)
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()
    await askedAgain(page)
    // The cookie of before the sign-out is worth nothing.
    await page.context().addCookies([session])
    assert.equal((await page.goto(APP)).status(), 200)
    await page.getByRole('heading', { level: 1, name: 'Welcome' }).waitFor()

    // An answer that this browser has not asked for signs nobody in.
    const stranger = await visitor.arrive()
    const answer = await stranger.goto(`${APP}/callback?code=x&state=y`)
    assert.equal(answer.status(), 400)
    await visitor.inspect(stranger, 'web-app-refused')
  },

  async spa(visitor) {
    const page = await visitor.arrive()
    await page.goto(APP)
    await button(page, 'Sign in').waitFor()
    await visitor.inspect(page, 'spa')
    await signIn(page)
    await signedIn(page)
    await visitor.inspect(page, 'spa-signed-in')
    const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]))
    assert.equal(stored, '[{},{}]', 'tokens are only in memory')
    // A new page has no tokens; the issuer still knows the browser, so nobody types a password.
    await page.reload()
    await button(page, 'Sign in').click()
    await button(page, 'Allow').click()
    await signedIn(page)
    await button(page, 'Sign out').click()
    await page.waitForURL(`${APP}/`)
    await askedAgain(page)

    // Libraries such as Swagger UI sign in in a popup, whose last page talks to the window that opened it.
    const [popup] = await Promise.all([page.waitForEvent('popup'), page.evaluate(() => { open(location.href) })])
    await signIn(popup)
    await signedIn(popup)
    await popup.evaluate(() => { opener.told = true })
    assert.equal(await page.evaluate(() => told), true)
    await popup.close()

    // An answer that this browser has not asked for signs nobody in.
    await page.goto(`${APP}/?code=x&state=y`)
    await page.getByText('No matching state found in storage').waitFor()
    await visitor.inspect(page, 'spa-refused')
  },
}

await run(scenarios[process.argv[2]], { sizes: { desktop: { width: 1280, height: 800 } } })
