import type { AnyTemplate, Client, ProvisioningRequest } from '../index.ts'
import type { Scope } from './define-command.ts'
import { clean, fill, texts } from './terminal.ts'

type Details = Readonly<Record<string, unknown>>
type Labels = Readonly<Record<string, string>>

/** Fields that other lines or the title show. */
const shownElsewhere: readonly string[] = [
  'displayName',
  'name',
  'domain',
  'reason',
  'metadata',
  'permissions',
  'labelId',
]

/**
 * Describes the request like the approver's card, one line for each fact: the address, the people, the answers to the
 * template's questions, every other field, and the reason. Shows an id if its name cannot be looked up.
 */
export async function detailLines(scope: Scope, request: ProvisioningRequest): Promise<string[]> {
  const client = await scope.client()
  const details: Details = request.details
  const { reason, labelId } = request.details as { readonly reason?: string; readonly labelId?: string }
  const [template, nameOf] = await Promise.all([templateOf(client, request, scope), namesOf(client, request, scope)])
  const people = (ids: readonly unknown[]) => ids.map((id) => nameOf(String(id))).join(', ')
  const labels: Labels = texts.details
  const line = (label: string, value: string) => `  ${fill(texts.show.detail, { label, value })}`
  const label = template?.labels.allowed.find(({ id }) => id === labelId)?.name ?? labelId
  const others = fieldsOf(details).filter(
    ([field, value]) => !shownElsewhere.includes(field.split('.')[0] ?? '') && !isEmpty(value),
  )
  return [
    ...('name' in details
      ? [line(texts.details.address, `${clean(String(details['name']))}@${clean(String(details['domain']))}`)]
      : []),
    ...accessLines(details, people).map(([access, value]) => line(labels[access] ?? clean(access), value)),
    ...others.map(([field, value]) =>
      line(labels[field] ?? clean(field), isPeople(field) ? people([value].flat()) : textOf(value)),
    ),
    ...(label ? [line(texts.details.labelId, clean(label))] : []),
    ...answers(details, template).map(([question, answer]) => line(clean(question), clean(answer))),
    ...(reason ? [line(texts.details.reason, `“${clean(reason)}”`)] : []),
  ]
}

const isPeople = (field: string): boolean => ['owners', 'primaryOwner', 'secondaryOwner'].includes(field)
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0)

function textOf(value: unknown): string {
  if (Array.isArray(value)) return value.map(textOf).join(', ')
  if (typeof value === 'boolean') return value ? texts.details.yes : texts.details.no
  return clean(String(value))
}

/** The fields of a body; those of an object in it by their path: `roomMailboxMetadata.hasWhiteboard`. */
const fieldsOf = (body: Details): [string, unknown][] =>
  Object.entries(body).flatMap(([field, value]): [string, unknown][] =>
    typeof value === 'object' && value !== null && !Array.isArray(value)
      ? fieldsOf(value as Details).map(([inner, member]) => [`${field}.${inner}`, member])
      : [[field, value]],
  )

/** Returns the people with access to a mailbox, by level of access. */
function accessLines(details: Details, people: (ids: readonly string[]) => string): [string, string][] {
  if (!('name' in details)) return []
  const permissions = Object.entries(Object(details['permissions']))
  const ofAccess = (access: string) => permissions.filter(([, one]) => one === access).map(([id]) => id)
  return ['FullAccess', 'SendAs'].flatMap((access): [string, string][] => {
    const ids = ofAccess(access)
    return ids.length === 0 ? [] : [[access, people(ids)]]
  })
}

/** Returns the answers to the template's questions, with labels and titles of choices; other keys stay unchanged. */
function answers(details: Details, template: AnyTemplate | undefined): [string, string][] {
  return Object.entries(Object(details['metadata'])).map(([key, value]) => {
    const field = template?.fields.find((one) => one.key === key)
    const choice = field?.choices.find((one) => one.value === value)
    return [field?.label ?? key, choice?.title ?? answerText(value)]
  })
}

/** A value of metadata as text; lists and objects as JSON. */
const answerText = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value))

/** The template, if the caller may see it. */
async function templateOf(
  client: Client,
  request: ProvisioningRequest,
  { signal }: Scope,
): Promise<AnyTemplate | undefined> {
  try {
    return await client.template(request.templateId, { signal })
  } catch (error) {
    if (signal.aborted) throw error
    return undefined
  }
}

/** Names of all people of a request. Those that the request does not name are looked up in the directory. */
async function namesOf(client: Client, request: ProvisioningRequest, { signal }: Scope) {
  const { requester, approvals } = request
  const known = new Map(
    [requester, ...approvals.flatMap(({ approvers }) => approvers)].map(({ id, displayName }) => [id, displayName]),
  )
  const details: Details = request.details
  const ids = new Set(
    [details['owners'], details['primaryOwner'], details['secondaryOwner'], Object.keys(Object(details['permissions']))]
      .flat()
      .filter((id): id is string => typeof id === 'string' && id !== '' && !known.has(id)),
  )
  const lookUp = async (id: string): Promise<void> => {
    try {
      const found = await client.findPerson(id, { signal })
      if (found) known.set(id, found.displayName)
    } catch (error) {
      // Without permission to read the directory, the id is shown.
      if (signal.aborted) throw error
    }
  }
  await Promise.all([...ids].map(lookUp))
  return (id: string): string => clean(known.get(id) || id)
}
