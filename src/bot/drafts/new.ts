import { z } from 'zod'
import type { Cards, DraftOffer } from '../../cards/index.ts'
import {
  allNamesOf,
  type Draft,
  mailboxKinds,
  type ResourceKind,
  resourceKinds,
  siteKinds,
  type Template,
} from '../../core/index.ts'
import {
  isKindAlone,
  isNear,
  isPlainRequest,
  type Meaning,
  meaningOf,
  mentionedIn,
  type NamedKind,
  nameWith,
  nameWithStart,
  shortened,
  withKindFor,
  withoutPoliteness,
} from '../channel/sentences/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { type Command, defineCommand, defineShowCommand, showNotice } from '../define.ts'
import { isAdminWithoutTemplates, showGettingStarted } from '../operations/index.ts'
import { showStep } from './dialog-steps.ts'

/** A request in a sentence. */
type MeantRequest = Extract<Meaning, { does: 'new' }>

/** One button of the help card that starts a request. */
type NewRequestButton = Parameters<Cards['help']>[0]['offers'][number]
const buttonOf = {
  teamSite: 'newSite',
  communicationSite: 'newSite',
  roomMailbox: 'newRoom',
  sharedMailbox: 'newSharedMailbox',
  equipmentMailbox: 'newEquipment',
} as const satisfies Record<ResourceKind, NewRequestButton>

/** The kind that people name, of each kind of resource. */
const namedKindOf = {
  teamSite: 'teamSite',
  communicationSite: 'communicationSite',
  roomMailbox: 'room',
  sharedMailbox: 'sharedMailbox',
  equipmentMailbox: 'equipment',
} as const satisfies Record<ResourceKind, NamedKind>

/** The commands that open a form. */
export const newCommandNames = [
  'new',
  'new site',
  'new room',
  'new shared mailbox',
  'new equipment',
  'new mailbox',
] as const
type NewCommandName = (typeof newCommandNames)[number]

/** Each command that opens a form: its position in the menu and the kinds that it offers. */
const table: readonly {
  readonly name: NewCommandName
  readonly menu?: number
  readonly kinds: readonly ResourceKind[]
}[] = [
  { name: 'new', kinds: resourceKinds },
  { name: 'new site', menu: 1, kinds: siteKinds },
  { name: 'new room', menu: 2, kinds: ['roomMailbox'] },
  { name: 'new shared mailbox', menu: 3, kinds: ['sharedMailbox'] },
  { name: 'new equipment', menu: 4, kinds: ['equipmentMailbox'] },
  { name: 'new mailbox', kinds: mailboxKinds },
]

/** `new`, alone or with a kind. Each command accepts a part of a template's name, or a sentence such as “for Aurora”. */
const newCommands: readonly Command[] = table.map(({ kinds, ...command }) =>
  defineCommand({
    ...command,
    startsDialog: true,
    argument: z.string().max(500),
    handle: async (turn, part) => chooseNamed(turn, command.name, await templatesOf(turn, kinds), part),
    withoutValidArgument: async (turn) => continueOrChoose(turn, command.name, await templatesOf(turn, kinds)),
  }),
)

/** The command of each kind that people name in a sentence. */
const commandOf: Readonly<Record<NamedKind, NewCommandName>> = {
  site: 'new site',
  teamSite: 'new site',
  communicationSite: 'new site',
  room: 'new room',
  sharedMailbox: 'new shared mailbox',
  equipment: 'new equipment',
  mailbox: 'new mailbox',
  any: 'new',
}

/**
 * Opens the form that a sentence requests, with the name in the sentence. If several templates fit, offers them. Returns
 * undefined if the sentence names no kind and no template of this person.
 */
export async function openMeant(turn: Turn, { kinds, name, rest }: MeantRequest): Promise<Reply | undefined> {
  const [only, ...others] = new Set(kinds.map((kind) => commandOf[kind]))
  const commandName = only && others.length === 0 ? only : 'new'
  const wanted = kinds.length === 0 ? ['any' as const] : kinds
  const offered = await templatesOf(turn, [...new Set(wanted.flatMap((kind) => kindsOf(commandOf[kind])))])
  const exact = offered.filter(({ kind }) => kinds.some((one) => one === kind))
  const isMentioned = mentionedIn(rest)
  const isNamed = (template: Template) =>
    allNamesOf(template).some(
      (one) => isMentioned(one) && (exact.length < 2 || !isKindAlone(one, namedKindOf[template.kind])),
    )
  const named = offered.filter(isNamed)
  if (kinds.length === 0 && named.length === 0) return undefined
  const templates = named.length > 0 ? named : exact.length > 0 ? exact : offered
  return continueOrChoose(turn, commandName, templates, name)
}

/**
 * Opens the form of the template that a sentence names: “I need a working group”. Returns undefined if
 * the sentence names no template of this person, or does not request one.
 */
export async function openNamed(turn: Turn, text: string): Promise<Reply | undefined> {
  const templates = await turn.core.listUsableTemplates(turn.actor)
  const isMentioned = mentionedIn(text)
  const named = templates.flatMap((template) =>
    allNamesOf(template).flatMap((name) => (isMentioned(name) ? [{ template, name }] : [])),
  )
  const [longest] = named.toSorted((one, other) => other.name.length - one.name.length)
  if (!longest) return undefined
  const meaning = meaningOf(withKindFor(text, longest.name, namedKindOf[longest.template.kind]))
  if (meaning?.does !== 'new') return undefined
  const same = named.filter(({ name }) => name === longest.name).map(({ template }) => template)
  return continueOrChoose(turn, 'new', same, meaning.name)
}

const kindsOf = (commandName: NewCommandName): readonly ResourceKind[] =>
  table.find(({ name }) => name === commandName)?.kinds ?? []

/** `my drafts`: the person's drafts that are neither submitted nor discarded. */
const myDraftsCommand = defineShowCommand({
  name: 'my drafts',
  startsDialog: true,
  show: (turn) => showDrafts(turn),
})

export const draftCommands = [...newCommands, myDraftsCommand]

/** Shows the page of the person's drafts that has the draft `from`; without `from`, the first page. */
export async function showDrafts(turn: Turn, from = 0): Promise<Reply> {
  const { core, actor } = turn
  const [templates, started] = await Promise.all([core.listUsableTemplates(actor), core.listDrafts(actor)])
  const drafts = started.map((draft) => ({ draft, template: templates.find(({ id }) => id === draft.templateId) }))
  if (drafts.length === 0) return showNotice(turn, { code: 'noDrafts' })
  return showStep({ step: 'offer', says: 'list', drafts, from, startNew: { command: 'new' } }, turn)
}

/** Starts a new request with the templates of a command, without offering the person's drafts. */
export const chooseOf = async (turn: Turn, commandName: NewCommandName, name: string): Promise<Reply> =>
  choose(turn, await templatesOf(turn, kindsOf(commandName)), name)

/** Returns the person's drafts of these templates, each with its template. */
async function draftsOf({ core, actor }: Turn, templates: readonly Template[]): Promise<DraftOffer['drafts']> {
  const drafts = templates.length > 0 ? await core.listDrafts(actor) : []
  const withTemplate = (draft: Draft) =>
    templates.flatMap((template) => (template.id === draft.templateId ? [{ draft, template }] : []))
  return drafts.flatMap(withTemplate)
}

/** Returns the help card's buttons for this person, in the order of the menu. */
export async function requestTypesFor({ core, actor }: Turn): Promise<readonly NewRequestButton[]> {
  const usable = new Set((await core.listUsableTemplates(actor)).map(({ kind }): NewRequestButton => buttonOf[kind]))
  const inOrder: readonly NewRequestButton[] = ['newSite', 'newRoom', 'newSharedMailbox', 'newEquipment']
  return inOrder.filter((button) => usable.has(button))
}

const templatesOf = async (turn: Turn, kinds: readonly ResourceKind[]): Promise<Template[]> =>
  (await turn.core.listUsableTemplates(turn.actor)).filter(({ kind }) => kinds.includes(kind))

/**
 * Continues with the templates whose name contains a text: first the person's drafts. “Open comm” matches “Open community”,
 * but “IT” does not match “site”. If no name contains the text, the text can be a sentence, or the name of the new
 * resource. For `new` alone, the card shows all templates.
 */
async function chooseNamed(
  turn: Turn,
  commandName: NewCommandName,
  templates: readonly Template[],
  part: string,
): Promise<Reply> {
  if (part === '') return continueOrChoose(turn, commandName, templates)
  const text = part.trim().toLowerCase()
  // “new room Zürich” has a kind, so the text can be the name of the room.
  const newName = commandName === 'new' ? '' : shortened(withoutPoliteness(part))
  const found = templates.filter((template) => allNamesOf(template).some(nameWithStart(text)))
  const isWhole = found.some((template) => allNamesOf(template).some(nameWith(text)))
  if (found.length > 0 || templates.length === 0)
    return continueOrChoose(turn, commandName, found, isWhole ? '' : newName, '')
  const meaning = meaningOf(`${commandName} ${part}`)
  const meant = await meantBy(turn, meaning, part)
  if (meant) return meant
  const kind = commandName === 'new' && meaning?.does === 'new' && !/\s/.test(part) ? meaning.kinds[0] : undefined
  if (kind) return showNotice(turn, { code: 'unknownCommand', suggestion: commandOf[kind] })
  const near = templates.filter((template) => allNamesOf(template).some((name) => hasWordNear(name, text)))
  if (near.length > 0) return continueOrChoose(turn, commandName, near)
  if (commandName !== 'new') return continueOrChoose(turn, commandName, templates, newName)
  return showStep({ step: 'choose', templates, unmatched: part }, turn)
}

/** Opens the form that the text after a command requests; undefined if the text can be the name of a template. */
async function meantBy(turn: Turn, meaning: Meaning | undefined, part: string): Promise<Reply | undefined> {
  // “new site Aurora” has only a name, which no template has. “IT” is such a name too, and not the pronoun “it”.
  if (meaning?.does !== 'new' || meaning.name === part.trim() || abbreviation.test(part.trim())) return undefined
  return meaning.name !== '' || isPlainRequest(meaning.rest) ? openMeant(turn, meaning) : undefined
}

/** “IT”, “HR”. */
const abbreviation = /^\p{Lu}{2,3}$/u

const hasWordNear = (name: string, word: string): boolean =>
  [name, ...name.split(' ')].some((part) => isNear(part.toLowerCase(), word))

/**
 * Offers the person's drafts of these templates with the name `draftName`, or all for `''`; without drafts, the templates.
 */
async function continueOrChoose(
  turn: Turn,
  commandName: NewCommandName,
  templates: readonly Template[],
  newName = '',
  draftName = newName,
): Promise<Reply> {
  const isMeant = ({ draft }: DraftOffer['drafts'][number]) =>
    draftName === '' || (draft.values['displayName'] ?? '').trim().toLowerCase() === draftName.toLowerCase()
  const drafts = (await draftsOf(turn, templates)).filter(isMeant)
  if (drafts.length === 0) return choose(turn, templates, newName)
  const [only, ...more] = templates
  const startNew = only && more.length === 0 ? { templateId: only.id } : { command: commandName }
  return showStep({ step: 'offer', says: 'offer', drafts, startNew, newName }, turn)
}

/** Opens the form if there is exactly one template. Shows several templates as a list, and a notice without templates. */
async function choose(turn: Turn, templates: readonly Template[], displayName = ''): Promise<Reply> {
  const [only, ...more] = templates
  if (only && more.length === 0)
    return showStep(await turn.core.openDraft(turn.actor, { templateId: only.id, displayName }), turn)
  if (!only) return showNone(turn)
  return showStep({ step: 'choose', templates, newName: displayName }, turn)
}

/** Shows an admin how to add the first template. Shows other people the names of the admins. */
async function showNone(turn: Turn): Promise<Reply> {
  const { core, actor } = turn
  if (await isAdminWithoutTemplates(turn)) return showGettingStarted(turn)
  return showNotice(turn, { code: 'noTemplates', people: await core.listHelpers(actor) })
}
