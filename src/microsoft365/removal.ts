/** Removes the marked resources of a trial. The service itself deletes nothing, so only `npm run check:tenant` uses this. */
import type { Group } from '@microsoft/microsoft-graph-types'
import { z } from 'zod'
import { because } from '../core/index.ts'
import { type CallService, fieldsOf, query, quoted, type Services, segment } from './wire/index.ts'

/** A resource that a trial created. */
export interface Remain {
  readonly of: 'group' | 'site' | 'mailbox'
  /** The resource's id. For a site also its address, while its id is unknown. */
  readonly id: string
  readonly name: string
}

export interface Removals {
  /**
   * Finds resources of earlier trials by the beginning of their names. Omits those that the tenant does not list yet.
   */
  find(prefix: string): Promise<Remain[]>
  /** Removes one resource. Returns false when the tenant does not know it. */
  remove(remain: Omit<Remain, 'name'>): Promise<boolean>
}

const group = z.object({ id: z.guid(), displayName: z.string() })
const site = z.object({ id: z.string(), webUrl: z.url() })
const mailbox = z.object({ Guid: z.guid(), Name: z.string() })

/**
 * Creates the removals. Graph deletes a group with its site ("Delete group": Group.ReadWrite.All; it can be restored
 * for 30 days). The manager of sites deletes a communication site (sp-dev-docs, "Creating SharePoint sites using REST":
 * Sites.FullControl.All). Remove-Mailbox deletes a mailbox with its account (role Mail Recipient Creation, which
 * Exchange Administrator includes).
 */
export function createRemovals({
  call,
  graph,
  sharePoint,
  exchange,
}: Services & { readonly call: CallService }): Removals {
  const { root } = graph
  async function groups(prefix: string): Promise<Remain[]> {
    const $filter = [prefix, `SPO-${prefix}`].map((one) => `startswith(displayName,${quoted(one)})`).join(' or ')
    const url = `${root}/groups${query({ $filter, $select: fieldsOf<Group>('id', 'displayName') })}`
    const found = await graph.list(url, group, because('findingCheckGroups'))
    return found.map(({ id, displayName: name }) => ({ of: 'group', id, name }))
  }
  async function sites(prefix: string): Promise<Remain[]> {
    const url = `${root}/sites${query({ search: `${prefix}*`, $select: 'id,webUrl' })}`
    const found = await graph.list(url, site, because('findingCheckSites'))
    return found.flatMap(({ id, webUrl }): Remain[] => {
      const name = sharePoint.aliasOf(webUrl) ?? ''
      return name.startsWith(prefix) ? [{ of: 'site', id, name }] : []
    })
  }
  async function mailboxes(prefix: string): Promise<Remain[]> {
    const Filter = `Name -like '${prefix}*'`
    const found = await exchange.read('Get-Mailbox', { Filter }, mailbox)
    return found.map(({ Guid: id, Name: name }) => ({ of: 'mailbox', id, name }))
  }
  return {
    async find(prefix) {
      if (!/^[a-z-]{10,40}$/.test(prefix)) throw new TypeError('The mark of a trial has small letters and hyphens.')
      const all = await Promise.all([groups(prefix), sites(prefix), mailboxes(prefix)])
      return all.flat()
    },
    async remove({ of, id }) {
      if (of === 'mailbox') return removeMailbox(id)
      if (of === 'site') return removeSite(id)
      const url = `${root}/groups/${segment(id)}`
      const purpose = because('deletingCheckGroup')
      return (await call({ method: 'DELETE', url, purpose, accept: [404] })).status !== 404
    },
  }

  async function removeSite(id: string): Promise<boolean> {
    const { signal } = new AbortController()
    const known = URL.canParse(id) ? (await sharePoint.creationStatus(id, signal)).SiteId : id
    return known !== '' && sharePoint.removeSite(known)
  }
  async function removeMailbox(id: string): Promise<boolean> {
    const [known] = await exchange.read('Get-Mailbox', { Identity: id }, z.unknown())
    if (known === undefined) return false
    await exchange.write('Remove-Mailbox', { Identity: id, Confirm: false })
    return true
  }
}
