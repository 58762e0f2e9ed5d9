import { describe, expect, it } from 'vitest'
import { textOf } from './support/cards.ts'
import * as journeys from './support/journey.ts'
import { atMoment, atTenant, isWrite, type KillPoint, points, tenantCalls } from './support/kill-points.ts'
import { withProcesses } from './support/processes.ts'
import { mulberry32 } from './support/random.ts'
import { until } from './support/until.ts'

type Plan = { kind: journeys.JourneyKind; kills: readonly KillPoint[] }

/** `CRASH_POINTS=all` (npm run test:crash) kills at every point there is, each in a journey of its own. */
const everything = process.env['CRASH_POINTS'] === 'all'
/** How often each of them (1 unless said): `CRASH_ROUNDS=20` takes hours. */
const rounds = Number(process.env['CRASH_ROUNDS'] ?? 1)
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)
const random = mulberry32(seed)

/** For every run: the points that are the hardest to survive, several in each journey. */
const hardest: Plan[] = [
  {
    kind: 'team',
    kills: [
      points.sendAnswered,
      points.questionArrived,
      atTenant('after the tenant did', { step: 'create-site', operation: 'graph.groups.upsert' }),
      points.webhookHeld,
    ],
  },
  {
    kind: 'communication',
    kills: [
      points.questionLost,
      atTenant('after the tenant did', { step: 'create-site', operation: 'sharepoint.site.create' }),
      points.followUpArrived,
    ],
  },
  {
    kind: 'room',
    kills: [
      atTenant('after the tenant did', { step: 'create-mailbox', operation: 'exchange.new-mailbox' }),
      atTenant('after the tenant did', { step: 'grant-access', operation: 'exchange.add-mailboxpermission' }),
    ],
  },
]
/** A mailbox is looked up in another place, and nothing looks for it in the directory afterwards. */
const forSitesOnly: readonly KillPoint[] = [points.lookUp, points.look]

function allPlans(): Plan[] {
  const kinds = ['team', 'communication', 'room'] as const
  const calls = kinds.flatMap((kind) =>
    tenantCalls[kind].flatMap((call) => {
      const modes = isWrite(call)
        ? (['before the tenant got', 'after the tenant did', 'and late comes'] as const)
        : (['before the tenant got'] as const)
      return modes.map((mode): Plan => ({ kind, kills: [atTenant(mode, call)] }))
    }),
  )
  const others = kinds.flatMap((kind) =>
    Object.values(points)
      .filter((point) => kind !== 'room' || !forSitesOnly.includes(point))
      .map((point): Plan => ({ kind, kills: [point] })),
  )
  const anywhere = Array.from({ length: 12 }, (_, index): Plan => {
    const moments = Array.from({ length: 1 + (index % 3) }, () => atMoment(Math.floor(random() * 3000)))
    return { kind: kinds[index % kinds.length] ?? 'team', kills: moments }
  })
  const all = [...calls, ...others, ...anywhere].map((plan) => ({ plan, place: random() }))
  return all.sort((one, other) => one.place - other.place).map(({ plan }) => plan)
}

const plans = everything ? [...hardest, ...Array.from({ length: rounds }, allPlans).flat()] : hardest
const numbered = plans.map((plan, index) => ({
  ...plan,
  name: `Crash ${String(index + 1).padStart(4, '0')}`,
  where: plan.kills.map(({ name }) => name).join('; then '),
}))

/** How many follow-up cards may be there: one, or none where the kill took it and the status card has the link. */
function followUpsAfter(kills: readonly KillPoint[]): number[] {
  const doubts = kills.flatMap(({ doubt }) => (doubt?.card === 'followUp' ? [doubt.was] : []))
  if (doubts.includes('lost')) return [0]
  return doubts.includes('perhaps') ? [0, 1] : [1]
}

/** How many approval cards may be there: one, and one more for each sending whose end nobody heard of. */
function questionsAfter(kills: readonly KillPoint[]): number[] {
  const doubts = kills.filter(({ doubt }) => doubt?.card === 'question' && doubt.was !== 'lost')
  return Array.from({ length: 1 + doubts.length }, (_, index) => index + 1)
}

describe('a site or a room outlives kill -9 of the service', () => {
  console.log(`crash safety: seed ${seed}, ${plans.length} journeys${everything ? '' : ' (CRASH_POINTS=all for all)'}`)
  const world = withProcesses({
    FOLLOW_UP_FIRST_SECONDS: '3',
    FOLLOW_UP_EVERY_SECONDS: '2',
    FOLLOW_UP_STOP_SECONDS: '60',
  })
  const lived: { journey: journeys.Journey; kills: readonly KillPoint[] }[] = []

  /** Clicks, and kills and starts the service at each point; whoever got no answer clicks again in the end. */
  async function killAt(name: string, kills: readonly KillPoint[], click: () => Promise<unknown>): Promise<void> {
    const state = { answered: false }
    const clicked = async () => {
      const answer = await click().catch(() => undefined)
      state.answered ||= answer !== undefined
    }
    const [first] = kills
    if (first?.variables) {
      await world.kill()
      await world.start(first.variables)
    }
    let come = await first?.arm(world, name)
    const clicking = clicked()
    for (const [index, point] of kills.entries()) {
      await until(async () => (await come?.(state)) || undefined, `the moment ${point.name}`)
      await world.kill()
      await clicking
      await world.healthy()
      const next = kills[index + 1]
      come = await next?.arm(world, name)
      await world.start(next?.variables)
    }
    await clicking
    if (!state.answered) await clicked()
    expect(state.answered).toBe(true)
  }

  async function live(
    name: string,
    kind: journeys.JourneyKind,
    kills: readonly KillPoint[],
  ): Promise<journeys.Journey> {
    const { kim, dana } = world
    if (lived.length === 0) await dana.installs()
    const review = await journeys.fillForm(world, kind, name)
    const following = (button: KillPoint['after']) => kills.filter((point) => point.after === button)
    await killAt(name, following('Send'), () => kim.clicks(review, 'Send'))
    const card = await journeys.decisionCard(world, name)
    await killAt(name, following('Approve'), () => dana.clicks(card, 'Approve', { comment: '' }))
    const journey = { name, kind, requestId: await journeys.requestNamed(world, name), cardId: review.id }
    lived.push({ journey, kills })
    return journey
  }

  /** The end, as everybody outside sees it: the API, the tenant and the chats. */
  async function checkEnd({ name, kind, requestId, cardId }: journeys.Journey, kills: readonly KillPoint[]) {
    const request = await world.get(`/requests/v1/${requestId}`)
    expect(request).toMatchObject({ status: 'succeeded', problem: null })
    const { url = '', address = url } = request['resource'] as { url?: string; address?: string }
    const { alias } = request['details'] as { alias?: string }
    expect(await journeys.timelineOf(world, requestId)).toEqual(journeys.wholeTimeline(kind))
    const ownName = alias ?? address.slice(0, address.indexOf('@'))
    const site = kind === 'room' ? 0 : 1
    expect(world.made(requestId, name, ownName)).toEqual({
      unifiedGroups: kind === 'team' ? 1 : 0,
      securityGroups: site,
      sites: site,
      mailboxes: 1 - site,
    })
    const status = world.connector.activity(cardId)
    expect([journeys.linkOf(status), textOf(status?.card ?? {})]).toEqual([address, expect.stringContaining('Ready')])
    const cards = journeys.followUps(world, name)
    for (const card of cards) expect(journeys.linkOf(card)).toBe(address)
    expect(followUpsAfter(kills)).toContain(cards.length)
    expect(questionsAfter(kills)).toContain(journeys.questions(world, name).length)
  }

  async function ends({ name, requestId, cardId }: journeys.Journey, kills: readonly KillPoint[]): Promise<void> {
    await until(
      async () => (await journeys.timelineOf(world, requestId)).includes('announced') || undefined,
      `${name} to be announced`,
    )
    await until(() => journeys.linkOf(world.connector.activity(cardId)), `the link on the status card of ${name}`)
    if (!followUpsAfter(kills).includes(0))
      await until(() => journeys.followUps(world, name)[0], `the follow-up card of ${name}`)
  }

  it.each(numbered)('$name, a $kind, killed $where', { timeout: 90_000 }, async ({ name, kind, kills }) => {
    const journey = await live(name, kind, kills)
    await ends(journey, kills)
    await checkEnd(journey, kills)
  })

  it.each(['team', 'communication', 'room'] as const)('the points cover every call that a %s needs', async (kind) => {
    const before = (await world.calls()).length
    const journey = await live(`Undisturbed ${kind}`, kind, [])
    await ends(journey, [])
    await checkEnd(journey, [])
    const { value } = { value: (await world.calls()).slice(before) }
    const own = value.slice(value.findIndex(({ operation }) => operation === tenantCalls[kind][0]?.operation))
    const called = own.filter(({ operation }) =>
      /^(graph\.groups\.(?!list)|graph\.sites|graph\.users\.update|sharepoint\.(?!site\.exists)|exchange\.)/.test(
        operation,
      ),
    )
    expect(new Set(tenantCalls[kind].map(({ operation }) => operation))).toEqual(
      new Set(called.map(({ operation }) => operation)),
    )
  })

  it('nothing comes twice later, after one more restart', { timeout: 60_000 }, async () => {
    await world.kill()
    await world.start()
    const last = await live('The last one', 'team', [])
    await ends(last, [])
    for (const { journey, kills } of lived) await checkEnd(journey, kills)
    expect(world.connector.unexpected).toEqual([])
  })
})
