import { z } from 'zod'
import { type Draft, inLocale, type Template } from '../../core/index.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { paged, pageOf } from '../shared/paging.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, longest, moment, type Viewer } from '../shared/texts.ts'

/** A template as far as a list of drafts shows it. */
type TemplateOfDraft = Pick<Template, 'name' | 'description' | 'localised' | 'kind'>

/** Saved drafts, the last changed first, each with its template. */
export interface DraftOffer {
  /** After a command that opens forms, a command that lists drafts, or a click that keeps a draft. */
  readonly says: 'offer' | 'list' | 'kept'
  readonly drafts: readonly {
    readonly draft: Draft
    /** Undefined if the person cannot use the template. Only a list has such drafts. */
    readonly template: TemplateOfDraft | undefined
  }[]
  /** The first draft of the page of a list. */
  readonly from?: number
  /** The empty form to start instead: its template, or the command that offers templates. */
  readonly startNew?: { readonly templateId: string } | { readonly command: string }
  /** The name in the new form, which the person has typed. */
  readonly newName?: string | undefined
}

/** The drafts of an offer. More would hide the choice between continuing and starting again. */
const maxOffered = 3

/** The drafts of one page of a list. Six drafts with long names do not fit in a card. */
const maxListed = 5

export const continueDraftCard = defineCard({
  name: 'continue-draft',
  data: z.strictObject({
    says: z.enum(['one', 'several', 'list', 'kept']),
    mark: z.enum(['', '✓']),
    drafts: z
      .array(
        z.strictObject({
          requestId: z.uuid(),
          /** Whether the person can use the template and so continue the draft. */
          isAvailable: z.boolean(),
          /** The kind of resource and the template, or why the person cannot continue the draft. */
          about: z.string(),
          displayName: z.string(),
          /** The title of a tap on the row. */
          open: z.string(),
          /** The draft of the Discard button of the row. */
          discards: z.string(),
          at: z.string(),
        }),
      )
      .min(1),
    ...paged,
    /** How many more there are than an offer shows, or `''`. */
    older: z.string(),
    /** The draft of the buttons; of several drafts each row is a button. */
    requestId: z.string(),
    /** The command or template of a new form; `''` without one. */
    templateId: z.string(),
    of: z.string(),
    /** The name in the new form; `''` without one. */
    newName: z.string(),
  }),
})

/** Offers a person their saved drafts. */
export function continueDraftView(
  { says, drafts, from = 0, startNew, newName = '' }: DraftOffer,
  viewer: Viewer,
): ViewOf<typeof continueDraftCard> {
  const texts = strings.drafts
  const isList = says === 'list'
  const { shown, page } = pageOf(isList ? drafts : drafts.slice(0, maxOffered), from, maxListed)
  const rows = shown.map(({ draft, template }) => {
    const displayName = cut((draft.values['displayName'] ?? '').trim(), longest.title)
    const name = displayName || (template ? inLocale(template, viewer.locale).name : texts.noName)
    return {
      requestId: draft.requestId,
      isAvailable: template !== undefined,
      about: template ? aboutOf(template, viewer) : texts.unavailable,
      displayName: displayName || texts.noName,
      open: template ? format(texts.open, { name }) : '',
      discards: cut(name, longest.name),
      at: moment(draft.updatedAt, viewer, 'day'),
    }
  })
  const [only] = drafts.length === 1 ? rows.filter(({ isAvailable }) => isAvailable) : []
  return {
    says: says !== 'offer' ? says : only ? 'one' : 'several',
    mark: says === 'kept' ? '✓' : '',
    drafts: rows,
    ...page,
    older: isList ? '' : restText(texts.older, drafts.length - rows.length),
    requestId: only?.requestId ?? '',
    templateId: startNew && 'templateId' in startNew ? startNew.templateId : '',
    of: startNew && 'command' in startNew ? startNew.command : '',
    newName,
  }
}

/** Returns the kind and the name of a template, once if they are the same. */
function aboutOf(template: TemplateOfDraft, viewer: Viewer): string {
  const kind = strings.kind[template.kind]
  const { name } = inLocale(template, viewer.locale)
  return kind.toLowerCase() === name.toLowerCase() ? name : `${kind} · ${name}`
}
