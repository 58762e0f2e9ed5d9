import { z } from 'zod'
import { cardsFor, rowsOfPage } from '../../cards/index.ts'
import { meantTemplates } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { peopleMeant } from '../channel/typed-arguments.ts'
import { defineCommand } from '../define.ts'

/** `admin simulate Project site as Kim Lee`: shows the template as that person sees it, and the result of a request. */
export const adminSimulateCommand = defineCommand({
  name: 'admin simulate',
  forAdmins: true,
  argument: z.string().max(300).transform(templateAndPerson),
  handle: simulate,
  withoutValidArgument: (turn) => simulate(turn, { what: '', who: '' }),
})

/** Returns the template and the person in "Project site as Kim Lee". Without a person: the admin. */
function templateAndPerson(typed: string): { what: string; who: string } {
  const [, what = typed, who = ''] = /^(?:(.*) )?as (.*)$/is.exec(typed) ?? []
  return { what: what.trim(), who: who.trim() }
}

/** Shows the simulation. If the text fits no template or person, or several, the admin chooses. */
async function simulate(turn: Turn, typed: { what: string; who: string }): Promise<Reply> {
  const { core, actor, viewer } = turn
  const all = await core.listTemplates(actor)
  const { found, near } = typed.what === '' ? { found: [], near: [] } : meantTemplates(all, typed.what)
  const [template, ...otherTemplates] = found
  if (!template || otherTemplates.length > 0) {
    const says = template ? 'whichTemplate' : typed.what === '' ? 'howTo' : 'noTemplate'
    const offered = template ? found : near.length > 0 ? near : all
    return {
      card: cardsFor(viewer).adminSimulateChoice({ says, typed, templates: offered.slice(0, rowsOfPage) }, viewer),
    }
  }
  const people = typed.who === '' ? [actor] : (await peopleMeant(turn, typed.who)).people
  const [person, ...otherPeople] = people
  if (!person || otherPeople.length > 0) {
    const says = person ? 'whichPerson' : 'nobody'
    const choice = { says, typed: { ...typed, what: template.name }, people: people.slice(0, rowsOfPage) } as const
    return { card: cardsFor(viewer).adminSimulateChoice(choice, viewer) }
  }
  const simulation = await core.simulate(actor, { templateId: template.id, personId: person.id })
  return { card: cardsFor(viewer).adminSimulate(simulation, viewer) }
}
