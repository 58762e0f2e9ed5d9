import type { RequestForm } from '../../src/cards/index.ts'
import { isMailboxKind, type NamePreview, type Template } from '../../src/core/index.ts'
import { kim, mailDomain, siteRoot } from './card-world.ts'

/** What a form says of its names while nothing is typed. */
export function sketchOf({ kind, naming: { prefix, suffix } }: Pick<Template, 'kind' | 'naming'>): NamePreview {
  const name = `${prefix}…${suffix}`
  const address = isMailboxKind(kind) ? `${name}@${mailDomain}` : `${siteRoot}${name}`
  return { displayName: '', address, stands: 'sketch', isNumbered: false }
}

/** Kim's form of a template, without mistakes and with nothing looked up, as far as nothing else is given. */
export const requestForm = (given: Pick<RequestForm, 'template' | 'draft'> & Partial<RequestForm>): RequestForm => ({
  requester: kim,
  faults: [],
  people: [],
  mailDomain,
  names: sketchOf(given.template),
  today: '2026-11-20',
  ...given,
})
