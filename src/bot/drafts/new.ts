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
import { isAdminWithoutTemplates, showGettingStarted } from '../operations/index.ts'
import { showStep } from './dialog-steps.ts'

/** One button of the help card that starts a request. */
type NewRequestButton = Parameters<typeof cards.help>[0]['offers'][number]
const buttonOf = {
  teamSite: 'newSite',
  communicationSite: 'newSite',
  roomMailbox: 'newRoom',
  sharedMailbox: 'newSharedMailbox',
  equipmentMailbox: 'newEquipment',
} as const satisfies Record<ResourceKind, NewRequestButton>

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

/** Each command that opens a form: its names, its position in the menu and the kinds that it offers. */
const table: readonly {
  readonly name: NewCommandName
  readonly aliases: readonly string[]
  readonly menu?: number
  readonly kinds: readonly ResourceKind[]
}[] = [
  { name: 'new', aliases: ['new request'], kinds: resourceKinds },
  { name: 'new site', aliases: ['site'], menu: 1, kinds: siteKinds },
  {
    name: 'new room',
    aliases: ['room', 'new meeting room', 'meeting room', 'new room mailbox', 'room mailbox'],
    menu: 2,
    kinds: ['roomMailbox'],
  },
  { name: 'new shared mailbox', aliases: ['shared mailbox'], menu: 3, kinds: ['sharedMailbox'] },
  {
    name: 'new equipment',
    aliases: ['equipment', 'new equipment mailbox', 'equipment mailbox'],
    menu: 4,
    kinds: ['equipmentMailbox'],
  },
  { name: 'new mailbox', aliases: ['mailbox'], kinds: mailboxKinds },
]

/** `new`, alone or with a kind. Each command accepts a part of a template's name. */
const newCommands: readonly Command[] = table.map(({ kinds, ...command }) =>
  defineCommand({
    ...command,
    startsDialog: true,
    argument: z.string().max(64),
    handle: async (turn, part) => chooseNamed(turn, command.name, await templatesOf(turn, kinds), part),
    withoutValidArgument: async (turn) => continueOrChoose(turn, command.name, await templatesOf(turn, kinds)),
  }),
)

/** `my drafts`: the person's drafts that are neither submitted nor discarded. */
const myDraftsCommand = defineShowCommand({
  name: 'my drafts',
  aliases: ['drafts', 'my draft', 'draft'],
  startsDialog: true,
  show: showDrafts,
})

export const draftCommands = [...newCommands, myDraftsCommand]

async function showDrafts(turn: Turn): Promise<Reply> {
  const drafts = await draftsOf(turn, await turn.core.listUsableTemplates(turn.actor))
  if (drafts.length === 0) return showNotice(turn, { code: 'noDrafts' })
  return showStep({ step: 'offer', says: 'list', drafts, startNew: { command: 'new' } }, turn)
}

/** Starts a new request with the templates of a command, without offering the person's drafts. */
export const chooseOf = async (turn: Turn, commandName: NewCommandName): Promise<Reply> =>
  choose(turn, await templatesOf(turn, table.find(({ name }) => name === commandName)?.kinds ?? []))

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
 * Continues with the templates whose name contains a text: first the person's drafts. If no name contains the text, the card
 * says so and shows all templates.
 */
async function chooseNamed(
  turn: Turn,
  commandName: NewCommandName,
  templates: readonly Template[],
  part: string,
): Promise<Reply> {
  const text = part.trim().toLowerCase()
  const found = templates.filter((template) => namesOf(template).some((name) => name.toLowerCase().includes(text)))
  if (found.length > 0 || templates.length === 0 || part === '') return continueOrChoose(turn, commandName, found)
  return showStep({ step: 'choose', templates, unmatched: part }, turn)
}

/** Returns a template's names in all languages. */
const namesOf = ({ name, localised }: Template): string[] => [
  name,
  ...Object.values(localised).flatMap((texts) => texts.name ?? []),
]

/** Offers the person's drafts of these templates; without drafts, the templates. */
async function continueOrChoose(
  turn: Turn,
  commandName: NewCommandName,
  templates: readonly Template[],
): Promise<Reply> {
  const drafts = await draftsOf(turn, templates)
  if (drafts.length === 0) return choose(turn, templates)
  const [only, ...more] = templates
  const startNew = only && more.length === 0 ? { templateId: only.id } : { command: commandName }
  return showStep({ step: 'offer', says: 'offer', drafts, startNew }, turn)
}

/** Opens the form if there is exactly one template. Shows several templates as a list, and a notice without templates. */
async function choose(turn: Turn, templates: readonly Template[]): Promise<Reply> {
  const [only, ...more] = templates
  if (only && more.length === 0) return showStep(await turn.core.openDraft(turn.actor, { templateId: only.id }), turn)
  if (!only) return showNone(turn)
  return showStep({ step: 'choose', templates }, turn)
}

/** Shows an admin how to add the first template. Shows other people the names of the admins. */
async function showNone(turn: Turn): Promise<Reply> {
  const { core, actor } = turn
  if (await isAdminWithoutTemplates(turn)) return showGettingStarted(turn)
  return showNotice(turn, { code: 'noTemplates', people: await core.listHelpers(actor) })
}
