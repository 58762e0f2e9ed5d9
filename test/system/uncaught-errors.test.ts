import { spawn } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, inject, it } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'

/**
 * Rejects a promise without a handler, with data that libraries attach to their errors, once the process can report it.
 */
const trouble = `
const error = Object.assign(new Error('the line broke'), { config: { headers: { authorization: ['can', 'ary'].join('') } } })
const look = setInterval(() => {
  if (process.listenerCount('uncaughtException') === 0) return
  clearInterval(look)
  Promise.reject(error)
}, 5)`

it('an uncaught error ends the process with one line, without the data attached to the error', async () => {
  const dataDir = mkdtempSync(join(inject('runFolder'), 'last-words-'))
  const words = ['--import', `data:text/javascript,${encodeURIComponent(trouble)}`, 'src/main.ts']
  const env = { ...bareEnvironment, DATA_DIR: dataDir, PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off' }
  const child = spawn(process.execPath, words, { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = new Promise((resolve) => child.on('exit', resolve))
  const output = await text(child.stderr)
  expect(await ended).toBe(1)
  expect(output).not.toContain('canary')
  const last = JSON.parse(output.trim().split('\n').at(-1) ?? '')
  expect(last).toMatchObject({ level: 60, err: { message: 'the line broke' } })
})
