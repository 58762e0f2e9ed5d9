import { z } from 'zod'
import type { cards, DraftOffer } from '../../cards/index.ts'
import {
  type Draft,
  mailboxKinds,
  type ResourceKind,
  resourceKinds,
  siteKinds,
  type Template,
} from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type Command, defineCommand, defineShowCommand, showNotice } from '../define.ts'
import { isFirstDay, showFirstDay } from '../operations/index.ts'
import { showStep } from './dialog-steps.ts'

/** The buttons of the help card that start a request. */
type Offer = Parameters<typeof cards.help>[0]['offers'][number]
const offerOf = {
  teamSite: 'newSite',
  communicationSite: 'newSite',
  roomMailbox: 'newRoom',
  sharedMailbox: 'newSharedMailbox',
  equipmentMailbox: 'newEquipment',
} as const satisfies Record<ResourceKind, Offer>

/** The commands that open a form. */
export const newWords = ['new', 'new site', 'new room', 'new shared mailbox', 'new equipment', 'new mailbox'] as const
type NewWords = (typeof newWords)[number]

/** Each command that opens a form: its other words, its place in the menu and the kinds that it offers. */
const table: readonly {
  readonly words: NewWords
  readonly also: readonly string[]
  readonly menu?: number
  readonly kinds: readonly ResourceKind[]
}[] = [
  { words: 'new', also: ['new request'], kinds: resourceKinds },
  { words: 'new site', also: ['site'], menu: 1, kinds: siteKinds },
  {
    words: 'new room',
    also: ['room', 'new meeting room', 'meeting room', 'new room mailbox', 'room mailbox'],
    menu: 2,
    kinds: ['roomMailbox'],
  },
  { words: 'new shared mailbox', also: ['shared mailbox'], menu: 3, kinds: ['sharedMailbox'] },
  {
    words: 'new equipment',
    also: ['equipment', 'new equipment mailbox', 'equipment mailbox'],
    menu: 4,
    kinds: ['equipmentMailbox'],
  },
  { words: 'new mailbox', also: ['mailbox'], kinds: mailboxKinds },
]

/** `new`, alone or with a kind. Each accepts a part of a template's name. */
const newCommands: readonly Command[] = table.map(({ kinds, ...command }) =>
  defineCommand({
    ...command,
    startsDialog: true,
    argument: z.string().max(64),
    handle: async (turn, part) => chooseNamed(turn, command.words, await templatesOf(turn, kinds), part),
    otherwise: async (turn) => continueOrChoose(turn, command.words, await templatesOf(turn, kinds)),
  }),
)

/** `my drafts`: the drafts that the person has begun and neither submitted nor discarded. */
const myDraftsCommand = defineShowCommand({
  words: 'my drafts',
  also: ['drafts', 'my draft', 'draft'],
  startsDialog: true,
  show: showDrafts,
})

export const draftCommands = [...newCommands, myDraftsCommand]

async function showDrafts(turn: Turn): Promise<Reply> {
  const drafts = await begunOf(turn, await turn.core.listUsableTemplates(turn.actor))
  if (drafts.length === 0) return showNotice(turn, { code: 'noDrafts' })
  return showStep({ step: 'offer', says: 'list', drafts, anew: { of: 'new' } }, turn)
}

/** The templates of a command, without the drafts that the person has begun. */
export const chooseOf = async (turn: Turn, words: NewWords): Promise<Reply> =>
  choose(turn, await templatesOf(turn, table.find((one) => one.words === words)?.kinds ?? []))

/** The drafts that this person has begun from these templates, each with its template. */
async function begunOf({ core, actor }: Turn, templates: readonly Template[]): Promise<DraftOffer['drafts']> {
  const drafts = templates.length > 0 ? await core.listBegunDrafts(actor) : []
  const withTemplate = (draft: Draft) =>
    templates.flatMap((template) => (template.id === draft.templateId ? [{ draft, template }] : []))
  return drafts.flatMap(withTemplate)
}

/** The help card's buttons for this person, in the order of the menu. */
export async function requestTypesFor({ core, actor }: Turn): Promise<readonly Offer[]> {
  const usable = new Set((await core.listUsableTemplates(actor)).map(({ kind }): Offer => offerOf[kind]))
  const inOrder: readonly Offer[] = ['newSite', 'newRoom', 'newSharedMailbox', 'newEquipment']
  return inOrder.filter((offer) => usable.has(offer))
}

const templatesOf = async (turn: Turn, kinds: readonly ResourceKind[]): Promise<Template[]> =>
  (await turn.core.listUsableTemplates(turn.actor)).filter(({ kind }) => kinds.includes(kind))

/** The templates with this part in their name. If no name contains it, the card says so and shows all templates. */
async function chooseNamed(turn: Turn, words: NewWords, templates: readonly Template[], part: string): Promise<Reply> {
  const text = part.trim().toLowerCase()
  const found = templates.filter((template) => namesOf(template).some((name) => name.toLowerCase().includes(text)))
  if (found.length > 0 || templates.length === 0 || part === '') return continueOrChoose(turn, words, found)
  return showStep({ step: 'choose', templates, unmatched: part }, turn)
}

/** A template's name in each language. */
const namesOf = ({ name, localised }: Template): string[] => [
  name,
  ...Object.values(localised).flatMap((words) => words.name ?? []),
]

/** Offers the drafts that were begun from these templates; without drafts, the templates. */
async function continueOrChoose(turn: Turn, words: NewWords, templates: readonly Template[]): Promise<Reply> {
  const drafts = await begunOf(turn, templates)
  if (drafts.length === 0) return choose(turn, templates)
  const [only, ...more] = templates
  const anew = only && more.length === 0 ? { templateId: only.id } : { of: words }
  return showStep({ step: 'offer', says: 'offer', drafts, anew }, turn)
}

/** Opens the form of a single template. The person chooses one of several. */
async function choose(turn: Turn, templates: readonly Template[]): Promise<Reply> {
  const [only, ...more] = templates
  if (only && more.length === 0) return showStep(await turn.core.openDraft(turn.actor, { templateId: only.id }), turn)
  if (!only) return showNone(turn)
  return showStep({ step: 'choose', templates }, turn)
}

/** Shows an admin of a new service how to add the first template, and everybody else who can add one. */
async function showNone(turn: Turn): Promise<Reply> {
  const { core, actor } = turn
  if (await isFirstDay(turn)) return showFirstDay(turn)
  return showNotice(turn, { code: 'noTemplates', people: await core.listHelpers(actor) })
}
