import { type ApprovalStage, openStage, personOrMembers, waitingFor } from '../approvals/index.ts'
import type { LostPeople, Request } from '../requests/index.ts'
import { type SystemContext, TenantError } from '../shared/index.ts'
import type { OperationPorts } from './ports.ts'

/** How long the directory may take for all that is asked of one list, in milliseconds. */
const longestAnswer = 3000

type Membership = NonNullable<ApprovalStage['membership']>

/**
 * Those whom requests wait for and who decide nothing, by request: not in the directory any more, blocked, or asked only
 * as members of what they have left. Undefined when the directory does not answer in time. Few questions for all of them.
 */
export async function lostPeople(
  context: SystemContext<OperationPorts>,
  requests: readonly Request[],
): Promise<ReadonlyMap<string, LostPeople> | undefined> {
  const waiting = requests.flatMap((request) => {
    const stage = request.status === 'pendingApproval' ? openStage(request.approvals) : undefined
    return stage ? [{ requestId: request.requestId, stage, ids: waitingFor([stage]).map(({ id }) => id) }] : []
  })
  if (waiting.length === 0) return new Map()
  const answer = await inTime(() => ask(context, waiting))
  if (!answer) return undefined
  const { accounts, isStillIn } = answer
  return new Map(
    waiting.map(({ requestId, stage, ids }) => {
      const lost = ids.flatMap((id): [string, 'gone' | 'blocked' | 'left'][] => {
        const account = accounts.get(id)
        if (!account) return [[id, 'gone']]
        if (account.isBlocked) return [[id, 'blocked']]
        return isStillIn(stage.membership, id) ? [] : [[id, 'left']]
      })
      return [requestId, new Map(lost)]
    }),
  )
}

async function ask(
  { ports, settings }: SystemContext<OperationPorts>,
  waiting: readonly { readonly stage: ApprovalStage; readonly ids: readonly string[] }[],
) {
  const { directory } = ports
  const ids = [...new Set(waiting.flatMap((one) => one.ids))]
  const asked = waiting.flatMap(({ stage }) => (stage.membership ? [stage.membership] : []))
  const members = (id: string) => directory.membersOf(id)
  const [accounts, groups, owned, admins] = await Promise.all([
    directory.people(ids),
    byId(
      asked.flatMap((one) => one.groups),
      members,
    ),
    byId(
      asked.flatMap((one) => one.owned ?? []),
      (id) => directory.ownersOf(id),
    ),
    byId(asked.some((one) => one.admins) ? settings.admins : [], (id) => personOrMembers(ports, id)),
  ])
  const isIn = (lists: ReadonlyMap<string, ReadonlySet<string>>, of: readonly string[], id: string): boolean =>
    of.some((group) => lists.get(group)?.has(id))
  return {
    accounts: new Map(accounts.map((account) => [account.id, account])),
    isStillIn: (membership: Membership | undefined, id: string): boolean =>
      !membership?.people.includes(id) ||
      isIn(groups, membership.groups, id) ||
      isIn(owned, membership.owned ?? [], id) ||
      (membership.admins === true && isIn(admins, settings.admins, id)),
  }
}

async function byId(
  ids: readonly string[],
  read: (id: string) => Promise<readonly { readonly id: string }[]>,
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const lists = [...new Set(ids)].map(async (id) => [id, new Set((await read(id)).map((one) => one.id))] as const)
  return new Map(await Promise.all(lists))
}

/** What is asked; undefined when the tenant does not say, or not in time: then a list is shown without it. */
async function inTime<T>(question: () => Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), longestAnswer)
  })
  try {
    return await Promise.race([question(), late])
  } catch (error) {
    if (error instanceof TenantError) return undefined
    throw error
  } finally {
    clearTimeout(timer)
  }
}
