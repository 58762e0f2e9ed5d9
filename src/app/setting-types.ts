/** The types of settings: each zod schema parses the text of a variable, and says what is wrong with it. */
import { z } from 'zod'
import { type CloudName, cloudFault } from './clouds.ts'

export const port = z.coerce
  .number('must be a number')
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(65_535, 'must be at most 65535')
export const count = z.coerce.number('must be a number').int('must be a whole number').min(0, 'must be at least 0')
export const seconds = count
/** A network such as `10.1.0.0/16` or `fd00::/8`. */
export const network = z.union([z.cidrv4(), z.cidrv6()], { error: 'must be networks such as 10.1.0.0/16' })
/** An hour of the day, or null for `off`. */
export const hourOrOff = z
  .string()
  .default('8')
  .refine((text) => /^(?:off|1?\d|2[0-3])$/.test(text), 'must be an hour from 0 to 23, or off')
  .transform((text) => (text === 'off' ? null : Number(text)))
/** Up to a year. Parts are allowed: they are for trying it out. */
export const duration = (most: number) => z.coerce.number('must be a number').max(most, `must be at most ${most}`)
export function listed(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
export const list = z.string().default('').transform(listed)
export const onOff = z
  .enum(['on', 'off'], 'must be on or off')
  .default('on')
  .transform((word) => word === 'on')
export const offOn = z
  .enum(['on', 'off'], 'must be on or off')
  .default('off')
  .transform((word) => word === 'on')
/** 0, or `off`: for ever. */
export const retentionDays = z
  .union(
    [z.literal('off'), z.coerce.number().int().min(0).max(36_500)],
    'must be a whole number of days, at most 36500, or off',
  )
  .default(365)
  .transform((days) => (days === 'off' ? 0 : days))
/** 0: addresses are given to others at once. */
export const formerAddressDays = z.coerce
  .number('must be a number')
  .int('must be a whole number of days')
  .min(0, 'must be at least 0')
  .max(3650, 'must be at most 3650')
  .default(365)
/** The source of a key. */
export const keySecret = z
  .base64('must be base64')
  .refine((text) => Buffer.from(text, 'base64').length >= 32, 'must be at least 32 bytes in base64')
/** A day, which counts from its start because the hour is unknown, or a moment. */
export const expiry = z
  .union([z.iso.date(), z.iso.datetime({ offset: true })], 'must be a date such as 2027-11-30')
  .transform((text) => new Date(text))
export const id = z.uuid().toLowerCase()
/** Client ids and App ID URIs. Tokens have client ids in lower case, and audiences are compared as text. */
export const audiences = list.transform((all) => all.map((one) => id.safeParse(one).data ?? one))
export const cloud = z
  .string()
  .default('public')
  .check((given) => {
    const fault = cloudFault(given.value)
    if (fault !== undefined) given.issues.push({ code: 'custom', message: fault, input: given.value })
  })
  .transform((name) => name as CloudName)
export const url = z
  .url({ protocol: /^https?$/, error: 'must be an http or https address' })
  .refine((text) => !URL.canParse(text) || !new URL(text).username, 'must have no user name: it is not used')
  .transform((text) => text.replace(/\/+$/, ''))

/** Addresses, joined by commas. */
export const urls = z
  .string()
  .transform(listed)
  .refine(
    (all) => all.length > 0 && all.every((one) => url.safeParse(one).success),
    'must be an http or https address without user name; several are joined by commas',
  )
  .pipe(z.array(url))
