// Chromium in front of the quick start: node browser.js SCENARIO. Each scenario is a
// person; scenarios.js has them.
import fs from 'node:fs'
import { chromium } from 'playwright-core'
import AxeBuilder from '@axe-core/playwright'
import { scenarios } from './scenarios.js'

const program = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find((p) => fs.existsSync(p))
if (!program) throw new Error('Chromium is not installed: run ./xcaddy.sh test')

const sizes = { desktop: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } }

// Accessibility: WCAG 2.2 A and AA, and what axe calls good practice.
const rules = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']

class Visitor {
  constructor(browser, faults) {
    this.browser = browser
    this.faults = faults
  }

  // arrive opens a window without cookies. Whatever the pages write to the console as an
  // error, violations of their policy first of all, is a fault.
  async arrive({ size = 'desktop', ...options } = {}) {
    const context = await this.browser.newContext({ viewport: sizes[size], isMobile: size === 'phone', hasTouch: size === 'phone', locale: 'en-US', ...options })
    context.setDefaultTimeout(20_000)
    const page = await context.newPage()
    page.on('pageerror', (e) => this.faults.push(`${page.url()}: ${e}`))
    page.on('console', (m) => {
      // The status of an error page is meant to be what it is.
      const status = m.text().startsWith('Failed to load resource: the server responded with a status of') && m.location().url === page.url()
      if (['error', 'warning'].includes(m.type()) && !status) this.faults.push(`${page.url()}: console: ${m.text()}`)
    })
    page.on('requestfailed', (r) => this.faults.push(`${r.url()}: ${r.failure()?.errorText}`))
    return page
  }

  // inspect looks at a page as a person with a small screen and as one with a screen
  // reader does, and keeps a picture.
  async inspect(page, name) {
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
    if (wide > 0) this.faults.push(`${name}: ${wide} pixels too wide`)
    if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/${name}.png`, fullPage: true })
    // Legacy mode does without a second window, which is for frames of other sites.
    const { violations } = await new AxeBuilder({ page }).setLegacyMode().withTags(rules).analyze()
    for (const v of violations) {
      this.faults.push(`${name}: axe ${v.id}: ${v.help}: ${v.nodes.map((n) => `${n.html} ${n.failureSummary}`).join('; ')}`)
    }
  }
}

const name = process.argv[2]
const faults = []
const browser = await chromium.launch({
  executablePath: program,
  args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
})
try {
  await scenarios[name](new Visitor(browser, faults))
} finally {
  await browser.close()
}
if (faults.length) {
  console.error(faults.join('\n'))
  process.exit(1)
}
console.log(`done ${name}`)
