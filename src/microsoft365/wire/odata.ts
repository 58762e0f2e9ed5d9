import { z } from 'zod'
import { TenantError } from '../../core/index.ts'
import { type Call, type CallService, readAs } from './call.ts'

const onePage = z.object({ value: z.array(z.unknown()), '@odata.nextLink': z.string().optional() })
type How = Pick<Call, 'headers' | 'signal'>
/** The pages of ten million entries. */
const mostPages = 10_000
interface Page<T> {
  readonly found: readonly T[]
  readonly next: string | undefined
}

/** How lists of Microsoft Graph are read. `root` is the only place that their pages may be at. */
export function createPages(call: CallService, root: string, service: string) {
  async function page<S extends z.ZodType>(
    url: string,
    item: S,
    purpose: string,
    how: How = {},
  ): Promise<Page<z.output<S>> | undefined> {
    const answer = await call({ url, purpose, accept: [404], ...how })
    if (answer.status === 404) return undefined
    const body = readAs(onePage, answer, service)
    // Directory lists mix people with groups, devices and roles: what is not asked for is left out.
    const found = body.value.flatMap((each) => {
      const parsed = item.safeParse(each)
      return parsed.success ? [parsed.data] : []
    })
    return { found, next: body['@odata.nextLink'] }
  }

  return {
    /** The pages of a list of any length, one after the other. Follows links of this directory only. */
    async *pages<S extends z.ZodType>(url: string, item: S, purpose: string): AsyncGenerator<readonly z.output<S>[]> {
      let next: string | undefined = url
      for (let count = 0; next !== undefined; count += 1) {
        if (!next.startsWith(`${root}/`) || count === mostPages) throw foreignPage(service)
        const read: Page<z.output<S>> | undefined = await page(next, item, purpose)
        if (!read) return
        yield read.found
        next = read.next
      }
    },
    /** All entries of a list, page by page. Follows links of this directory only. */
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
    /** The first entries of a list, as many as `$top` says, where nobody wants to read them all. */
    first: async <S extends z.ZodType>(
      url: string,
      item: S,
      purpose: string,
      how?: How,
    ): Promise<readonly z.output<S>[]> => (await page(url, item, purpose, how))?.found ?? [],
  }
}

const foreignPage = (service: string): TenantError =>
  new TenantError('foreign-page', `${service} sent a list whose next page is elsewhere or never ends.`, {
    retryable: false,
  })

/** A query string as Graph's pages write it: names with their dollar sign, commas and slashes left readable. */
export const query = (parameters: Readonly<Record<string, string>>): string =>
  `?${Object.entries(parameters)
    .map(([name, value]) => `${name}=${encodeURIComponent(value).replaceAll('%2C', ',').replaceAll('%2F', '/')}`)
    .join('&')}`

/** One segment of a path. Throws `TypeError` for dots alone, which lead elsewhere however they are written. */
export function segment(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new TypeError('An id is not made of dots.')
  return encodeURIComponent(text)
}

/** A text inside an OData literal: single quotes doubled (OData 4.01 URL conventions §5.1.1.6.1). */
export const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`
