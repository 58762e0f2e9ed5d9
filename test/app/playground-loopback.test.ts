import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

/** A process that may call only this machine, and prints the result of each way to call another machine. */
const script = `
  import './src/app/local/playground-loopback.ts'
  import { request as http } from 'node:http'
  import { request as https } from 'node:https'
  import { connect } from 'node:net'
  const report = (name) => (error) => console.log(name, error.code ?? error.cause?.code)
  http('http://192.0.2.1/').on('error', report('http')).end()
  https('https://telemetry.invalid/').on('error', report('https')).end()
  connect(443, '192.0.2.1').on('error', report('socket'))
  fetch('https://telemetry.invalid/').catch(report('fetch'))
`

it('a chat window cannot reach another machine: connections are refused, also with TLS', async () => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script])
  expect(stderr).toBe('')
  expect(stdout.trim().split('\n').toSorted()).toEqual(
    ['fetch', 'http', 'https', 'socket'].map((way) => `${way} ECONNREFUSED`),
  )
})
