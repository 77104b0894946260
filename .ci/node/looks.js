// Every page in every language, theme and size: node looks.js. NAMES are the pages, each at
// ORIGIN/NAME/LANGUAGE.
import { run } from './visitor.js'

const { ORIGIN, NAMES } = process.env
const widths = [320, 768, 1280]

await run(async function looks(visitor) {
  for (const lang of ['en', 'zh']) {
    const page = await visitor.arrive()
    for (const name of NAMES.split(' ')) {
      await page.goto(`${ORIGIN}/${name}/${lang}`)
      // What is folded is looked at, too.
      await page.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true })
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 })
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme })
          await visitor.inspect(page, `${name}-${lang}-${colorScheme}-${width}`)
        }
        // A long name stands beside its tile, not below it.
        for (const item of await page.locator('.items h3:has(.tile)').all()) {
          const [tile, text] = [await item.locator('.tile').boundingBox(), await item.locator('bdi').boundingBox()]
          if (text.x < tile.x + tile.width) visitor.fault(`${name}-${lang}-${width}: a name is below its tile`)
        }
      }
    }
  }
}, { sizes: { desktop: { width: 1280, height: 800 } } })
