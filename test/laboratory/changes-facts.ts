import { DatabaseSync } from 'node:sqlite'
import { actionsOf, textOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'
import { type Arrival, type ChangeFacts, type EndedRequest, isUnknown } from './changes-check.ts'
import { admin, peopleOf } from './changes-people.ts'
import type { Played } from './changes-players.ts'
import { addressOf, nameOf, rowsOfBatch } from './changes-scenarios.ts'
import type { ChangesWorld } from './changes-world.ts'
import { killsIn } from './history.ts'
import { type Person, requestNumberIn } from './plan.ts'

interface Listed {
  readonly requestId: string
  readonly status: string
  readonly details: { readonly displayName: string }
  readonly approvals: readonly {
    readonly stage: number
    readonly decisions: readonly { readonly by: { readonly id: string }; readonly decision: string }[]
  }[]
}
interface Entry {
  readonly action: string
  readonly data?: Readonly<Record<string, unknown>>
}
/** The requests of each change. */
type Requests = ReadonlyMap<number, readonly EndedRequest[]>
type Own = Pick<ChangeFacts, 'names' | 'decisions' | 'cards'> & Partial<Pick<ChangeFacts, 'order' | 'results'>>

/** Reads everything that the changes left behind: from the REST API, the chats and the tenant's own file. */
export async function readFacts(world: ChangesWorld, played: readonly Played[]): Promise<ChangeFacts[]> {
  const requests = await readRequests(world)
  const organisation = (await entriesOf(world, '/audit/v1/organisation')) as Entry[]
  return Promise.all(
    played.map(async (one): Promise<ChangeFacts> => {
      const { change, traces } = one
      const { n, kind, point, isMet } = change
      const own = await readers[kind](world, one, requests, organisation)
      const common = { n, kind, point: isMet ? point.name : 'nowhere', errors: traces.errors }
      return { ...common, requests: requests.get(n) ?? [], order: [], results: {}, ...own }
    }),
  )
}

type Reader = (world: ChangesWorld, one: Played, requests: Requests, organisation: Entry[]) => Promise<Own> | Own
const readers: { readonly [K in ChangeFacts['kind']]: Reader } = {
  async batch(world, { change, traces }) {
    const { requester, first } = peopleOf(change.n)
    const batch = traces.batchId === undefined ? {} : await world.people.get(admin, `/batches/v1/${traces.batchId}`)
    const summary = cardsIn(world, requester, /Your batch has ended/, nameOf(change.n)).at(-1)?.text ?? ''
    const progress = cardsIn(world, requester, /Your batch is in progress/, traces.batchId)
    const questions = cardsIn(world, first, /Your decision, please/, nameOf(change.n))
    // After a kill, the batch may end before its progress is sent. Then only the summary comes.
    const [from, until] = [traces.acceptedAt ?? 0, (questions[0]?.at ?? 0) + 1000]
    const isKilled = killsIn(world.history.events).some((at) => at >= from && at <= until)
    const mayBeLate = isKilled || change.point.name.includes('is lost')
    const rows = { total: rowsOfBatch, waiting: 0, submitted: rowsOfBatch, refused: 0, cancelled: 0 }
    return {
      names: Array.from({ length: rowsOfBatch }, (_, place) => `${nameOf(change.n)} ${place + 1}`),
      decisions: [`1 approved ${first.id}`],
      cards: {
        ...((progress.length > 0 || !mayBeLate) && { 'the progress card': progress }),
        'the question': questions,
        'the summary': cardsIn(world, requester, /Your batch has ended/, nameOf(change.n)),
      },
      results: {
        'the batch': [batch['status'], 'finished'],
        'its rows': [batch['rows'], rows],
        'its requests': [batch['requests'], { succeeded: rowsOfBatch }],
        'the numbers of the summary': [/\d+ ready\.(.*)/.exec(summary)?.[0], `${rowsOfBatch} ready.`],
      },
    }
  },
  reassign(world, { change, traces }, requests) {
    const { first, second } = peopleOf(change.n)
    const name = nameOf(change.n)
    const actions = requests.get(change.n)?.[0]?.actions ?? []
    const former = cardsIn(world, first, /Your decision, please/, name)
    // The service cannot update a card whose id it never heard. A click on it refuses the decision, and updates it.
    const notUpdated = former.filter((arrival) => isUnknown(arrival, killsIn(world.history.events))).length
    return {
      names: [name],
      decisions: [`1 approved ${second.id}`],
      cards: {
        'the card of the former approver': former,
        'the card of the new approver': cardsIn(world, second, /Your decision, please/, name),
      },
      results: {
        'the click on the old card': [/Approved by you/.test(traces.refused ?? 'Approved by you'), false],
        'updated cards that can still decide': [Math.max(0, decidable(world, first, name) - notUpdated), 0],
        'entries of the reassignment': [actions.filter((action) => action === 'reassigned').length, 1],
      },
    }
  },
  twoStages(world, { change, traces }) {
    const { first, second } = peopleOf(change.n)
    const name = nameOf(change.n)
    const later = cardsIn(world, second, /Your decision, please/, name)
    return {
      names: [name],
      decisions: [`1 approved ${first.id}`, `2 approved ${second.id}`],
      cards: {
        'the question of stage 1': cardsIn(world, first, /Your decision, please/, name),
        'the question of stage 2': later,
      },
      order: [
        ['the first decision', traces.clickedAt ?? 0],
        ['the question of stage 2', later[0]?.at ?? 0],
      ],
    }
  },
  rejection(world, { change, traces }) {
    const { requester, second } = peopleOf(change.n)
    const { delegate = admin, person = admin } = traces
    const name = nameOf(change.n)
    return {
      names: [name],
      decisions: [`1 approved ${delegate.id}`, `1 rejected ${second.id}`],
      cards: {
        'the question for the absent approver': cardsIn(world, person, /Your decision, please/, name),
        'the question for the delegate': cardsIn(world, delegate, /Your decision, please/, name),
        'the question for the other approver': cardsIn(world, second, /Your decision, please/, name),
        'the result for the requester': cardsIn(world, requester, /Nothing was created/, name),
      },
    }
  },
  digest(world, { change, traces }) {
    const name = nameOf(change.n)
    const person = traces.person ?? admin
    return {
      names: [name],
      decisions: [`1 approved ${person.id}`],
      cards: {
        'the question': cardsIn(world, person, /Your decision, please/, name),
        'the digest': cardsIn(world, person, /you get this summary/, name),
      },
    }
  },
  async erasure(world, { change, traces }, _, organisation) {
    const person = traces.person ?? admin
    const own = organisation.filter(({ data }) => data?.['erasureId'] === traces.erasureId)
    const [ownId = ''] = traces.requestIds
    const { status, reducedAt } = await world.people.get(admin, `/requests/v1/${ownId}`)
    return {
      // The name of the person's own request is deleted.
      names: [`${nameOf(change.n)} 2`],
      decisions: [],
      cards: { 'the result': cardsIn(world, admin, /The data is erased/, person.id) },
      results: {
        'its audit': [own.map(({ action }) => action), ['erasure-ordered', 'erasure-begun', 'person-erased']],
        'the own request': [
          [status, typeof reducedAt],
          ['cancelled', 'string'],
        ],
        'traces of the person': [await tracesOf(world, person, traces.requestIds), []],
      },
    }
  },
}

/** Returns the answers of the API that still contain the name or the address of the person. */
async function tracesOf(world: ChangesWorld, person: Person, requestIds: readonly string[]): Promise<string[]> {
  const paths = requestIds.flatMap((id) => [
    `/requests/v1/${id}`,
    `/requests/v1/${id}/timeline`,
    `/audit/v1/requests/${id}`,
  ])
  const names = new RegExp(`\\b(${person.name}|${addressOf(person)})\\b`, 'i')
  const answers = await Promise.all(
    [...paths, '/audit/v1/organisation'].map(async (path) => ({
      path,
      text: JSON.stringify(await world.people.get(admin, path)),
    })),
  )
  return answers.flatMap(({ path, text }) => (names.test(text) ? [path] : []))
}

/** Returns the cards that arrived as new messages in a person's chat, in order. */
function cardsIn(
  { connector, people }: ChangesWorld,
  person: Person,
  says: RegExp,
  ...ids: readonly (string | undefined)[]
) {
  return connector.calls.flatMap(
    ({ method, conversationId, activity, misbehaviour, at }): (Arrival & { text: string })[] => {
      const how = misbehaviour?.how
      const isArrived = how === undefined || how === 'hold' || how === 'late'
      if (method !== 'POST' || conversationId !== people.chatOf(person) || !isArrived) return []
      const text = textOf((activity['attachments'] as { content?: Card }[] | undefined)?.[0]?.content ?? {})
      const isOwn = ids.some((id) => id !== undefined && JSON.stringify(activity).includes(id))
      return says.test(text) && isOwn ? [{ at, isUnheard: how !== undefined, text }] : []
    },
  )
}

/** Returns the number of a person's cards about a request that have the button Approve. */
const decidable = ({ connector, people }: ChangesWorld, person: Person, name: string): number =>
  connector.chat(people.chatOf(person)).filter(({ card }) => {
    return textOf(card ?? {}).includes(name) && actionsOf(card ?? {}).some(({ title }) => title === 'Approve')
  }).length

const entriesOf = async ({ people }: ChangesWorld, path: string): Promise<unknown[]> =>
  ((await people.get(admin, path))['entries'] as unknown[]) ?? []

/** Reads all requests with their audit and their mailboxes, by the number of their change. */
async function readRequests(world: ChangesWorld): Promise<Requests> {
  const all = new Map<number, EndedRequest[]>()
  const mailboxes = mailboxNames(world.tenantFile)
  for (let cursor = ''; ; ) {
    const page = await world.people.get(admin, `/requests/v1/?limit=100${cursor}`)
    for (const { requestId, status, details, approvals } of page['value'] as Listed[]) {
      const entries = (await entriesOf(world, `/audit/v1/requests/${requestId}`)) as Entry[]
      const name = details.displayName
      const decisions = approvals.flatMap(({ stage, decisions }) =>
        decisions.map(({ by, decision }) => `${stage} ${decision} ${by.id}`),
      )
      const n = requestNumberIn(name) ?? 0
      const count = mailboxes.filter((one) => one === name).length
      const actions = entries.map(({ action }) => action)
      all.set(n, [...(all.get(n) ?? []), { name, status, decisions, actions, mailboxes: count }])
    }
    if (typeof page['nextCursor'] !== 'string') return all
    cursor = `&cursor=${encodeURIComponent(page['nextCursor'])}`
  }
}

function mailboxNames(file: string): string[] {
  const tenant = new DatabaseSync(file, { readOnly: true })
  try {
    return tenant
      .prepare(`select doc ->> 'displayName' as name from mailboxes`)
      .all()
      .map(({ name }) => String(name))
  } finally {
    tenant.close()
  }
}
