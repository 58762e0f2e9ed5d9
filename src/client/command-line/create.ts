import { type Accepted, type AnyTemplate, ProblemError, type WriteOptions } from '../index.ts'
import { type Asker, asking } from './ask.ts'
import { type Body, bodyOfFile, bodyOfFlags } from './body.ts'
import { type Command, defineCommand, type Scope, UsageError } from './define-command.ts'
import { type ExitCode, exitCodes } from './exit-codes.ts'
import { type FieldFlags, optionsOf } from './fields.ts'
import { templateIdOf } from './find.ts'
import { answer, chooseTemplate, type Question, questionsOf, summaryOf } from './questions.ts'
import { reportOf } from './report.ts'
import { watch } from './watch.ts'
import { fill, words } from './words.ts'

export interface Creating {
  readonly words: 'site create' | 'mailbox create'
  readonly kinds: readonly AnyTemplate['kind'][]
  readonly fields: FieldFlags
  send(scope: Scope, body: Body, how: WriteOptions): Promise<Accepted>
}

/** A command that asks for a resource: by flags, by a file, or by questions when nothing is given at a terminal. */
export function createCommand(creating: Creating): Command {
  return defineCommand({
    words: creating.words,
    options: {
      ...optionsOf(creating.fields),
      file: { type: 'text', value: '<path>', short: 'f' },
      'idempotency-key': { type: 'text', value: '<key>' },
      watch: { type: 'flag', short: 'w' },
    },
    async run(scope, values) {
      const { file, 'idempotency-key': idempotencyKey, watch: follows } = values
      const how: WriteOptions = {
        signal: scope.signal,
        ...(idempotencyKey !== undefined && { idempotencyKey: keyOf(idempotencyKey) }),
      }
      const said = bodyOfFlags(creating.fields, values, creating.words)
      if (file === undefined && Object.keys(said).length === 0) {
        if (!scope.terminal.isInteractive) throw new UsageError(words.usage.nothingGiven, creating.words)
        return askAndSend(scope, creating, how, follows === true)
      }
      const body = await withTemplate(scope, creating, { ...(file && (await bodyOfFile(file, scope))), ...said })
      return accepted(scope, await creating.send(scope, body, how), follows === true)
    },
  })
}

function keyOf(key: string): string {
  if (/^[\x20-\x7e]{1,255}$/.test(key)) return key
  throw new UsageError(words.usage.noKey)
}

/** A template may be named as people call it. */
async function withTemplate(scope: Scope, { kinds }: Creating, body: Body): Promise<Body> {
  const { templateId } = body
  if (typeof templateId !== 'string' || templateId === '') return body
  return { ...body, templateId: await templateIdOf(await scope.client(), templateId, kinds, scope.signal) }
}

async function accepted(scope: Scope, answered: Accepted, follows: boolean): Promise<ExitCode> {
  const { terminal } = scope
  const { requestId, approvalRequired } = answered
  // With --json the last value on a watched line is the request itself.
  if (follows && !terminal.json) terminal.note(approvalRequired ? words.create.waits : words.create.accepted)
  if (follows) return watch(scope, requestId)
  terminal.result(answered, [
    approvalRequired ? words.create.waits : words.create.accepted,
    fill(words.create.follow, { requestId }),
  ])
  return exitCodes.done
}

async function askAndSend(scope: Scope, creating: Creating, how: WriteOptions, follows: boolean): Promise<ExitCode> {
  const answered = await asking(scope, async (asker) => {
    const template = await chooseTemplate(asker, await scope.client(), creating.kinds, scope)
    const questions = questionsOf(template)
    let body: Body = { templateId: template.id }
    for (const question of questions) body = await answer(asker, scope, question, body)
    for (;;) {
      for (const line of summaryOf(template, body, questions)) scope.terminal.note(line)
      if (!(await asker.yes(words.ask.send, true))) return undefined
      const sent = await sendOrFaults(scope, creating, body, how)
      if ('requestId' in sent) return sent
      body = await askAgain(asker, scope, sent, questions, body)
    }
  })
  if (answered) return accepted(scope, answered, follows)
  scope.terminal.note(words.ask.notSent)
  return exitCodes.cameToNothing
}

async function sendOrFaults(
  scope: Scope,
  creating: Creating,
  body: Body,
  how: WriteOptions,
): Promise<Accepted | ProblemError> {
  try {
    return await creating.send(scope, body, how)
  } catch (error) {
    if (error instanceof ProblemError && error.errors.length > 0) return error
    throw error
  }
}

/** Asks once more for what the service found wrong; what nobody was asked for cannot be mended here. */
async function askAgain(
  asker: Asker,
  scope: Scope,
  problem: ProblemError,
  questions: readonly Question[],
  before: Body,
): Promise<Body> {
  const again = questions.filter(({ path }) => problem.errors.some(({ pointer }) => isAt(pointer, path)))
  if (again.length === 0) throw problem
  for (const line of reportOf(problem, scope.settings).lines) scope.terminal.note(line)
  let body = before
  for (const question of again) {
    const pointed = problem.errors.find(({ pointer }) => isAt(pointer, question.path))
    const otherwise = pointed?.suggestion ?? question.otherwise
    body = await answer(asker, scope, { ...question, otherwise }, body)
  }
  return body
}

/** Whether `#/metadata/costCentre` or `/owners/0` points to a question’s field or into it. */
function isAt(pointer: string, path: string): boolean {
  const place = pointer.replace(/^#?\//, '').split('/')
  const field = path.startsWith('permissions.') ? ['permissions'] : path.split('.')
  return field.every((part, index) => place[index] === part)
}
