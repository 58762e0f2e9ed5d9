import { z } from 'zod'
import { fill, type Terminal } from '../../client/command-line/terminal.ts'
import { createSignIn, type SignedInPerson, type SignIn, SignInError } from '../../client/sign-in.ts'
import type { Graph } from './graph.ts'
import { SetupProblem } from './problem.ts'
import texts from './strings.json' with { type: 'json' }

/** The delegated permissions to which the administrator consents. */
export const scopes = [
  ...['Application.ReadWrite.All', 'AppRoleAssignment.ReadWrite.All', 'DelegatedPermissionGrant.ReadWrite.All'],
  // Microsoft requires Directory.Read.All for owners of registrations. It includes the organisation.
  ...['RoleManagement.ReadWrite.Directory', 'Group.ReadWrite.All', 'Directory.Read.All', 'User.Read'],
]
/** The permission for the upload to the catalogue. */
export const catalogueScope = 'AppCatalog.ReadWrite.All'

/** The administrator who has signed in. */
export interface Administrator {
  readonly person: SignedInPerson
  token(): Promise<string>
  /** The permissions that the administrator has consented to; undefined if the token does not say. */
  consented(): readonly string[] | undefined
}

interface SigningIn {
  readonly loginUrl: string
  readonly tenant: string
  readonly clientId: string
  readonly graphResource: string
  readonly catalogue: boolean
  readonly terminal: Terminal
  readonly signal: AbortSignal
  readonly fetch: typeof fetch
}

/** Signs an administrator in by device code. The token stays in memory. */
export async function signInAdministrator(how: SigningIn): Promise<Administrator> {
  const { loginUrl, tenant, clientId, graphResource, terminal, signal, fetch } = how
  const wanted = how.catalogue ? [...scopes, catalogueScope] : scopes
  const scope = wanted.map((one) => `${graphResource}/${one}`).join(' ')
  const signIn: SignIn = createSignIn({ loginUrl, tenantId: tenant, clientId, fetch })
  const person = await signIn.signIn(scope, {
    signal,
    show({ verificationUri, userCode, expiresInSeconds }) {
      const minutes = Math.max(1, Math.round(expiresInSeconds / 60))
      terminal.line(texts.signIn.who)
      terminal.line(fill(texts.signIn.open, { page: verificationUri, code: terminal.style('bold', userCode), minutes }))
      terminal.line(terminal.style('dim', texts.signIn.waiting))
    },
  })
  let latest = ''
  return {
    person,
    async token() {
      latest = await signIn.token(scope, person.account)
      return latest
    },
    consented: () => scopesIn(latest),
  }
}

const claims = z.object({ scp: z.string() })

/** Reads the scopes of a token, only for diagnosis: clients should not read tokens of Microsoft Graph. */
function scopesIn(token: string): readonly string[] | undefined {
  try {
    return claims.parse(JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())).scp.split(' ')
  } catch {
    return undefined
  }
}

const organization = z.object({
  value: z.array(
    z.object({
      id: z.string(),
      displayName: z.string().nullish(),
      verifiedDomains: z.array(z.object({ name: z.string(), isInitial: z.boolean().nullish() })),
    }),
  ),
})

export interface Organisation {
  readonly id: string
  readonly displayName: string
  readonly initialDomain: string | undefined
}

/** Reads the organisation of the person who signed in. */
export async function readOrganisation(graph: Graph): Promise<Organisation> {
  const found = await graph.get('/organization?$select=id,displayName,verifiedDomains', organization)
  const own = found?.value[0]
  if (!own) throw new SetupProblem(texts.problems.unreadable, texts.problems.report, '/organization')
  const initial = own.verifiedDomains.find(({ isInitial }) => isInitial)
  return { id: own.id, displayName: own.displayName ?? own.id, initialDomain: initial?.name }
}

export const isCancelled = (error: unknown): boolean => error instanceof SignInError && error.problem === 'cancelled'
