import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Candidate,
  type Context,
  type Ports,
  type Sought,
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
/** Both halves of the search, as a preview runs them. */
const findSimilar = async (context: Context<Ports>, sought: Sought) =>
  similarAmong(context, sought, await similarCandidates(context.ports, sought))
const never = <T>() => new Promise<T>(() => undefined)

describe('similar resources', () => {
  const core = withCore()
  beforeEach(() => {
    core.world.similar = [group('Marketing'), group('Sales'), group('Marketing EMEA'), group('Marketting')]
    core.world.owners.clear()
    core.world.up = true
  })
  const asked = (ports: Ports) => ({ ports, settings: core.provisioning.settings, actor: asKim })
  const marketing = { kind: 'teamSite', displayName: 'Marketing' } as const
  const found = async (sought: Parameters<typeof findSimilar>[1] = marketing) => findSimilar(asked(core.ports), sought)
  const names = async (sought?: Parameters<typeof findSimilar>[1]) =>
    (await found(sought)).resources.map(({ displayName }) => displayName)
  /** The core with a directory that answers otherwise. */
  const withDirectory = (change: Partial<Ports['directory']>): Ports => ({
    ...core.ports,
    directory: { ...core.ports.directory, ...change },
  })

  it('are those with similar names, the most alike first', async () => {
    expect(await names()).toEqual(['Marketing', 'Marketting', 'Marketing EMEA'])
    expect(await names({ ...marketing, displayName: 'Sale' })).toEqual([])
    expect(await names({ ...marketing, displayName: '🚀' })).toEqual([])
  })

  it('are three at most, with the number of the others', async () => {
    const letters = ['Marketing A', 'Marketing B', 'Marketing C', 'Marketing D', 'Marketing E']
    core.world.similar = letters.map((name) => group(name))
    const { resources, more } = await found()
    expect([resources.length, more]).toEqual([3, 2])
    expect(similarResources.parse({ resources, more })).toEqual({ resources, more })
  })

  it('leave out what the request itself keeps, under its address or as its group', async () => {
    expect(await names({ ...marketing, address: `${siteRoot}marketing` })).toEqual(['Marketting', 'Marketing EMEA'])
    core.world.similar = [group('Marketing', { address: 'marketing@contoso.example' })]
    expect(await names({ ...marketing, address: `${siteRoot}Marketing/` })).toEqual([])
    expect(await names({ ...marketing, address: `${siteRoot}marketing-2` })).toEqual(['Marketing'])
  })

  it('say whom to ask: three owners, nobody who is blocked', async () => {
    core.world.owners.set('marketing', [{ ...dana, isBlocked: true }, omar, priya])
    const [first, second] = (await found()).resources
    expect(first).toMatchObject({ access: 'ask', kind: 'teamSite', address: `${siteRoot}marketing` })
    expect(first?.owners.map(({ id }) => id)).toEqual([omar.id, priya.id])
    expect(second).toMatchObject({ access: 'ask', owners: [] })
  })

  it('say what the person can open already: as an owner, as a member, or as everybody', async () => {
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
  ] as const)('of a %s have no owners, and access is %s', async (kind, access) => {
    const address = 'marketing@contoso.example'
    core.world.similar = [group('Marketing', { of: 'account', alias: '', address })]
    const sought = { kind, displayName: 'Marketing' }
    expect((await found(sought)).resources).toEqual([{ kind, displayName: 'Marketing', address, access, owners: [] }])
    expect(await names({ ...sought, address })).toEqual([])
  })

  it('tell of nothing that the person may not know of', async () => {
    const seen = core.world.similar.filter(({ displayName }) => displayName !== 'Marketing')
    const ports = withDirectory({ visibleTo: async () => [] })
    expect(await findSimilar(asked(ports), marketing)).toEqual({ resources: [], more: 0 })
    const some = withDirectory({ visibleTo: async (_, all) => all.filter((one) => seen.includes(one)) })
    const { resources, more } = await findSimilar(asked(some), marketing)
    expect([resources.map(({ displayName }) => displayName), more]).toEqual([['Marketting', 'Marketing EMEA'], 0])
  })

  it.each([
    ['does not look them up', { similar: never<readonly Candidate[]> }],
    ['does not say who may see them', { visibleTo: never<readonly Candidate[]> }],
    ['does not name their owners', { ownersOf: never<[]> }],
  ])('are none while the directory %s in time', async (_, silent) => {
    expect(await findSimilar(asked(withDirectory(silent)), marketing)).toEqual({
      resources: [],
      more: 0,
    })
  })

  it('are none while the directory is away; a defect is heard of', async () => {
    core.world.up = false
    expect(await found()).toEqual({ resources: [], more: 0 })
    const broken = withDirectory({ similar: async () => Promise.reject(new TypeError('a defect')) })
    await expect(findSimilar(asked(broken), marketing)).rejects.toThrow('a defect')
  })
})

describe('a review', () => {
  const core = withCore()

  it('tells of what is similar each time it is shown, and sending does not ask again', async () => {
    const { id } = await core.template()
    core.world.similar = [group('Drawings Archive')]
    const asked: string[] = []
    const { directory } = core.ports
    const provisioning = core.with({
      directory: {
        ...directory,
        similar: (query) => {
          asked.push(query.beginnings.join())
          return directory.similar(query)
        },
      },
    })
    const opened = await provisioning.openDraft(asKim, { templateId: id })
    if (opened.step !== 'details') throw new Error(`the form is at ${opened.step}`)
    expect(asked).toEqual([])
    const { requestId } = opened.draft
    const review = await provisioning.reviewDraft(asKim, {
      requestId,
      version: 1,
      values: { displayName: 'Archive of Drawings' },
    })
    expect(review).toMatchObject({ step: 'review', similar: { resources: [{ displayName: 'Drawings Archive' }] } })
    expect(asked).toEqual(['drawi,archi'])
    const card = { conversationId: 'chat', activityId: 'card' }
    expect(await provisioning.submitDraft(asKim, { requestId, version: 2, statusCard: card })).toMatchObject({
      step: 'submitted',
    })
    expect(asked).toHaveLength(1)
  })
})
