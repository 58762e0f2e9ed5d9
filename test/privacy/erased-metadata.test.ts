import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { reasonText } from '../../src/cards/index.ts'
import { type Core, erasedName, mentions, type Person, type PersonRecord, withoutPerson } from '../../src/core/index.ts'
import { personRecords } from '../../src/core/privacy/exporting.ts'
import { provedAll } from '../../src/store/audit/chain.ts'
import { createStores, type Stores } from '../../src/store/index.ts'
import { auditKey } from '../support/audit-chains.ts'
import { actorOf, dana, kim, omar, priya, tenantId, tenantWith, withCore } from '../support/core.ts'

const zoe: Person = {
  id: '99999999-abcd-4abc-8abc-0000000000ee',
  displayName: 'Zoë Vánszky',
  userPrincipalName: 'zv@contoso.example',
}
const mail = 'zoe.vanszky@contoso.example'
const known = { ...zoe, alsoKnownAs: [mail, 'Zoë Marlowe'] }

describe('metadata without a person', () => {
  it.each<[string, unknown, unknown]>([
    ['their name under a key that elsewhere is an address', { name: zoe.displayName }, { name: erasedName }],
    [
      'under every other such key',
      { url: mail, code: zoe.id, address: mail },
      { url: erasedName, code: erasedName, address: erasedName },
    ],
    ['their id in upper case', { owner: zoe.id.toUpperCase() }, { owner: erasedName }],
    [
      'an address in a longer text',
      { note: `ask ${mail.toUpperCase()}, please` },
      { note: `ask ${erasedName}, please` },
    ],
    [
      'an address with a tag, and one in a link',
      { a: 'zv+x@contoso.example', b: 'mailto:zv%40contoso.example' },
      { a: erasedName, b: `mailto:${erasedName}` },
    ],
    [
      'a name with more spaces, in capitals, in another form of Unicode',
      { a: 'ZOË   vánszky', b: zoe.displayName.normalize('NFD') },
      { a: erasedName, b: erasedName },
    ],
    ['a former name', { by: 'Zoë Marlowe' }, { by: erasedName }],
    ['keys', { [`for ${zoe.displayName}`]: 1, [zoe.id]: true }, { [`for ${erasedName}`]: 1, [erasedName]: true }],
    [
      'keys that become the same',
      { [mail]: 1, [zoe.id]: 2, [erasedName]: 3 },
      { [`${erasedName} 2`]: 1, [`${erasedName} 3`]: 2, [erasedName]: 3 },
    ],
    ['lists and objects inside', { a: [{ name: [mail, 7] }] }, { a: [{ name: [erasedName, 7] }] }],
    ['JSON in a text', { a: JSON.stringify({ name: mail }) }, { a: JSON.stringify({ name: erasedName }) }],
  ])('lacks %s', (_, metadata, left) => {
    expect(withoutPerson({ details: { metadata } }, known)).toEqual({ details: { metadata: left } })
  })

  it('is also in judged conditions and applied defaults', () => {
    const of = (answer: string) => ({
      policy: [{ conditions: [{ condition: { field: 'metadata.contact', is: answer }, found: answer }] }],
      applied: [{ field: 'metadata.contact', value: answer }],
    })
    expect(withoutPerson(of(zoe.id), known)).toEqual(of(erasedName))
    expect(mentions(withoutPerson(of(zoe.id), known), known)).toBe(false)
  })

  it('is not in the reasons of refusals either', () => {
    const of = (name: string) => ({ faults: [{ reason: { key: 'personBlocked', facts: { name } } }] })
    expect(withoutPerson(of(zoe.displayName), known)).toEqual(of(erasedName))
  })

  it('keeps other people’s addresses, longer names that contain theirs, and all other values', () => {
    const metadata = {
      a: 'a.zv@contoso.example, zv@contoso.example.org, zv2@contoso.example, xzv@contoso.example',
      b: 'Zoë Vánszkyová',
      c: 4711,
      d: false,
    }
    expect(withoutPerson({ metadata }, known)).toEqual({ metadata })
    expect(withoutPerson({ name: 'zv', address: zoe.userPrincipalName }, known)).toEqual({
      ...{ name: 'zv', address: zoe.userPrincipalName },
    })
  })

  it('never contains the person, loses nothing else, and stays the same when repeated', () => {
    const trace = fc.constantFrom(zoe.id, zoe.id.toUpperCase(), zoe.displayName, mail, zoe.userPrincipalName)
    const text = fc.oneof(
      trace,
      fc.string(),
      fc.tuple(fc.lorem(), trace).map((parts) => parts.join(' ')),
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof({ depthSize: 'small' }, text, fc.integer(), fc.boolean(), fc.array(tie('tree')), tie('object')),
      object: fc.dictionary(text, tie('tree')),
    }))
    const sizeOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce<number>((sum, one) => sum + sizeOf(one), 1)
        : 1
    fc.assert(
      fc.property(fc.dictionary(text, tree), (metadata) => {
        const left = withoutPerson({ metadata }, known)
        const written = JSON.stringify(left).toLowerCase()
        for (const one of [zoe.id, mail, zoe.displayName.toLowerCase()]) expect(written).not.toContain(one)
        expect(sizeOf(left)).toBe(sizeOf({ metadata }))
        expect(withoutPerson(left, known)).toEqual(left)
      }),
    )
  })
})

describe('a person in other people’s metadata', () => {
  const core = withCore()
  const asAdmin = actorOf(priya, true)
  let stores: Stores
  let provisioning: Core
  let templateId = ''
  beforeAll(async () => {
    core.world.people.set(zoe.id, zoe)
    core.world.addresses.set(zoe.id, [mail])
    stores = createStores(core.database, auditKey)
    provisioning = core.with({ ...stores, tenant: tenantWith() })
    const fields = [
      { key: 'who', type: 'person', label: 'Who' },
      { key: 'contact', type: 'text', label: 'Contact' },
    ]
    const template = await core.template({ fields, approval: { stages: [{ approvers: [{ user: omar.id }] }] } })
    templateId = template.id
  })
  const ask = async (metadata: object, by: Person = kim): Promise<string> => {
    const body = { templateId, displayName: `Site ${randomUUID().slice(0, 8)}`, metadata }
    const { requestId } = await provisioning.submitSite(actorOf(by), { body })
    await provisioning.reject(actorOf(omar), { requestId, comment: 'No.' })
    return requestId
  }
  const metadataOf = async (requestId: string) => (await core.ports.requests.find(requestId))?.details.metadata

  type Rows = Readonly<Record<string, Record<string, unknown>[]>>
  const allRows = async (): Promise<Rows> => {
    const { rows } = await core.database.query<{ name: string }>(
      `SELECT table_name AS name FROM information_schema.tables
       WHERE table_schema = current_schema() AND table_type = 'BASE TABLE' AND table_name <> 'ordered_jobs' ORDER BY 1`,
    )
    const read = rows.map(async ({ name }) => {
      const { rows } = await core.database.query<{ row: Record<string, unknown> }>(
        `SELECT to_jsonb(t) AS row FROM "${name}" t`,
      )
      return [name, rows.map(({ row }) => row)] as const
    })
    return Object.fromEntries(await Promise.all(read))
  }
  const exported = async (): Promise<PersonRecord[]> => {
    const all: PersonRecord[] = []
    for await (const page of personRecords({ ...core.ports, ...stores }, tenantId, zoe.id)) all.push(...page)
    return all
  }
  /** Whether a record of the export is this row: its body, or its columns. */
  const isOf = (record: unknown, row: Record<string, unknown>): boolean => {
    if (isDeepStrictEqual(record, row['body'])) return true
    const columns = Object.entries(Object(record))
    if ('hash' in row) return Object(record)['hash'] === row['hash']
    return columns.length > 0 && columns.every(([column, value]) => isDeepStrictEqual(row[column], value))
  }

  it('is found under any key, exported, and erased, with the audit proved', async () => {
    const names: string[] = []
    names.push(await ask({ contact: `write to ${mail.toUpperCase()}`, name: zoe.displayName, address: mail }))
    names.push(await ask({ ownerId: zoe.id.toUpperCase(), [`desk of ${zoe.displayName}`]: true }))
    names.push(await ask({ who: zoe.id }))
    const former = { ...zoe, displayName: 'Zoë Marlowe' }
    const own = await ask({ contact: 'mine' }, former)
    names.push(await ask({ code: 'for Zoë Marlowe' }))
    const kept = await ask({ contact: 'zoe@else.example', name: 'Zoë' })
    const opened = await provisioning.openDraft(actorOf(dana), { templateId })
    if (opened.step !== 'details') throw new Error('no form')
    await provisioning.keepDraft(actorOf(dana), {
      requestId: opened.draft.requestId,
      version: opened.draft.version,
      values: {
        ...{ displayName: 'Draft', 'metadata.contact': mail, 'metadata.who': zoe.id },
      },
    })
    const row = {
      key: '1',
      body: { displayName: 'Row', templateId, metadata: { name: mail, list: [{ url: zoe.id }] } },
    }
    await provisioning.beginBatch(actorOf(dana), { batchId: randomUUID(), resource: 'site', rows: [row] })
    const key = { tenantId, personId: dana.id, route: 'POST /x', key: randomUUID() }
    const keepUntil = new Date(Date.now() + 1e8)
    const attempt = {
      fingerprint: 'f',
      requestId: randomUUID(),
      holder: 'h',
      at: new Date(),
      leaseUntil: keepUntil,
      keepUntil,
    }
    await stores.idempotency.claim(key, attempt)
    await stores.idempotency.complete(key, {
      status: 202,
      headers: {},
      body: JSON.stringify({ metadata: { name: mail } }),
    })

    const before = await allRows()
    const records = await exported()
    const order = { v: 1 as const, tenantId, personId: zoe.id, by: priya.id, erasureId: randomUUID() }
    const killed = core.with({
      ...stores,
      audit: { ...stores.audit, erase: async () => Promise.reject(new Error('killed')) },
    })
    await expect(killed.system.erasePerson(order)).rejects.toThrow('killed')
    await provisioning.system.erasePerson(order)
    const after = await allRows()

    // No trace is left, and nothing else is missing.
    const traces = new RegExp(`${mail}|vánszky|marlowe|zv@contoso`, 'i')
    const left = Object.entries(after).flatMap(([name, rows]) =>
      rows.filter((one) => traces.test(JSON.stringify(one))).map((one) => `${name}: ${JSON.stringify(one)}`),
    )
    expect(left).toEqual([])
    for (const id of names) expect(JSON.stringify(await metadataOf(id)).toLowerCase()).not.toContain(zoe.id)
    expect(await metadataOf(names[1] ?? '')).toEqual({ ownerId: erasedName, [`desk of ${erasedName}`]: true })
    expect(await metadataOf(kept)).toEqual({ contact: 'zoe@else.example', name: 'Zoë' })
    expect(await metadataOf(own)).toEqual({})
    for (const table of ['drafts', 'batch_rows', 'idempotency_keys'])
      expect(JSON.stringify(after[table])).toContain(erasedName)

    // All changed or removed records were in the export.
    const changed = Object.entries(before).flatMap(([table, rows]) => {
      const now = after[table] ?? []
      return rows
        .filter((one) => !now.some((other) => isDeepStrictEqual(other, one)))
        .map((one) => ({ table, row: one }))
    })
    const beyond = changed.filter(({ table }) => table !== 'audit_heads')
    expect(new Set(beyond.map(({ table }) => table))).toEqual(
      new Set(['audit_log', 'batch_rows', 'drafts', 'idempotency_keys', 'requests']),
    )
    const missing = beyond.filter(
      ({ table, row }) => !records.some((one) => one.table === table && isOf(one.record, row)),
    )
    expect(missing).toEqual([])

    const findings: string[] = []
    for await (const { requestId, findings: all } of provedAll(core.database, auditKey))
      findings.push(...all.map(({ reason }) => `${requestId}: ${reasonText(reason)}`))
    expect(findings).toEqual([])
    // A repeated erasure changes nothing.
    await provisioning.system.erasePerson(order)
    expect(await allRows()).toEqual(after)
  })

  it('is reported on the card of the erasure if a template names them', async () => {
    const fields = [{ key: 'contact', type: 'text', label: 'Contact', default: mail }]
    const { name } = await core.template({ name: 'With a contact', fields })
    expect((await provisioning.readErasure(asAdmin, { personId: zoe.id })).templates).toContain(name)
  })
})
