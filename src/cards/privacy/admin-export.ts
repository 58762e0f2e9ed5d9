import { z } from 'zod'
import type { Days, ExportLink, ExportOffer, Fault, Person, PersonExportOffer } from '../../core/index.ts'
import { faultLine, faultsOfForm, partsOf } from '../drafts/form-faults.ts'
import { look, looks, plain, toFix } from '../shared/look.ts'
import { commandName, format, keysOf, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { bound, cut, dayOf, isDay, longest, quantity, type Viewer } from '../shared/texts.ts'

/** The possible people for an admin's command: nobody was named, nobody was found, or several match. */
interface PersonChoice {
  readonly purpose: 'export' | 'erase'
  readonly typed: string
  readonly people: readonly Person[]
}

export const adminPersonCard = defineCard({
  name: 'admin-person',
  data: z.strictObject({
    purpose: z.enum(['export', 'erase']),
    says: z.enum(['howTo', 'nobody', 'which']),
    lead: z.string(),
    rows: z.array(z.strictObject({ title: z.string(), says: z.string(), command: z.string() })).max(6),
  }),
})

const commands = { export: 'admin export person', erase: 'admin erase' } as const

/** Lets the admin choose the person. */
export function adminPersonView({ purpose, typed, people }: PersonChoice): ViewOf<typeof adminPersonCard> {
  const says = people.length > 0 ? 'which' : typed === '' ? 'howTo' : 'nobody'
  return {
    purpose,
    says,
    lead: format(strings.person.lead[says], { typed: cut(typed, longest.title) }),
    rows: people.slice(0, 6).map(({ id, displayName, userPrincipalName }) => ({
      title: cut(displayName || id, longest.title),
      says: cut(userPrincipalName || id, longest.address),
      command: `${commandName(commands[purpose])} ${id}`,
    })),
  }
}

type LinkName = keyof typeof strings.export.link
const day = z.union([z.literal(''), z.iso.date()])

/** The form, with a typed text that is not a period, and its faults; or the links. */
export type ExportNow =
  | { readonly step: 'form'; readonly days: Days; readonly typed: string; readonly faults: readonly Fault[] }
  | { readonly step: 'links'; readonly offer: ExportOffer }
  | { readonly step: 'person'; readonly offer: PersonExportOffer }

export const adminExportCard = defineCard({
  name: 'admin-export',
  data: z.strictObject({
    step: z.enum(['form', 'links', 'person']),
    heading: z.string(),
    look,
    /** The sentence about a typed text that is not a period. */
    unclear: z.string(),
    values: z.strictObject({ from: day, to: day }),
    faults: z.strictObject({ from: faultLine, to: faultLine }),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
    days: z.string(),
    counts: z.string(),
    person: z.strictObject({ name: z.string(), address: z.string() }),
    until: z.string(),
    links: z.array(z.strictObject({ name: z.enum(keysOf(strings.export.link)), url: z.string() })).max(4),
  }),
})
type View = ViewOf<typeof adminExportCard>

const nothing: Omit<View, 'step' | 'heading' | 'look'> = {
  ...{ unclear: '', values: { from: '', to: '' }, faults: { from: '', to: '' }, otherFaults: [] },
  ...{ days: '', counts: '', person: { name: '', address: '' }, until: '', links: [] },
}

/** Shows inputs for the period; then four links and their expiry. */
export function adminExportView(now: ExportNow, viewer: Viewer): View {
  if (now.step === 'form') return { ...nothing, ...formOf(now) }
  const texts = strings.export
  const until = format(texts.until, { time: bound('until', now.offer.until, viewer, 'full') })
  if (now.step === 'person') {
    const { person, url } = now.offer
    const name = cut(person.displayName || person.id, longest.title)
    return {
      ...nothing,
      step: 'person',
      heading: texts.heading.person,
      look: looks.succeeded,
      until,
      person: { name, address: cut(person.userPrincipalName, longest.address) },
      links: [{ name: 'personJson', url }],
    }
  }
  const { from, to, requests, entries, links } = now.offer
  return {
    ...nothing,
    step: 'links',
    heading: texts.heading.links,
    look: looks.succeeded,
    until,
    days: format(from === to ? texts.day : texts.range, { from: dayOf(from), to: dayOf(to) }),
    counts: format(from === to ? texts.countsOfDay : texts.counts, {
      requests: quantity(requests),
      entries: quantity(entries),
    }),
    links: links.map((link) => ({ name: nameOf(link), url: link.url })),
  }
}

function formOf({ days, typed, faults }: Extract<ExportNow, { step: 'form' }>) {
  const of = faultsOfForm(faults, {
    ids: ['from', 'to'],
    label: (id) => (id === 'from' ? strings.export.from.label : strings.export.to.label),
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'export',
  })
  const { faultCount, otherFaults } = of
  const texts = strings.export
  // Inputs hold days, and nothing else.
  const held = (text: string) => (isDay(text) ? text : '')
  return {
    step: 'form' as const,
    ...(faultCount > 0
      ? { heading: format(strings.form.mistakes, { count: faultCount }), look: toFix }
      : { heading: texts.heading.form, look: plain }),
    otherFaults,
    unclear: typed === '' ? '' : format(texts.unclear, { typed: cut(typed, longest.title) }),
    values: { from: held(days.from), to: held(days.to) },
    faults: { from: of.lineOf('from'), to: of.lineOf('to') },
  }
}

function nameOf({ what, format }: ExportLink): LinkName {
  if (what === 'person') return 'personJson'
  return format === 'csv' ? `${what}Csv` : `${what}Json`
}
