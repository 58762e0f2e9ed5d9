import { z } from 'zod'
import { TenantError } from '../../core/index.ts'
import { parseAnswer } from './answer.ts'
import type { Call, CallService } from './call.ts'

const onePage = z.object({ value: z.array(z.unknown()), '@odata.nextLink': z.string().optional() })
type How = Pick<Call, 'headers' | 'signal'>
/** Pages of ten million entries. */
const maxPages = 10_000
interface Page<T> {
  readonly found: readonly T[]
  readonly next: string | undefined
}

/** Creates functions that read lists of Microsoft Graph. They follow only links below `root`, since our token goes there. */
export function createPages(call: CallService, root: string, service: string) {
  async function page<S extends z.ZodType>(
    url: string,
    item: S,
    purpose: string,
    how: How = {},
  ): Promise<Page<z.output<S>> | undefined> {
    const answer = await call({ url, purpose, accept: [404], ...how })
    if (answer.status === 404) return undefined
    const body = parseAnswer(onePage, answer, service)
    // Directory lists mix people with groups, devices and roles: entries of other types are skipped.
    const found = body.value.flatMap((each) => {
      const parsed = item.safeParse(each)
      return parsed.success ? [parsed.data] : []
    })
    return { found, next: body['@odata.nextLink'] }
  }

  return {
    /** Yields the pages of a list of any length. */
    async *pages<S extends z.ZodType>(url: string, item: S, purpose: string): AsyncGenerator<readonly z.output<S>[]> {
      let next: string | undefined = url
      for (let count = 0; next !== undefined; count += 1) {
        if (!next.startsWith(`${root}/`) || count === maxPages) throw foreignPage(service)
        const read: Page<z.output<S>> | undefined = await page(next, item, purpose)
        if (!read) return
        yield read.found
        next = read.next
      }
    },
    /** Reads all entries of a list, at most 100 pages. Returns no entries when the list does not exist. */
    async list<S extends z.ZodType>(url: string, item: S, purpose: string, signal?: AbortSignal) {
      const found: z.output<S>[] = []
      let next: string | undefined = url
      for (let count = 0; next !== undefined; count += 1) {
        if (!next.startsWith(`${root}/`) || count === 100) throw foreignPage(service)
        const read: Page<z.output<S>> | undefined = await page(next, item, purpose, signal && { signal })
        if (!read) return []
        found.push(...read.found)
        next = read.next
      }
      return found
    },
    /** Reads the first page of a list, with as many entries as `$top` says. */
    first: async <S extends z.ZodType>(
      url: string,
      item: S,
      purpose: string,
      how?: How,
    ): Promise<readonly z.output<S>[]> => (await page(url, item, purpose, how))?.found ?? [],
  }
}

/** Error for a list whose next page is at another host, or that has too many pages. */
export const foreignPage = (service: string): TenantError =>
  new TenantError('foreign-page', `${service} sent a list whose next page is elsewhere or never ends.`, {
    retryable: false,
  })

/** Builds a query string as Graph's documentation writes it: dollar signs, commas and slashes stay readable. */
export const query = (parameters: Readonly<Record<string, string>>): string =>
  `?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%2F', '/')}`)
    .join('&')}`

/** Encodes one segment of a path. Throws `TypeError` for dots alone, which change the path in any encoding. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError('An id is not made of dots.')
  return encodeURIComponent(text)
}

/** Quotes text as an OData literal, with doubled single quotes (OData 4.01 URL conventions §5.1.1.6.1). */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
