import { z } from 'zod'
import { unreadable } from './answer.ts'
import { type CallService, type Door, readAs } from './call.ts'
import {
  type Cmdlet,
  type CmdletParameters,
  purposes,
  type ReadingCmdlet,
  type WritingCmdlet,
} from './exchange-cmdlets.ts'
import { cmdletErrorOf, isRefusal } from './exchange-error.ts'
import { quoted } from './graph.ts'

export const exchangeService = 'Exchange Online'
const service = exchangeService

const microsoftHosts = ['outlook.com', 'office365.com']

/**
 * Exchange sends callers on to the region of the mailbox: with our token only within Microsoft's mail hosts. Their port
 * 446 is for themselves; Microsoft's own module goes to 443 in its place.
 */
export function followsTo(from: URL, to: URL): URL | undefined {
  if (to.username !== '' || to.password !== '') return undefined
  if (to.origin === from.origin) return to
  const isMicrosoft = microsoftHosts.some((host) => to.hostname === host || to.hostname.endsWith(`.${host}`))
  if (to.protocol !== 'https:' || !isMicrosoft || !['', '446'].includes(to.port)) return undefined
  return new URL(`https://${to.hostname}${to.pathname}${to.search}`)
}

/** How calls to InvokeCommand are signed in, sent and refused: as the EXO v3 PowerShell module does it. */
export const exchangeDoor = (exchangeUrl: string): Door => ({
  service,
  resource: new URL(exchangeUrl).origin,
  headers: {
    'content-type': 'application/json; charset=utf-8',
    prefer: 'odata.maxpagesize=1000',
    'x-responseformat': 'json',
    'x-serializationlevel': 'Partial',
  },
  refusal: cmdletErrorOf,
  follows: followsTo,
})

/** The mailbox by which Exchange finds the tenant for an application that is nobody. */
const systemMailbox = 'SystemMailbox{bb558c35-97f1-4cb9-8ff7-d53741dc928c}'
const page = z.object({ value: z.array(z.unknown()) })

export interface How {
  readonly signal?: AbortSignal
  /** The user principal name of the mailbox whose server has to run the cmdlet. */
  readonly anchor?: string
}
export type Exchange = ReturnType<typeof createExchange>

/** Runs Exchange Online's cmdlets by `InvokeCommand`. */
export function createExchange(call: CallService, options: { exchangeUrl: string; tenantId: string }) {
  const { tenantId } = options
  const url = `${new URL(options.exchangeUrl).origin}/adminapi/beta/${tenantId}/InvokeCommand`

  async function invoke(cmdlet: Cmdlet, parameters: object, reads: boolean, { signal, anchor }: How) {
    const answer = await call({
      method: 'POST',
      url,
      purpose: purposes[cmdlet],
      reads,
      headers: {
        'x-cmdletname': cmdlet,
        'x-anchormailbox': anchor === undefined ? `APP:${systemMailbox}@${tenantId}` : `UPN:${anchor}`,
      },
      body: { CmdletInput: { CmdletName: cmdlet, Parameters: parameters } },
      ...(signal && { signal }),
    })
    return answer
  }

  /** What a reading cmdlet finds, each checked by the schema. Nothing is found of what is not there (yet). */
  async function read<C extends ReadingCmdlet, S extends z.ZodType>(
    cmdlet: C,
    parameters: CmdletParameters[C],
    schema: S,
    how: How = {},
  ): Promise<z.output<S>[]> {
    try {
      const answer = await invoke(cmdlet, parameters, true, how)
      const { value } = readAs(page, answer, service)
      return value.map((body) => readAs(schema, { ...answer, body }, service))
    } catch (error) {
      if (isRefusal(error, 'not-found')) return []
      throw error
    }
  }

  return {
    read,
    /** The one that a reading cmdlet finds; undefined when it is not there (yet). */
    async readOne<C extends ReadingCmdlet, S extends z.ZodType>(
      cmdlet: C,
      parameters: CmdletParameters[C],
      schema: S,
      how: How = {},
    ): Promise<z.output<S> | undefined> {
      const found = await read(cmdlet, parameters, schema, how)
      if (found.length > 1) throw unreadable(service, 'several objects where one was asked for')
      return found[0]
    },
    /** Runs a cmdlet that changes something; never repeated here, since its answer may be lost and its work done. */
    async write<C extends WritingCmdlet>(cmdlet: C, parameters: CmdletParameters[C], how: How = {}): Promise<unknown> {
      const answer = await invoke(cmdlet, parameters, false, how)
      return readAs(page.or(z.undefined()), answer, service)?.value[0]
    },
  }
}

/** One condition of an OPATH filter. */
export const equal = (property: string, value: string): string => `${property} -eq ${quoted(value)}`

/** An address that may stand in a filter: of the characters that core lets through. Throws `TypeError` for any other. */
function checkedAddress(address: string): string {
  if (/^[\w.-]{1,64}@[\w.-]{1,253}$/.test(address)) return address
  throw new TypeError('A mail address has letters, digits, dots, hyphens and underscores only.')
}

/** A filter: who gets mail at this address. */
export const reachedBy = (address: string): string => equal('EmailAddresses', `smtp:${checkedAddress(address)}`)

/** A filter: who has this address, or what stands before its `@` as alias or name. */
export function heldBy(address: string): string {
  const local = localPartOf(checkedAddress(address))
  return [reachedBy(address), equal('Alias', local), equal('Name', local)].join(' -or ')
}
export const localPartOf = (address: string): string => address.slice(0, address.lastIndexOf('@'))
