import { applicability, applies } from '../resources/index.ts'
import { type Fault, fault, isMailboxKind, type MailboxKind } from '../shared/index.ts'
import { type Template, unknownTemplate, usableOf, usableTemplate } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'

/** Kinds in words, for sentences to clients. */
const kindWords = {
  sharedMailbox: 'a shared mailbox',
  equipmentMailbox: 'an equipment mailbox',
  roomMailbox: 'a room mailbox',
} as const satisfies Record<MailboxKind, string>
const orList = new Intl.ListFormat('en', { type: 'disjunction' })
const andList = new Intl.ListFormat('en', { type: 'conjunction' })
const inWords = (kinds: readonly MailboxKind[]): string => orList.format(kinds.map((kind) => kindWords[kind]))

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The properties of rule 3's table that a body gives. What is empty is not given. */
function given(body: Record<string, unknown>): string[] {
  const isGiven = (value: unknown) => value !== undefined && value !== ''
  return Object.keys(applicability).filter((property) => {
    const [field = '', key] = property.split('/')
    const value = Object.hasOwn(body, field) ? body[field] : undefined
    if (key === undefined) return isGiven(value)
    return isRecord(value) && Object.hasOwn(value, key) && isGiven(value[key])
  })
}

/** API document, rule 3: what a body gives and this kind of mailbox has not, each at its pointer. */
export function inapplicable(kind: MailboxKind, body: Record<string, unknown>): Fault[] {
  return given(body)
    .filter((property) => !applies(property, kind))
    .map((property) => {
      const name = property.replace('/', '.')
      const said = `${name} is for ${inWords(applicability[property] ?? [])}. Leave it out for ${kindWords[kind]}.`
      return fault(`/${property}`, 'not-applicable', said)
    })
}

type Chosen = { readonly template: Template; readonly kind: MailboxKind } | { readonly fault: Fault }
const noTemplate = (detail: string): Chosen => ({ fault: fault('/templateId', 'required', detail) })

/**
 * The template that a body names; without one, the default template of the kind that its properties imply, if they imply
 * exactly one (DESIGN §5).
 */
export async function chosenTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Chosen> {
  const { template: known } = inquiry
  if (known && isMailboxKind(known.kind)) return { template: known, kind: known.kind }
  const { templateId } = body
  if (templateId === undefined) return impliedTemplate(inquiry, body)
  if (typeof templateId !== 'string' || templateId === '')
    return noTemplate('templateId must be the id of a template: GET /templates/v1/ lists them.')
  const found = await usableTemplate(inquiry, templateId)
  if (!found) return { fault: unknownTemplate() }
  const { kind, name } = found
  if (isMailboxKind(kind)) return { template: found, kind }
  return { fault: fault('/templateId', 'wrong-resource', `${name} is a template for a site, not for a mailbox.`) }
}

async function impliedTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Chosen> {
  const { ports, actor } = inquiry
  const telling = given(body).filter((property) => applicability[property]?.length === 1)
  const kinds = [...new Set(telling.flatMap((property) => applicability[property] ?? []))]
  const [kind, ...more] = kinds
  if (kind === undefined)
    return noTemplate(
      'templateId is required (GET /templates/v1/ lists them), unless a property of one kind alone tells it: roomMailboxMetadata, metadata.equipmentType, autoMapping …',
    )
  if (more.length > 0) {
    const properties = andList.format(telling.map((property) => property.replace('/', '.')))
    return noTemplate(`templateId is required: ${properties} belong to different kinds of mailbox.`)
  }
  const usable = await usableOf(inquiry, await ports.templates.list(actor.tenantId))
  const template = usable.find((one) => one.kind === kind && one.default)
  if (!template) return noTemplate(`templateId is required: there is no default template for ${kindWords[kind]}.`)
  return { template, kind }
}
