import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cardActions } from '../../src/bot/registry.ts'
import { parsedJson } from '../../src/core/index.ts'
import { withGuardedBot } from '../support/guarded-bot.ts'
import {
  type Endpoint,
  type Figures,
  figuresLine,
  isLongRun,
  rounds,
  run,
  type WireAnswer,
  wire,
  writeSeenAnswers,
} from '../support/mutation-run.ts'
import type { JsonObject, Mutation } from '../support/mutations.ts'
import { rowsOf } from '../support/rows.ts'
import { templates, withService } from '../support/service.ts'
import { asksFor, cardOf, reviews, subject } from '../support/site-request.ts'
import { people, type TeamsUser } from '../support/teams-user.ts'

const unhandled: unknown[] = []
const noteUnhandled = (error: unknown) => void unhandled.push(error)
beforeAll(() => void process.on('unhandledRejection', noteUnhandled))
afterAll(() => {
  process.off('unhandledRejection', noteUnhandled)
  console.info(`seen: ${writeSeenAnswers('chat')}`)
})

/**
 * Returns the fault of a refusal: a problem of the HTTP layer, or the guard's answer in the format of the Bot Framework
 * ("ErrorResponse object").
 */
function refusalFault({ type, text }: WireAnswer): string | undefined {
  if (type.startsWith('application/problem+json') || text === '') return undefined
  const body = parsedJson(text) as { error?: { code?: unknown; message?: unknown } } | undefined
  const isError = typeof body?.error?.code === 'string' && typeof body.error.message === 'string'
  return isError && type.startsWith('application/json') ? undefined : 'neither a problem nor an error of the channel'
}

function cardFault(answer: WireAnswer): string | undefined {
  if (answer.text.includes('tell an admin')) return 'a surprise to us'
  if (answer.status >= 400) return refusalFault(answer)
  const { statusCode, type, value } = (parsedJson(answer.text) ?? {}) as Record<string, unknown>
  const isCard = type === 'application/vnd.microsoft.card.adaptive' && typeof value === 'object'
  const isText = type === 'application/vnd.microsoft.activity.message' && typeof value === 'string'
  return statusCode === 200 && (isCard || isText) ? undefined : 'Teams cannot read it'
}

function judge(figures: Figures): void {
  console.info(figuresLine(figures))
  expect(figures.failures).toEqual([])
  expect(unhandled).toEqual([])
  if (isLongRun) expect(figures.slow).toEqual([])
}

const json = { 'content-type': 'application/json' }

describe('mutations of an activity with a valid token', () => {
  const { keys, service, click } = withGuardedBot()

  it('POST /api/messages: never cause a 5xx or an unexpected error', async () => {
    const authorization = `Bearer ${await keys.token()}`
    const endpoint: Endpoint = {
      name: 'POST /api/messages',
      otherRefusals: true,
      good: () => ({ ...(click() as JsonObject), id: randomUUID() }),
      judge: (answer) => (answer.text.includes('tell an admin') ? 'a surprise to us' : refusalOf(answer)),
      send: ({ body, headers }, change) =>
        wire(service.app.url, {
          method: 'POST',
          path: change.path ? change.path('/api/messages') : '/api/messages',
          headers: { ...json, authorization, ...headers, ...change.headers },
          body,
        }),
    }
    judge(await run(endpoint))
  }, 3_600_000)
  const refusalOf = (answer: WireAnswer) => (answer.status < 400 ? undefined : refusalFault(answer))
})

describe('mutations of the data of each card verb', () => {
  const service = withService()
  const { stateOf, timelineOf, count, draftOf } = rowsOf(service)
  const subjects = new Map<string, string>()
  const subjectOf = (verb: string): string => subjects.get(verb) ?? ''
  const inputs = { displayName: 'Mutation', 'metadata.costCentre': '4711', 'metadata.audience': 'internal' }

  beforeAll(async () => {
    const { kim, omar } = service
    for (const verb of [
      'request.continue',
      'request.review',
      'request.check',
      'request.keep',
      'request.join',
      'request.submit',
      'request.edit',
      'request.cancel',
    ])
      subjects.set(verb, subject((await reviews(kim, { ...inputs, displayName: verb })).card, 'Send').requestId)
    for (const verb of [
      'approval.approve',
      'approval.reject',
      'approval.refresh',
      'request.refresh',
      'request.nudge',
      'admin',
      'admin.approve',
      'admin.reject',
      'admin.reassign',
    ])
      subjects.set(verb, (await asksFor(kim, { ...inputs, displayName: `${verb} mutated` })).requestId)
    subjects.set('bystander', (await asksFor(omar, { ...inputs, displayName: 'Bystander' })).requestId)
  })
  /** The status and what people did. In a long run, the timers of the request add entries and raise its version. */
  const bystanderNow = async () => {
    const requestId = subjectOf('bystander')
    const timeline = await timelineOf(requestId)
    return { status: (await stateOf(requestId))?.status, ofPeople: timeline.filter(({ actor }) => actor !== 'system') }
  }
  const versionOf = async (requestId: string): Promise<number> =>
    Number(((await draftOf(requestId))?.body as { version?: number } | undefined)?.version ?? 1)
  const ofDraft = (verb: string, more: JsonObject = {}) => ({
    who: () => service.kim,
    data: async () => {
      const requestId = subjectOf(verb)
      return { requestId, version: await versionOf(requestId), ...more }
    },
  })
  const ofRequest = (verb: string, who: () => TeamsUser, more: JsonObject = {}) => ({
    who,
    data: async () => ({ requestId: subjectOf(verb), ...more }),
  })
  const [dana, sam] = [() => service.dana, () => service.sam]
  // These verbs need no data and ignore it.
  const dataOfNoUse = { requestId: randomUUID(), version: 1 }
  const comment = 'Because it is so.'
  const delegated = { to: people.omar.id, until: new Date(Date.now() + 7 * 86_400_000).toISOString().slice(0, 10) }
  const starterAnswers = {
    ...{ starter: 'teamSite', templateId: randomUUID(), name: 'Mutated', description: 'x', prefix: 'mutated-' },
    ...{ approvedBy: 'group', people: '', group: randomUUID(), owners: 2 },
  }
  // Without a tick no request is decided.
  const ofSeveral = { batchId: '', stage: 0, from: 0, of: 'ticked', ticked: '', comment }
  const verbs: Record<string, { who: () => TeamsUser; data: () => Promise<JsonObject> }> = {
    'request.choose': { who: () => service.kim, data: async () => ({ templateId: templates.projectSite }) },
    'request.review': ofDraft('request.review', { ...inputs, description: 'x', alias: '', reason: 'So.', labelId: '' }),
    'request.continue': ofRequest('request.continue', () => service.kim),
    'request.check': ofDraft('request.check', { ...inputs, description: 'x' }),
    'request.keep': ofDraft('request.keep', { ...inputs, description: 'x' }),
    'request.join': ofDraft('request.join', { ...inputs, description: 'x' }),
    'request.submit': ofDraft('request.submit'),
    'request.edit': ofDraft('request.edit'),
    'request.again': ofRequest('request.refresh', () => service.kim),
    'request.cancel': ofRequest('request.cancel', () => service.kim),
    'request.refresh': ofRequest('request.refresh', () => service.kim),
    'request.nudge': ofRequest('request.nudge', () => service.kim),
    'request.address': ofRequest('request.refresh', () => service.kim, { address: 'mutated-address' }),
    'request.timeline': ofRequest('request.refresh', () => service.kim),
    'drafts.page': { who: () => service.kim, data: async () => ({ from: 5 }) },
    'requests.page': { who: () => service.kim, data: async () => ({ before: 1002, after: 1000 }) },
    'approvals.page': { who: dana, data: async () => ({ before: 1002, after: 1000 }) },
    'approval.approve': ofRequest('approval.approve', dana, { comment }),
    'approval.reject': ofRequest('approval.reject', dana, { comment }),
    'approval.refresh': ofRequest('approval.refresh', dana),
    'several.show': { who: dana, data: async () => ({ ...ofSeveral, from: 6 }) },
    'several.approve': { who: dana, data: async () => ofSeveral },
    'several.reject': { who: dana, data: async () => ofSeveral },
    'batch.page': { who: () => service.kim, data: async () => ({ batchId: randomUUID(), from: 8 }) },
    'delegation.open': { who: dana, data: async () => delegated },
    'delegation.save': { who: dana, data: async () => delegated },
    'delegation.end': { who: dana, data: async () => delegated },
    'admin.queue': { who: sam, data: async () => ({ from: 6 }) },
    'admin.stuck': { who: sam, data: async () => ({ from: 6 }) },
    'admin.delegations': { who: sam, data: async () => ({ from: 6 }) },
    'digest.refresh': { who: dana, data: async () => dataOfNoUse },
    'digest.on': { who: dana, data: async () => dataOfNoUse },
    'digest.off': { who: dana, data: async () => dataOfNoUse },
    'admin.retry': ofRequest('admin', sam),
    'admin.cancel': ofRequest('admin', sam, { comment }),
    'admin.approve': ofRequest('admin.approve', sam, { comment }),
    'admin.reject': ofRequest('admin.reject', sam, { comment }),
    'admin.reassign': ofRequest('admin.reassign', sam, { comment, from: people.dana.id, to: people.omar.id }),
    'admin.examine': { who: sam, data: async () => ({ letterId: randomUUID() }) },
    'admin.replay': { who: sam, data: async () => ({ letterId: randomUUID() }) },
    'admin.certificate': { who: sam, data: async () => dataOfNoUse },
    'admin.templates': { who: sam, data: async () => ({ from: 6 }) },
    'admin.template': { who: sam, data: async () => ({ templateId: templates.newsSite }) },
    'admin.enable': { who: sam, data: async () => ({ templateId: templates.openCommunity, version: 1 }) },
    'admin.disable': { who: sam, data: async () => ({ templateId: templates.openCommunity, version: 1 }) },
    'admin.starters': { who: sam, data: async () => dataOfNoUse },
    'admin.starter': { who: sam, data: async () => ({ starter: 'room' }) },
    'admin.starter-preview': { who: sam, data: async () => starterAnswers },
    'admin.starter-create': { who: sam, data: async () => starterAnswers },
    'admin.webhooks': { who: sam, data: async () => ({ from: 4 }) },
    'admin.webhook': { who: sam, data: async () => ({ templateId: 'own' }) },
    'admin.webhook-test': { who: sam, data: async () => ({ templateId: templates.newsSite }) },
    'admin.webhook-on': { who: sam, data: async () => ({ templateId: templates.newsSite, version: 1 }) },
    'admin.deliveries': {
      who: sam,
      data: async () => ({ of: 'failed', templateId: 'own', requestId: '', after: '' }),
    },
    'admin.delivery': { who: sam, data: async () => ({ deliveryId: randomUUID() }) },
    'admin.redeliver': { who: sam, data: async () => ({ deliveryId: randomUUID(), version: 1 }) },
    'admin.resend': { who: sam, data: async () => ({ templateId: 'own', version: 1 }) },
    'admin.send-waiting': { who: sam, data: async () => ({ templateId: 'own' }) },
    'admin.audit': { who: sam, data: async () => ({ requestId: '', from: 8 }) },
    'admin.export': { who: sam, data: async () => ({ from: '2026-11-01', to: '2026-11-20' }) },
    'admin.erase': {
      who: sam,
      data: async () => ({ personId: people.kim.id, address: 'nobody', erasureId: randomUUID() }),
    },
    'admin.undelegate': { who: sam, data: async () => ({ personId: randomUUID() }) },
    'admin.dismiss': { who: sam, data: async () => ({ letterId: randomUUID() }) },
  }

  it('cover every verb', () => {
    expect(Object.keys(verbs).toSorted()).toEqual([...cardActions.keys()].toSorted())
  })

  it.each(Object.entries(verbs))(
    '%s: cause a card or a text, never an unexpected error',
    async (verb, { who, data }) => {
      const bystander = await bystanderNow()
      const requests = await count('requests')
      const endpoint: Endpoint = {
        name: `POST /api/messages ${verb}`,
        otherRefusals: true,
        at: '/value/action/data',
        ...(!isLongRun && { rounds: Math.ceil(rounds / 3) }),
        good: data,
        judge: cardFault,
        send: (mutation) =>
          wire(service.app.url, {
            method: 'POST',
            path: '/api/messages',
            headers: { ...json, ...mutation.headers },
            body: clickWith(who(), verb, mutation),
          }),
      }
      judge(await run(endpoint))
      expect(await bystanderNow()).toEqual(bystander)
      // One draft becomes at most one request, whatever the clicks.
      expect((await count('requests')) - requests).toBeLessThanOrEqual(verb === 'request.submit' ? 1 : 0)
    },
    3_600_000,
  )

  it('leave a working service', async () => {
    expect(
      cardOf(await service.kim.invokes('no-activity', 'request.choose', { templateId: templates.newsSite })),
    ).toBeDefined()
    expect(service.connector.unexpected).toEqual([])
  })
})

/** Creates the invoke of a button with the data of a mutation. */
function clickWith(who: TeamsUser, verb: string, { body }: Mutation): Buffer {
  const value = { action: { type: 'Action.Execute', verb, data: '@@data@@' }, trigger: 'manual' }
  const [before = '', after = ''] = JSON.stringify(
    who.activity({ type: 'invoke', name: 'adaptiveCard/action', value }),
  ).split('"@@data@@"')
  return Buffer.concat([before, body, after].map((part) => Buffer.from(part)))
}
