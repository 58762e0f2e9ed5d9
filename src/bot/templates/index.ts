/** Templates and their usage, for admins. */
import { randomUUID } from 'node:crypto'
import { z } from 'zod'
import {
  type Cards,
  cardsFor,
  rowsOfPage,
  type StarterForm,
  starterTextsFor,
  type TemplateUse,
} from '../../cards/index.ts'
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

/** `admin templates`: the templates and how often each is used. With a name: one template. */
const adminTemplatesCommand = defineCommand({
  name: 'admin templates',
  forAdmins: true,
  argument: z.literal(''),
  handle: (turn) => showTemplates(turn),
  withoutValidArgument: (turn, typed) => useNamed(turn, typed, 'show'),
})

/** `admin templates show|enable|disable <name or id>`. The last two require a click to confirm. */
const adminTemplateCommands = (['show', 'enable', 'disable'] as const).map((use) =>
  defineCommand({
    name: `admin templates ${use}`,
    forAdmins: true,
    argument: z.string().min(1),
    handle: (turn, typed) => useNamed(turn, typed, use),
    withoutValidArgument: async (turn) => showNotice(turn, { code: 'noTemplateNamed' }),
  }),
)

/** `admin templates add`: shows the starters. */
const addTemplateCommand = defineShowCommand({
  name: 'admin templates add',
  forAdmins: true,
  show: async (turn) => showStarters(turn),
})

const templateId = z.uuid().toLowerCase()

/** Shows another page of the templates, on the same card. */
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

/** The version of the template that the confirmation showed. Without a version, the click shows the confirmation. */
const confirmation = z.object({ templateId, version: version.optional() })

/** Enables a template after an admin confirms it. */
const enableTemplate = defineCardAction({
  verb: 'admin.enable',
  forAdmins: true,
  data: confirmation,
  handle: (turn, click) => switchTemplate(turn, click, 'enable'),
})

/** Disables a template after an admin confirms it. */
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
    // A second click shows the result of the first. After a change by another admin, the card asks again.
    return useTemplate(turn, templateId, use, { isChanged: true })
  }
  return useTemplate(turn, templateId, 'show')
}

/** Shows the starters. */
const chooseStarter = defineCardAction({
  verb: 'admin.starters',
  forAdmins: true,
  data: z.object({}),
  handle: async (turn) => showStarters(turn),
})

const showStarters = ({ viewer }: Turn): Reply => ({ card: cardsFor(viewer).starters() })

const starter = z.enum(starterKinds)

/** Opens the form of a starter. The new template gets its id now, so that no click adds a second template. */
const openStarter = defineCardAction({
  verb: 'admin.starter',
  forAdmins: true,
  data: z.object({ starter }),
  async handle(turn, { starter: kind }) {
    const answers = { ...emptyAnswers, ...starterTextsFor(turn.viewer, kind), prefix: starterOf(kind).prefix }
    return showStarter(turn, { kind, id: randomUUID(), answers })
  },
})

const emptyAnswers: StarterAnswers = {
  ...{ name: '', description: '', prefix: '', approvedBy: 'manager', people: [], group: '' },
  ...{ owners: 1, capacity: capacityWithoutLicence },
}

/** The limit of people to look up. A template allows fewer approvers. */
const maxPeople = 50

/**
 * The data of a click on the form. Clients omit empty inputs. A value that an input cannot have becomes its first
 * value.
 */
const starterClick = z
  .object({
    ...{ starter, templateId, name: input, description: input, prefix: input, group: input },
    approvedBy: z.enum(starterApprovals).catch(emptyAnswers.approvedBy),
    people: input.transform((text) =>
      text
        .split(/[,;\s]+/)
        .filter(isId)
        .slice(0, maxPeople),
    ),
    owners: z.coerce.number().int().catch(emptyAnswers.owners),
    capacity: z.coerce.number().int().catch(emptyAnswers.capacity),
  })
  .transform(({ starter: kind, templateId: id, ...answers }) => ({ kind, id, answers }))
type StarterClick = z.output<typeof starterClick>

/** Shows the template that the answers would create, or their faults. */
const previewStarter = defineCardAction({
  verb: 'admin.starter-preview',
  forAdmins: true,
  data: starterClick,
  handle: (turn, click) =>
    orFaults(turn, click, async () => {
      const report = await turn.core.previewStarter(turn.actor, click)
      return showStarter(turn, { ...click, report, people: await chosenPeople(turn, click) })
    }),
})

/** Adds the template once. After wrong answers the form returns. */
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
    return showStarter(turn, { ...click, faults: error.faults, people: await chosenPeople(turn, click) })
  }
}

const chosenPeople = ({ core, actor }: Turn, { answers }: StarterClick) =>
  core.findNamedPeople(actor, { ids: answers.people })

const showStarter = (
  { viewer }: Turn,
  form: Pick<StarterForm, 'kind' | 'id' | 'answers'> & Partial<StarterForm>,
): Reply => ({
  card: cardsFor(viewer).starterForm({ faults: [], people: [], ...form }),
})

/** Shows a page of all templates. */
async function showTemplates({ core, actor, viewer }: Turn, from = 0): Promise<Reply> {
  const page = await core.listTemplatesInUse(actor, { from, most: rowsOfPage })
  return { card: cardsFor(viewer).adminTemplates(page, viewer) }
}

/** Shows a template, with a confirmation if a click would enable or disable it. */
async function useTemplate(
  turn: Turn,
  templateId: string,
  use: TemplateUse,
  more: Parameters<Cards['adminTemplate']>[2] = {},
): Promise<Reply> {
  const { core, actor, viewer } = turn
  const report = await core.reportOnTemplate(actor, { id: templateId }).catch(undefinedIfNotFound)
  if (!report) return showNotice(turn, { code: 'templateGone' })
  const isDone = use === 'show' || report.template.active === (use === 'enable')
  return {
    card: cardsFor(viewer).adminTemplate(
      report,
      viewer,
      isDone ? { ...more, isChanged: false } : { ...more, asks: use },
    ),
  }
}

/**
 * If several template names contain the text, the admin chooses one. If no name contains it, the card offers the
 * nearest.
 */
async function useNamed(turn: Turn, typed: string, use: TemplateUse): Promise<Reply> {
  const { core, actor, viewer } = turn
  const { found, near } = meantTemplates(await core.listTemplates(actor), typed)
  const [only, ...more] = found
  if (only && more.length === 0) return useTemplate(turn, only.id, use)
  const offered = found.length > 0 ? found : near
  const asks = { typed, found: found.length > 0, does: use }
  const entries = await core.readUseOfTemplates(actor, { templates: offered.slice(0, rowsOfPage) })
  return { card: cardsFor(viewer).adminTemplates({ entries, from: 0, total: offered.length, asks }, viewer) }
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
