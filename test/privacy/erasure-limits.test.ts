import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Core, erasedName, mentions, type Person, siteRequest, withoutPerson } from '../../src/core/index.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, tenantId, tenantWith, withCore } from '../support/core.ts'

const personOf = (digits: string, displayName: string, userPrincipalName: string): Person => ({
  ...{ id: `99999999-abcd-4abc-8abc-0000000000${digits}`, displayName, userPrincipalName },
})
const ann = personOf('01', 'Ünal Özdemir', 'unal@contoso.example')
const namesake = personOf('02', 'Ünal Özdemir', 'unal.ozdemir@contoso.example')

describe('a value without a person', () => {
  const lee = personOf('03', 'Ann Lee', 'ann@contoso.example')
  const mark = personOf('04', 'Mark', 'mark@contoso.example')

  it('keeps a person with the same name and another id', () => {
    const both = { owners: [ann, namesake] }
    const gone = { ...ann, displayName: erasedName, userPrincipalName: '' }
    expect(withoutPerson(both, ann)).toEqual({ owners: [gone, namesake] })
    expect(mentions({ actor: namesake }, ann)).toBe(false)
  })

  it('keeps texts that contain the name only inside other text', () => {
    const value = { says: 'Joann Leeds, joann@contoso.example; Marketing marks it: mark it. Markus' }
    expect(withoutPerson(value, lee)).toEqual(value)
    expect(withoutPerson(value, mark)).toEqual(value)
  })

  it('does not contain their separate name in any case, or their id with an older name, also in JSON strings', () => {
    const older = JSON.stringify({ by: { ...lee, displayName: 'Ann Old' } })
    const left = JSON.stringify(
      withoutPerson({ says: 'For ANN LEE, (Ann Lee), ANN@contoso.example', body: older }, lee),
    )
    expect(left).not.toMatch(/ann/i)
    expect(left).toContain(lee.id)
    expect(withoutPerson({ says: 'Mark said so.' }, mark)).toEqual({ says: `${erasedName} said so.` })
  })
})

describe('an erasure', () => {
  const core = withCore()
  const asAdmin = actorOf(priya, true)
  let provisioning: Core
  let templateId = ''

  beforeAll(async () => {
    for (const one of [ann, namesake]) core.world.people.set(one.id, one)
    provisioning = core.with({ tenant: tenantWith() })
    const template = await core.template({ approval: { stages: [{ approvers: [{ group: approversGroup }] }] } })
    templateId = template.id
  })
  const ask = (by: Person, more: object = {}) =>
    provisioning.submitSite(actorOf(by), {
      body: { displayName: `Site ${randomUUID().slice(0, 8)}`, templateId, ...more },
    })
  const ordered = async () => {
    const erasureId = randomUUID()
    const confirmed = { address: ann.userPrincipalName, erasureId }
    expect((await provisioning.orderErasure(asAdmin, { personId: ann.id, ...confirmed })).state).toBe('ordered')
    return { v: 1 as const, tenantId, personId: ann.id, by: priya.id, erasureId }
  }

  it('waits for open requests of others that would use the person’s account', async () => {
    const { requestId } = await ask(kim, { owners: [ann.id] })
    const { isBlocked, blocks } = await provisioning.readErasure(asAdmin, { personId: ann.id })
    expect([isBlocked, blocks.named.map((one) => one.requestId)]).toEqual([true, [requestId]])
    await provisioning.reject(actorOf(omar), { requestId, comment: 'No.' })
    expect((await provisioning.readErasure(asAdmin, { personId: ann.id })).isBlocked).toBe(false)
  })

  it('does not run if the person started something after the order, and reports this', async () => {
    const order = await ordered()
    const { requestId } = await ask(ann)
    await provisioning.system.erasePerson(order)
    await provisioning.system.erasePerson(order)
    expect((await core.ports.requests.find(requestId))?.requester).toEqual(ann)
    const { entries } = await provisioning.readAudit(asAdmin, { requestId: tenantId })
    expect(entries.filter(({ action }) => action === 'erasure-stopped')).toHaveLength(1)
    expect(entries.filter(({ action }) => action === 'person-erased')).toHaveLength(0)
    const { rows } = await core.database.query(`SELECT payload FROM ordered_jobs WHERE name = 'tell'`)
    expect(rows).toHaveLength(1)
    await provisioning.reject(actorOf(dana), { requestId, comment: 'No.' })
  })

  it('keeps what the person started after its start, and people with the same name', async () => {
    const { requestId: theirs } = await ask(namesake, { owners: [ann.id] })
    await provisioning.reject(actorOf(omar), {
      requestId: theirs,
      comment: `Not for ${ann.displayName.toLowerCase()}.`,
    })
    const order = await ordered()
    const dying = core.with({
      audit: { ...core.ports.audit, erase: async () => Promise.reject(new Error('killed')) },
    })
    await expect(dying.system.erasePerson(order)).rejects.toThrow('killed')
    const { requestId: late } = await ask(ann)
    await provisioning.system.erasePerson(order)
    expect((await core.ports.requests.find(late))?.requester).toEqual(ann)
    const left = await core.ports.requests.find(theirs)
    expect(left?.requester).toEqual(namesake)
    expect(JSON.stringify(left)).not.toContain(ann.displayName.toLowerCase())
    const [first] = await core.ports.audit.timeline(theirs)
    expect(first?.actor).toEqual(namesake)
    const { entries } = await provisioning.readAudit(asAdmin, { requestId: tenantId })
    expect(entries.filter(({ action }) => action === 'person-erased')).toHaveLength(1)
  })

  describe('of a person with a short name', () => {
    const ida = personOf('05', 'Ida Poe', 'ida@contoso.example')
    beforeAll(() => {
      core.world.people.set(ida.id, ida)
    })
    const erase = () =>
      provisioning.system.erasePerson({ v: 1, tenantId, personId: ida.id, by: priya.id, erasureId: randomUUID() })
    const detailsAfter = async (more: object) => {
      const { requestId } = await ask(kim, more)
      await provisioning.reject(actorOf(omar), { requestId, comment: 'No.' })
      await erase()
      return (await core.ports.requests.find(requestId))?.details
    }
    const emojis = '🎉'.repeat(4)

    it('keeps the whole text around their name', async () => {
      const text = (name: string) => `For the team of ${name} and her guests, please ${emojis}`
      expect(await detailsAfter({ description: text(ida.displayName) })).toMatchObject({
        description: text(erasedName),
      })
    })

    it('puts a short mark into texts, keys and lists that have no room for more', async () => {
      const [rest, end] = ['a'.repeat(1008) + emojis, 'k'.repeat(56)]
      const full = {
        description: `IDA POE ${rest}`,
        metadata: { [`IDA POE ${end}`]: 1, [`Ida Poe ${end}`]: 2, list: Array.from({ length: 100 }, () => 'Ida Poe') },
      }
      expect(await detailsAfter(full)).toMatchObject({
        description: `… ${rest}`,
        metadata: { [`… ${end}`]: 1, [`… ${end} 2`]: 2, list: Array.from({ length: 100 }, () => '…') },
      })
    })

    it('stays within the limit if the composed form of the text is longer', async () => {
      const details = await detailsAfter({ description: `Ida Poe ${'\u0958'.repeat(1016)}` })
      expect(details).toMatchObject({ description: `… ${'\u0915\u093c'.repeat(511)}` })
    })

    it('leaves rows of a batch that can be submitted', async () => {
      const batchId = randomUUID()
      const body = { displayName: 'Row', templateId, description: `${ida.displayName} ${'a'.repeat(1016)}` }
      await provisioning.beginBatch(actorOf(dana), { batchId, resource: 'site', rows: [{ key: '1', body }] })
      await erase()
      const { rows } = await core.database.query<{ body: unknown }>('SELECT body FROM batch_rows WHERE batch_id = $1', [
        batchId,
      ])
      const left = { ...body, description: `… ${'a'.repeat(1016)}` }
      expect(rows).toEqual([{ body: left }])
      expect(siteRequest.safeParse(left).success).toBe(true)
    })
  })
})
