// Every page in every language, theme and size: node looks.js. NAMES are the pages, each at
// ORIGIN/NAME/LANGUAGE.
import { run } from './visitor.js'

const { ORIGIN, NAMES } = process.env
const widths = [320, 768, 1280]

// Where axe looks: in each language at both themes. It takes far longer than everything else.
const audited = { en: ['320-light', '768-dark'], zh: ['1280-light', '320-dark'] }

await run(async function looks(visitor) {
  for (const lang of Object.keys(audited)) {
    const page = await visitor.arrive()
    for (const name of NAMES.split(' ')) {
      await page.goto(`${ORIGIN}/${name}/${lang}`)
      // What is folded is looked at, too.
      await page.evaluate(() => { for (const d of document.querySelectorAll('details')) d.open = true })
      for (const width of widths) {
        await page.setViewportSize({ width, height: 800 })
        for (const colorScheme of ['light', 'dark']) {
          await page.emulateMedia({ colorScheme })
          const look = `${width}-${colorScheme}`
          if (audited[lang].includes(look)) await visitor.inspect(page, `${name}-${lang}-${look}`)
          else await visitor.fit(page, `${name}-${lang}-${look}`)
        }
        // A long name stands beside its tile, not below it.
        const below = await page.evaluate(() => [...document.querySelectorAll('.items h3 .tile')].filter((tile) =>
          tile.parentElement.querySelector('bdi').getBoundingClientRect().left < tile.getBoundingClientRect().right).length)
        if (below > 0) visitor.fault(`${name}-${lang}-${width}: ${below} names are below their tiles`)
      }
    }
  }
}, { sizes: { desktop: { width: 1280, height: 800 } } })
