import { z } from 'zod'
import type { ApprovalStage, Outlook, Plan, Warning } from '../../core/index.ts'
import { endDay } from '../decisions/stage-words.ts'
import { format, strings } from '../shared/messages.ts'
import { cut, decidersOf, longest, type Viewer } from '../shared/words.ts'
import { inputNames } from './based-on.ts'

/** One of several approvals: its number, and who decides it by which rule. */
export const stageRow = z.strictObject({ number: z.int(), text: z.string() })

/** How many warnings a card has room for; the most important come first. */
const mostWarnings = 4

/** What of a plan the template has put there, by the labels that it has on cards. */
export const setByTemplate = (plan: Plan): string[] =>
  inputNames(
    plan,
    plan.applied.map(({ field }) => field),
  )

/** How a stage is decided: `one` decides, `all` have to agree, or as many as the quorum says. */
export function ruleOf({ rule, approvers, quorum = 1 }: ApprovalStage): 'one' | 'all' | 'quorum' {
  if (rule === 'any' || approvers.length === 1) return 'one'
  return rule === 'quorum' && quorum < approvers.length ? 'quorum' : 'all'
}

/** Who decides what, where several approvals follow each other. */
export function stageRows(approvals: readonly ApprovalStage[]): z.output<typeof stageRow>[] {
  if (approvals.length < 2) return []
  return approvals.map((stage) => {
    const values = { people: decidersOf(stage, stage.approvers), count: String(stage.quorum ?? 1) }
    return { number: stage.stage, text: format(strings.review.stage[ruleOf(stage)], values) }
  })
}

/** What may surprise, in a sentence each. What the card says elsewhere is left out. `unknownToken`: of somebody else, in other words. */
export function warningLines(
  { approvals, warnings }: Outlook,
  viewer: Viewer,
  unknownToken: string = strings.review.warning.unknownToken,
): { shown: string[]; more: string } {
  const lines = warnings.flatMap((warning) => inWords(warning, approvals.length > 1, viewer, unknownToken))
  const more = lines.length - mostWarnings
  return {
    shown: lines.slice(0, mostWarnings),
    more: more > 0 ? format(strings.review.warning.more, { count: more }) : '',
  }
}

function inWords({ code, reason }: Warning, isOneOfMany: boolean, viewer: Viewer, unknownToken: string): string[] {
  const words = strings.review.warning
  const facts = Object.entries(reason.facts ?? {}).map(([name, value]) => [name, String(value)])
  const values: Readonly<Record<string, string>> = Object.fromEntries(facts)
  const { token = '', label = '', taken = '', stage = '', why = '', name = '', person = '', until = '' } = values
  const tokens: Readonly<Record<string, string>> = strings.review.token
  const because: Readonly<Record<string, string>> = strings.approval.since
  switch (code) {
    case 'unknown-token':
      return [format(unknownToken, { token: tokens[token] ?? token })]
    case 'empty-answer':
      return [format(words.emptyAnswer, { label: cut(label, longest.name) })]
    case 'next-address':
      return [format(words.nextAddress, { taken })]
    case 'address-of-id':
      return [words.addressOfId]
    case 'admins-instead':
    case 'admins-too': {
      const told = words[code === 'admins-too' ? 'adminsToo' : 'adminsInstead']
      return [format(isOneOfMany ? told.ofStage : told.only, { stage, why: because[why] ?? '' })]
    }
    case 'delegated':
      return [
        format(words.delegated, {
          name: cut(name, longest.name),
          people: cut(person, longest.name),
          at: until === '' ? '' : endDay(until, viewer),
        }),
      ]
    // Said beside the address, on a line of its own, or by what is similar.
    case 'number-later':
    case 'nobody-can-open':
    case 'similar':
      return []
  }
}
