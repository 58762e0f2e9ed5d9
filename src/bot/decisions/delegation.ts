import { z } from 'zod'
import { cards, type DelegationForm, type Remark } from '../../cards/index.ts'
import { because, dayIn, endOf, type Fault, fault, type Person, ProvisioningError } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { parseDay } from '../channel/typed-arguments.ts'
import { defineCardAction } from '../define-card-action.ts'

/** What an input gives; what is no text was not given. */
const input = z
  .string()
  .catch('')
  .transform((text) => text.trim())
/** More is not counted for the card. */
const counted = 100

/** Opens the form, with what is delegated now. */
export const openDelegation = defineCardAction({
  verb: 'delegation.open',
  data: z.object({}),
  handle: (turn) => delegationForm(turn),
})

/** Lets a colleague decide until the end of a day; the card says what that means, or comes back with what is wrong. */
export const saveDelegation = defineCardAction({
  verb: 'delegation.save',
  data: z.object({ to: input, until: input }),
  handle: (turn, values) => saved(turn, values),
})

/** Ends the delegation early. A person without a delegation gets the same card. */
export const endDelegation = defineCardAction({
  verb: 'delegation.end',
  data: z.object({}),
  handle: (turn) => ended(turn),
})

/** What is known before the form opens: typed with the command, or filled in before. */
export interface Given {
  readonly to?: string
  readonly until?: string
  readonly people?: readonly Person[]
  readonly remarks?: readonly Remark[]
  readonly faults?: readonly Fault[]
}

/** The form with what is given, else with what is delegated now. */
export async function delegationForm(turn: Turn, given: Given = {}): Promise<Reply> {
  const { provisioning, actor, viewer } = turn
  const known = await provisioning.readDelegations(actor)
  const {
    to = known.own?.delegate.id ?? '',
    until = known.own ? dayIn(new Date(known.own.until), viewer.timeZone) : '',
  } = given
  const { people = known.own ? [known.own.delegate] : [], remarks = [], faults = [] } = given
  const form: DelegationForm = {
    // Only an id and a day are put back: inputs hold nothing else.
    values: { to: isId(to) ? to : '', until: isDay(until) ? until : '' },
    people,
    isChoice: people.length > 1,
    remarks,
    faults,
    earliest: dayIn(viewer.now, viewer.timeZone),
  }
  return { card: cards.delegation({ step: 'form', form }, known, viewer) }
}

/** Saves a person's id and a day, as they were typed or filled in. */
export async function saved(turn: Turn, { to, until }: { to: string; until: string }): Promise<Reply> {
  const { provisioning, actor, viewer } = turn
  const day = parseDay(until, viewer.now, viewer.timeZone)
  const faults = [...faultOfPerson(to), ...(day === undefined ? [faultOfDay(until)] : [])]
  try {
    if (faults.length > 0) return await returned(turn, { to, until: day ?? '', faults })
    await begin(turn, { to, until: endOf(day ?? '', viewer.timeZone).toISOString() })
  } catch (error) {
    if (!(error instanceof ProvisioningError) || error.code !== 'validation-failed') throw error
    return returned(turn, { to, until: day ?? '', faults: error.faults })
  }
  const [known, { requests, nextCursor }] = await Promise.all([
    provisioning.readDelegations(actor),
    provisioning.listApprovals(actor, { limit: counted }),
  ])
  const waiting = { count: requests.length, more: nextCursor !== undefined }
  return { card: cards.delegation({ step: 'saved', waiting }, known, viewer) }
}

/** A second click on the same form finds what it wanted. */
async function begin({ provisioning, actor }: Turn, asked: { to: string; until: string }): Promise<void> {
  const { own } = await provisioning.readDelegations(actor)
  if (own?.delegate.id === asked.to && own.until === asked.until) return
  await provisioning.beginDelegation(actor, asked)
}

/** Ends what is delegated, and says so; or that there was nothing. */
export async function ended({ provisioning, actor, viewer }: Turn): Promise<Reply> {
  const before = await provisioning.endDelegation(actor)
  const known = await provisioning.readDelegations(actor)
  return { card: cards.delegation({ step: 'ended', ended: before }, known, viewer) }
}

/** The form with what was filled in, and what is wrong about it. The picker shows names, so they are looked up. */
async function returned(turn: Turn, given: Required<Pick<Given, 'to' | 'until' | 'faults'>>): Promise<Reply> {
  const people = isId(given.to) ? await turn.provisioning.findColleagues(turn.actor, { typed: given.to }) : []
  return delegationForm(turn, { ...given, to: people.length > 0 ? given.to : '', people })
}

const isId = (value: string): boolean => z.uuid().safeParse(value).success
const isDay = (value: string): boolean => z.iso.date().safeParse(value).success

function faultOfPerson(to: string): Fault[] {
  if (to === '') return [fault('/to', 'required', because('delegateRequired'))]
  return isId(to) ? [] : [fault('/to', 'invalid', because('personRequired'))]
}

const faultOfDay = (until: string): Fault =>
  until === '' ? fault('/until', 'required', because('dayRequired')) : fault('/until', 'invalid', because('dayInvalid'))
