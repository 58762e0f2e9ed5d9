/** The follow-up card with the link or the address, and one card with the links of several requests. */
import { z } from 'zod'
import {
  fieldWarningsOf,
  isForMailbox,
  mailboxKind,
  type Person,
  type Request,
  type RequestForMailbox,
  type RequestForSite,
  referenceOf,
  siteKind,
} from '../../core/index.ts'
import { fieldLines } from '../drafts/field-warnings.ts'
import { titleOf } from '../requests/about-request.ts'
import { type CheckRow, checkRow, checkRows, groupRow } from '../requests/checks.ts'
import { peopleWith } from '../requests/request-facts.ts'
import { readBy } from '../shared/facts.ts'
import { askedAddress, outlookLink, siteAddress, withoutScheme } from '../shared/links.ts'
import { marks } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, duration, helpersOf, longest, shortName, type Viewer } from '../shared/texts.ts'

const about = {
  requestId: z.uuid(),
  reference: z.string(),
  templateName: z.string(),
  displayName: z.string(),
  hasChecks: z.boolean(),
  checks: z.array(checkRow),
  fallback: z.string(),
  took: z.string(),
  /** The newest comment of an approver, or `''`. */
  comment: z.string(),
  /** Whether the request can be repeated: its details still exist. */
  again: z.boolean(),
}

export const siteReadyCard = defineCard({
  name: 'site-ready',
  data: z.strictObject({ ...about, kind: siteKind, link: z.string(), url: z.string(), renamed: z.string() }),
})
export const mailboxReadyCard = defineCard({
  name: 'mailbox-ready',
  data: z.strictObject({
    ...about,
    kind: mailboxKind,
    address: z.string(),
    url: z.string(),
    /** How many more checks passed, or `''`. */
    moreChecks: z.string(),
    /** How people open it. */
    next: z.string(),
    /** The requested values without effect. */
    warnings: z.array(z.strictObject({ text: z.string() })),
  }),
})

export const linksCard = defineCard({
  name: 'links',
  data: z.strictObject({
    quantity: z.string(),
    fallback: z.string(),
    links: z
      .array(
        z.strictObject({
          reference: z.string(),
          displayName: z.string(),
          /** The reference and the address. */
          about: z.string(),
          /** The title of a tap on the row. */
          open: z.string(),
          /** `''` if the viewer can open nothing: then the row shows the status. */
          url: z.string(),
        }),
      )
      .min(1),
  }),
})

/** The one card that announces several resources, because the limits of a chat would delay a card for each. */
export function linksView(requests: readonly Request[], viewer: Viewer): ViewOf<typeof linksCard> {
  const texts = strings.links
  const links = requests.map((request) => {
    const url = isForMailbox(request) ? outlookLink(request, viewer) : siteAddress(request, viewer)
    const address = isForMailbox(request) ? request.address : withoutScheme(url)
    const reference = referenceOf(request)
    return {
      reference,
      displayName: cut(titleOf(request).displayName, longest.name),
      about: format(texts.address, { reference, address: address || askedAddress(request, viewer) }),
      open: format(strings.list.open, { reference }),
      url,
    }
  })
  const count = links.length
  const [first, last] = [links.at(0)?.reference ?? '', links.at(-1)?.reference ?? '']
  return { quantity: format(texts.count, { count }), fallback: format(texts.fallback, { first, last, count }), links }
}

/** The one card that announces a site. */
export function siteReadyView(stored: RequestForSite, viewer: Viewer): ViewOf<typeof siteReadyCard> {
  const request = readBy(stored, viewer)
  const url = siteAddress(request, viewer)
  const rows = [...checkRows(request, viewer), ...groupRow(request.progress.securityGroupName ?? '')]
  const about = aboutOf(request, rows)
  const fallback = format(strings.ready.fallback, { reference: about.reference })
  return { ...about, ...titleOf(request), fallback, kind: request.kind, link: withoutScheme(url), url }
}

/** People read a short list; all checks that it leaves out have passed. */
const maxChecks = 7

/**
 * The one card that announces a mailbox: its address, who has access, and what to do next. `helpers`: people who can give
 * access.
 */
export function mailboxReadyView(
  stored: RequestForMailbox,
  viewer: Viewer,
  helpers?: readonly Person[],
): ViewOf<typeof mailboxReadyCard> {
  const request = readBy(stored, viewer)
  const rows = checkRows(request, viewer)
  const shown = rows.filter(({ look }, index) => index < maxChecks || look.mark !== marks.good.mark)
  const texts = strings.ready.mailbox
  const about = aboutOf(request, shown)
  return {
    ...about,
    fallback: format(texts.fallback, { reference: about.reference }),
    kind: request.kind,
    address: request.address,
    url: outlookLink(request, viewer),
    moreChecks: restText(strings.checks.more, rows.length - shown.length),
    next: format(texts.next[nextOf(request, viewer)], {
      people: peopleWith(request, 'FullAccess'),
      helpers: helpersOf(helpers),
    }),
    warnings: fieldLines(request, fieldWarningsOf(request)).map((text) => ({ text })),
  }
}

function nextOf(request: RequestForMailbox, { id }: Viewer) {
  const { kind, details } = request
  if (kind !== 'sharedMailbox') return details.hideFromGAL ? ('bookHidden' as const) : ('book' as const)
  if (peopleWith(request, 'FullAccess') === '') return 'nobody' as const
  if (details.permissions[id] !== 'FullAccess') return 'others' as const
  return details.autoMapping === false ? ('byHand' as const) : ('appears' as const)
}

function aboutOf(request: Request, checks: CheckRow[]) {
  const start = Date.parse(request.submittedAt)
  const end = Date.parse(request.followUp.at ?? request.finishedAt ?? request.updatedAt)
  const queued = request.queuedAt === null ? start : Date.parse(request.queuedAt)
  return {
    requestId: request.requestId,
    reference: referenceOf(request),
    templateName: request.template.name,
    displayName: cut(request.details.displayName, longest.title),
    hasChecks: checks.length > 0,
    checks,
    took: format(request.approvals.length > 0 ? strings.ready.approval : strings.ready.plain, {
      duration: duration(end - start),
      waited: duration(queued - start),
    }),
    comment: commentOf(request),
    again: request.reducedAt === undefined,
  }
}

function commentOf({ approvals }: Request): string {
  const last = approvals.flatMap(({ decisions }) => decisions).findLast(({ comment }) => comment)
  if (!last?.comment) return ''
  const comment = cut(last.comment.replace(/\s+/g, ' '), longest.title)
  return format(strings.ready.comment, { name: shortName(last.by), comment })
}
