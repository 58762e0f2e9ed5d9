import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** A process that keeps to this machine, and says how each way of calling another one ends. */
const script = `
  import './src/app/local/playground-loopback.ts'
  import { request as http } from 'node:http'
  import { request as https } from 'node:https'
  import { connect } from 'node:net'
  const told = (name) => (error) => console.log(name, error.code ?? error.cause?.code)
  http('http://192.0.2.1/').on('error', told('http')).end()
  https('https://telemetry.invalid/').on('error', told('https')).end()
  connect(443, '192.0.2.1').on('error', told('socket'))
  fetch('https://telemetry.invalid/').catch(told('fetch'))
`

it('a chat window reaches no other machine, and is refused the ordinary way, over TLS too', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n').toSorted()).toEqual(
    ['fetch', 'http', 'https', 'socket'].map((way) => `${way} ECONNREFUSED`),
  )
})
