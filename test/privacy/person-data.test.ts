import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { reasonText } from '../../src/cards/index.ts'
import { type Core, erasedName, type Person, type PersonRecord, type Request } from '../../src/core/index.ts'
import { mulberry32 } from '../../src/simulator/control/faults.ts'
import { provedAll } from '../../src/store/audit/chain.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { auditKey } from '../support/audit-chains.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, tenantId, tenantWith, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'

/** A person with a unique name, which is not a part of any other text. */
const zora: Person = {
  id: '99999999-abcd-4abc-8abc-0000000000aa',
  displayName: 'Zora "Zz" Quibblewhistle',
  userPrincipalName: 'zora.quibble@contoso.example',
}
const traces = [/quibblewhistle/i, /zora/i, /Zz/]
const never = new AbortController().signal
const run = { lastAttempt: true, signal: never }

describe('a person’s data', () => {
  const core = withCore()
  const asAdmin = actorOf(priya, true)
  const random = mulberry32(7)
  let stores: Stores
  let provisioning: Core
  let templateId = ''

  beforeAll(async () => {
    core.world.people.set(zora.id, zora)
    core.world.groups.set(approversGroup, [dana, omar, zora])
    stores = createStores(core.database, auditKey)
    provisioning = core.with(
      { ...stores, tenant: tenantWith() },
      { exportLinks: { root: 'https://contoso.example', key: auditKey } },
    )
    const template = await core.template({
      fields: [
        { key: 'who', type: 'person', label: 'Who' },
        { key: 'why', type: 'text', label: 'Why' },
      ],
      approval: { stages: [{ approvers: [{ group: approversGroup }] }, { approvers: [{ user: dana.id }] }] },
    })
    templateId = template.id
  })

  /** Submits a request that contains the person in a random way, and ends it or leaves it open. */
  async function submitted(by: Person, ends: boolean): Promise<string> {
    const { requestId } = await provisioning.submitSite(actorOf(by), {
      body: {
        ...{ displayName: `Site ${randomUUID().slice(0, 8)}`, templateId },
        description: by.id === zora.id ? 'Zora writes of herself' : 'A site.',
        ...(random() < 0.5 && by.id !== zora.id && { owners: [zora.id] }),
        metadata: {
          ...(random() < 0.5 && { who: zora.id }),
          why: by.id === zora.id ? 'zora.quibble@contoso.example' : 'So.',
        },
      },
    })
    if (!ends) return requestId
    const first = by.id === zora.id ? omar : zora
    const way = Math.floor(random() * 4)
    if (way === 0) await provisioning.cancelRequest(actorOf(by), { requestId })
    else if (way === 1)
      await provisioning.reject(actorOf(first), { requestId, comment: `No, says ${first.displayName}` })
    else if (way === 2)
      await provisioning.cancelRequest(actorOf({ ...priya }, true), { requestId, comment: `For ${zora.displayName}` })
    else {
      await provisioning.approve(actorOf(first), {
        requestId,
        comment: first.id === zora.id ? 'Zora says yes' : 'Yes.',
      })
      if (by.id !== dana.id) await provisioning.approve(actorOf(dana), { requestId })
      await provisioning.system.provision(requestId, run)
    }
    return requestId
  }
  const rowsWith = async (...patterns: readonly RegExp[]): Promise<string[]> => {
    const { rows: tables } = await core.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' ORDER BY 1`,
    )
    const found: string[] = []
    for (const { name } of tables) {
      const { rows } = await core.database.query<{ text: string }>(
        `SELECT to_jsonb(t)::text AS text FROM "${name}" AS t`,
      )
      const hits = rows.filter(({ text }) => patterns.some((pattern) => pattern.test(text)))
      found.push(...hits.map(({ text }) => `${name}: ${text}`))
    }
    return found
  }
  const findings = async () => {
    const all: string[] = []
    for await (const { requestId, findings } of provedAll(core.database, auditKey))
      all.push(...findings.map(({ reason }) => `${requestId}: ${reasonText(reason)}`))
    return all
  }
  const records = async (): Promise<PersonRecord[]> => {
    const all: PersonRecord[] = []
    for await (const page of stores.personData.records(tenantId, zora)) all.push(...page)
    return all
  }
  const chat = `a:zora-${randomUUID()}`

  it('is in many tables after a while', async () => {
    for (let n = 0; n < 16; n += 1) await submitted([zora, kim, omar][n % 3] ?? kim, true)
    await stores.conversations.put({
      ...{ tenantId, personId: zora.id, conversationId: chat, locale: 'en-GB', timeZone: 'Europe/Zurich' },
      reference: { user: { id: '29:zora-account', aadObjectId: zora.id, name: zora.displayName } },
    })
    await stores.botState.write({ [`msteams/conversations/${chat}/`]: { step: 'details', name: zora.displayName } })
    await stores.botState.write({ 'msteams/users/29:zora-account/': { seen: true } })
    const own = { channel: 'msteams', conversationId: chat, activityId: '1' }
    const danas = { channel: 'msteams', conversationId: 'a:dana', activityId: '2' }
    for (const key of [own, danas]) {
      await stores.inbox.claim(key)
      await stores.inbox.remember(key, { card: `Asked for by ${zora.displayName}` })
    }
    await provisioning.openDraft(actorOf(zora), { templateId })
    await provisioning.beginDelegation(actorOf(zora), { to: dana.id, until: new Date(Date.now() + 1e8).toISOString() })
    await stores.notices.claim(
      { tenantId, personId: zora.id, notice: 'health:red:2026-11-20T10:00:00.000Z' },
      undefined,
    )
    for (const [personId, body] of [
      [zora.id, 'mine'],
      [dana.id, JSON.stringify({ requester: zora })],
    ] as const) {
      const key = { tenantId, personId, route: 'POST /x', key: randomUUID() }
      const at = new Date()
      const keepUntil = new Date(Date.now() + 1e8)
      const attempt = { fingerprint: 'f', requestId: randomUUID(), holder: 'h', at, leaseUntil: keepUntil, keepUntil }
      await stores.idempotency.claim(key, attempt)
      await stores.idempotency.complete(key, { status: 202, headers: {}, body })
    }
    const row = { key: '1', body: { displayName: 'One of many', templateId } }
    await provisioning.beginBatch(actorOf(zora), { batchId: randomUUID(), resource: 'site', rows: [row] })
    await provisioning.beginBatch(actorOf(dana), { batchId: randomUUID(), resource: 'site', rows: [row] })
    expect(await rowsWith(...traces)).not.toEqual([])
  })

  it('can be exported from every table, without secrets', async () => {
    const held = Object.groupBy(await records(), ({ table }) => table)
    expect(Object.keys(held).toSorted()).toEqual(
      [
        ...['audit_log', 'batch_rows', 'batches', 'bot_state', 'conversations', 'delegations', 'drafts'],
        ...['idempotency_keys', 'inbox', 'notices', 'requests'],
      ].toSorted(),
    )
    const { rows } = await core.database.query<{ n: number }>(
      `SELECT count(*)::int AS n FROM requests WHERE body::text LIKE '%' || $1 || '%'`,
      [zora.id],
    )
    expect(held['requests']).toHaveLength(rows[0]?.n ?? 0)
    expect(JSON.stringify(held)).not.toMatch(/whsec_|"holder"/)
    expect(JSON.stringify(held['idempotency_keys'])).not.toContain('"fingerprint"')
    const offer = await provisioning.offerPersonExport(asAdmin, { personId: zora.id })
    const opened = await provisioning.system.openExport(offer.url.split('/').at(-1) ?? '')
    if (opened.state !== 'open') throw new Error(opened.state)
    let text = ''
    for await (const part of opened.content) text += part
    const file = JSON.parse(text)
    expect([file.personId, file.records.length > 20]).toEqual([zora.id, true])
  })

  it('is found by name, sign-in name and id, also after the person has left', async () => {
    const find = async (typed: string) => (await provisioning.findPerson(asAdmin, { typed })).map(({ id }) => id)
    expect(await find('zora')).toEqual([zora.id])
    core.world.people.delete(zora.id)
    expect(await find(zora.userPrincipalName.toUpperCase())).toEqual([zora.id])
    expect(await find(zora.id)).toEqual([zora.id])
    expect(await find('nobody@contoso.example')).toEqual([])
    expect(await find(randomUUID())).toEqual([])
    core.world.people.set(zora.id, zora)
  })

  it('is not erased during open work, or by the person themselves', async () => {
    const open = await submitted(zora, false)
    const waits = await submitted(kim, false)
    const erasure = await provisioning.readErasure(asAdmin, { personId: zora.id })
    expect(erasure.isBlocked).toBe(true)
    const idsOf = (requests: readonly Request[]) => requests.map(({ requestId }) => requestId)
    expect(idsOf(erasure.blocks.open)).toContain(open)
    expect(idsOf(erasure.blocks.waiting)).toContain(waits)
    expect([erasure.blocks.delegations.length, erasure.blocks.batches]).toEqual([1, 1])
    const confirmed = { address: zora.userPrincipalName, erasureId: randomUUID() }
    expect((await provisioning.orderErasure(asAdmin, { personId: zora.id, ...confirmed })).state).toBe('blocked')
    expect(
      (await provisioning.orderErasure(asAdmin, { personId: priya.id, ...confirmed, address: priya.userPrincipalName }))
        .state,
    ).toBe('blocked')
    expect(
      (await refusal(() => provisioning.orderErasure(actorOf(kim), { personId: zora.id, ...confirmed }))).code,
    ).toBe('forbidden')
    expect((await refusal(() => provisioning.readErasure(asAdmin, { personId: randomUUID() }))).code).toBe('not-found')

    // All listed work is finished: the delegations have ended, the requests too, and the batch has run.
    expect((await provisioning.endDelegationsOf(asAdmin, { personId: zora.id })).blocks.delegations).toEqual([])
    for (const { requestId } of erasure.blocks.open)
      await provisioning.cancelRequest(asAdmin, { requestId, comment: 'So.' })
    for (const { requestId } of erasure.blocks.waiting)
      await provisioning.cancelRequest(asAdmin, { requestId, comment: 'So.' })
    const { rows } = await core.database.query<{ id: string }>(
      `SELECT batch_id AS id FROM batches WHERE person_id = $1`,
      [zora.id],
    )
    for (const { id } of rows) await provisioning.cancelBatch(actorOf(zora), { batchId: id })
    expect((await provisioning.readErasure(asAdmin, { personId: zora.id })).isBlocked).toBe(false)
  })

  it('is not erased without the typed address, and ordered once for each card', async () => {
    const erasureId = randomUUID()
    const click = (address: string) => provisioning.orderErasure(asAdmin, { personId: zora.id, address, erasureId })
    expect((await click('zora')).state).toBe('mismatch')
    expect((await click(' ZORA.quibble@contoso.example ')).state).toBe('ordered')
    expect((await click(zora.userPrincipalName)).state).toBe('ordered')
    const { rows } = await core.database.query<{ payload: unknown }>(
      `SELECT payload FROM ordered_jobs WHERE name = 'erase-person'`,
    )
    expect(rows).toEqual([{ payload: { v: 1, tenantId, personId: zora.id, by: priya.id, erasureId } }])
  })

  it('is then deleted except the id, and every chain still proves', async () => {
    expect(await findings()).toEqual([])
    const { rows: before } = await core.database.query('SELECT 1 FROM requests')
    const order = { v: 1 as const, tenantId, personId: zora.id, by: priya.id, erasureId: randomUUID() }
    core.world.people.delete(zora.id)
    // The job is killed and runs again, and then once more because the queue missed its completion.
    const erase = stores.audit.erase
    const dying = core.with({
      ...stores,
      audit: { ...stores.audit, erase: async () => Promise.reject(new Error('killed')) },
    })
    await expect(dying.system.erasePerson(order)).rejects.toThrow('killed')
    expect(erase).toBe(stores.audit.erase)
    await provisioning.system.erasePerson(order)
    await provisioning.system.erasePerson(order)
    expect(await rowsWith(...traces)).toEqual([])
    expect(await findings()).toEqual([])
    expect((await core.database.query('SELECT 1 FROM requests')).rows).toHaveLength(before.length)
    expect(await rowsWith(new RegExp(zora.id))).not.toEqual([])
    expect(await rowsWith(new RegExp(erasedName))).not.toEqual([])
    const { entries } = await provisioning.readAudit(asAdmin, { requestId: tenantId })
    const completed = entries.filter(({ action }) => action === 'person-erased')
    expect(completed).toHaveLength(1)
    expect(completed[0]?.data).toMatchObject({ personId: zora.id, removed: { drafts: 1 } })
    // The admin keeps their name, also in entries without text; the erased person has no name.
    for (const { actor } of entries)
      if ('id' in actor) expect(actor.displayName).toBe(actor.id === priya.id ? priya.displayName : '')
  })

  it('leaves readable requests with their resources and without texts', async () => {
    const { requests } = await provisioning.listRequests(asAdmin, { limit: 100 })
    const own = requests.filter(({ requester }) => requester.id === zora.id)
    expect(own.length).toBeGreaterThan(3)
    for (const request of own) {
      expect(request.requester).toEqual({ id: zora.id, displayName: erasedName, userPrincipalName: '' })
      expect(request.reducedAt).toBeDefined()
    }
    expect(own.some(({ resource }) => resource !== null)).toBe(true)
  })

  it('is counted in the notice for the admin who ordered the erasure', async () => {
    const { rows } = await core.database.query<{ payload: { notice: string } }>(
      `SELECT payload FROM ordered_jobs WHERE name = 'tell'`,
    )
    const notices = rows.map(({ payload }) => payload.notice).filter((notice) => !notice.startsWith('batch:'))
    expect(notices).toEqual([expect.stringMatching(`^erased:${zora.id}:`)])
  })

  it('is stored again when the person comes back', async () => {
    core.world.people.set(zora.id, zora)
    const conversation = {
      tenantId,
      personId: zora.id,
      conversationId: 'a:new',
      reference: {},
      locale: 'en',
      timeZone: 'UTC',
    }
    expect(await stores.conversations.put(conversation)).toBe(true)
    expect((await submitted(zora, false)).length).toBe(36)
  })
})
