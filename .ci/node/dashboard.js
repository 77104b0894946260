// Checks a Grafana dashboard against Grafana's own types: those of the whole, of each panel's
// options and of a time series' fields. A property that Grafana does not know is an error.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

const dashboard = JSON.parse(readFileSync(process.argv[2], 'utf8'))
const types = { timeseries: 'TimeSeries', stat: 'Stat' }
const text = [
  'import type { Dashboard } from "@grafana/schema"',
  ...Object.entries(types).map(([panel, name]) =>
    `import type * as ${panel} from "@grafana/schema/dist/esm/raw/composable/${panel}/panelcfg/x/${name}PanelCfg_types.gen"`),
  // In JSON an enumeration is one of its values.
  'type Json<T> = T extends string ? `${T}` : T extends (infer U)[] ? Json<U>[] : T extends object ? { [K in keyof T]: Json<T[K]> } : T',
  `export const dashboard: Json<Dashboard> = ${JSON.stringify(dashboard, null, 1)}`,
]
for (const panel of dashboard.panels) {
  if (panel.type === 'row') continue
  if (!types[panel.type]) throw new Error(`${panel.title}: no types for panels of the kind ${panel.type}`)
  text.push(`export const options${panel.id}: Partial<Json<${panel.type}.Options>> = ${JSON.stringify(panel.options)}`)
  const field = panel.fieldConfig.defaults.custom
  if (field) text.push(`export const field${panel.id}: Json<${panel.type}.FieldConfig> = ${JSON.stringify(field)}`)
}
// Below node_modules, where the types are found and git does not look.
const modules = path.resolve('node_modules')
mkdirSync(path.join(modules, '.cache'), { recursive: true })
const dir = mkdtempSync(path.join(modules, '.cache', 'dashboard-'))
try {
  const file = path.join(dir, 'dashboard.ts')
  writeFileSync(file, text.join('\n'))
  execFileSync(path.join(modules, '.bin', 'tsc'),
    ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'esnext', '--moduleResolution', 'bundler', file], { stdio: 'inherit' })
  console.log(`${dashboard.panels.length} panels are what Grafana expects`)
} finally {
  rmSync(dir, { recursive: true })
}
