import {
  type Body,
  bodyOfFile,
  bodyOfFlags,
  type Fault,
  type FieldFlags,
  FieldsError,
  mailboxFlags,
  mailboxKinds,
  optionsOf,
  siteFlags,
  siteKinds,
  templateIdOf,
  withValue,
} from '../command-line/body.ts'
import { createMany } from '../command-line/create-many.ts'
import { type Command, defineCommand, type Scope } from '../command-line/define-command.ts'
import { asFlag, type FieldNames, placeOf } from '../command-line/fields.ts'
import { peopleBySignInName } from '../command-line/people.ts'
import { askQuestion, chooseTemplate, promptsOf, type Question, questionsOf } from '../command-line/questions.ts'
import { faultLines, previewLines, previewOf, table, warningLines, watch } from '../command-line/show.ts'
import { clean, type ExitCode, exitCodes, fill, texts, UsageError } from '../command-line/terminal.ts'
import {
  type Accepted,
  type AnyTemplate,
  type FieldFault,
  type MailboxRequest,
  ProblemError,
  type SiteRequest,
  type WriteOptions,
} from '../index.ts'

interface Creating {
  readonly name: 'site create' | 'mailbox create'
  readonly kinds: readonly AnyTemplate['kind'][]
  readonly fields: FieldFlags
  send(scope: Scope, body: Body, how: WriteOptions): Promise<Accepted>
}

/** Creates a command that requests a resource with flags, a file, or questions at a terminal. */
function createCommand(creating: Creating): Command {
  return defineCommand({
    name: creating.name,
    options: {
      ...optionsOf(creating.fields),
      file: { type: 'text', value: '<path>', short: 'f' },
      csv: { type: 'text', value: '<path>' },
      yes: { type: 'flag', short: 'y' },
      'idempotency-key': { type: 'text', value: '<key>' },
      'dry-run': { type: 'flag', short: 'n' },
      watch: { type: 'flag', short: 'w' },
    },
    async run(scope, values) {
      const { file, 'idempotency-key': idempotencyKey, watch: follows } = values
      const how: WriteOptions = {
        signal: scope.signal,
        ...(idempotencyKey !== undefined && { idempotencyKey: keyOf(idempotencyKey) }),
      }
      const fromFlags = bodyOfFlags(creating.fields, values, creating.name)
      if (values.csv !== undefined) return sendList(scope, creating, fromFlags, { ...values, csv: values.csv })
      if (file === undefined && Object.keys(fromFlags).length === 0) {
        if (!scope.terminal.isInteractive) throw new UsageError(texts.usage.nothingGiven, creating.name)
        return askAndSend(scope, creating, how, values)
      }
      const fromFile = file === undefined ? {} : await bodyOfFile(file, scope)
      const people = peopleBySignInName(scope)
      // A person may have a name in the file and an id in a flag, and the flag wins.
      const [ofFile, ofFlags] = [await people(fromFile), await people(fromFlags)]
      const body = await withTemplate(scope, creating, joined(ofFile, ofFlags))
      if (values['dry-run']) return tryOnly(scope, body)
      return accepted(scope, await creating.send(scope, body, how), follows === true)
    },
  })
}

interface ListFlags {
  readonly csv: string
  readonly yes?: boolean
  readonly watch?: boolean
  readonly 'dry-run'?: boolean
  readonly file?: string
  readonly 'idempotency-key'?: string
}

/** Sends each line of a list as a request; flags apply to all lines. */
async function sendList(scope: Scope, creating: Creating, fromFlags: Body, values: ListFlags): Promise<ExitCode> {
  for (const option of ['file', 'idempotency-key'] as const)
    if (values[option] !== undefined)
      throw new UsageError(fill(texts.csv.withFile, { option: `--${option}` }), creating.name)
  const people = peopleBySignInName(scope)
  const templates = new Map<string, Promise<Body>>()
  const withKnownTemplate = async (body: Body): Promise<Body> => {
    const name = String(body['templateId'] ?? '')
    const found = templates.get(name) ?? withTemplate(scope, creating, { templateId: name })
    templates.set(name, found)
    const { templateId } = await found
    return name === '' ? body : { ...body, templateId }
  }
  // A wrong flag is one error, not one error for each line.
  const flags = await people(await withKnownTemplate(fromFlags))
  const complete = async (typed: Body) => {
    const faults: Fault[] = []
    let body = typed
    const withFlags = async (line: Body): Promise<Body> => joined(line, flags)
    for (const step of [people, withFlags, withKnownTemplate]) {
      try {
        body = await step(body)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        if (error instanceof FieldsError) faults.push(...error.faults)
        else faults.unshift({ pointer: '#/templateId', detail: error.message })
      }
    }
    return { body, faults }
  }
  return createMany(
    scope,
    { resource: creating.name === 'site create' ? 'site' : 'mailbox', fields: creating.fields, complete },
    {
      ...{ path: values.csv, onlyTry: values['dry-run'] === true },
      ...{ yes: values.yes === true, watch: values.watch === true },
    },
  )
}

/** Flags override the file; keys of metadata are added to those of the file. */
const joined = (file: Body, flags: Body): Body =>
  Object.entries(flags).reduce((body, [field, value]) => withValue(body, [field], value), file)

/** Shows a preview; nothing is sent. */
async function tryOnly(scope: Scope, body: Body): Promise<ExitCode> {
  const preview = await previewOf(scope, body)
  if (!preview) throw new UsageError(texts.usage.noPreview)
  scope.terminal.result(preview, previewLines(preview))
  return preview.valid ? exitCodes.done : exitCodes.refused
}

function keyOf(key: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new UsageError(texts.usage.noKey)
}

/** Replaces the name of a template by its id. */
async function withTemplate(scope: Scope, { kinds }: Creating, body: Body): Promise<Body> {
  const { templateId } = body
  if (typeof templateId !== 'string' || templateId === '') return body
  return { ...body, templateId: await templateIdOf(await scope.client(), templateId, kinds, scope.signal) }
}

async function accepted(scope: Scope, answered: Accepted, follows: boolean): Promise<ExitCode> {
  const { terminal } = scope
  const { requestId, approvalRequired } = answered
  // With --json the last value on a watched line is the request itself.
  const warnings = warningLines(answered)
  if (follows && !terminal.json)
    for (const line of [approvalRequired ? texts.create.waits : texts.create.accepted, ...warnings]) terminal.note(line)
  if (follows) return watch(scope, requestId)
  terminal.result(answered, [
    approvalRequired ? texts.create.waits : texts.create.accepted,
    ...warnings,
    fill(texts.create.follow, { requestId }),
  ])
  return exitCodes.done
}

async function askAndSend(
  scope: Scope,
  creating: Creating,
  how: WriteOptions,
  flags: { readonly watch?: boolean; readonly 'dry-run'?: boolean },
): Promise<ExitCode> {
  const prompts = promptsOf(scope)
  const template = await chooseTemplate(prompts, await scope.client(), creating.kinds, scope)
  const questions = questionsOf(template)
  const people = peopleBySignInName(scope)
  const checks = { named: people, fault: (body: Body, path: string) => faultAt(scope, body, path) }
  const put = (question: Question, body: Body) => askQuestion(prompts, question, body, checks)
  // The person has chosen the template by its name.
  const nameOf: FieldNames = (pointer) =>
    pointer === '#/templateId' ? '' : (questions.find(({ path }) => isAt(pointer, path))?.label ?? asFlag(pointer))
  let body: Body = { templateId: template.id }
  for (const question of questions) body = await put(question, body)
  for (;;) {
    const preview = await previewOf(scope, body)
    for (const line of preview ? previewLines(preview, nameOf) : []) scope.terminal.note(line)
    const faults = preview?.errors ?? []
    const isUseless = preview?.warnings.some(({ code }) => code === 'nobody-can-open') === true
    const agreed = () => prompts.yes(isUseless ? texts.ask.sendAnyway : texts.ask.send, !isUseless)
    if (faults.length === 0 && (flags['dry-run'] || !(await agreed()))) break
    const outcome = faults.length > 0 ? faults : await sendOrFaults(scope, creating, { body, how, nameOf })
    if ('requestId' in outcome) return accepted(scope, outcome, flags.watch === true)
    // No answer can correct a full quota or a template without an approver.
    if (outcome.every(({ pointer }) => pointer === '#/templateId' || pointer === '#')) return exitCodes.refused
    body = await askAgain(put, outcome, questions, body)
  }
  scope.terminal.note(texts.ask.notSent)
  return flags['dry-run'] ? exitCodes.done : exitCodes.cameToNothing
}

/** Returns the fault of one field of a body; undefined also if it cannot be checked now. */
async function faultAt(scope: Scope, body: Body, path: string): Promise<string | undefined> {
  try {
    const fault = (await previewOf(scope, body))?.errors.find(({ pointer }) => isAt(pointer, path))
    return fault && faultLines([fault], () => '')[0]?.trim()
  } catch (error) {
    // All answers are checked together before the request is sent.
    if (error instanceof ProblemError && error.status === 429) return undefined
    throw error
  }
}

interface Sending {
  readonly body: Body
  readonly how: WriteOptions
  readonly nameOf: FieldNames
}

async function sendOrFaults(
  scope: Scope,
  creating: Creating,
  { body, how, nameOf }: Sending,
): Promise<Accepted | readonly FieldFault[]> {
  try {
    return await creating.send(scope, body, how)
  } catch (error) {
    if (!(error instanceof ProblemError) || error.errors.length === 0) throw error
    for (const line of faultLines(error.errors, nameOf)) scope.terminal.note(line)
    return error.errors
  }
}

/** Repeats the questions of fields with faults. Throws {@link UsageError} if no question belongs to a fault. */
async function askAgain(
  put: (question: Question, body: Body) => Promise<Body>,
  faults: readonly FieldFault[],
  questions: readonly Question[],
  before: Body,
): Promise<Body> {
  const again = questions.filter(({ path }) => faults.some(({ pointer }) => isAt(pointer, path)))
  if (again.length === 0) throw new UsageError(texts.ask.byFlags)
  let body = before
  for (const question of again) {
    const pointed = faults.find(({ pointer }) => isAt(pointer, question.path))
    const otherwise = pointed?.suggestion ?? question.otherwise
    body = await put({ ...question, otherwise }, body)
  }
  return body
}

/** Whether `#/metadata/costCentre` or `/owners/0` points to a question’s field or into it. */
function isAt(pointer: string, path: string): boolean {
  const place = placeOf(pointer)
  const field = path.startsWith('permissions.') ? ['permissions'] : path.split('.')
  return field.every((part, index) => place[index] === part)
}

export const createSite = createCommand({
  name: 'site create',
  kinds: siteKinds,
  fields: siteFlags,
  // The service validates the body and reports faults by field.
  send: async (scope, body, how) => (await scope.client()).createSite(body as SiteRequest, how),
})

export const createMailbox = createCommand({
  name: 'mailbox create',
  kinds: mailboxKinds,
  fields: mailboxFlags,
  // The service validates the body and reports faults by field.
  send: async (scope, body, how) => (await scope.client()).createMailbox(body as MailboxRequest, how),
})

export const templates = defineCommand({
  name: 'templates',
  options: {},
  async run(scope) {
    const { terminal, signal } = scope
    const found = [...(await (await scope.client()).templates({ signal }))].sort(
      (one, other) => one.order - other.order,
    )
    const rows = found.map((one) => {
      const approval = 'approvalRequired' in one ? one.approvalRequired : one.approval !== null
      const kind = texts.kinds[one.kind] ?? clean(one.kind)
      return [one.id, clean(one.name), kind, approval ? texts.templates.approval : '', clean(one.description)]
    })
    const { id, name, kind, approval, description } = texts.templates.heads
    const none = [texts.templates.none]
    const lines = found.length === 0 ? none : table([id, name, kind, approval, description], rows, terminal)
    terminal.result({ value: found }, lines)
    return exitCodes.done
  },
})
