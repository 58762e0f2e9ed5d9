import { z } from 'zod'
import type { Days, ExportLink, ExportOffer, Fault, PersonExportOffer } from '../core/index.ts'
import { defineCard } from './define-card.ts'
import { faultLine, faultsOfForm, partsOf } from './form-faults.ts'
import { look, looks, plain } from './look.ts'
import { strings } from './messages.ts'
import { cut, dayOf, isDay, longest, moment, quantity, type Viewer } from './words.ts'

type LinkName = keyof typeof strings.export.link
const linkNames = Object.keys(strings.export.link) as [LinkName, ...LinkName[]]
const day = z.union([z.literal(''), z.iso.date()])

/** The form, what was typed that is no days, and what is wrong with what was filled in; or the links. */
export type ExportNow =
  | { readonly step: 'form'; readonly days: Days; readonly typed: string; readonly faults: readonly Fault[] }
  | { readonly step: 'links'; readonly offer: ExportOffer }
  | { readonly step: 'person'; readonly offer: PersonExportOffer }

export const adminExportCard = defineCard({
  name: 'admin-export',
  data: z.strictObject({
    step: z.enum(['form', 'links', 'person']),
    heading: z.enum(['form', 'mistake', 'mistakes', 'links', 'person']),
    look,
    faultCount: z.int(),
    typed: z.string(),
    values: z.strictObject({ from: day, to: day }),
    faults: z.strictObject({ from: faultLine, to: faultLine }),
    otherFaults: z.array(z.strictObject({ detail: z.string() })),
    days: z.enum(['day', 'range']),
    from: z.string(),
    to: z.string(),
    requests: z.string(),
    entries: z.string(),
    person: z.strictObject({ name: z.string(), address: z.string() }),
    until: z.string(),
    links: z.array(z.strictObject({ name: z.enum(linkNames), url: z.string() })).max(4),
  }),
})
type View = Parameters<typeof adminExportCard.render>[0]

const noFault = { words: '', suggestion: '', detail: '' }
const nothing: Omit<View, 'step' | 'heading' | 'look'> = {
  ...{
    faultCount: 0,
    typed: '',
    values: { from: '', to: '' },
    faults: { from: noFault, to: noFault },
    otherFaults: [],
  },
  ...{
    days: 'range',
    from: '',
    to: '',
    requests: '',
    entries: '',
    person: { name: '', address: '' },
    until: '',
    links: [],
  },
}

/** From which day to which; then four links, and until when they work. */
export function adminExportView(now: ExportNow, viewer: Viewer): View {
  if (now.step === 'form') return { ...nothing, ...formOf(now) }
  const until = moment(now.offer.until, viewer, 'full')
  if (now.step === 'person') {
    const { person, url } = now.offer
    const name = cut(person.displayName || person.id, longest.title)
    return {
      ...nothing,
      ...{ step: 'person', heading: 'person', look: looks.succeeded, until },
      person: { name, address: cut(person.userPrincipalName, longest.address) },
      links: [{ name: 'personJson', url }],
    }
  }
  const { from, to, requests, entries, links } = now.offer
  return {
    ...nothing,
    ...{ step: 'links', heading: 'links', look: looks.succeeded, until },
    ...{ days: from === to ? 'day' : 'range', from: dayOf(from), to: dayOf(to) },
    ...{ requests: quantity(requests), entries: quantity(entries) },
    links: links.map((link) => ({ name: nameOf(link), url: link.url })),
  }
}

function formOf({ days, typed, faults }: Extract<ExportNow, { step: 'form' }>) {
  const of = faultsOfForm(faults, undefined, {
    ids: ['from', 'to'],
    label: (id) => (id === 'from' ? strings.export.from.label : strings.export.to.label),
    inputOf: (fault) => partsOf(fault)[0] ?? '',
    resource: 'export',
  })
  const { heading, look, faultCount, otherFaults } = of.view
  const isFaulty = heading === 'mistake' || heading === 'mistakes'
  // Inputs hold days, and nothing else.
  const held = (text: string) => (isDay(text) ? text : '')
  return {
    step: 'form' as const,
    ...(isFaulty ? { heading, look } : { heading: 'form' as const, look: plain }),
    ...{ faultCount, otherFaults, typed: cut(typed, longest.title) },
    values: { from: held(days.from), to: held(days.to) },
    faults: { from: of.lineOf('from'), to: of.lineOf('to') },
  }
}

function nameOf({ what, format }: ExportLink): LinkName {
  if (what === 'person') return 'personJson'
  return format === 'csv' ? `${what}Csv` : `${what}Json`
}
