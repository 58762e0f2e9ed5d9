import { randomUUID } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import { permissions } from '../../src/microsoft365/index.ts'
import { textOf } from '../support/cards.ts'
import { actorOf, approversGroup, dana, kim, omar, priya, tenantId, withCore } from '../support/core.ts'
import { refusal } from '../support/refusal.ts'
import { templates, withService } from '../support/service.ts'

const hidden =
  'Microsoft Graph does not show whether accounts are enabled. So the service refuses everybody. Grant the app registration the application permission User.Read.All, with admin consent'

describe('a directory that hides whether accounts are enabled', () => {
  const service = withService()
  const consent = (users: 'User.Read.All' | 'User.ReadBasic.All') => {
    const graph = permissions.filter((one) => one.service === 'graph').map(({ name }) => name)
    return service.consent('graph', [...graph.filter((name) => name !== 'User.Read.All'), users])
  }
  const readable = async (users: 'User.Read.All' | 'User.ReadBasic.All', change: Record<string, string> = {}) => {
    await consent(users)
    // The directory caches answers for a minute.
    await service.restart(change)
  }
  afterEach(() => consent('User.Read.All'))

  it('refuses everybody by REST and names the remedy', async () => {
    await readable('User.ReadBasic.All')
    const { status, headers, body } = await service.rest('kim', 'GET', '/requests/v1/')
    expect([status, headers.get('retry-after')]).toEqual([503, '60'])
    expect(body).toMatchObject({
      code: 'unavailable',
      detail: 'Your account cannot be checked. The service lacks the permission User.Read.All. Tell an admin.',
    })
  })

  it('refuses everybody in chat and names the missing permission', async () => {
    await readable('User.ReadBasic.All')
    const { card } = await service.dana.says('new site')
    expect(textOf(card)).toContain('The service lacks the permission User.Read.All')
  })

  it('makes the health report red, for admins by their own id, and names the permission', async () => {
    await readable('User.ReadBasic.All', { ADMINS: '11111111-aaaa-4aaa-8aaa-000000000004' })
    const { status, body } = await service.rest('sam', 'GET', '/admin/v1/health')
    expect(status).toBe(200)
    const graph = Object(body)['parts'].find(({ name }: { name: string }) => name === 'graph')
    expect(graph).toMatchObject({ state: 'red', problem: expect.stringContaining(hidden) })
  })

  it('accepts everybody again after the permission is granted', async () => {
    await readable('User.ReadBasic.All')
    await readable('User.Read.All')
    expect((await service.rest('kim', 'GET', '/requests/v1/')).status).toBe(200)
  })
})

describe('an account without a user type', () => {
  const service = withService()

  it('is refused with a message that names the remedy', async () => {
    await service.account('kim', 'unclassified')
    const { status, body } = await service.rest('kim', 'GET', '/requests/v1/')
    expect(status).toBe(403)
    expect(body).toMatchObject({
      code: 'forbidden',
      detail:
        'Your account could be a guest: the directory shows no user type. A Microsoft 365 administrator can set userType to Member.',
    })
    expect((await service.rest('dana', 'GET', '/requests/v1/')).status).toBe(200)
  })

  it('cannot get access to a mailbox, and the fault names the field', async () => {
    await service.account('omar', 'unclassified')
    const { body } = await service.rest('dana', 'POST', '/requests/v1/preview', {
      ...{ templateId: templates.sharedMailbox, displayName: 'Help', name: `help-${randomUUID().slice(0, 8)}` },
      permissions: { [omar.id]: 'FullAccess' },
    })
    expect(body['errors']).toMatchObject([
      { pointer: `#/permissions/${omar.id}`, code: 'unreadable-person', suggestion: 'Omar Haddad' },
    ])
  })
})

describe.each([['accountEnabled'], ['userType']] as const)('a person whose %s could not be read', (property) => {
  const core = withCore()
  const unread = { ...dana, unread: [property] }
  const ask = async (...approvers: object[]) => {
    const { id } = await core.template({ approval: { stages: [{ approvers }] } })
    return core.provisioning.submitSite(actorOf(kim), { body: { displayName: `Site ${randomUUID()}`, templateId: id } })
  }
  const asUnread = async (work: () => Promise<void>) => {
    const members = core.world.groups.get(approversGroup) ?? []
    core.world.people.set(dana.id, unread)
    core.world.groups.set(approversGroup, [unread, omar, kim])
    try {
      await work()
    } finally {
      core.world.people.set(dana.id, dana)
      core.world.groups.set(approversGroup, members)
    }
  }

  it('is refused as a caller', () =>
    asUnread(async () => {
      const { code } = await refusal(() => core.provisioning.actor({ tenantId, id: dana.id }))
      expect(code).toBe(property === 'userType' ? 'forbidden' : 'unavailable')
    }))

  it('is not an approver, as a member of a group or by name', () =>
    asUnread(async () => {
      const byGroup = await ask({ group: approversGroup })
      expect(byGroup.approvals[0]?.approvers.map(({ id }) => id)).toEqual([omar.id])
      const byName = await ask({ user: dana.id })
      expect(byName.approvals[0]).toMatchObject({ resolvedTo: 'admins', approvers: [{ id: priya.id }] })
    }))

  it('cannot own a site', () =>
    asUnread(async () => {
      const { id } = await core.template()
      const body = { displayName: `Site ${randomUUID()}`, templateId: id, owners: [omar.id, dana.id] }
      const { faults } = await refusal(() => core.provisioning.submitSite(actorOf(kim), { body }))
      expect(faults).toMatchObject([{ pointer: '/owners/1', code: 'unreadable-person' }])
    }))

  it('cannot be a delegate', () =>
    asUnread(async () => {
      const until = new Date(Date.now() + 86_400_000).toISOString()
      const { faults } = await refusal(() => core.provisioning.beginDelegation(actorOf(omar), { to: dana.id, until }))
      expect(faults).toMatchObject([{ pointer: '/to', code: 'cannot-decide' }])
    }))
})
