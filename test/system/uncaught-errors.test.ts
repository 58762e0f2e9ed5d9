import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, it } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'

/** Rejects what nobody catches, with what libraries hang on their errors, once the process can tell of it. */
const trouble = `
const error = Object.assign(new Error('the line broke'), { config: { headers: { authorization: ['can', 'ary'].join('') } } })
const look = setInterval(() => {
  if (process.listenerCount('uncaughtException') === 0) return
  clearInterval(look)
  Promise.reject(error)
}, 5)`

it('an error that nobody has caught ends the process with one line, and with nothing that hangs on it', async () => {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'last-words-'))
  const words = ['--import', `data:text/javascript,${encodeURIComponent(trouble)}`, 'src/main.ts']
  const env = { ...bareEnvironment, DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off' }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const said = await text(child.stderr)
  expect(await ended).toBe(1)
  expect(said).not.toContain('canary')
  const last = JSON.parse(said.trim().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ level: 60, err: { message: 'the line broke' } })
})
