import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Candidate,
  type Context,
  type Ports,
  type RequestedName,
  similarAmong,
  similarCandidates,
  similarResources,
} from '../../src/core/index.ts'
import { dana, kim, omar, priya, siteRoot } from '../support/card-world.ts'
import { actorOf, withCore } from '../support/core.ts'

const asKim = actorOf(kim)
const group = (displayName: string, more: Partial<Candidate> = {}): Candidate => {
  const alias = displayName.toLowerCase().replaceAll(' ', '-')
  return { of: 'group', id: alias, displayName, address: `${siteRoot}${alias}`, alias, isPublic: false, ...more }
}
/** Runs both parts of the search, like a preview. */
const findSimilar = async (context: Context<Ports>, wanted: RequestedName) =>
  similarAmong(context, wanted, await similarCandidates(context.ports, wanted))
const never = <T>() => new Promise<T>(() => undefined)

describe('similar resources', () => {
  const core = withCore()
  beforeEach(() => {
    core.world.similar = [group('Marketing'), group('Sales'), group('Marketing EMEA'), group('Marketting')]
    core.world.owners.clear()
    core.world.up = true
  })
  const contextOf = (ports: Ports) => ({ ports, settings: core.provisioning.settings, actor: asKim })
  const marketing = { kind: 'teamSite', displayName: 'Marketing' } as const
  const found = async (wanted: Parameters<typeof findSimilar>[1] = marketing) =>
    findSimilar(contextOf(core.ports), wanted)
  const names = async (wanted?: Parameters<typeof findSimilar>[1]) =>
    (await found(wanted)).resources.map(({ displayName }) => displayName)
  /** Returns the ports with a changed directory. */
  const withDirectory = (change: Partial<Ports['directory']>): Ports => ({
    ...core.ports,
    directory: { ...core.ports.directory, ...change },
  })

  it('have similar names, the most similar first', async () => {
    expect(await names()).toEqual(['Marketing', 'Marketting', 'Marketing EMEA'])
    expect(await names({ ...marketing, displayName: 'Sale' })).toEqual([])
    expect(await names({ ...marketing, displayName: '🚀' })).toEqual([])
  })

  it('are at most three, with the number of the others', async () => {
    const letters = ['Marketing A', 'Marketing B', 'Marketing C', 'Marketing D', 'Marketing E']
    core.world.similar = letters.map((name) => group(name))
    const { resources, more } = await found()
    expect([resources.length, more]).toEqual([3, 2])
    expect(similarResources.parse({ resources, more })).toEqual({ resources, more })
  })

  it('leave out the resource of the request itself, by its address or its group', async () => {
    expect(await names({ ...marketing, address: `${siteRoot}marketing` })).toEqual(['Marketting', 'Marketing EMEA'])
    core.world.similar = [group('Marketing', { address: 'marketing@contoso.example' })]
    expect(await names({ ...marketing, address: `${siteRoot}Marketing/` })).toEqual([])
    expect(await names({ ...marketing, address: `${siteRoot}marketing-2` })).toEqual(['Marketing'])
  })

  it('name up to three owners who can give access, without blocked accounts', async () => {
    core.world.owners.set('marketing', [{ ...dana, isBlocked: true }, omar, priya])
    const [first, second] = (await found()).resources
    expect(first).toMatchObject({ access: 'ask', kind: 'teamSite', address: `${siteRoot}marketing` })
    expect(first?.owners.map(({ id }) => id)).toEqual([omar.id, priya.id])
    expect(second).toMatchObject({ access: 'ask', owners: [] })
  })

  it('show whether the person can open them as an owner, as a member or publicly', async () => {
    core.world.owners.set('marketing', [kim, dana])
    core.world.groups.set('marketting', [kim])
    core.world.similar = [group('Marketing'), group('Marketting'), group('Marketing EMEA', { isPublic: true })]
    expect((await found()).resources.map(({ access }) => access)).toEqual(['own', 'open', 'open'])
    core.world.similar = [group('Marketing', { of: 'site', alias: '' })]
    expect((await found()).resources).toEqual([
      { displayName: 'Marketing', address: `${siteRoot}marketing`, access: 'open', owners: [] },
    ])
  })

  it.each([
    ['sharedMailbox', 'ask'],
    ['roomMailbox', 'open'],
    ['equipmentMailbox', 'open'],
  ] as const)('of the kind %s have no owners and the access %s', async (kind, access) => {
    const address = 'marketing@contoso.example'
    core.world.similar = [group('Marketing', { of: 'account', alias: '', address })]
    const wanted = { kind, displayName: 'Marketing' }
    expect((await found(wanted)).resources).toEqual([{ kind, displayName: 'Marketing', address, access, owners: [] }])
    expect(await names({ ...wanted, address })).toEqual([])
  })

  it('leave out resources that the person may not see', async () => {
    const visible = core.world.similar.filter(({ displayName }) => displayName !== 'Marketing')
    const ports = withDirectory({ visibleTo: async () => [] })
    expect(await findSimilar(contextOf(ports), marketing)).toEqual({ resources: [], more: 0 })
    const some = withDirectory({ visibleTo: async (_, all) => all.filter((one) => visible.includes(one)) })
    const { resources, more } = await findSimilar(contextOf(some), marketing)
    expect([resources.map(({ displayName }) => displayName), more]).toEqual([['Marketting', 'Marketing EMEA'], 0])
  })

  it.each([
    ['does not find them', { similar: never<readonly Candidate[]> }],
    ['does not check their visibility', { visibleTo: never<readonly Candidate[]> }],
    ['does not return their owners', { ownersOf: never<[]> }],
  ])('are empty when the directory %s in time', async (_, silent) => {
    expect(await findSimilar(contextOf(withDirectory(silent)), marketing)).toEqual({
      resources: [],
      more: 0,
    })
  })

  it('are empty while the directory does not answer, but a defect is thrown', async () => {
    core.world.up = false
    expect(await found()).toEqual({ resources: [], more: 0 })
    const broken = withDirectory({ similar: async () => Promise.reject(new TypeError('a defect')) })
    await expect(findSimilar(contextOf(broken), marketing)).rejects.toThrow('a defect')
  })
})

describe('a review', () => {
  const core = withCore()

  it('searches for similar resources each time it is shown, but not when it is sent', async () => {
    const { id } = await core.template()
    core.world.similar = [group('Drawings Archive')]
    const searches: string[] = []
    const { directory } = core.ports
    const provisioning = core.with({
      directory: {
        ...directory,
        similar: (query) => {
          searches.push(query.beginnings.join())
          return directory.similar(query)
        },
      },
    })
    const opened = await provisioning.openDraft(asKim, { templateId: id })
    if (opened.step !== 'details') throw new Error(`the form is at ${opened.step}`)
    expect(searches).toEqual([])
    const { requestId } = opened.draft
    const review = await provisioning.reviewDraft(asKim, {
      requestId,
      version: 1,
      values: { displayName: 'Archive of Drawings' },
    })
    expect(review).toMatchObject({ step: 'review', similar: { resources: [{ displayName: 'Drawings Archive' }] } })
    expect(searches).toEqual(['drawi,archi'])
    const card = { conversationId: 'chat', activityId: 'card' }
    expect(await provisioning.submitDraft(asKim, { requestId, version: 2, statusCard: card })).toMatchObject({
      step: 'submitted',
    })
    expect(searches).toHaveLength(1)
  })
})
