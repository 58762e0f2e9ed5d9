import { afterEach, describe, expect, it } from 'vitest'
import { cardIn, clicking, saying } from '../support/bot-activities.ts'
import { startBot, withBotWorld } from '../support/bot-world.ts'
import { dana, kim, omar } from '../support/card-world.ts'
import { action, actionsOf, nodesOf, textOf, valuesOf } from '../support/cards.ts'
import type { Card } from '../support/connector.ts'

/** The address of a window of the Agents Playground. Its pickers ignore the value of a card. */
const playground = { serviceUrl: 'http://localhost:56150/_connector' }
const full = 'permissions.FullAccess'

describe('people chosen earlier', () => {
  const world = withBotWorld()
  afterEach(() => expect(world.logged.splice(0)).toEqual([]))

  /** Kim in a client; `change` is its part of each activity. */
  function kimIn(change: { serviceUrl?: string }) {
    const bot = startBot(world)
    const cardOf = async (activity: object): Promise<Card> => cardIn((await bot.turn(activity))[0])
    const clicks = (card: Card, title: string, inputs: Record<string, string> = {}) => {
      const { verb, data } = action(card, title)
      return cardOf(clicking('kim', String(verb), { ...data, ...valuesOf(card), ...inputs }, change))
    }
    return {
      clicks,
      /** Opens an empty form of a shared mailbox, with Dana and Omar saved in it. */
      async savedForm(): Promise<Card> {
        const choose = await cardOf(saying('kim', 'new shared mailbox', change))
        const fresh = actionsOf(choose).find(({ title }) => title === 'New')
        const templates = fresh ? await cardOf(clicking('kim', String(fresh.verb), fresh.data, change)) : choose
        const form = await clicks(templates, 'Choose Shared mailbox')
        const people = { displayName: 'Facilities', name: 'facilities', [full]: `${dana.id},${omar.id}` }
        return clicks(await clicks(form, 'Later', people), 'Continue')
      },
    }
  }
  const fullAccess = (review: Card): string => /Full access\n(.*)/.exec(textOf(review))?.[1] ?? ''

  it('are named under a picker that does not show them', async () => {
    const form = await kimIn(playground).savedForm()
    expect(textOf(form)).toContain('Chosen: Dana Fox and Omar Haddad. A new choice replaces these people.')
    expect(valuesOf(form)[full]).toBe(`${dana.id},${omar.id}`)
  })

  it.each([
    ['untouched', `${dana.id},${omar.id}`, 'Dana Fox and Omar Haddad'],
    ['filled in anew', kim.id, 'Kim Lee'],
  ])('are what a picker sends that does not show them and is %s', async (_, sent, expected) => {
    const playgroundKim = kimIn(playground)
    const review = await playgroundKim.clicks(await playgroundKim.savedForm(), 'Review', { [full]: sent })
    expect(namesIn(fullAccess(review))).toEqual(namesIn(expected))
  })

  it('leave a picker of Teams that no longer contains them, and no line repeats them there', async () => {
    const teamsKim = kimIn({})
    const form = await teamsKim.savedForm()
    expect(textOf(form)).not.toContain('Chosen:')
    const picker = [...nodesOf(form)].find(({ id }) => id === full)
    expect(picker).toMatchObject({
      value: `${dana.id},${omar.id}`,
      choices: [
        { title: 'Dana Fox', value: dana.id },
        { title: 'Omar Haddad', value: omar.id },
      ],
    })
    expect(fullAccess(await teamsKim.clicks(form, 'Review', { [full]: dana.id }))).toBe('Dana Fox')
  })
})

const namesIn = (list: string): string[] => list.split(/, and |, | and /).toSorted()
