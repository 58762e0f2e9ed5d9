import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { bareEnvironment } from '../support/bare-environment.ts'
import { type ProductProcess, startProduct } from '../support/process.ts'

const up = /^Quartermaster answers at (\S+)/
const anyPorts = { PORT: '0', SIMULATOR_PORT: '0', PLAYGROUND: 'off', LOG_LEVEL: 'silent' }

describe('npm run token, next to two services on their own ports', () => {
  const cwd = mkdtempSync(join(inject('runFolder'), 'token-'))
  const services: ProductProcess[] = []
  const [usual, other] = [{}, { DATA_DIR: 'other' }]
  const urlOf = (service: ProductProcess | undefined) =>
    service?.printed.flatMap((line) => up.exec(line)?.[1] ?? [])[0] ?? ''

  beforeAll(async () => {
    for (const variables of [usual, other])
      services.push(await startProduct('main.ts', { cwd, up, variables: { ...anyPorts, ...variables } }))
  })
  afterAll(() => Promise.all(services.map((service) => service.stop())))

  async function token(variables: Record<string, string>): Promise<string> {
    const command = [resolve('src/simulator/token.ts'), 'kim@contoso.example']
    const { stdout } = await promisify(execFile)(process.execPath, command, {
      cwd,
      env: { ...bareEnvironment, ...variables },
    })
    return stdout.trim()
  }
  const complaint = (variables: Record<string, string>): Promise<unknown> =>
    token(variables).then(
      () => 'a token',
      (error) => error.stderr,
    )

  it('uses the service of its DATA_DIR', async () => {
    for (const [place, variables] of [usual, other].entries()) {
      const headers = { authorization: `Bearer ${await token(variables)}` }
      const statuses = await Promise.all(
        services.map(async (service) => (await fetch(`${urlOf(service)}/requests/v1`, { headers })).status),
      )
      expect(statuses).toEqual(place === 0 ? [200, 401] : [401, 200])
    }
  })

  it('shows the next action when that service has stopped or was killed', async () => {
    const [first, second] = services
    await second?.stop()
    expect(existsSync(join(cwd, 'other/running.json'))).toBe(false)
    expect(await complaint(other)).toBe(
      'No Quartermaster runs with DATA_DIR=other. Start it with npm start. If it runs with another DATA_DIR or SIMULATOR_PORT, set the same for this command: DATA_DIR=<folder> npm run --silent token -- <upn>\n',
    )
    await first?.kill()
    expect(await complaint(usual)).toMatch(
      /^No simulated Microsoft 365 answers at http:\/\/127\.0\.0\.1:\d+\. Start it with npm start\./,
    )
  })
})
