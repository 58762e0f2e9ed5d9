import { ZodError } from 'zod'
import { fill } from '../../client/command-line/terminal.ts'
import { SignInError } from '../../client/sign-in.ts'
import { GraphError } from './graph.ts'
import { UnknownRegistration } from './registrations.ts'
import { type AnyRole, named } from './roles.ts'
import texts from './strings.json' with { type: 'json' }

/** The reason why setup stopped, and the next action. Contains no secret. */
export class SetupProblem extends Error {
  override readonly name = 'SetupProblem'
  /** The next action. */
  readonly remedy: string
  /** Microsoft's own sentence, or other details. */
  readonly detail: string
  constructor(message: string, remedy: string, detail = '') {
    super(message)
    this.remedy = remedy
    this.detail = detail
  }
}

/** The work in which an error occurred. */
export interface About {
  /** The failed change or read, as people read it. */
  readonly what: string
  readonly person: string
  readonly roles: readonly AnyRole[]
  /** The person has one of these roles. */
  readonly hasRole: boolean
  /** The delegated permission of the change, and those that the administrator has consented to. */
  readonly scope: string
  readonly consented: readonly string[] | undefined
  readonly loginUrl: string
  readonly directoryUrl: string
}

/** Explains any error of a step to people. */
export function explained(error: unknown, about: About | undefined): SetupProblem {
  if (error instanceof SetupProblem) return error
  const { problems } = texts
  if (about === undefined) return otherProblem(error, texts.run.reads)
  if (error instanceof GraphError) return explainedRefusal(error, about)
  if (error instanceof UnknownRegistration) return new SetupProblem(error.message, problems.unknownRegistrationHint)
  if (error instanceof SignInError) {
    const shown = { address: about.loginUrl }
    return new SetupProblem(fill(texts.signIn[error.problem], shown), texts.signIn.hint, error.description)
  }
  if (error instanceof ZodError) return new SetupProblem(problems.unreadable, problems.report, about.what)
  return otherProblem(error, about.what)
}

/** Errors of the file system have a code; anything else is a defect. */
function otherProblem(error: unknown, what: string): SetupProblem {
  const { problems } = texts
  const message = error instanceof Error ? error.message : String(error)
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  if (code !== '') return new SetupProblem(fill(problems.file, { code }), problems.fileHint, message)
  return new SetupProblem(fill(problems.failed, { what }), problems.report, message)
}

/** Error codes of Microsoft with a cause that people can resolve. */
const byCode: Readonly<Record<string, 'noSecrets' | 'lifetime' | 'quota' | 'signInAgain'>> = {
  CredentialTypeNotAllowedAsPerAppPolicy: 'noSecrets',
  CredentialInvalidLifetimeAsPerAppPolicy: 'lifetime',
  Directory_QuotaExceeded: 'quota',
  Authentication_MFARequired: 'signInAgain',
  InvalidAuthenticationToken: 'signInAgain',
}

function explainedRefusal(error: GraphError, about: About): SetupProblem {
  const { status, code, description, requestId } = error
  const { problems, codes } = texts
  const place = status === undefined ? code : [status, code].filter(Boolean).join(' ')
  const detail = [
    description && fill(problems.microsoftSays, { description }),
    fill(problems.reference, { place, request: requestId || '–' }),
  ]
    .filter(Boolean)
    .join('\n')
  const shown = { what: about.what, person: about.person, scope: about.scope }
  const problem = (what: string, remedy: string) => new SetupProblem(fill(what, shown), fill(remedy, shown), detail)
  const known = byCode[code]
  if (known) return problem(codes[known], codes[`${known}Hint`])
  if (status === undefined)
    return problem(fill(problems.network, { address: about.directoryUrl, code }), problems.networkHint)
  if (status === 403) {
    const isConsentMissing = about.scope !== '' && about.consented?.includes(about.scope) === false
    if (isConsentMissing) return problem(problems.consent, problems.consentHint)
    if (about.hasRole) return problem(problems.refused, problems.policyHint)
    return problem(problems.refused, fill(problems.refusedHint, { roles: named(about.roles) }))
  }
  if (status === 401) return problem(codes.signInAgain, codes.signInAgainHint)
  if (/identifier ?uri/i.test(description)) return problem(codes.address, codes.addressHint)
  if (status === 404) return problem(problems.notYet, problems.notYetHint)
  if (status === 429 || status >= 500) return problem(problems.busy, problems.busyHint)
  return problem(problems.failed, problems.report)
}
