import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { checkingIdentity, from, within } from '../../src/core/index.ts'
import { sendJson, startServer } from '../support/http-server.ts'
import { answersSignIn, connectTo } from '../support/microsoft365.ts'
import { until } from '../support/until.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** Creates a directory that knows everybody whose id begins with a digit below 8. It can hold its answers back. */
async function directory() {
  const received: string[] = []
  const held: (() => void)[] = []
  const state = { isHolding: false, isBroken: false }
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    const url = decodeURIComponent(request.url ?? '')
    received.push(url)
    const answer = () => answerOf(url, response, state.isBroken)
    if (state.isHolding) held.push(answer)
    else answer()
  })
  open.push(server)
  const release = () => {
    state.isHolding = false
    for (const answer of held.splice(0)) answer()
  }
  return { ...connectTo(server.url), received, held, state, release }
}

function answerOf(url: string, response: ServerResponse, isBroken: boolean): void {
  const ids = url.match(/[0-9a-f]{8}-[0-9a-f-]{27}/g) ?? []
  const known = ids
    .filter((id) => id < '8')
    .map((id) => ({
      ...{ id, displayName: id, userPrincipalName: `${id}@contoso.example`, accountEnabled: true, userType: 'Member' },
    }))
  if (isBroken) sendJson(response, 400, { error: { code: 'BadRequest', message: 'x' } })
  else if (url.includes('$filter')) sendJson(response, 200, { value: known })
  else if (known[0]) sendJson(response, 200, known[0])
  else sendJson(response, 404, { error: { code: 'Request_ResourceNotFound', message: 'x' } })
}

const known = () => `1${randomUUID().slice(1)}`
const unknown = () => `f${randomUUID().slice(1)}`
const as = <T>(caller: string, work: () => T): T => from({ from: 'rest', caller }, work)

describe('look-ups of people', () => {
  it('at the same time are combined, fifteen to a call, each person once', async () => {
    const { directory: people, received } = await directory()
    const ids = [...Array.from({ length: 20 }, known), ...Array.from({ length: 20 }, unknown)]
    const found = await as('kim', () => Promise.all([...ids, ...ids].map((id) => people.person(id))))
    expect(found.map((one) => one?.id)).toEqual([...ids, ...ids].map((id) => (id < '8' ? id : undefined)))
    expect(received.map((url) => url.match(/[0-9a-f]{8}-/g)?.length)).toEqual([15, 15, 10])
  })

  it("of one person use that person's own address", async () => {
    const { directory: people, received } = await directory()
    const id = known()
    expect(await people.person(id.toUpperCase())).toMatchObject({ id })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatch(new RegExp(`^/v1\\.0/users/${id}\\?`))
  })

  it('share a pending answer, and are repeated after an error', async () => {
    const { directory: people, received, state } = await directory()
    const id = known()
    state.isBroken = true
    const failing = as('kim', () => [people.person(id), people.person(id)])
    for (const one of failing) await expect(one).rejects.toMatchObject({ status: 400 })
    expect(received).toHaveLength(1)
    state.isBroken = false
    expect(await as('kim', () => people.person(id))).toMatchObject({ id })
    expect(received).toHaveLength(2)
  })

  it("are separate for each caller, because a call waits in its caller's line; known people are shared", async () => {
    const { directory: people, received, held, state, release } = await directory()
    const id = known()
    state.isHolding = true
    const both = [as('kim', () => people.person(id)), as('dana', () => checkingIdentity(() => people.person(id)))]
    await until(async () => held.length === 2 || undefined, 'both questions')
    release()
    expect((await Promise.all(both)).map((one) => one?.id)).toEqual([id, id])
    expect((await as('omar', () => people.person(id)))?.id).toBe(id)
    expect(received).toHaveLength(2)
  })
})

describe('a caller who hangs up', () => {
  it('cancels its waiting calls, but not those that already run', async () => {
    const { directory: people, received, held, state, release } = await directory()
    state.isHolding = true
    const gone = new AbortController()
    const managers = as('kim', () =>
      within({ abandoned: gone.signal }, () => Array.from({ length: 12 }, () => people.manager(known()))),
    )
    const ends = Promise.allSettled(managers)
    await until(async () => held.length === 9 || undefined, 'as many calls as one caller may have at a time')
    gone.abort(new Error('hung up'))
    release()
    const outcomes = (await ends).map(({ status }) => status)
    expect(outcomes.filter((status) => status === 'fulfilled')).toHaveLength(9)
    expect(received).toHaveLength(9)
    for (const outcome of await ends)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'unreachable', retryable: true })
  })
})
