import { z } from 'zod'
import type { Delegation, DelegationPage, Delegations, Fault, Person } from '../../core/index.ts'
import { choice, faultLine, faultsOfForm, partsOf } from '../drafts/form-faults.ts'
import { type Look, look, plain, toFix } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { paged, pagesAround, rowsOfAdminPage } from '../shared/paging.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, lastDay, longest, moment, shortName, time, titleList, type Viewer } from '../shared/texts.ts'

/** A day as inputs write it, `2026-11-30`; `''` for none. */
const day = z.union([z.literal(''), z.iso.date()])

/** A sentence above the form: who was found, or what was not understood. */
export interface Remark {
  readonly words: keyof typeof strings.delegation.remark
  /** The typed text; for `check` the name and sign-in name of the match. */
  readonly typed: string
}

/** The form of a delegation: the delegate and the end. */
export interface DelegationForm {
  readonly values: { readonly to: string; readonly until: string }
  /** The people whose names the picker shows, or the people to choose from. */
  readonly people: readonly Person[]
  readonly isChoice: boolean
  readonly remarks: readonly Remark[]
  readonly faults: readonly Fault[]
  /** The viewer's today. */
  readonly earliest: string
}

/** The names of the requests that the delegate can decide now; `more`: at least these. */
export interface Waiting {
  readonly names: readonly string[]
  readonly more: boolean
  /** The numbers of requests that do not move: requested by the delegate, and others. */
  readonly notMoved: { readonly requested: number; readonly others: number }
}

/** A delegation: its form, or the result of the last change. */
export type DelegationNow =
  | { readonly step: 'form'; readonly form: DelegationForm }
  | { readonly step: 'saved'; readonly waiting: Waiting; readonly former?: Person | undefined }
  | { readonly step: 'ended'; readonly ended: Delegation | undefined }

export const delegationCard = defineCard({
  name: 'delegation',
  data: z.strictObject({
    heading: z.enum(['away', 'delegated', 'mistakes', 'saved', 'ended', 'nothing']),
    look,
    band: z.string(),
    /** The viewer's delegate; `''` without one. */
    own: z.strictObject({ text: z.string(), address: z.string() }),
    saved: z.string(),
    ended: z.string(),
    asks: z.boolean(),
    waiting: z.string(),
    remarks: z.array(z.strictObject({ isCheck: z.boolean(), text: z.string() })),
    isChoice: z.boolean(),
    people: z.array(choice),
    values: z.strictObject({ to: z.union([z.literal(''), z.uuid()]), until: day }),
    faults: z.strictObject({ to: faultLine, until: faultLine }),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
    earliest: day,
    toMe: z.array(z.strictObject({ text: z.string() })),
    moreToMe: z.string(),
  }),
})
type View = ViewOf<typeof delegationCard>

/** The number of delegations to the viewer that the card shows; it counts the others. */
const maxToMe = 6
const done: Look = { mark: '✓', color: 'Good', band: 'good' }
const noForm: DelegationForm = {
  ...{ values: { to: '', until: '' }, people: [], isChoice: false, remarks: [], faults: [], earliest: '' },
}

/** Shows the viewer's delegate, and the people who delegate to the viewer. */
export function delegationView(now: DelegationNow, { own, toMe }: Delegations, viewer: Viewer): View {
  const form = now.step === 'form' ? now.form : noForm
  const texts = strings.delegation
  const faults = faultsOfForm(form.faults, {
    ids: ['to', 'until'],
    label: (id) => (id === 'to' ? strings.delegation.to.label : strings.delegation.until.label),
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'delegation',
  })
  const { faultCount, lineOf, otherFaults } = faults
  const name = own ? shortName(own.delegate) : ''
  const former = now.step === 'ended' ? now.ended?.delegate : now.step === 'saved' ? now.former : undefined
  return {
    ...(faultCount > 0
      ? { heading: 'mistakes', band: format(strings.form.mistakes, { count: faultCount }), look: toFix }
      : headingOf(now, own)),
    own: { text: delegateText(own, viewer), address: own ? cut(own.delegate.userPrincipalName, longest.address) : '' },
    saved: format(texts.saved, { name }),
    ended: former ? format(texts.ended, { name: shortName(former) }) : '',
    asks: now.step === 'form',
    waiting: now.step === 'saved' ? waitingText(now.waiting, name) : '',
    remarks: form.remarks.map(({ words: remark, typed }) => ({
      isCheck: remark === 'check',
      text: format(texts.remark[remark], { typed: cut(typed, longest.title) }),
    })),
    isChoice: form.isChoice,
    people: form.people.map((person) => ({ title: titleOf(person, form.isChoice), value: person.id })),
    values: form.values,
    faults: { to: lineOf('to'), until: lineOf('until') },
    otherFaults,
    earliest: form.earliest,
    toMe: toMe.slice(0, maxToMe).map(({ person, until }) => ({
      text: format(texts.toMeUntil, { name: shortName(person), date: lastDay(until, viewer) }),
    })),
    moreToMe: restText(texts.toMeMore, toMe.length - maxToMe),
  }
}

/** "Omar Haddad decides for you until 30 November 2026."; `''` without a delegate. */
export const delegateText = (own: Delegation | undefined, viewer: Viewer): string =>
  own ? format(strings.delegation.own, { name: shortName(own.delegate), date: lastDay(own.until, viewer) }) : ''

/** The sign-in name distinguishes people of one name. */
const titleOf = ({ displayName, userPrincipalName }: Person, isChoice: boolean): string => {
  const name = cut(displayName, longest.name)
  return isChoice ? `${name} (${cut(userPrincipalName, longest.address)})` : name
}

function headingOf(now: DelegationNow, own: Delegation | undefined): Pick<View, 'heading' | 'band' | 'look'> {
  const under = (heading: keyof typeof strings.delegation.heading, shown: Look) => {
    return { heading, band: strings.delegation.heading[heading], look: shown }
  }
  if (now.step === 'saved') return under('saved', done)
  if (now.step === 'ended') return now.ended ? under('ended', done) : under('nothing', plain)
  return under(own ? 'delegated' : 'away', plain)
}

/** How many names of requests the card shows. */
const maxNamed = 3

function waitingText({ names, more, notMoved: { requested, others } }: Waiting, name: string): string {
  if (names.length === 0) {
    const why = requested + others === 0 ? 'nothing' : requested === 0 ? 'anyway' : others === 0 ? 'requested' : 'both'
    return format(strings.delegation.noneMoves[why], { name })
  }
  const values = { count: names.length, name, names: titleList(names, maxNamed) }
  return format(more ? strings.delegation.waitingMany : strings.delegation.waiting, values)
}

export const adminDelegationsCard = defineCard({
  name: 'admin-delegations',
  data: z.strictObject({
    at: z.string(),
    /** The absent people and their delegates. */
    rows: z
      .array(
        z.strictObject({
          name: z.string(),
          decides: z.string(),
          /** The sign-in names of both, and the start. */
          who: z.string(),
        }),
      )
      .max(rowsOfAdminPage),
    isEmpty: z.boolean(),
    ...paged,
  }),
})

/** The current delegations, the first to end first. Sign-in names distinguish people of one name. */
export function adminDelegationsView(
  { delegations, from, total }: DelegationPage,
  viewer: Viewer,
): ViewOf<typeof adminDelegationsCard> {
  return {
    at: time(viewer),
    rows: delegations.map((one) => ({
      name: shortName(one.person),
      decides: format(strings.delegations.decides, {
        name: shortName(one.delegate),
        date: lastDay(one.until, viewer),
      }),
      who: format(strings.delegations.who, {
        address: cut(one.person.userPrincipalName, longest.address),
        delegate: cut(one.delegate.userPrincipalName, longest.address),
        date: moment(one.from, viewer, 'day'),
      }),
    })),
    isEmpty: total === 0,
    ...pagesAround(from, delegations.length, total),
  }
}
