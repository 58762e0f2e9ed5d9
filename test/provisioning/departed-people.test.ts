import { afterEach, describe, expect, it } from 'vitest'
import {
  type Account,
  type MailboxStepInput,
  type Person,
  type Request,
  type ResourceKind,
  resourceKinds,
  type SiteStepInput,
  type StepResult,
} from '../../src/core/index.ts'
import { actorOf, dana, kim, omar, priya, stranger, tenantId, tenantWith, withCore } from '../support/core.ts'
import { named, refusal } from '../support/refusal.ts'
import { withTenant } from '../support/simulated-tenant.ts'

const run = { lastAttempt: true, signal: new AbortController().signal }
const isMailbox = (kind: ResourceKind): boolean => kind.endsWith('Mailbox')
const asKim = actorOf(kim)
/** The people that are restored in the directory after each test. */
const everybody = [kim, dana, omar, priya, stranger]

describe('the people of a request being created', () => {
  const core = withCore()
  const inputs: (SiteStepInput | MailboxStepInput)[] = []
  const recordSite = async (input: SiteStepInput | MailboxStepInput): Promise<StepResult> => {
    inputs.push(input)
    return { done: true, made: { url: 'https://contoso.sharepoint.com/sites/x', siteId: 's', securityGroupId: 'g' } }
  }
  const mailbox = { mailboxId: 'm', userId: 'u', userPrincipalName: 'made@contoso.example' }
  const recordMailbox = async (input: MailboxStepInput) => {
    inputs.push(input)
    return { done: true, made: mailbox } as const
  }
  const tenant = tenantWith(
    { 'create-site': recordSite, 'add-owners': recordSite },
    { 'create-mailbox': recordMailbox, 'grant-access': recordMailbox },
  )
  const provisioning = () => core.with({ tenant })
  afterEach(() => {
    inputs.length = 0
    for (const one of everybody) core.world.people.set(one.id, one)
    core.world.guests.clear()
  })
  const becomes = {
    gone: ({ id }: Person) => core.world.people.delete(id),
    blocked: (one: Person) => core.world.people.set(one.id, { ...one, isBlocked: true }),
    guest: ({ id }: Person) => core.world.guests.add(id),
    unread: (one: Person) => core.world.people.set(one.id, { ...one, unread: ['accountEnabled'] }),
  } as const
  type Why = keyof typeof becomes

  const bodyOf = async (kind: ResourceKind, more: object = {}, template: object = {}) => {
    const { id: templateId } = await core.template({ kind, ...template })
    const name = `n-${templateId.slice(0, 8)}`
    const people = isMailbox(kind)
      ? { name, permissions: { [omar.id]: 'FullAccess', [stranger.id]: 'None' }, primaryOwner: dana.id }
      : { owners: [omar.id, dana.id] }
    return { templateId, displayName: name, ...people, ...more }
  }
  const submit = (kind: ResourceKind, body: object): Promise<Request> =>
    isMailbox(kind) ? provisioning().submitMailbox(asKim, { body }) : provisioning().submitSite(asKim, { body })
  const provisioned = async (requestId: string): Promise<Request> => {
    await provisioning().system.provision(requestId, run)
    const found = await core.ports.requests.find(requestId)
    if (!found) throw new Error('the request is gone')
    return found
  }

  describe.each(resourceKinds)('of a %s', (kind) => {
    const first = isMailbox(kind) ? 'create-mailbox' : 'create-site'

    it.each<[Why, string, Person]>(
      (['gone', 'blocked', 'guest', 'unread'] as const).flatMap((why) =>
        [kim, omar, dana].map((one): [Why, string, Person] => [why, one.displayName, one]),
      ),
    )('let it fail before anything is created: %s, %s', async (why, _, person) => {
      const { requestId, number } = await submit(kind, await bodyOf(kind))
      becomes[why](person)
      const request = await provisioned(requestId)
      expect([request.status, inputs]).toEqual(['failed', []])
      const { id, displayName, userPrincipalName } = person
      expect(request.problem).toMatchObject({
        ...{ code: 'people-unavailable', step: first },
        people: [{ id, displayName, userPrincipalName, why }],
      })
      for (const part of [displayName, `admin retry REQ-${number}`, `admin cancel REQ-${number}`])
        expect(request.problem?.detail).toContain(part)
      expect(await core.orderedJobs(requestId)).toEqual(expect.arrayContaining(['notify', 'notify-admins']))
      // After the account is restored, the retry checks again and continues.
      expect((await provisioning().retryRequest(actorOf(priya, true), { requestId })).status).toBe('queued')
      expect((await provisioned(requestId)).status).toBe('failed')
      core.world.people.set(person.id, person)
      core.world.guests.clear()
      await provisioning().retryRequest(actorOf(priya, true), { requestId })
      expect((await provisioned(requestId)).status).toBe('succeeded')
    })

    it('are reported all at once', async () => {
      const { requestId } = await submit(kind, await bodyOf(kind))
      becomes.gone(omar)
      becomes.blocked(dana)
      const { problem } = await provisioned(requestId)
      expect(problem?.people?.map(({ id, why }) => [id, why]).toSorted()).toEqual(
        [
          [omar.id, 'gone'],
          [dana.id, 'blocked'],
        ].toSorted(),
      )
    })

    it('have their current names, found by id', async () => {
      const { requestId } = await submit(kind, await bodyOf(kind))
      const renamed = (one: Person, name: string): Account => ({ ...one, userPrincipalName: `${name}@contoso.example` })
      core.world.people.set(kim.id, renamed(kim, 'kim.new'))
      core.world.people.set(omar.id, renamed(omar, 'omar.new'))
      // Another person now has Kim's former sign-in name.
      core.world.people.set(stranger.id, { ...stranger, userPrincipalName: kim.userPrincipalName })
      expect((await provisioned(requestId)).status).toBe('succeeded')
      const passed = inputs.map((input) =>
        'owners' in input
          ? [input.requester, ...input.owners].map(({ userPrincipalName }) => userPrincipalName)
          : input.access.map(({ person }) => person.userPrincipalName),
      )
      const expected = isMailbox(kind)
        ? ['omar.new@contoso.example']
        : ['kim.new', 'kim.new', 'omar.new', 'dana'].map((name) => `${name}@contoso.example`)
      expect(passed).toEqual([expected, expected])
    })

    it('are looked up again after the directory did not answer', async () => {
      const { requestId } = await submit(kind, await bodyOf(kind))
      core.world.up = false
      const again = { ...run, lastAttempt: false }
      await expect(provisioning().system.provision(requestId, again)).rejects.toThrow('away')
      core.world.up = true
      expect([inputs, (await provisioned(requestId)).status]).toEqual([expect.anything(), 'succeeded'])
    })

    it('let the step fail that would give rights to a person who left after an earlier step', async () => {
      const { requestId } = await submit(kind, await bodyOf(kind))
      const before = isMailbox(kind)
        ? tenantWith({}, { 'grant-access': async () => Promise.reject(new Error('nobody gets access')) })
        : tenantWith({ 'add-owners': async () => Promise.reject(new Error('nobody becomes owner')) })
      const failing = core.with({ tenant: before })
      await expect(failing.system.provision(requestId, { ...run, lastAttempt: false })).rejects.toThrow('nobody')
      becomes.gone(omar)
      const request = await provisioned(requestId)
      const step = isMailbox(kind) ? 'grant-access' : 'add-owners'
      expect([request.status, request.problem?.code, request.problem?.step, inputs]).toEqual([
        ...['failed', 'people-unavailable', step],
        [],
      ])
    })
  })

  it('are not checked if they get no access', async () => {
    const { requestId } = await submit('sharedMailbox', await bodyOf('sharedMailbox'))
    becomes.gone(stranger)
    expect((await provisioned(requestId)).status).toBe('succeeded')
  })

  it('are not checked again by the ready check', async () => {
    const { requestId } = await submit('teamSite', await bodyOf('teamSite'))
    const last = tenantWith({
      'add-owners': async () => {
        becomes.gone(omar)
        return { done: true, made: { url: 'https://x', siteId: 's', securityGroupId: 'g' } }
      },
    })
    await core.with({ tenant: last }).system.provision(requestId, run)
    expect((await core.ports.requests.find(requestId))?.status).toBe('succeeded')
  })

  it('do not include an application that requested it', async () => {
    const body = await bodyOf('sharedMailbox', { permissions: {}, primaryOwner: undefined })
    const application = { id: '77777777-aaaa-4aaa-8aaa-000000000001', displayName: 'Application x' }
    const actor = { ...application, userPrincipalName: '', tenantId, isAdmin: false, clientId: 'x' }
    const { requestId } = await provisioning().submitMailbox(actor, { body })
    expect((await provisioned(requestId)).status).toBe('succeeded')
  })

  it('may be guests if the template allows guests', async () => {
    core.world.guests.add(omar.id)
    const body = await bodyOf('teamSite')
    const { requestId } = await submit('teamSite', body)
    expect((await provisioned(requestId)).status).toBe('succeeded')
    const none = await bodyOf('teamSite', {}, { limits: { externalOwners: false } })
    core.world.external.add(omar.id)
    const { faults } = await refusal(() => submit('teamSite', none))
    expect(named(faults)).toEqual(['/owners/0 external-owner'])
    core.world.external.clear()
  })

  it('are refused at submission if they can never get access', async () => {
    becomes.blocked(omar)
    const site = await refusal(async () => submit('teamSite', await bodyOf('teamSite')))
    expect(named(site.faults)).toEqual(['/owners/0 person-blocked'])
    const mailbox = await refusal(async () => submit('roomMailbox', await bodyOf('roomMailbox')))
    expect(named(mailbox.faults)).toEqual([`/permissions/${omar.id} person-blocked`])
    core.world.people.set(omar.id, omar)
    becomes.guest(omar)
    const access = await refusal(async () => submit('sharedMailbox', await bodyOf('sharedMailbox')))
    expect(named(access.faults)).toEqual([`/permissions/${omar.id} person-guest`])
  })
})

describe('a communication site whose requester was renamed', () => {
  const core = withCore()
  const contoso = withTenant()

  it('belongs to the requester, not to the person who has their former name now', async () => {
    const { tenant, directory } = contoso
    const provisioning = core.with({ tenant, directory })
    const { id: templateId } = await core.template({ kind: 'communicationSite' })
    // At the submission Kim had the sign-in name that Dana has now.
    const former = { ...kim, userPrincipalName: dana.userPrincipalName }
    const body = { templateId, displayName: 'Renamed' }
    const { requestId } = await provisioning.submitSite(actorOf(former), { body })
    await expect
      .poll(
        async () => {
          await provisioning.system.provision(requestId, run)
          return (await core.ports.requests.find(requestId))?.status
        },
        { timeout: 60_000 },
      )
      .toBe('succeeded')
    const [call] = (await contoso.calls()).filter(({ operation }) => operation === 'sharepoint.site.create')
    expect(call?.body).toMatchObject({ request: { Owner: kim.userPrincipalName } })
  })
})
