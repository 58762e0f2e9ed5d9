import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cardActionRegistry, defineCardAction } from '../src/bot/define-card-action.ts'
import { commandRegistry, defineCommand } from '../src/bot/define-command.ts'
import { routeRegistry, routes } from '../src/http/index.ts'
import { defineJob, jobRegistry } from '../src/jobs/queue/define-job.ts'
import { faultsOf, readSources, sourceOf } from './support/sources.ts'

describe('the house keeps its rooms', () => {
  it('imports go only where the design allows, vendors stay in their rooms, files stay small', () => {
    const sources = readSources('src')
    expect(sources.length).toBeGreaterThan(80)
    expect(faultsOf(sources)).toEqual([])
  })

  it.each([
    [
      'a room that reaches into another',
      'http/a.ts',
      "import { x } from '../store/requests.ts'",
      'http may import core',
    ],
    [
      'a way past the door of the core',
      'bot/a.ts',
      "import { x } from '../core/request.ts'",
      'past the door core/index.ts',
    ],
    ['the simulator knowing the core', 'simulator/a.ts', "import type { x } from '../core/index.ts'", 'no other room'],
    ['a vendor in the wrong room', 'core/a.ts', "import { TurnContext } from 'botbuilder'", 'belongs to bot'],
    ['a vendor that nobody decided on', 'core/a.ts', "import _ from 'lodash'", 'has no room yet'],
    ['a file that is too long', 'core/a.ts', '\n'.repeat(351), '350 at most'],
    ['the environment read in a room', 'core/a.ts', 'const a = process.env.A', 'only entries do'],
    ['a folder called utils', 'core/utils/a.ts', '', 'nothing is called utils'],
  ])('notices %s', (_, path, text, fault) => {
    expect(faultsOf([sourceOf(path, text)]).join('\n')).toContain(fault)
  })

  it('notices a cycle, and lets a type look back', () => {
    const one = sourceOf('core/one.ts', "import { two } from './two.ts'")
    expect(faultsOf([one, sourceOf('core/two.ts', "import { one } from './one.ts'")]).join()).toContain('import cycle')
    expect(faultsOf([one, sourceOf('core/two.ts', "import type { One } from './one.ts'")])).toEqual([])
    expect(faultsOf([one, sourceOf('core/two.ts', "import { type One } from './one.ts'")])).toEqual([])
  })
})

describe('a registry refuses two values of one name', () => {
  const nothing = async () => {
    throw new Error('never run')
  }

  it('card actions', () => {
    const action = defineCardAction({ verb: 'request.twice', data: z.object({}), handle: nothing })
    expect(() => cardActionRegistry(action, action)).toThrow('request.twice')
  })

  it('commands, their other words too', () => {
    const command = (words: string, also: string[]) =>
      defineCommand({ words, also, argument: z.string(), handle: nothing, otherwise: nothing })
    expect(() => commandRegistry(command('one', []), command('two', ['one']))).toThrow('"one"')
  })

  it('jobs', () => {
    const job = defineJob({
      name: 'twice',
      payload: z.object({}),
      retries: 0,
      retryDelaySeconds: 1,
      expireInSeconds: 1,
      handle: nothing,
    })
    expect(() => jobRegistry(job, job)).toThrow('twice')
  })

  it('routes', () => {
    expect(routes.length).toBeGreaterThan(10)
    expect(() => routeRegistry(...routes, ...routes.slice(0, 1))).toThrow(/two routes answer to/)
  })
})
