import { z } from 'zod'
import { cards, rowsOfPage } from '../../cards/index.ts'
import { meantTemplates } from '../../core/index.ts'
import type { Reply, Turn } from '../channel/turn.ts'
import { peopleMeant } from '../channel/typed-arguments.ts'
import { defineCommand } from '../define-command.ts'

/** `admin simulate Project site as Kim Lee`: what that person would see of a template, and what would come of it. */
export const adminSimulateCommand = defineCommand({
  words: 'admin simulate',
  forAdmins: true,
  argument: z.string().max(300).transform(whatAndWho),
  handle: simulated,
  otherwise: (turn) => simulated(turn, { what: '', who: '' }),
})

/** The template and the person in "Project site as Kim Lee"; who is not named is the admin. */
function whatAndWho(typed: string): { what: string; who: string } {
  const [, what = typed, who = ''] = /^(?:(.*) )?as (.*)$/is.exec(typed) ?? []
  return { what: what.trim(), who: who.trim() }
}

/** Shows it; where several are meant, or none, asks which. */
async function simulated(turn: Turn, typed: { what: string; who: string }): Promise<Reply> {
  const { core, actor, viewer } = turn
  const all = await core.listTemplates(actor)
  const { found, near } = typed.what === '' ? { found: [], near: [] } : meantTemplates(all, typed.what)
  const [template, ...otherTemplates] = found
  if (!template || otherTemplates.length > 0) {
    const says = template ? 'whichTemplate' : typed.what === '' ? 'howTo' : 'noTemplate'
    const offered = template ? found : near.length > 0 ? near : all
    return { card: cards.adminSimulateChoice({ says, typed, templates: offered.slice(0, rowsOfPage) }, viewer) }
  }
  const people = typed.who === '' ? [actor] : (await peopleMeant(turn, typed.who)).people
  const [person, ...otherPeople] = people
  if (!person || otherPeople.length > 0) {
    const says = person ? 'whichPerson' : 'nobody'
    const choice = { says, typed: { ...typed, what: template.name }, people: people.slice(0, rowsOfPage) } as const
    return { card: cards.adminSimulateChoice(choice, viewer) }
  }
  return {
    card: cards.adminSimulate(await core.simulate(actor, { templateId: template.id, personId: person.id }), viewer),
  }
}
