import { isDeepStrictEqual } from 'node:util'
import { asPerson, type Person, type SystemContext } from '../shared/index.ts'
import type { ApprovalPolicy } from '../templates/index.ts'
import { eligible, type Found, membershipOf } from './approval.ts'
import { foundBy, foundById } from './approvers.ts'
import type { ApprovalPorts, Delegation } from './delegation.ts'
import { type ApprovalStage, type StandIn, undecided } from './stage.ts'

/** A possible stand-in, and the line of the policy or the settings that names them. */
export interface StandInCandidate extends Pick<StandIn, 'person' | 'insteadOf' | 'as'> {
  readonly found: Found
}

/** For more people than this, managers are not asked: half an organisation would get a card. */
const maxManaged = 20

/**
 * Returns stand-ins for approvers who do not decide or are unreachable: the policy's backup, else each approver's manager; the
 * admins for approvers who get no other stand-in. Leaves out people who already decide the stage, cannot decide, or are the
 * requester.
 */
export async function standInCandidates(
  { ports, settings }: SystemContext<ApprovalPorts>,
  request: {
    readonly requester: Person
    readonly template: { readonly approval: ApprovalPolicy | null }
  },
  stage: ApprovalStage,
  silent: readonly Person[],
): Promise<StandInCandidate[]> {
  const policy = request.template.approval?.stages[(stage.place ?? 0) - 1]
  const refused = new Set([
    ...(stage.unreachable ?? []).map(({ person }) => person.id),
    // Under the rule `all`, one approver may also stand in for another; else each person decides once.
    ...(stage.rule === 'all'
      ? silent
      : [...stage.approvers, ...(stage.standIns?.map(({ person }) => person) ?? [])]
    ).map(({ id }) => id),
    ...stage.decisions.map(({ by }) => by.id),
    ...(stage.excluded ?? []),
  ])
  // The requester is never a stand-in, even if the policy lets them decide as an approver.
  const of = (as: StandInCandidate['as'], found: Found, people: readonly Person[]): StandInCandidate[] =>
    eligible([found], request.requester.id)
      .flatMap((line) => line.people)
      .filter(({ id }) => !refused.has(id))
      .flatMap((account) => {
        const standing = new Set(standsFor(stage, account.id).map(({ id }) => id))
        const insteadOf = people.map(({ id }) => id).filter((id) => !standing.has(id))
        if (insteadOf.length === 0) return []
        return [{ person: asPerson(account), insteadOf, as, found: { ...found, people: [account] } }]
      })
  const backup = await Promise.all((policy?.backup ?? []).map((by) => foundBy(ports, by, request.requester)))
  const managed = policy?.backup || silent.length > maxManaged ? [] : silent
  const managers = await Promise.all(
    managed.map(async (one) => of('manager', await foundBy(ports, { manager: true }, one), [one])),
  )
  const own = policy?.backup ? backup.flatMap((found) => of('backup', found, silent)) : managers.flat()
  const left = silent.filter(({ id }) => !own.some(({ insteadOf }) => insteadOf.includes(id)))
  if (left.length === 0) return own
  const admins = await Promise.all(settings.admins.map((id) => foundById(ports, id)))
  return [...own, ...admins.flatMap((found) => of('admin', found, left))]
}

/** Returns a stage with these stand-ins added. A stand-in found through a group can decide only as a member of the group. */
export function withCandidates(
  stage: ApprovalStage,
  candidates: readonly StandInCandidate[],
  why: 'escalated' | 'unreachable',
  at: string,
): ApprovalStage {
  if (candidates.length === 0) return stage
  const byPerson = Map.groupBy(candidates, ({ person }) => person.id)
  const added = [...byPerson.values()].flatMap((of): StandIn[] => {
    const [first] = of
    const insteadOf = [...new Set(of.flatMap((one) => one.insteadOf))]
    return first ? [{ person: first.person, insteadOf, why, as: first.as, since: at }] : []
  })
  const membership = merged(stage, membershipOf(candidates.map(({ found }) => found)))
  return { ...stage, standIns: [...(stage.standIns ?? []), ...added], ...(membership && { membership }) }
}

function merged(
  { membership: before, approvers }: ApprovalStage,
  added: NonNullable<ApprovalStage['membership']>,
): ApprovalStage['membership'] {
  // A person named by the policy stays an approver, even if a group also contains them.
  const direct = approvers.map(({ id }) => id).filter((id) => !before?.people.includes(id))
  const people = [...new Set([...(before?.people ?? []), ...added.people.filter((id) => !direct.includes(id))])]
  if (people.length === 0) return before
  const owned = [...new Set([...(before?.owned ?? []), ...(added.owned ?? [])])]
  return {
    groups: [...new Set([...(before?.groups ?? []), ...added.groups])],
    ...(owned.length > 0 && { owned }),
    ...((before?.admins || added.admins) && { admins: true }),
    people,
  }
}

/** The longest chain of delegates: an absent delegate has a delegate too. */
const longestChain = 5

/**
 * Returns a stage with the current delegates as stand-ins and without former ones; the same object if nothing changes. The
 * requester never decides as a delegate.
 */
export function realigned(
  stage: ApprovalStage,
  away: readonly Delegation[],
  requesterId: string,
  at: string,
): ApprovalStage {
  const now = (stage.standIns ?? []).filter(({ why }) => why === 'delegated')
  const others = (stage.standIns ?? []).filter(({ why }) => why !== 'delegated')
  const current = away.filter(
    ({ until, endedAt, delegate }) => until > at && endedAt === null && delegate.id !== requesterId,
  )
  let delegates: StandIn[] = []
  // Each round adds one link to every chain. A circle of delegates adds nothing new.
  for (let link = 0; link < longestChain; link += 1) {
    const known = { ...stage, standIns: [...others, ...delegates] }
    delegates = current.flatMap((one) => delegatesOf(known, one))
  }
  if (isDeepStrictEqual(delegates, now)) return stage
  const { standIns: _, ...bare } = stage
  const standIns = [...others, ...delegates]
  return standIns.length > 0 ? { ...bare, standIns } : bare
}

/** Returns the stand-ins of one delegation: the delegate represents the same approvers as the absent person, for as long. */
function delegatesOf(stage: ApprovalStage, { person, delegate, from, until }: Delegation): StandIn[] {
  // An approver needs no second right to decide, unless all must approve.
  if (stage.rule !== 'all' && stage.approvers.some(({ id }) => id === delegate.id)) return []
  const left = new Set(undecided(stage).map(({ id }) => id))
  const ends = new Map<string, string>()
  if (left.has(person.id)) ends.set(person.id, until)
  for (const one of stage.standIns ?? []) {
    if (one.person.id !== person.id) continue
    const end = one.until !== undefined && one.until < until ? one.until : until
    for (const id of one.insteadOf) if (left.has(id) && (ends.get(id) ?? '') < end) ends.set(id, end)
  }
  ends.delete(delegate.id)
  return [...Map.groupBy(ends, ([, end]) => end)].map(([end, represented]) => {
    const insteadOf = represented.map(([id]) => id)
    return { person: delegate, insteadOf, why: 'delegated', as: 'delegate', by: person, since: from, until: end }
  })
}

/** Returns the approvers that a person represents as a stand-in. */
export const standsFor = ({ approvers, standIns = [] }: ApprovalStage, personId: string): Person[] => {
  const ids = new Set(standIns.filter(({ person }) => person.id === personId).flatMap(({ insteadOf }) => insteadOf))
  return approvers.filter(({ id }) => ids.has(id))
}
