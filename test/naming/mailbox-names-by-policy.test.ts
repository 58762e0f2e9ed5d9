import { describe, expect, it } from 'vitest'
import { apiTexts } from '../../src/cards/index.ts'
import { actorOf, asMailbox, kim, withCore } from '../support/core.ts'
import { named, refusal } from '../support/refusal.ts'

const asKim = actorOf(kim)

describe('the additional address of a shared mailbox', () => {
  const core = withCore()
  const shared = async (naming: object) => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox', naming })
    return { templateId, displayName: 'Help desk', name: `help-${templateId.slice(0, 8)}` }
  }
  const faults = async (body: object) =>
    named((await refusal(() => core.provisioning.submitMailbox(asKim, { body }))).faults)

  it('cannot contain a blocked word, with a rule and without', async () => {
    for (const naming of [{}, { alias: { pattern: 'x-{input}' } }]) {
      const body = await shared({ ...naming, blockedWords: ['payroll'] })
      expect(await faults({ ...body, alias: 'payroll-ch@contoso.example' })).toEqual(['/alias blocked-word'])
    }
  })

  it('must have the characters that its rule allows, and is never cut', async () => {
    const body = await shared({ alias: { pattern: 'x-{input}', allowed: 'a-z0-9-' } })
    expect(await faults({ ...body, alias: 'a_b' })).toEqual(['/alias characters'])
    expect(await faults({ ...body, alias: 'a'.repeat(64) })).toEqual(['/alias too-long'])
  })

  it('is never the primary address of the mailbox', async () => {
    const naming = { name: { pattern: '{input}-{counter}' }, alias: { pattern: '{input}' } }
    const body = { ...(await shared(naming)), name: 'desk' }
    for (const one of ['desk-1@contoso.example', 'desk@contoso.example']) core.world.taken.add(one)
    const { address, aliasAddress } = asMailbox(await core.provisioning.submitMailbox(asKim, { body }))
    expect([address, aliasAddress]).toEqual(['desk-2@contoso.example', 'desk-3@contoso.example'])
  })
})

describe('the checks of a mailbox in Microsoft 365', () => {
  const core = withCore()

  it('run in parallel for its people and its names', async () => {
    const { id: templateId } = await core.template({ kind: 'sharedMailbox' })
    const { directory } = core.ports
    const named = Promise.withResolvers<void>()
    const provisioning = core.with({
      directory: {
        ...directory,
        unknownToExchange: (people) => named.promise.then(() => directory.unknownToExchange(people)),
        isMailboxNameFree: (address) => {
          named.resolve()
          return directory.isMailboxNameFree(address)
        },
      },
    })
    const body = { templateId, displayName: 'Desk', name: 'together', permissions: { [kim.id]: 'FullAccess' } }
    expect((await provisioning.submitMailbox(asKim, { body })).status).toBe('queued')
  })
})

describe('a mailbox with a form without an address field', () => {
  const core = withCore()
  const addressOf = async (displayName: string, template: object = {}) => {
    const properties = { name: { shown: false } }
    const { id } = await core.template({ kind: 'roomMailbox', properties, ...template })
    const opened = await core.provisioning.openDraft(asKim, { templateId: id })
    if (opened.step !== 'details') throw new Error('no form')
    const { requestId, version } = opened.draft
    const values = { displayName, reason: 'x' }
    const view = await core.provisioning.reviewDraft(asKim, { requestId, version, values })
    if (view.step === 'review' && 'address' in view.plan) return view.plan.address.replace(requestId.slice(0, 8), 'ID')
    return view.step === 'details' ? named(view.faults).join() : view.step
  }

  it('gets an address from any name: cut if long, numbered if taken, with the request’s id if no letter is left', async () => {
    expect(await addressOf(`${'a'.repeat(63)} b`)).toBe(`${'a'.repeat(63)}@contoso.example`)
    expect(await addressOf('b'.repeat(70), { naming: { prefix: 'room-' } })).toBe(
      `room-${'b'.repeat(59)}@contoso.example`,
    )
    core.world.taken.add('aurora@contoso.example')
    expect(await addressOf('Aurora')).toBe('aurora-2@contoso.example')
    expect(await addressOf('会議室')).toBe('mailbox-ID@contoso.example')
  })

  it('warns that its address is taken, and explains the next free one', async () => {
    const hidden = { kind: 'roomMailbox', properties: { name: { shown: false } }, naming: { prefix: 'room-' } }
    const { id: templateId } = await core.template(hidden)
    const body = { templateId, displayName: 'Vega' }
    const free = await core.provisioning.previewRequest(asKim, { body })
    expect(free.warnings.map(({ code }) => code)).not.toContain('next-address')
    core.world.taken.add('room-vega@contoso.example').add('room-vega-2@contoso.example')
    const { valid, names, warnings } = await core.provisioning.previewRequest(asKim, { body })
    expect([valid, names?.address]).toEqual([true, 'room-vega-3@contoso.example'])
    const nextAddress = { key: 'nextAddress', facts: { taken: 'room-vega' } }
    expect(warnings).toContainEqual({ code: 'next-address', field: 'name', reason: nextAddress })
    const { requestId } = await core.provisioning.submitMailbox(asKim, { body })
    const explanation = await core.provisioning.readExplanation(asKim, { requestId })
    expect(explanation.map(apiTexts.explanation)).toEqual(
      expect.arrayContaining([
        'The request names no address, so it comes from the name Vega.',
        'Already taken: room-vega, room-vega-2.',
      ]),
    )
  })

  it('accepts an address by REST unchanged', async () => {
    const { id: templateId } = await core.template({ kind: 'roomMailbox', properties: { name: { shown: false } } })
    core.world.taken.add('borealis@contoso.example')
    const body = { templateId, displayName: 'The borealis room', name: 'borealis' }
    expect(named((await refusal(() => core.provisioning.submitMailbox(asKim, { body }))).faults)).toEqual([
      '/name name-taken',
    ])
  })
})
