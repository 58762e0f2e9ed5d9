import type { RequestForm } from '../../src/cards/index.ts'
import { isMailboxKind, type NamePreview, type Template } from '../../src/core/index.ts'
import { kim, mailDomain, siteRoot } from './card-world.ts'

/** Returns the sketch of the names that a form shows before input. */
export function sketchOf({ kind, naming: { prefix, suffix } }: Pick<Template, 'kind' | 'naming'>): NamePreview {
  const name = `${prefix}…${suffix}`
  const address = isMailboxKind(kind) ? `${name}@${mailDomain}` : `${siteRoot}${name}`
  return { displayName: '', address, status: 'sketch', isNumbered: false }
}

/** Creates Kim's form of a template, by default without faults and look-ups. */
export const requestForm = (options: Pick<RequestForm, 'template' | 'draft'> & Partial<RequestForm>): RequestForm => ({
  requester: kim,
  faults: [],
  people: [],
  mailDomain,
  names: sketchOf(options.template),
  ...options,
})
