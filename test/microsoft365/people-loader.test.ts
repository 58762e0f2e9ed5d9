import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { checkingIdentity, from, within } from '../../src/core/index.ts'
import { answersSignIn, connectTo, sendJson, startServer } from '../support/microsoft365.ts'
import { until } from '../support/until.ts'

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  for (const server of open.splice(0)) await server.close()
})

/** A directory in which everybody is known whose id begins with a digit below 8; it can be told to hold its answers. */
async function directory() {
  const asked: string[] = []
  const held: (() => void)[] = []
  const state = { isHolding: false, isBroken: false }
  const server = await startServer((request, response) => {
    if (answersSignIn(request, response)) return
    const url = decodeURIComponent(request.url ?? '')
    asked.push(url)
    const answer = () => answerOf(url, response, state.isBroken)
    if (state.isHolding) held.push(answer)
    else answer()
  })
  open.push(server)
  const release = () => {
    state.isHolding = false
    for (const answer of held.splice(0)) answer()
  }
  return { ...connectTo(server.url), asked, held, state, release }
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

describe('people who are looked up', () => {
  it('at the same time are asked for together, fifteen to a call, each once', async () => {
    const { directory: people, asked } = await directory()
    const ids = [...Array.from({ length: 20 }, known), ...Array.from({ length: 20 }, unknown)]
    const found = await as('kim', () => Promise.all([...ids, ...ids].map((id) => people.person(id))))
    expect(found.map((one) => one?.id)).toEqual([...ids, ...ids].map((id) => (id < '8' ? id : undefined)))
    expect(asked.map((url) => url.match(/[0-9a-f]{8}-/g)?.length)).toEqual([15, 15, 10])
  })

  it('alone are asked for at their own address', async () => {
    const { directory: people, asked } = await directory()
    const id = known()
    expect(await people.person(id.toUpperCase())).toMatchObject({ id })
    expect(asked).toHaveLength(1)
    expect(asked[0]).toMatch(new RegExp(`^/v1\\.0/users/${id}\\?`))
  })

  it('are asked for once while the answer is under way, and again after an error', async () => {
    const { directory: people, asked, state } = await directory()
    const id = known()
    state.isBroken = true
    const failing = as('kim', () => [people.person(id), people.person(id)])
    for (const one of failing) await expect(one).rejects.toMatchObject({ status: 400 })
    expect(asked).toHaveLength(1)
    state.isBroken = false
    expect(await as('kim', () => people.person(id))).toMatchObject({ id })
    expect(asked).toHaveLength(2)
  })

  it('are asked for by each caller, since a question waits in the line of its caller; what is known is shared', async () => {
    const { directory: people, asked, held, state, release } = await directory()
    const id = known()
    state.isHolding = true
    const both = [as('kim', () => people.person(id)), as('dana', () => checkingIdentity(() => people.person(id)))]
    await until(async () => held.length === 2 || undefined, 'both questions')
    release()
    expect((await Promise.all(both)).map((one) => one?.id)).toEqual([id, id])
    expect((await as('omar', () => people.person(id)))?.id).toBe(id)
    expect(asked).toHaveLength(2)
  })
})

describe('a caller who hangs up', () => {
  it('takes the calls that wait along, and leaves those alone that run', async () => {
    const { directory: people, asked, held, state, release } = await directory()
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
    expect(asked).toHaveLength(9)
    for (const outcome of await ends)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'unreachable', retryable: true })
  })
})
