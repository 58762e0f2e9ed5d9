import { isDeepStrictEqual } from 'node:util'
import { asPerson, type Person, type SystemContext } from '../shared/index.ts'
import type { ApprovalPolicy } from '../templates/index.ts'
import { eligible, type Found, membershipOf } from './approval.ts'
import { foundBy, foundById } from './approvers.ts'
import type { ApprovalPorts, Delegation } from './delegation.ts'
import { type ApprovalStage, type StandIn, undecided } from './stage.ts'

/** Who can be asked in the place of others, and by which lines of the policy or the settings they were found. */
export interface StandInCandidate extends Pick<StandIn, 'person' | 'insteadOf' | 'as'> {
  readonly found: Found
}

/** Of more people than this nobody asks the managers: half an organisation would get a card. */
const mostManaged = 20

/**
 * Whom to ask for approvers who do not decide or cannot be told: the backup that the policy names, else each one's manager; for those
 * whom that leaves without anybody, the admins. Nobody who was asked already, nor who cannot decide, nor who asks.
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
    // Where all have to approve, one of them may do so for another too; else their own word is all they have.
    ...(stage.rule === 'all'
      ? silent
      : [...stage.approvers, ...(stage.standIns?.map(({ person }) => person) ?? [])]
    ).map(({ id }) => id),
    ...stage.decisions.map(({ by }) => by.id),
  ])
  // Whoever asks stands in for nobody, also where they may decide as an approver.
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
  const managed = policy?.backup || silent.length > mostManaged ? [] : silent
  const managers = await Promise.all(
    managed.map(async (one) => of('manager', await foundBy(ports, { manager: true }, one), [one])),
  )
  const own = policy?.backup ? backup.flatMap((found) => of('backup', found, silent)) : managers.flat()
  const left = silent.filter(({ id }) => !own.some(({ insteadOf }) => insteadOf.includes(id)))
  if (left.length === 0) return own
  const admins = await Promise.all(settings.admins.map((id) => foundById(ports, id)))
  return [...own, ...admins.flatMap((found) => of('admin', found, left))]
}

/** A stage that these are asked in too. Who was found through a group decides only while they are in it. */
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
  // Who was asked as a person stays so, by whatever other way they were found.
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

/** How many delegates may follow each other: whoever is away themselves has their own. */
const longestChain = 5

/**
 * A stage in which those who are delegates now stand in, and no former ones. The same value when nothing changes. Whoever asks
 * never decides by delegation.
 */
export function realigned(
  stage: ApprovalStage,
  away: readonly Delegation[],
  requesterId: string,
  at: string,
): ApprovalStage {
  const now = (stage.standIns ?? []).filter(({ why }) => why === 'delegated')
  const asked = (stage.standIns ?? []).filter(({ why }) => why !== 'delegated')
  const current = away.filter(
    ({ until, endedAt, delegate }) => until > at && endedAt === null && delegate.id !== requesterId,
  )
  let delegates: StandIn[] = []
  // Each round follows the chains by one link more; those of a circle come to nothing new.
  for (let link = 0; link < longestChain; link += 1) {
    const known = { ...stage, standIns: [...asked, ...delegates] }
    delegates = current.flatMap((one) => delegatesOf(known, one))
  }
  if (isDeepStrictEqual(delegates, now)) return stage
  const { standIns: _, ...bare } = stage
  const standIns = [...asked, ...delegates]
  return standIns.length > 0 ? { ...bare, standIns } : bare
}

/** What one delegation comes to: the delegate has all voices of who is away, each for as long as these have it themselves. */
function delegatesOf(stage: ApprovalStage, { person, delegate, from, until }: Delegation): StandIn[] {
  // Whose own word is enough needs no other's.
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
  return [...Map.groupBy(ends, ([, end]) => end)].map(([end, voices]) => {
    const insteadOf = voices.map(([id]) => id)
    return { person: delegate, insteadOf, why: 'delegated', as: 'delegate', by: person, since: from, until: end }
  })
}

/** Whom somebody decides for. */
export const standsFor = ({ approvers, standIns = [] }: ApprovalStage, personId: string): Person[] => {
  const ids = new Set(standIns.filter(({ person }) => person.id === personId).flatMap(({ insteadOf }) => insteadOf))
  return approvers.filter(({ id }) => ids.has(id))
}
