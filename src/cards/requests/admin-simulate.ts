import { z } from 'zod'
import { inLocale, type Person, resourceKind, type Simulation, type Template } from '../../core/index.ts'
import { inputNames } from '../drafts/based-on.ts'
import { stageRow, stageRowOf, warningLines } from '../drafts/review.ts'
import { type Fact, fact, fitting, readBy } from '../shared/facts.ts'
import { withoutScheme } from '../shared/links.ts'
import { look, looks, toKnow } from '../shared/look.ts'
import { format, restText, strings } from '../shared/messages.ts'
import { defineCard, type ViewOf } from '../shared/render.ts'
import { cut, listOf, longest, quantity, shortName, type Viewer } from '../shared/texts.ts'
import { signed } from '../templates/admin-templates.ts'
import { limitFacts } from '../templates/template-policies.ts'

export const adminSimulateCard = defineCard({
  name: 'admin-simulate',
  data: z.strictObject({
    kind: resourceKind,
    templateName: z.string(),
    look,
    mayUse: z.boolean(),
    because: z.string(),
    as: z.string(),
    /** The display name of the example; `''` if the policy does not allow the example. */
    displayName: z.string(),
    exampleAddress: z.string(),
    hasFacts: z.boolean(),
    facts: z.array(fact),
    hidden: z.string(),
    approval: z.enum(['none', 'nobody', 'stages']),
    stages: z.array(stageRow.extend({ isConditional: z.boolean() })),
    warnings: z.array(z.strictObject({ text: z.string() })),
    moreWarnings: z.string(),
  }),
})

/** Shows an admin what a template does for a person. */
export function adminSimulateView(simulation: Simulation, viewer: Viewer): ViewOf<typeof adminSimulateCard> {
  const { template, preview, groupNames, conditional, nobodyApproves } = readBy(simulation, viewer)
  const { simulated, names, outlook } = preview
  const { approvals } = outlook
  const { access, person } = simulated
  const { shown, hidden } = fitting([
    ...quotaFacts(simulated.quota),
    ...limitFacts({ template }),
    ...defaultFacts(preview, template),
  ])
  const warnings = warningLines(outlook, viewer, {
    template,
    unknownToken: strings.simulate.unknownToken,
    since: strings.approval.since,
  })
  return {
    kind: template.kind,
    templateName: signed(template, longest.title),
    look: access.mayUse ? looks.succeeded : toKnow,
    mayUse: access.mayUse,
    // A group without a name in the directory is shown by its id.
    because: format(strings.simulate.because[access.because], {
      groups: listOf(
        access.groups.slice(0, 3).map((id) => cut(groupNames[id] ?? id, longest.name)),
        'unit',
      ),
    }),
    as: format(strings.simulate.as, {
      person: shortName(person),
      address: cut(person.userPrincipalName, longest.address),
    }),
    displayName: cut(names?.displayName ?? '', longest.title),
    exampleAddress: names ? (names.address ?? withoutScheme(names.url ?? '')) : '',
    hasFacts: shown.length > 0,
    facts: shown,
    hidden: restText(strings.facts.more, hidden),
    approval: nobodyApproves ? 'nobody' : approvals.length > 0 ? 'stages' : 'none',
    stages: approvals.map((stage) => ({ ...stageRowOf(stage), isConditional: conditional.includes(stage.stage) })),
    warnings: warnings.shown.map((text) => ({ text })),
    moreWarnings: warnings.more,
  }
}

type Preview = Simulation['preview']

/** The remaining quotas. */
function quotaFacts(quota: Preview['simulated']['quota']): Fact[] {
  const texts = strings.simulate
  const kinds = ['openRequests', 'openOfTemplate', 'resources'] as const
  return kinds.flatMap((kind) => {
    const share = quota[kind]
    if (!share) return []
    const value = format(texts.left, { left: quantity(share.left), most: quantity(share.most) })
    return [{ label: texts.quota[kind], value }]
  })
}

/** The values that the template sets. */
function defaultFacts({ defaults, kind }: Preview, template: Template): Fact[] {
  // The default label is shown with the allowed labels.
  const own = defaults.filter(({ field }) => field !== 'labelId')
  return own.map(({ field, value, why }) => {
    const [label = field] = inputNames({ kind, template }, [field])
    const text = cut(valueText(field, value), longest.title)
    return { label: cut(label, longest.name), value: format(strings.simulate[why], { value: text }) }
  })
}

function valueText(field: string, value: Preview['defaults'][number]['value']): string {
  if (typeof value === 'boolean') return strings.simulate.toggle[value ? 'on' : 'off']
  if (field === 'capacity') return format(strings.facts.megabytes, { count: quantity(Number(value)) })
  return Array.isArray(value) ? listOf(value, 'unit') : String(value)
}

const choiceRow = z.strictObject({
  title: z.string(),
  says: z.string(),
  /** The command that a tap types. */
  command: z.string(),
})
export const adminSimulateChoiceCard = defineCard({
  name: 'admin-simulate-choice',
  data: z.strictObject({
    says: z.enum(['howTo', 'noTemplate', 'whichTemplate', 'nobody', 'whichPerson']),
    lead: z.string(),
    rows: z.array(choiceRow),
  }),
})

/** The admin's text for the template and the person, and the possible matches. */
type SimulateChoice = {
  readonly typed: { readonly what: string; readonly who: string }
} & (
  | { readonly says: 'howTo' | 'noTemplate' | 'whichTemplate'; readonly templates: readonly Template[] }
  | { readonly says: 'nobody' | 'whichPerson'; readonly people: readonly Person[] }
)

export function adminSimulateChoiceView(
  choice: SimulateChoice,
  viewer: Viewer,
): ViewOf<typeof adminSimulateChoiceCard> {
  const { says, typed } = choice
  const { command, lead } = strings.simulate
  const leadTo = (name: string) => format(lead[says], { typed: cut(name, longest.name) })
  if ('people' in choice) {
    const rows = choice.people.map(({ displayName, userPrincipalName }) => ({
      title: cut(displayName, longest.title),
      says: cut(userPrincipalName, longest.address),
      command: format(command, { template: typed.what, person: userPrincipalName }),
    }))
    return { says, lead: leadTo(typed.who), rows }
  }
  const rows = choice.templates.map((template) => ({
    title: signed(inLocale(template, viewer.locale), longest.name),
    says: strings.kind[template.kind],
    // Two templates may have one name.
    command: format(command, { template: template.id, person: typed.who === '' ? viewer.id : typed.who }),
  }))
  return { says, lead: leadTo(typed.what), rows }
}
