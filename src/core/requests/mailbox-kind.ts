import { applicability, applies } from '../resources/index.ts'
import { because, type Fault, fault, isMailboxKind, type MailboxKind, type Reason } from '../shared/index.ts'
import { type Template, unknownTemplate, usableOf, usableTemplate } from '../templates/index.ts'
import type { RequestInquiry } from './plan.ts'

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

const nameOf = (property: string): string => property.replace('/', '.')

/** API document, rule 3: what a body gives and this kind of mailbox has not, each at its pointer. */
export function inapplicable(kind: MailboxKind, body: Record<string, unknown>): Fault[] {
  return given(body)
    .filter((property) => !applies(property, kind))
    .map((property) => {
      const facts = { name: nameOf(property), has: applicability[property]?.[0] ?? '', kind }
      return fault(`/${property}`, 'not-applicable', because('notForKind', facts))
    })
}

type Chosen = { readonly template: Template; readonly kind: MailboxKind } | { readonly fault: Fault }
const noTemplate = (reason: Reason): Chosen => ({ fault: fault('/templateId', 'required', reason) })

/**
 * The template that a body names; without one, the default template of the kind that its properties imply, if they imply
 * exactly one (DESIGN §5).
 */
export async function chosenTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Chosen> {
  const { template: known } = inquiry
  if (known && isMailboxKind(known.kind)) return { template: known, kind: known.kind }
  const { templateId } = body
  if (templateId === undefined) return impliedTemplate(inquiry, body)
  if (typeof templateId !== 'string' || templateId === '') return noTemplate(because('templateIdNeeded'))
  const found = await usableTemplate(inquiry, templateId)
  if (!found) return { fault: unknownTemplate() }
  const { kind, name } = found
  if (isMailboxKind(kind)) return { template: found, kind }
  return { fault: fault('/templateId', 'wrong-resource', because('templateForOther', { name, resource: 'site' })) }
}

async function impliedTemplate(inquiry: RequestInquiry, body: Record<string, unknown>): Promise<Chosen> {
  const { ports, actor } = inquiry
  const telling = given(body).filter((property) => applicability[property]?.length === 1)
  const kinds = [...new Set(telling.flatMap((property) => applicability[property] ?? []))]
  const [kind, ...more] = kinds
  if (kind === undefined) return noTemplate(because('kindUnknown'))
  if (more.length > 0) {
    const others = telling.map(nameOf)
    const last = others.pop() ?? ''
    return noTemplate(because('kindsDiffer', { count: others.length, others, last }))
  }
  const usable = await usableOf(inquiry, await ports.templates.list(actor.tenantId))
  const template = usable.find((one) => one.kind === kind && one.default)
  if (!template) return noTemplate(because('noDefaultTemplate', { kind }))
  return { template, kind }
}
