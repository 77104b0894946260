// openapi.js FILE: a description of an API must be valid for two linters. Warnings about what only the
// operator could say (a contact, a licence) are none of ours.
import { spawnSync } from 'node:child_process'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

const file = process.argv[2]
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'openapi-'))
const rules = path.join(dir, 'spectral.yaml')
fs.writeFileSync(rules, 'extends: ["spectral:oas"]\nrules: {info-contact: off}\n')
const config = path.join(dir, 'redocly.yaml')
fs.writeFileSync(config, 'extends: [recommended]\nrules: {info-license: off}\n')
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' }
const run = (name, ...args) => {
  const done = spawnSync(path.join('node_modules', '.bin', name), args, { env, encoding: 'utf8' })
  if (done.status !== 0) {
    console.error(done.stdout, done.stderr)
    process.exitCode = 1
  }
}
run('redocly', 'lint', '--config', config, '--max-problems', '100', file)
run('spectral', 'lint', '--ruleset', rules, '--fail-severity', 'warn', file)
fs.rmSync(dir, { recursive: true })
if (!process.exitCode) console.log('valid for redocly and spectral')
