/** The card of `why`, and the sentences of explanations. */
import { z } from 'zod'
import {
  type Explanation,
  type ExplanationLine,
  explanationKeyOf,
  explanationTopics,
  openStage,
  type Person,
  type Request,
  referenceOf,
  stepName,
  titledValues,
  titleOfFound,
} from '../../core/index.ts'
import { fieldName, isReachable } from '../decisions/stage-texts.ts'
import { problemFor, stepText } from '../requests/steps.ts'
import { readBy } from '../shared/facts.ts'
import { look, looks, shownState } from '../shared/look.ts'
import { format, restText, strings, type Values } from '../shared/messages.ts'
import { type CardJson, defineCard, firstThatFits, type ViewOf } from '../shared/render.ts'
import {
  bound,
  cut,
  duration,
  inUnit,
  listOf,
  longest,
  moment,
  peopleList,
  shortName,
  time,
  type Viewer,
} from '../shared/texts.ts'

export const whyCard = defineCard({
  name: 'why',
  data: z.strictObject({
    at: z.string(),
    reference: z.string(),
    fallback: z.string(),
    about: z.string(),
    look,
    topics: z.array(
      z.strictObject({
        topic: z.enum(explanationTopics),
        lines: z.array(z.strictObject({ text: z.string() })).min(1),
        more: z.string(),
      }),
    ),
  }),
})

/** How much of each topic a card has room for: lines, and characters of each. */
interface Room {
  readonly lines: number
  readonly text: number
}
const rooms: readonly [Room, ...Room[]] = [
  { lines: 12, text: longest.text },
  { lines: 9, text: longest.address },
  { lines: 6, text: longest.title },
]
/** Steps faster than this, in seconds, do not explain a delay. */
const quick = 5

/** The reasons of a request's state, by topic. */
export function whyView(
  request: Request,
  explained: readonly Explanation[],
  viewer: Viewer,
  room: Room = rooms[0],
): ViewOf<typeof whyCard> {
  const writing = writingOf(request, viewer)
  const stage = openStage(request.approvals)
  const isHidden = ({ code }: Explanation) =>
    code === 'not-told' && !viewer.isAdmin && stage !== undefined && isReachable(stage)
  const topics = explanationTopics.flatMap((topic) => {
    const ofTopic = explained.filter((one) => one.topic === topic && !isQuick(one) && !isHidden(one))
    const lines = ofTopic.flatMap((one) => explanationText(one, writing) ?? [])
    if (lines.length === 0) return []
    const shown = lines.slice(0, room.lines).map((text) => ({ text: cut(text, room.text) }))
    return [{ topic, lines: shown, more: restText(strings.why.more, lines.length - shown.length) }]
  })
  const reference = referenceOf(request)
  return {
    at: time(viewer),
    reference,
    fallback: format(strings.why.fallback, { reference }),
    about: format(strings.why.about, { reference, name: shortName(request.details) }),
    look: looks[shownState(request)],
    topics,
  }
}

/** Renders the card, with fewer and shorter lines if it would be too large. */
export const renderWhy = (request: Request, explained: readonly Explanation[], viewer: Viewer): CardJson =>
  firstThatFits(rooms.map((room) => () => whyCard.render(whyView(request, explained, viewer, room))))

/** REST shows quick steps too. */
const isQuick = ({ code, facts }: Explanation): boolean =>
  (code === 'step-took' || code === 'queue-took') && Number(facts['seconds']) < quick

/** How moments, lengths of time, people and facts are written for the reader. */
interface ExplanationWriting {
  moment(at: string): string
  bound(of: 'since' | 'until', at: string): string
  duration(seconds: number): string
  people(people: readonly Person[], isWaiting: boolean): string
  fact(name: string, value: string | number, facts: ExplanationLine['facts']): string
}

/** A line of an explanation as a sentence; undefined for a line of another version. */
export function explanationText(line: ExplanationLine, writing: ExplanationWriting): string | undefined {
  const key = explanationKeyOf(line)
  return key && format(strings.why.says[key], valuesOf(line, writing))
}

function valuesOf({ code, at, stage, people = [], facts }: ExplanationLine, writing: ExplanationWriting): Values {
  const written = ([name, value]: [string, string | number]) => {
    if (name === 'seconds') return [name, writing.duration(Number(value))] as const
    if (name === 'since' || name === 'until') return [name, writing.bound(name, String(value))] as const
    return [name, writing.fact(name, value, facts)] as const
  }
  return {
    ...Object.fromEntries(Object.entries(facts).map(written)),
    ...(at !== undefined && { at: writing.moment(at) }),
    ...(stage !== undefined && { stage }),
    people: writing.people(people, code === 'waits'),
  }
}

/** For the viewer: their time zone and language, the labels of fields and steps, and our texts for problems. */
const writingOf = (request: Request, viewer: Viewer): ExplanationWriting => ({
  moment: (at) => moment(at, viewer, 'full'),
  bound: (of, at) => bound(of, at, viewer, 'full'),
  duration: (seconds) => duration(seconds * 1000),
  // One decision of several people is enough for the rule `any`.
  people: (people, isWaiting) =>
    peopleList(people, isWaiting && openStage(request.approvals)?.rule === 'any' ? 'or' : 'and'),
  fact(name, value, facts) {
    const text = String(value)
    if (name === 'field') return fieldName(readBy(request, viewer), text)
    if (name === 'found') return cut(foundText(request, String(facts['field']), text, viewer), longest.title)
    if (name === 'as') return strings.why.as[asIn(text)]
    if (name === 'step') return stepText(request, stepName.safeParse(text).data)
    if (name === 'problem') {
      const known = [request.problem, ...request.steps.map((step) => step.problem)].find((one) => one?.detail === text)
      const code = String(facts['problemCode'])
      return known?.people
        ? problemFor(known, viewer)
        : cut(problemFor(known ?? { code, detail: text }, viewer), longest.address)
    }
    return cut(text, name === 'comment' ? longest.address : longest.title)
  },
})

/** The title of a judged value. The core returns the title in the template's own language. */
function foundText(request: Request, field: string, title: string, viewer: Viewer): string {
  const value = titledValues(request.template, field).find((one) => one.title === title)?.value ?? title
  return titleOfFound(readBy(request, viewer).template, field, value)
}

type As = keyof typeof strings.why.as
const asIn = (text: string): As => (Object.keys(strings.why.as) as As[]).find((one) => one === text) ?? 'delegate'

const units = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
] as const

/** As the API writes it: moments are ISO 8601, and facts are as they are recorded. */
export const plainExplanation: ExplanationWriting = {
  moment: (at) => at,
  bound: (_, at) => at,
  duration(seconds) {
    if (seconds < 1) return 'less than a second'
    const [length, unit] = units.find(([each]) => seconds >= 2 * each) ?? ([1, 'second'] as const)
    return inUnit(unit, Math.round(seconds / length))
  },
  people: (people) =>
    listOf(
      people.map(({ displayName }) => displayName),
      'and',
    ),
  fact: (_, value) => String(value),
}
