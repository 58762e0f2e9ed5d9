import { randomUUID } from 'node:crypto'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, inject, it } from 'vitest'
import { readConfig } from '../../src/app/config.ts'
import { textOf } from '../support/cards.ts'
import { dana, kim, omar } from '../support/microsoft365.ts'
import { templates, withService } from '../support/service.ts'
import { withTenant } from '../support/simulated-tenant.ts'

/** Contoso's group whose members are another group, a colleague, a blocked account and a guest. */
const partnerBoard = '22222222-bbbb-4bbb-8bbb-000000000004'
const [siobhan, ivo, anna] = [19, 46, 47].map((number) => `11111111-aaaa-4aaa-8aaa-0000000000${number}`)

describe('the directory', () => {
  const contoso = withTenant()

  it('returns members of nested groups, and marks blocked accounts and guests', async () => {
    const members = await contoso.directory.membersOf(partnerBoard)
    expect(members.map(({ id }) => id).sort()).toEqual([dana.id, omar.id, siobhan, ivo, anna].sort())
    expect(members.filter(({ isBlocked }) => isBlocked).map(({ id }) => id)).toEqual([ivo])
    expect(members.filter(({ isGuest }) => isGuest).map(({ id }) => id)).toEqual([anna])
  })

  it('returns the owners of a group, and nobody for a group that does not exist', async () => {
    const owners = await contoso.directory.ownersOf(partnerBoard)
    expect(owners.map(({ id, isBlocked = false }) => [id, isBlocked])).toEqual([
      [siobhan, false],
      [ivo, true],
    ])
    expect(await contoso.directory.ownersOf(randomUUID())).toEqual([])
  })

  it('counts guests and unknown people as external', async () => {
    const { directory } = contoso
    const external = await Promise.all([kim.id, anna ?? '', randomUUID()].map((id) => directory.isExternal(id)))
    expect(external).toEqual([false, true, true])
  })

  it('returns a person’s groups without the cache on request', async () => {
    const { directory } = contoso
    await directory.groupsOf(dana.id)
    await contoso.forgetCalls()
    const operations = async () => (await contoso.calls()).map(({ operation }) => operation)
    await directory.groupsOf(dana.id)
    expect(await operations()).toEqual([])
    expect(await directory.groupsOf(dana.id, { uncached: true })).toContain(partnerBoard)
    expect(await operations()).toEqual(['graph.users.transitiveMemberOf'])
  })
})

describe('a policy with conditions, by REST and in chat', () => {
  const service = withService()
  const write = async (approval: object) => {
    const path = `/templates/v1/${templates.workingGroup}`
    const { headers, body } = await service.rest('sam', 'GET', path)
    const changed = { ...(body as object), approval }
    return service.rest('sam', 'PUT', path, changed, { 'if-match': headers.get('etag') ?? '' })
  }
  const ask = async (more: object) => {
    const body = { templateId: templates.workingGroup, displayName: `Policy ${randomUUID().slice(0, 8)}`, ...more }
    const { requestId } = (await service.rest('kim', 'POST', '/collab/v1/spo/', body)).body
    return (await service.rest('kim', 'GET', `/requests/v1/${requestId}`)).body
  }

  it('is rejected with a pointer to the invalid field', async () => {
    const approvers = [{ group: partnerBoard }]
    const wrong: [object, string][] = [
      [{ approvers: [] }, '#/approval/stages/0/approvers'],
      [{ approvers, rule: 'quorum', quorum: 0 }, '#/approval/stages/0/quorum'],
      [{ approvers, when: [{ field: 'capacity', above: 20 }] }, '#/approval/stages/0/when/0/field'],
      [{ approvers, when: [{ field: 'labelId', oneOf: ['x'] }] }, '#/approval/stages/0/when/0/oneOf/0'],
    ]
    for (const [stage, pointer] of wrong) {
      const { status, body } = await write({ stages: [stage] })
      const errors: unknown = body['errors']
      expect([status, errors]).toEqual([422, [expect.objectContaining({ pointer })]])
    }
  })

  it('names a group’s owners for external owners, and shows why the admins replace blocked approvers', async () => {
    await Promise.all([service.kim.installs(), service.sam.installs()])
    const external = { approvers: [{ ownersOf: partnerBoard }], when: [{ externalOwners: true }] }
    const blocked = { approvers: [{ user: ivo }], when: [{ field: 'owners', above: 1 }] }
    expect((await write({ stages: [external, blocked] })).status).toBe(200)
    expect(await ask({})).toMatchObject({ approvalRequired: false, approvals: [] })
    const request = await ask({ owners: [anna] })
    expect(request['approvals']).toMatchObject([
      { stage: 1, approvers: [{ id: siobhan }] },
      { stage: 2, approvers: [{ displayName: 'Sam Roy' }], resolvedTo: 'admins', resolvedFor: 'blocked' },
    ])
    const alone = await ask({ owners: [dana.id] })
    expect(alone['approvals']).toMatchObject([{ stage: 1, resolvedTo: 'admins', resolvedFor: 'blocked' }])
    await service.sam.sees(/You decide as an admin because the approvers cannot sign in/)
    await service.sam.sees(/Approval is needed because of Owners: 2 \(above 1\)/)
    const { card } = await service.kim.says(`status ${alone['reference']}`)
    expect(textOf(card)).toMatch(/Admins decide because the approvers cannot sign in/)
    expect(textOf(card)).toMatch(/Waiting for Sam Roy/)
  })
})

it('an invalid policy in a file of templates stops the start with a pointer to the field', async () => {
  const folder = mkdtempSync(join(inject('runFolder'), 'templates-'))
  const file = join(folder, 'templates.json')
  const approval = { stages: [{ approvers: [{ manager: true }], when: [{ field: 'capacity', above: 20 }] }] }
  writeFileSync(file, JSON.stringify([{ id: randomUUID(), version: 1, kind: 'teamSite', name: 'Club', approval }]))
  const reading = () => readConfig({ TEMPLATES_FILE: file })
  expect(reading).toThrow(
    /TEMPLATES_FILE .+\n.+stages\/0\/when\/0\/field: .*capacity is a field of neither this kind \(teamSite\) nor this template/,
  )
})
