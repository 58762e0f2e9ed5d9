import { type Parameters, textOf } from './parameters.ts'
import { exceptions, fail, failTransformation } from './wire.ts'

const units = ['B', 'KB', 'MB', 'GB', 'TB'] as const
const gigabyte = 1024 ** 3
/** Exchange's largest mailbox (plan 2), and the largest one without a licence. Bytes. */
const largest = 100 * gigabyte
const largestUnlicensed = 50 * gigabyte
/** In Exchange's order: each at most as large as the next. Bytes. */
const defaults = {
  IssueWarningQuota: 49 * gigabyte,
  ProhibitSendQuota: 49.5 * gigabyte,
  ProhibitSendReceiveQuota: 50 * gigabyte,
}
export const quotaNames = ['IssueWarningQuota', 'ProhibitSendQuota', 'ProhibitSendReceiveQuota'] as const

/** A mailbox's quotas in Exchange's format, e.g. `49.5 GB (53,150,220,288 bytes)`. Stored values are bytes. */
export function quotaDoc(stored: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(quotaNames.map((name) => [name, format(bytesOf(stored, name))]))
}

const bytesOf = (stored: Readonly<Record<string, unknown>>, name: (typeof quotaNames)[number]): number =>
  typeof stored[name] === 'number' ? stored[name] : defaults[name]

/** Reads the quotas of Set-Mailbox as bytes, and checks the order of all quotas and the mailbox's licence. */
export function readQuotas(
  parameters: Parameters,
  stored: Readonly<Record<string, unknown>>,
  { isLicensed, name: mailbox }: { readonly isLicensed: boolean; readonly name: string },
): Readonly<Record<string, number>> {
  const changes = Object.fromEntries(
    quotaNames.flatMap((name) => {
      const text = textOf(parameters, name)
      return text === undefined ? [] : [[name, parse(name, text)]]
    }),
  )
  const excessive = quotaNames.filter((name) => (changes[name] ?? 0) > largestUnlicensed)
  if (!isLicensed && excessive.length > 0) {
    const text = `The operation on mailbox "${mailbox}" failed because it's out of the current user's write scope. The value of properties '${excessive.join()}' exceeds the maximum allowed for user '${mailbox}' with license ''.`
    fail(exceptions.invalidOperation, text)
  }
  const after = { ...stored, ...changes }
  for (const [index, name] of quotaNames.entries()) {
    const next = quotaNames[index + 1]
    if (next && bytesOf(after, name) > bytesOf(after, next)) {
      const values = `${name}: '${format(bytesOf(after, name))}', ${next}: '${format(bytesOf(after, next))}'`
      const text = `The value of property '${next}' must be greater than or equal to that of property '${name}'. ${values}.`
      fail(exceptions.validation, text)
    }
  }
  return changes
}

function parse(name: string, text: string): number {
  if (/^unlimited$/i.test(text)) return tooLarge(name, 'Unlimited')
  const match = /^(\d+(?:\.\d+)?)\s*(B|KB|MB|GB|TB)?$/i.exec(text.trim())
  if (!match) {
    const type = 'Microsoft.Exchange.Data.Unlimited`1[Microsoft.Exchange.Data.ByteQuantifiedSize]'
    return failTransformation(name, text, type, 'The format of the size is not valid.')
  }
  const power = units.findIndex((unit) => unit === (match[2] ?? 'B').toUpperCase())
  const bytes = Math.round(Number(match[1]) * 1024 ** power)
  return bytes > largest ? tooLarge(name, format(bytes)) : bytes
}

const tooLarge = (name: string, shown: string): never =>
  fail(exceptions.validation, `The value '${shown}' of property '${name}' exceeds the maximum of ${format(largest)}.`)

function format(bytes: number): string {
  const power = Math.max(
    0,
    units.findLastIndex((_, index) => bytes >= 1024 ** index),
  )
  const amount = Number((bytes / 1024 ** power).toPrecision(4))
  return `${amount} ${units[power]} (${bytes.toLocaleString('en-US')} bytes)`
}
