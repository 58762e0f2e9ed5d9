/** Exchange Online's cmdlets over `InvokeCommand`, one file for each family. Imports `tenant` and `login`. */
import type { Tokens } from '../login/index.ts'
import {
  asRecord,
  type Call,
  type Caller,
  contoso,
  exchangeAdministrator,
  type Operation,
  operation,
  Refused,
  type Service,
  type Tenant,
  text,
} from '../tenant/index.ts'
import { accessCmdlets } from './access.ts'
import { resourceCmdlets, userCmdlets } from './mailbox-settings.ts'
import { mailboxCmdlets } from './mailboxes.ts'
import { bind, type Cmdlet } from './parameters.ts'
import { answer, type ExchangeSettings, exceptions, failBinding, failLimit, type Result, serviceError } from './wire.ts'

export { mailboxDoc, trusteeName } from './recipients.ts'
export { type ExchangeSettings, wrappedError } from './wire.ts'

const invokeCommand = /^\/adminapi\/beta\/([^/]+)\/InvokeCommand$/i

/**
 * Creates the service of `POST /adminapi/beta/{tenantGuid}/InvokeCommand`, the endpoint of the EXO v3 PowerShell module.
 * Every cmdlet is a separate operation for faults and the call log, e.g. `exchange.new-mailbox`.
 */
export function exchangeService(tenant: Tenant, tokens: Tokens, settings: ExchangeSettings): Service {
  const cmdlets = [
    ...mailboxCmdlets(tenant, settings),
    ...userCmdlets(tenant),
    ...accessCmdlets(tenant, settings),
    ...resourceCmdlets(tenant),
  ]
  return {
    name: 'exchange',
    observed: true,
    owns: (path) => path.startsWith('/adminapi/'),
    operations: [...cmdlets.map((cmdlet) => operationOf(tenant, cmdlet, settings)), unknownCmdlet],
    admit: async (call) => {
      const caller = await tokens.verify(call.headers.authorization, 'exchange').catch(() => {
        throw unauthorized('The access token is missing, invalid or expired.')
      })
      const tenantId = invokeCommand.exec(call.path)?.[1]?.toLowerCase()
      if (tenantId !== contoso.tenantId) throw unauthorized(`The token is not for the tenant '${tenantId}'.`)
      return withRole(caller, cmdletName(call))
    },
    refusal: (status, message) => serviceError(status, message),
  }
}

function unauthorized(message: string): Refused {
  const reply = serviceError(401, message)
  return new Refused({ ...reply, headers: { ...reply.headers, 'www-authenticate': 'Bearer error="invalid_token"' } })
}

/** Accepts only apps with Exchange.ManageAsApp and the directory role of an Exchange administrator. */
function withRole(caller: Caller, cmdlet: string): Caller {
  const { appOnly, clientId, permissions } = caller
  if (!appOnly || !permissions.includes('Exchange.ManageAsApp'))
    throw new Refused(serviceError(401, `User is not allowed to call ${cmdlet}`))
  if (permissions.includes(exchangeAdministrator.name)) return caller
  const advice = 'Please check online documentation for assigning correct Directory Roles to Azure AD Application'
  const message = `The role assigned to application ${clientId} isn't supported in this scenario. ${advice}.`
  throw new Refused(serviceError(403, message))
}

const inputOf = ({ body }: Pick<Call, 'body'>): Record<string, unknown> => asRecord(asRecord(body)['CmdletInput'])
const cmdletName = (request: Pick<Call, 'body'>): string => text(inputOf(request), 'CmdletName')

function operationOf(tenant: Tenant, cmdlet: Cmdlet, { url }: ExchangeSettings): Operation {
  const lower = cmdlet.name.toLowerCase()
  return {
    name: `exchange.${lower}`,
    method: 'POST',
    path: invokeCommand,
    accepts: (request) =>
      cmdletName(request).toLowerCase() === lower && !tenant.modes.missingCmdlets.includes(cmdlet.name),
    handle: (call) => {
      if (/clixml/i.test(String(call.headers['x-responseformat'] ?? ''))) failLimit('X-ResponseFormat: clixml')
      const parameters = bind(cmdlet, asRecord(inputOf(call)['Parameters']))
      return answer(url, contoso.tenantId, pageOf(call, url, cmdlet.run(parameters)))
    },
  }
}

/**
 * Returns one page of `Prefer: odata.maxpagesize` objects, and the address of the next page for a POST with the same
 * body.
 */
function pageOf(call: Call, url: string, result: Result): Result & { nextLink?: string } {
  const [, most] = /(?:^|[,;\s])odata\.maxpagesize=(\d+)/i.exec(String(call.headers['prefer'] ?? '')) ?? []
  const size = Number(most ?? 1000)
  const start = Number(call.query.get('$skiptoken') ?? 0)
  if (!(size > 0) || !Number.isInteger(start) || start < 0)
    throw new Refused(serviceError(400, 'The requested page is not valid.'))
  const value = result.value.slice(start, start + size)
  if (result.value.length <= start + size) return { ...result, value }
  return { ...result, value, nextLink: `${url}${call.path}?$skiptoken=${start + size}` }
}

/** The last operation. It answers calls of cmdlets that no other operation accepts. */
const unknownCmdlet: Operation = operation('exchange.unknown-cmdlet', 'POST', invokeCommand, (call) => {
  const name = cmdletName(call)
  if (name === '') throw new Refused(serviceError(400, 'The request has no CmdletInput with a CmdletName.'))
  const advice =
    'Check the spelling of the name, or if a path was included, verify that the path is correct and try again.'
  return failBinding(
    `The term '${name}' is not recognized as the name of a cmdlet, function, script file, or operable program. ${advice}`,
    exceptions.commandNotFound,
  )
})
