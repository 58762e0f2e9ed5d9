import { z } from 'zod'
import { cardsFor, type DelegationForm, type Remark, rowsOfAdminPage } from '../../cards/index.ts'
import { because, dayIn, endOf, type Fault, fault, type Person } from '../../core/index.ts'
import { isId, type Reply, type Turn } from '../channel/turn.ts'
import { type FoundPeople, parseDay, parsePeriod, peopleMeant } from '../channel/typed-arguments.ts'
import { defineCardAction, defineCommand, defineShowCommand, input, isRefusal, pageStart } from '../define.ts'

/** `delegate Omar Haddad until friday`: saves the delegation if person and day are clear; otherwise opens the form. */
export const delegateCommand = defineCommand({
  name: 'delegate',
  menu: 7,
  changes: true,
  argument: z.string().max(256).transform(personAndDay),
  handle: delegateAsTyped,
  withoutValidArgument: (turn) => showForm(turn),
})

/** `back`: ends the delegation. With more text, as in "back on Monday", it shows the delegation instead. */
export const backCommand = defineCommand({
  name: 'back',
  changes: true,
  argument: z.literal(''),
  handle: (turn) => end(turn),
  withoutValidArgument: (turn) => showForm(turn),
})

/** Opens the form with the current delegation. */
export const openDelegation = defineCardAction({
  verb: 'delegation.open',
  data: z.object({}),
  handle: (turn) => showForm(turn),
})

/** Saves a delegation until the end of a day. The card shows the result, or returns with the mistakes. */
export const saveDelegation = defineCardAction({
  verb: 'delegation.save',
  data: z.object({ to: input, until: input }),
  handle: save,
})

/** Ends the delegation early. A person without a delegation gets the same card. */
export const endDelegation = defineCardAction({
  verb: 'delegation.end',
  data: z.object({}),
  handle: (turn) => end(turn),
})

interface Typed {
  readonly person: string
  readonly day: string
}

/** Returns the person and the day in "Omar Haddad until friday" or "Omar Haddad for a week"; `''` for a missing part. */
function personAndDay(typed: string): Typed {
  const [, person = '', day = ''] = /^(?:(.*) )?(?:until|till|for)(?: (.*))?$/is.exec(typed) ?? [typed, typed]
  return { person: person.trim(), day: day.trim() }
}

async function delegateAsTyped(turn: Turn, typed: Typed): Promise<Reply> {
  const until = typed.day === '' ? undefined : lastDayOf(typed.day, turn)
  const { people, isSure } = await findDelegates(turn, typed.person)
  const [only, ...others] = people
  if (only && others.length === 0 && isSure && until !== undefined) return save(turn, { to: only.id, until })
  return showForm(turn, {
    ...(typed.person !== '' && { people, to: only && others.length === 0 ? only.id : '' }),
    ...(typed.day !== '' && { until: until ?? '' }),
    remarks: remarksOf(typed, people, until),
  })
}

/** Reads "a week" and "friday" as the last day. */
const lastDayOf = (typed: string, { viewer: { now, timeZone } }: Turn): string | undefined =>
  parsePeriod(typed, now, timeZone) ?? parseDay(typed, now, timeZone)

/** Finds the colleagues that a text can mean. If there are several, the person who typed is not one of them. */
async function findDelegates(turn: Turn, typed: string): Promise<FoundPeople> {
  if (typed === '') return { people: [], isSure: false }
  const { people, isSure } = await peopleMeant(turn, typed)
  return { people: people.length > 1 ? people.filter(({ id }) => id !== turn.actor.id) : people, isSure }
}

function remarksOf({ person, day }: Typed, people: readonly Person[], until: string | undefined): Remark[] {
  const [only, ...others] = people
  const ofPerson: Remark = !only
    ? { words: 'nobody', typed: person }
    : others.length > 0
      ? { words: 'several', typed: person }
      : { words: 'check', typed: `${only.displayName} (${only.userPrincipalName})` }
  const ofDay: Remark = { words: 'unclearDay', typed: day }
  return [...(person === '' ? [] : [ofPerson]), ...(day !== '' && until === undefined ? [ofDay] : [])]
}

/** The values in the form. Missing values come from the current delegation. */
type FormValues = Partial<Omit<DelegationForm, 'values' | 'isChoice' | 'earliest'> & { to: string; until: string }>

async function showForm(turn: Turn, form: FormValues = {}): Promise<Reply> {
  const { core, actor, viewer } = turn
  const present = await core.readDelegations(actor)
  const { own } = present
  const { to = own?.delegate.id ?? '', until = own ? dayIn(new Date(own.until), viewer.timeZone) : '' } = form
  const { people = own ? [own.delegate] : [], remarks = [], faults = [] } = form
  const data: DelegationForm = {
    // The inputs accept only an id and a day.
    values: { to: isId(to) ? to : '', until: isDay(until) ? until : '' },
    people,
    isChoice: people.length > 1,
    remarks,
    faults,
    earliest: dayIn(viewer.now, viewer.timeZone),
  }
  return { card: cardsFor(viewer).delegation({ step: 'form', form: data }, present, viewer) }
}

const isDay = (value: string): boolean => z.iso.date().safeParse(value).success
/** The card counts the requests that move among so many that wait. */
const maxCounted = 100

/** Saves a delegation to a person's id until a day, from a command or from the form. */
async function save(turn: Turn, { to, until }: { to: string; until: string }): Promise<Reply> {
  const { core, actor, viewer } = turn
  const day = parseDay(until, viewer.now, viewer.timeZone)
  const faults = [...faultOfPerson(to), ...(day === undefined ? [faultOfDay(until)] : [])]
  let former: Person | undefined
  try {
    if (faults.length > 0) return await showMistakes(turn, to, day, faults)
    former = await begin(turn, { to, until: endOf(day ?? '', viewer.timeZone).toISOString() })
  } catch (error) {
    if (!isRefusal(error, 'validation-failed')) throw error
    return showMistakes(turn, to, day, error.faults)
  }
  const [present, { requests, more, notMoved }] = await Promise.all([
    core.readDelegations(actor),
    core.listDelegated(actor, { limit: maxCounted }),
  ])
  const waiting = { names: requests.map(({ details }) => details.displayName), more, notMoved }
  return { card: cardsFor(viewer).delegation({ step: 'saved', waiting, former }, present, viewer) }
}

/** Returns the delegate that the new one replaces. A second click on the same form changes nothing. */
async function begin({ core, actor }: Turn, delegation: { to: string; until: string }): Promise<Person | undefined> {
  const { own } = await core.readDelegations(actor)
  if (own?.delegate.id === delegation.to && own.until === delegation.until) return undefined
  await core.beginDelegation(actor, delegation)
  return own?.delegate.id === delegation.to ? undefined : own?.delegate
}

/** Shows the form with the values and their mistakes. Looks up the person, because the picker shows names. */
async function showMistakes(turn: Turn, to: string, day: string | undefined, faults: readonly Fault[]): Promise<Reply> {
  const people = isId(to) ? await turn.core.findColleagues(turn.actor, { typed: to }) : []
  return showForm(turn, { to: people.length > 0 ? to : '', until: day ?? '', people, faults })
}

function faultOfPerson(to: string): Fault[] {
  if (to === '') return [fault('/to', 'required', because('delegateRequired'))]
  return isId(to) ? [] : [fault('/to', 'invalid', because('personRequired'))]
}

const faultOfDay = (until: string): Fault =>
  until === '' ? fault('/until', 'required', because('dayRequired')) : fault('/until', 'invalid', because('dayInvalid'))

async function end({ core, actor, viewer }: Turn): Promise<Reply> {
  const ended = await core.endDelegation(actor)
  const present = await core.readDelegations(actor)
  return { card: cardsFor(viewer).delegation({ step: 'ended', ended }, present, viewer) }
}

/** `admin delegations`: lists the current delegations. */
export const adminDelegationsCommand = defineShowCommand({
  name: 'admin delegations',
  forAdmins: true,
  show: (turn) => showDelegations(turn),
})

/** Shows another page of the current delegations, on the same card. */
export const pageDelegations = defineCardAction({
  verb: 'admin.delegations',
  forAdmins: true,
  data: z.object({ from: pageStart }),
  handle: (turn, { from }) => showDelegations(turn, from),
})

async function showDelegations({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listDelegations(actor, { from, most: rowsOfAdminPage })
  return { card: cardsFor(viewer).adminDelegations(page, viewer) }
}
