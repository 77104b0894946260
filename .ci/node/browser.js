// Chromium in front of the quick start: node browser.js SCENARIO. Each scenario is a
// person; scenarios.js has them.
import { run } from './visitor.js'
import { scenarios } from './scenarios.js'

await run(scenarios[process.argv[2]], { sizes: { desktop: { width: 1280, height: 800 }, phone: { width: 320, height: 640 } } })
