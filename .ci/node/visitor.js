// People with a browser: run(scenario, options) gives the scenario a Visitor and fails
// when a page had a fault.
import fs from 'node:fs'
import { chromium } from 'playwright-core'
import AxeBuilder from '@axe-core/playwright'

// The headless shell has no windows of its own and takes half the CPU time.
const program = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium', '/usr/bin/chromium-browser'].find((p) => fs.existsSync(p))
if (!program) throw new Error('Chromium is not installed: run ./xcaddy.sh test')

// Accessibility: WCAG 2.2 A and AA, and what axe calls good practice.
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

class Visitor {
  constructor(browser, sizes, always) {
    this.browser = browser
    this.sizes = sizes
    this.always = always
    this.faults = []
    this.expected = [] // patterns of what is no fault in this scenario
  }

  fault(text) {
    if (!this.expected.some((e) => e.test(text))) this.faults.push(text)
  }

  // arrive opens a window without cookies. Whatever the pages write to the console as an
  // error, violations of their policy first of all, is a fault.
  async arrive({ size = 'desktop', ...options } = {}) {
    const context = await this.browser.newContext({ viewport: this.sizes[size], isMobile: size === 'phone', hasTouch: size === 'phone', locale: 'en-US', ...this.always, ...options })
    context.setDefaultTimeout(60_000)
    // Every page, those that a link opens too.
    context.on('page', (page) => this.watch(page))
    return context.newPage()
  }

  watch(page) {
    page.on('pageerror', (e) => this.fault(`${page.url()}: ${e}`))
    page.on('console', (m) => {
      // The status of an error page is meant to be what it is.
      const status = m.text().startsWith('Failed to load resource: the server responded with a status of') && m.location().url === page.url()
      if (['error', 'warning'].includes(m.type()) && !status) this.fault(`${page.url()}: console: ${m.text()}`)
    })
    page.on('requestfailed', (r) => this.fault(`${r.url()}: ${r.failure()?.errorText}`))
  }

  // fit sees that nothing of a page is beyond the edge of the screen, and keeps a picture.
  async fit(page, name) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    if (wide > 0) this.fault(`${name}: ${wide} pixels too wide`)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true })
  }

  // inspect looks at a page as a person with a small screen and as one with a screen reader does.
  async inspect(page, name) {
    await this.fit(page, name)
    // Legacy mode does without a second window, which is for frames of other sites.
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(rules).analyze()
    for (const v of violations) {
      this.fault(`${name}: axe ${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join('; ')}`)
    }
  }
}

// run has sizes, the windows by name; args, for Chromium; always, for each context.
export async function run(scenario, { sizes, args = [], always = {} }) {
  const browser = await chromium.launch({
    executablePath: program,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync', ...args],
  })
  const visitor = new Visitor(browser, sizes, always)
  try {
    await scenario(visitor)
  } finally {
    await browser.close()
  }
  if (visitor.faults.length) {
    console.error(visitor.faults.join('\n'))
    process.exit(1)
  }
  console.log(`done ${scenario.name}`)
}

// tabTo goes on with Tab until the wanted element has the focus, and sees that it shows.
export async function tabTo(page, selector) {
  for (let i = 0; i < 30; i++) {
    if (await page.locator(`${selector}:focus`).count()) {
      const outline = await page.locator(selector).evaluate((e) => getComputedStyle(e).outlineStyle)
      if (outline === 'none') throw new Error(`the focus on ${selector} does not show`)
      return
    }
    await page.keyboard.press('Tab')
  }
  throw new Error(`Tab does not reach ${selector}`)
}
