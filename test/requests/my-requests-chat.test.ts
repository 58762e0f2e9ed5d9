import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { maxJoint, type RequestForSite, type RequestState } from '../../src/core/index.ts'
import { cardIn, saying } from '../support/bot-activities.ts'
import { type BotWorld, requested, startBot, withBotWorld } from '../support/bot-world.ts'
import { kim, requestOf, requests, stepsUntil } from '../support/card-requests.ts'
import { nodesOf } from '../support/card-rules.ts'
import { textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { contosoTenant } from '../support/teams-user.ts'

const referencesOf = (card: Card): string[] => [...new Set(textOf(card).match(/REQ-\d+/g) ?? [])]
/** Returns the action of the button in a request's row. */
const buttonOf = (card: Card, reference: string) => {
  const rows = nodesOf(card).filter(({ type, columns }) => type === 'ColumnSet' && columns !== undefined)
  const row = rows.find((one) => JSON.stringify(one).includes(`${reference} ·`))
  const actions = nodesOf(row).filter(({ type, title }) => String(type).startsWith('Action.') && title !== undefined)
  const [button] = actions.filter(({ title }) => !String(title).startsWith(`Open ${reference}.`))
  if (!button) throw new Error(`The row of ${reference} has no button.`)
  return button
}
/** Returns the text that a button types for the person. */
const typedBy = (action: Readonly<Record<string, unknown>>): string =>
  String((action['data'] as { msteams?: { value?: unknown } } | undefined)?.msteams?.value)

/** Returns a function that stores a request of Kim in any state, as its steps would leave it. */
function storingIn(world: BotWorld) {
  let made = 0
  return async (more: Partial<RequestForSite>) => {
    made += 1
    const request = requestOf({
      ...more,
      ...{ requestId: `7d1c2b3a-4e5f-4a6b-8c7d-${String(made).padStart(12, '0')}`, tenantId: contosoTenant },
    })
    const inStore = await world.stores.requests.insert(request)
    if (!inStore) throw new Error('This id exists already.')
    return { ...inStore, reference: `REQ-${inStore.number}` }
  }
}

describe('my requests', () => {
  const world = withBotWorld()
  afterEach(() => {
    expect(world.logged.splice(0)).toEqual([])
  })
  const stored = storingIn(world)

  it('show fifteen requests in pages, to the oldest and back, without requests of other people', async () => {
    const { types, clicks } = startBot(world)
    const others = [await requested(world, 'Not Omar’s', { who: 'dana', approval: false })]
    const mine: string[] = []
    for (let count = 0; count < 15; count += 1) {
      mine.unshift((await requested(world, `Number ${count}`, { who: 'omar', approval: count % 2 === 0 })).reference)
      if (count % 5 === 0) others.push(await requested(world, `Between ${count}`, { who: 'dana', approval: false }))
    }
    const first = await types('omar', 'my requests')
    expect(textOf(first)).toContain('1–6 of 15')
    const second = await clicks('omar', first, 'Older')
    expect(textOf(second)).toContain('7–12 of 15')
    const third = await clicks('omar', second, 'Older')
    expect(textOf(third)).toContain('13–15 of 15')
    expect([first, second, third].flatMap(referencesOf)).toEqual(mine)
    expect(() => clicks('omar', third, 'Older')).toThrow()
    // A new request does not shift the pages.
    const newest = await requested(world, 'Meanwhile', { who: 'omar', approval: false })
    const back = await clicks('omar', third, 'Newer')
    expect(referencesOf(back)).toEqual(mine.slice(6, 12))
    expect(textOf(back)).toContain('8–13 of 16')
    const top = await clicks('omar', await clicks('omar', back, 'Newer'), 'Newer')
    expect(referencesOf(top)).toEqual([newest.reference, ...mine.slice(0, 5)])
    for (const { reference } of others) {
      for (const card of [first, second, third, back, top]) expect(referencesOf(card)).not.toContain(reference)
    }
  })

  it('show the first page for an edge outside of the list', async () => {
    const { sends, types } = startBot(world)
    const first = referencesOf(await types('omar', 'my requests'))
    for (const edge of [{ before: 0 }, { after: 999_999_999 }, {}, { before: '999999999' }])
      expect(referencesOf(await sends('omar', 'requests.page', edge))).toEqual(first)
    expect(textOf(await sends('omar', 'requests.page', { before: -1 }))).not.toContain('REQ-')
  })

  it('show the status of each request, its age and the people it waits for', async () => {
    const { says } = startBot(world)
    const { reference } = await requested(world, 'Waits for Dana')
    const shown = await says('kim', 'my requests')
    expect(shown).toContain('Waiting for Dana Fox or Omar Haddad.')
    expect(shown).toMatch(new RegExp(`${reference} · \\d+ minutes? ago`))
    const [reply] = await startBot(world).turn({ ...saying('kim', 'my requests'), locale: 'de-CH' })
    expect(textOf(cardIn(reply))).toMatch(new RegExp(`${reference} · vor \\d+ Minuten?`))
  })

  it('offer one nudge for a waiting request, and then its status', async () => {
    const { types, says } = startBot(world)
    const { reference } = await requested(world, 'Nudge me')
    const nudge = buttonOf(await types('kim', 'my requests'), reference)
    expect([nudge['title'], typedBy(nudge)]).toEqual(['Nudge', `nudge ${reference}`])
    expect(await says('kim', typedBy(nudge))).toContain('Your last reminder')
    const open = buttonOf(await types('kim', 'my requests'), reference)
    expect([open['title'], typedBy(open)]).toEqual(['Show status', `status ${reference}`])
    expect(await says('kim', typedBy(open))).toContain('Nudge me')
  })

  it('say that a person must choose another address while theirs is taken, and offer no nudge', async () => {
    const { types, says } = startBot(world)
    const { reference } = await stored(requests.addressTaken)
    const list = await types('kim', 'my requests')
    const open = buttonOf(list, reference)
    expect(textOf(list)).toContain(`The address is taken\nChoose another address.\n${reference}`)
    expect([open['title'], typedBy(open)]).toEqual(['Show status', `status ${reference}`])
    const status = await says('kim', typedBy(open))
    expect(status).toContain('Another resource has taken the address project-aurora-2. Choose another one.')
  })

  it.each<RequestState>(['rejected', 'expired', 'cancelled'])(
    'offer the form again for a request that is %s',
    async (status) => {
      const { types, sends } = startBot(world)
      const { reference, requestId } = await stored({
        status,
        details: { ...requests.ready.details, displayName: status },
      })
      const button = buttonOf(await types('kim', 'my requests'), reference)
      expect(button).toMatchObject({ title: 'Edit', verb: 'request.edit', data: { requestId } })
      const form = await sends('kim', 'request.edit', button['data'] as object)
      expect(textOf(form)).toContain('Step 2 of 3')
      expect(JSON.stringify(form)).toContain(`"value":"${status}"`)
    },
  )

  it('offer the form for a failed request without a resource, else its status', async () => {
    const { types, says } = startBot(world)
    const early = await stored({ ...requests.failed, steps: stepsUntil(0, { status: 'failed', attempts: 5 }) })
    const late = await stored(requests.failed)
    const list = await types('kim', 'my requests')
    expect(buttonOf(list, early.reference)).toMatchObject({ title: 'Edit', verb: 'request.edit' })
    const open = buttonOf(list, late.reference)
    expect(open['title']).toBe('Show status')
    expect(await says('kim', typedBy(open))).toContain('I notified an admin')
  })

  it('offer the site for a ready request, and the status for a request in progress', async () => {
    const { types, says } = startBot(world)
    const ready = await stored(requests.ready)
    const [queued, creating] = [await stored(requests.queued), await stored(requests.creating)]
    const list = await types('kim', 'my requests')
    const url = 'https://contoso.sharepoint.com/sites/project-aurora-2'
    expect(buttonOf(list, ready.reference)).toMatchObject({ type: 'Action.OpenUrl', title: 'Open site', url })
    for (const { reference } of [queued, creating]) {
      const open = buttonOf(list, reference)
      expect(open['title']).toBe('Show status')
      expect(await says('kim', typedBy(open))).toContain(reference)
    }
    expect(textOf(list)).toContain('I am creating the site.')
  })

  it('refuse the buttons of another person’s request', async () => {
    const { says, sends } = startBot(world)
    const { requestId, reference } = await stored({ status: 'cancelled', requester: kim, approvals: [] })
    expect(await says('omar', `nudge ${reference}`)).toContain('This request does not exist, or you may not see it.')
    expect(textOf(await sends('omar', 'request.edit', { requestId }))).toContain('This request does not exist')
  })
})

describe('approvals', () => {
  const world = withBotWorld()

  it('show pages, oldest first, and the first page instead of a page without open decisions', async () => {
    const { types, clicks, says, sends } = startBot(world)
    const references: string[] = []
    const ids: string[] = []
    for (let count = 0; count < 8; count += 1) {
      const { reference, requestId } = await requested(world, `Decide ${count}`)
      references.push(reference)
      ids.push(requestId)
    }
    await requested(world, 'Needs no decision', { approval: false })
    const first = await types('dana', 'approvals')
    expect(referencesOf(first)).toEqual(references.slice(0, 6))
    expect(textOf(first)).toContain('1–6 of 8')
    expect(textOf(first)).toMatch(
      /Decide 0\nTeam site from Kim Lee\nSensitivity: Internal\n! Only one owner: Kim Lee\nREQ-\d+\n\d+ minutes? ago/,
    )
    const second = await clicks('dana', first, 'Newer')
    expect(referencesOf(second)).toEqual(references.slice(6))
    expect(textOf(second)).toContain('7–8 of 8')
    expect(referencesOf(await clicks('dana', second, 'Older'))).toEqual(references.slice(0, 6))
    for (const requestId of ids.slice(6)) await sends('dana', 'approval.approve', { requestId })
    const after = await clicks('dana', first, 'Newer')
    expect(referencesOf(after)).toEqual(references.slice(0, 6))
    expect(textOf(after)).toContain('6 waiting')
    for (const requestId of ids.slice(0, 6)) await sends('dana', 'approval.approve', { requestId })
    expect(textOf(await clicks('dana', first, 'Newer'))).toContain('No request waits for your decision.')
    expect(await says('kim', 'approvals')).toContain('No request waits for your decision.')
  })

  it('are decided once by two clicks on “Approve all”, and both answers show the decision', async () => {
    const { types, clicks } = startBot(world)
    for (const name of ['Harbour', 'Station', 'Airport']) await requested(world, name)
    const several = await clicks('dana', await types('dana', 'approvals'), 'Decide several')
    const answers = await Promise.all([1, 2].map(() => clicks('dana', several, 'Approve all', valuesOf(several))))
    answers.push(await clicks('dana', several, 'Approve all', valuesOf(several)))
    for (const answer of answers) {
      expect(textOf(answer)).toContain('You approved 3 requests.')
      expect(textOf(answer)).toMatch(/Harbour.*Station.*Airport/)
      expect(textOf(answer)).not.toContain('before your click')
    }
  })

  it('are decided together from the oldest on, and the card counts those that it does not list', async () => {
    const { types, clicks } = startBot(world)
    const numbers: number[] = []
    for (let count = 0; count < maxJoint + 1; count += 1) {
      const more = { requestId: randomUUID(), tenantId: contosoTenant, alias: `waiting-${count}` }
      numbers.push((await world.stores.requests.insert(requestOf(more))).number)
    }
    const list = await types('dana', 'approvals')
    expect(textOf(list)).toContain('1–6 of 201')
    const several = await clicks('dana', list, 'Decide several')
    const rows = Object.keys(valuesOf(several)).filter((id) => id.startsWith('row.'))
    expect(rows).toEqual(numbers.slice(0, 6).map((number) => `row.${number}.1`))
    expect(textOf(several)).toContain('201 waiting')
    expect(textOf(several)).toContain('This card lists the 200 oldest requests.')
    expect(textOf(several)).toContain('1–6 of 200')
  })
})

describe('a request with more than a hundred newer ones', () => {
  const world = withBotWorld()
  const stored = storingIn(world)

  it('is found by nudge, cancel and status, with its name and without', async () => {
    const { says } = startBot(world)
    const { reference } = await requested(world, 'Harbour tour')
    for (let count = 0; count < 101; count += 1) await stored(requests.ready)
    expect(await says('kim', 'status')).toContain(reference)
    expect(await says('kim', 'status of the harbour tour')).toContain(reference)
    for (const text of ['cancel', 'cancel the harbour tour'])
      expect(await says('kim', text)).toMatch(new RegExp(`Cancel this request\\?[^]*${reference}`))
    expect(await says('kim', 'nudge')).toContain('Your last reminder')
    for (let count = 0; count < 101; count += 1) await stored(requests.queued)
    expect(await says('kim', 'status of the harbour tour')).toContain(reference)
    expect(await says('kim', 'cancel the harbour tour')).toMatch(new RegExp(`Cancel this request\\?[^]*${reference}`))
    expect(await says('kim', 'nudge')).toContain('Already reminded')
  })

  it('is found by status instead of an ended request with the same name', async () => {
    const { says } = startBot(world)
    const { reference } = await requested(world, 'Lighthouse')
    await requested(world, 'Another open request')
    await stored({ ...requests.ready, details: { ...requests.ready.details, displayName: 'Lighthouse' } })
    const shown = await says('kim', 'status of the lighthouse')
    expect(shown).toContain(reference)
    expect(shown).not.toMatch(/My requests\n/)
  })
})
