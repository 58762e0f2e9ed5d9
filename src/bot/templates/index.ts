/** Templates and their use, for admins. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import { cards, rowsOfPage, type StarterForm, type TemplateUse } from '../../cards/index.ts'
import {
  capacityWithoutLicence,
  meantTemplates,
  type StarterAnswers,
  starterApprovals,
  starterKinds,
  starterOf,
} from '../../core/index.ts'
import { isId, type Reply, type Turn } from '../channel/turn.ts'
import {
  defineCardAction,
  defineCommand,
  defineShowCommand,
  input,
  isRefusal,
  pageStart,
  showNotice,
  undefinedIfNotFound,
  version,
} from '../define.ts'

/** `admin templates`: the templates and how often each is used. With a name, that template. */
const adminTemplatesCommand = defineCommand({
  words: 'admin templates',
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showTemplates(turn),
  otherwise: (turn, typed) => useNamed(turn, typed, 'show'),
})

/** `admin templates show|enable|disable <name or id>`. The last two ask for confirmation, and the click does it. */
const adminTemplateCommands = (['show', 'enable', 'disable'] as const).map((use) =>
  defineCommand({
    words: `admin templates ${use}`,
    forAdmins: true,
    argument: z.string().min(1),
    handle: (turn, typed) => useNamed(turn, typed, use),
    otherwise: async (turn) => showNotice(turn, { code: 'noTemplateNamed' }),
  }),
)

/** `admin templates add`: the starters. */
const addTemplateCommand = defineShowCommand({
  words: 'admin templates add',
  forAdmins: true,
  show: async () => showStarters(),
})

const templateId = z.uuid().toLowerCase()

/** Turns the page of the list of templates. The card changes in place. */
const pageTemplates = defineCardAction({
  verb: 'admin.templates',
  forAdmins: true,
  data: z.object({ from: pageStart }),
  handle: (turn, { from }) => showTemplates(turn, from),
})

/** Shows the settings of a template. */
const examineTemplate = defineCardAction({
  verb: 'admin.template',
  forAdmins: true,
  data: z.object({ templateId }),
  handle: (turn, { templateId }) => useTemplate(turn, templateId, 'show'),
})

/** The version that the admin saw when they were asked for confirmation. Without a version, the card asks for it. */
const confirmation = z.object({ templateId, version: version.optional() })

/** Enables a template, once an admin has confirmed it. */
const enableTemplate = defineCardAction({
  verb: 'admin.enable',
  forAdmins: true,
  data: confirmation,
  handle: (turn, click) => switchTemplate(turn, click, 'enable'),
})

/** Disables a template, once an admin has confirmed it. */
const disableTemplate = defineCardAction({
  verb: 'admin.disable',
  forAdmins: true,
  data: confirmation,
  handle: (turn, click) => switchTemplate(turn, click, 'disable'),
})

async function switchTemplate(
  turn: Turn,
  { templateId, version }: z.output<typeof confirmation>,
  use: 'enable' | 'disable',
): Promise<Reply> {
  if (version === undefined) return useTemplate(turn, templateId, use)
  try {
    await turn.core.switchTemplate(turn.actor, { id: templateId, expected: version, active: use === 'enable' })
  } catch (error) {
    if (!isRefusal(error, 'stale-version', 'not-found')) throw error
    // A second click shows the result of the first; after a change by another admin, the card asks again.
    return useTemplate(turn, templateId, use, { isChanged: true })
  }
  return useTemplate(turn, templateId, 'show')
}

/** Shows the starters. */
const chooseStarter = defineCardAction({
  verb: 'admin.starters',
  forAdmins: true,
  data: z.object({}),
  handle: async () => showStarters(),
})

const showStarters = (): Reply => ({ card: cards.starters() })

const starter = z.enum(starterKinds)

/** Opens the form of a starter. The new template has its id from now on, so that no click adds a second one. */
const openStarter = defineCardAction({
  verb: 'admin.starter',
  forAdmins: true,
  data: z.object({ starter }),
  async handle(_, { starter: kind }) {
    const { displayName, description, prefix } = starterOf(kind)
    const answers = { ...emptyAnswers, name: displayName, description, prefix }
    return showStarter({ kind, id: randomUUID(), answers })
  },
})

const emptyAnswers: StarterAnswers = {
  ...{ name: '', description: '', prefix: '', approvedBy: 'manager', people: [], group: '' },
  ...{ owners: 1, capacity: capacityWithoutLicence },
}

/** The limit of people to look up. A template takes fewer approvers, and says so. */
const mostPeople = 50

/** The data of a click on the form. Clients leave out empty inputs; what an input cannot hold becomes its first value. */
const starterClick = z
  .object({
    ...{ starter, templateId, name: input, description: input, prefix: input, group: input },
    approvedBy: z.enum(starterApprovals).catch(emptyAnswers.approvedBy),
    people: input.transform((text) =>
      text
        .split(/[,;\s]+/)
        .filter(isId)
        .slice(0, mostPeople),
    ),
    owners: z.coerce.number().int().catch(emptyAnswers.owners),
    capacity: z.coerce.number().int().catch(emptyAnswers.capacity),
  })
  .transform(({ starter: kind, templateId: id, ...answers }) => ({ kind, id, answers }))
type StarterClick = z.output<typeof starterClick>

/** Shows the template that the answers would add, or their faults. */
const previewStarter = defineCardAction({
  verb: 'admin.starter-preview',
  forAdmins: true,
  data: starterClick,
  handle: (turn, click) =>
    orFaults(turn, click, async () => {
      const report = await turn.core.previewStarter(turn.actor, click)
      return showStarter({ ...click, report, people: await chosenPeople(turn, click) })
    }),
})

/** Adds the template, once. Wrong answers give the form back. */
const createFromStarter = defineCardAction({
  verb: 'admin.starter-create',
  forAdmins: true,
  data: starterClick,
  handle: (turn, click) =>
    orFaults(turn, click, async () => {
      const { template, isNew } = await turn.core.addFromStarter(turn.actor, click)
      return useTemplate(turn, template.id, 'show', { news: isNew ? 'added' : 'exists' })
    }),
})

async function orFaults(turn: Turn, click: StarterClick, answer: () => Promise<Reply>): Promise<Reply> {
  try {
    return await answer()
  } catch (error) {
    if (!isRefusal(error, 'validation-failed') || error.faults.length === 0) throw error
    return showStarter({ ...click, faults: error.faults, people: await chosenPeople(turn, click) })
  }
}

const chosenPeople = ({ core, actor }: Turn, { answers }: StarterClick) =>
  core.findNamedPeople(actor, { ids: answers.people })

const showStarter = (form: Pick<StarterForm, 'kind' | 'id' | 'answers'> & Partial<StarterForm>): Reply => ({
  card: cards.starterForm({ faults: [], people: [], ...form }),
})

/** A page of all templates. */
async function showTemplates({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listTemplatesInUse(actor, { from, most: rowsOfPage })
  return { card: cards.adminTemplates(page, viewer) }
}

/** The card of a template. It asks for confirmation if the template is to be enabled or disabled and is not so yet. */
async function useTemplate(
  turn: Turn,
  templateId: string,
  use: TemplateUse,
  more: Parameters<typeof cards.adminTemplate>[2] = {},
): Promise<Reply> {
  const { core, actor, viewer } = turn
  const report = await core.reportOnTemplate(actor, { id: templateId }).catch(undefinedIfNotFound)
  if (!report) return showNotice(turn, { code: 'templateGone' })
  const isDone = use === 'show' || report.template.active === (use === 'enable')
  return { card: cards.adminTemplate(report, viewer, isDone ? { ...more, isChanged: false } : { ...more, asks: use }) }
}

/** If several templates have the text in their name, the admin chooses one; if none has it, the nearest are offered. */
async function useNamed(turn: Turn, typed: string, use: TemplateUse): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { found, near } = meantTemplates(await core.listTemplates(actor), typed)
  const [only, ...more] = found
  if (only && more.length === 0) return useTemplate(turn, only.id, use)
  const offered = found.length > 0 ? found : near
  const asks = { typed, found: found.length > 0, does: use }
  const entries = await core.readUseOfTemplates(actor, { templates: offered.slice(0, rowsOfPage) })
  return { card: cards.adminTemplates({ entries, from: 0, total: offered.length, asks }, viewer) }
}

export const templateActions = [
  pageTemplates,
  examineTemplate,
  enableTemplate,
  disableTemplate,
  chooseStarter,
  openStarter,
  previewStarter,
  createFromStarter,
]
export const templateCommands = [adminTemplatesCommand, ...adminTemplateCommands, addTemplateCommand]
